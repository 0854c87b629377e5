//! Evidence, reminders and the outcome (spec §5.5).

use goal_audit::{
    Answer, Audit, AuditorEvent, Failure, Finding, NoVerdict, NoVerdictReason, OpenFailure, Step,
    StopKind, Usage,
};

use crate::{answer, audit, check, ends, says, tool_finished, tool_started};

const NO_TAG: NoVerdictReason = NoVerdictReason::Grammar(NoVerdict::NoTag);

fn failed(step: &Step) -> Option<String> {
    if let Step::Done(Finding::Failed(Failure::Provider(message))) = step {
        Some(message.clone())
    } else {
        None
    }
}

#[test]
fn a_verdict_with_evidence_ends_the_audit() {
    let mut approved = audit();
    check(&mut approved);
    assert_eq!(
        says(&mut approved, "All there.\n<approved/>"),
        Step::Done(Finding::Approved)
    );
    let mut refused = audit();
    assert_eq!(
        says(&mut refused, "No.\n<disapproved/>"),
        Step::Done(Finding::Disapproved)
    );
}

#[test]
fn only_what_really_ran_without_error_is_evidence() {
    let refused = AuditorEvent::ToolFinished {
        call_id: "a".to_owned(),
        tool: "bash".to_owned(),
        ok: true,
        ms: None,
    };
    for event in [tool_finished("a", false), refused] {
        let mut audit = audit();
        audit.handle(1, tool_started("a"));
        audit.handle(2, event);
        assert_eq!(audit.successes(), 0);
        assert_eq!(
            says(&mut audit, "<approved/>"),
            Step::Remind(NoVerdictReason::HollowApproval)
        );
    }
    // A call that has not ended proves nothing yet.
    let mut audit = audit();
    audit.handle(1, tool_started("a"));
    assert_eq!(
        says(&mut audit, "<approved/>"),
        Step::Remind(NoVerdictReason::HollowApproval)
    );
}

#[test]
fn evidence_counts_over_all_attempts() {
    let mut audit = audit();
    check(&mut audit);
    assert_eq!(says(&mut audit, "no tag"), Step::Remind(NO_TAG));
    assert_eq!(
        says(&mut audit, "<approved/>"),
        Step::Done(Finding::Approved)
    );
}

#[test]
fn each_reminder_is_given_once_and_both_may_come_in_either_order() {
    let mut audit = audit();
    assert_eq!(says(&mut audit, "no tag"), Step::Remind(NO_TAG));
    assert_eq!(
        says(&mut audit, "<approved/>"),
        Step::Remind(NoVerdictReason::HollowApproval)
    );
    assert_eq!(
        says(&mut audit, "no tag"),
        Step::Done(Finding::NoVerdict(NO_TAG))
    );
    assert_eq!(audit.attempts(), 3);

    let mut audit = crate::audit();
    assert_eq!(
        says(&mut audit, "<approved/>"),
        Step::Remind(NoVerdictReason::HollowApproval)
    );
    assert_eq!(says(&mut audit, "no tag"), Step::Remind(NO_TAG));
    check(&mut audit);
    assert_eq!(
        says(&mut audit, "<approved/>"),
        Step::Done(Finding::Approved)
    );

    let mut audit = crate::audit();
    says(&mut audit, "<approved/>");
    let hollow = Finding::NoVerdict(NoVerdictReason::HollowApproval);
    assert_eq!(says(&mut audit, "<approved/>"), Step::Done(hollow));
}

#[test]
fn every_reason_for_no_verdict_is_said_in_the_reminder() {
    for (text, stop, why) in [
        (
            "",
            StopKind::Stop,
            NoVerdictReason::Grammar(NoVerdict::Empty),
        ),
        ("looks good", StopKind::Stop, NO_TAG),
        (
            "<approved/> mostly",
            StopKind::Stop,
            NoVerdictReason::Grammar(NoVerdict::ExtraText),
        ),
        (
            "<think>hm\n<approved/>",
            StopKind::Stop,
            NoVerdictReason::Grammar(NoVerdict::UnfinishedReasoning),
        ),
        ("<approved/>", StopKind::Length, NoVerdictReason::Truncated),
        (
            "<disapproved/>",
            StopKind::Length,
            NoVerdictReason::Truncated,
        ),
    ] {
        let mut audit = audit();
        check(&mut audit);
        assert_eq!(ends(&mut audit, text, stop), Step::Remind(why), "{text:?}");
        assert_eq!(
            ends(&mut audit, text, stop),
            Step::Done(Finding::NoVerdict(why)),
            "{text:?}"
        );
    }
}

#[test]
fn a_prompt_answered_with_nothing_at_all_is_empty() {
    let mut audit = audit();
    let why = NoVerdictReason::Grammar(NoVerdict::Empty);
    assert_eq!(audit.handle(1, AuditorEvent::Rested), Step::Remind(why));
    assert_eq!(
        audit.handle(2, AuditorEvent::Rested),
        Step::Done(Finding::NoVerdict(why))
    );
}

