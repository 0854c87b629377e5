//! Words of a report, the same in every format.

use goal_engine::PauseReason;
use goal_prompts::safe::for_display;
use goal_protocol::GateWire;

use crate::model::{Audit, Event, Goal, Happening, Origin, Outcome, RunResult, Standing, State};
use crate::time;

/// Of an audit that answers no claim.
pub(crate) const ASKED_BY_USER: &str = "You asked for this audit (/goal audit).";

/// What could not be read, in sentences.
pub(crate) fn notes(skipped: u32, gaps: u32, unreadable: u32, newer: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if skipped > 0 {
        notes.push(format!(
            "{} of the session file could not be read (torn, or no entry of pi's) and {} left out.",
            counted(u64::from(skipped), "line", "lines"),
            if skipped == 1 { "was" } else { "were" },
        ));
    }
    if gaps > 0 {
        notes.push(format!(
            "The branch has {} where an entry is missing; the entry written before it was taken \
             instead.",
            counted(u64::from(gaps), "place", "places"),
        ));
    }
    if unreadable > 0 {
        notes.push(format!(
            "{} of goal-auditor could not be understood and {} left out.",
            counted(u64::from(unreadable), "entry", "entries"),
            if unreadable == 1 { "was" } else { "were" },
        ));
    }
    if newer {
        notes.push(
            "A newer version of goal-auditor wrote to this session; some of it may be missing here. \
             Make the report with that version."
                .to_owned(),
        );
    }
    notes
}

/// `1 line`, `1,200 lines`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(count), if count == 1 { one } else { many })
}

/// `1,200`.
pub(crate) fn number(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

pub(crate) const fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Pursuing => "pursuing",
        Standing::Held => "on hold",
        Standing::Paused => "paused",
        Standing::Approved => "approved",
        Standing::Accepted => "accepted by the user",
        Standing::Cleared => "cleared",
        Standing::Replaced => "replaced",
        Standing::Ended => "ended",
    }
}

/// How a goal stands, in a sentence or two.
pub(crate) fn state(goal: &Goal) -> String {
    match goal.state.standing {
        Standing::Pursuing => "Not finished: it is being pursued, or on hold if its session was \
                               left since. /goal resume goes on."
            .to_owned(),
        Standing::Held => "Not finished: on hold. /goal resume goes on.".to_owned(),
        Standing::Paused => format!(
            "Not finished: paused, because {}. /goal resume goes on.",
            pause(&goal.state)
        ),
        Standing::Approved => approved(goal),
        Standing::Accepted => unfinished(
            goal,
            "Ended by the user's word, without an auditor's approval.",
        ),
        Standing::Cleared => unfinished(goal, "Dropped by the user before it was complete."),
        Standing::Replaced => {
            unfinished(goal, "Another goal took its place before it was complete.")
        }
        Standing::Ended => unfinished(goal, "It is gone, in a way this version does not know."),
    }
}

/// How a goal ended that no auditor approved, and how it stood by then.
fn unfinished(goal: &Goal, end: &str) -> String {
    let audit = match goal.audits.last() {
        None => "It was never audited.".to_owned(),
        Some(audit) => format!("Its last audit: {}.", outcome_in_full(audit)),
    };
    let paused = match goal.state.reason {
        None => String::new(),
        Some(_) => format!(" It was paused then, because {}.", pause(&goal.state)),
    };
    format!("{end} {audit}{paused}")
}

fn approved(goal: &Goal) -> String {
    let Some(audit) = goal
        .audits
        .iter()
        .rev()
        .find(|audit| audit.outcome == Outcome::Approved)
    else {
        return "Complete: an auditor approved. The audit itself is not on this branch.".to_owned();
    };
    format!(
        "Complete: {} approved after {} in {}.",
        audit.model,
        counted(
            audit.checks_ok as u64,
            "successful check",
            "successful checks"
        ),
        time::duration(audit.duration_ms)
    )
}

/// Why a goal paused, to follow "because".
pub(crate) fn pause(state: &State) -> String {
    pause_words(state.reason.as_deref(), state.kind.as_deref())
}

