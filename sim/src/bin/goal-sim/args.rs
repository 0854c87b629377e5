//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as Group, Parser, Subcommand, ValueEnum};
use goal_sim::plan::Profile;

/// Drives the engine that ships through hostile histories, and looks for a broken promise.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask sim", bin_name = "cargo xtask sim")]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) task: Task,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// A campaign: many runs, each a goal from start to rest, with faults.
    Run(Run),
    /// A campaign, and what it saw and did not see: states by events, stops, situations.
    Coverage(Run),
    /// Adds up the JSON reports of campaigns that were run elsewhere (see --shard).
    Merge(Merge),
    /// One run of a campaign, line by line.
    Seed(Seed),
    /// A recorded run again: a fixture of `shrink`, or a trace of the extension's `trace` setting,
    /// of which every effect is checked.
    Replay(File),
    /// Makes a failing run small and writes it as a fixture.
    Shrink(Shrink),
    /// Writes a run that breaks nothing as a fixture, to be run with the tests from now on.
    Record(Record),
    /// The first difference of two traces, with what came before it.
    Diff(Diff),
    /// Every sequence of a small alphabet of events up to a depth.
    Explore(Explore),
    /// Each defect that is planted on purpose must be found.
    Canary(Canary),
    /// What each guard is worth: false completions and refusals of each kind of auditor.
    Gate(Gate),
    /// Scenario files, in the simulator or on the real pi.
    Scenario(Scenario),
}

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// For machines.
    Json,
}

/// What a campaign is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Profiles {
    /// Runs of one kind.
    One(Profile),
    /// Runs of every kind.
    All,
}

/// The word for runs of every kind.
const ALL: &str = "all";

impl Profiles {
    /// The word on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::One(profile) => profile.name(),
            Self::All => ALL,
        }
    }

    /// Each profile.
    pub(crate) fn each(self) -> Vec<Profile> {
        match self {
            Self::One(profile) => vec![profile],
            Self::All => Profile::ALL.to_vec(),
        }
    }
}

