//! `test`: everything that must hold before a commit.

use anyhow::Result;

use crate::{check, counts, project, setup, sim};

/// The seeds of the campaign before a commit, in each profile: the same runs on every machine, half a
/// minute's on two cores.
const CAMPAIGN_SEEDS: &str = "0..15000";

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
    step("instruction counts");
    counts::run(&[])?;
    step("tests");
    // The end-to-end tests run this binary; told so, they need not ask cargo for it, each by itself.
    let binary = project::build_tests()?;
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

/// The simulator still finds every planted defect, and nothing else.
fn simulate() -> Result<()> {
    sim::run(&["canary".to_owned()])?;
    let campaign = ["run", "--seeds", CAMPAIGN_SEEDS, "--profile", "all"];
    sim::run(&campaign.map(str::to_owned))
}

fn step(name: &str) {
    eprintln!("== {name}");
}
