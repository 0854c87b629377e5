//! Starting, resuming and restarting a goal: what has to be true before a request goes out.

use goal_state::{Gate, Goal, PauseReason, Stop};

use crate::effect::{Effect, Level, Notice};
use crate::engine::Engine;
use crate::event::{Activity, HostFacts};
use crate::model::{self, Resolved};
use crate::say;

/// What waits for its moment to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// The answer to [`Effect::ActivateTools`].
    ForTools {
        /// The goal was pursued before.
        resumed: bool,
    },
    /// The end of what the host does.
    ForRest {
        /// The goal was pursued before.
        resumed: bool,
    },
}

impl Engine {
    /// The gate a goal is judged by from now on, or why there is none.
    pub(crate) fn resolve_gate(&self, host: &HostFacts) -> Result<(Gate, Option<String>), String> {
        let Resolved { model, notice } = model::resolve(&self.settings, host)?;
        let settings = &self.settings;
        let gate = Gate {
            model,
            thinking_level: settings.thinking_level.clone(),
            timeout_ms: settings.timeout_ms,
            idle_timeout_ms: settings.idle_timeout_ms,
            max_empty_continuations: settings.max_empty_continuations,
            max_consecutive_audit_rejections: settings.max_consecutive_audit_rejections,
            max_continuations: settings.max_continuations,
            max_audits: settings.max_audits,
            sandbox: settings.sandbox.clone(),
        };
        Ok((gate, notice))
    }

    /// The goal is pursuing; start it as soon as tools and host allow.
    pub(crate) fn begin(&mut self, host: &HostFacts, resumed: bool, out: &mut Vec<Effect>) {
        self.host.compacting = host.activity == Activity::Compacting;
        if host.tools_active {
            self.begin_when_idle(resumed, host.activity != Activity::Idle, out);
        } else {
            self.waiting = Some(Waiting::ForTools { resumed });
            out.push(Effect::ActivateTools);
        }
    }

    /// The host tried to make our tools active.
    pub(crate) fn tools_checked(&mut self, active: bool, out: &mut Vec<Effect>) {
        let Some(Waiting::ForTools { resumed }) = self.waiting.take() else {
            return;
        };
        if active {
            self.begin_when_idle(resumed, self.host.running || self.host.compacting, out);
        } else {
            self.pause(
                Stop {
                    reason: PauseReason::ToolsOff,
                    detail: None,
                },
                out,
            );
        }
    }

    fn begin_when_idle(&mut self, resumed: bool, busy: bool, out: &mut Vec<Effect>) {
        if busy || self.host.running {
            self.waiting = Some(Waiting::ForRest { resumed });
            out.push(Effect::Notify(Notice {
                level: Level::Info,
                text: say::starts_later(),
            }));
        } else {
            self.start_run(resumed, out);
        }
    }

    /// The host is idle: what waited for that may start.
    pub(crate) fn start_waiting(&mut self, out: &mut Vec<Effect>) -> bool {
        let Some(Waiting::ForRest { resumed }) = self.waiting else {
            return false;
        };
        self.waiting = None;
        if self.pursued().is_none() {
            return false;
        }
        self.start_run(resumed, out);
        true
    }

    fn start_run(&mut self, resumed: bool, out: &mut Vec<Effect>) {
        if let Some(message) = self.full_message(resumed) {
            self.deadlines.back_off = None;
            out.push(Effect::StartRun(message));
        }
    }

    /// Starts a run again outside a settle boundary; counts as a continuation.
    pub(crate) fn restart(&mut self, out: &mut Vec<Effect>) {
        let Some(goal) = self.goal.as_mut().filter(|goal| goal.is_pursuing()) else {
            return;
        };
        if let Err(stop) = goal.count_continuation() {
            return self.pause(stop, out);
        }
        if let Some(message) = self.continuation(None, self.host.full_message_present) {
            out.push(Effect::StartRun(message));
        }
    }

    /// The wait after a model error is over.
    pub(crate) fn back_off_over(&mut self, out: &mut Vec<Effect>) {
        self.deadlines.back_off = None;
        if self.host.running {
            return; // The run that goes on decides at its own boundary.
        }
        if self.host.compacting {
            self.waiting = Some(Waiting::ForRest { resumed: true });
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
