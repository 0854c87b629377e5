//! What an audit keeps of what its auditor wrote.

use goal_audit::{Answer, Audit, AuditorEvent, Finding, Limits, Step, StopKind, Usage};

const NO_LIMITS: Limits = Limits {
    absolute_ms: Some(1_000),
    idle_ms: None,
};

fn audit() -> Audit {
    let mut audit = Audit::start(NO_LIMITS, 0);
    audit.handle(0, AuditorEvent::Opened);
    audit
}

fn says(audit: &mut Audit, text: &str, stop: StopKind) -> Step {
    let answer = Answer {
        text: text.to_owned(),
        stop,
        error: None,
        usage: Usage::default(),
    };
    audit.handle(0, AuditorEvent::AnswerEnded(answer));
    if stop == StopKind::ToolUse {
        return Step::Wait;
    }
    audit.handle(0, AuditorEvent::Rested)
}

#[test]
fn a_bare_verdict_takes_the_account_from_beside_the_tool_calls() {
    let mut audit = audit();
    says(&mut audit, "out.txt is missing.", StopKind::ToolUse);
    says(&mut audit, "  ", StopKind::ToolUse);
    says(&mut audit, "And so is its test.", StopKind::ToolUse);
    let done = says(&mut audit, "<disapproved/>", StopKind::Stop);
    assert_eq!(done, Step::Done(Finding::Disapproved));
    assert_eq!(
        audit.objection(),
        "out.txt is missing.\n\nAnd so is its test."
    );
}

#[test]
fn a_verdict_with_an_account_leaves_remarks_out() {
    let mut audit = audit();
    says(&mut audit, "Let me look.", StopKind::ToolUse);
    says(&mut audit, "It is missing.\n<disapproved/>", StopKind::Stop);
    assert_eq!(audit.report(), "It is missing.\n<disapproved/>");
    assert_eq!(audit.objection(), "It is missing.");
}

#[test]
fn every_answer_loses_its_own_verdict_line_and_attempts_are_prompts() {
    let mut audit = audit();
    says(&mut audit, "Fine.\n<approved/>", StopKind::Stop); // Hollow: reminded.
    says(&mut audit, "<think>\nhm", StopKind::Stop); // No verdict: reminded.
    says(&mut audit, "Not fine.\n<disapproved/>", StopKind::Stop);
    assert_eq!(
        audit.objection(),
        "Fine.\n\n[answer 2]\n<think>\nhm\n\n[answer 3]\nNot fine."
    );
    assert_eq!(audit.attempts(), 3);
}

#[test]
fn remarks_survive_a_limit_and_only_the_newest_are_kept() {
    let mut audit = audit();
    says(&mut audit, &"old ".repeat(15_000), StopKind::ToolUse);
    says(&mut audit, &"new ".repeat(10_000), StopKind::ToolUse);
    audit.expire(1_000);
    let report = audit.report();
    assert!(report.starts_with("new") && !report.contains("old"));
    assert_eq!(audit.attempts(), 1);
}
