//! How many audits without approval a goal may have, and what counts as how many.

use goal_tests::{Reply, Request, Steps};
use serde_json::json;

use crate::court::{Court, Trial, always, approve, claim, look, refuse, work};

/// An executor that does these steps for ever, one after the other; `{n}` in a claim is counted.
fn round(steps: &'static [&'static str]) -> Steps {
    let mut done = 0;
    Steps::choose(move |_: &Request| {
        let step = steps[done % steps.len()];
        done += 1;
        match step {
            "work" => work(),
            "talk" => Reply::text(format!("I say thing number {done}.")),
            text => claim(&text.replace("{n}", &done.to_string())),
        }
    })
}

/// An auditor that looks, and refuses each claim for another reason.
fn refuses_all() -> Steps {
    let mut asked = 0;
    Steps::choose(move |request: &Request| {
        asked += 1;
        if request.last_of("tool").is_none() {
            look()
        } else {
            refuse(&format!("Objection number {asked}."))
        }
    })
}

fn fails() -> Reply {
    Reply::status(401, "the key is not known here")
}

/// What must hold at every pause that an audit causes.
fn assert_run_ended(trial: &Trial, reason: &str, audits: usize, requests: usize) {
    assert_eq!(trial.stands(), format!("paused({reason})"));
    assert_eq!(trial.audits.len(), audits, "{:?}", trial.outcomes());
    assert_eq!(
        trial.executor.len(),
        requests,
        "no request follows the pause"
    );
    let last = trial.results.last().unwrap();
    let paused = last["details"]["paused"].as_str().unwrap_or("not paused");
    assert!(paused.starts_with(reason), "{last}");
    assert!(trial.told(audits - 1).contains("This run ends here"));
}

#[test]
fn three_refusals_with_nothing_between_pause_exactly_at_the_cap_and_end_the_run() {
    let court = Court::with(json!({}));
    let trial = court.judge(round(&["claim {n}"]), refuses_all());

    assert_run_ended(&trial, "rejections", 3, 3);
    assert_eq!(trial.outcomes(), ["disapproved"; 3]);
    let notice = trial.notice("Goal paused");
    for words in [
        "3 times in a row",
        "sim/auditor",
        "Objection number",
        "too weak or misconfigured",
        "/goal resume",
    ] {
        assert!(notice.contains(words), "`{words}` is not in {notice}");
    }
    // The same with a run for each claim: what is said between claims is no work.
    let court = Court::with(json!({ "maxEmptyContinuations": 5 }));
    let trial = court.judge(round(&["claim {n}", "talk"]), refuses_all());
    assert_run_ended(&trial, "rejections", 3, 5);
}

#[test]
fn work_between_refusals_resets_their_streak_and_the_total_cap_ends_it() {
    let court = Court::with(json!({ "maxAudits": 5 }));
    let trial = court.judge(round(&["work", "claim {n}"]), refuses_all());

    assert_run_ended(&trial, "audit_limit", 5, 10);
    let goals: Vec<_> = trial.saved.iter().map(|saved| &saved["goal"]).collect();
    assert!(
        goals
            .iter()
            .all(|goal| goal["rejectionStreak"].as_u64() <= Some(1)),
        "{goals:?}"
    );
    let notice = trial.notice("Goal paused");
    for words in ["5 audits", "maxAudits", "sim/auditor", "Objection number"] {
        assert!(notice.contains(words), "`{words}` is not in {notice}");
    }
}

#[test]
fn a_rejection_cap_reached_by_the_audit_that_reaches_the_total_cap_goes_first() {
    let court = Court::with(json!({ "maxAudits": 3 }));
    let trial = court.judge(round(&["claim {n}"]), refuses_all());
    assert_run_ended(&trial, "rejections", 3, 3);
}

#[test]
fn the_last_audit_that_is_allowed_may_still_approve() {
    let court = Court::with(json!({ "maxAudits": 2 }));
    let trial = court.judge(
        [claim("a"), work(), claim("b"), Reply::text("Done.")],
        [look(), refuse("Not yet."), look(), approve()],
    );
    assert_eq!(trial.stands(), "approved");
}

#[test]
fn the_same_claim_met_by_the_same_objection_pauses_whatever_work_lies_between() {
    let court = Court::with(json!({}));
    let stubborn = || always_looks_then(refuse("The file must end in a newline."));
    let trial = court.judge(round(&["work", "It is all there."]), stubborn());

    assert_run_ended(&trial, "rejections", 3, 6);
    let notice = trial.notice("Goal paused");
    assert!(notice.contains("It is all there."), "{notice}");
    assert!(notice.contains("must end in a newline"), "{notice}");

    // A claim that says something else, or none, begins anew.
    let court = Court::with(json!({ "maxAudits": 6 }));
    let trial = court.judge(
        round(&["work", "Same.", "work", "Same.", "work", "Other {n}."]),
        stubborn(),
    );
    assert_run_ended(&trial, "audit_limit", 6, 12);
    let trial = court.judge(round(&["work", " "]), stubborn());
    assert_run_ended(&trial, "audit_limit", 6, 12);
}

fn always_looks_then(verdict: Reply) -> Steps {
    Steps::choose(move |request: &Request| {
        if request.last_of("tool").is_none() {
            look()
        } else {
            verdict.clone()
        }
    })
}

#[test]
fn refusals_and_failures_add_up_and_work_does_not_mend_failures() {
    let court = Court::with(json!({}));
    let mixed = court.judge(
        round(&["claim {n}"]),
        Steps::of([look(), refuse("No."), fails()]).then_repeat(fails()),
    );
    assert_run_ended(&mixed, "audit_failures", 3, 3);
    assert_eq!(
        mixed.outcomes(),
        [
            "disapproved",
            "failed(provider_error)",
            "failed(provider_error)"
        ]
    );

    let failing = court.judge(round(&["work", "claim {n}"]), always(fails()));
    assert_run_ended(&failing, "audit_failures", 3, 6);
    let last = &failing.saved.last().unwrap()["goal"];
    assert_eq!(last["pauseKind"], "provider_error");
    let notice = failing.notice("Goal paused");
    for words in [
        "3 audits in a row",
        "sim/auditor",
        "the key is not known here",
        "not judged",
        "/goal resume",
    ] {
        assert!(notice.contains(words), "`{words}` is not in {notice}");
    }
}

#[test]
fn a_verdict_shows_that_the_auditor_works_again_and_so_does_resume() {
    let court = Court::with(json!({}));
    // Two failures, then a verdict: one refusal in a row, no failure.
    let trial = court.judge(
        round(&["claim {n}"]),
        Steps::of([fails(), fails(), look(), refuse("No."), fails(), fails()]),
    );
    assert_run_ended(&trial, "audit_failures", 5, 5);

    court.pi.server().set(goal_tests::AUDITOR, always(fails()));
    let mark = court.pi.prompt("/goal resume");
    court.pi.settled_quiet(mark);
    assert_eq!(
        court.pi.session().audits().len(),
        5 + 3,
        "resume gives all of the cap again"
    );
}
