//! The goal loop: [`Event`]s in, [`Effect`]s out.
//!
//! # What this crate does not do
//! It reads no clock, no file, no environment and no randomness; it starts no thread and knows
//! neither pi's names nor JSON. [`Clocks`] brings the time and a fresh number with every event.
//!
//! # The law of the drive
//! 1. Give one event to [`Engine::handle`] with the clocks of this moment.
//! 2. Perform all effects it pushed, in order.
//! 3. Ask [`Engine::deadline`], and sleep until that moment or the next event, whichever is first;
//!    when the moment has come, give [`Event::Tick`].
//!
//! Nobody else changes the engine. A driver that lets the clock run backwards breaks the law; that
//! is asserted in debug builds and harmless otherwise.
//!
//! # Where to start reading
//! [`Engine`] and its dispatch; then `run` (a run and its settle boundary), `tools` (calls of
//! `get_goal` and `update_goal`), `audit` (an audit in flight), `command` and `steer`
//! (`/goal …`), `offer` (the same as a choice).

mod audit;
mod canary;
mod command;
mod deadline;
mod effect;
mod engine;
mod event;
mod message;
mod model;
mod model_error;
mod offer;
mod run;
mod say;
mod session;
mod settings;
mod start;
mod status;
mod steer;
mod tools;
mod workspace;

#[cfg(feature = "canary")]
pub use canary::Canary;
pub use command::file_named;
pub use deadline::Deadline;
pub use effect::{
    AuditDetails, AuditRecord, Effect, GoalFacts, GoalMessage, Level, LiveAudit, MessageDetails,
    Mood, Notice, OfferedWay, OpenAuditor, PrepareAudit, Proposal, Rung, SavedGoal, StatusView,
    ToolAnswer, WayOn, WorkspaceSummary,
};
pub use engine::{Clocks, Engine};
pub use event::{
    Activity, Command, CompactionEnded, CoreRestart, Event, FileTrouble, GoalTool, HostFacts,
    Inspection, LastAudit, ModelInfo, OpenCause, Prepared, Recovered, RunSettled, SessionOpened,
    Settling, ToolFinished, ToolInvoked,
};
pub use settings::{SettingRow, Settings};
// The vocabulary of the parts, so that drivers need no other crate of the core.
pub use goal_audit::{Answer, AuditorEvent, CheckRecord, OpenFailure, StopKind, Usage};
pub use goal_state::{
    AuditOutcome, Ended, FailureKind, Gate, Goal, GoalTag, ModelRef, Monotonic, NoVerdictWhy,
    OBJECTIVE_MAX_BYTES, Objective, ObjectiveError, PauseReason, Phase, SandboxGate, Stop,
    TextHash, Totals, WallClock,
};

/// Fixed texts of our tools, by the name the shim uses.
#[must_use]
pub const fn tool_texts() -> [(&'static str, &'static str); 8] {
    use goal_prompts as prompts;
    [
        ("getGoalDescription", prompts::GET_GOAL_DESCRIPTION),
        ("getGoalSnippet", prompts::GET_GOAL_SNIPPET),
        ("updateGoalDescription", prompts::UPDATE_GOAL_DESCRIPTION),
        ("updateGoalSnippet", prompts::UPDATE_GOAL_SNIPPET),
        ("statusDescription", prompts::STATUS_DESCRIPTION),
        ("summaryDescription", prompts::SUMMARY_DESCRIPTION),
        ("blockedCall", prompts::BLOCKED_CALL),
        ("coreMissing", prompts::CORE_MISSING),
    ]
}
