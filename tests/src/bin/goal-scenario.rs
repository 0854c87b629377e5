//! Plays scenario files on the real pi and says whether they came out as they should.
//!
//! `cargo run -p goal-tests --bin goal-scenario -- sim/scenarios/*.toml` prints a line for each; with
//! `--events` also what happened, in the words of a scenario file. Status: 0 all as expected, 1 a
//! scenario came out otherwise, 2 a file could not be used.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;

use anstream::{eprintln, print, println};
use anstyle::{AnsiColor, Style};
use goal_sim::goal_event::fold;
use goal_sim::{GoalEvent, Observed, Scenario};
use goal_tests::scenario::play;

const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default().bold();
const RED: Style = AnsiColor::Red.on_default().bold();

/// Columns of a scenario's name.
const NAME_COLUMNS: usize = 44;
/// Columns of an outcome.
const OUTCOME_COLUMNS: usize = 10;
/// Characters of a difference; requests can be long.
const DIFFERENCE_MAX_CHARS: usize = 400;

const AS_EXPECTED: u8 = 0;
const OTHERWISE: u8 = 1;
const UNUSABLE: u8 = 2;

fn main() -> ExitCode {
    let (flags, files): (Vec<_>, Vec<_>) =
        std::env::args().skip(1).partition(|it| it.starts_with('-'));
    if files.is_empty() || flags.iter().any(|flag| flag != "--events") {
        eprintln!("usage: goal-scenario [--events] FILE…");
        return ExitCode::from(UNUSABLE);
    }
    let (name, expected) = ("scenario", "expected");
    println!("  {name:NAME_COLUMNS$} {expected:OUTCOME_COLUMNS$} got");
    let worst = files
        .iter()
        .map(|file| check(file, !flags.is_empty()))
        .max();
    ExitCode::from(worst.unwrap_or(UNUSABLE))
}

/// Plays one file and prints its line.
fn check(file: &str, with_events: bool) -> u8 {
    let scenario = match Scenario::load(Path::new(file)) {
        Ok(scenario) => scenario,
        Err(error) => {
            println!("{RED}✗{RED:#} {error}");
            return UNUSABLE;
        }
    };
    let (name, expected) = (&scenario.name, scenario.expect.outcome);
    let begin = format!("{name:NAME_COLUMNS$} {expected:OUTCOME_COLUMNS$}");
    if let Some(why) = &scenario.simulator_only {
        println!("{DIM}- {begin} not played: {why}{DIM:#}");
        return AS_EXPECTED;
    }
    // A pi that does not even answer makes the harness panic, with a report on stderr.
    let played = catch_unwind(AssertUnwindSafe(|| play(&scenario)));
    let observed = match played {
        Ok(Ok(played)) => played.observed,
        Ok(Err(stuck)) => {
            println!("{RED}✗{RED:#} {begin} {stuck}");
            return OTHERWISE;
        }
        Err(_) => {
            println!("{RED}✗{RED:#} {begin} pi could not be driven");
            return OTHERWISE;
        }
    };
    let found = scenario.expect.differences(&observed);
    let mark = if found.is_empty() {
        format!("{GREEN}✓{GREEN:#}")
    } else {
        format!("{RED}✗{RED:#}")
    };
    println!("{mark} {begin} {}", observed.outcome());
    if let Some(first) = found.first() {
        println!("  {}", cut(&first.to_string()));
    }
    if with_events {
        show(&observed);
    }
    if found.is_empty() {
        AS_EXPECTED
    } else {
        OTHERWISE
    }
}

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
    if text.chars().count() <= DIFFERENCE_MAX_CHARS {
        return text.to_owned();
    }
    let head: String = text.chars().take(DIFFERENCE_MAX_CHARS).collect();
    format!("{head} …")
}
