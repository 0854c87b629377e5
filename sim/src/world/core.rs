//! The core's side: the wire in both directions, the driver's own work, the deadlines.

use std::collections::VecDeque;

use goal_engine::{
    Clocks, CoreRestart, Deadline, Effect, Engine, Event, Inspection, Monotonic, OpenCause,
    Prepared, Rung, SessionOpened, WallClock, WorkspaceSummary,
};

use super::shim::Typed;
use super::{Happening, World};
use crate::check::Stood;
use crate::entropy::Stream;
use crate::marks::Mark;

/// What pi or the shim waits for, by the number of its stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    /// A stage of the run.
    Stage(u32),
    /// A command of the user.
    Command,
    /// The opening of another branch.
    Opening,
    /// The cancelling of a call: nothing depends on the answer here.
    Nothing,
}

/// The process with the engine, and the two wires.
pub(crate) struct Core {
    /// `None` while no process runs.
    pub(crate) engine: Option<Engine>,
    /// The process; wires of an older one are dead.
    pub(crate) life: u32,
    inbox: VecDeque<(Event, Option<Ask>)>,
    outbox: VecDeque<(Vec<Effect>, Option<Ask>)>,
    /// Lines do not overtake each other.
    in_free_at: u64,
    out_free_at: u64,
    /// The deadline for which a tick is due already.
    armed: Option<Monotonic>,
    /// The deadline that was overslept last, and until when.
    overslept: Option<Monotonic>,
    asleep_until: u64,
    /// Moments of recent losses.
    losses: Vec<u64>,
    /// It was lost too often; only a command starts it again.
    pub(crate) gone: bool,
    /// Events taken in all lives.
    pub(crate) taken: u64,
}

const LOSSES_WINDOW_MS: u64 = 600_000;
const LOSSES_MAX: usize = 3;
/// A tick of a busy machine comes late by less than two to this power milliseconds.
const BUSY_POWER: u32 = 10;
/// And that of a machine that slept by less than this.
const ASLEEP_MAX_MS: u32 = 120_000;
/// Fresh numbers are far apart, and the same in every run.
const FRESH_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Core {
    pub(crate) fn new() -> Self {
        Self {
            engine: None,
            life: 0,
            inbox: VecDeque::new(),
            outbox: VecDeque::new(),
            in_free_at: 0,
            out_free_at: 0,
            armed: None,
            overslept: None,
            asleep_until: 0,
            losses: Vec::new(),
            gone: false,
            taken: 0,
        }
    }

    pub(crate) const fn is_alive(&self) -> bool {
        self.engine.is_some()
    }

    fn end(&mut self) {
        self.engine = None;
        self.life += 1;
        self.inbox.clear();
        self.outbox.clear();
        self.armed = None;
    }
}

impl World {
    /// The shim reports something; nobody waits.
    pub(super) fn tell(&mut self, event: Event) {
        self.send(event, None);
    }

    /// The shim reports something and waits.
    pub(super) fn ask(&mut self, event: Event, ask: Ask) {
        self.send(event, Some(ask));
    }

    fn send(&mut self, event: Event, ask: Option<Ask>) {
        if !self.core.is_alive() {
            return;
        }
        self.core.inbox.push_back((event, ask));
        let delay = self.wire_delay(self.core.in_free_at);
        self.core.in_free_at = self.now + delay;
        let life = self.core.life;
        self.at(delay, Happening::CoreTakes(life));
    }

    fn wire_delay(&mut self, free_at: u64) -> u64 {
        let wire = self.plan.wire;
        let delay = if wire == 0 { 0 } else { self.entropy.ms(wire) };
        delay.max(free_at.saturating_sub(self.now))
    }

    pub(super) fn core_takes(&mut self, life: u32) {
        if life != self.core.life {
            return;
        }
        if let Some((event, ask)) = self.core.inbox.pop_front() {
            self.drive(event, ask);
        }
    }

    pub(super) fn tick(&mut self, life: u32) {
        if life != self.core.life {
            return;
        }
        let due = self.core.engine.as_ref().and_then(Engine::deadline);
        if let Some((at, _)) = due
            && at.0 <= self.now
            && self.oversleeps(at)
        {
            let rest = self.core.asleep_until - self.now;
            return self.at(rest, Happening::Tick(life));
        }
        self.core.armed = None;
        match due {
            Some((at, why)) if at.0 <= self.now => {
                self.mark_deadline(why);
                self.drive(Event::Tick, None);
            }
            Some(_) | None => self.arm(),
        }
    }

