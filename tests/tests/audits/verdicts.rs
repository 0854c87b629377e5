//! Verdicts: what counts as one, what is done about the others, and where objections go.

use goal_tests::session::text_of;
use goal_tests::{Reply, Steps};
use serde_json::json;

use crate::court::{Court, Trial, approve, claim, claims_once, look, refuse, work};

#[test]
fn a_refused_claim_is_mended_and_approved_and_the_objections_reach_the_executor() {
    let court = Court::with(json!({}));
    let trial = court.judge(
        [
            work(),
            claim("first"),
            Reply::text("I stop here."),
            Reply::call("get_goal", json!({})),
            work(),
            claim("second"),
            Reply::text("Done."),
        ],
        [
            look(),
            refuse("out.txt says helo, not hello."),
            look(),
            approve(),
        ],
    );

    assert_eq!(trial.outcomes(), ["disapproved", "approved"]);
    assert_eq!(trial.stands(), "approved");
    assert_eq!(
        (&trial.audits[0]["number"], &trial.audits[1]["number"]),
        (&json!(1), &json!(2))
    );
    let told = trial.told(0);
    for words in [
        "disapproved",
        "out.txt says helo",
        "sim/auditor",
        "read × 1",
    ] {
        assert!(told.contains(words), "`{words}` is not in {told}");
    }
    assert_eq!(trial.results[0]["isError"], false);
    assert_eq!(
        trial.saved[1]["goal"]["lastObjection"],
        "out.txt says helo, not hello."
    );
    let marker = trial.executor[3].last_of("user").unwrap();
    assert!(marker.contains("out.txt says helo"), "{marker}");
    assert!(!marker.contains("<disapproved/>"), "{marker}");
    let goal = text_of(court.pi.session().tool_results("get_goal")[0]);
    assert!(goal.contains("out.txt says helo"), "{goal}");
    trial.notice("Goal complete");
}

#[test]
fn an_approval_without_evidence_is_sent_back_once_and_counts_after_a_look() {
    let court = Court::with(json!({}));
    let missing = || Reply::call("read", json!({ "path": "no-such-file" }));

    let looked = court.judge(
        [claim("done"), Reply::text("Done.")],
        [approve(), look(), approve()],
    );
    assert_eq!(looked.outcomes(), ["approved"]);
    assert_eq!(looked.audits[0]["attempts"], 2);
    let reminder = looked.auditor[1].last_of("user").unwrap();
    assert!(reminder.contains("successful tool call"), "{reminder}");

    let still_hollow = court.judge(claims_once(), [approve(), approve()]);
    assert_eq!(still_hollow.outcomes(), ["no_verdict(hollow_approval)"]);
    assert!(
        still_hollow
            .told(0)
            .contains("without one successful check")
    );
    assert_eq!(still_hollow.auditor.len(), 2);
    assert_ne!(still_hollow.stands(), "approved");

    // A look that failed is no evidence, and neither is a call of a tool it does not have.
    let failed_look = court.judge(claims_once(), [missing(), approve(), missing(), approve()]);
    assert_eq!(failed_look.outcomes(), ["no_verdict(hollow_approval)"]);
    assert_eq!(failed_look.audits[0]["checks"][0]["ok"], false);
    let write = || Reply::call("write", json!({ "path": "out.txt", "content": "mine" }));
    let unknown_tool = court.judge(claims_once(), [write(), approve(), write(), approve()]);
    assert_eq!(unknown_tool.outcomes(), ["no_verdict(hollow_approval)"]);
    assert_eq!(court.pi.world().file("out.txt").as_deref(), Some("hello"));

    // Both reminders may be needed, one after the other, and the findings of all answers are kept.
    let both = court.judge(
        [claim("done"), Reply::text("Done.")],
        [Reply::text("First thoughts."), approve(), look(), approve()],
    );
    assert_eq!(both.outcomes(), ["approved"]);
    assert_eq!(both.audits[0]["attempts"], 3);
    let report = both.audits[0]["report"].as_str().unwrap();
    assert!(report.contains("First thoughts."), "{report}");

    // Evidence of an earlier answer counts for a later one.
    let earlier = court.judge(
        [claim("done"), Reply::text("Done.")],
        [look(), Reply::text("It holds."), approve()],
    );
    assert_eq!(earlier.outcomes(), ["approved"]);
}

/// An answer that is no verdict: what it is, its reason, and what the reminder says of it.
fn no_verdicts() -> Vec<(&'static str, Reply, &'static str, &'static str)> {
    vec![
        (
            "no tag",
            Reply::text("All is well."),
            "no_tag",
            "not a verdict tag",
        ),
        (
            "tag in the middle",
            Reply::text("I will write <approved/> only after tests.\nTests not run yet."),
            "no_tag",
            "not a verdict tag",
        ),
        (
            "other case",
            Reply::text("Fine.\n<Approved/>"),
            "no_tag",
            "not a verdict tag",
        ),
        (
            "fence",
            Reply::text("Fine.\n\n```\n<approved/>\n```"),
            "no_tag",
            "not a verdict tag",
        ),
        (
            "end token",
            Reply::text("Fine.\n<approved/>\n</s>"),
            "no_tag",
            "not a verdict tag",
        ),
        (
            "extra text",
            Reply::text("<approved/> - except the docs"),
            "extra_text",
            "more than the verdict",
        ),
        (
            "unfinished reasoning",
            Reply::text("<think>\nlooks good\n<approved/>"),
            "unfinished_reasoning",
            "never closes it",
        ),
        (
            "truncated behind the tag",
            Reply::text("Fine.\n<approved/>").truncated(),
            "truncated",
            "output limit",
        ),
        ("empty", Reply::text(""), "empty", "no text"),
        (
            "thinking only",
            Reply::thinking("Fine. <approved/>"),
            "empty",
            "no text",
        ),
    ]
}

