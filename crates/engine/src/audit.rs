//! An audit in flight, and what its end does to the goal.

use goal_audit::{
    Audit, AuditDeadline, AuditorEvent, Failure, Finding, Limits, NoVerdict, NoVerdictReason,
    OpenFailure, Step,
};
use goal_prompts::{self as prompts, AuditPrompt, ReminderWhy};
use goal_state::{
    AuditMark, AuditOutcome, Consequence, Ended, FailureKind, Gate, GoalTag, Monotonic,
    NoVerdictWhy, OBJECTION_MAX_CHARS, Stop, WallClock,
};

use crate::canary::Canary;
use crate::deadline::Deadline;
use crate::effect::{
    AuditDetails, AuditRecord, Effect, Level, LiveAudit, Notice, OpenAuditor, Rung,
    WorkspaceSummary,
};
use crate::engine::Engine;
use crate::event::{LastAudit, Prepared, ToolInvoked};
use crate::say;
use crate::workspace::WORKSPACE_MAX_MS;

/// Checks a live view shows.
const RECENT_CHECKS: usize = 4;

/// One audit in flight.
#[derive(Debug)]
pub(crate) struct ActiveAudit {
    /// Names it in the events of its session.
    pub(crate) number: u64,
    pub(crate) caller: Caller,
    tag: GoalTag,
    pub(crate) gate: Gate,
    claim: Option<String>,
    prompt: String,
    machine: Audit,
    started_at: WallClock,
    pub(crate) stage: Stage,
    pub(crate) rung: Rung,
    pub(crate) before: Option<WorkspaceSummary>,
    pub(crate) after: Option<WorkspaceSummary>,
}

/// Who waits for an audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A call of `update_goal`, in this model turn.
    Call { id: String, turn: u64 },
    /// The user, who asked for it without a claim of the agent.
    User,
}

/// Where an audit stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Stage {
    /// The driver looks at the workspace and seals it.
    Preparing { until: Monotonic },
    /// The auditor is at work.
    Running,
    /// The auditor has ended; the driver looks at the workspace again.
    Inspecting {
        until: Monotonic,
        outcome: AuditOutcome,
        failure: Option<String>,
    },
}

/// An audit that ended, before it was told to anybody.
pub(crate) struct FinishedAudit {
    pub(crate) caller: Caller,
    pub(crate) record: AuditRecord,
    /// The consequence paused the goal.
    pub(crate) stop: Option<Stop>,
}

impl ActiveAudit {
    fn call_id(&self) -> Option<&str> {
        match &self.caller {
            Caller::Call { id, .. } => Some(id),
            Caller::User => None,
        }
    }

    pub(crate) fn deadline(&self) -> Option<(Monotonic, Deadline)> {
        match &self.stage {
            Stage::Preparing { until } | Stage::Inspecting { until, .. } => {
                Some((*until, Deadline::AuditWorkspace))
            }
            Stage::Running => self.machine_deadline(),
        }
    }

    /// What the auditor wrote so far.
    pub(crate) fn report(&self) -> String {
        self.machine.report()
    }

    fn live(&self, now: Monotonic) -> LiveAudit {
        let checks = self.machine.checks();
        LiveAudit {
            stage: self.stage_words(),
            model: self.gate.model.clone(),
            elapsed_ms: self.machine.elapsed_ms(now.0),
            limit_ms: self.gate.timeout_ms,
            successes: self.machine.successes(),
            checks: u32::try_from(checks.len()).unwrap_or(u32::MAX),
            recent: checks[checks.len().saturating_sub(RECENT_CHECKS)..].to_vec(),
            in_flight: self.machine.in_flight(),
        }
    }

