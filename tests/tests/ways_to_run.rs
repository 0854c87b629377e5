//! The shortest goal there is, installed as users install it, and headless.

use goal_tests::{Loading, Pi, PiOptions, Reply, Script, World};
use serde_json::json;

const GOAL: &str = "/goal Create greeting.txt that says hello";

/// An executor that does the work and claims it, an auditor that looks and approves.
fn honest_work() -> Script {
    let claim = json!({ "status": "complete", "completionSummary": "greeting.txt is there" });
    Script::new()
        .executor([
            Reply::call("bash", json!({ "command": "printf hello > greeting.txt" })),
            Reply::call("update_goal", claim),
            Reply::text("Done."),
        ])
        .auditor([
            Reply::call("bash", json!({ "command": "cat greeting.txt" })),
            Reply::text("It says hello.\n\n<approved/>"),
        ])
}

#[test]
fn the_installed_extension_finds_its_binary_and_leaves_no_process_when_pi_is_killed() {
    let mut pi = Pi::start(PiOptions::new(honest_work()).loading(Loading::Installed));
    let mark = pi.prompt(GOAL);
    pi.settled_quiet(mark);
    assert_eq!(pi.session().ended(), Some("approved"));
    pi.kill();
    pi.world().assert_no_process_left();
}

#[test]
fn a_headless_goal_ends_with_status_0_when_approved() {
    let world = World::new(PiOptions::new(honest_work()));
    let finished = world.headless(&["-p", GOAL]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(world.session().ended(), Some("approved"));
    world.assert_no_process_left();
}
