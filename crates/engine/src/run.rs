//! A run: who it belongs to, what it did, and what happens at its settle boundary.

use goal_state::{
    Decision, Goal, GoalTag, IDLE_TURNS_MAX, ModelErrorKind, PauseReason, RunEnd, RunSummary, Stop,
};

use crate::canary::Canary;
use crate::effect::{Effect, GoalMessage, Level, Notice, Proposal, SavedGoal};
use crate::engine::{Engine, bounded};
use crate::event::{CompactionEnded, RunSettled, Settling, ToolFinished};
use crate::message::NudgeWhy;
use crate::model_error::classify;
use crate::say;
use crate::start::{Begin, Waiting};

/// A run of the host, from leaving rest (or a taken continuation) to its settle boundary.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Run {
    /// The goal and generation it began under; `None` is a run of the user's own.
    pub(crate) tag: Option<GoalTag>,
    /// The user said something that began it, or that it takes up.
    users: bool,
    did_work: bool,
    wrote: bool,
    turn_worked: bool,
    idle_turns: u32,
    pub(crate) dead_calls: u32,
    /// The last call refused for its name or its arguments.
    trouble: Option<(String, String)>,
    /// The user stopped the run's audit; the goal pauses at the run's end.
    pub(crate) stopped_by_user: bool,
    /// Its settle boundary was decided.
    decided: bool,
}

impl Run {
    pub(crate) fn of(tag: Option<GoalTag>) -> Self {
        Self {
            tag,
            ..Self::default()
        }
    }

    /// Keeps why a call came to nothing, for the next nudge.
    pub(crate) fn note_trouble(&mut self, tool: &str, error: String) {
        self.trouble = Some((tool.to_owned(), error));
    }

    fn nudge(&self) -> NudgeWhy {
        match &self.trouble {
            None => NudgeWhy::NoWork,
            Some((tool, error)) => NudgeWhy::ToolTrouble {
                tool: tool.clone(),
                error: error.clone(),
            },
        }
    }
}

/// A proposal the host has not taken yet. Until then it counts for nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenProposal {
    number: u64,
    /// The goal it was made for.
    base: Option<GoalTag>,
    /// The goal after it.
    pub(crate) goal: Option<Goal>,
    /// Whether the objections are still owed after it.
    objection_owed: bool,
    /// What is saved with it.
    saved: Option<SavedGoal>,
    /// What was saved last when it was made.
    saved_before: Option<SavedGoal>,
    /// It reminds the user of a goal at rest.
    reminds: bool,
    next: Next,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Next {
    /// The host goes on in the same breath: a new run of the goal.
    Run,
    Rest,
    /// Rest, and start again after so many milliseconds.
    BackOff(u64),
}

impl Engine {
    /// The host left rest.
    pub(crate) fn run_started(&mut self) {
        self.host.running = true;
        if !self.planted(Canary::BackOffOutlivesRun) {
            self.deadlines.back_off = None;
        }
        // Whatever run this is, it takes the place of a restart that waited.
        self.waiting.take_if(|waiting| waiting.is_restart());
        let others = self
            .waiting
            .is_some_and(|waiting| waiting != Waiting::Audit);
        // A start that is outstanding tells by its message which run is its own.
        let known = !others && self.starting.is_none();
        self.run = Some(Run {
            users: std::mem::take(&mut self.user_spoke),
            ..Run::of(self.pursued().filter(|_| known))
        });
        self.turn_result = None;
    }

    /// The start that was asked for has its run.
    pub(crate) fn message_arrived(&mut self, tag: &GoalTag, out: &mut Vec<Effect>) {
        self.starting.take_if(|start| start.tag == *tag);
        self.note_run();
        if self.pursued().as_ref() != Some(tag) {
            return self.stale_message_arrived(out);
        }
        if !self.run_is_the_goals() {
            // What the run did for the user counts for nothing, and was not judged for the goal.
            self.run = Some(Run::of(Some(tag.clone())));
            self.proposal = None;
        }
    }

