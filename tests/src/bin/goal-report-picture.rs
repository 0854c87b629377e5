//! Makes the picture of `docs/report.md`: a report of a recorded session in headless Chromium.
//!
//! `cargo xtask screens` writes `docs/images/report.png` anew with it. It needs Chromium on PATH, which
//! no test does; without one it says so and leaves the picture as it is. Look at it.
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

/// The names under which systems have it.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

fn main() {
    let Some(browser) = BROWSERS.into_iter().find(|name| starts(name)) else {
        eprintln!(
            "docs/images/report.png was left as it is: its picture is taken with Chromium, and none of {} \
             is on PATH (`apt-get install chromium`, or the like)",
            BROWSERS.join(", ")
        );
        return;
    };
    let folder = tempfile::tempdir().expect("a temp dir");
    let page = folder.path().join("report.html");
    let session = install::root().join("crates/report/tests/fixtures/mended.jsonl");
    let mut report = Command::new(install::binary());
    run(report.arg("report").arg(session).arg("--output").arg(&page));
    let picture = install::root().join("docs/images/report.png");
    shoot(browser, &page, &picture, &folder.path().join("profile"));
    println!("{}", picture.display());
}

fn starts(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output();
    found.is_ok_and(|output| output.status.success())
}

fn shoot(browser: &str, page: &Path, picture: &Path, profile: &Path) {
    let mut chromium = Command::new(browser);
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
