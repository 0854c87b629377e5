//! `fmt`, `lint` and the tests of the extension's drawing.

use anyhow::Result;

use crate::{project, setup};

/// Formats the Rust code, or only says what is not formatted.
pub(crate) fn format(check: bool) -> Result<()> {
    let mut command = project::cargo();
    command.args(["fmt", "--all"]);
    if check {
        command.arg("--check");
    }
    project::run(&mut command)
}

/// Runs clippy and the TypeScript compiler; a warning is a failure.
pub(crate) fn lint() -> Result<()> {
    clippy(&["--workspace"])?;
    clippy(&["--package", "goal-engine", "--features", "canary"])?;
    setup::pi()?;
    let mut types = project::node();
    types
        .args(["node_modules/typescript/bin/tsc", "--project"])
        .arg(project::extension_folder());
    project::run(&mut types)
}

fn clippy(what: &[&str]) -> Result<()> {
    let mut command = project::cargo();
    command.arg("clippy").args(what);
    command.args(["--all-targets", "--quiet", "--", "-D", "warnings"]);
    project::run(&mut command)
}

/// Runs the extension's own tests, on the pinned Node.
pub(crate) fn terminal() -> Result<()> {
    let mut tests = project::node();
    tests.args(["--import", "./resolve.mjs", "--test"]);
    tests.args(
        ["events.test.ts", "session.test.ts", "ui.test.ts"]
            .map(|file| project::extension_folder().join(file)),
    );
    project::run(&mut tests)
}
