//! The verdict grammar: what the auditor's final message decided, if anything (§6 of the goal-loop
//! specification).
//!
//! This crate does no IO, keeps no state, allocates nothing and depends on nothing. It knows neither
//! what a verdict is good for nor how a message came to be: [`parse_verdict`] takes the text of one
//! message and answers with a [`Verdict`] or with the reason why there is none. Whatever is not
//! understood is not a verdict.
//!
//! The text goes through four steps, one function or module each:
//!
//! 1. reasoning blocks are checked and dropped (`reasoning`),
//! 2. the last non-empty line is taken,
//! 3. emphasis around it is peeled off (`tag`),
//! 4. what remains must be exactly the tag (`tag`).
//!
//! Every step goes over the text a fixed number of times, whatever the text: see the notes on cost
//! in `reasoning` and `tag`.

mod reasoning;
mod tag;

use std::error::Error;
use std::fmt;
use std::ops::Range;

/// The longest text that is looked at, in bytes (4 MiB, §6); a longer one is
/// [`NoVerdict::Oversized`].
pub const TEXT_MAX_BYTES: usize = 4 * 1024 * 1024;

/// What the auditor decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The tag `<approved/>`: the auditor holds the goal to be reached.
    Approved,
    /// The tag `<disapproved/>`: the auditor found it wanting.
    Disapproved,
}

impl Verdict {
    /// The specification's name, as written to the wire and to session files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Disapproved => "disapproved",
        }
    }
}

/// Why a text holds no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoVerdict {
    /// Nothing but white space and finished reasoning: the model stopped before it answered.
    Empty,
    /// The last line is not about a verdict: the model forgot the contract, or wrote on after the
    /// tag.
    NoTag,
    /// The last line holds a tag and something else, most often a label, a caveat or a decoration.
    ExtraText,
    /// A reasoning block was opened and never closed, so that the tag may be part of the reasoning.
    UnfinishedReasoning,
    /// The text is longer than [`TEXT_MAX_BYTES`]; it was not looked at.
    Oversized,
}

impl NoVerdict {
    /// The specification's name, as written to the wire and to session files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::NoTag => "no_tag",
            Self::ExtraText => "extra_text",
            Self::UnfinishedReasoning => "unfinished_reasoning",
            Self::Oversized => "oversized",
        }
    }
}

impl fmt::Display for NoVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the answer is empty",
            Self::NoTag => "the last line is not a verdict tag",
            Self::ExtraText => "the last line holds more than the verdict tag",
            Self::UnfinishedReasoning => "a reasoning block was opened and never closed",
            Self::Oversized => "the answer is longer than 4 MiB",
        })
    }
}

impl Error for NoVerdict {}

/// Reads the verdict out of the text of an auditor's final message (§6).
///
/// Never panics and is linear in the text.
///
/// # Errors
///
/// Everything that is not exactly a verdict is a [`NoVerdict`].
///
/// ```
/// use goal_parser::{NoVerdict, Verdict, parse_verdict};
///
/// assert_eq!(parse_verdict("All checked.\n**<approved/>**"), Ok(Verdict::Approved));
/// assert_eq!(parse_verdict("Verdict: <approved/>"), Err(NoVerdict::ExtraText));
/// ```
pub fn parse_verdict(text: &str) -> Result<Verdict, NoVerdict> {
    locate_verdict(text).map(|(verdict, _)| verdict)
}

/// The text before the line that holds the verdict tag, for showing a report without its tag; the
/// whole text if there is no verdict. White space at both ends is trimmed.
#[must_use]
pub fn without_verdict_line(text: &str) -> &str {
    let report = match locate_verdict(text) {
        Ok((_, line)) => &text[..line.start],
        Err(_) => text,
    };
    report.trim_matches(is_blank)
}

/// The verdict and where in the text its (trimmed) line stands.
fn locate_verdict(text: &str) -> Result<(Verdict, Range<usize>), NoVerdict> {
    if text.len() > TEXT_MAX_BYTES {
        return Err(NoVerdict::Oversized);
    }
    if reasoning::is_unfinished(text) {
        return Err(NoVerdict::UnfinishedReasoning);
    }
    let line = last_line(text).ok_or(NoVerdict::Empty)?;
    let verdict = tag::parse_line(&text[line.clone()])?;
    Ok((verdict, line))
}

/// "Lines end at LF, CRLF or CR, nothing else. Trim each, drop empty ones, take the last." (§6, 2)
///
/// Dropping a reasoning block leaves a line start behind, so a line never reaches from one kept
/// stretch of text into the next.
fn last_line(text: &str) -> Option<Range<usize>> {
    reasoning::kept(text)
        .filter_map(|stretch| last_line_within(text, stretch))
        .last()
}

fn last_line_within(text: &str, stretch: Range<usize>) -> Option<Range<usize>> {
    // Line ends are white space, so this drops the empty lines at the end as well.
    let filled = text[stretch.clone()].trim_end_matches(is_blank);
    if filled.is_empty() {
        return None;
    }
    let after_line_end = filled.rfind(is_line_end).map_or(0, |at| at + 1);
    let line = filled[after_line_end..].trim_start_matches(is_blank);
    let end = stretch.start + filled.len();
    Some(end - line.len()..end)
}

/// What is trimmed: "Unicode White_Space and U+FEFF" (§6, 2).
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// CRLF needs no case of its own: the empty line between its two characters is dropped.
fn is_line_end(c: char) -> bool {
    c == '\n' || c == '\r'
}
