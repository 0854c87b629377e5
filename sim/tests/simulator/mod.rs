//! The simulator as its users start it.

use std::process::{Command, Output};

/// Runs it with these arguments.
#[expect(
    clippy::expect_used,
    reason = "a helper of tests, which the exemption for tests does not reach"
)]
pub(crate) fn simulator(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_goal-sim"))
        .args(arguments)
        .output()
        .expect("the simulator")
}