    fn stage_words(&self) -> &'static str {
        match self.stage {
            Stage::Preparing { .. } => "looking at the workspace",
            Stage::Inspecting { .. } => "looking at the workspace again",
            Stage::Running if self.machine.attempts() > 1 => "reminded of its verdict",
            Stage::Running if self.machine.checks().is_empty() => "reading the claim",
            Stage::Running => "checking",
        }
    }

    /// The end of the auditor's session, if one is open.
    fn close(&self) -> Option<Effect> {
        let audit = self.number;
        match self.stage {
            Stage::Running => Some(Effect::CloseAuditor { audit }),
            Stage::Preparing { .. } | Stage::Inspecting { .. } => None,
        }
    }

    fn machine_deadline(&self) -> Option<(Monotonic, Deadline)> {
        self.machine.deadline().map(|(at, which)| {
            let which = match which {
                AuditDeadline::Absolute => Deadline::AuditTimeout,
                AuditDeadline::Idle => Deadline::AuditIdle,
            };
            (Monotonic(at), which)
        })
    }
}

impl Engine {
    /// Begins an audit of a claim. The goal is pursued and the run is its own.
    pub(crate) fn audit_claim(&mut self, invoked: &ToolInvoked, out: &mut Vec<Effect>) {
        let caller = Caller::Call {
            id: invoked.call_id.clone(),
            turn: invoked.turn,
        };
        self.start_audit(caller, invoked.summary.as_deref(), &invoked.cwd, out);
    }

    /// Begins an audit of the goal as it stands.
    pub(crate) fn start_audit(
        &mut self,
        caller: Caller,
        claim: Option<&str>,
        cwd: &str,
        out: &mut Vec<Effect>,
    ) {
        out.extend(self.sandbox_news());
        let token = self.token();
        let number = self.number();
        let Some(goal) = &self.goal else { return };
        let gate = goal.gate().clone();
        let prompt = prompts::audit_prompt(&AuditPrompt {
            token: &token,
            objective: goal.objective(),
            claim,
            cwd,
            time_limit_ms: gate.timeout_ms,
        });
        let prompt = self.planted_prompt(claim, prompt);
        self.audit = Some(ActiveAudit {
            number,
            caller,
            tag: goal.tag(),
            machine: Audit::start(limits(&gate), self.clocks.now.0),
            gate,
            claim: claim.map(str::to_owned),
            prompt,
            started_at: self.clocks.wall,
            stage: Stage::Preparing {
                until: self.clocks.now.after(WORKSPACE_MAX_MS),
            },
            rung: Rung::None,
            before: None,
            after: None,
        });
        self.prepare_audit(cwd, out);
    }

    /// The workspace is looked at, and sealed if it can be: the auditor's session may open. Its
    /// limits begin to run with its first prompt.
    pub(crate) fn open_auditor(&mut self, prepared: Prepared, out: &mut Vec<Effect>) {
        let now = self.clocks.now.0;
        let Some(audit) = &mut self.audit else { return };
        audit.machine = Audit::start(limits(&audit.gate), now);
        audit.stage = Stage::Running;
        audit.rung = prepared.rung;
        audit.before = prepared.before;
        out.push(Effect::OpenAuditor(Box::new(OpenAuditor {
            audit: audit.number,
            call_id: audit.call_id().map(str::to_owned),
            model: audit.gate.model.clone(),
            thinking_level: audit.gate.thinking_level.clone(),
            system_prompt: prompts::audit_system_prompt(),
            prompt: std::mem::take(&mut audit.prompt),
            rung: prepared.rung,
            seal: prepared.seal,
        })));
        self.push_progress(out);
    }

    /// Something happened in the auditor's session.
    pub(crate) fn auditor_event(
        &mut self,
        number: u64,
        event: AuditorEvent,
        out: &mut Vec<Effect>,
    ) {
        let now = self.clocks.now.0;
        let event = self.planted_event(event);
        let at_work =
            |audit: &&mut ActiveAudit| audit.number == number && audit.stage == Stage::Running;
        let Some(audit) = self.audit.as_mut().filter(at_work) else {
            return; // Late: that audit, or its session, is over.
        };
        let tells = matches!(
            event,
            AuditorEvent::ToolStarted { .. } | AuditorEvent::ToolFinished { .. }
        );
        let step = audit.machine.handle(now, event);
        if tells {
            self.push_progress(out);
        }
        self.follow_audit(step, out);
    }

    pub(crate) fn expire_audit(&mut self, out: &mut Vec<Effect>) {
        let now = self.clocks.now.0;
        let Some(audit) = &mut self.audit else { return };
        match &audit.stage {
            Stage::Running => {
                let step = audit.machine.expire(now);
                self.follow_audit(step, out);
            }
            Stage::Preparing { until } | Stage::Inspecting { until, .. } => {
                if until.0 <= now {
                    self.workspace_took_too_long(out);
                }
            }
        }
    }

