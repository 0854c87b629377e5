//! What goal-auditor costs: measured beside the rival on the real pi, part by part, and against size.
//!
//! The binary `goal-bench` (`cargo xtask bench`) asks each module for its [`report::Part`] and writes them
//! into `docs/performance.md`. [`measure`] has figures and what can be said of them, [`stopwatch`]
//! takes them, [`node`] asks scripts for them, [`report`] has tables and plots; the others measure: [`pi`] a whole pi, [`parts`] single parts of ours, [`growth`] the same
//! parts against their size.

pub mod growth;
pub mod measure;
pub mod node;
pub mod parts;
pub mod pi;
pub mod report;
pub mod stopwatch;

/// How long measuring may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// The whole report in less than ten minutes on two quiet cores.
    Quick,
    /// More samples and larger sizes, in less than half an hour.
    Full,
}

impl Effort {
    /// One of two numbers, such as rounds or sizes.
    #[must_use]
    pub fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}
