//! The scenario files in the simulator: each must come out as it did on the real pi, where what it
//! expects was recorded, and no promise may be broken on the way.

use std::path::{Path, PathBuf};
use std::process::Command;

use goal_sim::play::play;
use goal_sim::scenario::Difference;
use goal_sim::{Scenario, ScenarioError};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios")
}

fn load(name: &str) -> Result<Scenario, ScenarioError> {
    Scenario::load(&folder().join(name).with_extension("toml"))
}

fn differences(scenario: &Scenario) -> Vec<String> {
    match play(scenario) {
        Ok(observed) => {
            let found = scenario.expect.differences(&observed);
            found.iter().map(Difference::to_string).collect()
        }
        Err(stuck) => vec![stuck.to_string()],
    }
}

#[test]
fn every_scenario_comes_out_in_the_simulator_as_on_the_real_pi() {
    let mut names = 0;
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let scenario = Scenario::load(&entry.unwrap().path()).unwrap();
        names += 1;
        let found = differences(&scenario);
        if !found.is_empty() {
            wrong.push(format!("{}:\n    {}", scenario.name, found.join("\n    ")));
        }
    }
    assert!(names > 100, "only {names} scenarios");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_same_scenario_played_twice_tells_the_same_story() {
    let scenario = load("refusals-and-failures-add-up").unwrap();
    assert_eq!(play(&scenario).unwrap(), play(&scenario).unwrap());
}

#[test]
fn a_request_without_a_step_is_told_and_not_taken_for_an_answer() {
    let mut scenario = load("approved-after-a-refusal").unwrap();
    scenario
        .models
        .get_mut("auditor")
        .unwrap()
        .steps
        .truncate(1);
    let stuck = play(&scenario).unwrap_err().to_string();
    assert!(stuck.contains("auditor was asked 2 times"), "{stuck}");
}

#[test]
fn an_action_whose_moment_never_comes_is_told() {
    let mut scenario = load("accepted-by-the-user").unwrap();
    scenario.actions[0].when = Some("check bash 1".parse().unwrap());
    let stuck = play(&scenario).unwrap_err().to_string();
    assert!(stuck.contains("waited for check bash 1"), "{stuck}");
}

#[test]
fn another_expectation_is_a_difference_and_the_status_of_the_command_says_so() {
    let text = std::fs::read_to_string(folder().join("paused-without-progress.toml")).unwrap();
    let other = text.replace("message nudge x2", "message nudge x3");
    assert_ne!(text, other);
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    };
    let files = [
        file("right.toml", &text),
        file("wrong.toml", &other),
        file("broken.toml", "name = 1"),
    ];
    let run = |files: &[PathBuf]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_goal-sim"));
        let output = command.arg("scenario").args(files).output().unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    };
    assert_eq!(run(&files[..1]).0, Some(0));
    let (status, table) = run(&files[..2]);
    assert_eq!(status, Some(1));
    assert!(
        table.contains("message nudge, goal paused no_progress"),
        "{table}"
    );
    assert_eq!(run(&files).0, Some(2));
}
