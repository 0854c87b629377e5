//! One run of many tool calls: what a call costs beyond itself, and what stays of it.

use anyhow::Result;

use super::compared::{self, figures, verdict};
use super::contender::Contender;
use super::progress::Progress;
use super::walk::{Errand, Walk, in_turns};
use crate::Effort;
use crate::measure::{Samples, Unit, as_f64};
use crate::report::{Section, Table};

/// One call an answer, as most models work.
const TIMED: Errand = Errand::Calls {
    answers: 150,
    each: 1,
};
/// Many calls an answer, so that a thousand are no long conversation.
const KEPT: Errand = Errand::Calls {
    answers: 50,
    each: 20,
};

/// Walks of each contender, in turns.
type Walks = [(Contender, Vec<Walk>); Contender::ALONE.len()];

/// Measures.
pub(super) fn measure(effort: Effort, progress: &Progress) -> Result<Vec<Section>> {
    let rounds = effort.pick(4, 11);
    let timed = in_turns(Contender::ALONE, rounds, |round, contender| {
        progress.say("calls of tools", round, rounds);
        Walk::take(contender, TIMED)
    })?;
    let kept = in_turns(Contender::ALONE, 1, |_, contender| {
        progress.say("a thousand calls", 1, 1);
        Walk::take(contender, KEPT)
    })?;
    Ok(vec![
        time(&timed),
        first_request(&timed),
        files(&kept),
        memory(&timed),
    ])
}

fn time(walks: &Walks) -> Section {
    let all = figures(walks, Walk::after_calls);
    Section {
        title: "Time per tool call".to_owned(),
        intro: "One run, in which every answer of the model asks to read a small file.".to_owned(),
        tables: vec![compared::table(
            "From the end of an answer that calls a tool to the request with its result",
            &all,
        )],
        findings: vec![verdict("A tool call", &all[1].1, &all[2].1)],
        ..Section::default()
    }
}

fn first_request(walks: &Walks) -> Section {
    let all = figures(walks, |walk| vec![walk.to_first_request]);
    Section {
        title: "From `/goal` to the first request".to_owned(),
        intro: "The first goal of a pi that has just started; without an extension, the same text as a \
                prompt."
            .to_owned(),
        tables: vec![compared::table(
            "From typing the goal to the first request of the model",
            &all,
        )],
        findings: vec![verdict("The first goal", &all[1].1, &all[2].1)],
        ..Section::default()
    }
}

fn files(walks: &Walks) -> Section {
    let mut table = Table::new(
        "After 1,000 calls in one run",
        [
            "",
            "session file",
            "entries of the extension",
            "their bytes",
            "its files in the workspace",
        ],
    );
    for (contender, walks) in walks {
        let Some(kept) = walks.first().map(|walk| walk.kept) else {
            continue;
        };
        let bytes = |count: usize| Unit::Bytes.show(as_f64(count));
        table.row([
            contender.name().to_owned(),
            bytes(kept.session_bytes),
            kept.entries.to_string(),
            bytes(kept.entry_bytes),
            bytes(kept.file_bytes),
        ]);
    }
    Section {
        title: "What stays in files".to_owned(),
        tables: vec![table],
        ..Section::default()
    }
}

fn memory(walks: &Walks) -> Section {
    let mut table = Table::new(
        "Resident memory: median (quartiles)",
        [
            "",
            "pi before the goal",
            "its children",
            "pi after the calls",
            "its children then",
        ],
    );
    for (contender, walks) in walks {
        let show = |of: fn(&Walk) -> u64| {
            #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
            let values = walks.iter().map(|walk| of(walk) as f64).collect();
            Samples::new(Unit::Bytes, values).show()
        };
        table.row([
            contender.name().to_owned(),
            show(|walk| walk.at_rest.pi),
            show(|walk| walk.at_rest.children),
            show(|walk| walk.at_end.pi),
            show(|walk| walk.at_end.children),
        ]);
    }
    Section {
        title: "Memory".to_owned(),
        intro: "Of the pis whose calls are timed above. Linux only; zero elsewhere.".to_owned(),
        tables: vec![table],
        ..Section::default()
    }
}
