//! Calls of `get_goal` and `update_goal`.

use std::collections::BTreeMap;

use goal_prompts::{
    self as prompts, AuditResult, AuditWord, DeadCall, GoalReport, REPORT_MAX_CHARS,
};
use goal_state::{AuditOutcome, DEAD_CALLS_MAX, Phase, Stop};

use crate::audit::{Caller, FinishedAudit};
use crate::canary::Canary;
use crate::effect::{AuditDetails, AuditRecord, Effect, Level, Notice, ToolAnswer};
use crate::engine::Engine;
use crate::event::{GoalTool, ToolInvoked};
use crate::say;

/// The result of this turn's audit, for further calls in the same message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TurnResult {
    turn: u64,
    answer: ToolAnswer,
}

/// Statuses taken as `complete`, in any case.
const COMPLETE_WORDS: [&str; 3] = ["complete", "completed", "done"];

impl Engine {
    /// The model called one of our tools. Exactly one answer follows.
    pub(crate) fn tool_invoked(&mut self, invoked: &ToolInvoked, out: &mut Vec<Effect>) {
        self.note_run();
        if invoked.tool == GoalTool::UpdateGoal && self.repeats_this_turns_audit(invoked, out) {
            return;
        }
        if let Some(dead) = self.dead_call() {
            return self.answer_dead(invoked, dead, out);
        }
        if let Some(run) = &mut self.run {
            run.dead_calls = 0;
        }
        match invoked.tool {
            GoalTool::GetGoal => self.answer_get_goal(invoked, out),
            GoalTool::UpdateGoal => self.update_goal(invoked, out),
        }
    }

    fn repeats_this_turns_audit(&self, invoked: &ToolInvoked, out: &mut Vec<Effect>) -> bool {
        let Some(first) = self
            .turn_result
            .as_ref()
            .filter(|first| first.turn == invoked.turn)
        else {
            return false;
        };
        out.push(Effect::FinishTool(Box::new(ToolAnswer {
            call_id: invoked.call_id.clone(),
            text: prompts::same_audit(&first.answer.text),
            // One audit, charged once.
            usage: None,
            ..first.answer.clone()
        })));
        !self.planted(Canary::RepeatedClaimAnsweredTwice)
    }

    fn dead_call(&self) -> Option<DeadCall> {
        let Some(goal) = &self.goal else {
            return Some(DeadCall::NoGoal);
        };
        match goal.phase() {
            Phase::Held => Some(DeadCall::Held),
            Phase::Paused(_) => Some(DeadCall::Paused),
            Phase::Pursuing if !self.run_is_the_goals() => Some(DeadCall::Stale),
            // Two audits of one goal cannot run at once; tools are called one after the other.
            Phase::Pursuing if self.audit.is_some() && !self.planted(Canary::SecondAudit) => {
                Some(DeadCall::Stale)
            }
            Phase::Pursuing => None,
        }
    }

    fn answer_dead(&mut self, invoked: &ToolInvoked, dead: DeadCall, out: &mut Vec<Effect>) {
        let calls = self.run.as_mut().map_or(1, |run| {
            run.dead_calls += 1;
            run.dead_calls
        });
        let ends_run = calls >= DEAD_CALLS_MAX;
        let mut text = prompts::dead_call(dead, None);
        if ends_run {
            text.push_str(&prompts::run_ends(say::DEAD_CALLS_END));
            out.push(Effect::Notify(Notice {
                level: Level::Warning,
                text: say::dead_calls_ended_the_run(self.goal.as_ref(), self.asker()),
            }));
        }
        out.push(Effect::FinishTool(Box::new(ToolAnswer {
            ends_run,
            ..error_answer(invoked, text)
        })));
    }

    fn answer_get_goal(&mut self, invoked: &ToolInvoked, out: &mut Vec<Effect>) {
        let token = self.token();
        let Some(goal) = &self.goal else { return };
        let text = prompts::goal_report(&GoalReport {
            token: &token,
            id: goal.id(),
            phase: goal.phase().name(),
            objective: goal.objective(),
            continuations: goal.totals.continuations.into(),
            audits: goal.totals.audits.into(),
            active_ms: goal.active_ms(self.clocks.now),
            last_objection: goal.last_objection.as_deref(),
        });
        let answer = ToolAnswer {
            is_error: false,
            ..error_answer(invoked, text)
        };
        out.push(Effect::FinishTool(Box::new(answer)));
    }

