//! Steps 3 and 4: emphasis around the last line, and the tag itself.
//!
//! Cost: a peel looks at no more than four bytes at each end and takes at least one off each, so
//! there are at most half as many as the line has bytes; trimming takes off whatever it looks at,
//! save one character at each end.

use crate::{NoVerdict, Verdict, is_blank};

/// The verdict on a line that is already trimmed and not empty.
pub(crate) fn parse_line(line: &str) -> Result<Verdict, NoVerdict> {
    parse_tag(without_emphasis(line)).ok_or_else(|| refusal(line))
}

/// The marks of emphasis, each with the longest run of it that is emphasis: "backtick 1–2, star and
/// underscore 1–3, tilde 1–2" (§6, 3).
const EMPHASIS: [(u8, usize); 4] = [(b'`', 2), (b'*', 3), (b'_', 3), (b'~', 2)];

/// "Repeatedly: if the line begins and ends with the same one of `` ` `` `*` `_` `~`, in runs of
/// the same length … and is not made of that run alone, peel both and trim. Otherwise stop."
fn without_emphasis(line: &str) -> &str {
    let mut line = line;
    while let Some(inner) = peel(line) {
        line = inner.trim_matches(is_blank);
    }
    line
}

fn peel(line: &str) -> Option<&str> {
    let bytes = line.as_bytes();
    let first = *bytes.first()?;
    let (mark, run_max) = EMPHASIS.into_iter().find(|(mark, _)| *mark == first)?;
    // One more than allowed is looked at, to tell a run that is too long.
    let is_mark = |byte: &&u8| **byte == mark;
    let head = bytes.iter().take(run_max + 1).take_while(is_mark).count();
    let tail = bytes
        .iter()
        .rev()
        .take(run_max + 1)
        .take_while(is_mark)
        .count();
    let balanced = head == tail && head <= run_max && head < line.len();
    // The marks are ASCII, so the cuts fall on character boundaries. Two runs that differ from the
    // whole line have another character between them, so they do not overlap.
    balanced.then(|| &line[head..line.len() - tail])
}

/// "Exactly `<`, white space?, `approved` or `disapproved`, white space?, `/`?, `>`.
/// Case-sensitive." (§6, 4) White space is Unicode White_Space here, without U+FEFF: "zero-width
/// characters inside" are refused.
fn parse_tag(line: &str) -> Option<Verdict> {
    let inside = line.strip_prefix('<')?.strip_suffix('>')?;
    let inside = inside.strip_suffix('/').unwrap_or(inside);
    match inside.trim() {
        "approved" => Some(Verdict::Approved),
        "disapproved" => Some(Verdict::Disapproved),
        _ => None,
    }
}

/// "`extra_text` (the last line holds `<approved` or `<disapproved` but is not just the tag)."
fn refusal(line: &str) -> NoVerdict {
    if line.contains("<approved") || line.contains("<disapproved") {
        NoVerdict::ExtraText
    } else {
        NoVerdict::NoTag
    }
}
