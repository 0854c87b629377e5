//! Settings on the real pi: what is wrong with them is said once, and early.

use goal_tests::{Pi, PiOptions, Reply, Script, World};

fn options(config: &str) -> PiOptions {
    PiOptions::new(Script::new().executor(Reply::text("ok"))).config_text(config)
}

#[test]
fn a_faulty_setting_is_told_once_at_session_start_with_its_place() {
    let pi = Pi::start(options("{\"timeOutMs\": 1000,\n \"maxAudits\": -1}"));
    let mark = pi.prompt("hello");
    pi.settled_quiet(mark);

    let told: Vec<String> = pi.notices().into_iter().map(|notice| notice.text).collect();
    let told: Vec<&String> = told
        .iter()
        .filter(|text| text.contains("settings"))
        .collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("timeOutMs") && told[0].contains("timeoutMs"),
        "{}",
        told[0]
    );
    assert!(told[0].contains("goal-auditor.json:2:15"), "{}", told[0]);
}

#[test]
fn a_faulty_setting_goes_to_stderr_when_headless_and_pi_answers_all_the_same() {
    let world = World::new(options("{ // cheap\n \"model\": \"x\" }"));
    let finished = world.headless(&["-p", "hello"]);

    assert_eq!(finished.code, Some(0));
    assert_eq!(finished.stdout.trim(), "ok");
    assert!(
        finished.stderr.contains("goal-auditor.json:1:3"),
        "{}",
        finished.stderr
    );
}

#[test]
fn settings_that_are_fine_say_nothing() {
    let pi = Pi::start(options("{\"provider\":\"sim\",\"model\":\"auditor\"}"));
    let mark = pi.prompt("hello");
    pi.settled_quiet(mark);
    assert!(pi.notices().is_empty(), "{:?}", pi.notices());
}
