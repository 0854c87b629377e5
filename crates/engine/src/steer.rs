//! Steering a goal that exists: its limit, its words, an audit at any time, and its end
//! by the user's own judgement.

use goal_state::{AuditOutcome, Ended, Goal, GoalTag, Objective, PauseReason, Stop};

use crate::audit::Caller;
use crate::canary::Canary;
use crate::command::{Asks, give_back};
use crate::deadline::Deadlines;
use crate::effect::{AuditRecord, Effect, Level, Notice};
use crate::engine::Engine;
use crate::event::{Activity, HostFacts};
use crate::say;
use crate::start::{Begin, Waiting};

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
        self.save_unless_stopping(out);
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
        if !self.planted(Canary::ApprovalOutlivesEdit) {
            self.break_off_audit(AuditOutcome::StaleGoal, out);
        }
        self.objection_owed = false;
        self.save(out);
        let Some(goal) = &self.goal else { return };
        let text = say::edited(goal);
        if !goal.is_pursuing() {
            self.offers.fall_due();
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

    /// `/goal audit`: the auditor looks now, without a claim of the agent.
    pub(crate) fn audit_command(&mut self, host: &HostFacts, out: &mut Vec<Effect>) {
        if let Some(why) = self.nothing_to_audit() {
            return self.refuse_start(why, "", out);
        }
        let notice = match self.decide_gate(host) {
            Ok(notice) => notice,
            Err(why) => return self.refuse_start(why, "", out),
        };
        if let Some(headless) = &mut self.headless {
            headless.approved = false;
            headless.worked = true;
        }
        let ends_run = self.goals_run_goes_on();
        // A run that was asked for just now begins all the same, to be ended.
        let busy = self.host.running || host.activity != Activity::Idle || self.is_starting();
        self.waiting = None;
        self.deadlines = Deadlines::default();
        let text = self.goal.as_ref().map(|goal| say::audit_asked(goal, busy));
        self.reply(Level::Info, text.unwrap_or_default(), out);
        let level = Level::Info;
        out.extend(notice.map(|text| Effect::Notify(Notice { level, text })));
        out.extend(ends_run.then_some(Effect::EndRun));
        if busy {
            self.waiting = Some(Waiting::Audit);
        } else {
            self.start_users_audit(out);
        }
    }

    /// A goal that was not set here is judged by the settings as they are when it is first judged.
    fn decide_gate(&mut self, host: &HostFacts) -> Result<Option<String>, String> {
        let undecided = |goal: &&Goal| goal.gate().is_undecided();
        if self.goal.as_ref().filter(undecided).is_none() {
            return Ok(None);
        }
        let (gate, notice) = self.resolve_gate(host)?;
        if let Some(goal) = &mut self.goal {
            goal.set_gate(gate);
        }
        Ok(notice)
    }

    fn nothing_to_audit(&self) -> Option<String> {
        if self.newer_version {
            return Some(say::newer_version());
        }
        if self.goal.is_none() {
            return Some(say::nothing_to_audit());
        }
        let waits = self.waiting == Some(Waiting::Audit);
        let due = self.audit.is_some() || (waits && (self.host.running || self.is_starting()));
        due.then(say::audit_is_running)
    }

    /// The host is idle: the audit the user asked for begins.
    pub(crate) fn start_users_audit(&mut self, out: &mut Vec<Effect>) {
        let cwd = self.host.cwd.clone();
        self.start_audit(Caller::User, None, &cwd, out);
    }

    /// An audit the user asked for is under way, or waits for the host. Meanwhile the goal rests.
    pub(crate) fn users_audit_is_due(&self) -> bool {
        let runs = self.audit.as_ref();
        self.waiting == Some(Waiting::Audit)
            || runs.is_some_and(|audit| audit.caller == Caller::User)
    }

    /// The user stops the audit that the user asked for. A goal that is pursued stops with it.
    pub(crate) fn stop_users_audit(&mut self, out: &mut Vec<Effect>) {
        self.waiting.take_if(|waiting| *waiting == Waiting::Audit);
        self.break_off_audit(AuditOutcome::Aborted { by_command: false }, out);
        if self.pursued().is_some() {
            return self.stop(Stop::plain(PauseReason::Aborted), out);
        }
        self.offers.fall_due();
        let text = self.goal.as_ref();
        let text = text.map(|goal| say::audit_stopped(goal, self.asker()));
        self.tell_or_keep(Level::Info, text.unwrap_or_default(), out);
    }

    /// The user's audit is over. A goal that is pursued goes on, with the objections if there are any.
    pub(crate) fn tell_audit(
        &mut self,
        record: &AuditRecord,
        stop: Option<&Stop>,
        out: &mut Vec<Effect>,
    ) {
        match &record.details.outcome {
            // Told by the goal's end, and by whoever stopped it.
            AuditOutcome::Approved | AuditOutcome::Aborted { .. } => return,
            AuditOutcome::StaleGoal => {
                return self.tell_or_keep(Level::Warning, say::users_audit_stale(), out);
            }
            AuditOutcome::Disapproved
            | AuditOutcome::NoVerdict(_)
            | AuditOutcome::Failed(_)
            | AuditOutcome::StaleWorkspace => {}
        }
        if stop.is_some() {
            return; // The stop tells it.
        }
        self.offers.fall_due();
        let text = self
            .goal
            .as_ref()
            .map(|goal| say::audit_told(goal, record, self.asker(), self.host.terminal));
        self.tell_or_keep(Level::Warning, text.unwrap_or_default(), out);
        if !self.host.running && !self.host.compacting {
            self.restart(out);
        } else if self.pursued().is_some() {
            self.waiting = Some(Waiting::Rest(Begin::Restart));
        }
    }

    /// To the user at once, or with the end of the headless command.
    fn tell_or_keep(&mut self, level: Level, text: String, out: &mut Vec<Effect>) {
        match &mut self.headless {
            Some(headless) => headless.reason = Some(text),
            None => out.push(Effect::Notify(Notice { level, text })),
        }
    }
}
