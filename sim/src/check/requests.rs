//! S2 to S5: requests, caps and calls, counted on the host's side.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a checker names what it watches, and lets the rest pass"
)]

use goal_engine::{
    AuditOutcome, Effect, Ended, Goal, GoalMessage, GoalTag, MessageDetails, Phase, SavedGoal,
    ToolAnswer,
};

use crate::check::is_not_newer;
use crate::marks::Mark;
use crate::world::World;
use crate::world::pi::{Drive, Stage};

/// Requests without successful work between two acts of the user. What the caps allow for the worst
/// of models is far less; what runs away is far more.
const FRUITLESS_REQUESTS_MAX: u32 = 400;
/// No two things that cross on a wire lie further apart, in milliseconds.
const CROSSING_MS: u64 = 3_000;
/// Model turns in a row without work that end a run of a goal (spec §4).
const IDLE_TURNS_MAX: u32 = 20;
/// Errored runs in a row before a pause (spec §4).
const ERRORED_RUNS_MAX: u32 = 5;

/// Runs since the session was opened.
#[derive(Debug, Default)]
pub(crate) struct RunBook {
    /// What stopped, and may not ask for anything any more.
    stopped: Option<GoalTag>,
    pub(super) aborted: Option<GoalTag>,
    /// Stopped at rest, and when: what was asked for before may cross the key on the wire.
    pub(super) interrupted: Option<(GoalTag, u64)>,
    pub(super) last_tag: Option<GoalTag>,
    continuations: u32,
    empty: u32,
    errored_runs: u32,
    audits: u32,
    audited_by_agent: bool,
    pub(super) audited_by_user: bool,
    /// The user's audit goes on.
    pub(super) users_audit: bool,
    /// The goal that the user had audited last.
    pub(super) audited: Option<GoalTag>,
    /// The message of a segment that has just begun; others that are delivered begin nothing.
    expected: Option<(GoalTag, u32)>,
    pub(super) idle_turns: u32,
    pub(super) worked: bool,
    pub(super) errored: bool,
    fruitless: u32,
    /// A command, or the loss of the core, came in between: exact counts are the core's own.
    pub(super) muddied: bool,
    /// When the host left rest.
    pub(super) running_since: u64,
    /// When a full message was sent last.
    full_at: Option<u64>,
}

impl RunBook {
    pub(super) fn user_acted(&mut self) {
        self.fruitless = 0;
    }

    /// A full message is sent. True if that of another was sent so long ago that the core knew.
    pub(super) fn full_is_known(&mut self, now: u64) -> bool {
        let before = self.full_at.replace(now);
        before.is_none_or(|at| now > at + CROSSING_MS)
    }

    pub(super) fn user_spoke(&mut self) {
        self.empty = 0;
    }

    pub(super) const fn begins(&self) -> bool {
        self.expected.is_some()
    }

    pub(super) fn work(&mut self) {
        self.worked = true;
        self.fruitless = 0;
        self.idle_turns = 0;
    }

    /// A start or a resume (`seq` 0), a new beginning after an edit, or a continuation.
    pub(super) fn segment_begins(&mut self, details: &MessageDetails) {
        let seq = details.seq;
        self.expected = Some((details.tag.clone(), seq));
        let edited = self
            .last_tag
            .as_ref()
            .is_some_and(|tag| *tag != details.tag);
        let worked = std::mem::take(&mut self.worked);
        let errored = std::mem::take(&mut self.errored);
        self.idle_turns = 0;
        if seq == 0 {
            // The start was asked for before the audit that goes on, or is over already: they crossed.
            let crossed = self.users_audit || self.audited.as_ref() == Some(&details.tag);
            self.muddied = crossed;
            self.audited_by_user = crossed;
            self.continuations = 0;
            self.empty = 0;
            self.errored_runs = 0;
            self.audits = 0;
            return;
        }
        if edited {
            self.continuations = seq;
            self.muddied = true; // Its start met a run that was going on, and was not seen here.
            return;
        }
        self.continuations += 1;
        if std::mem::take(&mut self.audited_by_user) {
            return; // The run before was not judged: it made room for the user's audit.
        }
        if errored {
            self.errored_runs = if worked { 1 } else { self.errored_runs + 1 };
        } else {
            self.errored_runs = 0;
            self.empty = if worked { 0 } else { self.empty + 1 };
        }
        if worked {
            self.empty = 0;
        }
    }
}

