//! One run: by seed, by fixture, from a trace; and made small.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use goal_sim::entropy::Source;
use goal_sim::fixture::Fixture;
use goal_sim::plan::Profile;
use goal_sim::{Options, Outcome, run, shrink};

use crate::args::{File, Seed, Shrink};
use crate::report::commit;
use crate::{Status, traces};

pub(crate) fn seed(options: &Seed) -> Result<Status> {
    anstream::println!(
        "seed {}, commit {}, profile {}",
        options.seed,
        commit(),
        options.profile.name()
    );
    let outcome = traced(&Source::Seed(options.seed), options.profile);
    Ok(show(&outcome, options.full))
}

pub(crate) fn replay(options: &File) -> Result<Status> {
    let file = &options.file;
    if file.extension().is_none_or(|ending| ending != "toml") {
        return traces::replay(file);
    }
    let fixture = load(file)?;
    let (source, profile) = fixture.source()?;
    anstream::println!(
        "{}, commit {}, profile {}",
        file.display(),
        commit(),
        profile.name()
    );
    Ok(show(&traced(&source, profile), options.full))
}

fn load(file: &Path) -> Result<Fixture> {
    Fixture::load(file).with_context(|| format!("{} is no fixture", file.display()))
}

fn traced(source: &Source, profile: Profile) -> Outcome {
    let options = Options {
        trace: true,
        ..Options::default()
    };
    run(source, profile, &options)
}

fn show(outcome: &Outcome, full: bool) -> Status {
    if let Some(trace) = &outcome.trace {
        if full {
            trace
                .lines()
                .iter()
                .for_each(|line| anstream::println!("{line}"));
        } else {
            trace.shown().for_each(|line| anstream::println!("{line}"));
        }
        anstream::println!("trace {}", trace.hash());
    }
    match &outcome.failure {
        Some(failure) => {
            anstream::println!("\u{1b}[31mfailed\u{1b}[0m {}", failure.fingerprint());
            Status::Found
        }
        None => {
            anstream::println!("\u{1b}[32mclean\u{1b}[0m");
            Status::Clean
        }
    }
}

pub(crate) fn shrink(options: &Shrink) -> Result<Status> {
    let seed: Option<u64> = options.what.parse().ok();
    let (source, profile, name) = match seed {
        Some(seed) => (Source::Seed(seed), options.profile, seed.to_string()),
        None => {
            let file = PathBuf::from(&options.what);
            let (source, profile) = load(&file)?.source()?;
            let stem = file.file_stem().unwrap_or_default().to_string_lossy();
            (source, profile, stem.into_owned())
        }
    };
    let Some((shrunk, broke)) = shrink::shrink(&source, profile, &Options::default()) else {
        anstream::println!("that run breaks nothing: there is nothing to shrink");
        return Ok(Status::Usage);
    };
    let checker = broke.split(':').next().unwrap_or("failure").to_lowercase();
    let out = options
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("sim/corpus/{checker}-{name}.toml")));
    let fixture = Fixture::of(profile, &shrunk.tapes, broke.clone());
    if let Some(folder) = out.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(&out, fixture.text()?)
        .with_context(|| format!("cannot write {}", out.display()))?;
    anstream::println!(
        "{broke}\n{} bytes after {} runs: {}\nsee it:   cargo xtask sim replay {}\nthen mend the fault; the file is a test of `cargo test -p goal-sim` from now on",
        shrunk.tapes.len(),
        shrunk.runs,
        out.display(),
        out.display()
    );
    Ok(Status::Found)
}
