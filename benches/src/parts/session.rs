//! Reading a session: in the extension, in the core, and from the file for a report.

use std::ffi::OsString;
use std::hint::black_box;

use anyhow::{Context as _, Result};
use goal_bench_cases::session;
use goal_tests::install;
use serde_json::json;

use crate::Effort;
use crate::growth::{Curve, Growing, Law};
use crate::measure::{Samples, Unit, as_f64};
use crate::node::Script;
use crate::report::{Section, Table};
use crate::stopwatch::{SAMPLE, Side, alone, by_turns, per_call};

/// Entries of other kinds in the session that is read.
const ENTRIES: usize = 10_000;
/// Records of ours.
const RECORDS: usize = 1_000;
/// As many records as the extension sends at most.
const RECORDS_MAX: usize = 20_000;
/// The most a read may take for each entry of another kind, in nanoseconds.
const AIM_NS: f64 = 1_000.0;

/// The extension's reads, on pi's own session.
fn script() -> Result<Script> {
    let bundle = install::pi_cli();
    let dist = bundle.ancestors().nth(2).context("pi's folder")?;
    let shim = install::extension();
    let shim = shim.parent().context("the extension's folder")?;
    let arguments: [OsString; 2] = [
        dist.join("core/session-manager.js").into(),
        shim.join("session.ts").into(),
    ];
    Script::start("session.mjs", &arguments)
}

/// One sample of a read, in nanoseconds.
fn sample(script: &mut Script, read: &str, entries: usize) -> Result<f64> {
    let ms = u64::try_from(SAMPLE.as_millis()).unwrap_or(u64::MAX);
    script.figure(&json!({"read": read, "entries": entries, "ms": ms}))
}

/// The section of the parts.
pub(super) fn section(effort: Effort) -> Result<Section> {
    let rounds = effort.pick(5, 15);
    let script = std::cell::RefCell::new(script()?);
    let side = |read: &'static str| -> Side<'_> {
        let script = &script;
        Box::new(move || sample(&mut script.borrow_mut(), read, ENTRIES))
    };
    let reads = ["branch", "records", "lost", "context", "present"];
    let samples = by_turns(rounds, &mut reads.map(side))?;
    let [branch, records, lost, context, present] = &samples[..] else {
        anyhow::bail!("five reads");
    };
    let each = |samples: &Samples, count: usize| {
        let each = samples.values.iter().map(|time| time / as_f64(count));
        Samples::new(Unit::Nanoseconds, each.collect())
    };
    let mut table = Table::new(
        &format!(
            "{} entries of other kinds",
            Unit::Count("").show(as_f64(ENTRIES))
        ),
        ["read", "time", "for each entry"],
    );
    for (what, samples, walks) in [
        ("pi itself: the branch", branch, true),
        ("the extension: our records, with the branch", records, true),
        (
            "the extension: whether an audit was lost, with the branch",
            lost,
            true,
        ),
        ("pi itself: the entries of the context", context, true),
        (
            "the extension: whether the goal's message is in the context",
            present,
            false,
        ),
    ] {
        let each = if walks {
            each(samples, ENTRIES).show_median()
        } else {
            "–".to_owned()
        };
        table.row([what.to_owned(), samples.show(), each]);
    }
    let opening = (records.median() + lost.median()) / as_f64(ENTRIES);
    Ok(Section {
        title: "Session read".to_owned(),
        intro: "When a session opens, the extension walks its branch and sends our records to the core; entries of \
                other kinds it only passes by. The session is pi's own, in memory, and pi's own walk is what the \
                figures of the extension begin with. At the end of a run it asks whether the goal's \
                message is still in the context, and remembers the answer until that may have changed."
            .to_owned(),
        tables: vec![table, core(rounds)],
        findings: vec![aim(opening)],
        ..Section::default()
    })
}

fn aim(opening: f64) -> String {
    let held = if opening < AIM_NS { "within" } else { "above" };
    format!(
        "Both reads of an opening together take {} for each entry of another kind, which is {held} the aim of {}.",
        Unit::Nanoseconds.show(opening),
        Unit::Nanoseconds.show(AIM_NS)
    )
}

/// What the core does with what it is sent.
fn core(rounds: usize) -> Table {
    let mut table = Table::new(
        &format!(
            "{} records of ours, in the core",
            Unit::Count("").show(as_f64(RECORDS))
        ),
        ["read", "time"],
    );
    let line = session::line(RECORDS);
    let records = session::records(RECORDS);
    let whole = alone(rounds, || {
        black_box(session::open(black_box(&line)));
    });
    let branch = alone(rounds, || {
        black_box(session::read(black_box(&records)));
    });
    table.row([
        "the line, its records, and the session opened".to_owned(),
        whole.show(),
    ]);
    table.row(["of that: what the records say".to_owned(), branch.show()]);
    table
}

/// Time against the entries of a session.
pub(super) fn growing(effort: Effort) -> Result<Growing> {
    let mut script = script()?;
    // What is compiled only once it has run often is compiled before any size is measured.
    for read in ["branch", "records", "own", "context", "present"] {
        sample(&mut script, read, 100)?;
    }
    let sizes = effort.pick([300, 3_000, 30_000], [300, 5_000, 100_000]);
    let mut curves = Vec::new();
    for (name, read, law) in [
        ("pi: the branch", "branch", None),
        ("extension: our records", "records", None),
        ("of that without pi's walk", "own", Some(Law::Linear)),
        ("pi: the context", "context", None),
        (
            "extension: is the message there?",
            "present",
            Some(Law::Level),
        ),
    ] {
        let mut failure = None;
        let curve = Curve::over(name, law, &sizes, |entries| {
            sample(&mut script, read, entries).unwrap_or_else(|error| {
                failure = Some(error);
                f64::NAN
            })
        });
        failure.map_or(Ok(()), Err)?;
        curves.push(curve);
    }
    let sizes = [RECORDS, 5_000, RECORDS_MAX];
    curves.push(Curve::over(
        "core: records of ours",
        Law::Linear,
        &sizes,
        |count| {
            let line = session::line(count);
            per_call(|| {
                black_box(session::open(black_box(&line)));
            })
        },
    ));
    Ok(Growing {
        title: "Session read against the session",
        file: "growth-session.svg",
        size: "entries of the session",
        intro: "Entries of other kinds for the extension, records of ours for the core, which is sent no more than the largest \
                number here.".to_owned(),
        curves,
    })
}
