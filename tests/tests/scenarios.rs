//! The scenario files, played on the real pi.

use goal_tests::scenario::check;

#[test]
fn approved_after_a_refusal() {
    check("approved-after-a-refusal");
}

#[test]
fn paused_without_progress() {
    check("paused-without-progress");
}
