//! The limits (spec §5.4): what arms, what disarms, and the very millisecond.

use goal_audit::{
    Audit, AuditDeadline, AuditorEvent, Failure, Finding, Limits, Step, StopKind, Usage,
};

use crate::{ABSOLUTE_MS, IDLE_MS, answer, audit, audit_within, says, tool_finished, tool_started};

fn idle(audit: &Audit) -> Option<u64> {
    // The idle limit is the nearer one wherever it is armed here.
    audit
        .deadline()
        .filter(|(_, which)| *which == AuditDeadline::Idle)
        .map(|(at, _)| at)
}

fn compaction_ended() -> AuditorEvent {
    AuditorEvent::CompactionEnded {
        usage: Usage::default(),
    }
}

#[test]
fn the_absolute_limit_is_armed_before_the_first_prompt() {
    let audit = Audit::start(crate::limits(), 1_000);
    assert_eq!(
        audit.deadline(),
        Some((1_000 + ABSOLUTE_MS, AuditDeadline::Absolute))
    );
}

#[test]
fn a_slow_first_token_is_bounded_by_the_absolute_limit_only() {
    let mut audit = audit();
    assert_eq!(audit.expire(ABSOLUTE_MS - 1), Step::Wait);
    assert_eq!(idle(&audit), None);
}

#[test]
fn the_first_output_arms_the_idle_limit_and_each_further_one_arms_it_again() {
    let mut audit = audit();
    for now in [10, 20, 100_000] {
        audit.handle(now, AuditorEvent::Output);
        assert_eq!(idle(&audit), Some(now + IDLE_MS));
    }
}

#[test]
fn answers_tools_compactions_and_retries_disarm_it() {
    let cases: [(&str, AuditorEvent); 4] = [
        ("the end of the answer", answer("x", StopKind::ToolUse)),
        ("a tool", tool_started("a")),
        ("a compaction", AuditorEvent::CompactionStarted),
        ("a retry wait", AuditorEvent::RetryStarted),
    ];
    for (name, event) in cases {
        let mut audit = audit();
        audit.handle(10, AuditorEvent::Output);
        audit.handle(20, event);
        assert_eq!(idle(&audit), None, "{name}");
        assert_eq!(audit.expire(ABSOLUTE_MS - 1), Step::Wait, "{name}");
    }
}

#[test]
fn output_arms_nothing_while_a_tool_a_compaction_or_a_retry_wait_goes_on() {
    let cases = [
        (tool_started("a"), tool_finished("a", true)),
        (AuditorEvent::CompactionStarted, compaction_ended()),
        (AuditorEvent::RetryStarted, AuditorEvent::RetryEnded),
    ];
    for (begin, end) in cases {
        let mut audit = audit();
        audit.handle(10, begin);
        audit.handle(20, AuditorEvent::Output);
        assert_eq!(idle(&audit), None);
        audit.handle(30, end);
        assert_eq!(
            idle(&audit),
            None,
            "its end arms nothing either: the next request may be slow"
        );
        audit.handle(40, AuditorEvent::Output);
        assert_eq!(idle(&audit), Some(40 + IDLE_MS));
    }
}

#[test]
fn two_tools_at_once_keep_it_disarmed_until_both_ended() {
    let mut audit = audit();
    audit.handle(1, tool_started("a"));
    audit.handle(2, tool_started("b"));
    audit.handle(3, tool_finished("a", true));
    audit.handle(4, AuditorEvent::Output);
    assert_eq!(idle(&audit), None);
    audit.handle(5, tool_finished("b", true));
    audit.handle(6, AuditorEvent::Output);
    assert_eq!(idle(&audit), Some(6 + IDLE_MS));
}

#[test]
fn a_tool_that_never_ended_is_forgotten_when_the_prompt_is_answered() {
    let mut audit = audit();
    audit.handle(1, tool_started("a"));
    says(&mut audit, "no tag");
    audit.handle(10, AuditorEvent::Output);
    assert_eq!(idle(&audit), Some(10 + IDLE_MS));
}

