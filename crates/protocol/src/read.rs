//! Reading a session's branch: never throws, never trusts, says what it skipped.

use goal_engine::{
    Gate, Goal, LastAudit, Objective, PauseReason, Phase, Recovered, Stop, TextHash, Totals,
    WallClock,
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
    #[serde(default)]
    failure: Option<String>,
    /// Cut by the shim, and empty but for the newest.
    #[serde(default)]
    report: String,
}

#[derive(Debug, Deserialize)]
struct CheckHead {
    #[serde(default)]
    ok: bool,
}

/// Generations are counted up from what is read, and the shim knows integers up to 2^53 only. No
/// goal is paused and resumed that often.
const GENERATION_MAX: u64 = 1 << 52;

/// An audit found on a branch.
struct Audit {
    head: AuditHead,
    /// Its place among the records; the newest is 0.
    at: usize,
    /// No goal entry is newer.
    after_goal: bool,
}

/// What a branch was found to say about a goal, newest first.
enum Found {
    Goal(Box<GoalWire>),
    Gone,
    Legacy(Objective),
}

/// Reads our records of a branch, newest first (spec §2). Each record is looked at once.
#[must_use]
pub fn read_branch<'a>(records: impl IntoIterator<Item = &'a RecordWire>) -> Recovered {
    let mut reading = Reading::default();
    for (at, record) in records.into_iter().enumerate() {
        match record {
            RecordWire::Ours { data } | RecordWire::Message { data } if is_newer(data) => {
                return newer_version();
            }
            RecordWire::Ours { data } if kind(data) == Some("audit") => reading.audit(at, data),
            RecordWire::Ours { data } => reading.goal(data),
            RecordWire::Message { data } => reading.message(at, data),
            RecordWire::Predecessor { data } => {
                reading.predecessor.get_or_insert(data);
            }
        }
    }
    recover(reading)
}

/// What was gathered so far, from the newest record to older ones.
#[derive(Default)]
struct Reading<'a> {
    found: Option<Found>,
    /// Continuations newer than what was found, with their places.
    messages: Vec<(usize, MessageDetailsWire)>,
    /// Audits newer than what was found, and then the newest of the goal that was found.
    audits: Vec<Audit>,
    /// An audit of the goal that was found is among them.
    newest_known: bool,
    /// The highest number among the audits of the goal that was found.
    number_max: u32,
    predecessor: Option<&'a Value>,
    /// Entries that should have been readable, and were not.
    skipped: u32,
}

impl Reading<'_> {
    fn goal(&mut self, data: &Value) {
        if self.found.is_some() {
            return;
        }
        self.found = goal_found(data);
        self.skipped += u32::from(self.found.is_none());
        if let Some(Found::Goal(goal)) = &self.found {
            let own = |audit: &Audit| audit.head.goal_id == goal.id;
            self.newest_known = self.audits.iter().any(own);
        }
    }

    fn message(&mut self, at: usize, data: &Value) {
        if self.found.is_none() {
            let details = of_this_version(data).map(MessageDetailsWire::deserialize);
            let details = details.and_then(Result::ok);
            self.messages.extend(details.map(|details| (at, details)));
        }
    }

    fn audit(&mut self, at: usize, data: &Value) {
        match &self.found {
            None => match audit_head(data) {
                Some(head) => self.audits.push(Audit {
                    head,
                    at,
                    after_goal: true,
                }),
                None => self.skipped += 1,
            },
            Some(Found::Goal(goal)) if is_about(data, &goal.id) => {
                let number = data.get("number").and_then(Value::as_u64).unwrap_or(0);
                let number = u32::try_from(number).unwrap_or(u32::MAX);
                self.number_max = self.number_max.max(number);
                // Of the older ones only the newest is shown, and there may be thousands.
                let head = (!self.newest_known).then(|| audit_head(data)).flatten();
                self.newest_known |= head.is_some();
                self.audits.extend(head.map(|head| Audit {
                    head,
                    at,
                    after_goal: false,
                }));
            }
            Some(Found::Goal(_) | Found::Gone | Found::Legacy(_)) => {}
        }
    }
}

fn audit_head(data: &Value) -> Option<AuditHead> {
    of_this_version(data).and_then(|data| AuditHead::deserialize(data).ok())
}

fn is_about(data: &Value, goal_id: &str) -> bool {
    data.get("goalId").and_then(Value::as_str) == Some(goal_id)
}

