//! The commands a person types, on the built binary.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which the exemption for tests does not reach"
)]

#[cfg(unix)]
mod doctor;
mod replay;
mod report;
mod settings;
mod verdict;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The binary, with these arguments.
fn goal_auditor(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_goal-auditor"));
    command.args(arguments);
    command
}

/// What it said, and its exit status.
struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Runs it to its end.
fn run(arguments: &[&str]) -> Said {
    goal_auditor(arguments).output().unwrap().into()
}

/// A session file that the real pi wrote.
fn session(name: &str) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/tests/fixtures");
    text(&fixtures.join(name).with_extension("jsonl"))
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// A file in a folder, with this text.
fn file(folder: &Path, name: &str, content: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, content).unwrap();
    path
}
