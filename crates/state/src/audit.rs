//! What a finished audit means for the goal (spec §5.5).

use crate::fold::fold_hash;
use crate::goal::Goal;
use crate::limits::REFUSALS_SAME_MAX;
use crate::phase::{PauseReason, Stop};

/// The six ways an audit ends. Only the first completes a goal; only the second is a judgement of
/// the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditOutcome {
    /// A well-formed approval, backed by evidence, in time, for this very goal.
    Approved,
    /// A well-formed disapproval.
    Disapproved,
    /// The auditor gave none, also after the reminder.
    NoVerdict(NoVerdictWhy),
    /// The audit could not be made.
    Failed(FailureKind),
    /// Somebody else changed the workspace while a sealed audit judged it.
    StaleWorkspace,
    /// The goal changed meanwhile; nothing is written for another goal.
    StaleGoal,
    /// The user or the host stopped it.
    Aborted {
        /// By a command (`/goal pause`, `/goal clear`) rather than by Esc or the host.
        by_command: bool,
    },
}

impl AuditOutcome {
    /// The name saved and shown.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Disapproved => "disapproved",
            Self::NoVerdict(_) => "no_verdict",
            Self::Failed(_) => "failed",
            Self::StaleWorkspace | Self::StaleGoal => "stale",
            Self::Aborted { .. } => "aborted",
        }
    }

    /// The name of the reason inside the outcome, if it has one.
    #[must_use]
    pub const fn why(&self) -> Option<&'static str> {
        match self {
            Self::NoVerdict(why) => Some(why.name()),
            Self::Failed(kind) => Some(kind.name()),
            Self::StaleWorkspace => Some("workspace"),
            Self::StaleGoal => Some("goal"),
            Self::Aborted { by_command: true } => Some("command"),
            Self::Aborted { by_command: false } => Some("user"),
            Self::Approved | Self::Disapproved => None,
        }
    }
}

/// Why an auditor's answer held no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoVerdictWhy {
    /// No text at all.
    Empty,
    /// The last line is no verdict tag.
    NoTag,
    /// The last line holds a tag and more.
    ExtraText,
    /// A reasoning block was never closed.
    UnfinishedReasoning,
    /// Over the parser's size limit.
    Oversized,
    /// The answer was cut off by the model's output limit.
    Truncated,
    /// An approval without a single successful check, also after the reminder.
    HollowApproval,
}

impl NoVerdictWhy {
    /// The name saved and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::NoTag => "no_tag",
            Self::ExtraText => "extra_text",
            Self::UnfinishedReasoning => "unfinished_reasoning",
            Self::Oversized => "oversized",
            Self::Truncated => "truncated",
            Self::HollowApproval => "hollow_approval",
        }
    }
}

/// Why an audit could not be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The auditor's provider answered with an error.
    ProviderError,
    /// No credentials for the auditor's provider.
    MissingCredentials,
    /// The auditor's model is not there any more.
    MissingModel,
    /// The model fell silent in mid-answer.
    IdleTimeout,
    /// The absolute limit passed.
    Timeout,
    /// The core died while the audit ran.
    CoreLost,
    /// The auditor's session could not be opened, or broke.
    SessionError,
    /// A seal is required and there is none, or the workspace could not be looked at.
    SandboxUnavailable,
    /// The workspace changed during an audit that was not sealed.
    WorkspaceChanged,
}

impl FailureKind {
    /// The name saved and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ProviderError => "provider_error",
            Self::MissingCredentials => "missing_credentials",
            Self::MissingModel => "missing_model",
            Self::IdleTimeout => "idle_timeout",
            Self::Timeout => "timeout",
            Self::CoreLost => "core_lost",
            Self::SessionError => "session_error",
            Self::SandboxUnavailable => "sandbox_unavailable",
            Self::WorkspaceChanged => "workspace_changed",
        }
    }
}

/// What a finished audit leaves in the goal: outcome, claim and report.
#[derive(Debug, Clone, Copy)]
pub struct AuditMark<'a> {
    /// How it ended.
    pub outcome: &'a AuditOutcome,
    /// The executor's claim, if it made one.
    pub claim: Option<&'a str>,
    /// The auditor's objection (its report without the verdict line), bounded.
    pub objection: &'a str,
    /// Why it failed, in the provider's or our words, for the stop's text.
    pub failure: Option<&'a str>,
}

