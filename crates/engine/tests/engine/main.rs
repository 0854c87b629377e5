//! The goal loop from the outside: events in, effects out, on a fake host with a clock of its own.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests, which the exemption for tests does not reach"
)]

mod audits;
mod back_off;
#[cfg(feature = "canary")]
mod canaries;
mod commands;
mod compaction;
mod crossing;
mod in_run;
mod offers;
mod random;
mod rig;
mod sessions;
mod settle;
mod steer;
