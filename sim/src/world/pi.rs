//! pi's run loop as it was measured: requests, tools, retries, compactions, the settle boundary,
//! aborts; and the facts the shim reports on the way.

use std::collections::VecDeque;

use goal_engine::{
    CompactionEnded, Event, GoalMessage, GoalTag, GoalTool, Proposal, RunSettled, Settling,
    ToolFinished, ToolInvoked,
};

use super::core::Ask;
use super::session::{Sent, What};
use super::{Happening, World};
use crate::entropy::Stream;
use crate::marks::Mark;
use crate::models::{AnswerEnd, Answered, Call, ExecutorKind, Scene, Tool, executor};
use crate::plan::Rates;

/// pi tries a failed request again so often.
const RETRIES_MAX: u32 = 3;
/// The wait before the first; it doubles.
const RETRY_MS: u64 = 2_000;
/// A message of ours is appended with the next request; a run needs this long to begin.
const BEGIN_POWER: u32 = 6;
/// pi does not try again where a quota is used up.
const QUOTA: &str = "insufficient_quota";
/// What stands for the error of an answer that ended for want of room.
const CUT_OFF: &str = "the answer was cut off";
/// Words of pi for a call that an extension blocked.
const BLOCKED: &str = "blocked";

/// Where pi's run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Stage {
    /// At rest.
    #[default]
    Idle,
    /// Asked for, and not yet begun.
    Preparing,
    /// A compaction before the first request.
    CompactingFirst,
    /// A request is out.
    Thinking,
    /// A tool runs.
    Calling,
    /// One of our tools waits for the core.
    CallingOurs,
    /// The end of a turn waits for the core.
    TurnEnding,
    /// A compaction between two turns.
    CompactingBetween,
    /// A compaction after the last turn; after an overflow the request is made again.
    CompactingAfter { retries: bool },
    /// After a compaction, a request waits for the core.
    CompactionAnswer,
    /// pi waits before it tries a failed request again.
    Retrying,
    /// The settle boundary waits for the core.
    Settling,
}

/// Stages by number, for coverage.
pub(crate) const STAGE_NAMES: [&str; 12] = [
    "idle",
    "preparing",
    "compacting first",
    "thinking",
    "calling",
    "calling ours",
    "turn ending",
    "compacting between",
    "compacting after",
    "compaction answer",
    "retrying",
    "settling",
];

impl Stage {
    /// Its number among the names.
    pub(crate) const fn number(self) -> usize {
        match self {
            Self::Idle => 0,
            Self::Preparing => 1,
            Self::CompactingFirst => 2,
            Self::Thinking => 3,
            Self::Calling => 4,
            Self::CallingOurs => 5,
            Self::TurnEnding => 6,
            Self::CompactingBetween => 7,
            Self::CompactingAfter { .. } => 8,
            Self::CompactionAnswer => 9,
            Self::Retrying => 10,
            Self::Settling => 11,
        }
    }
}

/// Who a request is made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Drive {
    /// The user said something.
    User,
    /// Our message did.
    Goal(GoalTag),
}

/// pi's own state.
#[derive(Debug)]
pub(crate) struct Pi {
    pub(crate) stage: Stage,
    /// Changes with every stage; what waits for an older one is void.
    pub(crate) epoch: u32,
    pub(crate) drive: Drive,
    /// The run was aborted.
    pub(crate) aborted: bool,
    /// What the answer in flight will be.
    pub(super) answer: Option<Answered>,
    /// The text of the run's last answer.
    text: String,
    /// The error of the last answer.
    error: Option<String>,
    provider_aborted: bool,
    batch: VecDeque<Call>,
    /// Results of this batch, and whether each ends the run.
    terminated: u32,
    results: u32,
    /// The call of ours that waits.
    pub(crate) call: Option<String>,
    calls: u64,
    pub(crate) turn: u64,
    run_turns: u32,
    retries: u32,
    pub(super) overflowed: bool,
    /// Messages of the user that wait for the end of a turn.
    pub(crate) queued: u32,
    /// Messages of the user that wait until the run would end.
    pub(super) follow_ups: u32,
    /// Messages of ours for the next request.
    pub(crate) steered: Vec<GoalMessage>,
    /// The first message of a run that is prepared.
    first: Option<GoalMessage>,
    /// A compaction the user asked for.
    pub(crate) compacting: bool,
    pub(crate) compact_epoch: u32,
    pub(crate) tools_active: bool,
    /// The goal was approved in this run.
    pub(crate) approved: bool,
    pub(crate) kind: Option<ExecutorKind>,
}

