//! Texts that try to be more than text.

use goal_report::{Report, html, json, markdown};
use serde_json::{Value, json};

use crate::report;
use crate::tape::Tape;

/// Tries everything at once: markup, commands to a terminal, reordering, hiding, fences, tables.
const HOSTILE: &str = "</div></title></style><script>alert(1)</script><img src=x onerror=alert(1)>\
\u{1b}[2J\u{1b}]8;;http://evil.example\u{7}link\u{9b}31m\u{202e}txet\u{2066}\u{200b}\u{feff}\u{e0041}\u{ad}\
\"' onload='x' &lt;&#60; --> ]]> | # ![x](http://evil.example/y) <!-- \u{0} \u{7f} 漢字 👩‍💻 שלום e\u{301}\u{301}\u{301}";

/// A session in which every text that others write is this one.
fn session_of(text: &str) -> String {
    let mut tape = Tape::new();
    tape.goal()["objective"] = text.into();
    tape.goal()["gate"]["model"] = text.into();
    tape.save();
    tape.entry(json!({ "type": "session_info", "name": text }));
    tape.message(0, true);
    let arguments = json!({ "completionSummary": text });
    tape.answer_with(
        json!([{ "type": "text", "text": text },
            { "type": "toolCall", "id": "c", "name": "update_goal", "arguments": arguments }]),
        "toolUse",
    );
    let mut audit = tape.audit_data(1, text);
    for field in ["why", "failure", "model", "thinkingLevel", "rung", "report"] {
        audit[field] = text.into();
    }
    audit["before"]["digest"] = text.into();
    audit["after"]["digest"] = text.into();
    audit["checks"] = json!([{ "tool": text, "args": text, "ok": true, "ms": 1 }]);
    tape.custom(audit);
    tape.entry(
        json!({ "type": "message", "message": { "role": "assistant", "content": [],
        "stopReason": "error", "errorMessage": text } }),
    );
    tape.goal()["pauseDetail"] = text.into();
    tape.goal()["pauseKind"] = text.into();
    tape.goal()["gate"]["sandboxHide"] = json!([text]);
    tape.phase("paused", Some("audit_failures"));
    let header = json!({ "type": "session", "version": 3, "id": text, "cwd": text });
    format!("{header}\n{}", tape.text().split_once('\n').unwrap().1)
}

/// A hostile text of 10,000 characters.
fn long_hostile() -> String {
    HOSTILE.chars().cycle().take(10_000).collect()
}

fn reports() -> [(Report, Report); 2] {
    let harmless = |chars: usize| "x".repeat(chars);
    [
        (
            report(&session_of(HOSTILE)),
            report(&session_of(&harmless(HOSTILE.chars().count()))),
        ),
        (
            report(&session_of(&long_hostile())),
            report(&session_of(&harmless(10_000))),
        ),
    ]
}

/// Control characters, and what hides or reorders.
fn is_dangerous(c: char) -> bool {
    c != '\n' && c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}' | '\u{feff}' | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}

fn assert_nothing_dangerous(form: &str) {
    let found: Vec<char> = form.chars().filter(|&c| is_dangerous(c)).take(3).collect();
    assert!(found.is_empty(), "{found:?}");
}

/// The tags of a page in order, attribute values and texts left out.
fn tags(page: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some((_, tag)) = rest.split_once('<') {
        let mut quoted = false;
        let end = tag.find(|c| {
            quoted ^= c == '"';
            c == '>' && !quoted
        });
        let (tag, after) = tag.split_at(end.unwrap());
        let without_values: Vec<&str> = tag.split('"').step_by(2).collect();
        tags.push(without_values.concat());
        rest = after;
    }
    tags
}

#[test]
fn hostile_text_changes_nothing_of_a_pages_structure() {
    for (hostile, harmless) in reports() {
        let page = html(&hostile);
        assert_nothing_dangerous(&page);
        assert_eq!(tags(&page), tags(&html(&harmless)));
        assert!(page.contains("&lt;script&gt;alert(1)"));
        assert!(page.contains("⟦U+202E⟧"));
    }
}

#[test]
fn a_page_loads_nothing_and_runs_nothing() {
    let page = html(&report(&session_of(HOSTILE)));
    let tags = tags(&page);
    for tag in ["script", "link", "img", "iframe", "base", "object", "form"] {
        assert!(!tags.iter().any(|found| found.starts_with(tag)), "{tag}");
    }
    assert!(page.contains("default-src 'none'"));
    let style = page
        .split("<style>")
        .nth(1)
        .unwrap()
        .split("</style>")
        .next()
        .unwrap();
    assert!(!style.contains("url(") && !style.contains("@import"));
}

/// What starts a line outside of fences: headings, rows, bullets.
fn structure(page: &str) -> Vec<String> {
    let mut fence: Option<String> = None;
    let mut all = Vec::new();
    for line in page.lines() {
        let ticks: String = line.chars().take_while(|&c| c == '`').collect();
        match &fence {
            Some(open) if *open == line => fence = None,
            Some(_) => continue,
            None if ticks.len() >= 3 => fence = Some(ticks),
            None => {}
        }
        let start: String = line.chars().take_while(|c| "#*|> ".contains(*c)).collect();
        let cells = line.replace("\\|", "").matches('|').count();
        all.push(format!("{start} {cells}"));
    }
    assert_eq!(fence, None, "a fence stays open");
    all
}

#[test]
fn hostile_text_changes_nothing_of_a_markdown_pages_structure() {
    for (hostile, harmless) in reports() {
        let page = markdown(&hostile);
        assert_nothing_dangerous(&page);
        assert_eq!(structure(&page), structure(&markdown(&harmless)));
    }
}

#[test]
fn a_text_with_fences_of_its_own_closes_none_of_ours() {
    let text = "```\nout\n``````\n# Heading\n~~~\n";
    let page = markdown(&report(&session_of(text)));
    let headings = structure(&page)
        .into_iter()
        .filter(|line| line.starts_with('#'))
        .count();
    let harmless = markdown(&report(&session_of("x")));
    assert_eq!(
        headings,
        structure(&harmless)
            .into_iter()
            .filter(|line| line.starts_with('#'))
            .count()
    );
}

#[test]
fn json_keeps_every_character_and_prints_none_that_is_dangerous() {
    let text = long_hostile();
    let form = json(&report(&session_of(&text)));
    assert_nothing_dangerous(&form);
    let read: Value = serde_json::from_str(&form).unwrap();
    assert_eq!(read["goals"][0]["objective"], text);
    assert_eq!(read["goals"][0]["audits"][0]["report"], text);
    assert_eq!(read["session"]["cwd"], text);
}
