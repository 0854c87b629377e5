//! Traces of the extension: replayed, and compared.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result};
use goal_protocol::trace;
use goal_sim::style::{BAD, GOOD};

use crate::Status;
use crate::args::Diff;

/// Replays a trace of the `trace` setting: every effect must come again.
pub(crate) fn replay(file: &Path) -> Result<Status> {
    let replay = trace::replay(open(file)?)
        .with_context(|| format!("{} cannot be replayed", file.display()))?;
    anstream::println!(
        "{}: {} events, {} effects, {} s covered, recorded by {}",
        file.display(),
        replay.events,
        replay.effects,
        replay.covered_ms / 1_000,
        replay.product
    );
    Ok(tell(replay.difference.as_ref(), "the trace", "this engine"))
}

/// The first difference of two traces.
pub(crate) fn diff(options: &Diff) -> Result<Status> {
    let difference = trace::diff(open(&options.a)?, open(&options.b)?)?;
    Ok(tell(
        difference.as_ref(),
        &options.a.display().to_string(),
        &options.b.display().to_string(),
    ))
}

fn tell(difference: Option<&trace::Difference>, expected: &str, got: &str) -> Status {
    match difference {
        None => {
            anstream::println!("{GOOD}no difference{GOOD:#}");
            Status::Clean
        }
        Some(difference) => {
            anstream::println!("{BAD}different{BAD:#} {}", difference.words(expected, got));
            Status::Found
        }
    }
}

fn open(file: &Path) -> Result<BufReader<File>> {
    let file = File::open(file).with_context(|| format!("cannot open {}", file.display()))?;
    Ok(BufReader::new(file))
}
