//! The ladder of protection, and which rung of it works here.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::SealOptions;

/// How an audit is kept from changing the workspace. From the best down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rung {
    /// Commands run in a seal; what they write is thrown away.
    Overlay,
    /// Commands run as they are; a change they made is found afterwards.
    Fingerprint,
    /// Neither, by the user's own setting.
    None,
}

impl Rung {
    /// Its name in records, results and settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overlay => "overlay",
            Self::Fingerprint => "fingerprint",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Rung {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// What a probe found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The best rung that works.
    pub rung: Rung,
    /// Why it is not a higher one; a part of a sentence.
    pub why_not_higher: Option<String>,
}

/// Options of `audit-seal` and `audit-exec`, as words of a command line.
#[must_use]
pub fn seal_arguments(options: &SealOptions) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec!["--workspace".into(), options.workspace.clone().into()];
    words.extend(["--net".into(), options.network.name().into()]);
    for path in &options.hide {
        words.extend(["--hide".into(), path.clone().into()]);
    }
    if let Some(size) = options.scratch_mb {
        words.extend(["--scratch-mb".into(), size.to_string().into()]);
    }
    words
}

/// Finds the best rung by making a seal and running one command in it. `program` is the goal-auditor
/// binary: namespaces need a process with a single thread, which the caller may not be. The seal's
/// home and agent folder are those of the environment. Takes some milliseconds.
#[must_use]
pub fn probe(program: &Path, options: &SealOptions) -> Probe {
    match try_seal(program, options) {
        Ok(()) => Probe {
            rung: Rung::Overlay,
            why_not_higher: None,
        },
        Err(why) => Probe {
            rung: Rung::Fingerprint,
            why_not_higher: Some(why),
        },
    }
}

fn try_seal(program: &Path, options: &SealOptions) -> Result<(), String> {
    if !cfg!(target_os = "linux") {
        return Err("seals need Linux".to_owned());
    }
    let output = Command::new(program)
        .arg("audit-exec")
        .args(seal_arguments(options))
        .args(["--", "/bin/sh", "-c", ":"])
        .current_dir(&options.workspace)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot run {}: {error}", program.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().next_back().unwrap_or("the seal said nothing");
    Err(line.trim_start_matches("goal-auditor: ").to_owned())
}
