//! One audit as a machine: limits, evidence, reminders, and how it ends.

mod deadlines;
mod properties;
mod verdicts;

use goal_audit::{Answer, Audit, AuditorEvent, Limits, Step, StopKind, Usage};

const ABSOLUTE_MS: u64 = 900_000;
const IDLE_MS: u64 = 120_000;

fn limits() -> Limits {
    Limits {
        absolute_ms: Some(ABSOLUTE_MS),
        idle_ms: Some(IDLE_MS),
    }
}

/// An audit prompted at moment 0.
fn audit() -> Audit {
    audit_within(limits())
}

fn audit_within(limits: Limits) -> Audit {
    let mut audit = Audit::start(limits, 0);
    audit.handle(0, AuditorEvent::Opened);
    audit
}

fn answer(text: &str, stop: StopKind) -> AuditorEvent {
    AuditorEvent::AnswerEnded(Answer {
        text: text.to_owned(),
        stop,
        error: None,
        usage: Usage::default(),
    })
}

fn tool_started(call_id: &str) -> AuditorEvent {
    AuditorEvent::ToolStarted {
        call_id: call_id.to_owned(),
        tool: "bash".to_owned(),
        args: format!("run {call_id}"),
    }
}

fn tool_finished(call_id: &str, ok: bool) -> AuditorEvent {
    AuditorEvent::ToolFinished {
        call_id: call_id.to_owned(),
        tool: "bash".to_owned(),
        ok,
        ms: Some(5),
    }
}

/// A check that succeeds.
fn check(audit: &mut Audit) {
    audit.handle(1, tool_started("check"));
    audit.handle(2, tool_finished("check", true));
}

/// The model says this, and the prompt is answered.
fn says(audit: &mut Audit, text: &str) -> Step {
    ends(audit, text, StopKind::Stop)
}

fn ends(audit: &mut Audit, text: &str, stop: StopKind) -> Step {
    assert_eq!(audit.handle(3, answer(text, stop)), Step::Wait);
    audit.handle(4, AuditorEvent::Rested)
}
