//! `demo`: everything a stranger needs to see it work, in one command.

use anyhow::Result;

use crate::{project, setup};

/// Fetches pi, builds what users get, and runs the demonstration (`tests/src/bin/goal-demo.rs`).
pub(crate) fn run() -> Result<()> {
    setup::run()?;
    eprintln!("== building goal-auditor");
    let binary = project::build_release()?;
    eprintln!("== running a goal");
    let mut command = project::cargo();
    command
        .args([
            "run",
            "--quiet",
            "--package",
            "goal-tests",
            "--bin",
            "goal-demo",
        ])
        .env("GOAL_AUDITOR_BIN", binary);
    project::run(&mut command)
}
