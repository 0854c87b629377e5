//! The gate: what a goal is judged by, frozen at start and resume (spec §7).

use std::fmt;

/// A model, named as everywhere: `provider/id`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModelRef {
    /// Provider, for example `anthropic`.
    pub provider: String,
    /// The provider's own id of the model; it may contain `/`.
    pub id: String,
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.id)
    }
}

/// What a goal is judged by. The executor can edit files, the settings among them; a frozen gate
/// is what keeps it from choosing its judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// The resolved auditor model.
    pub model: ModelRef,
    /// The auditor's thinking level; `None`, where the host told none, leaves it to the host.
    pub thinking_level: Option<String>,
    /// Absolute limit of an audit in milliseconds; `None` is off.
    pub timeout_ms: Option<u64>,
    /// Limit of the model's silence in mid-answer in milliseconds; `None` is off.
    pub idle_timeout_ms: Option<u64>,
    /// Runs without work in a row before the goal pauses.
    pub max_empty_continuations: u32,
    /// Refusals and failures of audits in a row before the goal pauses.
    pub max_consecutive_audit_rejections: u32,
    /// Continuations since start or resume; `None` is off.
    pub max_continuations: Option<u32>,
    /// The user set that limit for this goal (`/goal limit`), so a resume keeps it.
    pub own_limit: bool,
    /// Audits since start or resume; `None` is off.
    pub max_audits: Option<u32>,
    /// Sandbox settings as read (not in force before sealed audits exist).
    pub sandbox: SandboxGate,
}

impl Gate {
    /// The gate of a goal that was not set here: what judges it is decided when its user first has it
    /// resumed or audited.
    #[must_use]
    pub fn undecided() -> Self {
        Self {
            model: ModelRef {
                provider: String::new(),
                id: String::new(),
            },
            thinking_level: None,
            timeout_ms: None,
            idle_timeout_ms: None,
            max_empty_continuations: 1,
            max_consecutive_audit_rejections: 1,
            max_continuations: None,
            own_limit: false,
            max_audits: None,
            sandbox: SandboxGate {
                mode: "prefer".to_owned(),
                network: "loopback".to_owned(),
                hide: Vec::new(),
                scratch_mb: None,
            },
        }
    }

    /// Whether nothing could be judged by it yet. A model of the host's has a name.
    #[must_use]
    pub const fn is_undecided(&self) -> bool {
        self.model.provider.is_empty()
    }
}

/// The sandbox settings frozen into the gate, as their names in the settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxGate {
    /// `require`, `prefer` or `off`.
    pub mode: String,
    /// `loopback`, `host` or `off`.
    pub network: String,
    /// Further paths to hide.
    pub hide: Vec<String>,
    /// Size of the throw-away layer in MiB; `None` is a quarter of memory.
    pub scratch_mb: Option<u32>,
}
