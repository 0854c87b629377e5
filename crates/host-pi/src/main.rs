//! `goal-auditor`: the native core of the goal extension for pi.
//!
//! The binary owns the clock, the standard streams and the settings file, and decides nothing:
//! `serve` carries lines between pi's shim and the engine, the other commands let a person look at
//! the parts.

mod audit_exec;
mod audit_seal;
mod audit_tool;
mod cli;
mod config;
mod doctor;
mod fingerprint;
mod process;
mod replay;
mod report;
mod serve;
mod settings;
mod verdict;
mod verify;

use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::{Cli, Task};

/// Exit status for an internal error (sysexits' EX_SOFTWARE).
const EXIT_INTERNAL_ERROR: u8 = 70;

fn main() -> ExitCode {
    process::report_panics_in_one_line();
    let task = Cli::parse().task;
    match std::panic::catch_unwind(|| run(task)) {
        Ok(Ok(code)) => code,
        Ok(Err(error)) => {
            process::say(format_args!("{error:#}"));
            ExitCode::FAILURE
        }
        // The hook has said it already.
        Err(_) => ExitCode::from(EXIT_INTERNAL_ERROR),
    }
}

fn run(task: Task) -> anyhow::Result<ExitCode> {
    match task {
        Task::Serve => serve::run(),
        Task::Verdict(args) => verdict::run(&args),
        Task::Config(args) => config::run(&args),
        Task::AuditTool(args) => Ok(audit_tool::run(&args)),
        Task::Fingerprint(args) => fingerprint::run(&args),
        Task::Verify(args) => verify::run(&args),
        // These make namespaces: nothing before them may start a thread.
        Task::AuditSeal(args) => Ok(audit_seal::run(&args)),
        Task::AuditExec(args) => Ok(audit_exec::run(&args)),
        Task::Report(args) => report::run(&args),
        Task::Replay(args) => replay::run(&args),
        Task::Doctor(args) => doctor::run(&args),
    }
}
