//! Audits on the real pi: how they end, what is told and kept, and what they may do to a goal.

mod calls;
mod caps;
mod court;
mod failures;
mod limits;
mod surroundings;
mod verdicts;
