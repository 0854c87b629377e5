//! The command line: what it says, and how it ends.

#![expect(
    clippy::expect_used,
    reason = "helpers of tests, which the exemption for tests does not reach"
)]

mod simulator;

use std::path::PathBuf;

use goal_sim::plan::Profile;
use simulator::simulator;

const CLEAN: i32 = 0;
const FOUND: i32 = 1;
const USAGE: i32 = 2;
const UNSEEN: i32 = 4;

const TASKS: [&str; 12] = [
    "run", "coverage", "merge", "seed", "replay", "shrink", "record", "diff", "explore", "canary",
    "gate", "scenario",
];

/// Status, what was said, and what was complained about.
fn said(arguments: &[&str]) -> (i32, String, String) {
    let output = simulator(arguments);
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (
        output.status.code().expect("a status"),
        text(output.stdout),
        text(output.stderr),
    )
}

/// A trace of the fuzzers' corpus.
fn trace(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/trace/");
    format!("{folder}{name}")
}

fn in_folder(folder: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
    let file = folder.path().join(name);
    std::fs::write(&file, text).expect("a file");
    file
}

#[test]
fn help_names_every_task_and_what_it_does() {
    let (status, help, _) = said(&["help"]);
    assert_eq!(status, CLEAN);
    for task in TASKS {
        let described = help.lines().any(|line| {
            let mut words = line.split_whitespace();
            words.next() == Some(task) && words.next().is_some()
        });
        assert!(described, "{task} in {help}");
        assert_eq!(said(&[task, "--help"]).0, CLEAN, "{task}");
    }
}

#[test]
fn a_clean_run_ends_with_0_after_seed_commit_and_profile() {
    let (status, run, _) = said(&["seed", "1", "--profile", "calm"]);
    assert_eq!(status, CLEAN, "{run}");
    let first = run.lines().next().unwrap_or_default();
    assert!(first.starts_with("seed 1, commit "), "{first}");
    assert!(first.ends_with(", profile calm"), "{first}");
    assert_eq!(run.lines().last(), Some("clean"));
}

#[test]
fn a_trace_with_other_effects_ends_with_1() {
    let (status, words, _) = said(&["replay", &trace("other-effects")]);
    assert_eq!(status, FOUND, "{words}");
    assert!(words.contains("different"), "{words}");
}

#[test]
fn a_trace_whose_effects_come_again_ends_with_0() {
    let (status, words, _) = said(&["replay", &trace("died")]);
    assert_eq!(status, CLEAN, "{words}");
}

#[test]
fn two_traces_that_differ_end_with_1_and_a_trace_does_not_differ_from_itself() {
    let (one, two) = (trace("recorded-1"), trace("recorded-2"));
    assert_eq!(said(&["diff", &one, &two]).0, FOUND);
    assert_eq!(said(&["diff", &one, &one]).0, CLEAN);
}

#[test]
fn arguments_that_make_no_sense_end_with_2() {
    for arguments in [
        vec!["no-such-task"],
        vec!["run", "--seeds", "9..3"],
        vec!["run", "--seeds", "0..9", "--for", "3s"],
        vec!["run", "--shard", "4/3"],
        vec!["run", "--profile", "furious"],
        vec!["seed"],
        vec!["merge"],
    ] {
        let (status, _, complaint) = said(&arguments);
        assert_eq!(status, USAGE, "{arguments:?}");
        assert!(!complaint.is_empty(), "{arguments:?}");
    }
}

#[test]
fn files_that_cannot_be_read_end_with_2_and_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let half = in_folder(
        &folder,
        "half.toml",
        "profile = \"calm\"\nbytes = [\"0\", \"\", \"\", \"\"]\n",
    );
    let other = in_folder(
        &folder,
        "other.toml",
        "profile = \"furious\"\nbytes = [\"\", \"\", \"\", \"\"]\n",
    );
    let words = in_folder(&folder, "words.txt", "no trace\n");
    let none = folder.path().join("none.toml");
    for (file, why) in [
        (&half, "stream 0"),
        (&other, "furious"),
        (&words, "words.txt"),
        (&none, "none.toml"),
    ] {
        let (status, _, complaint) = said(&["replay", &file.display().to_string()]);
        assert_eq!(status, USAGE, "{complaint}");
        assert!(complaint.contains(why), "{complaint}");
    }
}

#[test]
fn reports_of_different_profiles_are_not_added_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = |profile| {
        let (_, report, _) = said(&[
            "run",
            "--seeds",
            "0..2",
            "--profile",
            profile,
            "--format",
            "json",
        ]);
        let file = in_folder(&folder, &format!("{profile}.json"), &report);
        file.display().to_string()
    };
    let (status, _, complaint) = said(&["merge", &report("calm"), &report("weak")]);
    assert_eq!(status, USAGE);
    assert!(complaint.contains("profile weak"), "{complaint}");
}

#[test]
fn a_campaign_that_missed_a_situation_ends_with_4_unless_it_may() {
    let short = ["run", "--seeds", "0..2", "--profile", "calm"];
    let (status, words, _) = said(&short);
    assert_eq!(status, UNSEEN, "{words}");
    assert!(words.contains("not met"), "{words}");
    let allowed = [&short[..], &["--allow-unseen"]].concat();
    assert_eq!(said(&allowed).0, CLEAN);
}

#[test]
fn reports_for_machines_are_json() {
    for arguments in [
        vec!["run", "--seeds", "0..2", "--allow-unseen"],
        vec!["coverage", "--seeds", "0..2", "--allow-unseen"],
        vec!["explore", "--depth", "2"],
    ] {
        let (status, report, _) = said(&[&arguments[..], &["--format", "json"]].concat());
        assert_eq!(status, CLEAN, "{arguments:?}");
        let read = serde_json::from_str::<serde_json::Value>(&report);
        assert!(
            read.is_ok_and(|read| read.is_object()),
            "{arguments:?} {report}"
        );
    }
}

#[test]
fn nothing_is_shrunk_where_nothing_is_broken() {
    let (status, words, _) = said(&["shrink", "1", "--profile", "calm"]);
    assert_eq!(status, USAGE);
    assert!(words.contains("breaks nothing"), "{words}");
}

#[test]
fn a_run_that_was_recorded_is_the_same_run_when_it_is_replayed() {
    let folder = tempfile::tempdir().expect("a folder");
    for profile in Profile::ALL {
        let file = folder.path().join(format!("{}.toml", profile.name()));
        let file = file.display().to_string();
        let seed = ["5", "--profile", profile.name()];
        let record = [
            &["record"][..],
            &seed[..],
            &["--about", "why", "--out", &file],
        ]
        .concat();
        let (status, words, _) = said(&record);
        assert_eq!(status, CLEAN, "{words}");
        let hash = |words: &str| {
            let hash = words.lines().find_map(|line| line.strip_prefix("trace "));
            hash.expect("a hash").to_owned()
        };
        let (_, first, _) = said(&[&["seed"][..], &seed[..]].concat());
        let (_, again, _) = said(&["replay", &file]);
        assert_eq!(hash(&first), hash(&again), "{}", profile.name());
        assert!(again.contains("about: why"), "{again}");
    }
}

#[cfg(not(feature = "canary"))]
#[test]
fn no_defect_can_be_planted_in_a_build_without_them() {
    for arguments in [
        vec!["seed", "1", "--canary", "hollow-approval"],
        vec!["canary"],
        vec!["gate"],
    ] {
        let (status, _, complaint) = said(&arguments);
        assert_eq!(status, USAGE, "{arguments:?}");
        assert!(complaint.contains("this build has no"), "{complaint}");
    }
}
