//! Step 1: reasoning blocks, `<think>…</think>` and `<thinking>…</thinking>`.
//!
//! "Openers are `<think>` and `<thinking>`, closers `</think>` and `</thinking>`, ASCII
//! case-insensitive, nothing inside the brackets. An opener *anywhere* with no closer of its name
//! after it → `unfinished_reasoning`. A closed block whose opener is the first thing on its line
//! (after white space) is dropped, up to and including its first closer; what follows the closer
//! counts as the start of a line. Other blocks and lone closers stay as text." (§6, 1)
//!
//! Two consequences that the words decide:
//!
//! * "Anywhere" includes the inside of blocks, kept or dropped: in `<think>a<thinking>b</think>` the
//!   second opener is unfinished. When in doubt there is no verdict.
//! * An opener in mid-line opens nothing: it stays as text, and an opener after it, at the start of
//!   a later line, is judged by itself.
//!
//! Cost: [`Marks`] looks at every byte at most once for a `<` and compares at most eleven bytes
//! there; [`Kept`] looks once more at the text between two marks. Nothing ever looks back.

use std::ops::Range;

use memchr::memchr;

use crate::{is_blank, is_line_end};

/// Whether some opener has no closer of its own name after it.
pub(crate) fn is_unfinished(text: &str) -> bool {
    // An opener without a closer after it exists exactly if the last mark of its name is an opener.
    let mut think_open = false;
    let mut thinking_open = false;
    for mark in Marks::over(text) {
        match mark.name {
            Name::Think => think_open = mark.opens,
            Name::Thinking => thinking_open = mark.opens,
        }
    }
    think_open || thinking_open
}

/// The stretches of the text that remain when the reasoning blocks are dropped, in order. Each
/// begins at the start of a line: that of the text, or the one a dropped block left behind.
///
/// A block that [`is_unfinished`] reaches to the end of the text here.
pub(crate) fn kept(text: &str) -> Kept<'_> {
    Kept {
        text,
        marks: Marks::over(text),
        next_start: Some(0),
    }
}

/// See [`kept`].
pub(crate) struct Kept<'a> {
    text: &'a str,
    marks: Marks<'a>,
    /// Where the next stretch begins; `None` when the text is used up.
    next_start: Option<usize>,
}

impl Iterator for Kept<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.next_start.take()?;
        let Some(opener) = self.next_line_first_opener(start) else {
            return Some(start..self.text.len());
        };
        self.next_start = self
            .marks
            .find(|mark| !mark.opens && mark.name == opener.name)
            .map(|closer| closer.at.end);
        Some(start..opener.at.start)
    }
}

impl Kept<'_> {
    /// The next opener that is the first thing on its line; `from` is the start of a line.
    fn next_line_first_opener(&mut self, from: usize) -> Option<Mark> {
        let mut line_is_blank = true;
        let mut seen_to = from;
        for mark in self.marks.by_ref() {
            line_is_blank = stays_blank(line_is_blank, &self.text[seen_to..mark.at.start]);
            if mark.opens && line_is_blank {
                return Some(mark);
            }
            line_is_blank = false;
            seen_to = mark.at.end;
        }
        None
    }
}

/// Whether the line that `more` ends in is blank up to there, given whether the line that it begins
/// in was.
fn stays_blank(blank_before: bool, more: &str) -> bool {
    match more.rfind(is_line_end) {
        Some(at) => more[at + 1..].chars().all(is_blank),
        None => blank_before && more.chars().all(is_blank),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Think,
    Thinking,
}

/// One opener or closer.
#[derive(Debug, Clone)]
struct Mark {
    opens: bool,
    name: Name,
    at: Range<usize>,
}

const SPELLINGS: [(&str, bool, Name); 4] = [
    ("<think>", true, Name::Think),
    ("</think>", false, Name::Think),
    ("<thinking>", true, Name::Thinking),
    ("</thinking>", false, Name::Thinking),
];

/// All openers and closers of a text, in order.
struct Marks<'a> {
    text: &'a str,
    seen_to: usize,
}

impl<'a> Marks<'a> {
    fn over(text: &'a str) -> Self {
        Self { text, seen_to: 0 }
    }
}

impl Iterator for Marks<'_> {
    type Item = Mark;

    fn next(&mut self) -> Option<Mark> {
        while let Some(ahead) = memchr(b'<', &self.text.as_bytes()[self.seen_to..]) {
            let start = self.seen_to + ahead;
            let found = mark_at(self.text, start);
            // A mark holds one `<`, its first byte, so searching on behind it misses none.
            self.seen_to = found.as_ref().map_or(start + 1, |mark| mark.at.end);
            if found.is_some() {
                return found;
            }
        }
        self.seen_to = self.text.len();
        None
    }
}

fn mark_at(text: &str, start: usize) -> Option<Mark> {
    let rest = &text.as_bytes()[start..];
    // Most brackets are no mark, and their next letter tells it of nearly all of them.
    let letter = if rest.get(1) == Some(&b'/') { 2 } else { 1 };
    if !matches!(rest.get(letter), Some(b't' | b'T')) {
        return None;
    }
    SPELLINGS.into_iter().find_map(|(spelling, opens, name)| {
        let head = rest.get(..spelling.len())?;
        let at = start..start + spelling.len();
        head.eq_ignore_ascii_case(spelling.as_bytes())
            .then_some(Mark { opens, name, at })
    })
}
