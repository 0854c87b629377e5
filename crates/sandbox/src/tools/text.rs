//! Cutting output as pi does.

/// Most lines of an output.
pub(super) const LINES_MAX: usize = 2_000;
/// Most bytes of an output.
pub(super) const BYTES_MAX: usize = 50 * 1024;
/// Most UTF-16 units of a line that `grep` shows.
const GREP_LINE_MAX: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CutBy {
    Lines,
    Bytes,
}

/// The head of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) text: String,
    pub(super) cut: Option<CutBy>,
    pub(super) lines: usize,
    pub(super) first_line_too_long: bool,
}

/// As many whole lines as the limits allow.
pub(super) fn head(text: &str, lines_max: usize) -> Head {
    let mut lines: Vec<&str> = text.split('\n').collect();
    if text.is_empty() || text.ends_with('\n') {
        lines.pop();
    }
    if lines.len() <= lines_max && text.len() <= BYTES_MAX {
        return Head {
            text: text.to_owned(),
            cut: None,
            lines: lines.len(),
            first_line_too_long: false,
        };
    }
    let first_line_too_long = lines.first().is_some_and(|line| line.len() > BYTES_MAX);
    let mut bytes = 0;
    let mut kept = 0;
    let mut cut = CutBy::Lines;
    for line in lines.iter().take(lines_max) {
        let more = line.len() + usize::from(kept > 0);
        if bytes + more > BYTES_MAX {
            cut = CutBy::Bytes;
            break;
        }
        bytes += more;
        kept += 1;
    }
    Head {
        text: lines[..kept].join("\n"),
        cut: Some(cut),
        lines: kept,
        first_line_too_long,
    }
}

/// A line of `grep`, and whether it was cut.
pub(super) fn cut_line(line: &str) -> (String, bool) {
    let mut units = 0;
    for (at, letter) in line.char_indices() {
        units += letter.len_utf16();
        if units > GREP_LINE_MAX {
            return (format!("{}... [truncated]", &line[..at]), true);
        }
    }
    (line.to_owned(), false)
}

pub(super) fn size(bytes: usize) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    let of = |unit: usize| bytes as f64 / unit as f64;
    match bytes {
        0..1_024 => format!("{bytes}B"),
        1_024..1_048_576 => format!("{:.1}KB", of(1_024)),
        _ => format!("{:.1}MB", of(1_048_576)),
    }
}

/// Appends notices as pi does: in brackets, after a blank line.
pub(super) fn with_notices(mut text: String, notices: &[String]) -> String {
    if !notices.is_empty() {
        text.push_str(&format!("\n\n[{}]", notices.join(". ")));
    }
    text
}

/// The notice of an output that was cut by its size.
pub(super) fn size_notice() -> String {
    format!("{} limit reached", size(BYTES_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_cut_at_whole_lines() {
        let three = head("a\nb\nc", 2);
        assert_eq!(
            (three.text.as_str(), three.cut),
            ("a\nb", Some(CutBy::Lines))
        );
        assert_eq!(head("a\nb\n", 2).cut, None);
        assert_eq!(head("", 2).lines, 0);
        let long = "x".repeat(BYTES_MAX + 1);
        assert!(head(&long, 2).first_line_too_long);
        let second = head(&format!("a\n{long}"), 9);
        assert_eq!(
            (second.text.as_str(), second.cut),
            ("a", Some(CutBy::Bytes))
        );
        assert!(!second.first_line_too_long);
    }

    #[test]
    fn lines_are_cut_in_utf16_units_and_never_inside_a_letter() {
        assert_eq!(cut_line(&"x".repeat(500)), ("x".repeat(500), false));
        let (cut, was) = cut_line(&format!("{}😀", "x".repeat(499)));
        assert_eq!(
            (cut, was),
            (format!("{}... [truncated]", "x".repeat(499)), true)
        );
    }

    #[test]
    fn sizes_read_as_pis() {
        assert_eq!(
            [size(5), size(51_200), size(3_500_000)],
            ["5B", "50.0KB", "3.3MB"]
        );
    }
}
