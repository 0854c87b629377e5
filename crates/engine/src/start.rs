//! Starting, resuming and restarting a goal: what has to be true before a request goes out.

use goal_state::{Gate, Goal, PauseReason, Stop};

use crate::canary::Canary;
use crate::effect::{Effect, GoalMessage, Level, Notice};
use crate::engine::{Engine, Start};
use crate::event::{Activity, HostFacts};
use crate::model::{self, Resolved};
use crate::say;

/// As what a goal begins to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    /// It is new.
    First,
    /// The user resumed it.
    Resumed,
    /// It goes on after a back-off: a continuation like any other.
    Restart,
}

impl Begin {
    /// The goal was pursued before.
    pub(crate) const fn is_resumed(self) -> bool {
        match self {
            Self::First => false,
            Self::Resumed | Self::Restart => true,
        }
    }
}

/// What waits for its moment to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// The answer to [`Effect::ActivateTools`]; and then for the host's rest, if it was busy.
    Tools { begin: Begin, busy: bool },
    /// The end of what the host does.
    Rest(Begin),
    /// The same, for the audit the user asked for.
    Audit,
}

impl Waiting {
    /// What starts when the host comes to rest.
    pub(crate) const fn at_rest(self) -> Option<Begin> {
        match self {
            Self::Rest(begin) => Some(begin),
            Self::Tools { .. } | Self::Audit => None,
        }
    }

    /// Whether it is the end of a back-off that waits.
    pub(crate) const fn is_restart(self) -> bool {
        matches!(self, Self::Rest(Begin::Restart))
    }
}

impl Engine {
    /// The gate a goal is judged by from now on, or why there is none.
    pub(crate) fn resolve_gate(&self, host: &HostFacts) -> Result<(Gate, Option<String>), String> {
        let Resolved { model, notice } = model::resolve(&self.settings, host)?;
        let settings = &self.settings;
        let gate = Gate {
            model,
            thinking_level: settings
                .thinking_level
                .as_ref()
                .or(host.thinking_level.as_ref())
                .cloned(),
            timeout_ms: settings.timeout_ms,
            idle_timeout_ms: settings.idle_timeout_ms,
            max_empty_continuations: settings.max_empty_continuations,
            max_consecutive_audit_rejections: settings.max_consecutive_audit_rejections,
            max_continuations: settings.max_continuations,
            own_limit: false,
            max_audits: settings.max_audits,
            sandbox: settings.sandbox.clone(),
        };
        Ok((gate, notice))
    }

    /// The goal is pursuing; start it as soon as tools and host allow.
    pub(crate) fn begin(&mut self, host: &HostFacts, begin: Begin, out: &mut Vec<Effect>) {
        let busy = host.activity != Activity::Idle;
        if host.tools_active && !self.planted(Canary::ToolsToggled) {
            self.begin_when_idle(begin, busy, out);
        } else {
            self.waiting = Some(Waiting::Tools { begin, busy });
            out.push(Effect::ActivateTools);
        }
    }

    /// The host tried to make our tools active.
    pub(crate) fn tools_checked(&mut self, active: bool, out: &mut Vec<Effect>) {
        let Some(Waiting::Tools { begin, busy }) = self.waiting else {
            return;
        };
        self.waiting = None;
        if active {
            self.begin_when_idle(begin, busy || self.host.compacting, out);
        } else {
            self.pause(Stop::plain(PauseReason::ToolsOff), out);
        }
    }

    /// Who still waits for our tools need not wait for the host afterwards.
    pub(crate) const fn is_no_longer_busy(&mut self) {
        if let Some(Waiting::Tools { busy, .. }) = &mut self.waiting {
            *busy = false;
        }
    }

    fn begin_when_idle(&mut self, begin: Begin, busy: bool, out: &mut Vec<Effect>) {
        if busy || self.host.running {
            self.waiting = Some(Waiting::Rest(begin));
            // A run that is ended for it is over in a moment: nothing to announce.
            if !out.contains(&Effect::EndRun) {
                out.push(Effect::Notify(Notice {
                    level: Level::Info,
                    text: say::starts_later(),
                }));
            }
        } else {
            self.start_run(begin, out);
        }
    }

    /// The host is idle: what waited for that may start.
    pub(crate) fn start_waiting(&mut self, out: &mut Vec<Effect>) -> bool {
        if self.waiting == Some(Waiting::Audit) {
            self.waiting = None;
            self.start_users_audit(out);
            return true;
        }
        let Some(begin) = self.waiting.and_then(Waiting::at_rest) else {
            return false;
        };
        self.waiting = None;
        if self.pursued().is_none() {
            return false;
        }
        self.start_run(begin, out);
        true
    }

    fn start_run(&mut self, begin: Begin, out: &mut Vec<Effect>) {
        match begin {
            Begin::Restart => self.restart(out),
            Begin::First | Begin::Resumed => {
                let message = self.full_message(begin.is_resumed());
                self.push_start(message, out);
            }
        }
    }

    /// Asks for a run. At most one is outstanding.
    pub(crate) fn push_start(&mut self, message: Option<GoalMessage>, out: &mut Vec<Effect>) {
        let Some(message) = message else { return };
        if self.deadlines.abort_grace.is_some() {
            return; // The user has stopped it; the pause is a moment away.
        }
        self.deadlines.back_off = None;
        self.starting = Some(Start {
            since: self.clocks.now,
            tag: message.details.tag.clone(),
        });
        out.push(Effect::StartRun(message));
    }

    /// Starts a run again outside a settle boundary; counts as a continuation.
    pub(crate) fn restart(&mut self, out: &mut Vec<Effect>) {
        let Some(goal) = self.goal.as_mut().filter(|goal| goal.is_pursuing()) else {
            return;
        };
        if let Err(stop) = goal.count_continuation() {
            return self.pause(stop, out);
        }
        let message = self.continuation(None, self.host.full_message_present);
        self.push_start(message, out);
    }

    /// The wait after a model error is over.
    pub(crate) fn back_off_over(&mut self, out: &mut Vec<Effect>) {
        self.deadlines.back_off = None;
        // A run that goes on is the one that failed, slow to come to rest: any other cancelled this.
        let busy = self.host.running || self.host.compacting;
        if busy && !self.planted(Canary::BackOffOutlivesRun) {
            self.waiting = Some(Waiting::Rest(Begin::Restart));
        } else {
            self.restart(out);
        }
    }

    /// A goal record under the next generation.
    pub(crate) fn new_goal(&mut self, objective: goal_state::Objective, gate: Gate) -> Goal {
        self.generation += 1;
        let id = format!("g-{}", &self.token()[..10]);
        Goal::start(
            id,
            self.generation,
            objective,
            gate,
            self.clocks.now,
            self.clocks.wall,
        )
    }
}
