//! What a report holds. The names of the fields are the names in JSON: stable from version 1 on
//! (`docs/report.md`). Moments are milliseconds since 1970 (UTC), durations milliseconds.

use goal_protocol::{CheckWire, CostWire, GateWire, UsageWire};
use serde::Serialize;

/// Version of the JSON form.
pub(crate) const VERSION: u32 = 1;

/// What a session file says about its goals.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Always `goal-auditor report`.
    pub kind: &'static str,
    /// Version of this form.
    pub v: u32,
    /// Program and version that made it.
    pub generator: String,
    /// The session.
    pub session: Session,
    /// Its goals, newest first.
    pub goals: Vec<Goal>,
    /// What could not be read, in sentences.
    pub notes: Vec<String>,
}

/// The session a report is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The file.
    pub path: String,
    /// pi's id of it.
    pub id: Option<String>,
    /// The name the user gave it.
    pub name: Option<String>,
    /// The working directory.
    pub cwd: Option<String>,
    /// When it began.
    pub started_at: Option<u64>,
    /// When its current branch was written to last.
    pub last_at: Option<u64>,
}

/// One goal, from its beginning to its end or to where it stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Goal {
    /// Its id.
    pub id: String,
    /// The objective as it was last, as the user gave it.
    pub objective: String,
    /// When it was set.
    pub created_at: u64,
    /// When it was approved, accepted, cleared or replaced.
    pub ended_at: Option<u64>,
    /// How it stands or ended.
    pub state: State,
    /// Time spent pursuing it, as far as the file tells.
    pub active_ms: u64,
    /// What it is judged by, as frozen last.
    pub gate: GateWire,
    /// Its completion was decided by the user, not by an auditor.
    pub accepted_by_user: bool,
    /// What happened to it, oldest first.
    pub history: Vec<Happening>,
    /// Its runs, oldest first.
    pub runs: Vec<Run>,
    /// Its audits, oldest first.
    pub audits: Vec<Audit>,
    /// Sums.
    pub totals: Totals,
}

/// How a goal stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// In a word.
    pub standing: Standing,
    /// Of a pause: its saved reason.
    pub reason: Option<String>,
    /// Of a pause: the kind inside the reason.
    pub kind: Option<String>,
    /// Of a pause: what was quoted.
    pub detail: Option<String>,
}

/// How a goal stands, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Saved as being pursued; on hold if its session was left since.
    Pursuing,
    /// On hold.
    Held,
    /// Stopped for a reason.
    Paused,
    /// Complete, by an audit.
    Approved,
    /// Ended by the user's word, not by an audit.
    Accepted,
    /// Dropped by the user.
    Cleared,
    /// Another goal took its place.
    Replaced,
    /// Gone in a way this version does not know.
    Ended,
}

/// One thing that happened to a goal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Happening {
    /// When.
    pub at: u64,
    /// The goal's generation from then on.
    pub generation: u64,
    /// What.
    pub event: Event,
    /// Of a pause: its saved reason.
    pub reason: Option<String>,
    /// Of a pause: the kind inside the reason.
    pub kind: Option<String>,
    /// Of a pause: what was quoted.
    pub detail: Option<String>,
    /// Of an audit: its number.
    pub audit: Option<u32>,
    /// Of `set` and `edited`: the objective from then on.
    pub objective: Option<String>,
    /// Settings of the gate that differ from before, as `name: old → new`.
    pub changes: Vec<String>,
}

/// What kind of thing happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The user set the goal.
    Set,
    /// The user changed the objective.
    Edited,
    /// The goal stopped.
    Paused,
    /// It was saved as being on hold.
    Held,
    /// The user let it go on.
    Resumed,
    /// Only what it is judged by changed.
    Changed,
    /// An audit ended.
    Audited,
    /// It became complete.
    Approved,
    /// The user ended it as it was.
    Accepted,
    /// The user dropped it.
    Cleared,
    /// Another goal took its place.
    Replaced,
    /// It ended in a way this version does not know.
    Ended,
}

/// One run of the agent for a goal.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// Counted over the goal's life, from 1.
    pub number: u32,
    /// The goal's generation.
    pub generation: u64,
    /// What began it.
    pub origin: Origin,
    /// When it began.
    pub began_at: u64,
    /// When it was written to last.
    pub ended_at: u64,
    /// What came of it.
    pub result: RunResult,
    /// It was broken off: by the user, or because the goal stopped.
    pub aborted: bool,
    /// Answers of the model.
    pub turns: u32,
    /// Calls of tools that worked, the goal's own not counted.
    pub calls_ok: u32,
    /// Calls of tools that failed, the goal's own not counted.
    pub calls_failed: u32,
    /// Calls of the goal's own tools.
    pub goal_calls: u32,
    /// Numbers of the audits in it.
    pub audits: Vec<u32>,
    /// Answers that ended in an error, also those that a retry mended.
    pub errors: u32,
    /// The words of the last such error.
    pub error: Option<String>,
    /// The beginning of the agent's last words.
    pub last_text: Option<String>,
    /// Messages of the user in it.
    pub user_messages: u32,
    /// Compactions in it.
    pub compactions: u32,
    /// What the agent's model used.
    pub spent: Spent,
}

