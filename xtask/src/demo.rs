//! `demo` and `screens`: everything a stranger needs to see it work.

use std::path::Path;

use anyhow::Result;

use crate::{project, setup};

/// Fetches pi, builds what users get, and runs the demonstration (`tests/src/bin/goal-demo.rs`).
pub(crate) fn run() -> Result<()> {
    setup::pi()?;
    eprintln!("== building goal-auditor");
    let binary = project::build_release()?;
    eprintln!("== running a goal");
    run_tool("goal-demo", &binary)
}

/// Makes the pictures of the documentation anew (`tests/src/bin/goal-screens.rs` and
/// `goal-report-picture.rs`).
pub(crate) fn screens() -> Result<()> {
    setup::pi()?;
    let binary = project::build_debug()?;
    run_tool("goal-screens", &binary)?;
    run_tool("goal-report-picture", &binary)
}

fn run_tool(name: &str, binary: &Path) -> Result<()> {
    let mut command = project::cargo();
    command
        .args(["run", "--quiet", "--package", "goal-tests", "--bin", name])
        .env("GOAL_AUDITOR_BIN", binary);
    project::run(&mut command)
}
