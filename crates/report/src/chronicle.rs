//! One goal as it is being told, entry by entry.

use goal_prompts::safe::cut;
use goal_protocol::{AuditWire, GateWire, GoalWire, MessageDetailsWire};

use crate::entry::Assistant;
use crate::model::{
    Audit, Event, Goal, Happening, Origin, Outcome, Run, RunResult, Spent, Standing, State, Totals,
};
use crate::words;

/// Characters of an agent's last words that are kept.
const LAST_TEXT_CHARS: usize = 400;
/// Characters of an error's words that are kept.
const ERROR_CHARS: usize = 1_200;

/// A goal as it is being told.
pub(crate) struct Chronicle {
    pub(crate) goal: Goal,
    /// As saved last.
    pub(crate) saved: GoalWire,
    /// When the active time was saved last.
    saved_at: u64,
    /// The last answer of the open run was an error.
    pub(crate) failed: bool,
    /// The context was compacted since the last answer.
    pub(crate) compacted: bool,
}

impl Chronicle {
    pub(crate) fn new(at: u64, state: State, saved: GoalWire) -> Self {
        let goal = Goal {
            id: saved.id.clone(),
            objective: saved.objective.clone(),
            created_at: saved.created_at,
            ended_at: None,
            state,
            active_ms: saved.totals.active_ms,
            gate: saved.gate.clone(),
            accepted_by_user: false,
            history: Vec::new(),
            runs: Vec::new(),
            audits: Vec::new(),
            totals: Totals::default(),
        };
        let mut told = Self {
            goal,
            saved,
            saved_at: at,
            failed: false,
            compacted: false,
        };
        let objective = Some(told.goal.objective.clone());
        let set = Happening {
            objective,
            ..told.happening(told.goal.created_at, Event::Set)
        };
        told.goal.history.push(set);
        // A branch may begin in the middle of a goal's life.
        if told.goal.state.standing == Standing::Paused {
            let paused = told.paused(at);
            told.goal.history.push(paused);
        }
        told
    }

    fn happening(&self, at: u64, event: Event) -> Happening {
        Happening {
            at,
            generation: self.saved.generation,
            event,
            reason: None,
            kind: None,
            detail: None,
            audit: None,
            objective: None,
            changes: Vec::new(),
        }
    }

    fn paused(&self, at: u64) -> Happening {
        let State {
            reason,
            kind,
            detail,
            ..
        } = self.goal.state.clone();
        Happening {
            reason,
            kind,
            detail,
            ..self.happening(at, Event::Paused)
        }
    }

    /// The same goal was saved again: what changed its meaning?
    pub(crate) fn saved_again(&mut self, at: u64, state: State, saved: GoalWire) {
        let before = std::mem::replace(&mut self.saved, saved);
        let edited = before.objective != self.saved.objective;
        let moved = before.generation != self.saved.generation;
        let was = self.goal.state.standing;
        let changes = changes(&before.gate, &self.saved.gate);
        self.goal.state = state;
        self.goal.ended_at = None;
        self.goal.objective.clone_from(&self.saved.objective);
        self.goal.gate = self.saved.gate.clone();
        self.goal.active_ms = self.goal.active_ms.max(self.saved.totals.active_ms);
        self.saved_at = at;
        let now = self.goal.state.standing;
        let event = if edited {
            Event::Edited
        } else if now == Standing::Paused && (was != now || moved) {
            Event::Paused
        } else if now == Standing::Held && was != now {
            Event::Held
        } else if now == Standing::Pursuing && (was != now || moved) {
            Event::Resumed
        } else if !changes.is_empty() {
            Event::Changed
        } else {
            return;
        };
        let happening = if event == Event::Paused {
            self.paused(at)
        } else {
            self.happening(at, event)
        };
        let objective = edited.then(|| self.goal.objective.clone());
        self.goal.history.push(Happening {
            objective,
            changes,
            ..happening
        });
    }

    pub(crate) fn ended(&mut self, at: u64, how: &str) {
        let (standing, event) = match how {
            "approved" => (Standing::Approved, Event::Approved),
            "accepted" => (Standing::Accepted, Event::Accepted),
            "cleared" => (Standing::Cleared, Event::Cleared),
            "replaced" => (Standing::Replaced, Event::Replaced),
            _ => (Standing::Ended, Event::Ended),
        };
        // What a pause said is still true of how the goal stood when it ended.
        self.goal.state.standing = standing;
        self.goal.ended_at = Some(at);
        self.goal.accepted_by_user = standing == Standing::Accepted;
        let ended = self.happening(at, event);
        self.goal.history.push(ended);
    }