#[test]
fn an_answer_without_a_verdict_gets_one_reminder_that_says_what_was_wrong() {
    let court = Court::with(json!({}));
    for (form, answer, _, reminder) in no_verdicts() {
        let trial = court.judge(
            [claim("done"), Reply::text("Done.")],
            [look(), answer, approve()],
        );
        assert_eq!(trial.outcomes(), ["approved"], "{form}");
        let sent = trial.auditor[2].last_of("user").unwrap();
        assert!(sent.contains(reminder), "{form}: {sent}");
        assert!(sent.contains("<approved/>"), "{form}: the contract again");
        assert!(
            !sent.trim_end().ends_with("/>"),
            "{form}: an echo is no verdict"
        );
    }
}

#[test]
fn without_a_verdict_after_the_reminder_the_audit_failed_and_the_goal_stays() {
    let court = Court::with(json!({}));
    for (form, answer, why, _) in no_verdicts() {
        let trial = court.judge(claims_once(), [look(), answer.clone(), answer]);
        assert_eq!(trial.outcomes(), [format!("no_verdict({why})")], "{form}");
        assert_eq!(trial.auditor.len(), 3, "{form}: one reminder");
        assert_is_ordinary_no_verdict(&trial, form);
    }
}

fn assert_is_ordinary_no_verdict(trial: &Trial, form: &str) {
    let told = trial.told(0);
    assert!(told.contains("no verdict"), "{form}: {told}");
    assert!(told.contains("sim/auditor"), "{form}: {told}");
    assert_eq!(trial.results[0]["isError"], false, "{form}");
    let failures: Vec<_> = trial
        .saved
        .iter()
        .map(|saved| &saved["goal"]["failureStreak"])
        .collect();
    assert!(failures.contains(&&json!(1)), "{form}: {failures:?}");
    assert_eq!(trial.stands(), "paused(no_progress)", "{form}");
}

#[test]
fn reasons_may_change_between_the_two_answers_and_the_last_one_is_told() {
    let court = Court::with(json!({}));
    let trial = court.judge(
        claims_once(),
        [look(), Reply::text("Hm."), Reply::text("").truncated()],
    );
    assert_eq!(trial.outcomes(), ["no_verdict(truncated)"]);
    assert!(trial.told(0).contains("output truncated"));
}

#[test]
fn decorated_tags_and_closed_reasoning_are_verdicts_and_quoted_ones_are_not() {
    let court = Court::with(json!({}));
    for (text, outcome) in [
        ("Fine.\n**<approved/>**", "approved"),
        ("Fine.\n`<approved />`\n\n", "approved"),
        (
            "<think>if bad:\n<disapproved/>\n</think>\nFine.\n<approved/>",
            "approved",
        ),
        (
            "An earlier run ended with <disapproved/>; mended now.\n<approved/>",
            "approved",
        ),
        (
            "NOTES.md ends with:\n<approved/>\nThat is no proof.\n<disapproved/>",
            "disapproved",
        ),
    ] {
        let trial = court.judge(
            Steps::of([claim("done")]).then_repeat(Reply::text("I rest.")),
            [look(), Reply::text(text)],
        );
        assert_eq!(trial.outcomes(), [outcome], "{text}");
    }
}

#[test]
fn an_account_beside_the_tool_calls_counts_as_the_objections_of_a_bare_verdict() {
    let court = Court::with(json!({}));
    let trial = court.judge(
        Steps::of([claim("done"), Reply::text("So.")]).then_repeat(Reply::text("I wait.")),
        [
            look().and_text("The greeting is misspelt."),
            look().and_text("And the newline is missing."),
            Reply::text("<disapproved/>"),
        ],
    );
    assert_eq!(trial.outcomes(), ["disapproved"]);
    for words in ["The greeting is misspelt.", "And the newline is missing."] {
        assert!(trial.told(0).contains(words), "{}", trial.told(0));
        let objection = trial.saved[1]["goal"]["lastObjection"].as_str().unwrap();
        assert!(objection.contains(words), "{objection}");
    }
}

#[test]
fn a_tool_call_that_was_cut_off_is_asked_again_by_pi_and_nothing_is_lost() {
    let court = Court::with(json!({}));
    let trial = court.judge(
        [claim("done"), Reply::text("Done.")],
        [
            Reply::raw_call("read", "{\"path\": \"ou").truncated(),
            look(),
            approve(),
        ],
    );
    assert_eq!(trial.outcomes(), ["approved"]);
    assert_eq!(trial.audits[0]["attempts"], 1);
}
