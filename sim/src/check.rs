//! The promises, checked at every event. Each keeps its own books from what it sees on the host's
//! side and from what the engine was told; none asks the engine's own counters.
//!
//! | | promise | where |
//! |---|---|---|
//! | S1 | complete only by an approved audit of this goal, with evidence, in time, not aborted | [`verdict`] |
//! | S2 | one audit, one outstanding continuation | [`verdict`], [`requests`] |
//! | S3 | no request after a pause, a clear or an abort until the user acts | [`requests`] |
//! | S4 | caps hold exactly | [`requests`], [`verdict`] |
//! | S5 | every call gets exactly one result | [`requests`] |
//! | S6 | every session is closed, every deadline cleared | [`verdict`] |
//! | S7 | the file gives the goal as it was saved last | [`file`] |
//! | S8 | nothing untrusted reaches a prompt unfenced or raw | [`texts`] |
//! | S9 | every stop has a reason, and its advice works | [`stops`], and the second phase of a run |
//! | S10 | what the provider was sent before never changes because of us | [`texts`] |
//! | L1–L3 | the run ends; a healed goal completes; nothing rests silently | the world |

pub(crate) mod file;
mod requests;
mod stops;
mod texts;
mod verdict;

use goal_engine::{Event, Goal, GoalMessage, GoalTag, PauseReason};

use crate::marks::Mark;
use crate::world::World;
use crate::world::pi::Drive;

/// A broken promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Which: `S1` to `S10`, `L1` to `L3`.
    pub checker: &'static str,
    /// What happened.
    pub what: &'static str,
    /// The case at hand.
    pub more: String,
    /// When, in milliseconds of simulated time.
    pub at_ms: u64,
}

impl Failure {
    /// Equal for the same kind of failure: what a shrunk run must still show.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        format!("{}: {}", self.checker, self.what)
    }
}

/// The books.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    pub(crate) failure: Option<Failure>,
    /// Somebody changed the workspace since the audit in flight was prepared.
    pub(crate) workspace_changed: bool,
    /// The driver's last look found a change.
    pub(crate) inspected_changed: bool,
    audit: Option<verdict::AuditBook>,
    runs: requests::RunBook,
}

impl Checks {
    /// The user did something that may start work.
    pub(crate) fn user_acted(&mut self) {
        self.runs.user_acted();
    }

    /// The user said something to the model.
    pub(crate) fn user_spoke(&mut self) {
        self.runs.user_acted();
        self.runs.user_spoke();
    }

    /// The user stopped what rests.
    pub(crate) fn interrupted(&mut self, now: u64) {
        self.runs.interrupted = self.runs.last_tag.clone().zip(Some(now));
    }

    pub(crate) fn aborted_by_user(&mut self, drive: &Drive) {
        if let Drive::Goal(tag) = drive {
            self.runs.aborted = Some(tag.clone());
        }
    }

    /// Another place of the same session's tree: what is in flight ends by itself.
    pub(crate) fn branch_changes(&mut self) {
        self.runs = requests::RunBook::default();
    }

    pub(crate) fn session_opens(&mut self) {
        self.audit = None;
        self.runs = requests::RunBook::default();
    }

    pub(crate) fn core_is_lost(&mut self) {
        self.audit = None;
        self.runs.users_audit = false;
        self.runs.muddied = true;
        self.runs.idle_turns = 0; // What a core counts inside a run, its successor counts anew.
    }

    /// The host leaves rest.
    pub(crate) fn host_runs(&mut self, now: u64) {
        self.runs.running_since = now;
        self.run_begins();
    }

    pub(crate) fn run_begins(&mut self) {
        self.runs.idle_turns = 0;
        self.runs.worked = false;
    }

    pub(crate) fn segment_begins(&mut self, message: &GoalMessage) {
        self.runs.segment_begins(&message.details);
    }

    /// A message of this tag begins something.
    pub(crate) fn is_another(&self, tag: &GoalTag) -> bool {
        self.runs.last_tag.as_ref() != Some(tag) || self.runs.begins()
    }

    fn full_is_known(&mut self, now: u64) -> bool {
        self.runs.full_is_known(now)
    }

    fn is_muddied(&self) -> bool {
        self.runs.muddied
    }

    fn book_users_audit(&mut self, tag: Option<GoalTag>) {
        self.runs.audited = tag;
        self.runs.audited_by_user = true;
        self.runs.users_audit = true;
        self.runs.muddied = true;
    }

    const fn users_audit_ends(&mut self) {
        self.runs.users_audit = false;
    }

    pub(crate) fn worked(&mut self) {
        self.runs.work();
    }

    pub(crate) fn idle_turn(&mut self) {
        self.runs.idle_turns += 1;
    }

    pub(crate) fn boundary(&mut self, errored: bool) {
        self.runs.errored = errored;
    }
}

/// How a goal stood before an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stood {
    tag: GoalTag,
    pursuing: bool,
}

impl Stood {
    pub(crate) fn of(goal: &Goal) -> Self {
        Self {
            tag: goal.tag(),
            pursuing: goal.is_pursuing(),
        }
    }
}

impl World {
    /// Before the engine takes an event: what the checkers must know of it.
    pub(crate) fn check_before(&mut self, event: &Event) {
        let now = self.now();
        if matches!(
            event,
            Event::Command(_) | Event::Edited { .. } | Event::Confirmed { .. }
        ) {
            self.checks_mut().runs.muddied = true;
        }
        if let Some(book) = &mut self.checks_mut().audit {
            book.note(now, event);
        }
    }

    /// After it.
    pub(crate) fn check_after(
        &mut self,
        event: &Event,
        before: Option<&Stood>,
        out: &[goal_engine::Effect],
    ) {
        self.check_verdict(event, before, out);
        self.check_stop(event, before, out);
        self.check_shown(out);
        self.check_opened(event);
    }

    /// A goal that was loaded does nothing by itself.
    fn check_opened(&mut self, event: &Event) {
        let Event::SessionOpened(opened) = event else {
            return;
        };
        if opened.branch.audit_lost {
            self.meet(Mark::AuditLostTold);
        }
        let pursuing = self.goal_now().is_some_and(Goal::is_pursuing);
        let restarted = matches!(opened.cause, goal_engine::OpenCause::CoreRestart(_));
        if pursuing && !restarted {
            self.broken("S3", "a goal that was loaded goes on by itself");
        }
        let held = self
            .goal_now()
            .is_some_and(|goal| *goal.phase() == goal_engine::Phase::Held);
        if held {
            self.meet(Mark::Held);
        }
    }
}

/// The mark of a stop.
pub(crate) const fn pause_mark(reason: &PauseReason) -> Mark {
    match reason {
        PauseReason::User => Mark::PausedUser,
        PauseReason::Aborted => Mark::PausedAborted,
        PauseReason::NoProgress => Mark::PausedNoProgress,
        PauseReason::Repetition => Mark::PausedRepetition,
        PauseReason::ModelErrors(_) => Mark::PausedModelErrors,
        PauseReason::Rejections => Mark::PausedRejections,
        PauseReason::AuditFailures(_) => Mark::PausedAuditFailures,
        PauseReason::ContinuationLimit => Mark::PausedContinuationLimit,
        PauseReason::AuditLimit => Mark::PausedAuditLimit,
        PauseReason::ToolsOff => Mark::PausedToolsOff,
        PauseReason::CoreLost => Mark::PausedCoreLost,
    }
}

/// Whether a message of this tag belongs to something that ended under `other`.
pub(crate) fn is_not_newer(tag: &GoalTag, other: &GoalTag) -> bool {
    tag.id == other.id && tag.generation <= other.generation
}