    pub(crate) fn audited(
        &mut self,
        at: u64,
        saved: AuditWire,
        claim: Option<String>,
        in_run: bool,
    ) {
        let number = saved.number;
        let run = self.goal.runs.last_mut().filter(|_| in_run);
        let mut audit = audit_of(saved, claim);
        if let Some(run) = run {
            run.audits.push(number);
            audit.run = Some(run.number);
        }
        let happening = Happening {
            audit: Some(number),
            ..self.happening(at, Event::Audited)
        };
        self.goal.history.push(happening);
        if !audit.by_user {
            self.in_run(at, |_| {});
        }
        self.goal.audits.push(audit);
    }

    /// Our message begins a run, unless it only tells the goal again after a compaction.
    pub(crate) fn continued(&mut self, at: u64, message: &MessageDetailsWire, same_goal: bool) {
        let told_again = same_goal && self.is_told_again(message);
        self.goal.active_ms = self.goal.active_ms.max(message.totals.active_ms);
        self.saved_at = at;
        self.saved.totals.clone_from(&message.totals);
        if told_again {
            return;
        }
        let origin = match message.seq {
            0 if self.goal.runs.is_empty() => Origin::Start,
            0 => self.first_origin(),
            _ => Origin::Continuation,
        };
        self.begin(at, message.generation, origin);
    }

    /// The run that is open goes on with the message: it has the number of the one before, and comes
    /// where a compaction took that away, in a run or before its first answer.
    fn is_told_again(&self, message: &MessageDetailsWire) -> bool {
        let Some(run) = self.goal.runs.last() else {
            return false;
        };
        message.full
            && message.generation == run.generation
            && message.seq == self.saved.totals.continuations
            && (self.compacted || run.turns == 0)
    }

    /// What began the first run of a generation.
    fn first_origin(&self) -> Origin {
        let mut events = self
            .goal
            .history
            .iter()
            .rev()
            .map(|happened| happened.event);
        match events.find(|event| matches!(event, Event::Set | Event::Edited | Event::Resumed)) {
            Some(Event::Set | Event::Edited) => Origin::Start,
            _ => Origin::Resume,
        }
    }

    pub(crate) fn begin(&mut self, at: u64, generation: u64, origin: Origin) {
        self.failed = false;
        let number = u32::try_from(self.goal.runs.len() + 1).unwrap_or(u32::MAX);
        self.goal.runs.push(Run {
            number,
            generation,
            origin,
            began_at: at,
            ended_at: at,
            result: RunResult::Lost,
            aborted: false,
            turns: 0,
            calls_ok: 0,
            calls_failed: 0,
            goal_calls: 0,
            audits: Vec::new(),
            errors: 0,
            error: None,
            last_text: None,
            user_messages: u32::from(origin == Origin::User),
            compactions: 0,
            spent: Spent::default(),
        });
    }

    /// The agent's model answered.
    pub(crate) fn answered(&mut self, at: u64, answer: &Assistant) {
        self.failed = answer.failed;
        self.compacted = false;
        self.in_run(at, |run| note(run, answer));
    }

    /// The context was compacted.
    pub(crate) fn compacted(&mut self, at: u64, spent: &Spent) {
        self.compacted = true;
        self.in_run(at, |run| {
            run.compactions += 1;
            run.spent.add(spent);
        });
    }

    /// Something happened in the open run.
    pub(crate) fn in_run(&mut self, at: u64, what: impl FnOnce(&mut Run)) {
        let Some(run) = self.goal.runs.last_mut() else {
            return;
        };
        what(run);
        run.ended_at = run.ended_at.max(at);
        // The file has the active time of some moments only; signs of work fill the gaps.
        if self.goal.state.standing == Standing::Pursuing {
            let since = at.saturating_sub(self.saved_at);
            let saved = self.saved.totals.active_ms;
            self.goal.active_ms = self.goal.active_ms.max(saved.saturating_add(since));
        }
    }

    pub(crate) fn into_goal(self) -> Goal {
        let mut goal = self.goal;
        for run in &mut goal.runs {
            run.result = result_of(run);
        }
        goal.totals = totals_of(&goal);
        goal
    }
}

