//! The verdict of an auditor's answer.

use goal_parser::{NoVerdict, TEXT_MAX_BYTES, Verdict, parse_verdict, without_verdict_line};

/// Bytes a target may add to a text without making another one of it by size alone.
const ROOM: usize = 64;

/// The bytes are the answer. Whatever it is:
///
/// * a verdict has its last line for itself, reasoning apart, and no line after it leaves it standing;
/// * how lines end and what stands on lines before does not matter;
/// * a thought that was begun and not ended is no verdict;
/// * the report is a part of the answer, and has the verdict's line no more.
pub fn verdict(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let text = text.as_ref();
    let read = parse_verdict(text);
    if text.len() > TEXT_MAX_BYTES / 2 - ROOM {
        return; // The changed texts below would be too long.
    }
    ends_in_it(text, read);
    survives_what_does_not_matter(text, read);
    is_undone_by_what_follows(text, read);
    leaves_the_report(text, read);
}

/// Blank, by the grammar.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// The grammar once more and crudely, for texts without reasoning: a verdict has the last line for
/// itself and its emphasis, and a bare tag on the last line is one.
fn ends_in_it(text: &str, read: Result<Verdict, NoVerdict>) {
    let lower = text.to_ascii_lowercase();
    if ["think>", "thinking>"]
        .iter()
        .any(|mark| lower.contains(mark))
    {
        return;
    }
    let text = text.trim_end_matches(is_blank);
    let line = text.rsplit(['\n', '\r']).next().unwrap_or_default();
    let line = line.trim_start_matches(is_blank);
    for verdict in [Verdict::Approved, Verdict::Disapproved] {
        let bare = line == format!("<{}/>", verdict.name());
        assert!(!bare || read == Ok(verdict), "{read:?} of {text:?}");
    }
    let Ok(verdict) = read else { return };
    let tag = line.trim_matches(|c| is_blank(c) || matches!(c, '*' | '_' | '`' | '~'));
    let inside = tag
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'));
    let inside = inside.map(|rest| rest.strip_suffix('/').unwrap_or(rest).trim());
    assert_eq!(inside, Some(verdict.name()), "of {text:?}");
}

fn survives_what_does_not_matter(text: &str, read: Result<Verdict, NoVerdict>) {
    let with_crlf = text.replace('\n', "\r\n");
    assert_eq!(parse_verdict(&with_crlf), read, "CRLF: {text:?}");
    for end in ["\n", "\r", " \t\r\n", "\u{feff}\n"] {
        let longer = format!("{text}{end}");
        assert_eq!(parse_verdict(&longer), read, "{end:?} behind {text:?}");
    }
    let after_prose = format!("Prose.\n{text}");
    let expected = match read {
        Err(NoVerdict::Empty) => Err(NoVerdict::NoTag),
        other => other,
    };
    assert_eq!(parse_verdict(&after_prose), expected, "prose, {text:?}");
}

fn is_undone_by_what_follows(text: &str, read: Result<Verdict, NoVerdict>) {
    let unfinished = Err(NoVerdict::UnfinishedReasoning);
    let and_prose = parse_verdict(&format!("{text}\nBut."));
    if read == unfinished {
        assert_eq!(and_prose, unfinished, "{text:?}");
    } else {
        assert_eq!(and_prose, Err(NoVerdict::NoTag), "{text:?}");
    }
    for thought in ["\n<think>", " <THINKING>\n<approved/>"] {
        let thinking = format!("{text}{thought}");
        assert_eq!(parse_verdict(&thinking), unfinished, "{thinking:?}");
    }
}

fn leaves_the_report(text: &str, read: Result<Verdict, NoVerdict>) {
    let report = without_verdict_line(text);
    assert!(text.contains(report), "{report:?} is not in {text:?}");
    assert_eq!(report, report.trim_matches(is_blank), "of {text:?}");
    match read {
        Ok(verdict) => {
            let tag_and_more = report.len() + verdict.name().len() < text.len();
            assert!(tag_and_more, "{report:?} of {text:?}");
        }
        Err(_) => assert_eq!(report, text.trim_matches(is_blank)),
    }
}