    /// Stopped or replaced between the request and its arrival. Beside a newer message, or a word of
    /// the user's, it does no harm; alone it would go on with what was stopped.
    fn stale_message_arrived(&self, out: &mut Vec<Effect>) {
        let others = self.run.as_ref().is_some_and(|run| run.users);
        let newer = self.run_is_the_goals() || self.starting.is_some();
        out.extend((!others && !newer).then_some(Effect::EndRun));
    }

    /// A fact that only a run has: a core that was started in its middle did not see it begin.
    pub(crate) fn note_run(&mut self) {
        if self.run.is_none() {
            self.host.running = true;
            self.run = Some(Run::default());
        }
    }

    /// The host says that no run is going. If one was followed here, its end was missed (the core was
    /// lost just then), and nothing may wait for it.
    pub(crate) fn missed_rest(&mut self) {
        self.host.running = false;
        self.run = None;
        self.is_no_longer_busy();
    }

    /// The user said something.
    pub(crate) fn user_message(&mut self) {
        match &mut self.run {
            Some(run) => run.users = true,
            None => self.user_spoke = true,
        }
        if let Some(goal) = self.goal.as_mut().filter(|goal| goal.is_pursuing()) {
            goal.note_user_message();
        }
    }

    /// A call of any tool ended.
    pub(crate) fn tool_finished(&mut self, finished: &ToolFinished) {
        let ours = finished.ours && !self.planted(Canary::OwnToolsAreWork);
        let ran = (finished.ran && !finished.is_error && !finished.aborted)
            || self.planted(Canary::FailedCallsAreWork);
        let Some(run) = &mut self.run else { return };
        let worked = ran && !ours;
        if worked {
            run.did_work = true;
            run.turn_worked = true;
            run.dead_calls = 0;
            run.wrote |= finished.writes;
        } else if finished.is_error && !finished.ran && !finished.aborted {
            let error = finished.error.clone().unwrap_or_default();
            run.note_trouble(&finished.tool, error);
        }
        if worked
            && self.run_is_the_goals()
            && let Some(goal) = &mut self.goal
        {
            goal.note_work();
        }
    }

    /// A model turn ended. A run has no bound of its own, so turns without work are counted.
    pub(crate) fn turn_ended(&mut self, broken_off: bool, out: &mut Vec<Effect>) {
        let ours = self.run_is_the_goals();
        let Some(run) = &mut self.run else { return };
        if std::mem::take(&mut run.turn_worked) {
            run.idle_turns = 0;
        } else if !broken_off {
            // The host's own retries of an error are bounded by the host.
            run.idle_turns += 1;
        }
        let idle = ours && !broken_off && run.idle_turns >= IDLE_TURNS_MAX;
        if idle && !self.planted(Canary::IdleTurnsUncounted) {
            self.stop(Stop::plain(PauseReason::NoProgress), out);
        }
        self.planted_restart(broken_off, out);
    }

    /// The settle boundary: decide, and propose.
    pub(crate) fn settling(&mut self, settling: &Settling, out: &mut Vec<Effect>) {
        self.note_run();
        self.drop_proposal(out);
        self.host.full_message_present = settling.full_message_present;
        let number = self.number();
        let (open, message, effects) = self.propose(number, settling);
        self.proposal = Some(open);
        out.push(Effect::Propose(Proposal {
            number,
            message,
            effects,
        }));
    }

    fn propose(
        &mut self,
        number: u64,
        settling: &Settling,
    ) -> (OpenProposal, Option<GoalMessage>, Vec<Effect>) {
        let base = self.goal.as_ref().map(Goal::tag);
        let before = self.goal.clone();
        let owed = self.objection_owed;
        let mut effects = Vec::new();
        let (next, message) = self.decide(settling, &mut effects);
        // The engine is as before until the proposal is taken.
        let goal = std::mem::replace(&mut self.goal, before);
        let objection_owed = std::mem::replace(&mut self.objection_owed, owed);
        let reminds = self.reminder().is_some();
        let saved = effects.iter().find_map(|effect| {
            if let Effect::SaveGoal(saved) = effect {
                Some(saved.clone())
            } else {
                None
            }
        });
        (
            OpenProposal {
                number,
                base,
                goal,
                objection_owed,
                saved,
                saved_before: self.saved.clone(),
                reminds,
                next,
            },
            message,
            effects,
        )
    }

