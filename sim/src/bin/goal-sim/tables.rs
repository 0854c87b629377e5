//! Tables: exploration, and what each guard of the gate is worth.

use anyhow::Result;
use goal_sim::explore;
use goal_sim::style::{BAD, GOOD};
#[cfg(feature = "canary")]
use goal_sim::{Options, gate};
use serde_json::json;

use crate::Status;
use crate::args::{Explore, Format, Gate};
#[cfg(feature = "canary")]
use crate::campaign::jobs;

pub(crate) fn explore(options: &Explore) -> Result<Status> {
    let text = options.format == Format::Text;
    let found = explore::explore(options.depth, &mut |depth, states| {
        if text {
            anstream::println!("depth {depth}: {states} states");
        }
    });
    let broken = found
        .failure
        .as_ref()
        .map(|(word, what)| format!("{what}: {word:?}"));
    if text {
        anstream::println!("{} transitions tried", found.transitions);
        match &broken {
            Some(broken) => anstream::println!("{BAD}failed{BAD:#} {broken}"),
            None => anstream::println!("{GOOD}clean{GOOD:#} to depth {}", found.depth),
        }
    } else {
        println!(
            "{}",
            json!({"depth": found.depth, "states": found.states, "transitions": found.transitions, "failure": broken})
        );
    }
    Ok(if broken.is_some() {
        Status::Found
    } else {
        Status::Clean
    })
}

#[cfg(not(feature = "canary"))]
pub(crate) fn gate(_options: &Gate) -> Result<Status> {
    anyhow::bail!("this build has no guards to switch off; use `cargo xtask sim gate`")
}

/// Guards that can be switched off, by the defect that does.
#[cfg(feature = "canary")]
const GUARDS: [(&str, Option<goal_engine::Canary>); 7] = [
    ("all guards", None),
    (
        "without evidence",
        Some(goal_engine::Canary::HollowApproval),
    ),
    ("any tag counts", Some(goal_engine::Canary::QuotedTag)),
    ("late verdicts", Some(goal_engine::Canary::LateVerdict)),
    (
        "stale approvals",
        Some(goal_engine::Canary::ApprovalOutlivesEdit),
    ),
    ("after an abort", Some(goal_engine::Canary::EscMissesAudit)),
    (
        "changed workspace",
        Some(goal_engine::Canary::ChangedWorkspaceApproved),
    ),
];

/// What the columns of the table are.
#[cfg(feature = "canary")]
const GATE_LEGEND: &str = "
completed: goals that completed; falsely: those of them whose work was not done;
refused: refusals of work that was done; executor, auditor: requests to their models.
Each auditor meets the same mixture of executors, honest ones and liars, from the same seeds.";

#[cfg(feature = "canary")]
pub(crate) fn gate(options: &Gate) -> Result<Status> {
    let jobs = jobs(options.jobs);
    let mut graded = None;
    for (name, canary) in GUARDS {
        let how = Options {
            canary,
            ..Options::default()
        };
        let rows = gate::rows(options.runs, jobs, &how);
        if graded.is_none() {
            let counts = rows.first().map(|row| row.counts);
            graded = counts.map(|counts| (counts.self_graded_falsely, counts.runs));
        }
        match options.format {
            Format::Text => print_gate(name, &rows),
            Format::Json => print_gate_json(name, &rows),
        }
    }
    if let Some((falsely, runs)) = graded
        && options.format == Format::Text
    {
        anstream::println!(
            "\nexecutor grades itself: {falsely} false completions in {runs} runs, no audit"
        );
        anstream::println!("{GATE_LEGEND}");
    }
    Ok(Status::Clean)
}

#[cfg(feature = "canary")]
fn print_gate(name: &str, rows: &[gate::Row]) {
    anstream::println!(
        "\n{name}\n{:<14} {:>6} {:>10} {:>8} {:>8} {:>9} {:>8}",
        "auditor",
        "runs",
        "completed",
        "falsely",
        "refused",
        "executor",
        "auditor"
    );
    for row in rows {
        let counts = &row.counts;
        anstream::println!(
            "{:<14} {:>6} {:>10} {:>8} {:>8} {:>9} {:>8}",
            row.auditor.name(),
            counts.runs,
            counts.completions,
            counts.false_completions,
            counts.false_refusals,
            counts.executor_requests,
            counts.auditor_requests
        );
    }
}

#[cfg(feature = "canary")]
fn print_gate_json(name: &str, rows: &[gate::Row]) {
    for row in rows {
        println!(
            "{}",
            json!({"guards": name, "auditor": row.auditor.name(), "counts": row.counts})
        );
    }
}
