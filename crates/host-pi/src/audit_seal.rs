//! `goal-auditor audit-seal`.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use goal_sandbox::{Network, Seal, SealError, SealOptions};

use crate::cli::{AuditSealArgs, Net, SealArgs};
use crate::config;

/// Exit status when the seal cannot be made.
pub(crate) const EXIT_NO_SEAL: u8 = 125;

/// Holds the seal until standard input ends; says `ready` when commands may come.
pub(crate) fn run(args: &AuditSealArgs) -> ExitCode {
    let options = options(&args.workspace, &args.seal);
    match hold(&options, &args.socket) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => no_seal(&error),
    }
}

fn hold(options: &SealOptions, socket: &Path) -> Result<(), SealError> {
    let seal = Seal::hold(options, socket)?;
    let mut stdout = io::stdout();
    // A caller that does not read this will close standard input, too.
    let _ = writeln!(stdout, "ready").and_then(|()| stdout.flush());
    seal.until_input_ends()
}

pub(crate) fn no_seal(error: &SealError) -> ExitCode {
    let line = error.to_string().replace(['\n', '\r'], " ");
    eprintln!("goal-auditor: no seal: {line}");
    ExitCode::from(EXIT_NO_SEAL)
}

pub(crate) fn options(workspace: &Path, args: &SealArgs) -> SealOptions {
    SealOptions {
        workspace: workspace.to_owned(),
        home: std::env::home_dir(),
        agent_dir: config::default_agent_dir(),
        network: match args.net {
            Net::Loopback => Network::Loopback,
            Net::Host => Network::Host,
            Net::Off => Network::Off,
        },
        hide: args.hide.clone(),
        scratch_mb: args.scratch_mb,
    }
}
