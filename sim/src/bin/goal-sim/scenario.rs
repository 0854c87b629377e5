//! Scenarios in the simulator: a line for each, with the first difference where there is one.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use goal_sim::Scenario;
use goal_sim::goal_event::fold;
use goal_sim::play::play;

use crate::Status;
use crate::args::{Host, Scenario as Options};

/// Where the scenario files are.
const FOLDER: &str = "sim/scenarios";
/// Columns of a scenario's name.
const NAME_COLUMNS: usize = 44;
/// Columns of an outcome.
const OUTCOME_COLUMNS: usize = 10;
/// Characters of a difference; requests can be long.
const DIFFERENCE_MAX_CHARS: usize = 400;

const GREEN_TICK: &str = "\u{1b}[32m✓\u{1b}[0m";
const RED_CROSS: &str = "\u{1b}[31m✗\u{1b}[0m";

pub(crate) fn run(options: &Options) -> Result<Status> {
    if options.host == Host::Pi {
        anyhow::bail!("the real pi is driven by `cargo xtask sim scenario … --host pi`");
    }
    let files = if options.files.is_empty() {
        all()?
    } else {
        options.files.clone()
    };
    let (name, expected) = ("scenario", "expected");
    anstream::println!("  {name:NAME_COLUMNS$} {expected:OUTCOME_COLUMNS$} got");
    let statuses: Vec<_> = files
        .iter()
        .map(|file| check(file, options.events))
        .collect();
    let mut worst = [Status::Usage, Status::Found].into_iter();
    let worst = worst.find(|status| statuses.contains(status));
    Ok(worst.unwrap_or(Status::Clean))
}

fn all() -> Result<Vec<PathBuf>> {
    let folder = std::fs::read_dir(FOLDER)
        .with_context(|| format!("cannot read {FOLDER}: run it in the project's folder"))?;
    let mut files = Vec::new();
    for entry in folder {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Plays one file and prints its line.
fn check(file: &Path, with_events: bool) -> Status {
    let scenario = match Scenario::load(file) {
        Ok(scenario) => scenario,
        Err(error) => {
            anstream::println!("{RED_CROSS} {error}");
            return Status::Usage;
        }
    };
    let (name, expected) = (&scenario.name, scenario.expect.outcome);
    let begin = format!("{name:NAME_COLUMNS$} {expected:OUTCOME_COLUMNS$}");
    let observed = match play(&scenario) {
        Ok(observed) => observed,
        Err(stuck) => {
            anstream::println!("{RED_CROSS} {begin} {stuck}");
            return Status::Found;
        }
    };
    let found = scenario.expect.differences(&observed);
    let mark = if found.is_empty() {
        GREEN_TICK
    } else {
        RED_CROSS
    };
    anstream::println!("{mark} {begin} {}", observed.outcome());
    if let Some(first) = found.first() {
        anstream::println!("  {}", cut(&first.to_string()));
    }
    if with_events {
        for (name, events) in [("events", &observed.events), ("asked", &observed.asked)] {
            anstream::println!("{name} = {:#?}", fold(events));
        }
        for line in observed.notices.iter().flat_map(|notice| notice.lines()) {
            anstream::println!("# {line}");
        }
    }
    if found.is_empty() {
        Status::Clean
    } else {
        Status::Found
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(DIFFERENCE_MAX_CHARS) {
        None => text.to_owned(),
        Some((at, _)) => format!("{} …", &text[..at]),
    }
}