/// An entry of the version this core writes; whatever else is on the branch is not ours to read.
fn of_this_version(data: &Value) -> Option<&Value> {
    let version = data.get("v").and_then(Value::as_u64);
    (version == Some(SAVED_VERSION.into())).then_some(data)
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
    let goal = of_this_version(data)
        .filter(|data| kind(data) == Some("goal"))?
        .get("goal")?;
    if goal.is_null() {
        return Some(Found::Gone);
    }
    let goal = GoalWire::deserialize(goal).ok().filter(is_sound)?;
    Some(Found::Goal(Box::new(goal)))
}

fn is_sound(goal: &GoalWire) -> bool {
    !goal.id.is_empty()
        && goal.generation < GENERATION_MAX
        && Objective::new(&goal.objective).is_ok()
        && phase_of(goal).is_some()
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
fn legacy(data: &Value) -> Option<Found> {
    let phase = data.get("phase").and_then(Value::as_str)?;
    if !matches!(phase, "ready" | "paused") {
        return None;
    }
    let objective = data.get("objective").and_then(Value::as_str)?;
    Objective::new(objective).ok().map(Found::Legacy)
}

fn recover(reading: Reading<'_>) -> Recovered {
    let mut recovered = Recovered {
        diagnostics: diagnostics(reading.skipped),
        ..Recovered::default()
    };
    let legacy = || reading.predecessor.and_then(legacy);
    match reading.found.or_else(legacy) {
        None | Some(Found::Gone) => {}
        Some(Found::Legacy(objective)) => recovered.goal = Some(legacy_goal(objective)),
        Some(Found::Goal(goal)) => {
            recovered.audits_ever = reading.number_max;
            with_goal(*goal, &reading.messages, &reading.audits, &mut recovered);
        }
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
    messages: &[(usize, MessageDetailsWire)],
    audits: &[Audit],
    recovered: &mut Recovered,
) {
    let own: Vec<&Audit> = audits
        .iter()
        .filter(|audit| audit.head.goal_id == saved.id)
        .collect();
    let newest_numbers = own.iter().map(|audit| audit.head.number);
    recovered.audits_ever = newest_numbers.max().unwrap_or(0).max(recovered.audits_ever);
    recovered.last_audit = own.first().map(|audit| last_audit(&audit.head));
    let newest = messages
        .iter()
        .find(|(_, message)| message.goal_id == saved.id && message.generation == saved.generation);
    if let Some((_, message)) = newest {
        saved.totals = message.totals.clone();
    }
    let after_goal = own
        .into_iter()
        .filter(|audit| audit.after_goal && audit.head.generation == saved.generation);
    // An audit older than the newest message is in that message's totals.
    let newest_at = newest.map_or(usize::MAX, |(at, _)| *at);
    for Audit { head, at, .. } in after_goal.rev() {
        if head.outcome == "approved" {
            return; // It ended the goal; only the entry that says so was lost.
        }
        if *at < newest_at {
            count_audit(head, &mut saved.totals);
        }
    }
    recovered.goal = restore(saved);
}

fn count_audit(audit: &AuditHead, totals: &mut TotalsWire) {
    match audit.outcome.as_str() {
        "disapproved" => {
            totals.audits = totals.audits.saturating_add(1);
            totals.rejection_streak = totals.rejection_streak.saturating_add(1);
            totals.failure_streak = 0;
        }
        "no_verdict" | "failed" => count_failure(totals),
        "stale" if audit.why.as_deref() == Some("workspace") => count_failure(totals),
        _ => {}
    }
}

fn count_failure(totals: &mut TotalsWire) {
    totals.audits = totals.audits.saturating_add(1);
    totals.failure_streak = totals.failure_streak.saturating_add(1);
}

fn last_audit(audit: &AuditHead) -> LastAudit {
    let successes = audit.checks.iter().filter(|check| check.ok).count();
    LastAudit {
        outcome: audit.outcome.clone(),
        why: audit.why.clone(),
        model: audit.model.clone(),
        successes: u32::try_from(successes).unwrap_or(u32::MAX),
        failure: audit.failure.clone(),
        report: audit.report.clone(),
    }
}

pub(crate) fn restore(saved: GoalWire) -> Option<Goal> {
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

/// The predecessor's goal appears held; what judges it is decided once it is resumed or audited.
fn legacy_goal(objective: Objective) -> Goal {
    Goal::restore(
        "g-predecessor".to_owned(),
        1,
        objective,
        Phase::Held,
        WallClock(0),
        0,
        Totals::default(),
        None,
        Gate::undecided(),
    )
}
