//! `test`: everything that must hold before a commit.

use anyhow::Result;

use crate::{check, project, setup, sim};

/// How long the campaign before a commit goes on, all profiles together.
const CAMPAIGN_TIME: &str = "60s";

/// Runs the task. What the test runners print last stays the last thing printed.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    step("set-up");
    setup::run()?;
    step("format");
    check::format(true)?;
    step("lints and types");
    check::lint()?;
    step("what the terminal shows");
    check::terminal()?;
    step("planted defects");
    canaries()?;
    step("the simulator");
    simulate()?;
    step("tests");
    // The end-to-end tests run this binary; told so, they need not ask cargo for it, each by itself.
    let binary = project::build_debug()?;
    let mut command = project::cargo();
    command
        .args(["test", "--workspace"])
        .args(arguments)
        .env("GOAL_AUDITOR_BIN", binary);
    project::run(&mut command)
}

/// Each defect that can be planted in the engine shows: a feature of its own, so a build of its own.
fn canaries() -> Result<()> {
    let mut command = project::cargo();
    command.args(["test", "--quiet", "--package", "goal-engine"]);
    command.args(["--features", "canary", "--test", "engine", "canaries"]);
    project::run(&mut command)
}

/// The simulator still finds every planted defect, and nothing else for a minute.
fn simulate() -> Result<()> {
    sim::run(&["canary".to_owned()])?;
    let campaign = ["run", "--for", CAMPAIGN_TIME, "--profile", "all"];
    sim::run(&campaign.map(str::to_owned))
}

fn step(name: &str) {
    eprintln!("== {name}");
}
