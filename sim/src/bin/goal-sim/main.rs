//! `cargo xtask sim …`: campaigns, single runs, shrinking, canaries and tables of the simulator.
//!
//! Exit status: 0 clean, 1 a failure was found, 2 usage or unreadable input, 3 the same seed gave two
//! different runs, 4 a campaign missed a situation it must meet.

mod args;
mod campaign;
mod canary;
mod report;
mod scenario;
mod single;
mod tables;
mod traces;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use args::{Args, Task};

/// How a task ended, as the process's exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Nothing was found.
    Clean,
    /// A promise was broken.
    Found,
    /// The input makes no sense.
    Usage,
    /// Two runs of one seed differ.
    Nondeterminism,
    /// A situation was not met.
    Unseen,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match task(args.task) {
        Ok(status) => ExitCode::from(status as u8),
        Err(error) => {
            anstream::eprintln!("goal-sim: {error:#}");
            ExitCode::from(Status::Usage as u8)
        }
    }
}

fn task(task: Task) -> Result<Status> {
    match task {
        Task::Run(options) => campaign::run(&options),
        Task::Coverage(options) => campaign::coverage(&options),
        Task::Merge(options) => report::merge(&options),
        Task::Seed(options) => single::seed(&options),
        Task::Replay(options) => single::replay(&options),
        Task::Shrink(options) => single::shrink(&options),
        Task::Record(options) => single::record(&options),
        Task::Diff(options) => traces::diff(&options),
        Task::Explore(options) => tables::explore(&options),
        Task::Canary(options) => canary::run(&options),
        Task::Gate(options) => tables::gate(&options),
        Task::Scenario(options) => scenario::run(&options),
    }
}
