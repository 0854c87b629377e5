//! Sessions that have grown long: how soon pi is there, and how soon it works on.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use goal_tests::{Pi, World};
use serde_json::{Value, json};

use super::compared::{cells, figures, times, verdict};
use super::contender::Contender;
use super::progress::Progress;
use super::walk::{Errand, NOTES, Walk, in_turns};
use crate::Effort;
use crate::measure::{Samples, Unit, as_f64};
use crate::report::{Plot, Section, Table};

/// The entries of the sessions.
const SIZES: [usize; 3] = [100, 10_000, 50_000];
/// What is done in such a session.
const ERRAND: Errand = Errand::Runs(8);
/// Entries that are still in the context; what is before them was summarised, as in every long session.
const IN_CONTEXT: usize = 8;
/// When the session was written.
const DAY: &str = "2026-01-01T12:00:00.000Z";

/// Figures of three contenders.
type Figures = [(Contender, Samples); 3];

/// What was measured in sessions of one size.
struct Opened {
    entries: usize,
    ready: Figures,
    first_request: Figures,
    between_runs: Figures,
}

/// Measures.
pub(super) fn measure(effort: Effort, progress: &Progress) -> Result<Vec<Section>> {
    let rounds = effort.pick(4, 11);
    let opened = SIZES.map(|entries| Opened::take(entries, rounds, progress));
    let opened: Vec<Opened> = opened.into_iter().collect::<Result<_>>()?;
    Ok(vec![start(&opened), work(&opened)])
}

impl Opened {
    fn take(entries: usize, rounds: usize, progress: &Progress) -> Result<Self> {
        let mut ready = Contender::ALONE.map(|contender| (contender, Vec::new()));
        let walks = in_turns(Contender::LOOPS, rounds, |round, contender| {
            let what = format!("a session of {} entries", count(entries));
            progress.say(&what, round, rounds);
            let (pi, time) = open(contender, entries)?;
            match contender {
                Contender::Ours => ready[1].1.push(time),
                Contender::Rival => ready[2].1.push(time),
                // Without an extension there is no loop: that pi is only started.
                Contender::Plain | Contender::Bare => {
                    ready[0].1.push(open(Contender::Plain, entries)?.1);
                }
            }
            Walk::of(&pi, contender, ERRAND)
        })?;
        Ok(Self {
            entries,
            ready: ready.map(|(contender, all)| (contender, times(all))),
            first_request: figures(&walks, |walk| vec![walk.to_first_request]),
            between_runs: figures(&walks, Walk::between_runs),
        })
    }
}

/// Starts a pi on a long session; says how long it took until it answered.
fn open(contender: Contender, entries: usize) -> Result<(Pi, Duration)> {
    let options = contender.options(ERRAND.script());
    let world = World::new(options.file("notes.txt", NOTES));
    let session = write_session(&world, entries)?;
    let session = session.display().to_string();
    let started = Instant::now();
    let pi = Pi::start_in(Arc::new(world), &["--session", &session]);
    Ok((pi, started.elapsed()))
}

/// Writes a session in which somebody talked and read files, and which pi has compacted.
fn write_session(world: &World, entries: usize) -> Result<PathBuf> {
    let mut lines = vec![json!({
        "type": "session", "version": 3, "id": "01900000-0000-7000-8000-000000000000",
        "timestamp": DAY, "cwd": world.workspace(),
    })];
    let id = |at: usize| format!("{at:08x}");
    for at in 1..entries {
        let parent = (at > 1).then(|| id(at - 1));
        lines.push(json!({
            "type": "message", "id": id(at), "parentId": parent, "timestamp": DAY, "message": message(at),
        }));
    }
    // A multiple of the turn of four, so that the context begins with the user's words.
    let first_kept = (entries - IN_CONTEXT) / TURN * TURN;
    lines.push(json!({
        "type": "compaction", "id": id(entries), "parentId": id(entries - 1), "timestamp": DAY,
        "summary": "Many files were read.", "firstKeptEntryId": id(first_kept), "tokensBefore": 100_000,
    }));
    save(&world.home().join("long.jsonl"), &lines)
}