impl Default for Pi {
    fn default() -> Self {
        Self {
            stage: Stage::Idle,
            epoch: 0,
            drive: Drive::User,
            aborted: false,
            answer: None,
            text: String::new(),
            error: None,
            provider_aborted: false,
            batch: VecDeque::new(),
            terminated: 0,
            results: 0,
            call: None,
            calls: 0,
            turn: 0,
            run_turns: 0,
            retries: 0,
            overflowed: false,
            queued: 0,
            follow_ups: 0,
            steered: Vec::new(),
            first: None,
            compacting: false,
            compact_epoch: 0,
            tools_active: true,
            approved: false,
            kind: None,
        }
    }
}

impl Pi {
    /// A fresh instance in place of one that died or was left.
    pub(crate) fn reborn(&self) -> Self {
        Self {
            epoch: self.epoch + 1,
            compact_epoch: self.compact_epoch + 1,
            calls: self.calls,
            turn: self.turn,
            tools_active: self.tools_active,
            ..Self::default()
        }
    }

    /// A stage waits for an answer of the core.
    pub(crate) const fn waits_for_core(&self) -> bool {
        matches!(
            self.stage,
            Stage::CallingOurs | Stage::TurnEnding | Stage::CompactionAnswer | Stage::Settling
        )
    }
}

impl World {
    pub(super) fn enter(&mut self, stage: Stage) {
        self.pi.stage = stage;
        self.pi.epoch += 1;
    }

    /// Enters a stage that is over after a while.
    pub(super) fn enter_for(&mut self, stage: Stage, ms: u64) {
        self.enter(stage);
        let epoch = self.pi.epoch;
        self.at(ms, Happening::Stage(epoch));
    }

    /// Enters a stage that waits for the core, and asks it.
    fn enter_asking(&mut self, stage: Stage, event: Event) {
        self.enter(stage);
        let epoch = self.pi.epoch;
        if self.core.is_alive() {
            self.ask(event, Ask::Stage(epoch));
        } else {
            self.at(0, Happening::Stage(epoch));
        }
    }

    pub(super) fn stage_is_over(&mut self, epoch: u32) {
        if epoch != self.pi.epoch {
            return;
        }
        match self.pi.stage {
            Stage::Idle | Stage::CallingOurs => {}
            Stage::Preparing => self.begin(),
            Stage::CompactingFirst | Stage::CompactingBetween => self.compaction_in_run(),
            Stage::Thinking => self.answer_ends(),
            Stage::Calling => self.tool_ends(),
            Stage::CompactingAfter { retries } => self.compaction_after_run(retries),
            Stage::Retrying => self.request(),
            // The core was not there to be asked.
            Stage::TurnEnding | Stage::CompactionAnswer | Stage::Settling => self.answered(None),
        }
    }

    /// The core has answered what a stage waited for; or nobody will.
    pub(super) fn answered(&mut self, proposal: Option<Proposal>) {
        match self.pi.stage {
            Stage::TurnEnding => self.after_turn(),
            Stage::CompactionAnswer => self.go_on(),
            Stage::Settling => self.boundary_answered(proposal),
            Stage::Idle
            | Stage::Preparing
            | Stage::CompactingFirst
            | Stage::Thinking
            | Stage::Calling
            | Stage::CallingOurs
            | Stage::CompactingBetween
            | Stage::CompactingAfter { .. }
            | Stage::Retrying => {}
        }
    }

