//! Seals, tried on this machine: what must not get out (`hostile`), what must work inside
//! (`inside`), and that a seal is gone on every path (`life`).
//!
//! Where the probe says that no seal can be made, each test asserts instead that nothing runs.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "helpers of tests fail by panicking, and wait for real processes"
)]

mod attempts;
mod hostile;
mod inside;
mod life;
mod world;
