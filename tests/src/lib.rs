//! The harness of the end-to-end tests: the real pi 1.6.0, driven from plain blocking Rust.
//!
//! Start with [`PiOptions`] (what this pi is like) and [`Pi::start`] (pi in RPC mode). A [`World`]
//! is the throw-away home, agent folder, workspace and model server that a test's pi processes
//! share; [`World::headless`] runs `pi -p` and `--mode json` in it, [`World::tui`] a real terminal.
//!
//! Nothing here sleeps for a fixed time and hopes: every wait has a condition and a limit
//! ([`patience`]). When a test panics, each pi prints what happened to it ([`report`]).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "test support: it fails by panicking, and it lives in real time"
)]

pub mod draft;
pub mod goal;
pub mod headless;
pub mod install;
pub mod log;
pub mod moment;
pub mod options;
pub mod pi;
pub mod process;
pub mod registry;
mod report;
pub mod scenario;
pub mod session;
pub mod tui;
pub mod ui;
pub mod world;

use std::time::{Duration, Instant};

pub use draft::Draft;
pub use goal::each_run;
pub use goal_sim::{AUDITOR, EXECUTOR, ModelServer, Reply, Request, Script, Steps};
pub use headless::Finished;
pub use log::{Log, Mark};
pub use moment::Moment;
pub use options::{Binary, Loading, PiOptions};
pub use pi::Pi;
pub use registry::Registry;
pub use session::Session;
pub use tui::Tui;
pub use ui::{Dialogs, Notice};
pub use world::World;

/// How long a wait may take. Generous, because it is only ever used up by a failure; set
/// `GOAL_TEST_PATIENCE_S` on a slow machine.
pub fn patience() -> Duration {
    let seconds = std::env::var("GOAL_TEST_PATIENCE_S")
        .ok()
        .and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(20))
}

/// Asks `find` every few milliseconds until it finds something; `None` when the limit is over.
/// For what announces itself by no event: files, processes, screens.
pub fn poll<T>(limit: Duration, mut find: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(found) = find() {
            return Some(found);
        }
        if Instant::now() >= deadline {
            return None;
        }
        std::thread::sleep(Duration::from_millis(15));
    }
}