impl World {
    /// A message of ours is about to be sent to the model.
    pub(crate) fn check_message(&mut self, message: &GoalMessage) {
        self.check_text(
            &message.text,
            "S8",
            "a message to the executor holds raw text of others",
        );
        self.check_prefix(message);
        let details = &message.details;
        if details.totals.continuations != details.seq {
            self.broken("S7", "a message does not carry what was counted");
        }
        let fresh = details.seq == 0 && details.full;
        let known = self
            .checks_mut()
            .runs
            .last_tag
            .as_ref()
            .map(|tag| tag.id.clone());
        if fresh && known.as_ref() != Some(&details.tag.id) {
            self.work_begins();
        }
        let this = Some((details.tag.clone(), details.seq));
        let begins = self
            .checks_mut()
            .runs
            .expected
            .take_if(|begun| Some(&*begun) == this.as_ref());
        if begins.is_none() {
            return; // It was asked for in another life of the run, or repeats what is known.
        }
        self.checks_mut().runs.last_tag = Some(details.tag.clone());
        let goal = self.goal_now().cloned();
        let Some(goal) = goal.filter(|goal| goal.is(&details.tag)) else {
            return; // The goal has moved on meanwhile; whatever this starts is ended.
        };
        let runs = &self.checks_mut().runs;
        let limit = goal.gate().max_continuations;
        if runs.muddied {
            return;
        }
        let broken = if limit.is_some_and(|limit| details.seq.max(runs.continuations) > limit) {
            Some("more continuations than allowed")
        } else if runs.continuations != details.seq {
            Some("continuations are counted wrongly")
        } else if runs.empty >= goal.gate().max_empty_continuations {
            Some("continued after too many empty runs")
        } else if runs.errored_runs >= ERRORED_RUNS_MAX {
            Some("restarted after too many errored runs")
        } else {
            None
        };
        if let Some(what) = broken {
            let more = format!("seq {}, {runs:?}", details.seq);
            self.broken_with("S4", what, more);
        }
    }

    /// The executor's model is about to be asked.
    pub(crate) fn check_request(&mut self) {
        let drive = self.drive_now().clone();
        let now = self.now();
        let runs = &mut self.checks_mut().runs;
        runs.fruitless += 1;
        if runs.fruitless > FRUITLESS_REQUESTS_MAX {
            return self.broken("S4", "too many requests without work");
        }
        let Drive::Goal(tag) = &drive else { return };
        let pursued = self
            .goal_now()
            .is_some_and(|goal| goal.is_pursuing() && goal.is(tag));
        let runs = &self.checks_mut().runs;
        let broken = if runs
            .stopped
            .as_ref()
            .is_some_and(|stop| is_not_newer(tag, stop))
        {
            Some(("S3", "a request for a goal that stopped"))
        } else if runs.aborted.as_ref() == Some(tag) {
            Some(("S3", "a request after the user's abort"))
        } else if runs
            .interrupted
            .as_ref()
            .is_some_and(|(stop, at)| stop == tag && now > at + CROSSING_MS)
        {
            Some(("S3", "a request after the user's interrupt"))
        } else if pursued && runs.idle_turns >= IDLE_TURNS_MAX {
            Some(("S4", "a request after too many turns without work"))
        } else {
            None
        };
        if let Some((checker, what)) = broken {
            self.broken_with(checker, what, format!("{tag:?}"));
        }
    }

    /// A run is about to be started by us.
    pub(crate) fn check_start(&mut self) {
        if self.start_is_outstanding() {
            self.broken("S2", "two continuations are outstanding");
        }
    }

    /// A start reaches a host that runs: they may have crossed on the wire, and no more than that.
    pub(crate) fn check_start_in_run(&mut self) {
        let since = self.checks_mut().runs.running_since;
        if self.now() > since + CROSSING_MS {
            self.broken("S2", "a run was started beside one that goes on");
        }
        // It is a continuation more, and whether the run it joins was one is the core's to say.
        self.checks_mut().runs.muddied = true;
    }

