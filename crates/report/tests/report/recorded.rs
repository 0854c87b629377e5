//! Sessions that the real pi wrote.

use goal_report::{Outcome, Report, RunResult, Standing, html, json, markdown};

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
    let report = report(&fixture("many-ends"));
    assert!(!json(&report).contains("Hello."));
    let executor = report
        .goals
        .iter()
        .map(|goal| goal.totals.executor.total_tokens);
    // 17 answers of 110 tokens: all but the one to the user and the two that were errors or aborted.
    assert_eq!(executor.sum::<u64>() % 110, 0);
}

fn results(report: &Report, goal: usize) -> Vec<RunResult> {
    report.goals[goal]
        .runs
        .iter()
        .map(|run| run.result)
        .collect()
}
