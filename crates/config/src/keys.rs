//! The table of keys (§7), the one place that knows their names, defaults and limits.

use crate::settings::{
    SANDBOX_MODES, SANDBOX_NETWORKS, Setting, Settings, THINKING_LEVELS, enum_setting,
};

/// One setting: a row of the table in §7 and in `docs/configuration.md`.
#[derive(Debug)]
pub struct Key {
    /// The name in the file, and everywhere else.
    pub name: &'static str,
    /// The environment variable.
    pub env: &'static str,
    /// The default, as shown to people: a value, or words if it depends on the host.
    pub default: &'static str,
    /// What is valid, as shown to people.
    pub valid: &'static str,
    pub(crate) kind: Kind,
    value_in: fn(&Settings) -> Setting,
}

impl Key {
    /// The value of this key in `settings`.
    #[must_use]
    pub fn value_in(&self, settings: &Settings) -> Setting {
        (self.value_in)(settings)
    }
}

/// What a key takes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// Text that is not blank, trimmed.
    Name,
    /// The path of a folder, not blank, as it stands.
    Folder,
    /// One of these words; any case if so marked.
    Word {
        words: &'static [&'static str],
        any_case: bool,
    },
    /// A whole number in a range, and 0 as well if that means off.
    Count {
        zero_is_off: bool,
        min: u64,
        max: u64,
    },
    /// Milliseconds, from 1,000 to 2,147,483,647 or 0 for off; with a unit also other durations.
    Duration,
    /// Several paths.
    Paths,
}

/// The shortest deadline that is not off. A shorter one would end every audit at once.
pub(crate) const DURATION_MIN_MS: u64 = 1_000;
/// The longest deadline, that of a JavaScript timer: 2^31 - 1 ms, nearly 25 days.
pub(crate) const DURATION_MAX_MS: u64 = 2_147_483_647;

const DURATION_VALID: &str = "0 (off), or 1,000 … 2,147,483,647 milliseconds; or a whole number with \
                              one unit ms, s, m, h, in the file as a string";

/// Every key, in the order of the specification.
pub static KEYS: [Key; 14] = [
    Key {
        name: "provider",
        env: "PI_GOAL_AUDITOR_PROVIDER",
        default: "host's",
        valid: "non-blank text",
        kind: Kind::Name,
        value_in: |settings| settings.provider.clone().into(),
    },
    Key {
        name: "model",
        env: "PI_GOAL_AUDITOR_MODEL",
        default: "host's",
        valid: "non-blank text",
        kind: Kind::Name,
        value_in: |settings| settings.model.clone().into(),
    },
    Key {
        name: "thinkingLevel",
        env: "PI_GOAL_AUDITOR_THINKING_LEVEL",
        default: "host's",
        valid: "off, minimal, low, medium, high, xhigh or max, in any case",
        kind: Kind::Word {
            words: &THINKING_LEVELS,
            any_case: true,
        },
        value_in: |settings| {
            settings
                .thinking_level
                .map_or(Setting::Unset, |level| enum_setting(level.name()))
        },
    },
    Key {
        name: "timeoutMs",
        env: "PI_GOAL_AUDITOR_TIMEOUT_MS",
        default: "900000",
        valid: DURATION_VALID,
        kind: Kind::Duration,
        value_in: |settings| Setting::Number(settings.timeout_ms),
    },
    Key {
        name: "idleTimeoutMs",
        env: "PI_GOAL_AUDITOR_IDLE_TIMEOUT_MS",
        default: "120000",
        valid: DURATION_VALID,
        kind: Kind::Duration,
        value_in: |settings| Setting::Number(settings.idle_timeout_ms),
    },
    Key {
        name: "maxEmptyContinuations",
        env: "PI_GOAL_MAX_EMPTY_CONTINUATIONS",
        default: "3",
        valid: "1 … 1,000",
        kind: Kind::Count {
            zero_is_off: false,
            min: 1,
            max: 1_000,
        },
        value_in: |settings| Setting::Number(settings.max_empty_continuations.into()),
    },
    Key {
        name: "maxConsecutiveAuditRejections",
        env: "PI_GOAL_MAX_CONSECUTIVE_AUDIT_REJECTIONS",
        default: "3",
        valid: "1 … 1,000",
        kind: Kind::Count {
            zero_is_off: false,
            min: 1,
            max: 1_000,
        },
        value_in: |settings| Setting::Number(settings.max_consecutive_audit_rejections.into()),
    },
    Key {
        name: "maxContinuations",
        env: "PI_GOAL_MAX_CONTINUATIONS",
        default: "100",
        valid: "0 (off), or 1 … 1,000,000",
        kind: Kind::Count {
            zero_is_off: true,
            min: 1,
            max: 1_000_000,
        },
        value_in: |settings| Setting::Number(settings.max_continuations.into()),
    },
    Key {
        name: "maxAudits",
        env: "PI_GOAL_MAX_AUDITS",
        default: "20",
        valid: "0 (off), or 1 … 1,000",
        kind: Kind::Count {
            zero_is_off: true,
            min: 1,
            max: 1_000,
        },
        value_in: |settings| Setting::Number(settings.max_audits.into()),
    },
    Key {
        name: "sandbox",
        env: "PI_GOAL_AUDITOR_SANDBOX",
        default: "prefer",
        valid: "require, prefer or off",
        kind: Kind::Word {
            words: &SANDBOX_MODES,
            any_case: false,
        },
        value_in: |settings| enum_setting(settings.sandbox.name()),
    },
    Key {
        name: "sandboxNetwork",
        env: "PI_GOAL_AUDITOR_SANDBOX_NETWORK",
        default: "loopback",
        valid: "loopback, host or off",
        kind: Kind::Word {
            words: &SANDBOX_NETWORKS,
            any_case: false,
        },
        value_in: |settings| enum_setting(settings.sandbox_network.name()),
    },
    Key {
        name: "sandboxHide",
        env: "PI_GOAL_AUDITOR_SANDBOX_HIDE",
        default: "none",
        valid: "more paths to hide: a list of strings; in the environment separated like PATH",
        kind: Kind::Paths,
        value_in: |settings| Setting::List(settings.sandbox_hide.clone()),
    },
    Key {
        name: "sandboxScratchMb",
        env: "PI_GOAL_AUDITOR_SANDBOX_SCRATCH_MB",
        default: "a quarter of memory",
        valid: "64 … 1,048,576",
        kind: Kind::Count {
            zero_is_off: false,
            min: 64,
            max: 1_048_576,
        },
        value_in: |settings| {
            settings
                .sandbox_scratch_mb
                .map_or(Setting::Unset, |mb| Setting::Number(mb.into()))
        },
    },
    Key {
        name: "trace",
        env: "PI_GOAL_TRACE",
        default: "off",
        valid: "a folder to write event traces to",
        kind: Kind::Folder,
        value_in: |settings| settings.trace.clone().into(),
    },
];

/// `provider` and `model` are one unit: the layer that sets either owns both (§7).
pub(crate) const UNIT: [&str; 2] = ["provider", "model"];

/// The key of that name, exactly as written.
#[must_use]
pub fn key_named(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}
