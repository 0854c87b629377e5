//! Phases of a goal and the reasons it stops. Closed on purpose: a match without `_` is the review.

use std::fmt;

/// Where a goal stands. A goal that is complete or cleared is gone, not in a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    /// The loop works on it.
    Pursuing,
    /// It was pursuing when its session was left; nothing runs until the user acts.
    Held,
    /// It stopped, for the given reason.
    Paused(Stop),
}

impl Phase {
    /// The name saved in session files and shown to models.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pursuing => "pursuing",
            Self::Held => "held",
            Self::Paused(_) => "paused",
        }
    }
}

/// A stop: its reason, and what was said about it (a quote, a provider's message), bounded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// Why the goal stopped.
    pub reason: PauseReason,
    /// Untrusted detail worth showing: the provider's words, the repeated text, a report.
    pub detail: Option<String>,
}

impl Stop {
    /// A stop that needs no quote.
    #[must_use]
    pub const fn plain(reason: PauseReason) -> Self {
        Self {
            reason,
            detail: None,
        }
    }
}

/// Why a goal paused (spec §1). Each has a text and a way on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PauseReason {
    /// `/goal pause`.
    User,
    /// The user aborted the run or the audit (Esc, RPC abort).
    Aborted,
    /// Too many runs, or turns of a run, without work.
    NoProgress,
    /// The same final text again and again.
    Repetition,
    /// The executor's model failed in a way retries do not mend, or too often.
    ModelErrors(ModelErrorKind),
    /// The auditor refused too often.
    Rejections,
    /// Audits failed, or ended without a verdict, too often; the name of the last failure.
    AuditFailures(String),
    /// `maxContinuations` would be exceeded.
    ContinuationLimit,
    /// `maxAudits` reached without approval.
    AuditLimit,
    /// `get_goal` and `update_goal` are not active, so the goal could never end.
    ToolsOff,
    /// The core was lost twice in a short time.
    CoreLost,
}

impl PauseReason {
    /// The name saved in session files.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Aborted => "aborted",
            Self::NoProgress => "no_progress",
            Self::Repetition => "repetition",
            Self::ModelErrors(_) => "model_errors",
            Self::Rejections => "rejections",
            Self::AuditFailures(_) => "audit_failures",
            Self::ContinuationLimit => "continuation_limit",
            Self::AuditLimit => "audit_limit",
            Self::ToolsOff => "tools_off",
            Self::CoreLost => "core_lost",
        }
    }

    /// The kind inside the reason, saved beside its name.
    #[must_use]
    pub fn kind(&self) -> Option<&str> {
        match self {
            Self::ModelErrors(kind) => Some(kind.name()),
            Self::AuditFailures(kind) => Some(kind),
            Self::User
            | Self::Aborted
            | Self::NoProgress
            | Self::Repetition
            | Self::Rejections
            | Self::ContinuationLimit
            | Self::AuditLimit
            | Self::ToolsOff
            | Self::CoreLost => None,
        }
    }

    /// Reads a saved name and kind back; `None` for a name this version does not know.
    #[must_use]
    pub fn from_saved(name: &str, kind: Option<&str>) -> Option<Self> {
        Some(match name {
            "user" => Self::User,
            "aborted" => Self::Aborted,
            "no_progress" => Self::NoProgress,
            "repetition" => Self::Repetition,
            "model_errors" => {
                Self::ModelErrors(kind.and_then(ModelErrorKind::from_name).unwrap_or_default())
            }
            "rejections" => Self::Rejections,
            "audit_failures" => Self::AuditFailures(kind.unwrap_or("unknown").to_owned()),
            "continuation_limit" => Self::ContinuationLimit,
            "audit_limit" => Self::AuditLimit,
            "tools_off" => Self::ToolsOff,
            "core_lost" => Self::CoreLost,
            _ => return None,
        })
    }
}

/// What kind of model error ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ModelErrorKind {
    /// The request is larger than the model's context; sending it again cannot help.
    ContextOverflow,
    /// Missing, wrong or expired credentials.
    Authentication,
    /// Quota or billing: money, not time, mends it.
    Quota,
    /// The provider does not know the model.
    UnknownModel,
    /// Anything else: 5xx, rate limits, cut streams. Time may mend it.
    #[default]
    Transient,
}

impl ModelErrorKind {
    /// The name saved and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ContextOverflow => "context_overflow",
            Self::Authentication => "authentication",
            Self::Quota => "quota",
            Self::UnknownModel => "unknown_model",
            Self::Transient => "transient",
        }
    }

    /// Whether trying again later may help.
    #[must_use]
    pub const fn is_mendable(self) -> bool {
        matches!(self, Self::Transient)
    }

    fn from_name(name: &str) -> Option<Self> {
        [
            Self::ContextOverflow,
            Self::Authentication,
            Self::Quota,
            Self::UnknownModel,
            Self::Transient,
        ]
        .into_iter()
        .find(|kind| kind.name() == name)
    }
}

/// How a goal that is gone ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// `/goal clear`.
    Cleared,
    /// By an audit: the only completion.
    Approved,
    /// Another objective took its place.
    Replaced,
    /// The user accepted it as it is.
    Accepted,
}

impl Ended {
    /// The name saved in session files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cleared => "cleared",
            Self::Approved => "approved",
            Self::Replaced => "replaced",
            Self::Accepted => "accepted",
        }
    }
}

impl fmt::Display for PauseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            Some(kind) => write!(f, "{}({kind})", self.name()),
            None => f.write_str(self.name()),
        }
    }
}
