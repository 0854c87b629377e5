//! The engine's state and its dispatch. Each event's meaning is in the module named for it.

use goal_prompts::safe;
use goal_state::{
    AuditOutcome, Ended, Goal, GoalTag, ModelRef, Monotonic, PauseReason, Phase, Stop, WallClock,
};

use crate::audit::ActiveAudit;
use crate::canary::{Canary, Plant};
use crate::command::OpenQuestion;
use crate::deadline::{ABORT_GRACE_MS, Deadline, Deadlines};
use crate::effect::{Effect, Level, Notice, Rung, SavedGoal, StatusView};
use crate::event::{Event, LastAudit};
use crate::offer::Offers;
use crate::run::{OpenProposal, Run};
use crate::say;
use crate::settings::Settings;
use crate::start::Waiting;
use crate::status::{self, ShownObjective};
use crate::tools::TurnResult;

/// What the driver knows and the core must not ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clocks {
    /// For deadlines.
    pub now: Monotonic,
    /// For records.
    pub wall: WallClock,
    /// Fresh and unguessable with every event: ids and fence tokens are made of it.
    pub fresh: u64,
}

/// A run that was asked for begins within this time; later it is taken for lost.
const START_MS: u64 = 2_000;
/// Characters of others' words that a stop keeps.
const STOP_DETAIL_MAX_CHARS: usize = 4_000;

/// The goal loop of one host process. See the crate's head for the law of its drive.
#[derive(Debug)]
pub struct Engine {
    pub(crate) clocks: Clocks,
    fresh_used: u64,
    pub(crate) settings: Settings,
    pub(crate) host: Host,
    pub(crate) goal: Option<Goal>,
    /// The highest generation seen, so that a new goal never reuses one.
    pub(crate) generation: u64,
    /// Audits of the goal over its whole life.
    pub(crate) audits_ever: u32,
    pub(crate) last_audit: Option<LastAudit>,
    pub(crate) run: Option<Run>,
    /// The user said something while no run was going: the next is the user's.
    pub(crate) user_spoke: bool,
    /// The run that was asked for and whose message has not arrived.
    pub(crate) starting: Option<Start>,
    /// What wants to start while the host is busy: one slot.
    pub(crate) waiting: Option<Waiting>,
    pub(crate) proposal: Option<OpenProposal>,
    pub(crate) audit: Option<ActiveAudit>,
    pub(crate) turn_result: Option<TurnResult>,
    /// The best rung of this machine, and why there is no better one.
    pub(crate) sandbox: Option<(Rung, Option<String>)>,
    /// The user has been told of it.
    pub(crate) sandbox_told: bool,
    pub(crate) questions: Vec<OpenQuestion>,
    pub(crate) offers: Offers,
    pub(crate) deadlines: Deadlines,
    /// The next continuation owes the executor the auditor's objections.
    pub(crate) objection_owed: bool,
    /// The user was reminded of this stop already.
    pub(crate) reminded: bool,
    /// The branch was written by a newer version: nothing is saved over it.
    pub(crate) newer_version: bool,
    pub(crate) headless: Option<Headless>,
    /// What the branch holds, or the host was told to save last.
    pub(crate) saved: Option<SavedGoal>,
    /// What the host was told to show last; `None` when it has forgotten.
    shown: Option<StatusView>,
    pub(crate) shown_objective: ShownObjective,
    /// Nothing, unless a test planted a defect.
    pub(crate) plant: Plant,
}

/// The host as the engine follows it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Host {
    pub(crate) has_ui: bool,
    /// The user sits at a terminal.
    pub(crate) terminal: bool,
    pub(crate) model: Option<ModelRef>,
    /// Between `RunStarted` and `RunSettled`.
    pub(crate) running: bool,
    pub(crate) compacting: bool,
    pub(crate) full_message_present: bool,
    pub(crate) config_path: Option<String>,
    /// The working directory.
    pub(crate) cwd: String,
}

/// A run that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Start {
    /// When.
    pub(crate) since: Monotonic,
    /// For which goal.
    pub(crate) tag: GoalTag,
}

/// A headless command that waits for the goal to come to rest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Headless {
    pub(crate) approved: bool,
    pub(crate) reason: Option<String>,
    /// The goal was worked on or audited: there is something to report.
    pub(crate) worked: bool,
}