/// The streaks around an audit, for texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditTally {
    /// Disapprovals in a row.
    pub rejections: u32,
    /// Failures in a row.
    pub failures: u32,
}

/// What follows an audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consequence {
    /// The goal is complete. The caller removes it.
    Complete,
    /// The goal goes on.
    GoOn,
    /// A cap was reached. The caller pauses the goal.
    Pause(Stop),
}

impl Goal {
    /// Counts a finished audit and says what follows.
    pub fn audited(&mut self, mark: AuditMark<'_>) -> Consequence {
        match mark.outcome {
            AuditOutcome::Approved => {
                self.totals.audits = self.totals.audits.saturating_add(1);
                self.last_objection = None;
                return Consequence::Complete;
            }
            AuditOutcome::Aborted { by_command } => return aborted(*by_command),
            AuditOutcome::StaleGoal => return Consequence::GoOn,
            AuditOutcome::Disapproved => self.count_disapproval(mark),
            AuditOutcome::NoVerdict(_) | AuditOutcome::Failed(_) | AuditOutcome::StaleWorkspace => {
                self.totals.audits = self.totals.audits.saturating_add(1);
                self.totals.failure_streak = self.totals.failure_streak.saturating_add(1);
            }
        }
        match self.cap_reached(mark) {
            Some(stop) => Consequence::Pause(stop),
            None => Consequence::GoOn,
        }
    }

    /// The streaks as they stand.
    #[must_use]
    pub const fn tally(&self) -> AuditTally {
        AuditTally {
            rejections: self.totals.rejection_streak,
            failures: self.totals.failure_streak,
        }
    }

    fn count_disapproval(&mut self, mark: AuditMark<'_>) {
        self.totals.audits = self.totals.audits.saturating_add(1);
        self.totals.rejection_streak = self.totals.rejection_streak.saturating_add(1);
        // A verdict, whichever, shows that the auditor works again.
        self.totals.failure_streak = 0;
        self.last_objection = Some(mark.objection.to_owned());
        let claim = mark.claim.filter(|claim| !claim.trim().is_empty());
        let refusal = claim.map(|claim| fold_hash(&[claim, mark.objection]));
        let same = refusal.is_some() && refusal == self.totals.last_refusal;
        self.totals.refusal_streak = match (refusal.is_some(), same) {
            (true, true) => self.totals.refusal_streak.saturating_add(1),
            (true, false) => 1,
            (false, _) => 0,
        };
        self.totals.last_refusal = refusal;
    }

    fn cap_reached(&self, mark: AuditMark<'_>) -> Option<Stop> {
        let AuditTally {
            rejections,
            failures,
        } = self.tally();
        if self.totals.refusal_streak >= REFUSALS_SAME_MAX {
            return Some(Stop {
                reason: PauseReason::Rejections,
                detail: Some(both_sides(mark)),
            });
        }
        if rejections.saturating_add(failures) >= self.gate().max_consecutive_audit_rejections {
            return Some(streak_stop(failures, mark));
        }
        let limit = self.gate().max_audits;
        limit
            .is_some_and(|limit| self.totals.audits >= limit)
            .then(|| Stop {
                reason: PauseReason::AuditLimit,
                detail: detail(mark),
            })
    }
}

fn aborted(by_command: bool) -> Consequence {
    let reason = if by_command {
        PauseReason::User
    } else {
        PauseReason::Aborted
    };
    Consequence::Pause(Stop::plain(reason))
}

fn streak_stop(failures: u32, mark: AuditMark<'_>) -> Stop {
    let reason = if failures == 0 {
        PauseReason::Rejections
    } else {
        PauseReason::AuditFailures(
            mark.outcome
                .why()
                .unwrap_or_else(|| mark.outcome.name())
                .to_owned(),
        )
    };
    Stop {
        reason,
        detail: detail(mark),
    }
}

/// Claim and objection side by side: what the two disagree about.
fn both_sides(mark: AuditMark<'_>) -> String {
    format!(
        "Claim: {}\nObjection: {}",
        mark.claim.unwrap_or_default().trim(),
        mark.objection
    )
}

fn detail(mark: AuditMark<'_>) -> Option<String> {
    let text = mark.failure.unwrap_or(mark.objection);
    (!text.trim().is_empty()).then(|| text.to_owned())
}
