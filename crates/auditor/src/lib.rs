//! One audit as a machine: deadlines, evidence, reminders, and how it ends.
//!
//! There is no host here, no prompt text, no goal and no clock: `now` is an argument, in
//! milliseconds of a monotonic clock. The driver feeds [`Audit::handle`] with what the auditor's
//! session reports and calls [`Audit::expire`] when [`Audit::deadline`] has passed; each answers
//! with the next [`Step`]. After [`Step::Done`] the audit takes nothing more.

mod deadline;
mod event;
mod machine;

pub use deadline::{AuditDeadline, Limits};
pub use event::{Answer, AuditorEvent, CheckRecord, OpenFailure, StopKind, Usage};
/// The grammar's reasons, part of [`NoVerdictReason`].
pub use goal_parser::NoVerdict;
pub use machine::{Audit, Failure, Finding, NoVerdictReason, Step};
