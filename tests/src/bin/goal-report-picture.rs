//! Makes the picture of `docs/report.md`: a report of a recorded session in headless Chromium.
//!
//! `cargo run -p goal-tests --bin goal-report-picture` writes `docs/images/report.png` anew. It needs
//! `chromium` on PATH, which no test does. Look at it.
#![allow(
    clippy::expect_used,
    reason = "a tool of this repository: it fails by saying why"
)]

use std::path::Path;
use std::process::Command;

use goal_tests::install;

/// Width and height of the window.
const WINDOW: &str = "--window-size=1000,1290";

/// Nothing of Chromium's own, and no network.
const QUIET: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    WINDOW,
];

fn main() {
    let folder = tempfile::tempdir().expect("a temp dir");
    let page = folder.path().join("report.html");
    let session = install::root().join("crates/report/tests/fixtures/mended.jsonl");
    let mut report = Command::new(install::binary());
    run(report.arg("report").arg(session).arg("--output").arg(&page));
    let picture = install::root().join("docs/images/report.png");
    shoot(&page, &picture, &folder.path().join("profile"));
    println!("{}", picture.display());
}

fn shoot(page: &Path, picture: &Path, profile: &Path) {
    let mut chromium = Command::new("chromium");
    chromium
        .args(QUIET)
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("--screenshot={}", picture.display()))
        .arg(format!("file://{}", page.display()));
    run(&mut chromium);
}

fn run(command: &mut Command) {
    let output = command.output().expect("the program is on PATH");
    assert!(
        output.status.success(),
        "{command:?} failed:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