    /// First match decides (spec §4). Works on the goal in place; the caller puts it back.
    fn decide(
        &mut self,
        settling: &Settling,
        effects: &mut Vec<Effect>,
    ) -> (Next, Option<GoalMessage>) {
        if self.deadlines.abort_grace.is_some() {
            return (Next::Rest, None); // Someone stopped it; the grace decides.
        }
        if self.users_audit_is_due() {
            return (Next::Rest, None); // The goal goes on after it.
        }
        let starts = self
            .pursued()
            .and(self.waiting)
            .and_then(Waiting::at_rest)
            .filter(|begin| *begin != Begin::Restart);
        if starts.is_none() && !self.run_is_the_goals() {
            effects.extend(self.reminder().map(Effect::Notify));
            return (Next::Rest, None);
        }
        let stopped = self.run.as_ref().is_some_and(|run| run.stopped_by_user);
        if stopped && starts.is_none() {
            return self.decide_pause(Stop::plain(PauseReason::Aborted), effects);
        }
        if !settling.tools_active {
            return self.decide_pause(Stop::plain(PauseReason::ToolsOff), effects);
        }
        if let Some(begin) = starts {
            return (Next::Run, self.full_message(begin.is_resumed()));
        }
        let Some((decision, nudge)) = self.judge_run(settling) else {
            return (Next::Rest, None);
        };
        self.follow(decision, &nudge, settling, effects)
    }

    fn judge_run(&mut self, settling: &Settling) -> Option<(Decision, NudgeWhy)> {
        let run = self.run.as_ref()?;
        let summary = summarise(run, settling);
        let nudge = run.nudge();
        self.planted_streak();
        let decision = self.goal.as_mut()?.settle(&summary);
        Some((self.planted_decision(decision), nudge))
    }

    fn follow(
        &mut self,
        decision: Decision,
        nudge: &NudgeWhy,
        settling: &Settling,
        effects: &mut Vec<Effect>,
    ) -> (Next, Option<GoalMessage>) {
        match decision {
            Decision::Continue { nudge: nudged } => {
                let nudge = nudged.then_some(nudge);
                (
                    Next::Run,
                    self.continuation(nudge, settling.full_message_present),
                )
            }
            Decision::BackOff(ms) => {
                let error = settling.error.as_deref().unwrap_or_default();
                effects.push(Effect::Notify(Notice {
                    level: Level::Warning,
                    text: say::backs_off(ms, error),
                }));
                (Next::BackOff(ms), None)
            }
            Decision::Pause(stop) => self.decide_pause(stop, effects),
        }
    }

    /// A pause that happens only when the proposal is taken.
    fn decide_pause(
        &mut self,
        stop: Stop,
        effects: &mut Vec<Effect>,
    ) -> (Next, Option<GoalMessage>) {
        let now = self.clocks.now;
        if let Some(goal) = &mut self.goal {
            goal.pause(bounded(stop), now);
            let active_ms = goal.active_ms(now);
            let goal = goal.clone();
            let text = say::stopped(&goal, self.last_audit.as_ref(), self.asker());
            let saved = SavedGoal::Present {
                goal: Box::new(goal),
                active_ms,
            };
            if !self.newer_version {
                effects.push(Effect::SaveGoal(saved));
            }
            let tells = self.headless.is_none() && !self.planted(Canary::SilentStop);
            let notice = text.filter(|_| tells);
            effects.extend(
                notice
                    .map(|text| Notice {
                        level: Level::Warning,
                        text,
                    })
                    .map(Effect::Notify),
            );
            effects.push(Effect::Ring);
        }
        (Next::Rest, None)
    }

