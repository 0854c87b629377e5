//! Steering a goal that exists: its limit, its words, and its end by the user's own judgement.

use goal_state::{AuditOutcome, Ended, GoalTag, Objective};

use crate::command::{Asks, give_back};
use crate::effect::{Effect, Level};
use crate::engine::Engine;
use crate::event::HostFacts;
use crate::say;
use crate::start::Begin;

/// The largest limit of continuations, as in the settings.
const LIMIT_MAX: u32 = 1_000_000;

impl Engine {
    /// `/goal limit`, alone or with a number.
    pub(crate) fn limit_command(&mut self, number: Option<&str>, out: &mut Vec<Effect>) {
        if self.newer_version {
            return self.reply(Level::Info, say::newer_version(), out);
        }
        let Some(goal) = &mut self.goal else {
            return self.reply(Level::Info, say::nothing_to_limit(), out);
        };
        let Some(number) = number else {
            let text = say::limit(goal);
            return self.reply(Level::Info, text, out);
        };
        let Some(limit) = number.parse().ok().filter(|limit| *limit <= LIMIT_MAX) else {
            return self.reply(Level::Error, say::limit_too_large(LIMIT_MAX), out);
        };
        let limit = (limit != 0).then_some(limit);
        let old = goal.gate().max_continuations;
        goal.set_limit(limit);
        let text = say::limit_set(goal, old);
        // A decision that is under way was made for the goal as it was, and must not undo this.
        if let Some(decided) = self.proposal.as_mut().and_then(|open| open.goal.as_mut()) {
            decided.set_limit(limit);
        }
        self.save(out);
        self.reply(Level::Info, text, out);
    }

    /// `/goal accept`: the user takes the work as it is.
    pub(crate) fn accept_command(&mut self, host: &HostFacts, out: &mut Vec<Effect>) {
        if let Some(why) = self.nothing_to_accept(host) {
            return self.refuse_start(why, "", out);
        }
        let Some(goal) = &self.goal else { return };
        let (title, message) = say::accept_question(goal, self.last_audit.as_ref());
        let GoalTag { id, generation } = goal.tag();
        let Some(ticket) = self.ask(id, Asks::Accept { generation }) else {
            return self.refuse_start(say::too_many_questions(), "", out);
        };
        out.push(Effect::Confirm {
            ticket,
            title,
            message,
        });
    }

    fn nothing_to_accept(&self, host: &HostFacts) -> Option<String> {
        if self.newer_version {
            return Some(say::newer_version());
        }
        match &self.goal {
            None => Some(say::nothing_to_accept()),
            Some(goal) if goal.is_pursuing() => Some(say::pause_before_accepting()),
            Some(_) if !host.has_ui => Some(say::accepting_needs_a_person()),
            Some(_) => None,
        }
    }

    /// The user was asked whether the goal is accepted.
    pub(crate) fn accept_answered(&mut self, yes: bool, tag: &GoalTag, out: &mut Vec<Effect>) {
        let seen = self
            .goal
            .as_ref()
            .filter(|goal| goal.is(tag) && !goal.is_pursuing());
        let Some(goal) = seen else {
            let text = if yes {
                say::changed_before_accepted()
            } else {
                say::not_accepted()
            };
            return self.reply(Level::Info, text, out);
        };
        if !yes {
            return self.reply(Level::Info, say::not_accepted(), out);
        }
        let text = say::accepted(goal);
        let aborted = AuditOutcome::Aborted { by_command: true };
        self.remove(Ended::Accepted, aborted, out);
        self.reply(Level::Info, text, out);
    }

    /// `/goal edit`: the host opens its editor with the objective.
    pub(crate) fn edit_command(&mut self, host: &HostFacts, out: &mut Vec<Effect>) {
        let Some(goal) = self.goal.as_ref().filter(|_| !self.newer_version) else {
            let why = if self.newer_version {
                say::newer_version()
            } else {
                say::nothing_to_edit()
            };
            return self.refuse_start(why, "", out);
        };
        if !host.has_ui {
            return self.refuse_start(say::editing_needs_a_person(), "", out);
        }
        let (about, text) = (goal.id().to_owned(), goal.objective().to_owned());
        let Some(ticket) = self.ask(about, Asks::Edit) else {
            return self.refuse_start(say::too_many_questions(), "", out);
        };
        out.push(Effect::Edit {
            ticket,
            title: say::edit_title(),
            text,
        });
    }

    /// The editor was closed; without a text it was cancelled.
    pub(crate) fn edited(
        &mut self,
        ticket: u64,
        text: Option<&str>,
        host: &HostFacts,
        out: &mut Vec<Effect>,
    ) {
        self.note_host(host);
        let Some(open) = self.close_question(ticket, true) else {
            return;
        };
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
            return self.reply(Level::Info, say::goal_kept(), out);
        };
        let goal = self.goal.as_ref().filter(|goal| goal.id() == open.about);
        let Some(goal) = goal else {
            give_back(&format!("set {text}"), out);
            return self.reply(Level::Error, say::gone_before_edited(), out);
        };
        match Objective::new(text) {
            Err(error) => {
                give_back(&format!("set {text}"), out);
                self.reply(Level::Error, say::bad_objective(error), out);
            }
            Ok(objective) if objective.as_str() == goal.objective() => {
                self.reply(Level::Info, say::goal_kept(), out);
            }
            Ok(objective) => self.edit_goal(objective, host, out),
        }
    }

    /// The same goal in other words. A goal that is pursued starts anew with them.
    fn edit_goal(&mut self, objective: Objective, host: &HostFacts, out: &mut Vec<Effect>) {
        let ends_run = self.goals_run_goes_on();
        if let Some(goal) = &mut self.goal {
            goal.edit(objective);
        }
        self.break_off_audit(AuditOutcome::StaleGoal, out);
        self.objection_owed = false;
        self.save(out);
        let Some(goal) = &self.goal else { return };
        let text = say::edited(goal);
        if !goal.is_pursuing() {
            return self.reply(Level::Info, text, out);
        }
        self.disarm();
        out.extend(ends_run.then_some(Effect::EndRun));
        self.started(text, None, host, Begin::Resumed, out);
    }

    /// `/goal report`: the driver writes it.
    pub(crate) fn report_command(&self, path: Option<&str>, out: &mut Vec<Effect>) {
        out.push(Effect::WriteReport {
            path: path.map(str::to_owned),
            goal: self.goal.as_ref().map(|goal| goal.id().to_owned()),
        });
    }

    /// The driver wrote the report, or could not.
    pub(crate) fn report_written(
        &mut self,
        written: Result<String, String>,
        out: &mut Vec<Effect>,
    ) {
        match written {
            Ok(text) => self.reply(Level::Info, say::report_written(&text), out),
            Err(why) => self.reply(Level::Error, say::no_report(&why), out),
        }
    }
}