fn pause_words(reason: Option<&str>, kind: Option<&str>) -> String {
    let Some(known) = reason.and_then(|reason| PauseReason::from_saved(reason, kind)) else {
        let reason = reason.unwrap_or("no reason was saved");
        return format!("of a reason this version does not know ({reason})");
    };
    match known {
        PauseReason::User => "the user paused it".to_owned(),
        PauseReason::Aborted => "the user stopped the run".to_owned(),
        PauseReason::NoProgress => "several runs in a row did no work".to_owned(),
        PauseReason::Repetition => "run after run ended with the same words".to_owned(),
        PauseReason::ModelErrors(kind) => {
            format!(
                "the agent's model failed ({})",
                kind.name().replace('_', " ")
            )
        }
        PauseReason::Rejections => "the auditor refused too many times in a row".to_owned(),
        PauseReason::AuditFailures(kind) => {
            format!(
                "too many audits in a row brought no approval ({})",
                kind.replace('_', " ")
            )
        }
        PauseReason::ContinuationLimit => {
            "it was continued as often as its limit allows (maxContinuations)".to_owned()
        }
        PauseReason::AuditLimit => {
            "it was audited as often as its limit allows (maxAudits)".to_owned()
        }
        PauseReason::ToolsOff => "the tools get_goal and update_goal were not active".to_owned(),
        PauseReason::CoreLost => "the core of goal-auditor was lost twice".to_owned(),
    }
}

/// A happening in a few words.
pub(crate) fn happening(goal: &Goal, happened: &Happening) -> String {
    match happened.event {
        Event::Set => "Set".to_owned(),
        Event::Edited => "Edited by the user".to_owned(),
        Event::Paused => {
            let why = pause_words(happened.reason.as_deref(), happened.kind.as_deref());
            format!("Paused: {why}")
        }
        Event::Held => "Put on hold".to_owned(),
        Event::Resumed => "Resumed by the user".to_owned(),
        Event::Changed => "What it is judged by was changed".to_owned(),
        Event::Audited => audited(goal, happened),
        Event::Approved => "Complete".to_owned(),
        Event::Accepted => {
            "Accepted by the user as it was, without an auditor's approval".to_owned()
        }
        Event::Cleared => "Cleared by the user".to_owned(),
        Event::Replaced => "Replaced by another goal".to_owned(),
        Event::Ended => "Ended".to_owned(),
    }
}

fn audited(goal: &Goal, happened: &Happening) -> String {
    let number = happened.audit.unwrap_or_default();
    let audit = goal
        .audits
        .iter()
        .rev()
        .find(|audit| audit.number == number);
    match audit {
        Some(audit) => format!("Audit {number}: {}", outcome_in_full(audit)),
        None => format!("Audit {number}"),
    }
}

pub(crate) const fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Approved => "approved",
        Outcome::Disapproved => "disapproved",
        Outcome::NoVerdict => "no verdict",
        Outcome::Failed => "failed",
        Outcome::Stale => "stale",
        Outcome::Aborted => "aborted",
        Outcome::Unknown => "unknown outcome",
    }
}

/// The outcome of an audit, with its reason.
pub(crate) fn outcome_in_full(audit: &Audit) -> String {
    let name = if audit.outcome == Outcome::Unknown {
        audit.outcome_name.as_str()
    } else {
        outcome(audit.outcome)
    };
    match &audit.why {
        Some(why) if audit.outcome == Outcome::Aborted && why == "user" => {
            format!("{name} by the user")
        }
        Some(why) => format!("{name} ({})", why.replace('_', " ")),
        None => name.to_owned(),
    }
}

/// What an outcome means, for a reader who does not know the terms.
pub(crate) fn outcome_meaning(audit: &Audit) -> &'static str {
    match (audit.outcome, audit.why.as_deref()) {
        (Outcome::Approved, _) => "The auditor found the objective met.",
        (Outcome::Disapproved, _) => "The auditor found the objective not met.",
        (Outcome::NoVerdict, Some("hollow_approval")) => {
            "The auditor approved without one successful check of its own, so it does not count."
        }
        (Outcome::NoVerdict, _) => {
            "The auditor's answer held no readable verdict, even after a reminder. That says nothing \
             about the work."
        }
        (Outcome::Failed, _) => "The audit could not be made. That says nothing about the work.",
        (Outcome::Stale, Some("workspace")) => {
            "The workspace was changed by somebody else during the audit, so its result does not count."
        }
        (Outcome::Stale, _) => {
            "The goal was changed during the audit, so its result does not count."
        }
        (Outcome::Aborted, _) => "The audit was stopped before it had a result.",
        (Outcome::Unknown, _) => "An outcome this version does not know.",
    }
}

pub(crate) const fn result(result: RunResult) -> &'static str {
    match result {
        RunResult::Work => "work",
        RunResult::Claim => "claim only",
        RunResult::Empty => "no work",
        RunResult::Error => "model error",
        RunResult::Aborted => "broken off",
        RunResult::Lost => "no answer",
    }
}

pub(crate) const fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Start => "goal set",
        Origin::Resume => "resumed",
        Origin::Continuation => "continued",
        Origin::User => "message of the user",
    }
}