    /// The host performs the proposal.
    pub(crate) fn proposal_taken(&mut self, number: u64, out: &mut Vec<Effect>) {
        let Some(open) = self.proposal.take_if(|open| open.number == number) else {
            return;
        };
        if open.base != self.goal.as_ref().map(Goal::tag) {
            return self.taken_too_late(open, out);
        }
        let paused = self.pursued().is_some() && !open.goal.as_ref().is_some_and(Goal::is_pursuing);
        self.goal = open.goal;
        self.objection_owed = open.objection_owed;
        self.reminded |= open.reminds;
        if let Some(goal) = &self.goal {
            self.generation = self.generation.max(goal.generation());
        }
        if paused {
            self.disarm();
            self.reminded = false;
            self.offers.fall_due();
            // What was saved between question and answer may lie on either side of the pause.
            let crossed = self.saved != open.saved_before;
            self.saved = open.saved.filter(|_| !crossed);
            self.save(out);
            let text = self
                .goal
                .as_ref()
                .and_then(|goal| say::stopped(goal, self.last_audit.as_ref(), self.asker()));
            if let Some(headless) = &mut self.headless {
                headless.reason = text;
            }
        }
        self.after_taken(&open.next);
    }

    /// A command came between question and answer: the host performs what is not true any more.
    fn taken_too_late(&mut self, open: OpenProposal, out: &mut Vec<Effect>) {
        if open.next == Next::Run {
            self.run = Some(Run::of(open.base));
            out.push(Effect::EndRun);
        }
        // The newest entry counts at the next load, and that must not be the stale one.
        if open.saved.is_some() {
            out.extend(self.saved.clone().map(Effect::SaveGoal));
        }
    }

    fn after_taken(&mut self, next: &Next) {
        match next {
            Next::Run => {
                self.deadlines.back_off = None;
                self.waiting.take_if(|waiting| *waiting != Waiting::Audit);
                self.run = Some(Run::of(self.pursued()));
                self.turn_result = None;
            }
            Next::BackOff(ms) => {
                self.waiting = None;
                self.deadlines.back_off = Some(self.clocks.now.after(*ms));
                self.mark_decided();
            }
            Next::Rest => self.mark_decided(),
        }
    }

    fn mark_decided(&mut self) {
        if let Some(run) = &mut self.run {
            run.decided = true;
        }
    }

    /// A message of the user came first, or the answer came too late: as if never asked.
    pub(crate) fn proposal_yielded(&mut self, number: u64, out: &mut Vec<Effect>) {
        if self
            .proposal
            .as_ref()
            .is_some_and(|open| open.number == number)
        {
            self.drop_proposal(out);
        }
    }

    /// Nobody takes what was proposed: what was not saved for its sake is saved now.
    fn drop_proposal(&mut self, out: &mut Vec<Effect>) {
        if self.proposal.take().is_some() {
            self.save(out);
        }
    }

    /// Saves the goal as it is, unless the host may have taken its pause already: saved after that, the
    /// goal would go on if the core were lost just then. What becomes of the proposal saves it.
    pub(crate) fn save_unless_stopping(&mut self, out: &mut Vec<Effect>) {
        let decided = self.proposal.as_ref().and_then(|open| open.goal.as_ref());
        let stops = decided.is_some_and(|goal| !goal.is_pursuing()) && self.pursued().is_some();
        if !stops {
            self.save(out);
        }
    }

    /// The host is at rest.
    pub(crate) fn run_settled(&mut self, settled: RunSettled, out: &mut Vec<Effect>) {
        let was_the_goals = self.run_is_the_goals();
        self.host.running = false;
        self.host.compacting = false;
        self.host.full_message_present = settled.full_message_present;
        self.drop_proposal(out);
        let run = self.run.take().unwrap_or_default();
        self.is_no_longer_busy();
        let waits = self.waiting.is_some();
        if settled.aborted && !settled.by_us {
            // However long ago it was asked for, a start that waits in this run is stopped with it.
            if was_the_goals || waits || self.is_starting() || settled.start_pending {
                self.arm_abort_grace();
            }
        } else if self.deadlines.abort_grace.is_none() && !self.start_waiting(out) {
            let undecided = was_the_goals
                && !run.decided
                && self.deadlines.back_off.is_none()
                && !self.users_audit_is_due();
            if undecided {
                self.settle_at_rest(&run, out);
            } else if settled.start_pending {
                self.start_over(out);
            }
        }
    }

    /// The start that was asked for met a run which ended before its message arrived: it lies in the
    /// host's queue, and begins nothing by itself.
    fn start_over(&mut self, out: &mut Vec<Effect>) {
        let pursued = self.pursued();
        let left = self
            .starting
            .take_if(|start| Some(&start.tag) == pursued.as_ref());
        if left.is_some() {
            // What lies in the queue goes with it, the full message among it.
            let message = self.continuation(None, true);
            self.push_start(message, out);
        }
    }

