//! Reading a session's branch: never throws, never trusts, says what it skipped.

use goal_engine::{
    Gate, Goal, LastAudit, ModelRef, Objective, PauseReason, Phase, Recovered, SandboxGate, Stop,
    TextHash, Totals, WallClock,
};
use serde::Deserialize;
use serde_json::Value;

use crate::convert::gate_of;
use crate::{GoalWire, MessageDetailsWire, RecordWire, SAVED_VERSION, TotalsWire};

/// The parts of an audit entry that a load needs. The rest may be missing.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuditHead {
    goal_id: String,
    generation: u64,
    number: u32,
    outcome: String,
    #[serde(default)]
    why: Option<String>,
    #[serde(default)]
    model: String,
    #[serde(default)]
    checks: Vec<CheckHead>,
}

#[derive(Debug, Deserialize)]
struct CheckHead {
    #[serde(default)]
    ok: bool,
}

/// What a branch was found to say about a goal, newest first.
enum Found {
    Goal(Box<GoalWire>),
    Gone,
    Legacy(Objective),
}

/// Reads our records of a branch, newest first (spec §2).
#[must_use]
pub fn read_branch(records: &[RecordWire]) -> Recovered {
    let mut skipped = 0_u32;
    let mut audits = Vec::new();
    let mut newest: Option<MessageDetailsWire> = None;
    let mut found = None;
    for record in records {
        match record {
            RecordWire::Ours { data } if is_newer(data) => return newer_version(),
            RecordWire::Message { data } if is_newer(data) => return newer_version(),
            RecordWire::Ours { data } if kind(data) == Some("audit") => {
                match AuditHead::deserialize(data) {
                    Ok(audit) => audits.push((audit, found.is_none())),
                    Err(_) => skipped += 1,
                }
            }
            RecordWire::Ours { data } if found.is_none() => match goal_found(data) {
                Some(goal) => found = Some(goal),
                None => skipped += 1,
            },
            RecordWire::Message { data } if found.is_none() && newest.is_none() => {
                newest = MessageDetailsWire::deserialize(data).ok();
            }
            RecordWire::Ours { .. }
            | RecordWire::Message { .. }
            | RecordWire::Predecessor { .. } => {}
        }
    }
    let found = found.or_else(|| predecessor(records));
    recover(found, newest.as_ref(), &audits, skipped)
}

fn kind(data: &Value) -> Option<&str> {
    data.get("kind").and_then(Value::as_str)
}

fn is_newer(data: &Value) -> bool {
    data.get("v")
        .and_then(Value::as_u64)
        .is_some_and(|v| v > SAVED_VERSION.into())
}

fn newer_version() -> Recovered {
    Recovered {
        newer_version: true,
        diagnostics: vec![
            "This session's goal was saved by a newer version of goal-auditor. It is not shown and \
             nothing is written over it; update goal-auditor to go on with it."
                .to_owned(),
        ],
        ..Recovered::default()
    }
}

fn goal_found(data: &Value) -> Option<Found> {
    if kind(data) != Some("goal") {
        return None;
    }
    let goal = data.get("goal")?;
    if goal.is_null() {
        return Some(Found::Gone);
    }
    let goal = GoalWire::deserialize(goal).ok().filter(is_sound)?;
    Some(Found::Goal(Box::new(goal)))
}

fn is_sound(goal: &GoalWire) -> bool {
    !goal.id.is_empty() && Objective::new(&goal.objective).is_ok() && phase_of(goal).is_some()
}

fn phase_of(goal: &GoalWire) -> Option<Phase> {
    match goal.phase.as_str() {
        "pursuing" => Some(Phase::Pursuing),
        "held" => Some(Phase::Held),
        "paused" => {
            let reason = goal.pause_reason.as_deref()?;
            let reason = PauseReason::from_saved(reason, goal.pause_kind.as_deref())?;
            Some(Phase::Paused(Stop {
                reason,
                detail: goal.pause_detail.clone(),
            }))
        }
        _ => None,
    }
}

/// The predecessor's newest state counts only where there is none of ours.
fn predecessor(records: &[RecordWire]) -> Option<Found> {
    let data = records.iter().find_map(|record| match record {
        RecordWire::Predecessor { data } => Some(data),
        RecordWire::Ours { .. } | RecordWire::Message { .. } => None,
    })?;
    let phase = data.get("phase").and_then(Value::as_str)?;
    if !matches!(phase, "ready" | "paused") {
        return None;
    }
    let objective = data.get("objective").and_then(Value::as_str)?;
    Objective::new(objective).ok().map(Found::Legacy)
}