    // A run begins

    /// pi is idle; the user or we want a run.
    pub(super) fn prepare_run(&mut self, first: Option<GoalMessage>) {
        if !self.shim.running {
            self.shim.aborted_by_us = false;
        }
        if first.is_none() {
            self.tell(Event::UserMessage);
        }
        self.pi.first = first;
        self.pi.aborted = false;
        let ms = self.ms(BEGIN_POWER);
        self.enter_for(Stage::Preparing, ms);
    }

    fn begin(&mut self) {
        self.run_starts();
        if self.compacts(|rates| rates.compaction / 4) {
            self.mark(Mark::CompactionBeforeRun);
            self.tell(Event::CompactionStarted);
            return self.compaction_begins(Stage::CompactingFirst, 40);
        }
        self.request();
    }

    fn run_starts(&mut self) {
        self.shim.running = true;
        self.pi.retries = 0;
        self.pi.overflowed = false;
        self.pi.run_turns = 0;
        self.pi.approved = false;
        self.pi.kind.take_if(|kind| *kind != ExecutorKind::Down); // An outage lasts.
        self.pi.text.clear();
        self.pi.error = None;
        self.tell(Event::RunStarted);
        self.checks.host_runs(self.now);
        for message in std::mem::take(&mut self.pi.steered) {
            self.deliver(&message); // What an aborted run left in pi's queue.
        }
        match self.pi.first.take() {
            Some(message) => self.deliver(&message),
            None => {
                self.user_message_arrives();
                self.drive_by(Drive::User);
            }
        }
    }

    /// A message of the user reaches the conversation.
    fn user_message_arrives(&mut self) {
        self.session_mut().push(What::User);
        self.write_users_words_down();
    }

    /// A message of ours reaches the conversation by itself, not with a continuation.
    fn deliver(&mut self, message: &GoalMessage) {
        let tag = message.details.tag.clone();
        self.append_message(message);
        self.tell(Event::MessageArrived { tag });
    }

    fn drive_by(&mut self, drive: Drive) {
        match (&drive, &self.pi.drive) {
            (Drive::User, _) => self.checks.user_spoke(),
            (Drive::Goal(tag), Drive::Goal(now))
                if crate::check::is_not_newer(tag, now) && tag != now =>
            {
                return; // An older message that lay in pi's queue: the newer one counts.
            }
            (Drive::Goal(tag), now) => {
                let joins = self.shim.starting.as_ref();
                let joins = joins.is_some_and(|start| start.tag == *tag);
                if *now == Drive::User && (joins || self.checks.is_another(tag)) {
                    self.checks.run_begins(); // What was done for the user counts for nothing.
                }
                self.shim.starting = None;
            }
        }
        self.pi.drive = drive;
    }

    /// A message of ours goes into the session and to the model.
    pub(super) fn append_message(&mut self, message: &GoalMessage) {
        self.check_message(message);
        let tag = message.details.tag.clone();
        let full = message.details.full.then(|| tag.clone());
        self.session_mut().context.push(Sent { full });
        let what = What::Message(Box::new(message.details.clone()));
        self.session_mut().push(what);
        self.write_down(&message.text);
        self.drive_by(Drive::Goal(tag));
    }

    // A request and its answer

    fn request(&mut self) {
        self.pi.turn += 1;
        self.pi.run_turns += 1;
        self.pi.terminated = 0;
        self.pi.results = 0;
        self.shim.turn_starts();
        for _ in 0..std::mem::take(&mut self.pi.queued) {
            self.user_message_arrives();
            self.drive_by(Drive::User);
        }
        for message in std::mem::take(&mut self.pi.steered) {
            self.deliver(&message);
        }
        self.requests[0] += 1;
        self.check_request();
        if self.scripted.is_some() {
            return self.scripted_request();
        }
        let answer = self.next_answer();
        let ms = answer.ms;
        self.note(|| format!("request {answer:?}"));
        self.pi.answer = Some(answer);
        let ms = self.hurry(ms);
        self.enter_for(Stage::Thinking, ms);
    }

