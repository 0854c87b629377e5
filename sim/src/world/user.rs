//! The user, and what the world does to pi: one act after the other, at any moment.

use goal_engine::{
    Activity, Command, Event, HostFacts, ModelInfo, ModelRef, OfferedWay, OpenCause, WayOn,
};

use goal_protocol::RecordWire;

use super::core::Ask;
use super::session::Session;
use super::shim::Typed;
use super::{Happening, Phase, World};
use crate::entropy::Stream;
use crate::marks::Mark;
use crate::models::INJECTION;
use crate::plan::{Act, vary};

/// A question the user was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialog {
    Confirm { ticket: u64 },
    Edit { ticket: u64 },
    Offer { ticket: u64, way: WayOn },
}

/// The user.
#[derive(Debug)]
pub(crate) struct User {
    /// Acts that are left.
    pub(crate) left: u32,
    /// The session's life: dialogs end with it.
    life: u32,
    goals: u32,
    /// The offer that is shown.
    offer: Option<u64>,
}

impl User {
    pub(crate) const fn new(left: u32) -> Self {
        Self {
            left,
            life: 0,
            goals: 0,
            offer: None,
        }
    }
}

const FIRST_MS: u64 = 10;
/// Whoever does not want to wait acts within two to this power milliseconds.
const HASTY_POWER: u32 = 12;
/// An answer to a question comes within two to this power milliseconds.
const ANSWER_POWER: u32 = 14;
const ASKING: [&str; 6] = ["", "status", "why", "help", "config", "report"];
const LIMITS: [&str; 4] = ["limit 3", "limit 0", "limit 1", "limit 50"];

impl World {
    pub(super) fn user_begins(&mut self) {
        self.at(FIRST_MS, Happening::User);
    }

    pub(super) fn user_acts(&mut self) {
        if self.user.goals == 0 {
            self.user.goals = 1;
            self.type_new_goal();
        } else {
            self.user_acts_once();
        }
        if self.user.left > 0 && self.phase == Phase::Trouble {
            let power = self.plan.acts_apart;
            let ms = self.entropy.ms(power);
            self.at(ms, Happening::User);
        }
    }

    pub(super) fn user_acts_once(&mut self) {
        if self.user.left > 0 && self.phase == Phase::Trouble {
            self.user.left -= 1;
            let act = self.entropy.pick(Stream::Faults, &self.plan.acts);
            self.note(|| format!("the user: {act:?}"));
            self.act(act);
        }
    }

    /// Whoever does not want to wait stops it, says something, or does what others do.
    pub(super) fn user_is_hasty(&mut self) {
        if self.user.left == 0 || self.phase != Phase::Trouble || self.draw(2) == 0 {
            return self.user_acts_once();
        }
        self.user.left -= 1;
        let act = self
            .entropy
            .pick(Stream::Faults, &[Act::Abort, Act::Message]);
        self.note(|| format!("the hasty user: {act:?}"));
        self.act(act);
    }

    /// Something is under way that the user may not want to wait for.
    pub(super) fn tempt_the_user(&mut self) {
        if self.rate(|rates| rates.hasty) {
            let ms = self.entropy.ms(HASTY_POWER);
            self.at(ms, Happening::Hasty);
        }
    }

    fn act(&mut self, act: Act) {
        if self.plan.headless {
            // Nobody is there: the process can only be hurt.
            if matches!(act, Act::LoseCore) {
                self.lose_core();
            }
            return;
        }
        match act {
            Act::Abort => self.press_escape(),
            Act::Message => self.say(),
            Act::Pause => self.type_goal("pause"),
            Act::Resume => self.type_goal("resume"),
            Act::Clear => self.type_goal("clear"),
            Act::NewGoal => self.type_new_goal(),
            Act::Ask => {
                let text = self.entropy.pick(Stream::Faults, &ASKING);
                self.type_goal(text);
            }
            Act::Edit => self.type_goal("edit"),
            Act::Audit => self.type_goal("audit"),
            Act::Accept => self.type_goal("accept"),
            Act::Limit => {
                let text = self.entropy.pick(Stream::Faults, &LIMITS);
                self.type_goal(text);
            }
            Act::Compact => self.compact(),
            Act::Tree => self.move_in_tree(),
            Act::New => self.leave(true),
            Act::Back => self.leave(false),
            Act::Reload => {
                if !self.is_busy() {
                    let here = self.current;
                    self.leave_for(here);
                }
            }
            Act::LoseCore => self.lose_core(),
            Act::Crash => self.crash(),
            Act::Model => {
                let model = if self.draw(4) == 3 {
                    None
                } else {
                    host_model()
                };
                self.tell(Event::ModelSelected { model });
            }
            Act::Tools => self.pi.tools_active = !self.pi.tools_active,
            Act::Settings => {
                vary(&mut self.plan.settings, &mut self.entropy);
                let settings = self.settings();
                self.tell(Event::SettingsRead(settings));
            }
        }
    }

