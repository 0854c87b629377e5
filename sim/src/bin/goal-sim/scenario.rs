//! Scenarios in the simulator.

use std::path::PathBuf;

use anyhow::{Context, Result};
use goal_sim::play::play;
use goal_sim::table::{Ended, Played, play_all};

use crate::Status;
use crate::args::{Host, Scenario as Options};

/// Where the scenario files are.
const FOLDER: &str = "sim/scenarios";

pub(crate) fn run(options: &Options) -> Result<Status> {
    if options.host == Host::Pi {
        anyhow::bail!("the real pi is driven by `cargo xtask sim scenario … --host pi`");
    }
    let files = if options.files.is_empty() {
        all()?
    } else {
        options.files.clone()
    };
    let worst = play_all(&files, options.events, |scenario| match play(scenario) {
        Ok(observed) => Played::Through(Box::new(observed)),
        Err(stuck) => Played::Stuck(stuck.to_string()),
    });
    Ok(match worst {
        None | Some(Ended::AsExpected) => Status::Clean,
        Some(Ended::Otherwise) => Status::Found,
        Some(Ended::Unusable) => Status::Usage,
    })
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