    fn follow_audit(&mut self, step: Step, out: &mut Vec<Effect>) {
        match self.planted_step(step) {
            Step::Wait => {}
            Step::Remind(why) => {
                if let Some(audit) = &self.audit {
                    let text = prompts::reminder(reminder_why(why));
                    out.push(Effect::PromptAuditor {
                        audit: audit.number,
                        text,
                    });
                    self.push_progress(out);
                }
            }
            Step::Done(finding) => {
                let (outcome, failure) = outcome_of(finding);
                self.inspect_workspace(outcome, failure, out);
            }
        }
    }

    /// The model's call was cancelled: the user's Esc, an RPC abort, or the session being left.
    pub(crate) fn tool_cancelled(&mut self, call_id: &str, out: &mut Vec<Effect>) {
        if self
            .audit
            .as_ref()
            .is_none_or(|audit| audit.call_id() != Some(call_id))
            || self.planted(Canary::EscMissesAudit)
        {
            return;
        }
        if let Some(run) = &mut self.run {
            run.stopped_by_user = true;
        }
        self.finish_audit(AuditOutcome::Aborted { by_command: false }, None, out);
    }

    /// Ends the audit in flight, if there is one, with an outcome from outside of it.
    pub(crate) fn break_off_audit(&mut self, outcome: AuditOutcome, out: &mut Vec<Effect>) {
        if self.audit.is_some() {
            self.finish_audit(outcome, None, out);
        }
    }

    /// The branch is another one: the audit's call is answered, and nothing is written there.
    pub(crate) fn drop_audit(&mut self, out: &mut Vec<Effect>) {
        if let Some(audit) = self.audit.take() {
            out.extend(audit.close());
            let record = self.record(&audit, AuditOutcome::StaleGoal, None);
            let finished = FinishedAudit {
                caller: audit.caller,
                record,
                stop: None,
            };
            self.answer_audit(finished, out);
        }
    }

    /// The audit is over: record it, count it, act on it, and answer the call.
    pub(crate) fn finish_audit(
        &mut self,
        outcome: AuditOutcome,
        failure: Option<String>,
        out: &mut Vec<Effect>,
    ) {
        let Some(mut audit) = self.audit.take() else {
            return;
        };
        audit.machine.cancel();
        let close = audit.close().filter(|_| !self.planted_leak(&outcome));
        out.extend(close);
        let stale = self.planted_entry();
        let standing = self.stands(&audit);
        // A verdict counts for the very goal that was judged, or not at all.
        let aborted = matches!(outcome, AuditOutcome::Aborted { .. });
        let outcome = if standing || aborted {
            outcome
        } else {
            AuditOutcome::StaleGoal
        };
        self.audits_ever = self.audits_ever.saturating_add(1);
        let record = self.record(&audit, outcome, failure);
        let stop = if standing {
            self.count_audit(&audit, &record, out)
        } else {
            self.push_record(&record, out);
            None
        };
        out.extend(stale);
        let finished = FinishedAudit {
            caller: audit.caller,
            record,
            stop,
        };
        self.answer_audit(finished, out);
    }

    /// Whether the goal is still the one the audit judges. A user's audit may judge a goal at rest.
    fn stands(&self, audit: &ActiveAudit) -> bool {
        let of_user = audit.caller == Caller::User;
        self.goal.as_ref().is_some_and(|goal| {
            let same = goal.is(&audit.tag) || self.planted_match(goal, &audit.tag);
            same && (of_user || goal.is_pursuing())
        })
    }

    fn record(
        &self,
        audit: &ActiveAudit,
        outcome: AuditOutcome,
        failure: Option<String>,
    ) -> AuditRecord {
        let machine = &audit.machine;
        AuditRecord {
            tag: audit.tag.clone(),
            number: self.audits_ever,
            by_user: audit.caller == Caller::User,
            details: AuditDetails {
                outcome,
                model: audit.gate.model.clone(),
                checks: machine.checks().to_vec(),
                duration_ms: machine.elapsed_ms(self.clocks.now.0),
                report: machine.report(),
                rung: audit.rung,
                paused: None,
            },
            thinking_level: audit.gate.thinking_level.clone(),
            attempts: machine.attempts(),
            usage: machine.usage(),
            started_at: audit.started_at,
            gate: audit.gate.clone(),
            failure,
            before: audit.before.clone(),
            after: audit.after.clone(),
        }
    }