    // What is typed

    pub(super) fn type_goal(&mut self, text: &str) {
        self.checks.user_acted();
        if !self.core.is_alive() {
            self.wake();
        }
        self.ask_command(text.to_owned(), false);
    }

    pub(super) fn ask_command(&mut self, text: String, again: bool) {
        let host = self.facts();
        let command = Event::Command(Command {
            text: text.clone(),
            file: None,
            host,
        });
        self.shim.commands.push_back(Typed { text, again });
        self.ask(command, Ask::Command);
    }

    fn type_new_goal(&mut self) {
        self.user.goals += 1;
        let number = self.user.goals;
        let text = match self.draw(8) {
            5 => format!("-- goal {number} {INJECTION}"),
            6 => format!("goal {number} {}", "x".repeat(3_000)),
            7 => "y".repeat(goal_engine::OBJECTIVE_MAX_BYTES + 1),
            _ => format!("goal {number}: finish the work"),
        };
        self.type_goal(&text);
    }

    /// Esc: an abort of what runs; while pi rests, a word to our back-off.
    fn press_escape(&mut self) {
        if self.is_busy() {
            self.abort(false);
        } else if self.shim.pursued.is_some() && !self.pi.compacting {
            self.mark(Mark::InterruptAtRest);
            self.shim.stopped = true;
            self.checks.interrupted(self.now);
            self.tell(Event::Interrupt);
        }
    }

    fn say(&mut self) {
        if self.is_busy() {
            self.queue_message();
        } else if !self.pi.compacting {
            self.checks.user_acted();
            self.prepare_run(None);
        }
    }

    pub(super) fn user_is_asked(&mut self, dialog: Dialog) {
        if self.draw(8) == 7 {
            return; // Left open for ever.
        }
        let life = self.user.life;
        let ms = self.entropy.ms(ANSWER_POWER);
        self.at(ms, Happening::Answer(life, dialog));
    }

    /// The ways on from a stop are shown; whoever looks elsewhere lets them stand.
    pub(super) fn user_is_offered(&mut self, ticket: u64, options: &[OfferedWay]) {
        self.user.offer = Some(ticket);
        let ways: Vec<WayOn> = options.iter().map(|option| option.way).collect();
        if self.phase != Phase::Trouble || ways.is_empty() || self.draw(4) < 3 {
            return;
        }
        let way = self.entropy.pick(Stream::Faults, &ways);
        let life = self.user.life;
        let ms = self.entropy.ms(ANSWER_POWER);
        self.at(ms, Happening::Answer(life, Dialog::Offer { ticket, way }));
    }

    pub(super) const fn close_offer(&mut self) {
        self.user.offer = None;
    }

    pub(super) fn offer_is_withdrawn(&mut self, ticket: u64) {
        if self.user.offer.take_if(|shown| *shown == ticket).is_some() {
            self.mark(Mark::OfferWithdrawn); // Otherwise it crossed the user's answer.
        }
    }

    pub(super) fn user_answers(&mut self, life: u32, dialog: Dialog) {
        if life != self.user.life || !self.core.is_alive() {
            return;
        }
        let host = self.facts();
        if let Dialog::Offer { ticket, .. } = dialog
            && self.user.offer.take_if(|shown| *shown == ticket).is_none()
        {
            return; // It was taken back, and another is shown.
        }
        let event = match dialog {
            Dialog::Offer { ticket, way } => {
                self.mark(Mark::OfferTaken);
                Event::Chosen { ticket, way, host }
            }
            Dialog::Confirm { ticket } => {
                let yes = match &self.scripted {
                    Some(scripted) => scripted.says_yes(),
                    None => self.draw(4) != 3,
                };
                Event::Confirmed { ticket, yes, host }
            }
            Dialog::Edit { ticket } => {
                let text = match self.scripted.as_mut().map(|it| it.take_edit()) {
                    Some(text) => text,
                    None => self.drawn_edit(),
                };
                Event::Edited { ticket, text, host }
            }
        };
        self.checks.user_acted();
        self.tell(event);
    }

    fn drawn_edit(&mut self) -> Option<String> {
        match self.draw(5) {
            0 => Some("goal: in other words".to_owned()),
            1 => Some(format!("edited {INJECTION}")),
            2 => Some(" ".to_owned()),
            3 => Some("z".repeat(goal_engine::OBJECTIVE_MAX_BYTES + 7)),
            _ => None,
        }
    }