fn recover(
    found: Option<Found>,
    newest: Option<&MessageDetailsWire>,
    audits: &[(AuditHead, bool)],
    skipped: u32,
) -> Recovered {
    let mut recovered = Recovered {
        diagnostics: diagnostics(skipped),
        ..Recovered::default()
    };
    match found {
        None | Some(Found::Gone) => {}
        Some(Found::Legacy(objective)) => recovered.goal = Some(legacy_goal(objective)),
        Some(Found::Goal(goal)) => with_goal(*goal, newest, audits, &mut recovered),
    }
    recovered
}

fn diagnostics(skipped: u32) -> Vec<String> {
    match skipped {
        0 => Vec::new(),
        count => vec![format!(
            "{count} saved entr{} of the goal could not be read and {} skipped; the next older one \
             counts.",
            if count == 1 { "y" } else { "ies" },
            if count == 1 { "was" } else { "were" },
        )],
    }
}

fn with_goal(
    mut saved: GoalWire,
    newest: Option<&MessageDetailsWire>,
    audits: &[(AuditHead, bool)],
    recovered: &mut Recovered,
) {
    let own: Vec<&(AuditHead, bool)> = audits
        .iter()
        .filter(|(audit, _)| audit.goal_id == saved.id)
        .collect();
    recovered.audits_ever = own.iter().map(|(audit, _)| audit.number).max().unwrap_or(0);
    recovered.last_audit = own.first().map(|(audit, _)| last_audit(audit));
    if let Some(message) =
        newest.filter(|m| m.goal_id == saved.id && m.generation == saved.generation)
    {
        saved.totals = newer_totals(&saved.totals, &message.totals);
    }
    // An audit that was saved after the goal entry counts, newest last; an approval ended the goal.
    for (audit, _) in own
        .iter()
        .rev()
        .filter(|(audit, after)| *after && audit.generation == saved.generation)
    {
        if audit.outcome == "approved" {
            return;
        }
        count_audit(audit, &mut saved.totals);
    }
    recovered.goal = restore(saved);
}

/// Totals only grow while a goal is pursued, and so does the time; the newest message has them.
fn newer_totals(saved: &TotalsWire, message: &TotalsWire) -> TotalsWire {
    if message.active_ms >= saved.active_ms {
        message.clone()
    } else {
        saved.clone()
    }
}

fn count_audit(audit: &AuditHead, totals: &mut TotalsWire) {
    match audit.outcome.as_str() {
        "disapproved" => {
            totals.audits += 1;
            totals.rejection_streak += 1;
            totals.failure_streak = 0;
        }
        "no_verdict" | "failed" => {
            totals.audits += 1;
            totals.failure_streak += 1;
        }
        _ => {}
    }
}

fn last_audit(audit: &AuditHead) -> LastAudit {
    let successes = audit.checks.iter().filter(|check| check.ok).count();
    LastAudit {
        outcome: audit.outcome.clone(),
        why: audit.why.clone(),
        model: audit.model.clone(),
        successes: u32::try_from(successes).unwrap_or(u32::MAX),
    }
}

fn restore(saved: GoalWire) -> Option<Goal> {
    let phase = phase_of(&saved)?;
    let objective = Objective::new(&saved.objective).ok()?;
    let totals = totals_of(&saved.totals);
    Some(Goal::restore(
        saved.id,
        saved.generation,
        objective,
        phase,
        WallClock(saved.created_at),
        saved.totals.active_ms,
        totals,
        saved.last_objection,
        gate_of(saved.gate),
    ))
}

fn totals_of(wire: &TotalsWire) -> Totals {
    Totals {
        continuations: wire.continuations,
        audits: wire.audits,
        empty_streak: wire.empty_streak,
        errored_streak: wire.errored_streak,
        repeat_streak: wire.repeat_streak,
        rejection_streak: wire.rejection_streak,
        failure_streak: wire.failure_streak,
        refusal_streak: wire.refusal_streak,
        repeat_wrote: wire.repeat_wrote,
        last_text: wire.last_text.as_deref().and_then(TextHash::parse),
        last_refusal: wire.last_refusal.as_deref().and_then(TextHash::parse),
    }
}

/// The predecessor's goal appears held; its gate is made at the resume that takes it up.
fn legacy_goal(objective: Objective) -> Goal {
    let gate = Gate {
        model: ModelRef {
            provider: "unset".to_owned(),
            id: "until /goal resume".to_owned(),
        },
        thinking_level: None,
        timeout_ms: None,
        idle_timeout_ms: None,
        max_empty_continuations: 1,
        max_consecutive_audit_rejections: 1,
        max_continuations: None,
        max_audits: None,
        sandbox: SandboxGate {
            mode: "prefer".to_owned(),
            network: "loopback".to_owned(),
            hide: Vec::new(),
            scratch_mb: None,
        },
    };
    Goal::restore(
        "g-predecessor".to_owned(),
        1,
        objective,
        Phase::Held,
        WallClock(0),
        0,
        Totals::default(),
        None,
        gate,
    )
}