/// What an answer adds to its run.
fn note(run: &mut Run, answer: &Assistant) {
    run.turns += 1;
    run.aborted = answer.aborted;
    // Until the run is over, its result says how it would end here.
    run.result = if answer.failed {
        RunResult::Error
    } else {
        RunResult::Empty
    };
    if answer.failed {
        run.errors += 1;
        let error = answer.error.as_deref().map(str::trim);
        run.error = error
            .filter(|error| !error.is_empty())
            .map(|error| cut(error, ERROR_CHARS).into_owned());
    }
    let text = answer.text.trim();
    if !text.is_empty() {
        run.last_text = Some(cut(text, LAST_TEXT_CHARS).into_owned());
    }
    run.spent.add(&Spent::from(&answer.usage));
}

fn result_of(run: &Run) -> RunResult {
    match run.result {
        RunResult::Error => RunResult::Error,
        _ if run.calls_ok > 0 => RunResult::Work,
        _ if !run.audits.is_empty() => RunResult::Claim,
        _ if run.aborted => RunResult::Aborted,
        RunResult::Lost if run.calls_failed == 0 => RunResult::Lost,
        RunResult::Lost
        | RunResult::Work
        | RunResult::Claim
        | RunResult::Aborted
        | RunResult::Empty => RunResult::Empty,
    }
}

/// How a saved goal stands; `None` for a phase this version does not know.
pub(crate) fn state_of(saved: &GoalWire) -> Option<State> {
    let standing = match saved.phase.as_str() {
        "pursuing" => Standing::Pursuing,
        "held" => Standing::Held,
        "paused" => Standing::Paused,
        _ => return None,
    };
    let paused = standing == Standing::Paused;
    let of_pause = |field: &Option<String>| field.clone().filter(|_| paused);
    Some(State {
        standing,
        reason: of_pause(&saved.pause_reason),
        kind: of_pause(&saved.pause_kind),
        detail: of_pause(&saved.pause_detail),
    })
}

fn audit_of(saved: AuditWire, claim: Option<String>) -> Audit {
    Audit {
        number: saved.number,
        generation: saved.generation,
        run: None,
        by_user: saved.by_user,
        outcome: Outcome::from_name(&saved.outcome),
        outcome_name: saved.outcome,
        why: saved.why,
        failure: saved.failure,
        claim: claim.filter(|claim| !claim.trim().is_empty()),
        model: saved.model,
        thinking_level: saved.thinking_level,
        checks_ok: saved.checks.iter().filter(|check| check.ok).count(),
        checks: saved.checks,
        attempts: saved.attempts,
        started_at: saved.started_at,
        duration_ms: saved.duration_ms,
        rung: saved.rung,
        before: saved.before.map(|tree| tree.digest),
        after: saved.after.map(|tree| tree.digest),
        gate: saved.gate,
        spent: Spent::from(&saved.usage),
        report: saved.report,
    }
}

fn totals_of(goal: &Goal) -> Totals {
    let mut totals = Totals {
        runs: goal.runs.len(),
        audits: goal.audits.len(),
        ..Totals::default()
    };
    for run in &goal.runs {
        *match run.result {
            RunResult::Work => &mut totals.runs_work,
            RunResult::Claim => &mut totals.runs_claim,
            RunResult::Empty => &mut totals.runs_empty,
            RunResult::Error => &mut totals.runs_error,
            RunResult::Aborted | RunResult::Lost => &mut totals.runs_aborted,
        } += 1;
        totals.calls_ok += u64::from(run.calls_ok);
        totals.calls_failed += u64::from(run.calls_failed);
        totals.executor.add(&run.spent);
    }
    for audit in &goal.audits {
        *match audit.outcome {
            Outcome::Approved => &mut totals.audits_approved,
            Outcome::Disapproved => &mut totals.audits_disapproved,
            Outcome::NoVerdict
            | Outcome::Failed
            | Outcome::Stale
            | Outcome::Aborted
            | Outcome::Unknown => &mut totals.audits_other,
        } += 1;
        totals.audits_ms = totals.audits_ms.saturating_add(audit.duration_ms);
        totals.auditor.add(&audit.spent);
    }
    totals
}

/// What differs between two gates, as `name: old → new`.
fn changes(before: &GateWire, after: &GateWire) -> Vec<String> {
    if before == after {
        return Vec::new();
    }
    let (before, after) = (words::gate(before), words::gate(after));
    let pairs = before.into_iter().zip(after);
    pairs
        .filter(|(old, new)| old.1 != new.1)
        .map(|((name, old), (_, new))| format!("{name}: {old} → {new}"))
        .collect()
}
