//! S1, S2, S4 and S6 of an audit: what the engine was told, against what it concludes.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a checker names what it watches, and lets the rest pass"
)]

use goal_engine::{
    AuditOutcome, AuditRecord, AuditorEvent, Deadline, Effect, Ended, Event, FailureKind, Goal,
    GoalTag, OpenAuditor, SavedGoal, StopKind,
};

use crate::check::Stood;
use crate::marks::Mark;
use crate::models::{Label, label};
use crate::world::World;

/// An audit in flight.
#[derive(Debug)]
pub(crate) struct AuditBook {
    audit: u64,
    tag: GoalTag,
    call_id: Option<String>,
    opened_at: u64,
    timeout_ms: Option<u64>,
    idle_ms: Option<u64>,
    /// Its session is open on the host.
    open: bool,
    successes: u32,
    in_flight: u32,
    last_heard: u64,
    /// The model is in mid-answer, and was heard last then.
    silent_since: Option<u64>,
    /// A limit had passed when something was heard.
    overrun: bool,
    /// The last answer: what it says (of a text that is none of ours, nobody here knows), and how it
    /// ended.
    last: Option<(Option<Label>, StopKind)>,
    cancelled: bool,
}

impl AuditBook {
    fn new(now: u64, open: &OpenAuditor, goal: &Goal) -> Self {
        Self {
            audit: open.audit,
            tag: goal.tag(),
            call_id: open.call_id.clone(),
            opened_at: now,
            timeout_ms: goal.gate().timeout_ms,
            idle_ms: goal.gate().idle_timeout_ms,
            open: true,
            successes: 0,
            in_flight: 0,
            last_heard: now,
            silent_since: None,
            overrun: false,
            last: None,
            cancelled: false,
        }
    }

    pub(crate) fn note(&mut self, now: u64, event: &Event) {
        match event {
            Event::Auditor { audit, event } if *audit == self.audit && self.open => {
                self.heard(now, event);
            }
            Event::ToolCancelled { call_id } if Some(call_id) == self.call_id.as_ref() => {
                self.cancelled = true;
            }
            _ => {}
        }
    }

    fn heard(&mut self, now: u64, event: &AuditorEvent) {
        self.last_heard = now;
        self.overrun |= has_passed(self.timeout_ms, Some(self.opened_at), now)
            || has_passed(self.idle_ms, self.silent_since, now);
        self.silent_since = match event {
            AuditorEvent::Output if self.in_flight == 0 => Some(now),
            _ => None,
        };
        match event {
            AuditorEvent::ToolStarted { .. } => self.in_flight += 1,
            AuditorEvent::ToolFinished { ok, .. } => {
                self.in_flight = self.in_flight.saturating_sub(1);
                self.successes += u32::from(*ok);
            }
            AuditorEvent::AnswerEnded(answer) => {
                let says = label(&answer.text);
                self.last = Some((says, answer.stop));
            }
            AuditorEvent::Opened
            | AuditorEvent::OpenFailed { .. }
            | AuditorEvent::Output
            | AuditorEvent::CompactionStarted
            | AuditorEvent::CompactionEnded { .. }
            | AuditorEvent::RetryStarted
            | AuditorEvent::RetryEnded
            | AuditorEvent::Rested
            | AuditorEvent::Broke { .. } => {}
        }
    }

    /// Why this audit may not complete the goal, if it may not.
    fn forbids_approval(&self, changed: bool) -> Option<&'static str> {
        let Some((says, stop)) = self.last else {
            return Some("approved without an answer of the auditor");
        };
        match () {
            () if says.is_some_and(|says| says != Label::Approve) => {
                Some("approved by an answer that is no approval")
            }
            () if stop != StopKind::Stop => Some("approved by an answer that did not end"),
            () if self.successes == 0 => Some("approved without evidence"),
            () if self.overrun => Some("approved too late"),
            () if self.cancelled => Some("approved after it was aborted"),
            () if changed => Some("approved on a workspace that changed"),
            () => None,
        }
    }
}

/// Whether a limit that began to run then has passed.
fn has_passed(limit: Option<u64>, since: Option<u64>, now: u64) -> bool {
    limit
        .zip(since)
        .is_some_and(|(limit, since)| now - since >= limit)
}

impl World {
    pub(super) fn check_verdict(&mut self, event: &Event, before: Option<&Stood>, out: &[Effect]) {
        if matches!(event, Event::Edited { text: Some(_), .. })
            && out
                .iter()
                .any(|effect| matches!(effect, Effect::SaveGoal(_)))
        {
            self.meet(Mark::Edited);
        }
        if out
            .iter()
            .any(|effect| matches!(effect, Effect::PrepareAudit(_)))
        {
            self.checks_mut().inspected_changed = false;
            if !matches!(event, Event::ToolInvoked(_)) {
                let tag = self.goal_now().map(Goal::tag);
                self.checks_mut().book_users_audit(tag);
            }
        }
        for effect in out {
            match effect {
                Effect::OpenAuditor(open) => self.audit_opens(open),
                Effect::CloseAuditor { audit } => self.audit_closes(*audit),
                Effect::SaveAudit(record) => self.audit_ends(before, record),
                Effect::SaveGoal(SavedGoal::Gone {
                    id,
                    ended: Ended::Approved,
                }) => self.goal_completes(id, out),
                _ => {}
            }
        }
        let ended = out
            .iter()
            .any(|effect| matches!(effect, Effect::SaveAudit(_)));
        if ended {
            self.check_audit_left_nothing(out);
        }
    }

