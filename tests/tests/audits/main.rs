//! Audits on the real pi: how they end, what is told and kept, and what they may do to a goal.
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

mod calls;
mod caps;
mod court;
mod failures;
mod interruptions;
mod limits;
mod records;
mod surroundings;
mod verdicts;
