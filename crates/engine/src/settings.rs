//! The settings the engine works under, given to it by the driver.

use goal_state::SandboxGate;

/// Resolved settings. `None` of a limit is "off".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The auditor's provider, if set.
    pub provider: Option<String>,
    /// The auditor's model, if set.
    pub model: Option<String>,
    /// The auditor's thinking level, if set.
    pub thinking_level: Option<String>,
    /// Absolute limit of an audit in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Limit of the auditor's silence in mid-answer in milliseconds.
    pub idle_timeout_ms: Option<u64>,
    /// Runs without work in a row before a pause.
    pub max_empty_continuations: u32,
    /// Refusals and failures in a row before a pause.
    pub max_consecutive_audit_rejections: u32,
    /// Continuations since start or resume.
    pub max_continuations: Option<u32>,
    /// Audits since start or resume.
    pub max_audits: Option<u32>,
    /// Sandbox settings, frozen into the gate.
    pub sandbox: SandboxGate,
    /// Settings that differ from their defaults, as `key = value (source)`, for the status.
    pub changed: Vec<String>,
    /// Every setting, for `/goal config`.
    pub rows: Vec<SettingRow>,
}

/// A setting in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingRow {
    /// Its key in the file.
    pub name: String,
    /// Its effective value.
    pub value: String,
    /// Where that comes from.
    pub source: String,
}

impl Settings {
    /// The defaults of the product, for tests of this workspace.
    #[doc(hidden)]
    #[must_use]
    pub fn for_tests() -> Self {
        Self {
            provider: None,
            model: None,
            thinking_level: None,
            timeout_ms: Some(900_000),
            idle_timeout_ms: Some(120_000),
            max_empty_continuations: 3,
            max_consecutive_audit_rejections: 3,
            max_continuations: Some(100),
            max_audits: Some(20),
            sandbox: SandboxGate {
                mode: "prefer".to_owned(),
                network: "loopback".to_owned(),
                hide: Vec::new(),
                scratch_mb: None,
            },
            changed: Vec::new(),
            rows: Vec::new(),
        }
    }
}
