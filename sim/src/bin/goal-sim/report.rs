//! Reports of campaigns, for people and machines.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use goal_sim::campaign::{Counts, Tally};
use goal_sim::marks::Mark;
use goal_sim::style::{BAD, GOOD, ODD};
use serde::{Deserialize, Serialize};

use crate::Status;
use crate::args::{Format, Merge};

/// A campaign's report as JSON; reports can be added up.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    /// The commit that was run.
    pub(crate) commit: String,
    pub(crate) profile: String,
    /// Seeds, or what stands for them.
    pub(crate) seeds: String,
    pub(crate) counts: Counts,
    /// Situations that were met.
    pub(crate) met: BTreeSet<String>,
    /// States by events that were seen, as numbers.
    pub(crate) seen: BTreeSet<(usize, usize)>,
    pub(crate) failures: Vec<FailureLine>,
    /// Wall time of all parts, in seconds.
    pub(crate) seconds: f64,
}

/// A failure with the command that shows it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FailureLine {
    pub(crate) seed: u64,
    pub(crate) what: String,
    pub(crate) command: String,
}

impl Report {
    pub(crate) fn of(tally: &Tally, profile: &str, seeds: String, seconds: f64) -> Self {
        let failures = tally.failures.iter().map(|found| FailureLine {
            seed: found.seed,
            what: found.failure.fingerprint(),
            command: format!("cargo xtask sim seed {} --profile {profile}", found.seed),
        });
        Self {
            commit: commit(),
            profile: profile.to_owned(),
            seeds,
            counts: tally.counts,
            met: Mark::ALL
                .iter()
                .filter(|mark| tally.marks.has(**mark))
                .map(|mark| mark.words().to_owned())
                .collect(),
            seen: tally.seen.pairs().collect(),
            failures: failures.collect(),
            seconds,
        }
    }

    pub(crate) fn unseen(&self) -> Vec<&'static str> {
        let words = Mark::ALL.iter().map(|mark| mark.words());
        words.filter(|words| !self.met.contains(*words)).collect()
    }

    fn states(&self) -> usize {
        self.seen
            .iter()
            .map(|(state, _)| state)
            .collect::<BTreeSet<_>>()
            .len()
    }

    pub(crate) fn status(&self, allow_unseen: bool) -> Status {
        if !self.failures.is_empty() {
            Status::Found
        } else if !allow_unseen && !self.unseen().is_empty() {
            Status::Unseen
        } else {
            Status::Clean
        }
    }

    pub(crate) fn print(&self, format: Format) -> Result<()> {
        match format {
            Format::Json => println!("{}", serde_json::to_string(self)?),
            Format::Text => self.print_text(),
        }
        Ok(())
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "rates and days are rounded for the eye"
    )]
    fn print_text(&self) {
        let counts = &self.counts;
        let per_second = |n: u64| n as f64 / self.seconds.max(0.001);
        let days = counts.simulated_ms as f64 / 86_400_000.0;
        anstream::println!(
            "{} runs in {:.1} s: {:.0} runs/s, {:.0} events/s; {days:.1} simulated days",
            counts.runs,
            self.seconds,
            per_second(counts.runs),
            per_second(counts.events),
        );
        anstream::println!(
            "{} events, {} requests to executors, {} to auditors; {} goals completed",
            counts.events,
            counts.executor_requests,
            counts.auditor_requests,
            counts.completions
        );
        anstream::println!(
            "{} states, {} transitions, {} of {} situations met; digest {:016x}",
            self.states(),
            self.seen.len(),
            self.met.len(),
            Mark::ALL.len(),
            counts.digest
        );
        for words in self.unseen() {
            anstream::println!("{ODD}not met{ODD:#}  {words}");
        }
        for failure in &self.failures {
            anstream::println!(
                "{BAD}failed{BAD:#}   seed {}: {}\n         {}",
                failure.seed,
                failure.what,
                failure.command
            );
        }
        if self.failures.is_empty() {
            anstream::println!("{GOOD}clean{GOOD:#}");
        }
    }

    /// Adds a report of other runs.
    pub(crate) fn add(&mut self, other: Self) {
        self.counts.add(&other.counts);
        self.met.extend(other.met);
        self.seen.extend(other.seen);
        self.failures.extend(other.failures);
        self.seconds += other.seconds;
    }
}

/// Named by whoever started us.
pub(crate) fn commit() -> String {
    std::env::var("GOAL_SIM_COMMIT").unwrap_or_else(|_| "of this build".to_owned())
}

pub(crate) fn merge(options: &Merge) -> Result<Status> {
    let mut whole: Option<Report> = None;
    for file in &options.files {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        let report: Report = serde_json::from_str(&text)
            .with_context(|| format!("{} is no report of a campaign", file.display()))?;
        match &mut whole {
            Some(whole) => {
                anyhow::ensure!(
                    whole.commit == report.commit && whole.profile == report.profile,
                    "{} is of commit {} and profile {}, the first of commit {} and profile {}",
                    file.display(),
                    report.commit,
                    report.profile,
                    whole.commit,
                    whole.profile
                );
                whole.seeds = format!("{}, {}", whole.seeds, report.seeds);
                whole.add(report);
            }
            None => whole = Some(report),
        }
    }
    let whole = whole.context("no reports")?;
    whole.print(options.format)?;
    Ok(whole.status(options.allow_unseen))
}
