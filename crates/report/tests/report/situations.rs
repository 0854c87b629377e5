//! What entries mean.

use goal_report::{Event, Goal, Origin, Outcome, RunResult, Standing, json, markdown};
use serde_json::json;

use crate::tape::Tape;
use crate::{read, report};

/// A goal that was set and began.
fn begun() -> Tape {
    let mut tape = Tape::new();
    tape.save();
    tape.message(0, true);
    tape
}

fn only_goal(tape: &Tape) -> Goal {
    report(&tape.text()).goals.remove(0)
}

fn events(goal: &Goal) -> Vec<Event> {
    goal.history.iter().map(|happened| happened.event).collect()
}

#[test]
fn a_run_is_told_by_what_came_of_it() {
    type Play = fn(&mut Tape);
    let runs: [(RunResult, Play); 10] = [
        (RunResult::Lost, |_| {}),
        (RunResult::Empty, |tape| tape.answer("I will.", "stop")),
        (RunResult::Empty, |tape| tape.call("bash", false)),
        (RunResult::Empty, |tape| tape.call("get_goal", true)),
        (RunResult::Work, |tape| tape.call("bash", true)),
        (RunResult::Claim, |tape| {
            tape.audit(1, "disapproved", "done")
        }),
        (RunResult::Aborted, |tape| tape.answer("", "aborted")),
        (RunResult::Work, |tape| {
            tape.call("bash", true);
            tape.answer("", "aborted");
        }),
        (RunResult::Error, |tape| {
            tape.call("bash", true);
            tape.answer("", "error");
        }),
        // pi's own retry mended it.
        (RunResult::Work, |tape| {
            tape.answer("", "error");
            tape.call("bash", true);
        }),
    ];
    for (number, (result, play)) in runs.into_iter().enumerate() {
        let mut tape = begun();
        play(&mut tape);
        let goal = only_goal(&tape);
        assert_eq!(goal.runs.len(), 1, "row {number}");
        assert_eq!(goal.runs[0].result, result, "row {number}");
    }
}

#[test]
fn an_audit_the_user_asked_for_answers_no_claim_and_belongs_to_no_run() {
    let mut tape = begun();
    tape.call("bash", true);
    tape.phase("paused", Some("user"));
    let ended_at = only_goal(&tape).runs[0].ended_at;
    let mut audit = tape.audit_data(1, "disapproved");
    audit["byUser"] = true.into();
    tape.custom(audit);
    let goal = only_goal(&tape);
    let audit = &goal.audits[0];
    assert!(audit.by_user);
    assert_eq!((audit.run, &audit.claim), (None, &None));
    assert!(goal.runs[0].audits.is_empty());
    assert_eq!(goal.runs[0].ended_at, ended_at);
    let page = markdown(&read(&tape.text()).expect("a report"));
    assert!(page.contains("You asked for this audit"), "{page}");
}

#[test]
fn a_retried_error_stays_visible_in_the_run_it_did_not_end() {
    let mut tape = begun();
    tape.answer("", "error");
    tape.call("bash", true);
    let run = only_goal(&tape).runs.remove(0);
    assert_eq!((run.errors, run.turns), (1, 2));
    assert_eq!(run.error.as_deref(), Some("500: overloaded"));
}

#[test]
fn a_goal_told_again_after_a_compaction_begins_no_run() {
    let mut tape = begun();
    tape.call("bash", true);
    tape.compaction();
    tape.message(0, true);
    tape.call("bash", true);
    tape.message(1, true);
    tape.answer("Done.", "stop");
    let goal = only_goal(&tape);
    assert_eq!(goal.runs.len(), 2);
    assert_eq!((goal.runs[0].calls_ok, goal.runs[0].compactions), (2, 1));
    assert_eq!(goal.runs[0].spent.total_tokens, 110 + 1_050 + 110);
    assert_eq!(goal.runs[1].origin, Origin::Continuation);
}

