//! Sessions: opened, left, and what the host tells about itself in between.

use goal_state::{AuditOutcome, ModelRef, PauseReason, Phase, Stop};

use crate::effect::{Effect, Level, Notice, SavedGoal};
use crate::engine::Engine;
use crate::event::{CoreRestart, OpenCause, SessionOpened};
use crate::run::Run;
use crate::say;
use crate::settings::Settings;

/// Losses of the core within ten minutes after which the goal pauses.
const CORE_LOSSES_MAX: u32 = 2;

impl Engine {
    /// A session was opened, or its branch changed: what it says about a goal is the truth now.
    pub(crate) fn session_opened(&mut self, opened: SessionOpened, out: &mut Vec<Effect>) {
        self.drop_audit(out);
        let in_memory = self.goal.take();
        self.forget_the_old_branch();
        let SessionOpened {
            cause,
            branch,
            has_ui,
            terminal,
            model,
            cwd,
        } = opened;
        self.host.cwd = cwd.unwrap_or_default();
        self.host.has_ui = has_ui;
        self.host.terminal = terminal;
        self.host.model = model;
        self.newer_version = branch.newer_version;
        self.audits_ever = branch.audits_ever;
        self.last_audit = branch.last_audit;
        self.goal = self.planted_goal(in_memory, branch.goal);
        if let Some(goal) = &self.goal {
            self.generation = self.generation.max(goal.generation());
        }
        self.note_saved();
        for text in branch.diagnostics {
            out.push(Effect::Notify(Notice {
                level: Level::Warning,
                text,
            }));
        }
        match cause {
            OpenCause::CoreRestart(restart) => self.core_restarted(&restart, out),
            OpenCause::Start | OpenCause::Tree => {
                self.tell_what_was_found(branch.audit_lost, out);
                self.planted_load(out);
            }
        }
    }

    /// The branch holds the goal as it stands.
    fn note_saved(&mut self) {
        self.saved = self.goal.as_ref().map(|goal| SavedGoal::Present {
            goal: Box::new(goal.clone()),
            active_ms: goal.active_ms(self.clocks.now),
        });
    }

    /// Nothing of another branch or session may act here.
    fn forget_the_old_branch(&mut self) {
        self.goal = None;
        self.run = None;
        self.proposal = None;
        self.turn_result = None;
        self.questions.clear();
        self.offers.undue();
        self.objection_owed = false;
        self.reminded = false;
        self.host.running = false;
        self.host.compacting = false;
        self.disarm();
        self.forget_shown();
    }

    fn tell_what_was_found(&mut self, audit_lost: bool, out: &mut Vec<Effect>) {
        let Some(goal) = &self.goal else { return };
        if audit_lost {
            out.push(Effect::Notify(Notice {
                level: Level::Warning,
                text: say::audit_lost(),
            }));
        }
        self.offers.fall_due();
        match goal.phase() {
            Phase::Held => {
                out.push(Effect::Notify(Notice {
                    level: Level::Info,
                    text: say::held(goal, self.asker()),
                }));
            }
            Phase::Paused(_) => {
                let text = say::still_resting(goal, self.asker());
                out.push(Effect::Notify(Notice {
                    level: Level::Info,
                    text,
                }));
            }
            Phase::Pursuing => {}
        }
    }

    /// The core is new, the session is not: a goal that was pursued goes on.
    fn core_restarted(&mut self, restart: &CoreRestart, out: &mut Vec<Effect>) {
        let now = self.clocks.now;
        self.host.running = restart.running;
        self.host.full_message_present = restart.full_message_present;
        self.run = restart.running.then(Run::default);
        if restart.headless {
            self.headless = Some(crate::engine::Headless {
                worked: true,
                ..crate::engine::Headless::default()
            });
        }
        let Some(tag) = &restart.pursued else {
            let lost = restart.audit_lost.then(|| Notice {
                level: Level::Warning,
                text: say::users_audit_lost(),
            });
            out.extend(lost.map(Effect::Notify));
            return;
        };
        let Some(goal) = self.goal.as_mut().filter(|goal| goal.is(tag)) else {
            return;
        };
        goal.rearm(now);
        self.note_saved();
        self.run = restart.running.then(|| Run::of(Some(tag.clone())));
        if restart.audit_lost {
            self.audit_was_lost(out);
        }
        if restart.recent_losses >= CORE_LOSSES_MAX {
            self.stop(Stop::plain(PauseReason::CoreLost), out);
        }
        if self.pursued().is_none() {
            return;
        }
        if restart.stopped && !restart.running {
            return self.arm_abort_grace();
        }
        if restart.stopped {
            self.run = Some(Run::default()); // Of the user's own, begun after the stop.
            return self.pause(Stop::plain(PauseReason::Aborted), out);
        }
        out.push(Effect::Notify(Notice {
            level: Level::Warning,
            text: say::core_restarted(),
        }));
        if !restart.running {
            self.restart(out);
        }
    }

    /// The session is being left: a hold, whatever the abort that came before looked like.
    pub(crate) fn session_left(&mut self, out: &mut Vec<Effect>) {
        let now = self.clocks.now;
        self.break_off_audit(AuditOutcome::Aborted { by_command: false }, out);
        if let Some(goal) = self.goal.as_mut().filter(|goal| goal.is_pursuing()) {
            goal.hold(now);
            if let Some(headless) = &mut self.headless {
                headless.reason = Some(say::left());
            }
        }
        self.disarm();
        self.host.running = false;
        self.run = None;
        self.proposal = None;
        self.offers.forget();
    }

    /// The settings differ from the last ones. The gate is frozen, so say when they will count.
    pub(crate) fn settings_read(&mut self, settings: Settings, out: &mut Vec<Effect>) {
        if settings == self.settings {
            return;
        }
        self.settings = settings;
        if self.pursued().is_some() {
            let text = say::settings_changed();
            out.push(Effect::Notify(Notice {
                level: Level::Warning,
                text,
            }));
        }
    }

    /// The user chose another model for the executor.
    pub(crate) fn model_selected(&mut self, model: Option<&ModelRef>, out: &mut Vec<Effect>) {
        let unset = self.settings.provider.is_none() && self.settings.model.is_none();
        let changed = self.host.model.as_ref() != model;
        self.host.model = model.cloned();
        let Some(goal) = self.goal.as_ref().filter(|goal| goal.is_pursuing()) else {
            return;
        };
        if unset && changed && model != Some(&goal.gate().model) {
            let text = say::auditor_stays(&goal.gate().model);
            out.push(Effect::Notify(Notice {
                level: Level::Info,
                text,
            }));
        }
    }
}
