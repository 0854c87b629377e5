//! Sealed commands, workspace fingerprints, and the auditor's reading tools.
//!
//! An auditor may run anything and must change nothing. Where the system can, its commands run in a
//! *seal* ([`Seal`], [`run_in`], [`run_once`]); everywhere, the workspace is *fingerprinted* before
//! and after ([`fingerprint`]). The crate knows nothing of goals, audits or prompts, decides nothing
//! about them, and starts no thread in a process that makes namespaces.
//!
//! # How an audit uses it
//! 1. [`probe`] at session start, with the binary's own path: the rung, and why not a higher one.
//! 2. [`fingerprint::take`] with [`fingerprint::Content::Recent`] before the first prompt.
//! 3. On [`Rung::Overlay`] start `goal-auditor audit-seal --workspace DIR --socket PATH
//!    [--net loopback|host|off] [--hide PATH]… [--scratch-mb N]` ([`seal_arguments`]) with a pipe
//!    as its standard input. It prints `ready`, or one line on standard error and exits with 125.
//!    Close the pipe and the seal is gone, with all that ran in it and its socket file; so it is when
//!    either side is killed. It ends, too, with the *thread* that started it (a parent-death
//!    signal): start it from one that stays.
//! 4. Each command: `goal-auditor audit-exec --join PATH [--timeout-ms N] -- PROGRAM ARG…`, in the
//!    working folder, with the environment and streams it shall have. The exit code is the
//!    command's; 124 timed out, 125 no seal (nothing ran), 126 and 127 as a shell, 128 + signal
//!    (137 if the seal itself went away). Kill it, and the command is killed with all it has started.
//! 5. [`fingerprint::take_after`] and [`fingerprint::compare`] after the verdict; on a lower rung
//!    [`fingerprint::Changes::take_by_products`] sets apart what tests leave.
//! 6. For the record of an approval, [`fingerprint::Summary::of`] a fingerprint taken with
//!    [`fingerprint::Content::All`]; `goal-auditor verify SESSION` compares the newest approved audit
//!    entry's `after` (protocol's `FingerprintWire`) with the tree as it is then.

mod error;
pub mod fingerprint;
mod hidden;
mod ladder;
mod scrub;
#[cfg(target_os = "linux")]
mod seal;
#[cfg(not(target_os = "linux"))]
#[path = "seal_elsewhere.rs"]
mod seal;
pub mod tools;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

pub use crate::error::SealError;
pub use crate::hidden::{HIDDEN_IN_AGENT_DIR, HIDDEN_IN_HOME, hidden_paths};
pub use crate::ladder::{Probe, Rung, probe, seal_arguments};
pub use crate::scrub::is_secret;
pub use crate::seal::{PROCESSES_MAX, Seal, run_in, run_once};

/// What sealed commands reach of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// A private network with a loopback interface: servers under test work, nothing leaves.
    Loopback,
    /// The host's network.
    Host,
    /// No interface at all.
    Off,
}

impl Network {
    /// Its name in settings and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loopback => "loopback",
            Self::Host => "host",
            Self::Off => "off",
        }
    }
}

/// A seal to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealOptions {
    /// The folder under audit.
    pub workspace: PathBuf,
    /// The user's home; covered by an overlay like the workspace.
    pub home: Option<PathBuf>,
    /// pi's agent folder, whose logins are hidden.
    pub agent_dir: Option<PathBuf>,
    /// The network.
    pub network: Network,
    /// Paths to hide beyond the default ones.
    pub hide: Vec<PathBuf>,
    /// Limit of all that commands write, in MiB; a quarter of memory if not given.
    pub scratch_mb: Option<u64>,
}

/// A command for a seal; folder, environment and streams are those of the calling process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedCommand {
    /// Program and arguments.
    pub words: Vec<OsString>,
    /// After this time everything the command has started is killed.
    pub timeout: Option<Duration>,
}

/// What became of a sealed command.
#[derive(Debug)]
pub enum Outcome {
    /// It ended with this exit code.
    Exited(i32),
    /// It was ended by this signal.
    Killed(i32),
    /// Its time was up.
    TimedOut,
    /// The seal went away while it ran, and the command with it; or the command killed all it could,
    /// its own runner too.
    Lost,
    /// It could not be started.
    NotRun(io::Error),
}