    /// Counts the audit for its goal, saves both, and returns the stop it causes.
    fn count_audit(
        &mut self,
        audit: &ActiveAudit,
        record: &AuditRecord,
        out: &mut Vec<Effect>,
    ) -> Option<Stop> {
        let objection = audit.machine.objection();
        let objection = prompts::safe::cut(&objection, OBJECTION_MAX_CHARS);
        let goal = self.goal.as_mut()?;
        let consequence = goal.audited(AuditMark {
            outcome: &record.details.outcome,
            claim: audit.claim.as_deref(),
            objection: &objection,
            failure: record.failure.as_deref(),
        });
        self.objection_owed |= record.details.outcome == AuditOutcome::Disapproved;
        self.last_audit = Some(last_audit(record));
        self.push_record(record, out);
        match consequence {
            Consequence::Complete => {
                self.complete(record, out);
                None
            }
            Consequence::GoOn => {
                self.save(out);
                None
            }
            // An abort pauses when the run settles: leaving the session looks the same until then.
            Consequence::Pause(_)
                if record.details.outcome == (AuditOutcome::Aborted { by_command: false }) =>
            {
                None
            }
            Consequence::Pause(stop) if self.pursued().is_some() => {
                match audit.caller {
                    // The call's own result ends its run.
                    Caller::Call { .. } => self.pause(stop.clone(), out),
                    Caller::User => self.stop(stop.clone(), out),
                }
                Some(stop)
            }
            Consequence::Pause(_) => {
                self.save(out); // It rests already, and goes on resting for its own reason.
                None
            }
        }
    }

    fn complete(&mut self, record: &AuditRecord, out: &mut Vec<Effect>) {
        let text = self
            .goal
            .as_ref()
            .map(|goal| say::approved(goal, record, self.clocks.now));
        self.end(Ended::Approved, out);
        out.extend(text.map(|text| {
            Effect::Notify(Notice {
                level: Level::Info,
                text,
            })
        }));
        out.push(Effect::Ring);
        if let Some(headless) = &mut self.headless {
            headless.approved = true;
        }
    }

    pub(crate) fn push_record(&self, record: &AuditRecord, out: &mut Vec<Effect>) {
        if !self.newer_version {
            out.push(Effect::SaveAudit(Box::new(record.clone())));
        }
    }

    /// An audit that was lost with the core counts as a failure of the goal it judged.
    pub(crate) fn audit_was_lost(&mut self, out: &mut Vec<Effect>) {
        let Some(goal) = self.goal.as_ref().filter(|goal| goal.is_pursuing()) else {
            return;
        };
        let record = AuditRecord {
            tag: goal.tag(),
            number: self.audits_ever.saturating_add(1),
            by_user: false,
            details: AuditDetails {
                outcome: AuditOutcome::Failed(FailureKind::CoreLost),
                model: goal.gate().model.clone(),
                checks: Vec::new(),
                duration_ms: 0,
                report: String::new(),
                rung: Rung::None,
                paused: None,
            },
            thinking_level: goal.gate().thinking_level.clone(),
            attempts: 0,
            usage: goal_audit::Usage::default(),
            started_at: self.clocks.wall,
            gate: goal.gate().clone(),
            failure: Some(say::core_lost_failure()),
            before: None,
            after: None,
        };
        self.audits_ever = record.number;
        self.last_audit = Some(last_audit(&record));
        self.push_record(&record, out);
        let Some(goal) = &mut self.goal else { return };
        let consequence = goal.audited(AuditMark {
            outcome: &record.details.outcome,
            claim: None,
            objection: "",
            failure: record.failure.as_deref(),
        });
        match consequence {
            Consequence::Pause(stop) => {
                self.stop(stop, out);
            }
            Consequence::Complete | Consequence::GoOn => self.save(out),
        }
    }