/// How an audit was protected from itself.
pub(crate) fn rung(rung: &str) -> &str {
    match rung {
        "overlay" => "sealed: the auditor worked on throw-away copies",
        "fingerprint" => "not sealed; the workspace was compared before and after",
        "none" => "neither sealed nor compared",
        other => other,
    }
}

/// Digits of a fingerprint that tell two of them apart.
const DIGEST_CHARS: usize = 12;

/// Whether the workspace stayed the same during an audit.
pub(crate) fn workspace(audit: &Audit) -> Option<String> {
    match (&audit.before, &audit.after) {
        (Some(before), Some(after)) if before == after => {
            Some(format!("unchanged during the audit ({})", in_short(after)))
        }
        (Some(before), Some(after)) => Some(format!(
            "changed during the audit ({} → {})",
            in_short(before),
            in_short(after)
        )),
        (Some(before), None) => Some(format!("{} before the audit", in_short(before))),
        (None, Some(after)) => Some(format!("{} after the audit", in_short(after))),
        (None, None) => None,
    }
}

fn in_short(digest: &str) -> &str {
    let digits = digest.rsplit(':').next().unwrap_or(digest);
    let end = digits.char_indices().nth(DIGEST_CHARS);
    end.map_or(digits, |(end, _)| &digits[..end])
}

/// The settings of a gate by name.
pub(crate) fn gate(gate: &GateWire) -> Vec<(&'static str, String)> {
    let limit = |limit: u32| {
        if limit == 0 {
            "off".to_owned()
        } else {
            limit.to_string()
        }
    };
    let deadline = |ms: u64| {
        if ms == 0 {
            "off".to_owned()
        } else {
            time::duration(ms)
        }
    };
    let scratch = gate.sandbox_scratch_mb.map(|mb| format!("{mb} MiB"));
    let hide = if gate.sandbox_hide.is_empty() {
        "none".to_owned()
    } else {
        gate.sandbox_hide.join(", ")
    };
    vec![
        ("auditor", format!("{}/{}", gate.provider, gate.model)),
        (
            "thinkingLevel",
            gate.thinking_level
                .clone()
                .unwrap_or_else(|| "the agent's".to_owned()),
        ),
        ("timeoutMs", deadline(gate.timeout_ms)),
        ("idleTimeoutMs", deadline(gate.idle_timeout_ms)),
        (
            "maxEmptyContinuations",
            gate.max_empty_continuations.to_string(),
        ),
        (
            "maxConsecutiveAuditRejections",
            gate.max_consecutive_audit_rejections.to_string(),
        ),
        ("maxContinuations", limit(gate.max_continuations)),
        ("maxAudits", limit(gate.max_audits)),
        ("sandbox", gate.sandbox.clone()),
        ("sandboxNetwork", gate.sandbox_network.clone()),
        ("sandboxHide", hide),
        (
            "sandboxScratchMb",
            scratch.unwrap_or_else(|| "a quarter of memory".to_owned()),
        ),
    ]
}

/// The runs of a goal by result, without those that did not happen.
pub(crate) fn runs(goal: &Goal) -> Vec<(usize, &'static str)> {
    let totals = &goal.totals;
    let mut all = vec![
        (totals.runs_work, "with work"),
        (totals.runs_claim, "claim only"),
        (totals.runs_empty, "no work"),
        (totals.runs_error, "model error"),
        (totals.runs_aborted, "broken off"),
    ];
    all.retain(|(count, _)| *count > 0);
    all
}

/// The audits of a goal by outcome.
pub(crate) fn audits(goal: &Goal) -> Vec<(usize, &'static str)> {
    let totals = &goal.totals;
    let mut all = vec![
        (totals.audits_approved, "approved"),
        (totals.audits_disapproved, "disapproved"),
        (totals.audits_other, "without a verdict"),
    ];
    all.retain(|(count, _)| *count > 0);
    all
}

/// Columns of an objective in a heading.
const TITLE_COLUMNS: usize = 90;

/// The first line of an objective, for a heading.
pub(crate) fn title(goal: &Goal) -> String {
    let first = goal.objective.lines().find(|line| !line.trim().is_empty());
    for_display(first.unwrap_or_default(), TITLE_COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped_and_agree_with_their_noun() {
        for (count, text) in [
            (0, "0 runs"),
            (1, "1 run"),
            (999, "999 runs"),
            (1_000, "1,000 runs"),
            (1_234_567, "1,234,567 runs"),
        ] {
            assert_eq!(counted(count, "run", "runs"), text);
        }
    }
}
