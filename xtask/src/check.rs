//! `fmt` and `lint`.

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
    let clippy = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--quiet",
        "--",
        "-D",
        "warnings",
    ];
    project::run(project::cargo().args(clippy))?;
    setup::run()?;
    let mut types = project::node();
    types
        .args(["node_modules/typescript/bin/tsc", "--project"])
        .arg(project::extension_folder());
    project::run(&mut types)
}
