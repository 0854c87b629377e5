//! Commands that cross what an earlier one started: a client that does not wait for answers.

use goal_tests::moment::work;
use goal_tests::pi::QUIET;
use goal_tests::{EXECUTOR, Pi, PiOptions, Reply, Script, Steps};
use serde_json::json;

/// Two commands in one breath.
fn both(pi: &Pi, first: &str, second: &str) {
    for text in [first, second] {
        pi.send(&json!({ "type": "prompt", "message": text }));
    }
}

#[test]
fn a_stop_that_crosses_the_start_ends_the_run_that_is_about_to_begin() {
    let pi = Pi::start(PiOptions::new(Script::new()));
    for (stop, notice) in [("pause", "Goal paused"), ("clear", "Goal cleared")] {
        for round in 0..3 {
            pi.new_session();
            let steps = Steps::of((0..6).map(|_| work())).then_repeat(Reply::text("hm"));
            pi.server().set(EXECUTOR, steps);
            let before = pi.server().requests_of(EXECUTOR).len();
            let mark = pi.mark();
            both(&pi, "/goal Write a poem", &format!("/goal {stop}"));
            pi.wait_notice(mark, notice);
            pi.quiet(QUIET);
            let requests = pi.server().requests_of(EXECUTOR).len() - before;
            assert!(requests <= 1, "{stop}, round {round}: {requests} requests");
        }
    }
}
