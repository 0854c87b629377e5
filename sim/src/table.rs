//! The table of scenarios that were played: a line for each, the same whoever played them.

use std::path::Path;

use anstream::{print, println};

use crate::goal_event::{GoalEvent, fold};
use crate::scenario::{Observed, Scenario};
use crate::style::{BAD, DIM, GOOD};

/// Columns of a scenario's name.
const NAME_COLUMNS: usize = 44;
/// Columns of an outcome.
const OUTCOME_COLUMNS: usize = 10;
/// Characters of a difference; requests can be long.
const DIFFERENCE_MAX_CHARS: usize = 400;

/// What came of playing a scenario.
#[derive(Debug)]
pub enum Played {
    /// It was played to its end.
    Through(Box<Observed>),
    /// It could not go on, for this reason.
    Stuck(String),
    /// This host does not play it, for this reason.
    Not(String),
}

/// How a file came out; the worse the later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ended {
    /// As the file expects.
    AsExpected,
    /// Otherwise.
    Otherwise,
    /// The file could not be used.
    Unusable,
}

/// Prints the head of the table, and the line of each file as it is played; the worst of them, if
/// there was any.
pub fn play_all<P: AsRef<Path>>(
    files: &[P],
    with_events: bool,
    play: impl Fn(&Scenario) -> Played,
) -> Option<Ended> {
    let (name, expected) = ("scenario", "expected");
    println!("  {name:NAME_COLUMNS$} {expected:OUTCOME_COLUMNS$} got");
    let ended = files
        .iter()
        .map(|file| line(file.as_ref(), with_events, &play));
    ended.max()
}

fn line(file: &Path, with_events: bool, play: impl Fn(&Scenario) -> Played) -> Ended {
    let scenario = match Scenario::load(file) {
        Ok(scenario) => scenario,
        Err(error) => {
            println!("{BAD}✗{BAD:#} {error}");
            return Ended::Unusable;
        }
    };
    let (name, expected) = (&scenario.name, scenario.expect.outcome);
    let begin = format!("{name:NAME_COLUMNS$} {expected:OUTCOME_COLUMNS$}");
    let observed = match play(&scenario) {
        Played::Through(observed) => observed,
        Played::Stuck(why) => {
            println!("{BAD}✗{BAD:#} {begin} {why}");
            return Ended::Otherwise;
        }
        Played::Not(why) => {
            println!("{DIM}- {begin} not played: {why}{DIM:#}");
            return Ended::AsExpected;
        }
    };
    let found = scenario.expect.differences(&observed);
    let (style, mark, ended) = match found.first() {
        None => (GOOD, '✓', Ended::AsExpected),
        Some(_) => (BAD, '✗', Ended::Otherwise),
    };
    println!("{style}{mark}{style:#} {begin} {}", observed.outcome());
    if let Some(first) = found.first() {
        println!("  {}", cut(&first.to_string()));
    }
    if with_events {
        show(&observed);
    }
    ended
}

/// What happened, in the words of a scenario file.
fn show(observed: &Observed) {
    let list = |name: &str, events: &[GoalEvent]| {
        println!("{name} = [");
        for line in fold(events) {
            println!("  \"{line}\",");
        }
        println!("]");
    };
    list("events", &observed.events);
    list("asked", &observed.asked);
    for notice in &observed.notices {
        print!("{DIM}");
        for line in notice.lines() {
            println!("# {line}");
        }
        print!("{DIM:#}");
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(DIFFERENCE_MAX_CHARS) {
        None => text.to_owned(),
        Some((at, _)) => format!("{} …", &text[..at]),
    }
}
