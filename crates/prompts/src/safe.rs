//! Text that others wrote, made safe to show to a model or a person.
//!
//! Nothing here changes what is stored: these are views. No code point is ever dropped silently, it is
//! shown as `⟦U+XXXX⟧`; no cut is silent, it says how much is missing.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation as _};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// How many characters a cut may move to spare a grapheme; a longer cluster is cut through.
const GRAPHEME_REACH_CHARS: usize = 32;

/// Longest atom a cut goes around: `⟦U+10FFFF⟧`, in characters.
const ATOM_MAX_CHARS: usize = 10;

/// Characters a display line may hold per column. Marks without width could otherwise pile up for ever.
const CHARS_PER_COLUMN_MAX: usize = 16;

/// Characters behind a cut that may still say how what is before it is shown: joined letters, marks.
const CONTEXT_CHARS: usize = 128;

/// What a tab becomes in a block for display, where a real one would spoil measured widths.
const TAB_SHOWN: &str = "    ";

const ELLIPSIS: char = '…';

/// Shows every dangerous code point as `⟦U+XXXX⟧` and leaves the rest as it is.
///
/// Dangerous is what hides, reorders or commands: control characters other than TAB, LF and CR, bidi
/// controls, invisible format characters, tags, noncharacters. U+200C and U+200D stay where writing
/// needs them, between letters or emoji (their marks, selectors and skin tones included).
pub fn visible(text: &str) -> Cow<'_, str> {
    let mut shown: Option<String> = None;
    // Whether what precedes, marks apart, is a letter or an emoji.
    let mut after_joinable = false;
    for (at, c) in text.char_indices() {
        let hidden = if is_joiner(c) {
            let mut following = text[at + c.len_utf8()..].chars();
            // Bengali writes a joiner before a virama, so marks are passed over here too.
            let next = following.find(|&c| is_joinable(c) || !is_plain_mark(c));
            !(after_joinable && next.is_some_and(is_joinable))
        } else {
            is_dangerous(c)
        };
        if hidden {
            let out = shown.get_or_insert_with(|| text[..at].to_owned());
            // Writing to a String cannot fail.
            let _ = write!(out, "⟦U+{:04X}⟧", u32::from(c));
        } else if let Some(out) = &mut shown {
            out.push(c);
        }
        if hidden || is_joiner(c) {
            after_joinable = false;
        } else if is_joinable(c) {
            after_joinable = true;
        } else if !is_plain_mark(c) {
            after_joinable = false;
        }
    }
    shown.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Writes `&`, `<` and `>` as entities, so that no tag can be formed.
pub fn entities(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Keeps head and tail of a text that is longer than `max_chars`, with a mark between them that says
/// how many characters are missing out of how many. The mark is inside the budget.
///
/// Cuts fall between graphemes where one is near, and never inside an entity or a `⟦U+XXXX⟧`. A budget
/// too small for the mark gets the beginning and an ellipsis.
pub fn cut(text: &str, max_chars: usize) -> Cow<'_, str> {
    // A character has at least one byte, so a short string needs no counting.
    if text.len() <= max_chars {
        return Cow::Borrowed(text);
    }
    let total = text.chars().count();
    if total <= max_chars {
        return Cow::Borrowed(text);
    }
    // The true number left out has at most as many digits as the total.
    let mark_max = cut_mark(total, total).chars().count();
    let Some(kept) = max_chars.checked_sub(mark_max).filter(|&kept| kept >= 2) else {
        return Cow::Owned(cut_short(text, max_chars));
    };
    let tail_chars = kept / 2;
    let head_end = snap(text, byte_of_char(text, kept - tail_chars), Toward::Start);
    let tail_start = snap(text, byte_of_char(text, total - tail_chars), Toward::End);
    let (head, tail) = (&text[..head_end], &text[tail_start..]);
    let missing = text[head_end..tail_start].chars().count();
    Cow::Owned(format!("{head}{}{tail}", cut_mark(missing, total)))
}

