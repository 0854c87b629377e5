//! Deadlines of audits: how late they fire, with one machine and with many, on a quiet and on a busy processor.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use goal_bench_cases::running::Running;
use goal_engine::{AuditorEvent, Deadline, Event, RunSettled, Settings};
use tokio::time::{Instant, sleep_until};

use crate::Effort;
use crate::growth::{Curve, Growing, Law};
use crate::measure::{Samples, Unit, as_f64};
use crate::report::{Section, Table};
use crate::stopwatch::{nanoseconds, now};

/// How many machines wait at once: all are due in the same millisecond.
const MACHINES: [usize; 3] = [1, 100, 10_000];
/// A limit that is short, and longer than it takes to arm all machines.
const LIMIT_MS: u64 = 200;
/// A limit that does not pass here.
const FAR_MS: u64 = 3_600_000;

/// The deadlines that are measured.
const KINDS: [(&str, Deadline); 3] = [
    ("idle limit", Deadline::AuditIdle),
    ("absolute limit", Deadline::AuditTimeout),
    ("abort", Deadline::AbortGrace),
];

/// Machines that wait for a deadline of one kind.
fn armed(kind: Deadline, count: usize, origin: Instant) -> Result<Vec<Running>> {
    let mut machines: Vec<Running> = (0..count).map(|_| machine(kind)).collect();
    let moment = elapsed_ms(origin);
    for machine in &mut machines {
        machine.at(moment);
        arm(machine, kind);
        let due = machine.engine().deadline();
        ensure!(
            due.is_some_and(|(_, which)| which == kind),
            "{kind:?} is armed: {due:?}"
        );
    }
    Ok(machines)
}

fn machine(kind: Deadline) -> Running {
    let limit = |which| Some(if kind == which { LIMIT_MS } else { FAR_MS });
    Running::with(Settings {
        timeout_ms: limit(Deadline::AuditTimeout),
        idle_timeout_ms: limit(Deadline::AuditIdle),
        ..Settings::for_tests()
    })
}

/// What begins the time: the auditor's first prompt, its output, or the user's abort.
fn arm(machine: &mut Running, kind: Deadline) {
    if kind == Deadline::AbortGrace {
        machine.give(Event::RunSettled(RunSettled {
            aborted: true,
            by_us: false,
            start_pending: false,
            full_message_present: true,
        }));
        return;
    }
    let audit = machine.claim();
    if kind == Deadline::AuditIdle {
        machine.give(audit.event(AuditorEvent::Output));
    }
}

fn elapsed_ms(origin: Instant) -> u64 {
    let elapsed = Instant::from_std(now()).saturating_duration_since(origin);
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

/// Waits for one deadline as the core's loop does, and gives the nanoseconds between its moment and the end
/// of the step that it causes.
async fn lateness(mut machine: Running, origin: Instant) -> Result<f64> {
    let (due, _) = machine.engine().deadline().context("a deadline")?;
    let due_at = origin + Duration::from_millis(due.0);
    sleep_until(due_at).await;
    machine.at(elapsed_ms(origin));
    let effects = machine.give(Event::Tick);
    ensure!(!effects.is_empty(), "the deadline has an effect");
    let late = Instant::from_std(now()).saturating_duration_since(due_at);
    Ok(nanoseconds(late))
}

/// How late each of so many machines is, in one round.
fn round(kind: Deadline, count: usize) -> Result<Vec<f64>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    runtime.block_on(async {
        let origin = Instant::from_std(now());
        let machines = armed(kind, count, origin)?;
        let waits = machines
            .into_iter()
            .map(|machine| tokio::spawn(lateness(machine, origin)));
        let waits: Vec<_> = waits.collect();
        let mut late = Vec::with_capacity(waits.len());
        for wait in waits {
            late.push(wait.await??);
        }
        Ok(late)
    })
}

/// Several rounds: many where there are few machines.
fn rounds(effort: Effort, kind: Deadline, count: usize) -> Result<Samples> {
    let rounds = effort.pick([10, 3, 1], [50, 10, 3]);
    let rounds = MACHINES
        .iter()
        .position(|machines| *machines == count)
        .map_or(1, |at| rounds[at]);
    let mut values = Vec::new();
    for _ in 0..rounds {
        values.extend(round(kind, count)?);
    }
    Ok(Samples::new(Unit::Nanoseconds, values))
}

/// Does something while every core of the processor has a thread that only counts.
fn under_load<T>(work: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let result = work();
        over.store(true, Ordering::Relaxed);
        result
    })
}

/// The section of the parts.
pub(super) fn section(effort: Effort) -> Result<Section> {
    let mut table = Table::new(
        "How late a deadline's step is done: the median, and the latest",
        [
            "deadline",
            "machines",
            "quiet",
            "latest",
            "every core busy",
            "latest ",
        ],
    );
    for (name, kind) in KINDS {
        for count in MACHINES {
            let quiet = rounds(effort, kind, count)?;
            let busy = under_load(|| rounds(effort, kind, count))?;
            table.row([
                name.to_owned(),
                Unit::Count("").show(as_f64(count)),
                quiet.show_median(),
                Unit::Nanoseconds.show(quiet.quantile(1.0)),
                busy.show_median(),
                Unit::Nanoseconds.show(busy.quantile(1.0)),
            ]);
        }
    }
    Ok(Section {
        title: "Deadlines of audits".to_owned(),
        intro: "An engine waits for a deadline as the core does (the same timer, whose grain is a millisecond), and does \
                what the deadline asks for: it ends the audit, or pauses the goal. In use there is one engine to a \
                process; the others are there to see what many would cost. All of them are due in the same \
                millisecond, so the latest of 10,000 waits for the steps of all others. Under load, every core of \
                the processor has a thread beside ours that never rests."
            .to_owned(),
        tables: vec![table],
        ..Section::default()
    })
}

/// Lateness against the number of machines.
pub(super) fn growing(_effort: Effort) -> Result<Growing> {
    let mut failure = None;
    let curves = KINDS.map(|(name, kind)| {
        Curve::over(name, Law::Linear, &MACHINES, |count| {
            let late = round(kind, count).unwrap_or_else(|error| {
                failure = Some(error);
                Vec::new()
            });
            Samples::new(Unit::Nanoseconds, late).quantile(1.0)
        })
    });
    failure.map_or(Ok(()), Err)?;
    Ok(Growing {
        title: "The latest deadline against the machines",
        file: "growth-deadlines.svg",
        size: "machines due at once",
        intro: "The latest of all machines that are due in the same millisecond.".to_owned(),
        curves: curves.to_vec(),
    })
}
