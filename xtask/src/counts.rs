//! `counts`: the instructions of parser, engine and session read, against the committed baseline.

use anyhow::Result;

use crate::project;

/// Counts with these arguments; the exit status is ours. Built like the simulator, whose build is there by
/// then: optimised like what ships, with the engine's own assertions on.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let mut command = project::cargo();
    command.args(["run", "--quiet", "--profile", "sim"]);
    command.args(["--package", "goal-bench-cases", "--bin", "goal-count", "--"]);
    command.args(arguments);
    project::pass_status_on(&mut command)
}