/// One line for a widget, a notice or a status: dangerous code points shown, white space (newlines and
/// tabs too) folded to single spaces, at most `max_columns` wide, ending in `…` when it was longer.
///
/// Widths are measured the careful way: where terminals disagree about a cluster, the wider reading
/// counts.
pub fn for_display(text: &str, max_columns: usize) -> String {
    let chars_max = max_columns.saturating_mul(CHARS_PER_COLUMN_MAX);
    let line = fold_space(&visible(beginning(text, chars_max)));
    one_line(line, max_columns, chars_max)
}

/// As much of a text as can matter for a line of `chars_max` characters, so that a long one costs no
/// more than a short one: what is not white space gives at least one character each.
fn beginning(text: &str, chars_max: usize) -> &str {
    let enough = chars_max.saturating_add(CONTEXT_CHARS);
    let mut solid = text.char_indices().filter(|(_, c)| !c.is_whitespace());
    match solid.nth(enough) {
        Some((at, _)) => &text[..at],
        None => text,
    }
}

/// Cuts a line that is wider than `max_columns`, or longer than any that is not.
fn one_line(line: String, max_columns: usize, chars_max: usize) -> String {
    let room = max_columns.saturating_sub(1);
    let (mut columns, mut chars, mut end) = (0, 0, 0);
    // Where to cut if the line turns out too wide: the last place with room for the ellipsis.
    let mut cut_at = 0;
    for grapheme in line.graphemes(true) {
        columns += columns_of(grapheme);
        chars += grapheme.chars().count();
        if columns > max_columns || chars > chars_max {
            let mut short = line[..cut_at].trim_end().to_owned();
            if max_columns > 0 {
                short.push(ELLIPSIS);
            }
            return short;
        }
        end += grapheme.len();
        if columns <= room && chars < chars_max {
            cut_at = end;
        }
    }
    line
}

/// Several lines for a display: line ends kept (as LF), dangerous code points shown, tabs widened, and
/// cut to `max_chars` as [`cut`] does.
pub fn for_display_block(text: &str, max_chars: usize) -> String {
    // A lone CR would let the rest of a line overwrite its beginning.
    let lines = visible(text)
        .replace("\r\n", "\n")
        .replace('\r', "\n")
        .replace('\t', TAB_SHOWN);
    cut(&lines, max_chars).into_owned()
}

/// Runs of white space become one space; none at the ends.
pub fn fold_space(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// U+200C and U+200D: needed in many scripts and in emoji, invisible anywhere else.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200C}' | '\u{200D}')
}

fn is_dangerous(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        '\0'..='\u{1F}'
        | '\u{7F}'..='\u{9F}'
        | '\u{AD}'
        | '\u{61C}'
        | '\u{180E}'
        | '\u{200B}'
        | '\u{200E}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}'
        | '\u{2028}'..='\u{2029}'
        | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{206F}'
        | '\u{FEFF}'
        | '\u{FFF9}'..='\u{FFFB}'
        | '\u{FDD0}'..='\u{FDEF}'
        | '\u{E0000}'..='\u{E007F}'
        | '\u{E0100}'..='\u{E01EF}' => true,
        // The last two code points of every plane are noncharacters.
        c => u32::from(c) & 0xFFFE == 0xFFFE,
    }
}

fn is_joinable(c: char) -> bool {
    c.is_alphabetic() || is_emoji(c)
}

/// The blocks emoji come from. Wider than the emoji property, which only widens where a joiner stays.
fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21FF}'
        | '\u{2300}'..='\u{23FF}'
        | '\u{25A0}'..='\u{27BF}'
        | '\u{2900}'..='\u{297F}'
        | '\u{2B00}'..='\u{2BFF}'
        | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}'
        | '\u{1F000}'..='\u{1FAFF}')
}

