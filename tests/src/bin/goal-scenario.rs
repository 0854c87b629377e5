//! Plays scenario files on the real pi and says whether they came out as they should.
//!
//! `cargo run -p goal-tests --bin goal-scenario -- sim/scenarios/*.toml` prints a line for each; with
//! `--events` also what happened, in the words of a scenario file. Status: 0 all as expected, 1 a
//! scenario came out otherwise, 2 a file could not be used.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use goal_sim::Scenario;
use goal_sim::table::{Ended, Played, play_all};
use goal_tests::scenario::play;

const AS_EXPECTED: u8 = 0;
const OTHERWISE: u8 = 1;
const UNUSABLE: u8 = 2;

fn main() -> ExitCode {
    let (flags, files): (Vec<_>, Vec<_>) =
        std::env::args().skip(1).partition(|it| it.starts_with('-'));
    if files.is_empty() || flags.iter().any(|flag| flag != "--events") {
        anstream::eprintln!("usage: goal-scenario [--events] FILE…");
        return ExitCode::from(UNUSABLE);
    }
    ExitCode::from(match play_all(&files, !flags.is_empty(), on_pi) {
        Some(Ended::AsExpected) => AS_EXPECTED,
        Some(Ended::Otherwise) => OTHERWISE,
        Some(Ended::Unusable) | None => UNUSABLE,
    })
}

fn on_pi(scenario: &Scenario) -> Played {
    if let Some(why) = &scenario.simulator_only {
        return Played::Not(why.clone());
    }
    // A pi that does not even answer makes the harness panic, with a report on stderr.
    match catch_unwind(AssertUnwindSafe(|| play(scenario))) {
        Ok(Ok(played)) => Played::Through(Box::new(played.observed)),
        Ok(Err(stuck)) => Played::Stuck(stuck.to_string()),
        Err(_) => Played::Stuck("pi could not be driven".to_owned()),
    }
}
