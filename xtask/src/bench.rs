//! `bench`: builds what is measured as users get it, and measures.

use anyhow::Result;

use crate::{project, setup};

/// Runs the benches with these arguments; their exit status is ours.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    setup::pi()?;
    let binary = project::build_release()?;
    let mut command = project::cargo();
    command.args(["run", "--quiet", "--release", "--package", "goal-benches"]);
    command.args(["--bin", "goal-bench", "--"]).args(arguments);
    command.env("GOAL_AUDITOR_BIN", binary);
    command.env("GOAL_BENCH_COMMIT", project::commit());
    project::pass_status_on(&mut command)
}
