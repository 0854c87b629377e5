//! The goal record, its phases, guards and counters, and the moves between them.
//!
//! This crate knows no prompt, no wire format, no host, and it reads no clock: every moment is an
//! argument. Start with [`Goal`], then [`Goal::settle`] (what a finished run means) and
//! [`Goal::audited`] (what a finished audit means).

mod audit;
mod fold;
mod gate;
mod goal;
mod limits;
mod phase;
mod settle;

pub use audit::{AuditMark, AuditOutcome, AuditTally, Consequence, FailureKind, NoVerdictWhy};
pub use fold::{TextHash, fold_hash};
pub use gate::{Gate, ModelRef, SandboxGate};
pub use goal::{Goal, GoalTag, Monotonic, Objective, ObjectiveError, Totals, WallClock};
pub use limits::{
    BACK_OFF_MS, DEAD_CALLS_MAX, ERRORED_RUNS_MAX, IDLE_TURNS_MAX, OBJECTION_MAX_CHARS,
    OBJECTIVE_MAX_BYTES, REFUSALS_SAME_MAX, REPEAT_MIN_CHARS, REPEATS_MAX, REPEATS_WITH_WRITES_MAX,
};
pub use phase::{Ended, ModelErrorKind, PauseReason, Phase, Stop};
pub use settle::{Decision, RunEnd, RunSummary};