    /// The host performs an effect.
    pub(crate) fn check_performed(&mut self, effect: &Effect) {
        match effect {
            Effect::SaveGoal(SavedGoal::Present { goal, .. }) => self.note_saved(goal),
            Effect::SaveGoal(SavedGoal::Gone { id, ended }) => self.note_gone(id, *ended),
            Effect::SaveAudit(record) if record.details.outcome == AuditOutcome::Disapproved => {
                self.note_refusal();
            }
            Effect::ActivateTools => self.check_tools_are_off(),
            Effect::PromptAuditor { text, .. } => {
                self.check_text(text, "S8", "a reminder holds raw text of others");
            }
            _ => {}
        }
    }

    fn note_saved(&mut self, goal: &Goal) {
        if goal.is_pursuing() {
            let runs = &mut self.checks_mut().runs;
            runs.stopped.take_if(|stopped| goal.is(stopped)); // An edit crossed the stop.
        }
        if let Phase::Paused(stop) = goal.phase() {
            let known = self.checks_mut().runs.stopped.replace(goal.tag());
            if known == Some(goal.tag()) {
                return; // Saved again for another reason.
            }
            self.meet(crate::check::pause_mark(&stop.reason));
            self.check_reached(goal, &stop.reason);
        }
    }

    fn note_gone(&mut self, id: &str, ended: Ended) {
        self.meet(match ended {
            Ended::Approved => Mark::EndedApproved,
            Ended::Cleared => Mark::EndedCleared,
            Ended::Replaced => Mark::EndedReplaced,
            Ended::Accepted => Mark::EndedAccepted,
        });
        if ended == Ended::Approved {
            self.note_completion();
        } else {
            self.checks_mut().runs.stopped = Some(GoalTag {
                id: id.to_owned(),
                generation: u64::MAX,
            });
        }
    }

    /// A cap stops a goal when it is reached, and not before.
    fn check_reached(&mut self, goal: &Goal, reason: &goal_engine::PauseReason) {
        use goal_engine::PauseReason as Why;
        let runs = &self.checks_mut().runs;
        if runs.muddied || runs.last_tag.is_none() {
            return; // Counts of before the loss are the core's own.
        }
        let gate = goal.gate();
        let early = match reason {
            Why::NoProgress => {
                let empty = runs.empty + u32::from(!runs.worked);
                empty < gate.max_empty_continuations && runs.idle_turns < IDLE_TURNS_MAX
            }
            Why::ContinuationLimit => gate
                .max_continuations
                .is_none_or(|limit| runs.continuations < limit),
            _ => false,
        };
        if early {
            let more = format!("{reason}: {runs:?}");
            self.broken_with("S4", "a cap stopped a goal before it was reached", more);
        }
    }

    pub(super) fn count_audit(&mut self, goal: &Goal) {
        let runs = &mut self.checks_mut().runs;
        runs.audits += 1;
        runs.audited_by_agent = true;
        let audits = runs.audits;
        if runs.muddied {
            return;
        }
        if goal.gate().max_audits.is_some_and(|limit| audits > limit) {
            self.broken("S4", "more audits than allowed");
        }
    }

    pub(super) fn uncount_audit(&mut self) {
        let runs = &mut self.checks_mut().runs;
        if std::mem::take(&mut runs.audited_by_agent) {
            runs.audits = runs.audits.saturating_sub(1);
        }
    }

    /// The result of a call of ours arrives.
    pub(crate) fn check_result(&mut self, answer: &ToolAnswer) {
        let waits = self.call_now() == Some(answer.call_id.as_str());
        if !waits {
            self.broken_with(
                "S5",
                "a call got a second result, or was never made",
                answer.call_id.clone(),
            );
        }
        self.check_text(&answer.text, "S8", "a tool result holds raw text of others");
    }

    /// A run comes to rest.
    pub(crate) fn check_calls_answered(&mut self) {
        if self.call_now().is_some() {
            self.broken("S5", "a run rests while a call waits for its result");
        }
    }

    /// Nothing is due any more.
    pub(crate) fn check_quiet(&mut self) {
        match self.stage_now() {
            Stage::Idle => {}
            Stage::CallingOurs => return self.broken("S5", "a call never gets its result"),
            _ => return self.broken("L1", "pi waits for ever"),
        }
        if self.auditor_is_open() {
            return self.broken("S6", "an auditor is left open");
        }
        let pursuing = self.goal_now().is_some_and(Goal::is_pursuing);
        if pursuing {
            return self.broken("L3", "a pursued goal rests silently");
        }
        self.check_file_tells_the_truth();
    }
}
