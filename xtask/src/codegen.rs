//! `codegen`: the TypeScript side of the wire.

use anyhow::Result;

use crate::project;

/// Lets the test that compares the committed file write it instead.
pub(crate) fn run() -> Result<()> {
    let mut command = project::cargo();
    command
        .args([
            "test",
            "--quiet",
            "--package",
            "goal-protocol",
            "--test",
            "typescript",
        ])
        .env("GOAL_AUDITOR_CODEGEN", "1");
    project::run(&mut command)
}
