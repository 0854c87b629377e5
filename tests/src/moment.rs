//! Moments in the life of a goal at which something may come between, and ways to bring pi there.

use goal_sim::{AUDITOR, EXECUTOR, ModelServer, Reply, Script, Steps};
use serde_json::json;

use crate::{Mark, Pi, PiOptions, Tui, World, patience, poll};

/// Where a goal is when something comes between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The executor's answer is being streamed.
    Streaming,
    /// A shell command of the executor is running.
    Tool,
    /// The auditor's answer is being streamed.
    Audit,
    /// A shell command of the auditor is running.
    AuditTool,
    /// pi counts down to its own retry after a 500.
    RetryWait,
    /// pi compacts after the run, before its settle boundary.
    CompactionAfterRun,
    /// pi compacts between two turns of the run.
    CompactionInRun,
    /// The run ended in an error, and the goal waits to start it again.
    BackOff,
}

/// What the executor streams in [`Moment::Streaming`].
const STREAMED: &str = "Let me think about that for a while";
/// What runs in [`Moment::Tool`] and [`Moment::AuditTool`].
const COMMAND: &str = "exec sleep 300";
/// A refusal that pi does not retry and that time may mend.
const ODD_REFUSAL: &str = "the flux capacitor is cold";
/// More tokens than the context window of [`Moment::options`] leaves room for.
const FULL: u64 = 9_000;

impl Moment {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Streaming,
        Self::Tool,
        Self::Audit,
        Self::AuditTool,
        Self::RetryWait,
        Self::CompactionAfterRun,
        Self::CompactionInRun,
        Self::BackOff,
    ];

    /// A pi that can be brought to every moment, again and again.
    pub fn options() -> PiOptions {
        PiOptions::new(Script::new())
            .context_window(EXECUTOR, 10_000)
            .setting("retry.baseDelayMs", json!(60_000))
    }

    /// Whether pi is in a run at this moment.
    pub const fn is_in_run(self) -> bool {
        !matches!(self, Self::BackOff)
    }

    /// Whether an audit is in flight.
    pub const fn is_audit(self) -> bool {
        matches!(self, Self::Audit | Self::AuditTool)
    }

    /// Sets a goal with this objective and brings pi here; returns the mark from before.
    pub fn reach(self, pi: &Pi, objective: &str) -> Mark {
        let mark = pi.mark();
        self.reach_by(pi, || {
            pi.prompt(&format!("/goal {objective}"));
        });
        mark
    }

    /// Scripts the models for this moment, lets `start` begin a run of the goal, and waits.
    pub fn reach_by(self, pi: &Pi, start: impl FnOnce()) {
        let place = self.prepare(pi.world());
        let mark = pi.mark();
        start();
        match self {
            Self::Streaming => {
                pi.wait_for(mark, "streamed text", |record| {
                    record["type"] == "message_update" && record.to_string().contains(STREAMED)
                });
            }
            Self::RetryWait => {
                pi.wait_event(mark, "auto_retry_start");
            }
            Self::BackOff => {
                pi.wait_notice(mark, "goes on in 5 s");
                pi.wait_settled(mark);
            }
            Self::AuditTool => {
                pi.wait_for(mark, "a command of the auditor", |record| {
                    record["type"] == "tool_execution_update"
                        && record.to_string().contains(COMMAND)
                });
            }
            Self::Tool | Self::Audit | Self::CompactionAfterRun | Self::CompactionInRun => {
                place.wait(pi.world());
            }
        }
    }

    /// The same in a terminal.
    pub fn reach_in_terminal(self, tui: &Tui, objective: &str) {
        let place = self.prepare(tui.world());
        tui.submit(&format!("/goal {objective}"));
        match self {
            Self::Streaming => drop(tui.wait_screen(STREAMED)),
            Self::RetryWait => drop(tui.wait_screen("Retrying")),
            Self::BackOff => drop(tui.wait_screen("waiting after a model error")),
            Self::CompactionAfterRun | Self::CompactionInRun => {
                place.wait(tui.world());
                tui.wait_screen("ompacting");
            }
            // The sandbox hides what the command does, but not that it runs.
            Self::AuditTool => drop(tui.wait_screen("… bash")),
            Self::Tool | Self::Audit => place.wait(tui.world()),
        }
    }

    /// Scripts the models for this moment.
    fn prepare(self, world: &World) -> Place {
        let server = &world.server;
        let place = Place::before(self, server);
        let (executor, auditor) = match self {
            Self::Streaming => (vec![Reply::text(STREAMED).stalled()], vec![]),
            Self::Tool => (vec![place.sleeping_call()], vec![]),
            Self::Audit => (vec![claim()], vec![Reply::text("I look at it.").stalled()]),
            Self::AuditTool => (vec![claim()], vec![place.sleeping_call()]),
            Self::RetryWait => (vec![Reply::status(500, "overloaded")], vec![]),
            Self::CompactionAfterRun => (vec![long_answer().prompt_tokens(FULL)], vec![]),
            Self::CompactionInRun => (vec![long_call().prompt_tokens(FULL)], vec![]),
            Self::BackOff => (vec![Reply::status(400, ODD_REFUSAL)], vec![]),
        };
        server.set(EXECUTOR, Steps::of(executor));
        server.set(AUDITOR, Steps::of(auditor));
        server.set_compaction(Reply::text("Never finished.").stalled());
        place
    }
}

/// What the server had seen before a moment was prepared.
struct Place {
    moment: Moment,
    auditor: usize,
    compactions: usize,
    /// The file that a running shell command has made.
    file: String,
}

impl Place {
    fn before(moment: Moment, server: &ModelServer) -> Self {
        Self {
            moment,
            auditor: server.requests_of(AUDITOR).len(),
            compactions: server.compactions().len(),
            file: format!("running-{}", server.requests().len()),
        }
    }

    fn sleeping_call(&self) -> Reply {
        let command = format!("touch {}; {COMMAND}", self.file);
        Reply::call("bash", json!({ "command": command }))
    }

    fn wait(&self, world: &World) {
        let server = &world.server;
        let there = || match self.moment {
            Moment::Tool => world.file(&self.file).is_some(),
            Moment::Audit => server.requests_of(AUDITOR).len() > self.auditor,
            Moment::CompactionAfterRun | Moment::CompactionInRun => {
                server.compactions().len() > self.compactions
            }
            Moment::Streaming | Moment::AuditTool | Moment::RetryWait | Moment::BackOff => {
                unreachable!("seen elsewhere")
            }
        };
        let reached = poll(patience(), || there().then_some(()));
        assert!(reached.is_some(), "pi was not brought to {:?}", self.moment);
    }
}

/// The executor claims completion.
pub fn claim() -> Reply {
    let arguments = json!({ "status": "complete", "completionSummary": "it is done" });
    Reply::call("update_goal", arguments)
}

/// The executor does some work.
pub fn work() -> Reply {
    Reply::call("bash", json!({ "command": "echo working >> work.log" }))
}

/// The auditor looks at something, then approves.
pub fn approval() -> [Reply; 2] {
    [
        Reply::call("bash", json!({ "command": "ls" })),
        Reply::text("Everything is there.\n\n<approved/>"),
    ]
}

fn long_answer() -> Reply {
    Reply::text("word ".repeat(800))
}

fn long_call() -> Reply {
    work().and_text("word ".repeat(800))
}
