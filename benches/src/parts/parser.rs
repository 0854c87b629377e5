//! The verdict grammar, beside two versions of it in JavaScript.

use std::hint::black_box;
use std::io::Write as _;

use anyhow::{Context as _, Result, ensure};
use goal_bench_cases::text::{ANSWERS, Family};
use goal_parser::parse_verdict;
use serde_json::{Value, json};

use crate::Effort;
use crate::growth::{Curve, Growing, Law};
use crate::measure::{Samples, Unit, as_f64};
use crate::node::Script;
use crate::report::{Section, Table};
use crate::stopwatch::{SAMPLE, Side, by_turns, per_call};

/// The specification's own examples with their answers.
const VECTORS: &str = include_str!("../../../crates/parser/tests/verdict.json");
/// A hostile text: long enough that anything quadratic shows, short enough that it ends.
const HOSTILE_BYTES: usize = 16 * 1024;
/// The versions in JavaScript: the simple one, and the best we can write.
const VERSIONS: [&str; 2] = ["split", "best"];

/// Our parser and those in JavaScript, on the same texts.
struct Race {
    texts: Vec<String>,
    script: Script,
    /// Lives as long as the script.
    _file: tempfile::NamedTempFile,
}

impl Race {
    /// On these texts, after all answers were found to be equal on them and on the vectors.
    fn new(texts: Vec<String>) -> Result<Self> {
        let vectors: Vec<Value> = serde_json::from_str(VECTORS)?;
        let vectors = vectors.iter().filter_map(|vector| vector["text"].as_str());
        let all: Vec<&str> = texts.iter().map(String::as_str).chain(vectors).collect();
        let mut file = tempfile::NamedTempFile::new()?;
        file.write_all(&serde_json::to_vec(&all)?)?;
        let mut script = Script::start("verdicts.mjs", &[file.path().into()])?;
        for (at, text) in all.iter().enumerate() {
            let ours = parse_verdict(text).map_or_else(|why| why.name(), |verdict| verdict.name());
            for version in VERSIONS {
                let theirs = script.ask(&json!({"version": version, "text": at}))?;
                ensure!(
                    theirs == ours,
                    "{version}: {theirs}, ours: {ours}, of {text:?}"
                );
            }
        }
        Ok(Self {
            texts,
            script,
            _file: file,
        })
    }

    /// Samples of ours, the simple one and the best one, by turns.
    fn run(&mut self, text: usize, rounds: usize) -> Result<[Samples; 3]> {
        let script = std::cell::RefCell::new(&mut self.script);
        let ours = &self.texts[text];
        let theirs = |version: &'static str| -> Side<'_> {
            let ms = u64::try_from(SAMPLE.as_millis()).unwrap_or(u64::MAX);
            let question = json!({"version": version, "text": text, "ms": ms});
            let script = &script;
            Box::new(move || script.borrow_mut().figure(&question))
        };
        let ours: Side<'_> = Box::new(|| {
            Ok(per_call(|| {
                let _ = black_box(parse_verdict(black_box(ours)));
            }))
        });
        let [split, best] = VERSIONS.map(theirs);
        let samples = by_turns(rounds, &mut [ours, split, best])?;
        samples.try_into().ok().context("three sides")
    }
}

/// The section of the parts.
pub(super) fn section(effort: Effort) -> Result<Section> {
    let report = ANSWERS[0];
    let mut rows = vec![
        ("typical: a report", 4 * 1024, report),
        ("huge: a report", 1024 * 1024, report),
    ];
    rows.extend(
        ANSWERS[1..]
            .iter()
            .map(|family| (family.name, HOSTILE_BYTES, *family)),
    );
    let texts = rows
        .iter()
        .map(|(_, bytes, family)| (family.make)(*bytes))
        .collect();
    let mut race = Race::new(texts)?;
    let mut table = Table::new(
        "Throughput of the verdict parser",
        [
            "text",
            "size",
            "ours",
            "best JavaScript",
            "split and filter",
            "ours to the faster JavaScript",
        ],
    );
    let mut slower = Vec::new();
    for (at, (name, _, _)) in rows.iter().enumerate() {
        let bytes = race.texts[at].len();
        let samples = race.run(at, effort.pick(5, 15))?;
        let [ours, split, best] = samples.map(|times| throughput(&times, bytes));
        let faster = if split.median() > best.median() {
            &split
        } else {
            &best
        };
        let ratio = ours.ratio_to(faster);
        if ratio < 1.0 {
            slower.push((*name).to_owned());
        }
        table.row([
            (*name).to_owned(),
            Unit::Bytes.show(as_f64(bytes)),
            ours.show(),
            best.show(),
            split.show(),
            format!("{} ×", Unit::Count("").show(ratio)),
        ]);
    }
    Ok(Section {
        title: "Verdict parser".to_owned(),
        intro: intro(),
        tables: vec![table],
        findings: vec![verdict(&slower)],
        ..Section::default()
    })
}

fn intro() -> String {
    let hostile = ANSWERS[1..]
        .iter()
        .map(|family| format!("*{}*: {}", family.name, family.what));
    let hostile: Vec<String> = hostile.collect();
    format!(
        "The same grammar three times: ours, the best we can write in JavaScript (`benches/js/best.mjs`), and \
         as one writes it at first (`benches/js/split.mjs`). All three gave the same answer to every vector \
         of the specification and to every text below before any time was taken. Each runs inside its own \
         process on a text that it already has: what it costs to bring a text from one process to another is \
         not in these figures. The hostile texts are {}.",
        hostile.join("; ")
    )
}

fn verdict(slower: &[String]) -> String {
    if slower.is_empty() {
        return "On none of these texts is JavaScript faster than ours.".to_owned();
    }
    format!("JavaScript is faster than ours on: {}.", slower.join(", "))
}

fn throughput(times: &Samples, bytes: usize) -> Samples {
    let per_second = times.values.iter().map(|time| as_f64(bytes) / time * 1e9);
    Samples::new(Unit::BytesPerSecond, per_second.collect())
}

/// Time against the size of the text.
pub(super) fn growing(effort: Effort) -> Growing {
    let sizes = effort.pick([1, 8, 64, 512], [4, 32, 256, 2048]);
    Growing {
        title: "Verdict parser against the text",
        file: "growth-parser.svg",
        size: "KiB of text",
        intro: String::new(),
        curves: ANSWERS
            .iter()
            .map(|family| curve(*family, &sizes))
            .collect(),
    }
}

fn curve(family: Family, sizes: &[usize]) -> Curve {
    Curve::over(family.name, Law::Linear, sizes, |kib| {
        let text = (family.make)(kib * 1024);
        per_call(|| {
            let _ = black_box(parse_verdict(black_box(&text)));
        })
    })
}