#[derive(Debug, Clone, Group)]
pub(crate) struct Run {
    /// Seeds, first to last and not including it: 0..100000.
    #[arg(long, value_parser = seeds, conflicts_with = "for_")]
    pub(crate) seeds: Option<(u64, u64)>,
    /// How long to go on instead: 60s, 5m.
    #[arg(long = "for", value_parser = humantime::parse_duration)]
    pub(crate) for_: Option<Duration>,
    /// Threads; all cores if not given.
    #[arg(long)]
    pub(crate) jobs: Option<usize>,
    /// How wild the runs are; `all` runs every profile, each with its part of the time.
    #[arg(long, default_value = "swarm", value_parser = profiles)]
    pub(crate) profile: Profiles,
    /// The K-th of N equal parts of the seeds, so that several machines share a campaign: 2/8.
    #[arg(long, value_parser = shard)]
    pub(crate) shard: Option<(u64, u64)>,
    /// text or json.
    #[arg(long, default_value = "text")]
    pub(crate) format: Format,
    /// Go on where a situation was not met (a short campaign cannot meet all).
    #[arg(long)]
    pub(crate) allow_unseen: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Merge {
    /// Reports of `run --format json`.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// text or json.
    #[arg(long, default_value = "text")]
    pub(crate) format: Format,
    /// Go on where a situation was not met (a short campaign cannot meet all).
    #[arg(long)]
    pub(crate) allow_unseen: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Seed {
    /// The seed.
    pub(crate) seed: u64,
    /// How wild the run is.
    #[arg(long, default_value = "swarm", value_parser = profile)]
    pub(crate) profile: Profile,
    /// Print lines in full.
    #[arg(long)]
    pub(crate) full: bool,
    /// Plant this defect first (`canary` lists them).
    #[arg(long, value_name = "NAME")]
    pub(crate) canary: Option<String>,
}

#[derive(Debug, Group)]
pub(crate) struct File {
    /// The fixture or the trace.
    pub(crate) file: PathBuf,
    /// Print lines in full.
    #[arg(long)]
    pub(crate) full: bool,
    /// Plant this defect first (`canary` lists them).
    #[arg(long, value_name = "NAME")]
    pub(crate) canary: Option<String>,
}

#[derive(Debug, Group)]
pub(crate) struct Shrink {
    /// A seed, or a fixture file.
    pub(crate) what: String,
    /// How wild the run is (for a seed).
    #[arg(long, default_value = "swarm", value_parser = profile)]
    pub(crate) profile: Profile,
    /// Where to write it; sim/corpus/<checker>-<seed>.toml if not given.
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
    /// Plant this defect first (`canary` lists them).
    #[arg(long, value_name = "NAME")]
    pub(crate) canary: Option<String>,
}

#[derive(Debug, Group)]
pub(crate) struct Record {
    /// The seed.
    pub(crate) seed: u64,
    /// How wild the run is.
    #[arg(long, default_value = "swarm", value_parser = profile)]
    pub(crate) profile: Profile,
    /// Why it is kept, in a sentence.
    #[arg(long)]
    pub(crate) about: String,
    /// Where to write it, as in sim/corpus/NAME.toml.
    #[arg(long)]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Group)]
pub(crate) struct Diff {
    /// One trace.
    pub(crate) a: PathBuf,
    /// The other.
    pub(crate) b: PathBuf,
}

#[derive(Debug, Group)]
pub(crate) struct Explore {
    /// Events in a row.
    #[arg(long, default_value_t = 5)]
    pub(crate) depth: usize,
    /// text or json.
    #[arg(long, default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, Group)]
pub(crate) struct Canary {
    /// Seeds a canary may need.
    #[arg(long, default_value_t = 5_000)]
    pub(crate) budget: u64,
    /// Only this one.
    #[arg(long)]
    pub(crate) only: Option<String>,
    /// Threads; all cores if not given.
    #[arg(long)]
    pub(crate) jobs: Option<usize>,
    /// text or json.
    #[arg(long, default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, Group)]
pub(crate) struct Gate {
    /// Runs for each auditor and each state of the guards.
    #[arg(long, default_value_t = 2_000)]
    pub(crate) runs: u64,
    /// Threads; all cores if not given.
    #[arg(long)]
    pub(crate) jobs: Option<usize>,
    /// text or json.
    #[arg(long, default_value = "text")]
    pub(crate) format: Format,
}

/// Where a scenario is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Host {
    /// In the simulator.
    Sim,
    /// On the real pi.
    Pi,
}

#[derive(Debug, Group)]
pub(crate) struct Scenario {
    /// Scenario files; all of sim/scenarios if none is given.
    pub(crate) files: Vec<PathBuf>,
    /// sim or pi.
    #[arg(long, default_value = "sim")]
    pub(crate) host: Host,
    /// Print what happened, too, in the words of a scenario file.
    #[arg(long)]
    pub(crate) events: bool,
}

fn profile(text: &str) -> Result<Profile, String> {
    Profile::named(text).ok_or_else(|| "one of calm, swarm, adversary, weak".to_owned())
}

fn profiles(text: &str) -> Result<Profiles, String> {
    if text == ALL {
        return Ok(Profiles::All);
    }
    let one = Profile::named(text).map(Profiles::One);
    one.ok_or_else(|| "one of calm, swarm, adversary, weak, all".to_owned())
}

fn seeds(text: &str) -> Result<(u64, u64), String> {
    let (from, to) = text.split_once("..").ok_or("first..last, as in 0..1000")?;
    let from = from.parse().map_err(|_| "the first seed is no number")?;
    let to = to.parse().map_err(|_| "the last seed is no number")?;
    if from < to {
        Ok((from, to))
    } else {
        Err("the last seed must be larger than the first".to_owned())
    }
}

fn shard(text: &str) -> Result<(u64, u64), String> {
    let (k, n) = text.split_once('/').ok_or("K/N, as in 2/8")?;
    let k: u64 = k.parse().map_err(|_| "K is no number")?;
    let n: u64 = n.parse().map_err(|_| "N is no number")?;
    if 1 <= k && k <= n {
        Ok((k, n))
    } else {
        Err("K runs from 1 to N".to_owned())
    }
}
