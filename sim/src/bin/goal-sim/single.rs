//! One run: by seed, by fixture, from a trace; made small, and recorded.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use goal_sim::entropy::Source;
use goal_sim::fixture::Fixture;
use goal_sim::marks::{Mark, Marks};
use goal_sim::plan::Profile;
use goal_sim::style::{BAD, GOOD};
use goal_sim::{Options, Outcome, run, shrink};

use crate::args::{File, Record, Seed, Shrink};
use crate::canary::planted;
use crate::report::commit;
use crate::{Status, traces};

pub(crate) fn seed(options: &Seed) -> Result<Status> {
    let (seed, profile) = (options.seed, options.profile);
    let how = traced(options.canary.as_deref())?;
    announce(&format!("seed {seed}"), profile, options.canary.as_deref());
    let outcome = run(&Source::Seed(seed), profile, &how);
    let shown = show(&outcome, options.full);
    if shown == Status::Found {
        let again = again(options.canary.as_deref());
        anstream::println!(
            "make it small: cargo xtask sim shrink {seed} --profile {}{again}",
            profile.name()
        );
    }
    Ok(shown)
}

pub(crate) fn replay(options: &File) -> Result<Status> {
    let file = &options.file;
    if file.extension().is_none_or(|ending| ending != "toml") {
        return traces::replay(file);
    }
    let fixture = load(file)?;
    let (source, profile) = fixture.source()?;
    let how = traced(options.canary.as_deref())?;
    announce(
        &file.display().to_string(),
        profile,
        options.canary.as_deref(),
    );
    for (what, words) in [("about", &fixture.about), ("broke", &fixture.broke)] {
        if !words.is_empty() {
            anstream::println!("{what}: {words}");
        }
    }
    Ok(show(&run(&source, profile, &how), options.full))
}

/// The first line of every run.
fn announce(what: &str, profile: Profile, canary: Option<&str>) {
    let planted = canary.map(|name| format!(", with {name} planted"));
    anstream::println!(
        "{what}, commit {}, profile {}{}",
        commit(),
        profile.name(),
        planted.unwrap_or_default()
    );
}

/// The option that plants the same defect again.
fn again(canary: Option<&str>) -> String {
    canary.map_or_else(String::new, |name| format!(" --canary {name}"))
}

fn load(file: &Path) -> Result<Fixture> {
    Fixture::load(file).with_context(|| format!("{} is no fixture", file.display()))
}

fn traced(canary: Option<&str>) -> Result<Options> {
    Ok(Options {
        trace: true,
        ..planted(canary)?
    })
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
        anstream::println!("met {}", met(outcome.marks));
        anstream::println!("trace {}", trace.hash());
    }
    match &outcome.failure {
        Some(failure) => {
            anstream::println!("{BAD}failed{BAD:#} {}", failure.fingerprint());
            Status::Found
        }
        None => {
            anstream::println!("{GOOD}clean{GOOD:#}");
            Status::Clean
        }
    }
}

fn met(marks: Marks) -> String {
    let words: Vec<&str> = marks.iter().map(Mark::words).collect();
    words.join("; ")
}

pub(crate) fn shrink(options: &Shrink) -> Result<Status> {
    let how = planted(options.canary.as_deref())?;
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
    let Some((shrunk, broke)) = shrink::shrink(&source, profile, &how) else {
        anstream::println!("that run breaks nothing: there is nothing to shrink");
        return Ok(Status::Usage);
    };
    let checker = broke.split(':').next().unwrap_or("failure").to_lowercase();
    let out = options
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("sim/corpus/{checker}-{name}.toml")));
    let fixture = Fixture::of(profile, &shrunk.tapes, broke.clone(), shrunk.met);
    write(&out, &fixture)?;
    let file = out.display();
    anstream::println!(
        "{broke}\n{} bytes after {} runs: {file}",
        shrunk.tapes.len(),
        shrunk.runs
    );
    anstream::println!(
        "see it:    cargo xtask sim replay {file}{}",
        again(options.canary.as_deref())
    );
    anstream::println!(
        "keep it:   write why into its `about`, leave in `meets` what it is kept for; mend the fault; from now on a test runs the file:\n           cargo test -p goal-sim --test corpus"
    );
    Ok(Status::Found)
}

pub(crate) fn record(options: &Record) -> Result<Status> {
    let (seed, profile) = (options.seed, options.profile);
    let outcome = run(&Source::Seed(seed), profile, &Options::default());
    if let Some(failure) = &outcome.failure {
        anstream::println!(
            "seed {seed} breaks a promise, {}\nmake it small instead: cargo xtask sim shrink {seed} --profile {}",
            failure.fingerprint(),
            profile.name()
        );
        return Ok(Status::Found);
    }
    let fixture = Fixture {
        about: options.about.clone(),
        ..Fixture::of(profile, &outcome.drawn, String::new(), outcome.marks)
    };
    write(&options.out, &fixture)?;
    anstream::println!(
        "{} bytes: {}\nmet {}",
        outcome.drawn.len(),
        options.out.display(),
        met(outcome.marks)
    );
    Ok(Status::Clean)
}

fn write(out: &Path, fixture: &Fixture) -> Result<()> {
    if let Some(folder) = out.parent() {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
    }
    std::fs::write(out, fixture.text()?).with_context(|| format!("cannot write {}", out.display()))
}