#[test]
fn each_limit_ends_the_audit_at_its_very_millisecond() {
    let mut audit = audit();
    assert_eq!(audit.expire(ABSOLUTE_MS - 1), Step::Wait);
    let expired = |which, limit_ms| {
        Step::Done(Finding::Failed(Failure::Expired {
            which,
            limit_ms,
            in_flight: None,
        }))
    };
    assert_eq!(
        audit.expire(ABSOLUTE_MS),
        expired(AuditDeadline::Absolute, ABSOLUTE_MS)
    );

    let mut audit = crate::audit();
    audit.handle(7, AuditorEvent::Output);
    assert_eq!(audit.expire(7 + IDLE_MS - 1), Step::Wait);
    assert_eq!(
        audit.expire(7 + IDLE_MS),
        expired(AuditDeadline::Idle, IDLE_MS)
    );
}

#[test]
fn a_reminder_does_not_lengthen_the_absolute_limit() {
    let mut audit = audit();
    audit.handle(ABSOLUTE_MS - 10, answer("no tag", StopKind::Stop));
    assert!(matches!(
        audit.handle(ABSOLUTE_MS - 9, AuditorEvent::Rested),
        Step::Remind(_)
    ));
    assert_eq!(
        audit.deadline(),
        Some((ABSOLUTE_MS, AuditDeadline::Absolute))
    );
}

#[test]
fn an_expiry_names_the_tool_in_flight() {
    let mut audit = audit();
    audit.handle(1, tool_started("a"));
    let Step::Done(Finding::Failed(Failure::Expired { in_flight, .. })) = audit.expire(ABSOLUTE_MS)
    else {
        unreachable!("the limit has passed");
    };
    assert_eq!(in_flight.as_deref(), Some("bash run a"));
}

#[test]
fn limits_that_are_off_never_end_it() {
    let off = Limits {
        absolute_ms: None,
        idle_ms: None,
    };
    let mut audit = audit_within(off);
    audit.handle(1, AuditorEvent::Output);
    assert_eq!(audit.deadline(), None);
    assert_eq!(audit.expire(u64::MAX), Step::Wait);
    let idle_only = Limits {
        absolute_ms: None,
        ..crate::limits()
    };
    let mut audit = audit_within(idle_only);
    assert_eq!(audit.deadline(), None);
    audit.handle(1, AuditorEvent::Output);
    assert_eq!(audit.deadline(), Some((1 + IDLE_MS, AuditDeadline::Idle)));
}

#[test]
fn limits_beyond_the_clock_are_as_good_as_off() {
    let huge = Limits {
        absolute_ms: Some(u64::MAX),
        idle_ms: Some(u64::MAX),
    };
    let mut audit = Audit::start(huge, 5);
    audit.handle(6, AuditorEvent::Output);
    assert_eq!(audit.expire(u64::MAX - 1), Step::Wait);
}

#[test]
fn what_arrives_after_the_end_is_ignored_and_nothing_is_armed() {
    let ends: [fn(&mut Audit); 4] = [
        |audit| {
            audit.expire(ABSOLUTE_MS);
        },
        |audit| audit.cancel(),
        |audit| {
            says(audit, "<disapproved/>");
        },
        |audit| {
            audit.handle(
                1,
                AuditorEvent::Broke {
                    message: "gone".to_owned(),
                },
            );
        },
    ];
    for end in ends {
        let mut audit = audit();
        end(&mut audit);
        let report = audit.report();
        crate::check(&mut audit);
        audit.handle(1, AuditorEvent::Output);
        assert_eq!(says(&mut audit, "<approved/>"), Step::Wait);
        assert_eq!(audit.deadline(), None);
        assert_eq!(audit.expire(u64::MAX), Step::Wait);
        assert_eq!((audit.successes(), audit.report()), (0, report));
    }
}
