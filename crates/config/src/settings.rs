//! The settings with their types.

use std::fmt;

use serde::Deserialize;

/// The value in effect for every key of [`KEYS`](crate::KEYS); what each may be is said there.
///
/// There is no `Default`: what holds without any setting is policy, see [`Settings::defaults`].
/// Compare two of them to notice that the settings have changed. (`Deserialize` serves figment's
/// merge inside this crate: it judges types, not limits. Use [`resolve`](crate::resolve) for text.)
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// The auditor's provider; `None` is the host's (§8).
    pub provider: Option<String>,
    /// The auditor's model, an id or `provider/id`; `None` is the host's (§8).
    pub model: Option<String>,
    /// The auditor's thinking level; `None` is the host's.
    pub thinking_level: Option<ThinkingLevel>,
    /// The longest an audit may take, in milliseconds; 0 is off (§5.4).
    pub timeout_ms: u64,
    /// The longest the auditor's model may be silent in mid-answer, in milliseconds; 0 is off
    /// (§5.4).
    pub idle_timeout_ms: u64,
    /// Runs without work in a row that pause the goal (§4).
    pub max_empty_continuations: u32,
    /// Audits without approval in a row that pause the goal (§5.5).
    pub max_consecutive_audit_rejections: u32,
    /// Continuations since the last start or resume; 0 is off (§4).
    pub max_continuations: u32,
    /// Audits since the last start or resume; 0 is off (§5.5).
    pub max_audits: u32,
    /// Whether audits are sealed.
    pub sandbox: SandboxMode,
    /// The network a sealed audit sees.
    pub sandbox_network: SandboxNetwork,
    /// More paths to hide from a sealed audit.
    pub sandbox_hide: Vec<String>,
    /// What a sealed audit may write before it is thrown away, in MiB; `None` is a quarter of
    /// memory.
    pub sandbox_scratch_mb: Option<u32>,
    /// The folder to write event traces to; `None` is off.
    pub trace: Option<String>,
}

impl Settings {
    /// What holds where neither the file nor the environment says anything (§7).
    #[must_use]
    pub const fn defaults() -> Self {
        Self {
            provider: None,
            model: None,
            thinking_level: None,
            timeout_ms: 900_000,
            idle_timeout_ms: 120_000,
            max_empty_continuations: 3,
            max_consecutive_audit_rejections: 3,
            max_continuations: 100,
            max_audits: 20,
            sandbox: SandboxMode::Prefer,
            sandbox_network: SandboxNetwork::Loopback,
            sandbox_hide: Vec::new(),
            sandbox_scratch_mb: None,
            trace: None,
        }
    }
}

/// How hard the auditor's model thinks: pi's levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThinkingLevel {
    /// No reasoning.
    Off,
    /// The least there is.
    Minimal,
    /// Little.
    Low,
    /// The middle.
    Medium,
    /// Much.
    High,
    /// More than high, where the model offers it.
    Xhigh,
    /// The most there is.
    Max,
}

pub(crate) const THINKING_LEVELS: [&str; 7] =
    ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

impl ThinkingLevel {
    /// The name in settings and for pi.
    #[must_use]
    pub const fn name(self) -> &'static str {
        THINKING_LEVELS[self as usize]
    }
}

/// Whether audits are sealed: run on a throw-away view of the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxMode {
    /// No audit without a seal.
    Require,
    /// Sealed where the system allows it.
    Prefer,
    /// Never sealed.
    Off,
}

pub(crate) const SANDBOX_MODES: [&str; 3] = ["require", "prefer", "off"];

impl SandboxMode {
    /// The name in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        SANDBOX_MODES[self as usize]
    }
}

/// The network a sealed audit sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxNetwork {
    /// A private network that holds only the loopback device.
    Loopback,
    /// The host's network.
    Host,
    /// None at all.
    Off,
}

pub(crate) const SANDBOX_NETWORKS: [&str; 3] = ["loopback", "host", "off"];

impl SandboxNetwork {
    /// The name in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        SANDBOX_NETWORKS[self as usize]
    }
}

/// The value of one key, whatever its type, for showing it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setting {
    /// Nothing set, and the default is no value of its own (JSON `null`).
    Unset,
    /// A count or a duration in milliseconds.
    Number(u64),
    /// A name, a word or a path.
    Text(String),
    /// Paths.
    List(Vec<String>),
}

impl fmt::Display for Setting {
    /// For people; text is not made safe for a terminal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unset => f.write_str("not set"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
            Self::List(items) if items.is_empty() => f.write_str("none"),
            Self::List(items) => f.write_str(&items.join(", ")),
        }
    }
}

impl From<Option<String>> for Setting {
    fn from(text: Option<String>) -> Self {
        text.map_or(Self::Unset, Self::Text)
    }
}

pub(crate) fn enum_setting(name: &str) -> Setting {
    Setting::Text(name.to_owned())
}
