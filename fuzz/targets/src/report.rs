//! The report of a session file.

use std::path::Path;

use goal_report::{html, is_report, json, markdown, read_lines};

use crate::commands;

/// Tags that a page of ours never has, whatever a text tries to bring in.
const FOREIGN_TAGS: [&str; 8] = [
    "<script", "<img", "<iframe", "<object", "<embed", "<link", "<form", "<base",
];

/// The bytes are a session file. Whatever is in it:
///
/// * it is a report in three forms, or an error with words;
/// * none of them commands a terminal, and each is known for a report when it is seen again;
/// * the page has no tag that a text brought, loads nothing, and closes what it opens;
/// * the data can be read back.
pub fn report(bytes: &[u8]) {
    let path = Path::new("session.jsonl");
    let report = match read_lines(path, bytes, None) {
        Ok(report) => report,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    assert!(!report.goals.is_empty());
    let (page, text, data) = (html(&report), markdown(&report), json(&report));
    for written in [&page, &text, &data] {
        assert!(!commands(written), "{written:?}");
        assert!(is_report(written.as_bytes()));
    }
    is_a_closed_page(&page);
    assert!(serde_json::from_str::<serde_json::Value>(&data).is_ok());
    // What JSON has no number for would be written so.
    assert!(!data.contains("\"cost\": null"), "{data:?}");
    let first = &report.goals[0].id;
    if let Ok(one) = read_lines(path, bytes, Some(first)) {
        assert_eq!(one.goals.len(), 1);
        assert_eq!(&one.goals[0].id, first);
    }
}

fn is_a_closed_page(page: &str) {
    let lower = page.to_ascii_lowercase();
    for tag in FOREIGN_TAGS {
        assert!(!lower.contains(tag), "{tag} in {page:?}");
    }
    // Inside a tag no quote is left open and no `<` stands, or a text has broken out of it.
    for (at, _) in page.match_indices('<') {
        let tag = page[at + 1..].split('>').next().unwrap_or_default();
        assert!(!tag.contains('<'), "{tag:?}");
    }
    for name in [
        "main", "article", "section", "details", "pre", "table", "bdi", "code",
    ] {
        let opened = opened(page, name);
        let closed = page.matches(&format!("</{name}>")).count();
        assert_eq!(opened, closed, "{name} in {page:?}");
    }
}

fn opened(page: &str, name: &str) -> usize {
    let tag = format!("<{name}");
    let ends = |at: usize| page[at + tag.len()..].starts_with(['>', ' ']);
    page.match_indices(&tag).filter(|(at, _)| ends(*at)).count()
}
