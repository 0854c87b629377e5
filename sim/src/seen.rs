//! Coverage: which states were met with which events, and where they led.

use std::collections::BTreeSet;

use goal_engine::{Deadline, Effect, Engine, Event, Phase};

use crate::world::pi::STAGE_NAMES;

/// Phases and stops by number.
pub const PHASES: [&str; 14] = [
    "no goal",
    "pursuing",
    "held",
    "user",
    "aborted",
    "no_progress",
    "repetition",
    "model_errors",
    "rejections",
    "audit_failures",
    "continuation_limit",
    "audit_limit",
    "tools_off",
    "core_lost",
];
/// What the engine waits for by number.
pub const WAITS: [&str; 6] = [
    "nothing",
    "abort grace",
    "back-off",
    "workspace",
    "audit timeout",
    "audit idle",
];
/// Events by number.
pub const EVENTS: [&str; 29] = [
    "session_opened",
    "session_left",
    "settings_read",
    "command",
    "confirmed",
    "edited",
    "report_written",
    "tools_checked",
    "run_started",
    "user_message",
    "turn_ended",
    "tool_finished",
    "tool_invoked",
    "tool_cancelled",
    "settling",
    "proposal_taken",
    "proposal_yielded",
    "run_settled",
    "interrupt",
    "compaction_started",
    "compaction_ended",
    "model_selected",
    "audit_prepared",
    "workspace_inspected",
    "auditor",
    "sandbox_probed",
    "tick",
    "message_arrived",
    "chosen",
];
/// The number of kinds of events.
pub const EVENT_KINDS: usize = EVENTS.len();

/// A kind of event in words.
#[must_use]
pub fn event_name(kind: usize) -> &'static str {
    EVENTS.get(kind).copied().unwrap_or("?")
}

/// The number of states that can be told apart.
pub const STATES: usize = PHASES.len() * WAITS.len() * STAGE_NAMES.len();

/// A state in words.
#[must_use]
pub fn state_name(state: usize) -> String {
    let stage = state % STAGE_NAMES.len();
    let rest = state / STAGE_NAMES.len();
    let (phase, waits) = (rest / WAITS.len(), rest % WAITS.len());
    format!(
        "{} / {} / {}",
        PHASES[phase], WAITS[waits], STAGE_NAMES[stage]
    )
}

/// States with the events that met them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Seen(BTreeSet<u32>);

impl Seen {
    /// The engine's state together with the host's stage.
    pub(crate) fn state(&self, engine: &Engine, stage: usize) -> usize {
        let phase = engine.goal().map_or(0, |goal| phase_number(goal.phase()));
        let waits = engine.deadline().map_or(0, |(_, why)| deadline_number(why));
        (phase * WAITS.len() + waits) * STAGE_NAMES.len() + stage
    }

    pub(crate) fn transition(&mut self, state: usize, event: usize) {
        let key = state * EVENT_KINDS + event;
        self.0.insert(u32::try_from(key).unwrap_or(u32::MAX));
    }

    /// Those of both.
    pub fn add(&mut self, other: &Self) {
        self.0.extend(&other.0);
    }

    /// Pairs of state and event.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.0
            .iter()
            .map(|key| (*key as usize / EVENT_KINDS, *key as usize % EVENT_KINDS))
    }

    /// The number of pairs.
    #[must_use]
    pub fn transitions(&self) -> usize {
        self.0.len()
    }

    /// The number of states.
    #[must_use]
    pub fn states(&self) -> usize {
        self.pairs()
            .map(|(state, _)| state)
            .collect::<BTreeSet<_>>()
            .len()
    }
}

fn phase_number(phase: &Phase) -> usize {
    match phase {
        Phase::Pursuing => 1,
        Phase::Held => 2,
        Phase::Paused(stop) => PHASES
            .iter()
            .position(|name| *name == stop.reason.name())
            .unwrap_or(0),
    }
}

const fn deadline_number(why: Deadline) -> usize {
    match why {
        Deadline::AbortGrace => 1,
        Deadline::BackOff => 2,
        Deadline::AuditWorkspace => 3,
        Deadline::AuditTimeout => 4,
        Deadline::AuditIdle => 5,
    }
}

/// The number of an event's kind.
pub(crate) const fn kind(event: &Event) -> usize {
    match event {
        Event::SessionOpened(_) => 0,
        Event::SessionLeft => 1,
        Event::SettingsRead(_) => 2,
        Event::Command(_) => 3,
        Event::Confirmed { .. } => 4,
        Event::Edited { .. } => 5,
        Event::ReportWritten(_) => 6,
        Event::ToolsChecked { .. } => 7,
        Event::RunStarted => 8,
        Event::UserMessage => 9,
        Event::TurnEnded { .. } => 10,
        Event::ToolFinished(_) => 11,
        Event::ToolInvoked(_) => 12,
        Event::ToolCancelled { .. } => 13,
        Event::Settling(_) => 14,
        Event::ProposalTaken { .. } => 15,
        Event::ProposalYielded { .. } => 16,
        Event::RunSettled(_) => 17,
        Event::Interrupt => 18,
        Event::CompactionStarted => 19,
        Event::CompactionEnded(_) => 20,
        Event::ModelSelected { .. } => 21,
        Event::AuditPrepared { .. } => 22,
        Event::WorkspaceInspected { .. } => 23,
        Event::Auditor { .. } => 24,
        Event::SandboxProbed { .. } => 25,
        Event::Tick => 26,
        Event::MessageArrived { .. } => 27,
        Event::Chosen { .. } => 28,
    }
}

/// The number of an effect's kind, for the digest of a run.
pub(crate) const fn effect_kind(effect: &Effect) -> usize {
    match effect {
        Effect::SaveGoal(_) => 1,
        Effect::SaveAudit(_) => 2,
        Effect::StartRun(_) => 3,
        Effect::Propose(_) => 4,
        Effect::SendInRun(_) => 5,
        Effect::EndRun => 6,
        Effect::ActivateTools => 7,
        Effect::FinishTool(_) => 8,
        Effect::Progress { .. } => 9,
        Effect::PrepareAudit(_) => 10,
        Effect::InspectWorkspace { .. } => 11,
        Effect::OpenAuditor(_) => 12,
        Effect::PromptAuditor { .. } => 13,
        Effect::CloseAuditor { .. } => 14,
        Effect::Notify(_) => 15,
        Effect::Reply(_) => 16,
        Effect::ShowStatus(_) => 17,
        Effect::Confirm { .. } => 18,
        Effect::Edit { .. } => 19,
        Effect::WriteReport { .. } => 20,
        Effect::Ring => 21,
        Effect::RestoreInput { .. } => 22,
        Effect::Release { .. } => 23,
        Effect::Offer { .. } => 24,
        Effect::Withdraw { .. } => 25,
        Effect::CountUsage { .. } => 26,
    }
}
