//! Every text a model reads, and the washing of text that others wrote.
//!
//! This crate is pure: no clock, no randomness, no host, and no idea how a goal moves from one phase to
//! the next. Fence tokens, ids, numbers and times are arguments. It holds three kinds of things:
//!
//! * [`safe`]: untrusted text made visible, cut, and fit for one line or a block of a display;
//! * [`fence`]: untrusted text put between marks that carry a token it cannot know;
//! * the texts themselves: for the executor ([`goal_message`], [`marker`]), for the tools the executor
//!   calls ([`audit_result`], [`goal_report`] and their neighbours), and for the auditor
//!   ([`audit_system_prompt`], [`audit_prompt`], [`reminder`]).
//!
//! What a *person* reads is not here; the engine words that.

pub mod fence;
pub mod safe;

mod auditor;
mod executor;
mod tools;

pub use auditor::{
    AuditPrompt, CLAIM_MAX_CHARS, ReminderWhy, audit_prompt, audit_system_prompt, reminder,
};
pub use executor::{GoalMessage, Marker, Nudge, OBJECTION_MAX_CHARS, goal_message, marker};
pub use tools::{
    AuditResult, AuditWord, BLOCKED_CALL, CORE_MISSING, DeadCall, GET_GOAL_DESCRIPTION,
    GET_GOAL_SNIPPET, GoalReport, REPORT_MAX_CHARS, STATUS_DESCRIPTION, SUMMARY_DESCRIPTION,
    UPDATE_GOAL_DESCRIPTION, UPDATE_GOAL_SNIPPET, audit_result, bad_status, dead_call, goal_report,
    run_ends, same_audit,
};