    fn facts(&self) -> HostFacts {
        let activity = if self.is_busy() {
            Activity::Running
        } else if self.pi.compacting {
            Activity::Compacting
        } else {
            Activity::Idle
        };
        HostFacts {
            activity,
            has_ui: !self.plan.headless,
            headless: self.plan.headless,
            model: self.executor_model(),
            thinking_level: Some("medium".to_owned()),
            models: self.models(),
            tools_active: self.pi.tools_active,
            config_path: None,
        }
    }

    // Sessions

    fn move_in_tree(&mut self) {
        if self.is_busy() || self.pi.compacting {
            return;
        }
        let entries = u32::try_from(self.session().entries.len()).unwrap_or(u32::MAX);
        let to = self.draw(entries.saturating_add(1));
        self.mark(Mark::MovedInTree);
        let leaf = (to > 0).then(|| to as usize - 1);
        self.session_mut().move_to(leaf);
        self.checks.branch_changes();
        self.open_session(OpenCause::Tree);
    }

    /// `/new`, or `/resume` of the session before.
    pub(super) fn leave(&mut self, new: bool) {
        if new || self.sessions.len() < 2 {
            self.sessions.push(Session::default());
            let newest = self.sessions.len() - 1;
            self.leave_for(newest);
        } else {
            let other = (self.current + 1) % self.sessions.len();
            self.leave_for(other);
        }
    }

    /// Leaving looks like an abort first; then the session is shut down, and the core ends.
    pub(super) fn leave_for(&mut self, session: usize) {
        if self.is_busy() {
            self.mark(Mark::LeftInRun);
            self.abort(false);
            if self.is_busy() {
                // pi waits for its handlers; what they wait for is answered by the shim.
                self.deliver_all();
                if self.is_busy() {
                    self.pi.aborted = true;
                    self.unanswered();
                }
            }
        }
        self.close_core();
        self.auditor = None;
        self.auditor_life += 1;
        self.reborn();
        self.current = session;
        let leaf = self.session().leaf;
        self.session_mut().move_to(leaf);
        self.checks.session_opens();
        self.mark(Mark::SessionChanged);
        self.open_session(OpenCause::Start);
    }

    /// Lets the wires run dry, as pi does when it waits for a handler.
    fn deliver_all(&mut self) {
        for _ in 0..100 {
            let life = self.core.life;
            let before = self.core.taken;
            self.core_takes(life);
            self.shim_takes(life);
            if self.core.taken == before || !self.is_busy() {
                return;
            }
        }
    }

    pub(super) fn crash(&mut self) {
        if self.auditor.is_some() {
            self.mark(Mark::CrashedInAudit);
        } else if self.is_busy() {
            self.mark(Mark::CrashedInRun);
        } else {
            self.mark(Mark::CrashedAtRest);
        }
        self.kill_core();
        self.auditor = None;
        self.auditor_life += 1;
        self.reborn();
        self.session_mut().killed();
        self.checks.session_opens();
        self.open_session(OpenCause::Start);
    }

    fn reborn(&mut self) {
        self.pi = self.pi.reborn();
        self.shim = self.shim.reborn();
        self.user.life += 1;
        self.user.offer = None;
    }

    // The end

    /// The file, cut after any entry, gives the goal as it was saved last.
    pub(super) fn check_the_file(&mut self) {
        for session in 0..self.sessions.len() {
            let cuts = self.sessions[session].entries.len();
            let step = (cuts / 6).max(1);
            let from = self.entropy.below(Stream::Schedule, 6) as usize;
            let records = self.sessions[session].records();
            for cut in (from..=cuts).step_by(step) {
                if let Some(what) = self.cut_is_wrong(session, cut, &records) {
                    return self.fail("S7", what);
                }
            }
        }
    }

    fn cut_is_wrong(
        &self,
        session: usize,
        cut: usize,
        records: &[Option<RecordWire>],
    ) -> Option<&'static str> {
        let session = &self.sessions[session];
        if session.newer || self.plan.opens_with != crate::plan::Before::Nothing {
            return None;
        }
        let leaf = cut.checked_sub(1);
        let read = session.read_at(leaf, records);
        crate::check::file::compare(session, leaf, &read)
    }
}

/// The executor's model.
#[expect(clippy::unnecessary_wraps, reason = "a host may have none")]
pub(crate) fn host_model() -> Option<ModelRef> {
    Some(ModelRef {
        provider: "p".to_owned(),
        id: "executor".to_owned(),
    })
}

impl World {
    /// The model the executor has now.
    pub(super) fn executor_model(&self) -> Option<ModelRef> {
        match &self.scripted {
            Some(scripted) => Some(scripted.model()),
            None => host_model(),
        }
    }

    fn models(&self) -> Vec<ModelInfo> {
        let all = match &self.scripted {
            Some(scripted) => scripted.models(),
            None => host_model().into_iter().collect(),
        };
        let named = |model: ModelRef| ModelInfo {
            name: model.id.clone(),
            model,
        };
        all.into_iter().map(named).collect()
    }
}
