//! The corpus of the fuzzers, through the same functions, on any compiler.

#![expect(
    clippy::expect_used,
    reason = "helpers of tests, which the exemption for tests does not reach"
)]

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use goal_fuzz_targets::TARGETS;
use goal_protocol::EventWire;

/// Bytes of one file. A corpus is read by people too; the fuzzers make the long ones themselves.
const FILE_MAX_BYTES: u64 = 16 * 1024;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    files
}

#[test]
fn everything_in_the_corpus_holds() {
    for (name, target) in TARGETS {
        let files = files(&corpus().join(name));
        assert!(!files.is_empty(), "nothing in the corpus of {name}");
        for file in files {
            let bytes = fs::read(&file).expect("a file");
            let held = catch_unwind(AssertUnwindSafe(|| target(&bytes)));
            assert!(held.is_ok(), "{name} does not hold for {}", file.display());
        }
    }
}

/// A field that the wire demands anew would make these lines mean nothing, unseen.
#[test]
fn every_line_that_was_written_by_hand_for_the_wire_is_understood() {
    for file in files(&corpus().join("wire"))
        .iter()
        .filter(|file| !is_found(file))
    {
        for line in fs::read_to_string(file).expect("text").lines() {
            let wait = line.parse::<u64>().is_ok();
            let event = serde_json::from_str::<EventWire>(line);
            assert!(wait || event.is_ok(), "{}: {event:?}", file.display());
        }
    }
}

/// A fuzzer names its files by a hash of 40 digits.
fn is_found(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[test]
fn every_folder_of_the_corpus_has_a_target_and_a_fuzzer_and_its_files_are_small() {
    let targets: BTreeSet<String> = TARGETS.map(|(name, _)| name.to_owned()).into();
    let named = |folder: &Path| -> BTreeSet<String> {
        let stem = |path: &PathBuf| path.file_stem().map(|name| name.display().to_string());
        files(folder).iter().filter_map(stem).collect()
    };
    assert_eq!(named(&corpus()), targets);
    let fuzzers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz_targets");
    assert_eq!(named(&fuzzers), targets);
    for file in targets.iter().flat_map(|name| files(&corpus().join(name))) {
        let bytes = file.metadata().expect("a file").len();
        assert!(
            bytes <= FILE_MAX_BYTES,
            "{} has {bytes} bytes",
            file.display()
        );
    }
}