    fn update_goal(&mut self, invoked: &ToolInvoked, out: &mut Vec<Effect>) {
        match invoked.status.as_deref().map(str::trim) {
            Some(given) if !is_complete(given) => {
                let text = prompts::bad_status(given);
                if let Some(run) = &mut self.run {
                    run.note_trouble(GoalTool::UpdateGoal.name(), text.clone());
                }
                let answer = error_answer(invoked, text);
                out.push(Effect::FinishTool(Box::new(answer)));
            }
            Some(_) | None => self.audit_claim(invoked, out),
        }
    }

    /// Answers who waited for an audit.
    pub(crate) fn answer_audit(&mut self, finished: FinishedAudit, out: &mut Vec<Effect>) {
        let FinishedAudit {
            caller,
            record,
            stop,
        } = finished;
        if self.planted_silence(&record.details.outcome) {
            return;
        }
        match caller {
            Caller::Call { id, turn } => self.answer_call(id, turn, record, stop, out),
            Caller::User => {
                count_usage(&record, out);
                self.tell_audit(&record, stop.as_ref(), out);
            }
        }
    }

    fn answer_call(
        &mut self,
        call_id: String,
        turn: u64,
        record: AuditRecord,
        stop: Option<Stop>,
        out: &mut Vec<Effect>,
    ) {
        let token = self.token();
        let mut text = result_text(&token, &record);
        let ends_run = stop.is_some();
        if let Some(goal) = self.goal.as_ref().filter(|_| ends_run) {
            text.push_str(&prompts::run_ends(&say::stopped_in_short(goal)));
        }
        let details = AuditDetails {
            report: prompts::safe::cut(&record.details.report, REPORT_MAX_CHARS).into_owned(),
            paused: stop.map(|stop| stop.reason.to_string()),
            ..record.details
        };
        let answer = ToolAnswer {
            call_id,
            text,
            is_error: is_failure(&details.outcome),
            ends_run,
            audit: Some(details),
            usage: Some(record.usage),
        };
        self.turn_result = Some(TurnResult {
            turn,
            answer: answer.clone(),
        });
        out.push(Effect::FinishTool(Box::new(answer)));
    }
}

/// The tokens of an audit that no call of the agent carries.
fn count_usage(record: &AuditRecord, out: &mut Vec<Effect>) {
    if record.usage != goal_audit::Usage::default() {
        out.push(Effect::CountUsage {
            model: record.details.model.clone(),
            usage: record.usage,
        });
    }
}

fn is_complete(given: &str) -> bool {
    given.is_empty()
        || COMPLETE_WORDS
            .iter()
            .any(|word| word.eq_ignore_ascii_case(given))
}

/// Disapproval and no verdict are ordinary results; what could not be audited is an error.
const fn is_failure(outcome: &AuditOutcome) -> bool {
    match outcome {
        AuditOutcome::Approved | AuditOutcome::Disapproved | AuditOutcome::NoVerdict(_) => false,
        AuditOutcome::Failed(_)
        | AuditOutcome::StaleWorkspace
        | AuditOutcome::StaleGoal
        | AuditOutcome::Aborted { .. } => true,
    }
}

fn error_answer(invoked: &ToolInvoked, text: String) -> ToolAnswer {
    ToolAnswer {
        call_id: invoked.call_id.clone(),
        text,
        is_error: true,
        ends_run: false,
        audit: None,
        usage: None,
    }
}

fn result_text(token: &str, record: &AuditRecord) -> String {
    let details = &record.details;
    let mut kinds: BTreeMap<&str, u32> = BTreeMap::new();
    for check in details.checks.iter().filter(|check| check.ok) {
        *kinds.entry(check.tool.as_str()).or_default() += 1;
    }
    let checks: Vec<(&str, u32)> = kinds.into_iter().collect();
    let why = record
        .failure
        .clone()
        .or_else(|| say::no_verdict_words(&details.outcome));
    prompts::audit_result(&AuditResult {
        token,
        outcome: audit_word(&details.outcome),
        why: why.as_deref(),
        model: &details.model.to_string(),
        checks: &checks,
        duration_ms: details.duration_ms,
        report: &details.report,
        number: record.number,
        seal: say::rung_words(details.rung),
    })
}

const fn audit_word(outcome: &AuditOutcome) -> AuditWord {
    match outcome {
        AuditOutcome::Approved => AuditWord::Approved,
        AuditOutcome::Disapproved => AuditWord::Disapproved,
        AuditOutcome::NoVerdict(_) => AuditWord::NoVerdict,
        AuditOutcome::Failed(_) => AuditWord::Failed,
        AuditOutcome::StaleWorkspace => AuditWord::StaleWorkspace,
        AuditOutcome::StaleGoal => AuditWord::StaleGoal,
        AuditOutcome::Aborted { .. } => AuditWord::Aborted,
    }
}