/// What has no width of its own: accents, viramas, selectors, joiners.
pub(crate) fn is_mark(c: char) -> bool {
    c.width() == Some(0)
}

/// A mark that merely belongs to the character before it.
fn is_plain_mark(c: char) -> bool {
    is_mark(c) && !is_joiner(c) && !is_dangerous(c)
}

fn cut_mark(missing: usize, total: usize) -> String {
    format!("⟦… {missing} of {total} characters left out …⟧")
}

fn cut_short(text: &str, max_chars: usize) -> String {
    let Some(kept) = max_chars.checked_sub(1) else {
        return String::new();
    };
    let mut short = text[..snap(text, byte_of_char(text, kept), Toward::Start)].to_owned();
    short.push(ELLIPSIS);
    short
}

/// Byte offset of the character with this index, or the end of the text.
fn byte_of_char(text: &str, index: usize) -> usize {
    text.char_indices()
        .nth(index)
        .map_or(text.len(), |(at, _)| at)
}

/// Which way a cut gives way: always towards keeping less, so that a budget holds.
#[derive(Clone, Copy)]
enum Toward {
    Start,
    End,
}

/// Moves a cut out of an atom, or else to a grapheme boundary if one is near.
fn snap(text: &str, at: usize, toward: Toward) -> usize {
    if let Some((start, end)) = atom_around(text, at) {
        return match toward {
            Toward::Start => start,
            Toward::End => end,
        };
    }
    let near = match toward {
        Toward::Start => grapheme_boundary(text, at, Toward::Start)
            .filter(|&to| text[to..at].chars().count() <= GRAPHEME_REACH_CHARS),
        Toward::End => grapheme_boundary(text, at, Toward::End)
            .filter(|&to| text[at..to].chars().count() <= GRAPHEME_REACH_CHARS),
    };
    near.unwrap_or(at)
}

fn grapheme_boundary(text: &str, at: usize, toward: Toward) -> Option<usize> {
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    // The whole text is one chunk, so the cursor never asks for more context; `ok` is for the type.
    if cursor.is_boundary(text, 0).ok()? {
        return Some(at);
    }
    match toward {
        Toward::Start => cursor.prev_boundary(text, 0).ok()?,
        Toward::End => cursor.next_boundary(text, 0).ok()?,
    }
}

/// The entity or shown code point that has `at` strictly inside it.
fn atom_around(text: &str, at: usize) -> Option<(usize, usize)> {
    let (start, opener) = text[..at]
        .char_indices()
        .rev()
        .take(ATOM_MAX_CHARS)
        .find(|&(_, c)| matches!(c, '&' | '⟦'))?;
    let rest = &text[start..];
    let end = start
        + match opener {
            '&' => ["&amp;", "&lt;", "&gt;"]
                .iter()
                .find(|atom| rest.starts_with(**atom))?
                .len(),
            _ => {
                let digits = rest.strip_prefix("⟦U+")?;
                let close = digits.find(|c: char| !c.is_ascii_hexdigit())?;
                if !digits[close..].starts_with('⟧') {
                    return None;
                }
                "⟦U+".len() + close + '⟧'.len_utf8()
            }
        };
    (at < end).then_some((start, end))
}

fn columns_of(grapheme: &str) -> usize {
    // A terminal that does not join a cluster draws its parts side by side.
    let apart: usize = grapheme.chars().map(|c| c.width().unwrap_or(0)).sum();
    grapheme.width().max(apart)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_line_is_the_same_as_if_all_of_a_long_text_were_looked_at(
            part in "[a-z é\u{200D}\u{202E}👩\u{301}\n]{0,40}",
            times in 1_usize..60,
            max_columns in 0_usize..60,
        ) {
            let text = part.repeat(times);
            let chars_max = max_columns * CHARS_PER_COLUMN_MAX;
            let whole = one_line(fold_space(&visible(&text)), max_columns, chars_max);
            prop_assert_eq!(for_display(&text, max_columns), whole);
        }
    }
}
