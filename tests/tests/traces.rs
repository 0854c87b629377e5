//! Traces of the real pi. Every test of this folder replays its own when its world ends; here is what
//! that rests on.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use goal_tests::moment::{approval, claim, work};
use goal_tests::{AUDITOR, EXECUTOR, Moment, Pi, Reply, Steps, World};

/// A world in which a goal was completed, and whose pi has ended.
fn completed() -> Arc<World> {
    let mut pi = Pi::start(Moment::options());
    let steps = [work(), claim(), Reply::text("That was it.")];
    pi.server().set(EXECUTOR, steps);
    pi.server().set(AUDITOR, Steps::of(approval()));
    let mark = pi.prompt("/goal Write a poem");
    pi.wait_notice(mark, "Goal complete");
    pi.settled_quiet(mark);
    pi.close();
    Arc::clone(pi.world())
}

#[test]
fn a_pi_that_only_traces_starts_no_core_before_there_is_something_to_trace() {
    let pi = Pi::start(Moment::options().no_config());
    assert!(pi.sidecars().is_empty());
    let asked = pi.prompt("/goal");
    pi.wait_notice(asked, "No goal is set");
    assert_eq!(pi.sidecars().len(), 1);
}

#[test]
fn a_goal_is_in_the_trace_from_its_command_to_its_approval() {
    let world = completed();
    let [trace] = world.traces().try_into().expect("one core");
    let text = fs::read_to_string(trace).expect("a file");
    for part in [
        "\"text\":\"Write a poem\"",
        "\"open_auditor\"",
        "<approved/>",
        "\"ended\":\"approved\"",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_trace_that_is_not_replayed_to_the_same_effects_fails_its_test() {
    let world = completed();
    let [trace] = world.traces().try_into().expect("one core");
    let text = fs::read_to_string(&trace).expect("a file");
    let other = text.replace("\"ended\":\"approved\"", "\"ended\":\"cleared\"");
    assert_ne!(text, other);
    fs::write(trace, other).expect("written");
    let ended = catch_unwind(AssertUnwindSafe(|| drop(world)));
    let why = ended.expect_err("the world complains");
    let why = why.downcast_ref::<String>().expect("a text");
    assert!(
        why.contains("other effects") && why.contains("\"ended\":\"cleared\""),
        "{why}"
    );
}