    fn audit_opens(&mut self, open: &OpenAuditor) {
        let now = self.now();
        if self
            .checks_mut()
            .audit
            .as_ref()
            .is_some_and(|book| book.open)
        {
            return self.broken("S2", "a second audit was opened");
        }
        let Some(goal) = self.goal_now().cloned() else {
            return self.broken("S1", "an audit without a goal");
        };
        if open.call_id.is_some() {
            self.count_audit(&goal);
        } else {
            self.meet(Mark::AuditByUser);
            self.checks_mut().book_users_audit(Some(goal.tag()));
        }
        self.checks_mut().inspected_changed = false;
        self.checks_mut().audit = Some(AuditBook::new(now, open, &goal));
    }

    fn audit_closes(&mut self, audit: u64) {
        match &mut self.checks_mut().audit {
            Some(book) if book.audit == audit && book.open => book.open = false,
            Some(_) | None => self.broken("S6", "an auditor was closed that was not open"),
        }
    }

    fn audit_ends(&mut self, before: Option<&Stood>, record: &AuditRecord) {
        let outcome = &record.details.outcome;
        if record.by_user {
            self.checks_mut().users_audit_ends();
        }
        self.meet(match outcome {
            AuditOutcome::Approved => Mark::AuditApproved,
            AuditOutcome::Disapproved => Mark::AuditDisapproved,
            AuditOutcome::NoVerdict(_) => Mark::AuditNoVerdict,
            AuditOutcome::Failed(_) => Mark::AuditFailed,
            AuditOutcome::StaleWorkspace | AuditOutcome::StaleGoal => Mark::AuditStale,
            AuditOutcome::Aborted { .. } => Mark::AuditAborted,
        });
        if *outcome == AuditOutcome::Approved {
            self.check_approval(before, record);
        }
        if let AuditOutcome::Failed(kind) = outcome {
            self.check_expiry(*kind);
        }
        if matches!(outcome, AuditOutcome::Aborted { .. }) {
            self.uncount_audit();
        }
    }

    fn check_approval(&mut self, before: Option<&Stood>, record: &AuditRecord) {
        let changed = self.checks_mut().inspected_changed;
        let (forbids, stale) = match &self.checks_mut().audit {
            None => (Some("approved without an audit"), false),
            Some(book) => (
                book.forbids_approval(changed),
                book.tag != record.tag || !before.is_some_and(|stood| stood.tag == book.tag),
            ),
        };
        if let Some(what) = forbids {
            self.broken("S1", what);
        } else if stale {
            self.broken("S1", "approved under another goal or generation");
        }
    }

    /// A limit is not passed before its time, and no silence counts while a tool runs. What is heard
    /// only after a limit had passed ends the audit for that limit, whatever it is.
    fn check_expiry(&mut self, kind: FailureKind) {
        let now = self.now();
        let Some(book) = self
            .checks_mut()
            .audit
            .as_ref()
            .filter(|book| !book.overrun)
        else {
            return;
        };
        let silent = now - book.last_heard;
        let whole = now - book.opened_at;
        let broken = match kind {
            FailureKind::IdleTimeout if book.in_flight > 0 => {
                Some("the idle limit passed while a tool ran")
            }
            FailureKind::IdleTimeout if book.idle_ms.is_none_or(|limit| silent < limit) => {
                Some("the idle limit passed too early")
            }
            FailureKind::Timeout if book.timeout_ms.is_none_or(|limit| whole < limit) => {
                Some("the absolute limit passed too early")
            }
            _ => None,
        };
        if let Some(what) = broken {
            self.broken("S6", what);
        }
    }

    fn goal_completes(&mut self, id: &str, out: &[Effect]) {
        let approvals = out.iter().filter(|effect| {
            matches!(effect, Effect::SaveAudit(record)
                if record.details.outcome == AuditOutcome::Approved && record.tag.id == id)
        });
        if approvals.count() != 1 {
            self.broken("S1", "complete without an approved audit");
        }
    }

    fn check_audit_left_nothing(&mut self, out: &[Effect]) {
        let next = out
            .iter()
            .any(|effect| matches!(effect, Effect::PrepareAudit(_) | Effect::OpenAuditor(_)));
        let open = self
            .checks_mut()
            .audit
            .as_ref()
            .is_some_and(|book| book.open);
        let deadline = self.deadline_now();
        let left = matches!(
            deadline,
            Some(Deadline::AuditTimeout | Deadline::AuditIdle | Deadline::AuditWorkspace)
        );
        if open && !next {
            self.broken("S6", "an audit ended and its session stays open");
        } else if left && !next {
            self.broken("S6", "an audit ended and its deadline stays");
        }
        if !next {
            self.checks_mut().audit = None;
        }
    }
}
