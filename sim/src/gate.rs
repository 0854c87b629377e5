//! What each guard of the gate is worth: false completions, false refusals and model calls of each
//! kind of auditor, with one guard switched off at a time, and beside an executor who grades itself.

use crate::campaign::{Campaign, Counts, campaign};
use crate::models::{AuditorKind, ExecutorKind};
use crate::plan::{Plan, Profile, Rates};
use crate::world::Options;

/// One row of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The auditor.
    pub auditor: AuditorKind,
    /// What came of its runs.
    pub counts: Counts,
}

/// Plans a run for the table: executors that lie and claim too early beside honest ones, an auditor
/// of one kind, and nobody who disturbs.
pub(crate) fn plan(plan: &mut Plan, auditor: AuditorKind) {
    plan.executors = vec![
        ExecutorKind::Strong,
        ExecutorKind::Weak,
        ExecutorKind::Liar,
        ExecutorKind::Claimer,
        ExecutorKind::Injector,
    ];
    plan.auditors = vec![auditor];
    plan.acts = vec![crate::plan::Act::Edit, crate::plan::Act::Abort];
    plan.acts_max = 2;
    plan.acts_apart = 15;
    plan.wire = 0;
    plan.rates = Rates {
        meddles: 16,
        ..Rates::default()
    };
    plan.rung = goal_engine::Rung::Fingerprint;
    plan.headless = false;
}

/// Runs the table for one state of the guards.
#[must_use]
pub fn rows(runs: u64, jobs: usize, options: &Options) -> Vec<Row> {
    AuditorKind::ALL
        .into_iter()
        .map(|auditor| Row {
            auditor,
            counts: row(auditor, runs, jobs, options),
        })
        .collect()
}

fn row(auditor: AuditorKind, runs: u64, jobs: usize, options: &Options) -> Counts {
    let options = Options {
        auditor: Some(auditor),
        keep_going: true,
        ..options.clone()
    };
    let table = Campaign {
        profile: Profile::Calm,
        from: 0,
        to: runs,
        jobs,
        first_only: false,
        options,
    };
    campaign(&table, &|_| true).counts
}