#[test]
fn a_goal_told_again_in_the_run_that_the_user_woke_begins_no_run() {
    let mut tape = begun();
    tape.answer("", "error");
    // pi compacts before it takes the user's message up.
    tape.compaction();
    tape.user("Go on.");
    tape.message(0, true);
    tape.call("bash", true);
    let goal = only_goal(&tape);
    let results: Vec<_> = goal.runs.iter().map(|run| run.result).collect();
    assert_eq!(results, [RunResult::Error, RunResult::Work]);
    assert_eq!(goal.runs[1].origin, Origin::User);
}

#[test]
fn a_run_that_a_restarted_core_begins_anew_is_a_run_of_its_own() {
    let mut tape = begun();
    tape.compaction();
    tape.call("bash", true);
    tape.answer("Half done.", "stop");
    // The core was lost at the boundary: the goal goes on with the same number.
    tape.message(0, true);
    tape.call("bash", true);
    assert_eq!(only_goal(&tape).runs.len(), 2);
}

#[test]
fn a_message_of_the_user_steers_a_run_or_begins_one_after_an_error() {
    let mut tape = begun();
    tape.user("Mind the rhyme.");
    tape.answer("", "error");
    tape.user("Go on.");
    tape.call("bash", true);
    let runs = only_goal(&tape).runs;
    assert_eq!(runs.len(), 2);
    assert_eq!(
        (runs[0].user_messages, runs[0].result),
        (1, RunResult::Error)
    );
    assert_eq!(
        (runs[1].origin, runs[1].result),
        (Origin::User, RunResult::Work)
    );
}

#[test]
fn runs_of_the_users_own_while_the_goal_rests_are_not_the_goals() {
    let mut tape = begun();
    tape.answer("I will.", "stop");
    tape.phase("paused", Some("user"));
    tape.user("By the way?");
    tape.call("bash", true);
    let goal = only_goal(&tape);
    assert_eq!(goal.runs.len(), 1);
    assert_eq!(goal.totals.calls_ok, 0);
    assert_eq!(goal.totals.executor.total_tokens, 110);
}

#[test]
fn last_words_after_an_approval_belong_to_the_run_that_earned_it() {
    let mut tape = begun();
    tape.audit(1, "approved", "The poem rhymes.");
    tape.ended("approved");
    tape.answer("It is done.", "stop");
    let goal = only_goal(&tape);
    assert_eq!(goal.state.standing, Standing::Approved);
    assert_eq!(goal.runs[0].last_text.as_deref(), Some("It is done."));
    assert_eq!(goal.audits[0].claim.as_deref(), Some("The poem rhymes."));
    assert_eq!(
        (goal.audits[0].run, &*goal.runs[0].audits),
        (Some(1), &[1][..])
    );
    assert_eq!(events(&goal), [Event::Set, Event::Audited, Event::Approved]);
}

#[test]
fn pauses_resumes_and_edits_are_the_history_of_a_goal() {
    let mut tape = begun();
    tape.phase("paused", Some("no_progress"));
    tape.phase("pursuing", None);
    tape.message(0, true);
    tape.goal()["objective"] = "Write a longer poem".into();
    tape.phase("pursuing", None);
    tape.message(0, true);
    tape.phase("held", None);
    tape.goal()["gate"]["model"] = "judge".into();
    tape.goal()["gate"]["maxAudits"] = 0.into();
    tape.phase("pursuing", None);
    tape.goal()["gate"]["maxContinuations"] = 7.into();
    tape.save();
    tape.save();
    let goal = only_goal(&tape);
    assert_eq!(
        events(&goal),
        [
            Event::Set,
            Event::Paused,
            Event::Resumed,
            Event::Edited,
            Event::Held,
            Event::Resumed,
            Event::Changed
        ]
    );
    assert_eq!(goal.objective, "Write a longer poem");
    assert_eq!(goal.history[0].objective.as_deref(), Some("Write a poem"));
    assert_eq!(
        goal.history[3].objective.as_deref(),
        Some("Write a longer poem")
    );
    assert_eq!(
        goal.history[5].changes,
        ["auditor: sim/auditor → sim/judge", "maxAudits: 20 → off"]
    );
    assert_eq!(goal.history[6].changes, ["maxContinuations: 100 → 7"]);
    let origins: Vec<_> = goal.runs.iter().map(|run| run.origin).collect();
    assert_eq!(origins, [Origin::Start, Origin::Resume, Origin::Start]);
}

