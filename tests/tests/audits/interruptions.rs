//! An audit that the user breaks off, and one whose goal changes meanwhile: what is told and kept.

use goal_tests::{Mark, Pi, Reply, Steps, patience};
use serde_json::json;

use crate::court::{Court, OBJECTIVE, Trial, approve, claim, look};

/// The auditor has all but said yes.
fn nearly_approved(gate: &str) -> [Reply; 2] {
    [look(), approve().held_before_end(gate)]
}

/// Breaks the audit off when the approval has been streamed, and lets the approval come too late.
fn broken_off_by(court: &Court, gate: &str, how: impl FnOnce(&Pi) -> Mark) -> Trial {
    court.judge_meanwhile(
        OBJECTIVE,
        [claim("done")],
        nearly_approved(gate),
        |pi, hearing| {
            let number = hearing.wait_auditor(pi, 2).number;
            how(pi);
            pi.server().wait_until_left(number, patience()).unwrap();
            pi.server().release(gate);
        },
    )
}

#[test]
fn an_audit_that_is_broken_off_is_kept_as_such_and_counts_for_no_streak() {
    let court = Court::with(json!({ "maxConsecutiveAuditRejections": 1 }));
    for (what, why, stands) in [
        ("abort", "user", "paused(aborted)"),
        ("/goal pause", "command", "paused(user)"),
        ("/goal clear", "command", "cleared"),
    ] {
        let trial = broken_off_by(&court, what, |pi| match what {
            "abort" => pi.abort(),
            command => pi.prompt(command),
        });
        assert_eq!(trial.outcomes(), [format!("aborted({why})")]);
        assert_eq!(trial.stands(), stands, "{what}");
        assert_eq!(trial.executor.len(), 1, "{what}: no request follows");
        assert_eq!(trial.audits[0]["checks"][0]["tool"], "read", "{what}");
        let told = trial.told(0);
        assert!(
            told.contains("aborted") && told.contains("wait for the user"),
            "{what}: {told}"
        );
        assert_eq!(trial.results[0]["isError"], true, "{what}");
        let goal = &trial.saved.last().unwrap()["goal"];
        if goal.is_object() {
            let counted = (
                &goal["audits"],
                &goal["failureStreak"],
                &goal["rejectionStreak"],
            );
            assert_eq!(counted, (&json!(0), &json!(0), &json!(0)), "{what}");
        }
        assert!(
            trial
                .notices
                .iter()
                .all(|n| !n.text.contains("Goal complete")),
            "{what}"
        );
    }
}

#[test]
fn a_goal_that_was_replaced_meanwhile_gets_nothing_of_the_old_ones_audit() {
    let court = Court::with(json!({}));
    let trial = court.judge_meanwhile(
        OBJECTIVE,
        [claim("old"), claim("new"), Reply::text("Done.")],
        Steps::of(
            nearly_approved("yes")
                .into_iter()
                .chain([look(), approve()]),
        ),
        |pi, hearing| {
            let number = hearing.wait_auditor(pi, 2).number;
            let mark = pi.prompt("/goal Write hello, and nothing else");
            pi.server().wait_until_left(number, patience()).unwrap();
            pi.server().release("yes");
            pi.wait_notice(mark, "Goal complete");
        },
    );
    assert_eq!(trial.outcomes(), ["stale(goal)", "approved"]);
    let ids: Vec<_> = trial.audits.iter().map(|audit| &audit["goalId"]).collect();
    assert_ne!(ids[0], ids[1], "each is kept for its own goal");
    assert_eq!(trial.audits[1]["number"], 1, "the new goal begins anew");
    let told = trial.told(0);
    assert!(
        told.contains("stale") && told.contains("still applies"),
        "{told}"
    );
    assert!(trial.executor[1].last_text().contains("and nothing else"));
    assert!(trial.auditor[2].last_text().contains("and nothing else"));
    assert!(
        !trial.auditor[2].mentions("out.txt"),
        "a session of its own"
    );
}

#[test]
fn an_audit_that_was_broken_off_can_be_had_again_after_resume() {
    let court = Court::with(json!({}));
    broken_off_by(&court, "abort", Pi::abort);
    court
        .pi
        .server()
        .set(goal_tests::EXECUTOR, [claim("again"), Reply::text("Done.")]);
    court
        .pi
        .server()
        .set(goal_tests::AUDITOR, [look(), approve()]);
    let mark = court.pi.prompt("/goal resume");
    court.pi.wait_notice(mark, "Goal complete");
    court.pi.settled_quiet(mark);
    assert_eq!(court.pi.session().audit_outcomes(), ["aborted", "approved"]);
}
