//! Calls of `update_goal`: what a model may write, several in one message, and the calls around it.

use goal_tests::session::text_of;
use goal_tests::{Reply, Steps};
use serde_json::{Value, json};

use crate::court::{Court, Trial, always, approve, claim, look, refuse, work};

fn update_goal(arguments: Value) -> Reply {
    Reply::call("update_goal", arguments)
}

fn touch(file: &str) -> Value {
    json!({ "command": format!("touch {file}") })
}

/// An executor that sends this message and then only talks.
fn sends(message: Reply) -> Steps {
    Steps::of([message]).then_repeat(Reply::text("I wait."))
}

#[test]
fn every_way_to_say_complete_starts_an_audit() {
    let court = Court::with(json!({}));
    for arguments in [
        json!({ "status": "complete" }),
        json!({ "status": "COMPLETED" }),
        json!({ "status": " Done " }),
        json!({ "status": null }),
        json!({ "status": "" }),
        json!({}),
        json!({ "status": "complete", "completionSummary": null }),
        json!({ "status": "complete", "completionSummary": "" }),
        json!({ "status": "complete", "completionSummary": { "no": "text" } }),
        json!({ "status": "complete", "confidence": 1, "notes": ["x"] }),
    ] {
        let trial = court.judge(sends(update_goal(arguments.clone())), [look(), approve()]);
        assert_eq!(trial.outcomes(), ["approved"], "{arguments}");
        let prompt = trial.auditor[0].last_text();
        assert!(prompt.contains("gave no summary"), "{arguments}: {prompt}");
    }
}

#[test]
fn another_status_is_refused_with_what_is_allowed_and_nothing_is_audited() {
    let court = Court::with(json!({}));
    for status in [
        json!("in_progress"),
        json!("blocked"),
        json!("complete!"),
        json!(true),
        json!(7),
        json!(["complete"]),
        json!({ "is": "complete" }),
    ] {
        let trial = court.judge(sends(update_goal(json!({ "status": status }))), []);
        assert!(trial.audits.is_empty(), "{status}");
        let told = trial.told(0);
        assert!(
            told.contains("only one allowed is \"complete\""),
            "{status}: {told}"
        );
        assert_eq!(trial.results[0]["isError"], true, "{status}");
    }
}

#[test]
fn arguments_that_are_no_json_are_refused_by_pi_and_quoted_in_the_nudge() {
    let court = Court::with(json!({ "maxEmptyContinuations": 2 }));
    let trial = court.judge(
        [
            Reply::raw_call("update_goal", "{\"status\": \"comp"),
            Reply::text("So be it."),
            Reply::text("Well."),
        ],
        [],
    );
    assert!(trial.audits.is_empty());
    assert_eq!(trial.results[0]["isError"], true);
    let nudge = trial.executor[2].last_of("user").unwrap();
    assert!(nudge.contains("update_goal"), "{nudge}");
    assert_eq!(trial.stands(), "paused(no_progress)");
}

#[test]
fn several_claims_in_one_message_get_one_audit_and_its_usage_is_charged_once() {
    let court = Court::with(json!({}));
    let message = claim("one")
        .and_call(
            "update_goal",
            json!({ "status": "complete", "completionSummary": "two" }),
        )
        .and_call("update_goal", json!({ "status": "complete" }));
    for (auditor, outcome) in [
        ([look(), refuse("Not yet.")], "disapproved"),
        ([look(), approve()], "approved"),
    ] {
        let trial = court.judge(sends(message.clone()), Steps::from(auditor));
        assert_eq!(trial.outcomes(), [outcome]);
        assert_eq!(trial.results.len(), 3);
        for nth in [1, 2] {
            let told = trial.told(nth);
            assert!(told.contains("one audit"), "{told}");
            assert!(told.contains(outcome), "{told}");
        }
        assert!(trial.results[0]["usage"].is_object());
        assert!(trial.results[1]["usage"].is_null(), "{}", trial.results[1]);
        assert!(trial.results[2]["usage"].is_null());
    }
    // The next message is a claim of its own.
    let trial = court.judge(
        Steps::of([claim("one"), claim("two")]).then_repeat(Reply::text("Done.")),
        [look(), refuse("Not yet."), look(), approve()],
    );
    assert_eq!(trial.outcomes(), ["disapproved", "approved"]);
}

