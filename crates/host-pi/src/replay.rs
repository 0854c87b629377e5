//! `goal-auditor replay`.

use std::fs::File;
use std::io::BufReader;
use std::process::ExitCode;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::Context as _;
use goal_prompts::safe::for_display;
use goal_protocol::trace::{self, GoalEnd, Replay, TraceEnd};

use crate::cli::{ReplayArgs, ReplayFormat};

const EXIT_DIFFERS: u8 = 1;
const EXIT_CANNOT_REPLAY: u8 = 2;
/// Columns of one line; longer ones are cut.
const LINE_COLUMNS: usize = 400;
/// The last second of the year 9999; later ones have no common notation.
const LAST_MOMENT_MS: u64 = 253_402_300_799_000;

pub(crate) fn run(args: &ReplayArgs) -> anyhow::Result<ExitCode> {
    match replay(args) {
        Ok(code) => Ok(code),
        Err(error) => {
            let path = args.trace.display();
            let why = for_display(&format!("{error:#}"), LINE_COLUMNS);
            eprintln!("goal-auditor: cannot replay {path}: {why}");
            Ok(ExitCode::from(EXIT_CANNOT_REPLAY))
        }
    }
}

fn replay(args: &ReplayArgs) -> anyhow::Result<ExitCode> {
    let file = File::open(&args.trace)?;
    anyhow::ensure!(
        file.metadata()?.is_file(),
        "it is no file; name one of the traces in it (trace-*.jsonl)"
    );
    let replay = trace::replay(BufReader::new(file))?;
    match args.format {
        ReplayFormat::Text => print(&replay),
        ReplayFormat::Json => {
            let json = serde_json::to_string_pretty(&replay).context("writing JSON")?;
            println!("{json}");
        }
    }
    Ok(match replay.difference {
        None => ExitCode::SUCCESS,
        Some(_) => ExitCode::from(EXIT_DIFFERS),
    })
}

fn print(replay: &Replay) {
    let headline = match &replay.difference {
        None => "The same effects again.".to_owned(),
        Some(difference) => difference.words("recorded", "now"),
    };
    let notes = [
        headline,
        String::new(),
        figures(replay),
        recorder(replay),
        goal(&replay.goal),
        replay.end.map_or("", end).to_owned(),
    ];
    let text = notes.join("\n");
    for line in text.trim_end().split('\n') {
        let indent = if line.starts_with(' ') { "  " } else { "" };
        // A trace may come from anybody, and a terminal obeys what it is shown.
        println!("{indent}{}", for_display(line, LINE_COLUMNS));
    }
}

fn figures(replay: &Replay) -> String {
    let Replay {
        events, effects, ..
    } = replay;
    let covered = humantime::format_duration(Duration::from_millis(replay.covered_ms));
    let began = replay.began_at.map_or_else(String::new, |ms| {
        let moment = UNIX_EPOCH + Duration::from_millis(ms.min(LAST_MOMENT_MS));
        format!(", from {}", humantime::format_rfc3339_seconds(moment))
    });
    format!("{events} events, {effects} effects, {covered}{began}.")
}

/// Who recorded; another version may well differ on purpose.
fn recorder(replay: &Replay) -> String {
    let Replay {
        product, protocol, ..
    } = replay;
    let own = env!("CARGO_PKG_VERSION");
    let note = if product == own {
        ""
    } else {
        "; this is another version, so a difference may be a change made on purpose"
    };
    format!("Recorded by goal-auditor {product} (protocol {protocol}), replayed by {own}{note}.")
}

fn goal(goal: &GoalEnd) -> String {
    match goal {
        GoalEnd::None => "No goal.".to_owned(),
        GoalEnd::Gone { id, ended } => format!("Goal {id}: {ended}."),
        GoalEnd::There {
            id,
            phase,
            reason: Some(reason),
        } => format!("Goal {id}: {phase} ({reason})."),
        GoalEnd::There {
            id,
            phase,
            reason: None,
        } => format!("Goal {id}: {phase}."),
    }
}

const fn end(end: TraceEnd) -> &'static str {
    match end {
        TraceEnd::Closed => "The trace is whole.",
        TraceEnd::Full => "The trace is full: what came later is not in it.",
        TraceEnd::Open => "The trace has no last line: the core was killed, or is still running.",
        TraceEnd::Torn => "The last line is torn and does not count: the core was killed.",
        TraceEnd::Died => "The core died while it handled the last event.",
    }
}