/// The messages of a turn: what the user says, a call, its result, the answer.
const TURN: usize = 4;

fn message(at: usize) -> Value {
    let turn = at / TURN;
    let text = |text: String| json!([{ "type": "text", "text": text }]);
    let call = format!("call_{turn}");
    match at % TURN {
        0 => {
            json!({ "role": "user", "content": text(format!("Please read part {turn}.")), "timestamp": 0 })
        }
        1 => assistant(
            &json!([{ "type": "toolCall", "id": call, "name": "read", "arguments": { "path": "notes.txt" } }]),
            "toolUse",
        ),
        2 => json!({
            "role": "toolResult", "toolCallId": call, "toolName": "read", "isError": false,
            "content": text(format!("This is what part {turn} says. ").repeat(10)), "timestamp": 0,
        }),
        _ => assistant(&text(format!("Part {turn} is read.")), "stop"),
    }
}

fn assistant(content: &Value, stop: &str) -> Value {
    let cost = json!({ "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0 });
    json!({
        "role": "assistant", "content": content, "api": "openai-completions", "provider": "sim",
        "model": "executor", "stopReason": stop, "timestamp": 0,
        "usage": {
            "input": 100, "output": 10, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 110, "cost": cost,
        },
    })
}

fn save(file: &Path, lines: &[Value]) -> Result<PathBuf> {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(file, lines.join("\n") + "\n")?;
    Ok(file.to_owned())
}

fn start(opened: &[Opened]) -> Section {
    let mut plot = Plot::linear(
        "session-start.svg",
        "From starting pi to its first answer",
        "entries of the session",
        "milliseconds",
    );
    for (at, contender) in Contender::ALONE.into_iter().enumerate() {
        let point = |one: &Opened| {
            let milliseconds = one.ready[at].1.median() / 1e6;
            (as_f64(one.entries), milliseconds)
        };
        plot.line(contender.name(), opened.iter().map(point).collect());
    }
    let caption = "From starting pi to its answer to a first command";
    Section {
        title: "Starting pi on a long session".to_owned(),
        intro: START_INTRO.to_owned(),
        tables: vec![table(caption, opened, |one| &one.ready)],
        plots: vec![plot],
        findings: findings("The start", opened, |one| &one.ready),
    }
}

const START_INTRO: &str = "The sessions hold turns of four entries (the user, a call, its result, the \
    answer), no goal, and a compaction at their end, as pi makes it: all entries are read, few are in the \
    context.";

fn work(opened: &[Opened]) -> Section {
    let first = "From the first goal in such a session to its first request";
    let between = "Between two runs in such a session";
    Section {
        title: "Working on in a long session".to_owned(),
        tables: vec![
            table(first, opened, |one| &one.first_request),
            table(between, opened, |one| &one.between_runs),
        ],
        findings: findings("Between two runs", opened, |one| &one.between_runs),
        ..Section::default()
    }
}

fn table(caption: &str, opened: &[Opened], of: fn(&Opened) -> &Figures) -> Table {
    let base = opened.first().map_or("", |one| of(one)[0].0.name());
    let beside = format!("beside {base}");
    let columns = ["entries", "", "median (quartiles)", &beside, "ratio"];
    let mut table = Table::new(caption, columns);
    for one in opened {
        let figures = of(one);
        for (contender, own) in figures {
            let [time, added, ratio] = cells(own, &figures[0].1);
            let name = contender.name().to_owned();
            table.row([count(one.entries), name, time, added, ratio]);
        }
    }
    table
}

/// One sentence for each size.
fn findings(what: &str, opened: &[Opened], of: fn(&Opened) -> &Figures) -> Vec<String> {
    let sentence = |one: &Opened| {
        let what = format!("{what} with {} entries", count(one.entries));
        let [_, (_, ours), (_, rival)] = of(one);
        verdict(&what, ours, rival)
    };
    opened.iter().map(sentence).collect()
}

fn count(entries: usize) -> String {
    Unit::Count("").show(as_f64(entries))
}