#[test]
fn a_goal_the_user_accepted_is_never_called_approved() {
    let mut tape = begun();
    tape.audit(1, "disapproved", "done");
    tape.phase("paused", Some("rejections"));
    tape.ended("accepted");
    let report = report(&tape.text());
    let goal = &report.goals[0];
    assert_eq!(goal.state.standing, Standing::Accepted);
    assert!(goal.accepted_by_user);
    assert_eq!(goal.totals.audits_approved, 0);
    let page = markdown(&report);
    assert!(page.contains("without an auditor's approval"), "{page}");
    assert!(!page.contains("approved after"), "{page}");
}

#[test]
fn another_branch_of_the_session_is_not_told() {
    let mut tape = Tape::new();
    tape.user("Hello.");
    let fork = tape.newest();
    tape.save();
    tape.message(0, true);
    tape.audit(1, "approved", "done");
    tape.ended("approved");
    let left = tape.newest();

    tape.go_to(fork);
    tape.answer("Hello.", "stop");
    let error = read(&tape.text()).unwrap_err().to_string();
    assert!(
        error.contains("one goal is on a branch that was left"),
        "{error}"
    );

    tape.go_to(left);
    tape.user("Back again.");
    assert_eq!(only_goal(&tape).audits[0].outcome, Outcome::Approved);
}

#[test]
fn active_time_reaches_to_the_last_sign_of_work_and_not_into_a_pause() {
    let mut tape = begun();
    tape.goal()["activeMs"] = 4_000.into();
    tape.message(1, false);
    tape.call("bash", true);
    assert_eq!(only_goal(&tape).active_ms, 6_000);

    tape.goal()["activeMs"] = 6_500.into();
    tape.phase("paused", Some("user"));
    tape.answer("", "aborted");
    assert_eq!(only_goal(&tape).active_ms, 6_500);
}

#[test]
fn an_outcome_reason_or_end_this_version_does_not_know_is_told_by_its_name() {
    let mut tape = begun();
    tape.audit(1, "postponed", "done");
    tape.phase("paused", Some("full_moon"));
    let page = markdown(&report(&tape.text()));
    assert!(page.contains("Audit 1: postponed"), "{page}");
    assert!(page.contains("does not know (full\\_moon)"), "{page}");

    tape.ended("evaporated");
    assert_eq!(only_goal(&tape).state.standing, Standing::Ended);
}

#[test]
fn an_entry_of_ours_that_makes_no_sense_is_left_out_and_said_so() {
    for odd in [
        json!({ "v": 1, "kind": "goal", "goal": { "id": "g-1" } }),
        json!({ "v": 1, "kind": "goal" }),
        json!({ "v": 1, "kind": "audit", "goalId": "g-1" }),
        json!({ "v": 1, "kind": "song" }),
        json!(null),
    ] {
        let mut tape = begun();
        tape.custom(odd.clone());
        let report = report(&tape.text());
        assert_eq!(report.goals[0].state.standing, Standing::Pursuing, "{odd}");
        assert_eq!(
            report.notes,
            ["1 entry of goal-auditor could not be understood and was left out."],
            "{odd}"
        );
    }
}

#[test]
fn what_a_newer_version_wrote_is_told_as_far_as_it_is_understood() {
    let mut tape = begun();
    let mut audit = tape.audit_data(1, "disapproved");
    audit["v"] = 2.into();
    tape.custom(audit);
    let report = report(&tape.text());
    assert_eq!(report.goals[0].audits.len(), 1);
    assert!(
        report.notes[0].contains("newer version"),
        "{:?}",
        report.notes
    );
}

#[test]
fn halves_of_surrogate_pairs_as_javascript_writes_them_cost_no_entry() {
    let mut tape = begun();
    tape.answer("MARK", "stop");
    let text = tape.text().replace("MARK", r"half \ud83d here");
    let report = report(&text);
    assert!(report.notes.is_empty(), "{:?}", report.notes);
    let said = report.goals[0].runs[0].last_text.clone().unwrap();
    assert!(
        said.starts_with("half \u{fffd}") && said.ends_with(" here"),
        "{said}"
    );
    assert!(json(&report).contains("half "));
}