#[test]
fn calls_around_a_claim_run_as_long_as_the_goal_goes_on() {
    let court = Court::with(json!({}));
    let message = Reply::call("bash", touch("before"))
        .and_call("update_goal", json!({}))
        .and_call("bash", touch("after"));
    let trial = court.judge(
        Steps::of([message]).then_repeat(Reply::text("Done.")),
        [look(), refuse("Not yet.")],
    );
    assert_eq!(trial.outcomes(), ["disapproved"]);
    assert!(court.pi.world().file("before").is_some());
    assert!(court.pi.world().file("after").is_some());
}

/// A way for `update_goal` to end the run: the settings, what the executor and the auditor did
/// before, and how the goal stands afterwards.
struct Ending {
    settings: Value,
    before: Vec<Reply>,
    auditor: fn() -> Steps,
    stands: &'static str,
    /// Audits in all.
    audits: usize,
}

fn refuses_twice() -> Steps {
    let no = || refuse("Not yet.");
    Steps::of([look(), no(), look(), no()])
}

fn endings() -> [Ending; 3] {
    [
        Ending {
            settings: json!({ "maxConsecutiveAuditRejections": 1 }),
            before: vec![],
            auditor: refuses_twice,
            stands: "paused(rejections)",
            audits: 1,
        },
        Ending {
            settings: json!({ "maxConsecutiveAuditRejections": 2 }),
            before: vec![work(), claim("first")],
            auditor: || always(Reply::status(401, "no such key")),
            stands: "paused(audit_failures)",
            audits: 2,
        },
        Ending {
            settings: json!({ "maxAudits": 2 }),
            before: vec![claim("first"), work()],
            auditor: refuses_twice,
            stands: "paused(audit_limit)",
            audits: 2,
        },
    ]
}

/// What must hold wherever the run was ended by a claim in the middle of its message.
fn assert_nothing_follows(court: &Court, trial: &Trial, requests: usize, what: &str) {
    assert_eq!(trial.executor.len(), requests, "{what}: no request follows");
    assert!(
        court.pi.world().file("after").is_none(),
        "{what}: later calls are blocked"
    );
    let mut told = trial.results.iter().map(text_of);
    assert!(
        told.any(|text| text.contains("This run ends here")),
        "{what}"
    );
}

#[test]
fn a_claim_that_pauses_the_goal_ends_the_run_wherever_it_stands_in_its_message() {
    for ending in endings() {
        let court = Court::with(ending.settings.clone());
        let what = ending.stands;
        let requests = ending.before.len() + 1;
        let judge = |message: Reply| {
            let executor = Steps::of(ending.before.iter().cloned().chain([message]));
            let trial = court.judge(executor, (ending.auditor)());
            assert_eq!(trial.stands(), ending.stands);
            assert_eq!(trial.audits.len(), ending.audits, "{what}");
            assert_nothing_follows(&court, &trial, requests, what);
            trial
        };
        judge(
            Reply::call("bash", touch("before"))
                .and_call("update_goal", json!({ "completionSummary": "last" }))
                .and_call("bash", touch("after")),
        );
        assert!(court.pi.world().file("before").is_some(), "{what}");
        // First in its message: pi ends the run without an abort.
        let first = judge(
            claim("last")
                .and_call("bash", touch("after"))
                .and_call("update_goal", json!({})),
        );
        let settled = court.pi.wait_settled(first.mark);
        assert_eq!(settled["aborted"], false, "{what}");
    }
}

#[test]
fn dead_calls_end_a_run_of_the_users_own_and_block_what_is_left_of_the_message() {
    let court = Court::with(json!({}));
    court.judge(sends(claim("done")), [look(), approve()]);

    let message = Reply::call("bash", touch("before"))
        .and_call("update_goal", json!({}))
        .and_call("get_goal", json!({}))
        .and_call("update_goal", json!({}))
        .and_call("bash", touch("after"));
    court.pi.server().set(goal_tests::EXECUTOR, [message]);
    let asked = court.pi.server().requests_of(goal_tests::EXECUTOR).len();
    let mark = court.pi.prompt("Hello");
    court.pi.settled_quiet(mark);
    assert_eq!(
        court.pi.server().requests_of(goal_tests::EXECUTOR).len(),
        asked + 1
    );
    assert!(court.pi.world().file("before").is_some());
    assert!(court.pi.world().file("after").is_none());
    court.pi.wait_notice(mark, "The run was ended");
}
