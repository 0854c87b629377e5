//! `goal-auditor doctor` where the real pi, its Node and an installed extension are.

use std::process::Command;

use goal_tests::{Loading, PiOptions, Script, World, install};
use serde_json::Value;

#[test]
fn an_installed_extension_with_the_real_pi_has_no_problem() {
    let world = World::new(PiOptions::new(Script::new()).loading(Loading::Installed));
    let programs = install::root().join("tests/pi/node_modules/.bin");
    let inherited = std::env::var("PATH").unwrap();
    let output = Command::new(install::binary())
        .args(["doctor", "--json", "--agent-dir"])
        .arg(world.agent_dir())
        .current_dir(world.workspace())
        .env("PATH", format!("{}:{inherited}", programs.display()))
        .env_remove("GOAL_AUDITOR_BIN")
        .output()
        .unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(output.status.success(), "{said:#}");
    let checks = said["checks"].as_array().unwrap();
    let found = |name: &str| {
        let check = checks.iter().find(|check| check["name"] == name).unwrap();
        let (status, found) = (&check["status"], &check["found"]);
        format!("{} {}", status.as_str().unwrap(), found.as_str().unwrap())
    };
    assert!(found("pi").starts_with("ok 1.6.0 · "), "{said:#}");
    assert!(found("node").starts_with("ok 22."), "{said:#}");
    assert!(found("shim").starts_with("ok installed · "), "{said:#}");
    assert!(
        found("auditor").starts_with("ok sim/auditor (file:"),
        "{said:#}"
    );
    assert!(found("sessions").starts_with("ok "), "{said:#}");
}
