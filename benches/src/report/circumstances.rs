//! What figures depend on: the command, the commit, the day, the machine, the versions.

use std::process::Command;
use std::time::SystemTime;

use crate::measure::{Unit, as_f64};

/// How a report came to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circumstances {
    /// What to type for the same report.
    pub command: String,
    commit: String,
    day: String,
    machine: String,
    compiler: String,
}

impl Circumstances {
    /// Those of this run. The commit is what the environment's `GOAL_BENCH_COMMIT` says.
    #[must_use]
    pub fn look(command: String) -> Self {
        let commit = std::env::var("GOAL_BENCH_COMMIT");
        Self {
            command,
            commit: commit.unwrap_or_else(|_| "unknown".to_owned()),
            day: today(),
            machine: machine(),
            compiler: version_of("rustc").unwrap_or_else(|| "rustc of unknown version".to_owned()),
        }
    }

    /// As the head of a block of the page.
    #[must_use]
    pub fn markdown(&self, versions: &[(String, String)]) -> String {
        let versions = versions
            .iter()
            .map(|(program, version)| format!("{program} {version}"));
        let versions: Vec<String> = std::iter::once(self.compiler.clone())
            .chain(versions)
            .collect();
        format!(
            "Measured by `{}` on {} at commit {}: {}; {}.",
            self.command,
            self.day,
            self.commit,
            self.machine,
            versions.join(", ")
        )
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a report names the day it was made"
)]
fn today() -> String {
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    now.chars().take("2026-01-01".len()).collect()
}

fn machine() -> String {
    let name = sysinfo::System::long_os_version();
    let name = name.unwrap_or_else(|_| std::env::consts::OS.to_owned());
    let kernel = sysinfo::System::kernel_version();
    let kernel = kernel.map_or_else(|_| String::new(), |kernel| format!(", kernel {kernel}"));
    let hardware = hardware().unwrap_or_else(|| "unknown hardware".to_owned());
    format!("{hardware}, {}, {name}{kernel}", std::env::consts::ARCH)
}

/// Processor, cores and memory.
fn hardware() -> Option<String> {
    let mut system = sysinfo::System::new().ok()?;
    system.refresh_memory();
    system.refresh_cpu_all();
    let cores = system.cpus().len();
    let model = system.cpus().first()?.brand().trim();
    let memory = usize::try_from(system.total_memory()).ok()?;
    let memory = Unit::Bytes.show(as_f64(memory));
    Some(format!("{cores} cores of {model}, {memory}"))
}

/// The first two words of what a program says of its version.
fn version_of(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let words: Vec<&str> = text.split_whitespace().take(2).collect();
    (!words.is_empty()).then(|| words.join(" "))
}