    fn next_answer(&mut self) -> Answered {
        let kind = match self.pi.kind {
            Some(kind) if !self.entropy.chance(Stream::Models, 32) => kind,
            _ => self.entropy.pick(Stream::Models, &self.plan.executors),
        };
        self.pi.kind = Some(kind);
        let scene = Scene {
            open: self.open,
            approved: self.pi.approved,
            turn: self.pi.run_turns,
        };
        let mut answer = executor(kind, scene, &mut self.entropy);
        let own_run = self.pi.drive == Drive::User && self.shim.pursued.is_none();
        if own_run && self.pi.run_turns > 3 {
            answer.calls.clear(); // A run of the user's own comes to an end.
            answer.end = AnswerEnd::Stop;
        }
        answer
    }

    fn answer_ends(&mut self) {
        let Some(answer) = self.pi.answer.take() else {
            return;
        };
        let claims = answer
            .calls
            .iter()
            .filter(|call| matches!(call, Call::Claim { .. }));
        let claims = u32::try_from(claims.count()).unwrap_or(u32::MAX);
        self.session_mut().push(What::Assistant { claims });
        self.write_down(&answer.text);
        self.pi.text = answer.text;
        self.pi.provider_aborted = answer.end == AnswerEnd::ProviderAbort;
        self.pi.error = None;
        match answer.end {
            AnswerEnd::Stop | AnswerEnd::Length => {
                self.pi.retries = 0;
                self.pi.batch = answer.calls.into();
                self.next_call();
            }
            AnswerEnd::ProviderAbort => {
                self.pi.batch.clear();
                self.tell(Event::TurnEnded { broken_off: true });
                self.after_run();
            }
            AnswerEnd::Error(error) => self.request_failed(error),
        }
    }

    fn request_failed(&mut self, error: String) {
        self.pi.batch.clear();
        self.pi.text.clear();
        self.tell(Event::TurnEnded { broken_off: true });
        let overflow = error.contains("too long");
        let mendable = ["503", "429", "500", "Stream"]
            .iter()
            .any(|start| error.starts_with(start))
            && !error.contains(QUOTA);
        self.pi.error = Some(error);
        if overflow && !self.pi.overflowed && self.can_make_room() {
            return self.mend_overflow();
        }
        if mendable && self.pi.retries < RETRIES_MAX {
            self.mark(Mark::HostRetry);
            let ms = RETRY_MS << self.pi.retries;
            self.pi.retries += 1;
            return self.enter_for(Stage::Retrying, ms);
        }
        self.pi.retries = 0;
        self.after_run();
    }

    /// Once in a run, pi makes room and asks again.
    fn mend_overflow(&mut self) {
        self.pi.overflowed = true;
        self.mark(Mark::OverflowCompaction);
        self.tell(Event::CompactionStarted);
        self.compaction_begins(Stage::CompactingAfter { retries: true }, 60);
    }

    // The tools of an answer

    fn next_call(&mut self) {
        let Some(call) = self.pi.batch.pop_front() else {
            return self.turn_ends();
        };
        if self.shim.ending {
            self.pi.terminated += 1;
            self.call_ends(&call, false, false);
            return self.next_call();
        }
        match call {
            Call::Tool(mut tool) => {
                self.play_tool(&mut tool);
                let ms = self.hurry(tool.ms);
                self.pi.batch.push_front(Call::Tool(tool));
                self.enter_for(Stage::Calling, ms);
            }
            Call::Refused { .. } => {
                self.call_ends(&call, false, false);
                self.next_call();
            }
            Call::GetGoal => self.call_ours(GoalTool::GetGoal, None, None),
            Call::Claim { status, summary } => {
                self.call_ours(GoalTool::UpdateGoal, status, summary);
            }
        }
    }