    pub(crate) fn push_progress(&self, out: &mut Vec<Effect>) {
        let Some(audit) = &self.audit else { return };
        let live = audit.live(self.clocks.now);
        let text = say::audit_progress(&live.model, live.successes, live.in_flight.as_deref());
        out.push(Effect::Progress {
            call_id: audit.call_id().map(str::to_owned),
            text,
            live: Box::new(live),
        });
    }
}

const fn limits(gate: &Gate) -> Limits {
    Limits {
        absolute_ms: gate.timeout_ms,
        idle_ms: gate.idle_timeout_ms,
    }
}

fn last_audit(record: &AuditRecord) -> LastAudit {
    let successes = record
        .details
        .checks
        .iter()
        .filter(|check| check.ok)
        .count();
    LastAudit {
        outcome: record.details.outcome.name().to_owned(),
        why: record.details.outcome.why().map(str::to_owned),
        model: record.details.model.to_string(),
        successes: u32::try_from(successes).unwrap_or(u32::MAX),
        failure: record.failure.clone(),
        report: prompts::safe::cut(&record.details.report, prompts::REPORT_MAX_CHARS).into_owned(),
    }
}

fn outcome_of(finding: Finding) -> (AuditOutcome, Option<String>) {
    match finding {
        Finding::Approved => (AuditOutcome::Approved, None),
        Finding::Disapproved => (AuditOutcome::Disapproved, None),
        Finding::NoVerdict(why) => (AuditOutcome::NoVerdict(no_verdict_why(why)), None),
        Finding::Failed(failure) => {
            let kind = failure_kind(&failure);
            (
                AuditOutcome::Failed(kind),
                Some(say::audit_failure(failure)),
            )
        }
    }
}

const fn no_verdict_why(why: NoVerdictReason) -> NoVerdictWhy {
    match why {
        NoVerdictReason::Grammar(NoVerdict::Empty) => NoVerdictWhy::Empty,
        NoVerdictReason::Grammar(NoVerdict::NoTag) => NoVerdictWhy::NoTag,
        NoVerdictReason::Grammar(NoVerdict::ExtraText) => NoVerdictWhy::ExtraText,
        NoVerdictReason::Grammar(NoVerdict::UnfinishedReasoning) => {
            NoVerdictWhy::UnfinishedReasoning
        }
        NoVerdictReason::Grammar(NoVerdict::Oversized) => NoVerdictWhy::Oversized,
        NoVerdictReason::Truncated => NoVerdictWhy::Truncated,
        NoVerdictReason::HollowApproval => NoVerdictWhy::HollowApproval,
    }
}

const fn reminder_why(why: NoVerdictReason) -> ReminderWhy {
    match why {
        NoVerdictReason::Grammar(NoVerdict::Empty) => ReminderWhy::Empty,
        NoVerdictReason::Grammar(NoVerdict::NoTag) => ReminderWhy::NoTag,
        NoVerdictReason::Grammar(NoVerdict::ExtraText) => ReminderWhy::ExtraText,
        NoVerdictReason::Grammar(NoVerdict::UnfinishedReasoning) => {
            ReminderWhy::UnfinishedReasoning
        }
        NoVerdictReason::Grammar(NoVerdict::Oversized) => ReminderWhy::Oversized,
        NoVerdictReason::Truncated => ReminderWhy::Truncated,
        NoVerdictReason::HollowApproval => ReminderWhy::HollowApproval,
    }
}

const fn failure_kind(failure: &Failure) -> FailureKind {
    match failure {
        Failure::Open(OpenFailure::MissingCredentials, _) => FailureKind::MissingCredentials,
        Failure::Open(OpenFailure::MissingModel, _) => FailureKind::MissingModel,
        Failure::Open(OpenFailure::Session, _) | Failure::Session(_) => FailureKind::SessionError,
        Failure::Provider(_) => FailureKind::ProviderError,
        Failure::Expired {
            which: AuditDeadline::Absolute,
            ..
        } => FailureKind::Timeout,
        Failure::Expired {
            which: AuditDeadline::Idle,
            ..
        } => FailureKind::IdleTimeout,
    }
}
