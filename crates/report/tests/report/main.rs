//! What a report tells of recorded, torn, hostile and very long sessions.
//!
//! The files in `fixtures/` were written by the real pi (`cargo run -p goal-tests --bin
//! goal-sessions`); where a situation is rare, `tape` writes the entries pi would write.
#![expect(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "helpers of tests: they fail by panicking, and callers write `json!({…})` in place"
)]

mod files;
mod hostile;
mod recorded;
mod situations;
mod size;
mod tape;

use std::path::Path;

use goal_report::{Report, ReportError};

/// A session file that the real pi wrote.
fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    std::fs::read_to_string(folder.join(name).with_extension("jsonl")).unwrap()
}

/// Reads a session from a text.
fn read(text: &str) -> Result<Report, ReportError> {
    goal_report::read_lines(Path::new("session.jsonl"), text.as_bytes(), None)
}

/// Reads a session that has a goal.
fn report(text: &str) -> Report {
    read(text).unwrap()
}
