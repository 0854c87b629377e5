//! A goal worked on over many runs, each with one cheap call: what a run costs, and what is sent.

use std::time::Duration;

use anyhow::{Result, ensure};
use goal_sim::Exchange;
use goal_tests::{EXECUTOR, Pi, Reply, Script, Steps};
use serde_json::json;

use super::contender::Contender;
use super::memory::Memory;
use super::traffic;

/// The runs that are measured.
pub(super) const RUNS: usize = 50;
/// Runs before them, until pi's code is warm.
const WARM_UP: usize = 3;
/// How long all of them may take.
const LIMIT: Duration = Duration::from_secs(60);
/// A goal of ordinary length.
pub(super) const OBJECTIVE: &str = "Read notes.txt, count its lines, and write the count into \
     count.txt; then check that the number is right and that no other file was changed.";

/// What one pi showed.
pub(super) struct Walk {
    /// All it asked, with the answers.
    pub(super) exchanges: Vec<Exchange>,
    /// Before the goal.
    pub(super) at_rest: Memory,
    /// After the last run.
    pub(super) at_end: Memory,
}

impl Walk {
    /// Lets one pi work.
    pub(super) fn take(contender: Contender) -> Result<Self> {
        let options = contender.options(Script::new().executor(script()));
        let pi = Pi::start(options.file("notes.txt", "one\ntwo\nthree\n"));
        pi.quiet(goal_tests::pi::QUIET);
        let at_rest = Memory::of(&pi);
        pi.prompt(&contender.goal(OBJECTIVE));
        pi.server().wait_for_request(EXECUTOR, requests(), LIMIT)?;
        Ok(Self {
            exchanges: pi.server().exchanges(),
            at_rest,
            at_end: Memory::of(&pi),
        })
    }

    /// The pauses before the requests that begin a run, warm ones only.
    pub(super) fn between_runs(&self) -> Vec<Duration> {
        let pauses = traffic::pauses(&self.exchanges);
        let warm = pauses.iter().skip(2 * WARM_UP);
        warm.filter(|(_, request)| !traffic::brings_result(request))
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
        ensure!(work(self) == work(other), "the contenders did other work");
        Ok(())
    }
}

/// Each run reads a file and says something new.
fn script() -> Steps {
    let mut asked = 0;
    Steps::choose(move |request| {
        asked += 1;
        if asked >= requests() {
            return Reply::text("The end.").held("never");
        }
        if traffic::brings_result(request) {
            Reply::text(format!("Part {asked} is done, and the next one follows."))
        } else {
            Reply::call("read", json!({ "path": "notes.txt" }))
        }
    })
}

/// Two a run, and the one that begins the run after the last.
const fn requests() -> usize {
    2 * (WARM_UP + RUNS) + 1
}
