//! Untrusted text made safe.

use std::hint::black_box;

use goal_bench_cases::session::TOKEN;
use goal_bench_cases::text::{FOREIGN, Family};
use goal_prompts::{fence, safe};

use crate::Effort;
use crate::growth::{Curve, Growing, Law};
use crate::measure::{Samples, Unit, as_f64};
use crate::report::{Section, Table};
use crate::stopwatch::{alone, per_call};

/// The largest objective.
const OBJECTIVE_BYTES: usize = 64 * 1024;
/// Columns of a line of a widget.
const COLUMNS: usize = 60;

/// The section of the parts.
pub(super) fn section(effort: Effort) -> Section {
    let mut table = Table::new(
        "A text of 64 KiB made safe",
        [
            "text",
            "fenced for the auditor",
            "that is",
            "one line of a widget",
        ],
    );
    let rounds = effort.pick(5, 15);
    for family in FOREIGN {
        let text = (family.make)(OBJECTIVE_BYTES);
        let fenced = alone(rounds, || {
            black_box(fenced(&text));
        });
        let line = alone(rounds, || {
            black_box(safe::for_display(black_box(&text), COLUMNS));
        });
        table.row([
            family.name.to_owned(),
            fenced.show(),
            throughput(&fenced, text.len()).show_median(),
            line.show(),
        ]);
    }
    let kinds = FOREIGN.map(|family| format!("*{}*: {}", family.name, family.what));
    Section {
        title: "Sanitising".to_owned(),
        intro: format!(
            "Text of others is shown to the auditor between fences, its dangerous characters as codes and its \
             markup as entities; a person sees one line of it. The texts are {}.",
            kinds.join("; ")
        ),
        tables: vec![table],
        ..Section::default()
    }
}

fn fenced(text: &str) -> String {
    fence::for_auditor(TOKEN, "objective", black_box(text), None)
}

fn throughput(times: &Samples, bytes: usize) -> Samples {
    let per_second = times.values.iter().map(|time| as_f64(bytes) / time * 1e9);
    Samples::new(Unit::BytesPerSecond, per_second.collect())
}

/// Time against the size of the text.
pub(super) fn growing(effort: Effort) -> Growing {
    let sizes = effort.pick([1, 8, 64], [1, 16, 256]);
    let curve = |family: Family| {
        Curve::over(family.name, Law::Linear, &sizes, |kib| {
            let text = (family.make)(kib * 1024);
            per_call(|| {
                black_box(fenced(&text));
            })
        })
    };
    Growing {
        title: "Sanitising against the text",
        file: "growth-sanitising.svg",
        size: "KiB of text",
        intro: "A text fenced for the auditor.".to_owned(),
        curves: FOREIGN.map(curve).to_vec(),
    }
}
