//! One pi with scripted models, from the goal to the last request that is measured.

use std::time::Duration;

use anyhow::{Result, ensure};
use goal_sim::Exchange;
use goal_tests::{EXECUTOR, Pi, Reply, Script, Steps};
use serde_json::json;

use super::contender::Contender;
use super::kept::Kept;
use super::memory::Memory;
use super::traffic;

/// Requests before those that are timed, until pi's code is warm.
const WARM_UP: usize = 6;
/// How long all of it may take.
const LIMIT: Duration = Duration::from_secs(120);
/// A goal of ordinary length.
pub(super) const OBJECTIVE: &str = "Read notes.txt, count its lines, and write the count into \
     count.txt; then check that the number is right and that no other file was changed.";

/// What the executor does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Errand {
    /// So many runs, each with one cheap call and an answer that says something new.
    Runs(usize),
    /// One run, in which so many answers ask for so many cheap calls each.
    Calls { answers: usize, each: usize },
}

impl Errand {
    /// All requests: the last one is that which brings the last result or begins the run after the last.
    const fn requests(self) -> usize {
        match self {
            Self::Runs(runs) => 2 * runs + 1,
            Self::Calls { answers, .. } => answers + 1,
        }
    }

    /// The answers; the last one never comes.
    pub(super) fn script(self) -> Script {
        let mut asked = 0;
        Script::new().executor(Steps::choose(move |request| {
            asked += 1;
            if asked >= self.requests() {
                return Reply::text("The end.").held("never");
            }
            match self {
                Self::Runs(_) if traffic::brings_result(request) => {
                    Reply::text(format!("Part {asked} is done, and the next one follows."))
                }
                Self::Runs(_) => read(1),
                Self::Calls { each, .. } => read(each),
            }
        }))
    }
}

/// What one pi showed.
pub(super) struct Walk {
    /// All it asked, with the answers.
    pub(super) exchanges: Vec<Exchange>,
    /// From typing the goal to its first request.
    pub(super) to_first_request: Duration,
    /// Before the goal.
    pub(super) at_rest: Memory,
    /// After the last request.
    pub(super) at_end: Memory,
    /// In files, after the last request.
    pub(super) kept: Kept,
}

impl Walk {
    /// Lets a fresh pi work.
    pub(super) fn take(contender: Contender, errand: Errand) -> Result<Self> {
        Self::of(&start(contender, errand), contender, errand)
    }

    /// Lets this pi, which is at rest, work.
    pub(super) fn of(pi: &Pi, contender: Contender, errand: Errand) -> Result<Self> {
        pi.quiet(goal_tests::pi::QUIET);
        let at_rest = Memory::of(pi);
        let typed = pi.server().now();
        pi.prompt(&contender.goal(OBJECTIVE));
        pi.server()
            .wait_for_request(EXECUTOR, errand.requests(), LIMIT)?;
        let at_end = Memory::of(pi);
        let exchanges = pi.server().exchanges();
        let arrived = exchanges[0].request.arrived;
        Ok(Self {
            exchanges,
            to_first_request: arrived.saturating_sub(typed),
            at_rest,
            at_end,
            kept: Kept::of(pi),
        })
    }

    /// The pauses before the requests that begin a run, warm ones only.
    pub(super) fn between_runs(&self) -> Vec<Duration> {
        self.pauses(false)
    }

    /// The pauses before the requests that bring results, warm ones only.
    pub(super) fn after_calls(&self) -> Vec<Duration> {
        self.pauses(true)
    }

    fn pauses(&self, after_calls: bool) -> Vec<Duration> {
        let pauses = traffic::pauses(&self.exchanges);
        let warm = pauses.iter().skip(WARM_UP);
        warm.filter(|(_, request)| traffic::brings_result(request) == after_calls)
            .map(|(pause, _)| *pause)
            .collect()
    }

    /// Fails unless the models' own words and the results of their calls are the same in both.
    pub(super) fn same_work(&self, other: &Self) -> Result<()> {
        let work = |walk: &Self| {
            let last = walk.exchanges.last().map(|exchange| &exchange.request);
            let messages = last.map(|request| request.messages.clone());
            let of_model = messages.unwrap_or_default().into_iter();
            let of_model = of_model.filter(|m| m.role == "assistant" || m.role == "tool");
            of_model.collect::<Vec<_>>()
        };
        ensure!(!work(self).is_empty(), "a contender did no work");
        ensure!(work(self) == work(other), "the contenders did other work");
        Ok(())
    }
}

/// Walks of several contenders in turns; fails unless all of them do the same work.
pub(super) fn in_turns<const N: usize>(
    contenders: [Contender; N],
    rounds: usize,
    mut take: impl FnMut(usize, Contender) -> Result<Walk>,
) -> Result<[(Contender, Vec<Walk>); N]> {
    let mut all = contenders.map(|contender| (contender, Vec::new()));
    for round in 1..=rounds {
        for (contender, walks) in &mut all {
            walks.push(take(round, *contender)?);
        }
        let newest = || all.iter().filter_map(|(_, walks)| walks.last());
        for (walk, other) in newest().zip(newest().skip(1)) {
            walk.same_work(other)?;
        }
    }
    Ok(all)
}

fn start(contender: Contender, errand: Errand) -> Pi {
    let options = contender.options(errand.script());
    Pi::start(options.file("notes.txt", NOTES))
}

/// What is read in every call.
pub(super) const NOTES: &str = "one\ntwo\nthree\n";

fn read(times: usize) -> Reply {
    let arguments = json!({ "path": "notes.txt" });
    (1..times).fold(Reply::call("read", arguments.clone()), |reply, _| {
        reply.and_call("read", arguments.clone())
    })
}
