//! Plays a scenario file on the real pi.

use std::path::PathBuf;

use goal_sim::Scenario;

use crate::{Pi, PiOptions, install};

/// Plays `sim/scenarios/<name>.toml` and compares what came out with what it expects.
pub fn check(name: &str) {
    let file = path(name);
    let scenario = Scenario::load(&file).unwrap_or_else(|error| panic!("{error}"));
    let pi = play(&scenario);
    let session = pi.session();
    let expect = &scenario.expect;
    let outcome = if session.ended() == Some("approved") {
        "approved"
    } else {
        session.phase()
    };
    assert_eq!(outcome, expect.outcome, "the outcome");
    assert_eq!(
        session.pause_reason(),
        expect.pause_reason.as_deref(),
        "the pause reason"
    );
    if let Some(audits) = &expect.audits {
        assert_eq!(&session.audit_outcomes(), audits, "the audits");
    }
    if let Some(continuations) = expect.continuations {
        // The first message of a goal starts it; only the others continue it.
        let sent = session.continuations().len().saturating_sub(1);
        assert_eq!(sent, continuations as usize, "the continuations");
    }
}

/// Starts pi, types the goal, and waits until the loop rests.
pub fn play(scenario: &Scenario) -> Pi {
    let mut options = PiOptions::new(scenario.script());
    for (path, text) in &scenario.files {
        options = options.file(&path.to_string_lossy(), text);
    }
    let pi = Pi::start(options);
    // With `--` an objective may begin with the name of a sub-command.
    let mark = pi.prompt(&format!("/goal -- {}", scenario.objective));
    pi.settled_quiet(mark);
    pi
}

fn path(name: &str) -> PathBuf {
    install::root()
        .join("sim/scenarios")
        .join(name)
        .with_extension("toml")
}
