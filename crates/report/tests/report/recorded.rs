//! Sessions that the real pi wrote.

use std::collections::BTreeSet;
use std::path::Path;

use goal_report::{Outcome, Report, RunResult, Standing, html, json, markdown};
use serde_json::Value;

use crate::{fixture, report};

fn without_version(text: &str) -> String {
    text.replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

fn without_style(page: &str) -> String {
    let (before, rest) = page.split_once("<style>").unwrap();
    let (_, after) = rest.split_once("</style>").unwrap();
    format!("{before}{after}").replace("><", ">\n<")
}

#[test]
fn a_refused_goal_that_was_mended_is_told_in_every_form() {
    let report = report(&fixture("mended"));
    insta::assert_snapshot!("mended.md", without_version(&markdown(&report)));
    insta::assert_snapshot!("mended.json", without_version(&json(&report)));
    insta::assert_snapshot!(
        "mended.html",
        without_version(&without_style(&html(&report)))
    );
}

#[test]
fn goals_that_ended_in_many_ways_are_told_newest_first() {
    let report = report(&fixture("many-ends"));
    insta::assert_snapshot!("many-ends.md", without_version(&markdown(&report)));

    let standings: Vec<_> = report
        .goals
        .iter()
        .map(|goal| goal.state.standing)
        .collect();
    assert_eq!(
        standings,
        [
            Standing::Paused,
            Standing::Approved,
            Standing::Replaced,
            Standing::Cleared
        ]
    );
    let outcomes: Vec<_> = report.goals[3]
        .audits
        .iter()
        .map(|audit| audit.outcome)
        .collect();
    assert_eq!(
        outcomes,
        [Outcome::Failed, Outcome::NoVerdict, Outcome::Disapproved]
    );
    assert_eq!(results(&report, 2), [RunResult::Error]);
    assert_eq!(
        results(&report, 3),
        [
            RunResult::Empty,
            RunResult::Empty,
            RunResult::Work,
            RunResult::Empty,
            RunResult::Empty
        ]
    );
}

#[test]
fn what_the_user_says_outside_of_a_goal_is_not_told_and_not_counted() {
    let text = fixture("many-ends");
    let report = report(&text);
    assert!(text.contains("Hello.") && !json(&report).contains("Hello."));
    // Every answer of the scripted model but the one to the user used 110 tokens, or failed.
    let executor = report
        .goals
        .iter()
        .map(|goal| goal.totals.executor.total_tokens);
    let answers = text.matches("\"role\":\"assistant\"").count();
    let failed = text.matches("\"stopReason\":\"error\"").count()
        + text.matches("\"stopReason\":\"aborted\"").count();
    assert_eq!(executor.sum::<u64>(), 110 * (answers - failed - 1) as u64);
}

fn results(report: &Report, goal: usize) -> Vec<RunResult> {
    report.goals[goal]
        .runs
        .iter()
        .map(|run| run.result)
        .collect()
}

/// All names of an object's fields, and of those inside it.
fn names(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                found.insert(name.clone());
                names(value, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| names(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn every_name_of_the_json_form_is_documented() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/report.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    let mut found = BTreeSet::new();
    for fixture_name in ["mended", "many-ends"] {
        let form = json(&report(&fixture(fixture_name)));
        names(&serde_json::from_str(&form).unwrap(), &mut found);
    }
    let missing: Vec<_> = found
        .iter()
        .filter(|name| !docs.contains(&format!("`{name}`")))
        .collect();
    assert!(missing.is_empty(), "not in docs/report.md: {missing:?}");
    assert!(found.len() > 60, "{found:?}");
}