/// What began a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The goal was set or edited.
    Start,
    /// The user let it go on.
    Resume,
    /// The loop went on by itself.
    Continuation,
    /// The user wrote while the goal waited after an error.
    User,
}

/// What came of a run. The first that fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunResult {
    /// Its last answer was an error of the model.
    Error,
    /// A tool other than the goal's own worked.
    Work,
    /// No work, but completion was claimed.
    Claim,
    /// Broken off before any work.
    Aborted,
    /// Nothing but words, or failing tools.
    Empty,
    /// No answer at all is in the file.
    Lost,
}

/// One audit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Audit {
    /// Counted over the goal's life, from 1.
    pub number: u32,
    /// The goal's generation.
    pub generation: u64,
    /// The number of the run that claimed completion.
    pub run: Option<u32>,
    /// The user asked for it, without a claim of the agent.
    pub by_user: bool,
    /// Its outcome in a word.
    pub outcome: Outcome,
    /// The outcome as saved.
    pub outcome_name: String,
    /// The reason inside the outcome.
    pub why: Option<String>,
    /// What failed, in the provider's words or ours.
    pub failure: Option<String>,
    /// What the agent claimed.
    pub claim: Option<String>,
    /// `provider/id` of the auditor.
    pub model: String,
    /// Its thinking level.
    pub thinking_level: Option<String>,
    /// Every tool call of the auditor.
    pub checks: Vec<CheckWire>,
    /// Those that ended without error.
    pub checks_ok: usize,
    /// Prompts it was given, reminders included.
    pub attempts: u32,
    /// When it began.
    pub started_at: u64,
    /// How long it took.
    pub duration_ms: u64,
    /// `overlay`, `fingerprint` or `none`.
    pub rung: String,
    /// Fingerprint of the workspace before.
    pub before: Option<String>,
    /// Fingerprint of the workspace after.
    pub after: Option<String>,
    /// What the goal was judged by.
    pub gate: GateWire,
    /// What the auditor's model used.
    pub spent: Spent,
    /// Its report in full: the account of each requirement, and the verdict.
    pub report: String,
}

/// The outcome of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The goal is complete.
    Approved,
    /// The auditor's judgement: not done.
    Disapproved,
    /// No readable verdict.
    NoVerdict,
    /// The audit could not be made.
    Failed,
    /// What was judged was no longer there.
    Stale,
    /// Stopped by the user or the host.
    Aborted,
    /// A name this version does not know.
    Unknown,
}

impl Outcome {
    pub(crate) fn from_name(name: &str) -> Self {
        match name {
            "approved" => Self::Approved,
            "disapproved" => Self::Disapproved,
            "no_verdict" => Self::NoVerdict,
            "failed" => Self::Failed,
            "stale" => Self::Stale,
            "aborted" => Self::Aborted,
            _ => Self::Unknown,
        }
    }
}

/// Sums over a goal's life.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// Runs.
    pub runs: usize,
    /// Runs with work.
    pub runs_work: usize,
    /// Runs that only claimed completion.
    pub runs_claim: usize,
    /// Runs without work.
    pub runs_empty: usize,
    /// Runs that ended in an error.
    pub runs_error: usize,
    /// Runs broken off before any work, or lost.
    pub runs_aborted: usize,
    /// Calls of tools that worked.
    pub calls_ok: u64,
    /// Calls of tools that failed.
    pub calls_failed: u64,
    /// Audits.
    pub audits: usize,
    /// Audits that approved.
    pub audits_approved: usize,
    /// Audits that disapproved.
    pub audits_disapproved: usize,
    /// Audits without a verdict: no verdict, failed, stale, aborted.
    pub audits_other: usize,
    /// Time the audits took.
    pub audits_ms: u64,
    /// What the agent's model used in the runs.
    pub executor: Spent,
    /// What the auditor's model used.
    pub auditor: Spent,
}

/// Tokens, and their cost where pi knows a price.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub struct Spent {
    /// Prompt tokens that no cache had.
    pub input: u64,
    /// Generated tokens.
    pub output: u64,
    /// Prompt tokens read from a cache.
    pub cache_read: u64,
    /// Prompt tokens written to a cache.
    pub cache_write: u64,
    /// All of them.
    pub total_tokens: u64,
    /// Cost, in the unit of pi's price list (US dollars).
    pub cost: f64,
}

impl Spent {
    pub(crate) fn add(&mut self, other: &Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.total_tokens = self.total_tokens.saturating_add(other.total_tokens);
        // Saturating like the counts: there is no number for an infinite cost in JSON.
        self.cost = (self.cost + other.cost).min(f64::MAX);
    }
}

impl From<&UsageWire> for Spent {
    fn from(usage: &UsageWire) -> Self {
        let CostWire { total, .. } = usage.cost;
        Self {
            input: count(usage.input),
            output: count(usage.output),
            cache_read: count(usage.cache_read),
            cache_write: count(usage.cache_write),
            total_tokens: count(usage.total_tokens),
            cost: if total.is_finite() {
                total.max(0.0)
            } else {
                0.0
            },
        }
    }
}

/// A count as pi saves it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and maps what is no number to 0"
)]
const fn count(value: f64) -> u64 {
    value as u64
}
