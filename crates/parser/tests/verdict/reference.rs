//! A second reading of §6, written for plainness and not for speed: it copies the text and looks
//! back as often as it likes. Only tests use it.
#![expect(
    clippy::expect_used,
    reason = "a test helper; the tests allowance covers test functions only"
)]

/// The answer as names: the verdict's, or that of the reason for none.
pub(crate) fn reference(text: &str) -> &'static str {
    if text.len() > 4 * 1024 * 1024 {
        return "oversized";
    }
    let chars: Vec<char> = text.chars().collect();
    if unfinished(&chars) {
        return "unfinished_reasoning";
    }
    let lines = lines_of(&without_reasoning(&chars));
    let Some(line) = lines.last() else {
        return "empty";
    };
    match peeled(line).as_str() {
        tag if is_tag(tag, "approved") => "approved",
        tag if is_tag(tag, "disapproved") => "disapproved",
        _ if line.contains("<approved") || line.contains("<disapproved") => "extra_text",
        _ => "no_tag",
    }
}

fn spelled(chars: &[char], at: usize, what: &str) -> bool {
    let what: Vec<char> = what.chars().collect();
    at + what.len() <= chars.len()
        && what
            .iter()
            .enumerate()
            .all(|(i, c)| chars[at + i].eq_ignore_ascii_case(c))
}

const NAMES: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

fn first_after(chars: &[char], from: usize, what: &str) -> Option<usize> {
    (from..chars.len()).find(|at| spelled(chars, *at, what))
}

fn unfinished(chars: &[char]) -> bool {
    NAMES.iter().any(|(opener, closer)| {
        (0..chars.len())
            .filter(|at| spelled(chars, *at, opener))
            .any(|at| first_after(chars, at, closer).is_none())
    })
}

/// Each dropped block becomes a line end, as what follows it "counts as the start of a line".
fn without_reasoning(chars: &[char]) -> Vec<char> {
    let mut out: Vec<char> = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let here = NAMES.iter().find(|(opener, _)| spelled(chars, at, opener));
        let line_before = out
            .rsplit(|c| *c == '\n' || *c == '\r')
            .next()
            .unwrap_or(&[]);
        match here {
            Some((_, closer)) if line_before.iter().all(|c| blank(*c)) => {
                let closed = first_after(chars, at, closer).expect("unfinished was asked before");
                at = closed + closer.len();
                out.push('\n');
            }
            _ => {
                out.push(chars[at]);
                at += 1;
            }
        }
    }
    out
}

fn blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

fn lines_of(chars: &[char]) -> Vec<String> {
    let text: String = chars.iter().collect();
    text.split(['\n', '\r'])
        .map(|line| line.trim_matches(blank).to_owned())
        .filter(|line| !line.is_empty())
        .collect()
}

fn peeled(line: &str) -> String {
    let mut line = line.to_owned();
    'again: loop {
        for run in ["`", "``", "*", "**", "***", "_", "__", "___", "~", "~~"] {
            let mark = &run[..1];
            let Some(inner) = line
                .strip_prefix(run)
                .and_then(|rest| rest.strip_suffix(run))
            else {
                continue;
            };
            let whole_runs = !inner.starts_with(mark) && !inner.ends_with(mark);
            if !inner.is_empty() && whole_runs {
                line = inner.trim_matches(blank).to_owned();
                continue 'again;
            }
        }
        return line;
    }
}

fn is_tag(line: &str, word: &str) -> bool {
    let Some(rest) = line.strip_prefix('<') else {
        return false;
    };
    let Some(rest) = rest.trim_start().strip_prefix(word) else {
        return false;
    };
    matches!(rest.trim_start(), ">" | "/>")
}
