//! `goal-auditor audit-exec`.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use goal_sandbox::{Outcome, SealError, SealedCommand, run_in, run_once};

use crate::audit_seal::{no_seal, options};
use crate::cli::AuditExecArgs;

/// As `timeout` has it.
const EXIT_TIMED_OUT: u8 = 124;
/// As a shell has it.
const EXIT_CANNOT_RUN: u8 = 126;
/// As a shell has it.
const EXIT_NOT_FOUND: u8 = 127;
/// As a shell has it: plus the number of the signal.
const EXIT_SIGNAL_BASE: u8 = 128;
/// Number of the signal that cannot be caught.
const KILLED: u8 = 9;

pub(crate) fn run(args: &AuditExecArgs) -> ExitCode {
    let command = SealedCommand {
        words: args.command.clone(),
        timeout: args.timeout_ms.map(Duration::from_millis),
    };
    let outcome = match (&args.join, &args.workspace) {
        (Some(socket), _) => run_in(socket, &command),
        (None, Some(workspace)) => run_once(&options(workspace, &args.seal), &command),
        (None, None) => Err(SealError {
            doing: "choosing a seal".to_owned(),
            why: "neither --join nor --workspace is given".to_owned(),
        }),
    };
    match outcome {
        Ok(outcome) => ExitCode::from(exit_code(&outcome, args)),
        Err(error) => no_seal(&error),
    }
}

fn exit_code(outcome: &Outcome, args: &AuditExecArgs) -> u8 {
    match outcome {
        Outcome::Exited(code) => u8::try_from(code & 0xff).unwrap_or(u8::MAX),
        Outcome::Killed(signal) => u8::try_from(*signal)
            .unwrap_or(0)
            .saturating_add(EXIT_SIGNAL_BASE),
        Outcome::Lost => {
            eprintln!("goal-auditor: the seal went away, and the command with it");
            EXIT_SIGNAL_BASE + KILLED
        }
        Outcome::TimedOut => {
            let limit = args.timeout_ms.unwrap_or(0);
            eprintln!("goal-auditor: killed after {limit} ms");
            EXIT_TIMED_OUT
        }
        Outcome::NotRun(error) => {
            let program = args.command.first().map(|word| word.to_string_lossy());
            eprintln!("goal-auditor: {}: {error}", program.unwrap_or_default());
            if error.kind() == io::ErrorKind::NotFound {
                EXIT_NOT_FOUND
            } else {
                EXIT_CANNOT_RUN
            }
        }
    }
}
