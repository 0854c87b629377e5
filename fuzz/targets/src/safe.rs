//! Untrusted text made safe.

use goal_prompts::{fence, safe};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// A token as the engine makes them.
const TOKEN: &str = "3f9c0a7be1d24c58";

/// The first byte is a cap, the rest the text. Whatever it is:
///
/// * nothing that hides, reorders or commands is left, and making it safe twice is making it safe once;
/// * caps hold, and a cut says truly how much is missing;
/// * a line for a display is one line within its columns;
/// * no text closes the fence around it, and none has tags for the auditor.
pub fn safe(bytes: &[u8]) {
    let (cap, text) = bytes.split_first().unwrap_or((&0, &[]));
    let cap = usize::from(*cap);
    let text = String::from_utf8_lossy(text);
    shows_what_is_hidden(&text);
    has_no_tags(&text);
    keeps_to_a_cap(&text, cap);
    fits_a_display(&text, cap);
    stays_in_its_fence(&text, cap);
}

/// The specification's list in short: none of these may reach anybody.
fn hides(c: char) -> bool {
    let control = c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    let format = matches!(
        u32::from(c),
        0xAD | 0x61C
            | 0x180E
            | 0x200B
            | 0x200E..=0x200F
            | 0x2028..=0x202E
            | 0x2060..=0x2064
            | 0x2066..=0x206F
            | 0xFEFF
            | 0xFFF9..=0xFFFB
            | 0xE0000..=0xE007F
            | 0xE0100..=0xE01EF
    );
    let none = u32::from(c) & 0xFFFE == 0xFFFE || matches!(u32::from(c), 0xFDD0..=0xFDEF);
    control || format || none
}

fn shows_what_is_hidden(text: &str) {
    let shown = safe::visible(text);
    assert!(!shown.chars().any(hides), "{shown:?} of {text:?}");
    assert_eq!(safe::visible(&shown), shown, "twice, {text:?}");
    let dangerous = text
        .chars()
        .any(|c| hides(c) || matches!(c, '\u{200C}' | '\u{200D}'));
    assert!(dangerous || shown == text, "{shown:?} of {text:?}");
}

fn has_no_tags(text: &str) {
    let written = safe::entities(text);
    assert!(!written.contains(['<', '>']), "{written:?}");
    let back = written
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    assert_eq!(back, text);
}

fn keeps_to_a_cap(text: &str, cap: usize) {
    let total = text.chars().count();
    let cut = safe::cut(text, cap);
    let kept = cut.chars().count();
    assert!(kept <= cap, "{kept} of at most {cap}: {cut:?}");
    assert!(total > cap || cut == text, "cut for nothing: {cut:?}");
    if total > cap
        && let Some((head, missing, tail)) = at_the_mark(&cut, total, text)
    {
        let (head, tail) = (head.chars().count(), tail.chars().count());
        assert_eq!(head + missing + tail, total, "{cut:?} of {text:?}");
    }
}

/// Head, number left out and tail of a cut text, if it has a mark; only a small cap has none. A text
/// may hold such marks itself, so the one that is meant is where head and tail are those of the text.
fn at_the_mark<'a>(cut: &'a str, total: usize, text: &str) -> Option<(&'a str, usize, &'a str)> {
    let words = format!(" of {total} characters left out …⟧");
    cut.match_indices("⟦… ").find_map(|(at, opening)| {
        let (head, rest) = (&cut[..at], &cut[at + opening.len()..]);
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let tail = rest[digits..].strip_prefix(words.as_str())?;
        let own = text.starts_with(head) && text.ends_with(tail);
        own.then_some((head, rest[..digits].parse().ok()?, tail))
    })
}

fn fits_a_display(text: &str, columns: usize) {
    let line = safe::for_display(text, columns);
    assert!(!line.contains(['\n', '\r', '\t']), "{line:?}");
    assert!(!line.chars().any(hides), "{line:?}");
    // As a terminal counts that joins what belongs together, and as one that does not.
    let apart: usize = line.chars().filter_map(|c| c.width()).sum();
    assert!(line.width() <= columns && apart <= columns, "{line:?}");
    let block = safe::for_display_block(text, columns);
    assert!(block.chars().count() <= columns, "{block:?}");
    assert!(!block.contains(['\r', '\t']), "{block:?}");
    assert!(!block.chars().any(hides), "{block:?}");
}

fn stays_in_its_fence(text: &str, cap: usize) {
    let max_chars = (cap > 0).then_some(cap);
    for (fenced, tagless) in [
        (fence::for_auditor(TOKEN, "claim", text, max_chars), true),
        (fence::for_executor(TOKEN, "claim", text, max_chars), false),
    ] {
        let begin = format!("<<<begin claim {TOKEN}>>>\n");
        let end = format!("\n<<<end claim {TOKEN}>>>");
        let body = fenced
            .strip_prefix(&begin)
            .and_then(|rest| rest.strip_suffix(&end));
        let body = body.unwrap_or(&fenced);
        assert!(body.len() < fenced.len(), "no fence: {fenced:?}");
        // As a reader sees it, who sees no marks without width and takes capitals for the same.
        let seen: String = body.chars().filter(|c| c.width() != Some(0)).collect();
        assert!(!seen.to_ascii_lowercase().contains(TOKEN), "{body:?}");
        assert!(!tagless || !body.contains(['<', '>']), "{body:?}");
        assert!(max_chars.is_none_or(|max| body.chars().count() <= max));
    }
}