    fn tool_ends(&mut self) {
        if let Some(call) = self.pi.batch.pop_front() {
            let fails = self.rate(|rates| rates.tool_fails);
            let ok = match &call {
                Call::Tool(tool) => tool.ok && !fails,
                Call::Refused { .. } | Call::GetGoal | Call::Claim { .. } => false,
            };
            self.call_ends(&call, true, ok);
        }
        self.next_call();
    }

    /// A call that is none of ours was finalised.
    fn call_ends(&mut self, call: &Call, ran: bool, ok: bool) {
        let (name, error, writes) = match call {
            Call::Tool(tool) => (tool.name.as_str(), BLOCKED, tool.writes()),
            Call::Refused { tool, error } => (tool.as_str(), error.as_str(), false),
            Call::GetGoal => (GoalTool::GetGoal.name(), BLOCKED, false),
            Call::Claim { .. } => (GoalTool::UpdateGoal.name(), BLOCKED, false),
        };
        let ours = matches!(call, Call::GetGoal | Call::Claim { .. });
        let finished = ToolFinished {
            tool: name.to_owned(),
            is_error: !ok,
            ours: ours || name == GoalTool::UpdateGoal.name(),
            writes,
            ran,
            aborted: self.pi.aborted,
            error: (!ok).then(|| error.to_owned()),
        };
        let worked = ran && ok && !self.pi.aborted && !ours;
        if worked {
            self.shim.turn_worked = true;
            self.checks.worked();
            if let Call::Tool(Tool { work, .. }) = call {
                self.open = self.open.saturating_sub(*work);
            }
        }
        if matches!(call, Call::Claim { .. }) {
            self.session_mut().push(What::Answered);
        }
        self.pi.results += 1;
        self.shim.batch_ran = true;
        if matches!(call, Call::Refused { .. }) {
            self.write_down(error);
        }
        self.tell(Event::ToolFinished(finished));
    }

    fn call_ours(&mut self, tool: GoalTool, status: Option<String>, summary: Option<String>) {
        self.pi.calls += 1;
        let call_id = format!("call-{}", self.pi.calls);
        self.pi.call = Some(call_id.clone());
        self.shim.claims = tool == GoalTool::UpdateGoal;
        if self.shim.claims {
            self.self_graded.get_or_insert(self.open == 0);
        }
        self.enter(Stage::CallingOurs);
        if !self.core.is_alive() && !self.core.gone {
            self.wake();
        }
        if !self.core.is_alive() {
            return self.our_call_ends(true, true);
        }
        self.tell(Event::ToolInvoked(ToolInvoked {
            call_id,
            tool,
            status,
            summary,
            turn: self.pi.turn,
            cwd: "/work".to_owned(),
        }));
    }

    /// The result of a call of ours is there.
    pub(super) fn our_call_ends(&mut self, is_error: bool, ends_run: bool) {
        if self.pi.stage != Stage::CallingOurs {
            return;
        }
        self.pi.call = None;
        let claims = std::mem::take(&mut self.shim.claims);
        if ends_run {
            self.shim.ending = true;
            self.pi.terminated += 1;
        }
        // A message of ours that waits in pi's queue would make one more request.
        let batch_ran = self.shim.batch_ran || self.shim.starting.is_some();
        let tool = if claims {
            self.session_mut().push(What::Answered);
            GoalTool::UpdateGoal
        } else {
            GoalTool::GetGoal
        };
        self.pi.results += 1;
        self.shim.batch_ran = true;
        self.tell(Event::ToolFinished(ToolFinished {
            tool: tool.name().to_owned(),
            is_error,
            ours: true,
            writes: false,
            ran: true,
            aborted: self.pi.aborted,
            error: is_error.then(|| "see above".to_owned()),
        }));
        if ends_run && batch_ran {
            self.abort_run_as_ours();
        }
        if self.pi.stage == Stage::CallingOurs {
            self.next_call_or_abort();
        }
    }

