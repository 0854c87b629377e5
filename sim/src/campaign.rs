//! Many runs, on all cores, added up. What is added does not depend on who ran what.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::check::Failure;
use crate::entropy::Source;
use crate::marks::Marks;
use crate::plan::Profile;
use crate::seen::Seen;
use crate::world::{Options, Outcome, run};

/// Failures that are kept; a campaign that finds more has found enough.
pub const FAILURES_MAX: usize = 20;
const CHUNK_RUNS: u64 = 256;

/// Which runs.
#[derive(Debug, Clone)]
pub struct Campaign {
    /// How wild.
    pub profile: Profile,
    /// The first seed.
    pub from: u64,
    /// One past the last.
    pub to: u64,
    /// Threads.
    pub jobs: usize,
    /// Stop at the first failure.
    pub first_only: bool,
    /// How each run is made.
    pub options: Options,
}

/// A failure with the seed that shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The seed.
    pub seed: u64,
    /// What it breaks.
    pub failure: Failure,
}

/// What came of a campaign.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tally {
    /// Runs, numbers and digests.
    pub counts: Counts,
    /// Situations that were met.
    pub marks: Marks,
    /// States and transitions.
    pub seen: Seen,
    /// What was found, by seed.
    pub failures: Vec<Found>,
}

/// What is simply added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Runs, each from a start to its rest.
    pub runs: u64,
    /// Events the engine took.
    pub events: u64,
    /// Simulated milliseconds.
    pub simulated_ms: u64,
    /// Requests to executors.
    pub executor_requests: u64,
    /// Requests to auditors.
    pub auditor_requests: u64,
    /// Goals that completed.
    pub completions: u64,
    /// Those whose work was not done (what an auditor was made to believe is no broken promise).
    pub false_completions: u64,
    /// Disapprovals of work that was done.
    pub false_refusals: u64,
    /// Runs whose first claim was false.
    pub self_graded_falsely: u64,
    /// The digests of all runs, in no order.
    pub digest: u64,
}

impl Counts {
    /// Adds one run.
    fn note(&mut self, outcome: &Outcome) {
        self.add(&Self {
            runs: 1,
            events: outcome.events,
            simulated_ms: outcome.duration_ms,
            executor_requests: u64::from(outcome.requests[0]),
            auditor_requests: u64::from(outcome.requests[1]),
            completions: u64::from(outcome.completions),
            false_completions: u64::from(outcome.false_completions),
            false_refusals: u64::from(outcome.false_refusals),
            self_graded_falsely: u64::from(outcome.self_graded_falsely),
            digest: outcome.digest,
        });
    }

    /// Adds the counts of other runs.
    pub const fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.events += other.events;
        self.simulated_ms += other.simulated_ms;
        self.executor_requests += other.executor_requests;
        self.auditor_requests += other.auditor_requests;
        self.completions += other.completions;
        self.false_completions += other.false_completions;
        self.false_refusals += other.false_refusals;
        self.self_graded_falsely += other.self_graded_falsely;
        self.digest = self.digest.wrapping_add(other.digest);
    }
}

impl Tally {
    fn note(&mut self, seed: u64, outcome: Outcome) {
        self.counts.note(&outcome);
        self.marks.add(outcome.marks);
        self.seen.add(&outcome.seen);
        if let Some(failure) = outcome.failure {
            self.failures.push(Found { seed, failure });
        }
    }

    /// Adds the tally of other runs.
    pub fn add(&mut self, other: Self) {
        self.counts.add(&other.counts);
        self.marks.add(other.marks);
        self.seen.add(&other.seen);
        self.failures.extend(other.failures);
        self.failures.sort_by_key(|found| found.seed);
        self.failures.truncate(FAILURES_MAX);
    }
}

/// Runs a campaign. `watch` is told now and then how many runs are done, and may end it.
pub fn campaign(campaign: &Campaign, watch: &(dyn Fn(u64) -> bool + Sync)) -> Tally {
    let next = AtomicU64::new(campaign.from);
    let over = AtomicBool::new(false);
    let whole = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for _ in 0..campaign.jobs.max(1) {
            scope.spawn(|| work(campaign, &next, &over, &whole, watch));
        }
    });
    whole.into_inner().unwrap_or_default()
}

fn work(
    campaign: &Campaign,
    next: &AtomicU64,
    over: &AtomicBool,
    whole: &Mutex<Tally>,
    watch: &(dyn Fn(u64) -> bool + Sync),
) {
    while !over.load(Ordering::Relaxed) {
        let from = next.fetch_add(CHUNK_RUNS, Ordering::Relaxed);
        if from >= campaign.to {
            return;
        }
        let mut tally = Tally::default();
        for seed in from..(from + CHUNK_RUNS).min(campaign.to) {
            let outcome = run(&Source::Seed(seed), campaign.profile, &campaign.options);
            let failed = outcome.failure.is_some();
            tally.note(seed, outcome);
            if failed && campaign.first_only {
                over.store(true, Ordering::Relaxed);
                break;
            }
        }
        let Ok(mut sum) = whole.lock() else { return };
        sum.add(tally);
        let enough = sum.failures.len() >= FAILURES_MAX && !campaign.options.keep_going;
        if !watch(sum.counts.runs) || enough {
            over.store(true, Ordering::Relaxed);
        }
    }
}
