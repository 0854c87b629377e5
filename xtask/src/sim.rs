//! `sim`: the simulator, built as fast as what ships.

use anyhow::Result;

use crate::project;

/// Tasks that plant defects, or switch guards off. Others do where `--canary` is given.
const PLANTING: [&str; 2] = ["canary", "gate"];

/// Runs the simulator with these arguments; its exit status is ours.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if let Some(files) = on_pi(arguments) {
        return on_the_real_pi(&files);
    }
    let mut command = project::cargo();
    command.args([
        "run",
        "--quiet",
        "--profile",
        "sim",
        "--package",
        "goal-sim",
    ]);
    if plants(arguments) {
        command.args(["--features", "canary"]);
    }
    command.args(["--bin", "goal-sim", "--"]).args(arguments);
    command.env("GOAL_SIM_COMMIT", project::commit());
    project::pass_status_on(&mut command)
}

/// Whether the build must have the defects in it.
fn plants(arguments: &[String]) -> bool {
    let by_task = arguments
        .first()
        .is_some_and(|task| PLANTING.contains(&task.as_str()));
    let by_option = |word: &String| word == "--canary" || word.starts_with("--canary=");
    by_task || arguments.iter().any(by_option)
}

/// The files of `scenario … --host pi`.
fn on_pi(arguments: &[String]) -> Option<Vec<String>> {
    let scenario = arguments.first()? == "scenario";
    let mut files = arguments[1..].to_vec();
    let at = files
        .iter()
        .position(|word| word == "--host=pi")
        .map(|at| (at, 1));
    let pair = files.windows(2).position(|pair| pair == ["--host", "pi"]);
    let (at, words) = at.or_else(|| pair.map(|at| (at, 2)))?;
    files.drain(at..at + words);
    scenario.then_some(files)
}

fn on_the_real_pi(files: &[String]) -> Result<()> {
    crate::setup::pi()?;
    let mut command = project::cargo();
    command.args(["run", "--quiet", "--package", "goal-tests"]);
    command.args(["--bin", "goal-scenario", "--"]).args(files);
    project::pass_status_on(&mut command)
}
