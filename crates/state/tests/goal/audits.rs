//! What an audit means for the goal (spec §5.5), caps exactly at their limits.

use goal_state::{
    AuditMark, AuditOutcome, Consequence, FailureKind, Gate, Goal, NoVerdictWhy, REFUSALS_SAME_MAX,
};

use crate::{gate, goal, goal_with, run};

const FAILED: AuditOutcome = AuditOutcome::Failed(FailureKind::ProviderError);
const NO_VERDICT: AuditOutcome = AuditOutcome::NoVerdict(NoVerdictWhy::NoTag);

fn audited(
    goal: &mut Goal,
    outcome: &AuditOutcome,
    claim: Option<&str>,
    objection: &str,
) -> Option<String> {
    let consequence = goal.audited(AuditMark {
        outcome,
        claim,
        objection,
        failure: None,
    });
    match consequence {
        Consequence::Complete => Some("complete".to_owned()),
        Consequence::GoOn => None,
        Consequence::Pause(stop) => Some(stop.reason.to_string()),
    }
}

fn refused(goal: &mut Goal) -> Option<String> {
    audited(goal, &AuditOutcome::Disapproved, None, "no")
}

#[test]
fn only_an_approval_completes_and_it_resolves_the_objection() {
    let mut goal = goal();
    refused(&mut goal);
    assert_eq!(goal.last_objection.as_deref(), Some("no"));
    assert_eq!(
        audited(&mut goal, &AuditOutcome::Approved, None, "").as_deref(),
        Some("complete")
    );
    assert_eq!(goal.last_objection, None);
    for outcome in [
        AuditOutcome::Disapproved,
        NO_VERDICT,
        FAILED,
        AuditOutcome::StaleWorkspace,
        AuditOutcome::StaleGoal,
        AuditOutcome::Aborted { by_command: true },
        AuditOutcome::Aborted { by_command: false },
    ] {
        let mut goal = crate::goal();
        assert_ne!(
            audited(&mut goal, &outcome, None, "").as_deref(),
            Some("complete"),
            "{outcome:?}"
        );
    }
}

#[test]
fn each_outcome_counts_as_the_table_says() {
    for (outcome, audits, rejections, failures) in [
        (AuditOutcome::Approved, 1, 0, 0),
        (AuditOutcome::Disapproved, 1, 1, 0),
        (NO_VERDICT, 1, 0, 1),
        (
            AuditOutcome::NoVerdict(NoVerdictWhy::HollowApproval),
            1,
            0,
            1,
        ),
        (FAILED, 1, 0, 1),
        (
            AuditOutcome::Failed(FailureKind::MissingCredentials),
            1,
            0,
            1,
        ),
        (AuditOutcome::StaleWorkspace, 1, 0, 1),
        (AuditOutcome::StaleGoal, 0, 0, 0),
        (AuditOutcome::Aborted { by_command: true }, 0, 0, 0),
        (AuditOutcome::Aborted { by_command: false }, 0, 0, 0),
    ] {
        let mut goal = goal();
        audited(&mut goal, &outcome, Some("claim"), "objection");
        let totals = &goal.totals;
        assert_eq!(
            (
                totals.audits,
                totals.rejection_streak,
                totals.failure_streak
            ),
            (audits, rejections, failures),
            "{outcome:?}"
        );
    }
}

#[test]
fn an_abort_pauses_by_command_or_by_the_user() {
    for (by_command, reason) in [(true, "user"), (false, "aborted")] {
        let outcome = AuditOutcome::Aborted { by_command };
        assert_eq!(
            audited(&mut goal(), &outcome, None, "").as_deref(),
            Some(reason)
        );
    }
}

#[test]
fn the_cap_is_reached_by_refusals_and_failures_together() {
    for max in 1..=4_u32 {
        for failures in 0..=max {
            let mut goal = goal_with(Gate {
                max_consecutive_audit_rejections: max,
                ..gate()
            });
            let mut last = None;
            for round in 1..=max {
                // Refusals first: a verdict would set the failures back.
                let outcome = if round <= max - failures {
                    AuditOutcome::Disapproved
                } else {
                    FAILED
                };
                last = audited(&mut goal, &outcome, None, "no");
                assert_eq!(last.is_some(), round == max, "round {round} of {max}");
            }
            let expected = if failures == 0 {
                "rejections"
            } else {
                "audit_failures(provider_error)"
            };
            assert_eq!(last.as_deref(), Some(expected));
        }
    }
}

#[test]
fn work_resets_the_refusals_and_only_a_verdict_the_failures() {
    let mut goal = goal();
    refused(&mut goal);
    audited(&mut goal, &FAILED, None, "");
    goal.note_work();
    assert_eq!(
        (goal.totals.rejection_streak, goal.totals.failure_streak),
        (0, 1)
    );
    goal.settle(&run(true, "worked"));
    assert_eq!(goal.totals.failure_streak, 1);
    refused(&mut goal);
    assert_eq!(
        (goal.totals.rejection_streak, goal.totals.failure_streak),
        (1, 0)
    );
}