    /// A run of the goal came to rest without a decision at its boundary (the core was lost there,
    /// or the host skipped it): a goal that is pursued never rests silently.
    fn settle_at_rest(&mut self, run: &Run, out: &mut Vec<Effect>) {
        if run.stopped_by_user {
            return self.arm_abort_grace();
        }
        let summary = RunSummary {
            did_work: run.did_work,
            wrote: run.wrote,
            end: RunEnd::Completed,
            final_text: String::new(),
        };
        let Some(goal) = &mut self.goal else { return };
        match goal.settle(&summary) {
            Decision::Continue { nudge } => {
                let why = run.nudge();
                let present = self.host.full_message_present;
                let message = self.continuation(nudge.then_some(&why), present);
                self.push_start(message, out);
            }
            Decision::BackOff(ms) => {
                self.deadlines.back_off = Some(self.clocks.now.after(ms));
            }
            Decision::Pause(stop) => self.pause(stop, out),
        }
    }

    /// The interrupt key while the host is idle stops a back-off, or the audit the user asked for.
    pub(crate) fn interrupt(&mut self, out: &mut Vec<Effect>) {
        if !self.host.running && self.users_audit_is_due() {
            return self.stop_users_audit(out);
        }
        let waits =
            self.deadlines.back_off.is_some() || self.waiting.is_some() || self.is_starting();
        if waits && !self.host.running && !self.planted(Canary::EscMissesBackOff) {
            self.stop(Stop::plain(PauseReason::Aborted), out);
        }
    }

    /// A compaction ended.
    pub(crate) fn compaction_ended(&mut self, ended: CompactionEnded, out: &mut Vec<Effect>) {
        self.host.compacting = false;
        self.host.full_message_present = ended.full_message_present;
        if ended.idle {
            self.missed_rest();
        }
        if ended.cancelled {
            return self.compaction_cancelled(out);
        }
        if ended.run_goes_on && self.next_request_is_the_goals() && !ended.full_message_present {
            let message = self.full_message(true);
            out.extend(message.map(Effect::SendInRun));
        } else if ended.idle {
            self.start_waiting(out);
        }
    }

    /// Whether the request that follows a compaction without a settle boundary works on the goal.
    fn next_request_is_the_goals(&self) -> bool {
        if self.host.running {
            return self.run_is_the_goals();
        }
        // A compaction before a run: whoever starts it, it will be the goal's unless another waits.
        let others = self.waiting.is_some_and(|waiting| !waiting.is_restart());
        self.pursued().is_some() && !others
    }

    /// Cancelling a compaction is no abort for the host; for the goal it is a stop.
    fn compaction_cancelled(&mut self, out: &mut Vec<Effect>) {
        if self.pursued().is_none() && !self.host.running && self.users_audit_is_due() {
            return self.stop_users_audit(out);
        }
        if self.pursued().is_none() || (self.host.running && !self.run_is_the_goals()) {
            return;
        }
        self.arm_abort_grace();
        if self.host.running {
            out.push(Effect::EndRun);
        }
    }

    /// One notice a stop: a run of the user's own ended while the goal rests.
    fn reminder(&self) -> Option<Notice> {
        let goal = self.goal.as_ref().filter(|goal| !goal.is_pursuing())?;
        let users_own = self.run.as_ref().is_none_or(|run| run.tag.is_none());
        (users_own && !self.reminded).then(|| Notice {
            level: Level::Info,
            text: say::still_resting(goal, self.asker()),
        })
    }
}

fn summarise(run: &Run, settling: &Settling) -> RunSummary {
    let error = settling.error.clone().unwrap_or_default();
    let end = if settling.failed {
        RunEnd::Error(classify(&error), error)
    } else if settling.provider_aborted {
        // The provider broke off although nobody asked it to: a fault like any other.
        RunEnd::Error(ModelErrorKind::Transient, error)
    } else {
        RunEnd::Completed
    };
    RunSummary {
        did_work: run.did_work,
        wrote: run.wrote,
        end,
        final_text: settling.final_text.clone(),
    }
}