    /// A busy machine is late by little, one that slept by any time.
    fn lateness(&mut self) -> u64 {
        if self.draw(2) == 0 {
            self.entropy.ms(BUSY_POWER)
        } else {
            u64::from(self.draw(ASLEEP_MAX_MS))
        }
    }

    pub(super) fn looked(&mut self, life: u32, event: Event) {
        if life == self.core.life {
            self.drive(event, None);
        }
    }

    /// The law of the drive: one event, all its effects, then the next.
    fn drive(&mut self, event: Event, ask: Option<Ask>) {
        let mut batch = Vec::new();
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let mut out = Vec::new();
            self.hand_over(&event, &mut out);
            for effect in &out {
                events.extend(self.drivers_work(effect));
            }
            batch.append(&mut out);
        }
        self.arm();
        if batch.is_empty() && ask.is_none() {
            return;
        }
        self.core.outbox.push_back((batch, ask));
        let delay = self.wire_delay(self.core.out_free_at);
        self.core.out_free_at = self.now + delay;
        let life = self.core.life;
        self.at(delay, Happening::ShimTakes(life));
    }

    fn hand_over(&mut self, event: &Event, out: &mut Vec<Effect>) {
        let clocks = self.clocks();
        self.check_before(event);
        let Some(mut engine) = self.core.engine.take() else {
            return;
        };
        let before = engine.goal().map(Stood::of);
        let state = self.seen.state(&engine, self.pi.stage.number());
        let kind = crate::seen::kind(event);
        if self.trace.is_some() {
            let line = format!("core takes {event:?}");
            self.note(|| line);
        }
        engine.handle(clocks, event.clone(), out);
        self.core.taken += 1;
        self.seen.transition(state, kind);
        self.digest_of(kind, out);
        self.core.engine = Some(engine);
        if self.trace.is_some() {
            for effect in out.iter() {
                let line = format!("  asks for {effect:?}");
                self.note(|| line);
            }
        }
        self.check_after(event, before.as_ref(), out);
    }

    fn digest_of(&mut self, kind: usize, out: &[Effect]) {
        let mut word = (kind as u64) << 32 ^ self.now;
        for effect in out {
            word = word.rotate_left(5) ^ crate::seen::effect_kind(effect) as u64;
        }
        self.digest = (self.digest ^ word).wrapping_mul(0x0100_0000_01b3);
    }

    fn clocks(&mut self) -> Clocks {
        self.fresh = self.fresh.wrapping_add(FRESH_STEP);
        Clocks {
            now: Monotonic(self.now),
            wall: WallClock(1_700_000_000_000 + self.now),
            fresh: self.fresh,
        }
    }

    fn arm(&mut self) {
        let Some((at, why)) = self.core.engine.as_ref().and_then(Engine::deadline) else {
            return;
        };
        if self.core.armed.is_some_and(|armed| armed <= at) {
            return;
        }
        self.core.armed = Some(at);
        if why == Deadline::BackOff {
            self.tempt_the_user();
        }
        let life = self.core.life;
        self.at(at.0.saturating_sub(self.now), Happening::Tick(life));
    }

    /// The core is woken only after this deadline; what is on its wire then comes first.
    fn oversleeps(&mut self, deadline: Monotonic) -> bool {
        let anew = self.core.overslept != Some(deadline);
        if anew && self.rate(|rates| rates.late_tick) {
            self.core.overslept = Some(deadline);
            self.core.asleep_until = self.now + self.lateness();
            let until = self.core.asleep_until;
            self.note(|| format!("the core is not woken before {until}"));
        }
        self.now < self.core.asleep_until
    }

    fn mark_deadline(&mut self, why: Deadline) {
        self.mark(match why {
            Deadline::AbortGrace => Mark::DeadlineAbortGrace,
            Deadline::BackOff => Mark::DeadlineBackOff,
            Deadline::AuditWorkspace => Mark::DeadlineAuditWorkspace,
            Deadline::AuditTimeout => Mark::DeadlineAuditTimeout,
            Deadline::AuditIdle => Mark::DeadlineAuditIdle,
        });
    }

    /// What the driver does by itself: looking at workspaces, writing reports.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the rest is the shim's work"
    )]
    fn drivers_work(&mut self, effect: &Effect) -> Option<Event> {
        match effect {
            Effect::PrepareAudit(prepare) => {
                let event = Event::AuditPrepared {
                    audit: prepare.audit,
                    prepared: self.prepare(&prepare.sandbox.mode),
                };
                self.look(event);
                None
            }
            Effect::InspectWorkspace { audit, .. } => {
                let event = Event::WorkspaceInspected {
                    audit: *audit,
                    inspection: self.inspect(),
                };
                self.look(event);
                None
            }
            Effect::WriteReport { .. } => Some(Event::ReportWritten(Ok("report.md".to_owned()))),
            _ => None,
        }
    }

    fn look(&mut self, event: Event) {
        let ms = if self.scripted.is_some() {
            super::scripted::LOOK_MS
        } else if self.is_healed() {
            5
        } else {
            self.entropy.ms(11)
        };
        let life = self.core.life;
        if self.rate(|rates| rates.blind / 4) {
            return; // A file system that never answers; the engine's own limit ends the wait.
        }
        self.at(ms, Happening::Looked(life, Box::new(event)));
    }

    fn prepare(&mut self, mode: &str) -> Result<Box<Prepared>, String> {
        if self.rate(|rates| rates.blind) {
            return Err("the workspace could not be read".to_owned());
        }
        let rung = if mode == "off" {
            Rung::None
        } else {
            self.plan.rung
        };
        if mode == "require" && rung != Rung::Overlay {
            return Err("a seal is required, and this machine has none".to_owned());
        }
        self.checks.workspace_changed = false;
        self.remember_workspace();
        Ok(Box::new(Prepared {
            rung,
            seal: (rung == Rung::Overlay).then(|| "seal".to_owned()),
            before: (rung != Rung::None).then(|| self.summary()),
        }))
    }

    fn inspect(&mut self) -> Result<Box<Inspection>, String> {
        if self.rate(|rates| rates.blind) {
            return Err("the workspace could not be read".to_owned());
        }
        let meddled = self.rate(|rates| rates.meddles);
        let paths = match &self.scripted {
            Some(scripted) => scripted.changed_paths(),
            None if self.checks.workspace_changed || meddled => vec!["src/a.rs".to_owned()],
            None => Vec::new(),
        };
        self.checks.inspected_changed = !paths.is_empty();
        Ok(Box::new(Inspection {
            after: self.summary(),
            changed: paths,
            forgiven: Vec::new(),
        }))
    }

    // The life of the process

    /// A session is opened, its branch is changed, or a new core is told of it.
    pub(super) fn open_session(&mut self, cause: OpenCause) {
        if !self.core.is_alive() {
            self.core.engine = Some(self.new_engine());
            self.core.in_free_at = self.now;
            self.core.out_free_at = self.now;
        }
        let session = self.session();
        let mut branch = session.recovered_at(session.leaf);
        let moving = cause == OpenCause::Tree;
        if matches!(cause, OpenCause::CoreRestart(_)) {
            branch.audit_lost = false;
        }
        let event = Event::SessionOpened(Box::new(SessionOpened {
            cause,
            branch,
            has_ui: !self.plan.headless,
            terminal: !self.plan.headless && self.scripted.is_none(),
            model: self.executor_model(),
            cwd: Some("/work".to_owned()),
        }));
        if moving {
            self.shim.moving += 1;
            self.ask(event, Ask::Opening);
        } else {
            self.tell(event);
        }
    }

    #[cfg(not(feature = "canary"))]
    fn new_engine(&self) -> Engine {
        Engine::new(self.settings())
    }

    /// The session is being left for good: the process ends with it.
    pub(super) fn close_core(&mut self) {
        self.tell(Event::SessionLeft);
        // What lies on the wire is taken before the process ends; what it answers, nobody hears.
        while let Some((event, _)) = self.core.inbox.pop_front() {
            self.drive(event, None);
        }
        self.core.end();
        self.core.gone = false;
        self.core.losses.clear();
    }

    /// pi died, and the core with it.
    pub(super) fn kill_core(&mut self) {
        self.core.end();
        self.core.gone = false;
        self.core.losses.clear();
    }

    /// The core dies inside a living session.
    pub(super) fn lose_core(&mut self) {
        if !self.core.is_alive() {
            return;
        }
        self.mark(Mark::CoreLost);
        let pending = self.pi.waits_for_core();
        self.core.end();
        let now = self.now;
        self.core
            .losses
            .retain(|moment| now - moment < LOSSES_WINDOW_MS);
        self.core.losses.push(now);
        self.shim.moving = 0;
        let audit_lost = self.let_go();
        let losses = self.core.losses.len();
        if losses >= LOSSES_MAX {
            self.core.gone = true;
            self.mark(Mark::CoreGone);
            if self.shim.pursued.is_some() {
                self.abort_run_as_ours(); // No goal is worked on without a core.
            }
            self.blank();
            if self.plan.headless {
                self.phase = super::Phase::Over; // It returns, and says that the core is gone.
            }
        } else {
            let restart = CoreRestart {
                pursued: self.shim.pursued.clone(),
                recent_losses: u32::try_from(losses).unwrap_or(u32::MAX),
                audit_lost,
                running: self.is_busy(),
                full_message_present: self.full_message_present(),
                headless: self.plan.headless && self.shim.commands.is_empty(),
                stopped: self.shim.stopped,
            };
            self.open_session(OpenCause::CoreRestart(restart));
        }
        self.repeat_commands();
        if pending {
            self.unanswered();
        }
    }

    /// Commands that were not answered did nothing: each is asked once more.
    fn repeat_commands(&mut self) {
        for Typed { text, again } in std::mem::take(&mut self.shim.commands) {
            if !again && self.core.is_alive() {
                self.mark(Mark::CommandRepeated);
                self.ask_command(text, true);
            } else if self.plan.headless {
                self.phase = super::Phase::Over; // It returns, and says that the core was lost.
            }
        }
    }

    /// A command, or a call of our tools, starts a core that is not there.
    pub(super) fn wake(&mut self) {
        if self.core.is_alive() {
            return;
        }
        self.core.gone = false;
        self.open_session(OpenCause::Start);
        if self.shim.running {
            self.tell(Event::RunStarted);
        }
    }

    pub(super) fn shim_takes(&mut self, life: u32) {
        if life != self.core.life {
            return;
        }
        let Some((effects, ask)) = self.core.outbox.pop_front() else {
            return;
        };
        match ask {
            Some(Ask::Opening) => self.shim.moving = self.shim.moving.saturating_sub(1),
            Some(Ask::Command) => drop(self.shim.commands.pop_front()),
            Some(Ask::Stage(_) | Ask::Nothing) | None => {}
        }
        let mut proposal = None;
        // A result goes its way when all else of the line was done: pi awaits it, and goes on later.
        let (results, effects) = effects
            .into_iter()
            .partition::<Vec<_>, _>(|effect| matches!(effect, Effect::FinishTool(_)));
        for effect in effects.into_iter().chain(results) {
            if let Effect::Propose(proposed) = effect {
                proposal = Some(proposed);
            } else {
                self.perform(effect);
            }
        }
        if let Some(Ask::Stage(epoch)) = ask
            && epoch == self.pi.epoch
        {
            self.answered(proposal);
        }
    }

    /// Draws a wait of the host.
    pub(super) fn ms(&mut self, powers: u32) -> u64 {
        let ms = self.entropy.ms(powers);
        self.hurry(ms)
    }

    pub(super) fn draw(&mut self, n: u32) -> u32 {
        self.entropy.below(Stream::Faults, n)
    }
}

#[cfg(feature = "canary")]
impl World {
    fn new_engine(&self) -> Engine {
        Engine::with_canary(self.settings(), self.canary)
    }
}

impl World {
    fn summary(&self) -> WorkspaceSummary {
        let digest = match &self.scripted {
            Some(scripted) => scripted.workspace_digest(),
            None => "same".to_owned(),
        };
        WorkspaceSummary {
            digest,
            files: 1,
            bytes: 1,
            commit: None,
            repositories: String::new(),
            rules: String::new(),
            parts: std::collections::BTreeMap::new(),
        }
    }
}