#[test]
fn a_users_message_resets_neither() {
    let mut goal = goal();
    refused(&mut goal);
    audited(&mut goal, &FAILED, None, "");
    goal.note_user_message();
    assert_eq!(
        (goal.totals.rejection_streak, goal.totals.failure_streak),
        (1, 1)
    );
}

#[test]
fn the_same_claim_met_by_the_same_objection_three_times_pauses_whatever_happened_between() {
    let mut goal = goal_with(Gate {
        max_consecutive_audit_rejections: 100,
        ..gate()
    });
    for round in 1..=REFUSALS_SAME_MAX {
        goal.note_work();
        audited(&mut goal, &FAILED, Some("all done"), "");
        goal.note_user_message();
        let end = audited(
            &mut goal,
            &AuditOutcome::Disapproved,
            Some("all  done\n"),
            "the door\nis missing",
        );
        assert_eq!(
            end.as_deref(),
            (round == REFUSALS_SAME_MAX).then_some("rejections"),
            "round {round}"
        );
    }
}

#[test]
fn both_sides_of_a_deadlock_are_shown() {
    let mut goal = goal();
    let mut last = Consequence::GoOn;
    for _ in 0..REFUSALS_SAME_MAX {
        last = goal.audited(AuditMark {
            outcome: &AuditOutcome::Disapproved,
            claim: Some("all done"),
            objection: "the door is missing",
            failure: None,
        });
    }
    let Consequence::Pause(stop) = last else {
        unreachable!("the third one pauses")
    };
    let detail = stop.detail.expect("both sides");
    assert!(
        detail.contains("all done") && detail.contains("the door is missing"),
        "{detail}"
    );
}

#[test]
fn another_claim_another_objection_or_no_claim_is_no_deadlock() {
    for others in [
        [(Some("a"), "x"), (Some("b"), "x"), (Some("a"), "x")],
        [(Some("a"), "x"), (Some("a"), "y"), (Some("a"), "x")],
        [(None, "x"), (None, "x"), (None, "x")],
        [(Some(" "), "x"), (Some(" "), "x"), (Some(" "), "x")],
        [(Some("a"), "x"), (None, "x"), (Some("a"), "x")],
        // The claim's words do not run into the objection's.
        [(Some("a b"), "x"), (Some("a"), "b x"), (Some("a b"), "x")],
    ] {
        let mut goal = goal_with(Gate {
            max_consecutive_audit_rejections: 100,
            ..gate()
        });
        for (claim, objection) in others {
            assert_eq!(
                audited(&mut goal, &AuditOutcome::Disapproved, claim, objection),
                None,
                "{others:?}"
            );
        }
    }
}

#[test]
fn the_last_allowed_audit_pauses_unless_it_approves_and_a_refusal_cap_goes_first() {
    let limited = |rejections| {
        goal_with(Gate {
            max_audits: Some(2),
            max_consecutive_audit_rejections: rejections,
            ..gate()
        })
    };
    for outcome in [
        AuditOutcome::Disapproved,
        NO_VERDICT,
        FAILED,
        AuditOutcome::StaleWorkspace,
    ] {
        let mut goal = limited(9);
        assert_eq!(refused(&mut goal), None);
        assert_eq!(
            audited(&mut goal, &outcome, None, "no").as_deref(),
            Some("audit_limit"),
            "{outcome:?}"
        );
    }
    let mut goal = limited(9);
    refused(&mut goal);
    assert_eq!(
        audited(&mut goal, &AuditOutcome::Approved, None, "").as_deref(),
        Some("complete")
    );
    let mut goal = limited(2);
    refused(&mut goal);
    assert_eq!(refused(&mut goal).as_deref(), Some("rejections"));
    let mut goal = goal_with(Gate {
        max_audits: None,
        max_consecutive_audit_rejections: 1_000,
        ..gate()
    });
    for _ in 0..500 {
        assert_eq!(refused(&mut goal), None);
    }
}

#[test]
fn audits_that_count_for_nothing_reach_no_limit() {
    let mut goal = goal_with(Gate {
        max_audits: Some(1),
        ..gate()
    });
    for _ in 0..5 {
        assert_eq!(audited(&mut goal, &AuditOutcome::StaleGoal, None, ""), None);
    }
}

#[test]
fn counts_that_were_read_at_their_limit_do_not_overflow() {
    let mut goal = goal();
    goal.totals.audits = u32::MAX;
    goal.totals.rejection_streak = u32::MAX;
    goal.totals.failure_streak = u32::MAX;
    goal.totals.refusal_streak = u32::MAX;
    audited(&mut goal, &FAILED, None, "");
    for _ in 0..3 {
        audited(&mut goal, &AuditOutcome::Disapproved, Some("a"), "b");
    }
    assert_eq!(goal.totals.audits, u32::MAX);
}
