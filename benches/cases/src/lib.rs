//! What the benches measure: texts, sessions, and an engine at work, each of any size.
//!
//! Everything here is made by rule, so that two runs, and two sides of a comparison, get the same. The
//! benches take the time of it; [`count`] and the binary `goal-count` take its instructions.

#![expect(
    clippy::panic,
    reason = "a bench whose set-up fails has nothing to measure"
)]

pub mod baseline;
pub mod count;
pub mod running;
pub mod session;
pub mod text;