impl Engine {
    /// An engine without a session. Nothing happens before [`Event::SessionOpened`].
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            clocks: Clocks {
                now: Monotonic(0),
                wall: WallClock(0),
                fresh: 0,
            },
            fresh_used: 0,
            settings,
            host: Host::default(),
            goal: None,
            generation: 0,
            audits_ever: 0,
            last_audit: None,
            run: None,
            user_spoke: false,
            starting: None,
            waiting: None,
            proposal: None,
            audit: None,
            turn_result: None,
            sandbox: None,
            sandbox_told: false,
            questions: Vec::new(),
            offers: Offers::default(),
            deadlines: Deadlines::default(),
            objection_owed: false,
            reminded: false,
            newer_version: false,
            headless: None,
            saved: None,
            shown: Some(StatusView::default()),
            shown_objective: ShownObjective::default(),
            plant: Plant::default(),
        }
    }

    /// Takes one event and pushes what to do about it.
    pub fn handle(&mut self, clocks: Clocks, event: Event, out: &mut Vec<Effect>) {
        debug_assert!(
            clocks.now >= self.clocks.now,
            "the monotonic clock ran backwards"
        );
        self.clocks = Clocks {
            now: clocks.now.max(self.clocks.now),
            ..clocks
        };
        self.fresh_used = 0;
        // What fell due in a branch that was left would be written into the one that opens.
        let opens = matches!(event, Event::SessionOpened(_));
        if !opens && !self.planted_lateness(&event) {
            self.expire(out);
        }
        if self.ends_abort_grace(&event) {
            self.pause_aborted(out);
        }
        self.dispatch(event, out);
        self.release_headless(out);
        self.show_status(out);
        self.keep_offer(out);
    }

    /// The next moment the engine wants to be woken at, and why.
    #[must_use]
    pub fn deadline(&self) -> Option<(Monotonic, Deadline)> {
        let audit = self.audit.as_ref().and_then(ActiveAudit::deadline);
        self.deadlines.next().into_iter().chain(audit).min()
    }

    /// The goal as it stands.
    #[must_use]
    pub const fn goal(&self) -> Option<&Goal> {
        self.goal.as_ref()
    }

    fn dispatch(&mut self, event: Event, out: &mut Vec<Effect>) {
        match event {
            Event::SessionOpened(opened) => self.session_opened(*opened, out),
            Event::SessionLeft => self.session_left(out),
            Event::SettingsRead(settings) => self.settings_read(settings, out),
            Event::Command(command) => self.command(&command, out),
            Event::Confirmed { ticket, yes, host } => self.confirmed(ticket, yes, &host, out),
            Event::Edited { ticket, text, host } => {
                self.edited(ticket, text.as_deref(), &host, out);
            }
            Event::Chosen { ticket, way, host } => self.chosen(ticket, way, &host, out),
            Event::ReportWritten(written) => self.report_written(written, out),
            Event::ToolsChecked { active } => self.tools_checked(active, out),
            Event::RunStarted => self.run_started(),
            Event::MessageArrived { tag } => self.message_arrived(&tag, out),
            Event::UserMessage => self.user_message(),
            Event::TurnEnded { broken_off } => self.turn_ended(broken_off, out),
            Event::ToolFinished(finished) => self.tool_finished(&finished),
            Event::ToolInvoked(invoked) => self.tool_invoked(&invoked, out),
            Event::ToolCancelled { call_id } => self.tool_cancelled(&call_id, out),
            Event::Settling(settling) => self.settling(&settling, out),
            Event::ProposalTaken { proposal } => self.proposal_taken(proposal, out),
            Event::ProposalYielded { proposal } => self.proposal_yielded(proposal, out),
            Event::RunSettled(settled) => self.run_settled(settled, out),
            Event::Interrupt => self.interrupt(out),
            Event::CompactionStarted => self.host.compacting = true,
            Event::CompactionEnded(ended) => self.compaction_ended(ended, out),
            Event::ModelSelected { model } => self.model_selected(model.as_ref(), out),
            Event::AuditPrepared { audit, prepared } => self.audit_prepared(audit, prepared, out),
            Event::WorkspaceInspected { audit, inspection } => {
                self.workspace_inspected(audit, &inspection, out);
            }
            Event::SandboxProbed { rung, why } => self.sandbox_probed(rung, why, out),
            Event::Auditor { audit, event } => self.auditor_event(audit, event, out),
            Event::Tick => {} // `expire` has done it.
        }
    }

    /// Performs what has fallen due. Bounded: each slot at most once an event.
    fn expire(&mut self, out: &mut Vec<Effect>) {
        let now = self.clocks.now;
        if self.deadlines.abort_grace.is_some_and(|at| at <= now) {
            self.pause_aborted(out);
        }
        if self.deadlines.back_off.is_some_and(|at| at <= now) {
            self.back_off_over(out);
        }
        self.expire_audit(out);
    }

    /// An abort that is followed by life in the same session was the user's.
    const fn ends_abort_grace(&self, event: &Event) -> bool {
        self.deadlines.abort_grace.is_some()
            && matches!(
                event,
                Event::Command(_)
                    | Event::Confirmed { .. }
                    | Event::Edited { .. }
                    | Event::Chosen { .. }
                    | Event::RunStarted
                    | Event::MessageArrived { .. }
                    | Event::UserMessage
                    | Event::Interrupt
            )
    }

    /// Someone stopped what was going on; whether the user did shows within the grace.
    pub(crate) fn arm_abort_grace(&mut self) {
        self.deadlines.back_off = None;
        self.deadlines.abort_grace = Some(self.clocks.now.after(ABORT_GRACE_MS));
    }

    fn pause_aborted(&mut self, out: &mut Vec<Effect>) {
        self.deadlines.abort_grace = None;
        if self.users_audit_is_due() {
            return self.stop_users_audit(out);
        }
        self.break_off_audit(AuditOutcome::Aborted { by_command: false }, out);
        self.stop(Stop::plain(PauseReason::Aborted), out);
    }

    /// Pauses the goal, and ends its run if one is going: no model request follows a pause.
    pub(crate) fn stop(&mut self, stop: Stop, out: &mut Vec<Effect>) {
        let going = self.goals_run_goes_on();
        self.pause(stop, out);
        out.extend(going.then_some(Effect::EndRun));
    }

    /// Pauses a pursuing goal: saved, said, and nothing of it left armed.
    pub(crate) fn pause(&mut self, stop: Stop, out: &mut Vec<Effect>) {
        let now = self.clocks.now;
        let Some(goal) = self.goal.as_mut().filter(|goal| goal.is_pursuing()) else {
            return;
        };
        goal.pause(bounded(stop), now);
        self.disarm();
        self.after_pause(out);
    }

    /// What every pause brings with it, once the goal is paused.
    fn after_pause(&mut self, out: &mut Vec<Effect>) {
        self.reminded = false;
        self.offers.fall_due();
        if !self.planted(Canary::PauseNotSaved) {
            self.save(out);
        }
        if let Some(text) = self
            .goal
            .as_ref()
            .and_then(|goal| say::stopped(goal, self.last_audit.as_ref(), self.asker()))
        {
            if let Some(headless) = &mut self.headless {
                headless.reason = Some(text);
            } else {
                out.push(Effect::Notify(Notice {
                    level: Level::Warning,
                    text,
                }));
            }
        }
        out.extend(self.stopped_by_itself().then_some(Effect::Ring));
    }

    /// Who reads the texts.
    pub(crate) const fn asker(&self) -> say::Asker {
        if self.host.has_ui {
            say::Asker::Person
        } else {
            say::Asker::Script
        }
    }

    fn stopped_by_itself(&self) -> bool {
        match self.goal.as_ref().map(Goal::phase) {
            Some(Phase::Paused(stop)) => {
                !matches!(stop.reason, PauseReason::User | PauseReason::Aborted)
            }
            Some(Phase::Pursuing | Phase::Held) | None => false,
        }
    }

    /// Takes the goal away.
    pub(crate) fn end(&mut self, ended: Ended, out: &mut Vec<Effect>) {
        let Some(goal) = self.goal.take() else { return };
        self.generation = goal.generation() + 1;
        self.disarm();
        self.objection_owed = false;
        self.audits_ever = 0;
        self.last_audit = None;
        let gone = SavedGoal::Gone {
            id: goal.id().to_owned(),
            ended,
        };
        self.push_saved(gone, out);
    }

    /// Nothing of the goal may start by itself any more.
    pub(crate) fn disarm(&mut self) {
        self.starting = None;
        self.waiting = None;
        if !self.planted(Canary::DeadlineOutlivesStop) {
            self.deadlines = Deadlines::default();
        }
    }

    /// Saves the goal if its meaning changed since it was saved last.
    pub(crate) fn save(&mut self, out: &mut Vec<Effect>) {
        let Some(goal) = &self.goal else { return };
        self.generation = self.generation.max(goal.generation());
        let active_ms = goal.active_ms(self.clocks.now);
        let present = SavedGoal::Present {
            goal: Box::new(goal.clone()),
            active_ms,
        };
        self.push_saved(present, out);
    }

    fn push_saved(&mut self, saved: SavedGoal, out: &mut Vec<Effect>) {
        let same = self.saved.as_ref().is_some_and(|last| last.means(&saved));
        if self.newer_version || same {
            return;
        }
        self.saved = Some(saved.clone());
        out.push(Effect::SaveGoal(saved));
    }

    /// A fresh token: unguessable for whoever wrote the text it fences.
    pub(crate) fn token(&mut self) -> String {
        self.fresh_used += 1;
        format!("{:016x}", mix(self.clocks.fresh, self.fresh_used))
    }

    /// A fresh number for questions, proposals and audits.
    ///
    /// Numbers are not counted but drawn: the host may still answer a question of a core that was
    /// lost, and that answer must fit nothing here. They keep within the integers of JSON.
    pub(crate) const fn number(&mut self) -> u64 {
        self.fresh_used += 1;
        mix(self.clocks.fresh, self.fresh_used) >> 11
    }

    /// Whether the run that is going on belongs to the goal as it is now, and the goal is pursued.
    pub(crate) fn run_is_the_goals(&self) -> bool {
        let tag = self.run.as_ref().and_then(|run| run.tag.as_ref());
        let goal = self.goal.as_ref().filter(|goal| goal.is_pursuing());
        goal.zip(tag).is_some_and(|(goal, tag)| goal.is(tag))
    }

    /// Whether a run of the goal is going, or was asked for and is about to begin.
    pub(crate) fn goals_run_goes_on(&self) -> bool {
        self.run_is_the_goals() || (self.pursued().is_some() && self.starting.is_some())
    }

    /// Whether a run was asked for just now, so that the host may not know of it yet.
    pub(crate) fn is_starting(&self) -> bool {
        self.starting
            .as_ref()
            .is_some_and(|start| self.clocks.now.since(start.since) < START_MS)
    }

    /// The tag of the goal, if it is pursued.
    pub(crate) fn pursued(&self) -> Option<GoalTag> {
        self.goal
            .as_ref()
            .filter(|goal| goal.is_pursuing())
            .map(Goal::tag)
    }

    fn release_headless(&mut self, out: &mut Vec<Effect>) {
        let at_rest = !self.host.running
            && self.pursued().is_none()
            && self.waiting.is_none()
            && self.audit.is_none();
        if at_rest && let Some(headless) = self.headless.take() {
            let unsaid = || say::not_approved(self.goal.as_ref(), self.last_audit.as_ref());
            let reason = headless.reason;
            out.push(Effect::Release {
                approved: headless.approved,
                reason: reason.or_else(|| (!headless.approved).then(unsaid)),
                report: headless.worked,
            });
        }
    }

    fn show_status(&mut self, out: &mut Vec<Effect>) {
        if let Some(goal) = &self.goal {
            self.shown_objective.follow(goal.objective());
        }
        let view = status::view(self);
        if self.shown.as_ref() != Some(&view) {
            let mut wound = view.clone();
            status::wind_clock(self, &mut wound);
            self.shown = Some(view);
            out.push(Effect::ShowStatus(wound));
        }
    }

    /// The status must be sent again, whatever was shown.
    pub(crate) fn forget_shown(&mut self) {
        self.shown = None;
    }
}

/// A stop whose quote is short enough to be kept.
pub(crate) fn bounded(stop: Stop) -> Stop {
    let detail = stop
        .detail
        .map(|text| safe::cut(&text, STOP_DETAIL_MAX_CHARS).into_owned());
    Stop { detail, ..stop }
}

/// SplitMix64: spreads the driver's fresh number over as many tokens as an event needs.
const fn mix(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