    fn next_call_or_abort(&mut self) {
        if self.pi.aborted {
            self.pi.batch.clear();
            self.tell(Event::TurnEnded { broken_off: true });
            self.settled();
        } else {
            self.next_call();
        }
    }

    // The end of a turn

    fn turn_ends(&mut self) {
        let goes_on = self.pi.results > self.pi.terminated;
        if self.shim.ending && goes_on {
            self.abort_run_as_ours();
            if self.pi.stage == Stage::Idle {
                return;
            }
        }
        let event = Event::TurnEnded { broken_off: false };
        if self.shim.turn_worked {
            self.tell(event);
            self.after_turn();
        } else {
            self.checks.idle_turn();
            self.enter_asking(Stage::TurnEnding, event);
        }
    }

    fn after_turn(&mut self) {
        if self.pi.aborted {
            return self.settled();
        }
        if self.shim.ending && self.pi.results > self.pi.terminated {
            self.abort_run_as_ours();
            return;
        }
        if self.compacts_between_turns() {
            self.mark(Mark::CompactionInRun);
            self.tell(Event::CompactionStarted);
            return self.compaction_begins(Stage::CompactingBetween, 50);
        }
        self.go_on();
    }

    /// The next request, or the end of the run.
    fn go_on(&mut self) {
        let calls = self.pi.results > self.pi.terminated;
        if !calls {
            self.follow_ups_are_due();
        }
        let waiting = self.has_pending_messages();
        let retried = self.pi.error.take().is_some() && self.pi.overflowed;
        if self.pi.aborted {
            self.settled();
        } else if calls || waiting || retried {
            self.request();
        } else {
            self.after_run();
        }
    }

    /// A compaction is due, drawn or because the context is full.
    fn compacts(&mut self, rate: impl Fn(&Rates) -> u8) -> bool {
        match &self.scripted {
            Some(scripted) => scripted.context_is_full(),
            None => self.rate(rate),
        }
    }

    fn compacts_between_turns(&mut self) -> bool {
        let goes_on = self.pi.results > self.pi.terminated;
        (goes_on || self.scripted.is_none()) && self.compacts(|rates| rates.compaction)
    }

    fn compaction_begins(&mut self, stage: Stage, ms: u64) {
        if self.scripted.is_none() {
            return self.enter_for(stage, ms);
        }
        self.enter(stage);
        let epoch = self.pi.epoch;
        self.ask_for_summary(Happening::Stage(epoch));
    }

    fn compact_session(&mut self) {
        let forgets = self.scripted.is_some() || self.rate(|rates| rates.forgets);
        self.session_mut().compact(forgets);
        self.write_summary_down();
    }

    fn compaction_in_run(&mut self) {
        self.compact_session();
        let ended = self.compaction_ended(false, true);
        self.enter_asking(Stage::CompactionAnswer, Event::CompactionEnded(ended));
    }

    fn compaction_ended(&self, cancelled: bool, run_goes_on: bool) -> CompactionEnded {
        CompactionEnded {
            cancelled,
            run_goes_on,
            idle: !self.shim.running,
            full_message_present: self.full_message_present(),
        }
    }

    /// pi's `agent_end`: retries are over, a compaction may follow, then the settle boundary.
    fn after_run(&mut self) {
        self.pi.results = 0;
        if self.was_cut_off() {
            self.pi.error = Some(CUT_OFF.to_owned());
            return self.mend_overflow();
        }
        if self.compacts(|rates| rates.compaction / 2) {
            self.tell(Event::CompactionStarted);
            return self.compaction_begins(Stage::CompactingAfter { retries: false }, 70);
        }
        self.boundary();
    }

