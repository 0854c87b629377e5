//! `counts`: the instructions of parser, engine and session read, against the committed baseline.

use std::process::Command;

use anyhow::Result;

use crate::project;

/// Counts with these arguments; the exit status is ours. Built like the simulator, whose build is there by
/// then: optimised like what ships, with the engine's own assertions on.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let mut counter = Command::new(project::build_counter()?);
    project::pass_status_on(counter.args(arguments))
}
