//! Steps of the engine.

use goal_bench_cases::running::Running;

use crate::Effort;
use crate::growth::{Curve, Growing, Law};
use crate::report::{Section, Table};
use crate::stopwatch::{alone, per_call};

/// The section of the parts.
pub(super) fn section(effort: Effort) -> Section {
    let rounds = effort.pick(5, 15);
    let mut table = Table::new("Time of the core for one step", ["step", "time"]);
    let mut running = Running::new();
    table.row([
        "a finished tool call".to_owned(),
        alone(rounds, || running.call()).show(),
    ]);
    table.row([
        "an iteration: a tool call, the settle boundary, its proposal taken".to_owned(),
        alone(rounds, || running.iterate()).show(),
    ]);
    let mut audit = running.claim();
    table.row([
        "a check of an auditor: its command begins and ends".to_owned(),
        alone(rounds, || audit.check(&mut running)).show(),
    ]);
    Section {
        title: "Engine".to_owned(),
        intro: "The engine takes an event and says what to do; this is all that the core decides, without \
                pipe and JSON."
            .to_owned(),
        tables: vec![table],
        ..Section::default()
    }
}

/// Time of one more event against how many went before.
pub(super) fn growing(effort: Effort) -> Growing {
    let before = effort.pick([100, 1_000, 10_000], [100, 3_000, 100_000]);
    let call = Curve::over("a tool call", Law::Level, &before, |before| {
        let mut running = Running::new();
        (0..before).for_each(|_| running.call());
        per_call(|| running.call())
    });
    let iteration = Curve::over("an iteration", Law::Level, &before, |before| {
        let mut running = Running::new();
        (0..before).for_each(|_| running.iterate());
        per_call(|| running.iterate())
    });
    let check = Curve::over("an auditor's check", Law::Level, &before, |before| {
        let mut running = Running::new();
        let mut audit = running.claim();
        (0..before).for_each(|_| audit.check(&mut running));
        per_call(|| audit.check(&mut running))
    });
    Growing {
        title: "A step of the engine against what went before",
        file: "growth-engine.svg",
        size: "events of its kind before",
        intro: "One more event after so many of its kind.".to_owned(),
        curves: vec![call, iteration, check],
    }
}