    fn compaction_after_run(&mut self, retries: bool) {
        self.compact_session();
        let ended = self.compaction_ended(false, retries);
        if retries {
            self.enter_asking(Stage::CompactionAnswer, Event::CompactionEnded(ended));
        } else {
            self.tell(Event::CompactionEnded(ended));
            self.boundary();
        }
    }

    // The settle boundary

    /// Somebody's message waits in pi's queue.
    fn has_pending_messages(&self) -> bool {
        self.pi.queued > 0 || !self.pi.steered.is_empty()
    }

    /// The run would end: what the user said for that moment is said now.
    fn follow_ups_are_due(&mut self) {
        self.pi.queued += std::mem::take(&mut self.pi.follow_ups);
    }

    fn boundary(&mut self) {
        self.follow_ups_are_due();
        if self.has_pending_messages() {
            return self.request();
        }
        if !self.core.is_alive() {
            return self.settled();
        }
        self.checks
            .boundary(self.pi.error.is_some() || self.pi.provider_aborted);
        let settling = Settling {
            failed: self.pi.error.is_some() || self.pi.provider_aborted,
            provider_aborted: self.pi.provider_aborted,
            error: self.pi.error.clone(),
            final_text: self.pi.text.clone(),
            tools_active: self.pi.tools_active,
            full_message_present: self.full_message_present(),
        };
        self.enter_asking(Stage::Settling, Event::Settling(settling));
        if self.rate(|rates| rates.late_message) {
            self.mark(Mark::LateMessage);
            self.queue_message();
        }
    }

    fn boundary_answered(&mut self, proposal: Option<Proposal>) {
        let Some(proposal) = proposal else {
            return self.run_is_over();
        };
        let number = proposal.number;
        if self.shim.aborted_by_us || self.has_pending_messages() {
            self.mark(Mark::ProposalYielded);
            self.tell(Event::ProposalYielded { proposal: number });
            return self.run_is_over();
        }
        self.tell(Event::ProposalTaken { proposal: number });
        for effect in proposal.effects {
            self.perform(effect);
        }
        self.pi.error = None;
        self.pi.provider_aborted = false;
        self.shim.stopped &= proposal.message.is_none();
        match proposal.message {
            Some(message) => {
                self.checks.segment_begins(&message);
                self.append_message(&message);
                if self.pi.aborted {
                    return self.settled();
                }
                self.pi.run_turns = 0;
                self.request();
            }
            None => self.run_is_over(),
        }
    }

    /// Nothing continues the run: a message that waits does, or pi comes to rest.
    fn run_is_over(&mut self) {
        self.follow_ups_are_due();
        if self.has_pending_messages() && !self.pi.aborted {
            self.request();
        } else {
            self.settled();
        }
    }

    fn settled(&mut self) {
        let aborted = self.pi.aborted;
        let by_us = self.shim.aborted_by_us;
        self.enter(Stage::Idle);
        self.pi.batch.clear();
        self.pi.answer = None;
        self.check_calls_answered();
        self.shim.stopped |= aborted && !by_us;
        let settled = RunSettled {
            aborted,
            by_us,
            start_pending: self.shim.starting.is_some(),
            full_message_present: self.full_message_present(),
        };
        self.tell(Event::RunSettled(settled));
        self.shim.running = false;
        self.shim.aborted_by_us = false;
        self.shim.ending = false;
        self.shim.starting = None;
        self.pi.aborted = false;
        self.pi.error = None;
        self.pi.provider_aborted = false;
    }

    // Aborts