#[test]
fn an_answer_that_ended_badly_is_a_failure_at_once_whatever_it_says() {
    for stop in [StopKind::Error, StopKind::Aborted, StopKind::ToolUse] {
        let mut audit = audit();
        check(&mut audit);
        let step = ends(&mut audit, "<approved/>", stop);
        assert!(failed(&step).is_some(), "{stop:?}: {step:?}");
    }
}

#[test]
fn a_failure_speaks_in_the_providers_words() {
    let mut audit = audit();
    audit.handle(
        1,
        AuditorEvent::AnswerEnded(Answer {
            text: String::new(),
            stop: StopKind::Error,
            error: Some("prompt is too long".to_owned()),
            usage: Usage::default(),
        }),
    );
    assert_eq!(
        failed(&audit.handle(2, AuditorEvent::Rested)).as_deref(),
        Some("prompt is too long")
    );
}

#[test]
fn an_error_that_the_host_retried_well_is_forgotten() {
    let mut audit = audit();
    check(&mut audit);
    audit.handle(3, answer("", StopKind::Error));
    audit.handle(4, AuditorEvent::RetryStarted);
    audit.handle(5, AuditorEvent::RetryEnded);
    assert_eq!(
        says(&mut audit, "<approved/>"),
        Step::Done(Finding::Approved)
    );
}

#[test]
fn only_the_last_answer_of_an_attempt_is_judged() {
    let mut audit = audit();
    check(&mut audit);
    audit.handle(3, answer("<approved/>", StopKind::Stop));
    assert_eq!(
        says(&mut audit, "On reflection: not sure."),
        Step::Remind(NO_TAG)
    );
    // And the answer of an earlier attempt is not that of a later one.
    let why = NoVerdictReason::Grammar(NoVerdict::Empty);
    assert_eq!(
        audit.handle(9, AuditorEvent::Rested),
        Step::Done(Finding::NoVerdict(why))
    );
}

#[test]
fn an_approval_that_a_tool_call_follows_was_not_the_final_answer() {
    let mut audit = audit();
    audit.handle(1, answer("<approved/>", StopKind::Stop));
    check(&mut audit);
    let step = audit.handle(5, AuditorEvent::Rested);
    assert!(failed(&step).is_some(), "{step:?}");
}

#[test]
fn a_session_that_cannot_be_opened_or_breaks_is_a_failure() {
    for kind in [
        OpenFailure::MissingCredentials,
        OpenFailure::MissingModel,
        OpenFailure::Session,
    ] {
        let mut audit = Audit::start(crate::limits(), 0);
        let message = "why".to_owned();
        let failure = Failure::Open(kind, message.clone());
        let step = audit.handle(1, AuditorEvent::OpenFailed { kind, message });
        assert_eq!(step, Step::Done(Finding::Failed(failure)));
        assert_eq!(audit.attempts(), 0);
    }
    let mut audit = audit();
    check(&mut audit);
    audit.handle(1, answer("<approved/>", StopKind::Stop));
    let message = "gone".to_owned();
    let failure = Failure::Session(message.clone());
    let step = audit.handle(2, AuditorEvent::Broke { message });
    assert_eq!(step, Step::Done(Finding::Failed(failure)));
}

#[test]
fn every_call_is_kept_with_its_arguments_and_how_it_ended() {
    let mut audit = audit();
    audit.handle(1, tool_started("a"));
    audit.handle(2, tool_started("b"));
    audit.handle(3, tool_finished("b", false));
    audit.handle(4, tool_finished("a", true));
    audit.handle(5, tool_finished("unknown", false));
    let kept: Vec<_> = audit
        .checks()
        .iter()
        .map(|check| (check.args.as_str(), check.ok))
        .collect();
    assert_eq!(kept, [("run b", false), ("run a", true), ("", false)]);
}

#[test]
fn usage_is_summed_over_answers_and_compactions_and_nonsense_is_left_out() {
    let usage = |input, cost_total| Usage {
        input,
        cost_total,
        ..Usage::default()
    };
    let mut audit = audit();
    for usage in [
        usage(5.0, 0.5),
        usage(f64::NAN, f64::INFINITY),
        usage(2.0, 0.25),
        usage(f64::MAX, -f64::MAX),
        usage(f64::MAX, -f64::MAX),
    ] {
        audit.handle(
            1,
            AuditorEvent::AnswerEnded(Answer {
                text: String::new(),
                stop: StopKind::ToolUse,
                error: None,
                usage,
            }),
        );
    }
    audit.handle(
        2,
        AuditorEvent::CompactionEnded {
            usage: usage(1.0, 0.0),
        },
    );
    // The second of the great ones would have made the sum infinite, which no line can carry.
    let sum = audit.usage();
    assert_eq!((sum.input, sum.cost_total), (f64::MAX, -f64::MAX));
}
