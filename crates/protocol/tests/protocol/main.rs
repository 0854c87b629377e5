//! The wire and the saved formats from the outside.
#![expect(
    clippy::expect_used,
    reason = "helpers of tests, which the exemption for tests does not reach"
)]

mod branch;
mod lines;
mod properties;
mod trace;
