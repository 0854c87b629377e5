//! The same seed gives the same run: in one process, in another, on more threads, and in parts.

#![expect(
    clippy::expect_used,
    reason = "helpers of tests, which the exemption for tests does not reach"
)]

mod simulator;

use std::path::Path;

use goal_sim::campaign::{Campaign, Tally, campaign};
use goal_sim::entropy::Source;
use goal_sim::plan::Profile;
use goal_sim::{Options, run};
use serde_json::Value;
use simulator::simulator;

/// Seeds of each profile that are run again.
const AGAIN: u64 = 12;
/// More than one thread takes at a time, so that two of them share a campaign.
const SHARED: u64 = 300;
/// Seeds that are run in parts.
const PARTED: u64 = 50;

fn hash(source: &Source, profile: Profile) -> String {
    let traced = Options {
        trace: true,
        ..Options::default()
    };
    let trace = run(source, profile, &traced).trace;
    trace.expect("a trace").hash()
}

fn said(arguments: &[&str]) -> String {
    String::from_utf8(simulator(arguments).stdout).expect("text")
}

#[test]
fn a_seed_gives_the_same_trace_twice_in_a_process_and_from_the_bytes_it_drew() {
    for profile in Profile::ALL {
        for seed in 0..AGAIN {
            let first = hash(&Source::Seed(seed), profile);
            assert_eq!(first, hash(&Source::Seed(seed), profile), "seed {seed}");
            let drawn = run(&Source::Seed(seed), profile, &Options::default()).drawn;
            assert_eq!(first, hash(&Source::Bytes(drawn), profile), "seed {seed}");
        }
    }
}

#[test]
fn a_seed_gives_the_same_trace_in_a_process_of_its_own() {
    for profile in Profile::ALL {
        for seed in 0..3 {
            let here = hash(&Source::Seed(seed), profile);
            let there = said(&["seed", &seed.to_string(), "--profile", profile.name()]);
            let said = there.lines().find_map(|line| line.strip_prefix("trace "));
            assert_eq!(said, Some(here.as_str()), "seed {seed}");
        }
    }
}

#[test]
fn different_seeds_give_different_traces() {
    let hashes: Vec<String> = (0..AGAIN)
        .map(|seed| hash(&Source::Seed(seed), Profile::Swarm))
        .collect();
    let mut different = hashes.clone();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), hashes.len());
}

#[test]
fn a_campaign_comes_to_the_same_on_one_thread_and_on_two() {
    assert_eq!(on_threads(1), on_threads(2));
}

fn on_threads(jobs: usize) -> Tally {
    campaign(
        &Campaign {
            profile: Profile::Swarm,
            from: 0,
            to: SHARED,
            jobs,
            first_only: false,
            options: Options::default(),
        },
        &|_| true,
    )
}

#[test]
fn the_reports_of_the_parts_of_a_campaign_add_up_to_the_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let seeds = format!("0..{PARTED}");
    let campaign = ["run", "--format", "json", "--allow-unseen", "--seeds"];
    let whole = said(&[&campaign[..], &[&seeds]].concat());
    let files: Vec<String> = (1..=3)
        .map(|part| {
            let shard = format!("{part}/3");
            let report = said(&[&campaign[..], &[&seeds, "--shard", &shard]].concat());
            write(folder.path(), part, &report)
        })
        .collect();
    let mut merge = vec!["merge", "--format", "json"];
    merge.extend(files.iter().map(String::as_str));
    let merged = said(&merge);
    for part in ["/counts", "/met", "/seen", "/failures", "/profile"] {
        assert_eq!(at(&merged, part), at(&whole, part), "{part}");
    }
    assert_eq!(at(&merged, "/counts/runs"), PARTED);
}

fn write(folder: &Path, part: u64, report: &str) -> String {
    let file = folder.join(format!("{part}.json"));
    std::fs::write(&file, report).expect("a file");
    file.display().to_string()
}

fn at(report: &str, pointer: &str) -> Value {
    let report: Value = serde_json::from_str(report).expect("JSON");
    report.pointer(pointer).cloned().expect("a part")
}