    /// The user's abort, or our own ending.
    pub(super) fn abort(&mut self, by_us: bool) {
        if self.pi.stage == Stage::Idle || self.pi.aborted {
            return;
        }
        if !by_us {
            self.mark(Mark::AbortedByUser);
            self.checks.aborted_by_user(&self.aborted_drive());
        }
        self.pi.aborted = true;
        match self.pi.stage {
            Stage::Idle => {}
            Stage::Preparing => {
                self.run_starts();
                self.settled();
            }
            Stage::Thinking => {
                self.pi.text.clear();
                self.session_mut().push(What::Assistant { claims: 0 });
                self.tell(Event::TurnEnded { broken_off: true });
                self.settled();
            }
            Stage::Calling => {
                if let Some(call) = self.pi.batch.pop_front() {
                    self.call_ends(&call, true, false);
                }
                self.tell(Event::TurnEnded { broken_off: true });
                self.settled();
            }
            Stage::CallingOurs => {
                if let Some(call_id) = self.pi.call.clone() {
                    self.ask(Event::ToolCancelled { call_id }, Ask::Nothing);
                }
            }
            Stage::CompactingFirst | Stage::CompactingBetween | Stage::CompactingAfter { .. } => {
                let ended = self.compaction_ended(!by_us, false);
                self.tell(Event::CompactionEnded(ended));
                self.settled();
            }
            Stage::Retrying => self.settled(),
            // pi waits for its handlers.
            Stage::TurnEnding | Stage::CompactionAnswer | Stage::Settling => {}
        }
    }

    /// On whose behalf what is aborted was begun: a run that is being prepared has an owner already.
    fn aborted_drive(&self) -> Drive {
        match (&self.pi.stage, &self.pi.first) {
            (Stage::Preparing, None) => Drive::User,
            (Stage::Preparing, Some(message)) => Drive::Goal(message.details.tag.clone()),
            _ => self.pi.drive.clone(),
        }
    }

    /// Our own ending. A user's abort that came first stays the user's.
    pub(super) fn abort_run_as_ours(&mut self) {
        if self.pi.stage == Stage::Idle || self.pi.aborted {
            return;
        }
        self.shim.aborted_by_us = true;
        self.abort(true);
    }

    /// The core was lost while pi waited for it.
    pub(super) fn unanswered(&mut self) {
        if self.pi.stage == Stage::CallingOurs {
            self.our_call_ends(true, false);
        } else {
            self.answered(None);
        }
    }

    /// A message of the user, delivered when the turn ends.
    pub(super) fn queue_message(&mut self) {
        self.pi.queued += 1;
        self.tell(Event::UserMessage);
    }

    /// A run is going or about to start.
    pub(super) fn is_busy(&self) -> bool {
        self.pi.stage != Stage::Idle
    }

    /// The full message of the pursued goal is among what the model is sent, or starts the next run.
    pub(super) fn full_message_present(&self) -> bool {
        let Some(tag) = self.pursued_tag() else {
            return false;
        };
        let starting = self.shim.starting.as_ref();
        let starts = starting.is_some_and(|details| details.full && details.tag == *tag);
        starts || self.session().holds_full(Some(tag))
    }

    // Compactions by hand

    pub(super) fn compact(&mut self) {
        if self.is_busy() || self.pi.compacting {
            return;
        }
        self.mark(Mark::ManualCompaction);
        self.pi.compacting = true;
        self.pi.compact_epoch += 1;
        let epoch = self.pi.compact_epoch;
        self.tell(Event::CompactionStarted);
        if self.scripted.is_some() {
            return self.ask_for_summary(Happening::Compacted(epoch));
        }
        let ms = self.ms(13);
        self.at(ms, Happening::Compacted(epoch));
    }

    pub(super) fn compacted(&mut self, epoch: u32) {
        if epoch != self.pi.compact_epoch || !self.pi.compacting {
            return;
        }
        self.pi.compacting = false;
        let cancelled = self.draw(4) == 3;
        if !cancelled {
            self.compact_session();
        }
        self.shim.stopped |= cancelled;
        if cancelled {
            self.checks.interrupted(self.now);
        }
        let ended = self.compaction_ended(cancelled, false);
        self.tell(Event::CompactionEnded(ended));
    }
}
