//! A thousand runs.

use goal_report::{RunResult, html, json, markdown};

use crate::report;
use crate::tape::Tape;

/// A goal of so many runs: work, talk, an error and a refusal in turn, paused now and then.
fn long_goal(runs: u32) -> String {
    let mut tape = Tape::new();
    tape.save();
    for seq in 0..runs {
        tape.message(seq, seq == 0);
        match seq % 5 {
            0 | 1 => {
                for _ in 0..=seq % 7 {
                    tape.call("bash", true);
                }
                tape.answer("I did a step, and I go on with the next one.", "stop");
            }
            2 => tape.answer("I am thinking about it.", "stop"),
            3 => tape.answer("", "error"),
            _ => tape.audit(seq / 5 + 1, "disapproved", "It is done."),
        }
    }
    tape.text()
}

#[test]
fn a_thousand_runs_are_all_in_the_page_and_in_the_data() {
    let report = report(&long_goal(1_000));
    let goal = &report.goals[0];
    assert_eq!((goal.runs.len(), goal.audits.len()), (1_000, 200));
    assert_eq!(goal.totals.runs_work, 400);
    assert_eq!(goal.runs[3].result, RunResult::Error);
    let page = html(&report);
    assert_eq!(page.matches("class=\"run\"").count(), 1_000);
    assert_eq!(page.matches("<tr id=").count(), 1_000);
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
    assert!(page.contains("Show all 1,000 runs"));
    assert!(json(&report).len() < 2_000_000);
}

#[test]
fn markdown_leaves_out_the_middle_of_very_many_runs_and_says_so() {
    let page = markdown(&report(&long_goal(1_000)));
    assert!(page.contains("800 runs left out"));
    assert!(page.contains("\n| 1 |") && page.contains("\n| 1000 |") && !page.contains("\n| 500 |"));
}

#[test]
fn a_page_grows_with_the_runs_and_not_faster() {
    let size = |runs| html(&report(&long_goal(runs))).len();
    let (few, many) = (size(500), size(1_000));
    assert!(many < few * 21 / 10, "{few} bytes, then {many}");
}
