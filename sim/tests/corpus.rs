//! Recorded runs, again: each must break no promise. Most were found when something was broken.

#![expect(
    clippy::expect_used,
    reason = "helpers of tests, which the exemption for tests does not reach"
)]

use std::path::{Path, PathBuf};

use goal_sim::fixture::Fixture;
use goal_sim::{Options, run};

/// Bytes of one fixture's file: what is larger should be shrunk, or another seed be chosen.
const FILE_MAX_BYTES: u64 = 32 * 1024;

fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the corpus")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    files
}

#[test]
fn every_recorded_run_breaks_no_promise_and_meets_what_it_is_kept_for() {
    let files = fixtures();
    assert!(!files.is_empty(), "no recorded runs");
    for file in files {
        let fixture = Fixture::load(&file).expect("a fixture");
        let (source, profile) = fixture.source().expect("bytes");
        let outcome = run(&source, profile, &Options::default());
        let again = format!("cargo xtask sim replay {}", file.display());
        assert_eq!(outcome.failure, None, "{again}");
        let unmet: Vec<&str> = fixture.unmet(outcome.marks).collect();
        assert!(unmet.is_empty(), "it does not meet {unmet:?}: {again}");
    }
}

#[test]
fn every_recorded_run_is_a_small_file_that_says_why_it_is_kept() {
    for file in fixtures() {
        let fixture = Fixture::load(&file).expect("a fixture");
        assert!(!fixture.about.is_empty(), "{} says nothing", file.display());
        assert!(
            !fixture.meets.is_empty(),
            "{} meets nothing",
            file.display()
        );
        let bytes = file.metadata().expect("a file").len();
        assert!(
            bytes <= FILE_MAX_BYTES,
            "{} has {bytes} bytes",
            file.display()
        );
    }
}
