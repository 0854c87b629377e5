//! What is saved in pi's session file (spec §2). Names are stable from version 1 on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Version of the saved formats. A newer one found on a branch is shown and never overwritten.
pub const SAVED_VERSION: u32 = 1;

/// The data of a `custom` entry of type `goal-auditor`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(
    tag = "kind",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum EntryWire {
    /// The goal changed its meaning.
    Goal {
        /// [`SAVED_VERSION`].
        v: u32,
        /// The goal, or null when it is gone.
        goal: Option<Box<GoalWire>>,
        /// The goal that is gone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        goal_id: Option<String>,
        /// How it ended: `cleared`, `approved`, `replaced`, `accepted`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        ended: Option<String>,
    },
    /// An audit finished.
    Audit {
        /// [`SAVED_VERSION`].
        v: u32,
        /// The record.
        #[serde(flatten)]
        audit: Box<AuditWire>,
    },
}

/// A goal at a generation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TagWire {
    /// The goal's id.
    pub id: String,
    /// Its generation.
    #[ts(type = "number")]
    pub generation: u64,
}

/// A saved goal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct GoalWire {
    /// Unique id.
    pub id: String,
    /// Its generation.
    #[ts(type = "number")]
    pub generation: u64,
    /// The objective as the user gave it.
    pub objective: String,
    /// `pursuing`, `held` or `paused`.
    pub phase: String,
    /// Name of the reason of a pause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub pause_reason: Option<String>,
    /// The kind inside `model_errors` and `audit_failures`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub pause_kind: Option<String>,
    /// What was said about it: a quote, a provider's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub pause_detail: Option<String>,
    /// Milliseconds since 1970, UTC.
    #[ts(type = "number")]
    pub created_at: u64,
    /// Counters, hashes and active time.
    #[serde(flatten)]
    pub totals: TotalsWire,
    /// Text of the last disapproval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub last_objection: Option<String>,
    /// What the goal is judged by.
    pub gate: GateWire,
}

/// What counts up while a goal is pursued; also saved with every continuation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TotalsWire {
    /// Milliseconds spent pursuing.
    #[ts(type = "number")]
    pub active_ms: u64,
    /// Since start or resume.
    pub continuations: u32,
    /// Since start or resume.
    pub audits: u32,
    /// Runs in a row without work.
    pub empty_streak: u32,
    /// Runs in a row with a model error.
    pub errored_streak: u32,
    /// Runs in a row with the same final text.
    pub repeat_streak: u32,
    /// Disapprovals in a row.
    pub rejection_streak: u32,
    /// Audits in a row without a verdict.
    pub failure_streak: u32,
    /// The same claim met by the same objection, in a row.
    #[serde(default)]
    pub refusal_streak: u32,
    /// A run of the current repetition wrote a file.
    #[serde(default)]
    pub repeat_wrote: bool,
    /// Hash of the last final text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub last_text: Option<String>,
    /// Hash of the last refused claim with its objection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub last_refusal: Option<String>,
}

/// A saved gate. `0` of a limit is off, as in the settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct GateWire {
    /// The auditor's provider.
    pub provider: String,
    /// The auditor's model.
    pub model: String,
    /// Its thinking level, if set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub thinking_level: Option<String>,
    /// Absolute limit in milliseconds.
    #[ts(type = "number")]
    pub timeout_ms: u64,
    /// Idle limit in milliseconds.
    #[ts(type = "number")]
    pub idle_timeout_ms: u64,
    /// Runs without work before a pause.
    pub max_empty_continuations: u32,
    /// Refusals and failures before a pause.
    pub max_consecutive_audit_rejections: u32,
    /// Continuations before a pause.
    pub max_continuations: u32,
    /// The user set that limit for this goal; missing means no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub own_limit: bool,
    /// Audits before a pause.
    pub max_audits: u32,
    /// `require`, `prefer` or `off`.
    pub sandbox: String,
    /// `loopback`, `host` or `off`.
    pub sandbox_network: String,
    /// Further hidden paths.
    #[serde(default)]
    pub sandbox_hide: Vec<String>,
    /// Size of the throw-away layer in MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub sandbox_scratch_mb: Option<u32>,
}

/// Details of a continuation message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MessageDetailsWire {
    /// [`SAVED_VERSION`].
    pub v: u32,
    /// Always `continuation`.
    pub kind: String,
    /// The goal.
    pub goal_id: String,
    /// Its generation.
    #[ts(type = "number")]
    pub generation: u64,
    /// Number since start or resume; 0 is the first message.
    pub seq: u32,
    /// The full goal message, not a marker.
    pub full: bool,
    /// Counters at this moment.
    pub totals: TotalsWire,
}

/// A saved audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AuditWire {
    /// The goal it judged.
    pub goal_id: String,
    /// Its generation.
    #[ts(type = "number")]
    pub generation: u64,
    /// Number over the goal's whole life.
    pub number: u32,
    /// The user asked for it, and no call of the agent has its result; missing means no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub by_user: bool,
    /// `approved`, `disapproved`, `no_verdict`, `failed`, `stale` or `aborted`.
    pub outcome: String,
    /// Its reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub why: Option<String>,
    /// Why it failed, in the provider's or our words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub failure: Option<String>,
    /// `provider/id`.
    pub model: String,
    /// The auditor's thinking level, if set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub thinking_level: Option<String>,
    /// Every tool call.
    pub checks: Vec<CheckWire>,
    /// Prompts the auditor was given, reminders included.
    pub attempts: u32,
    /// Token use and cost.
    pub usage: UsageWire,
    /// Milliseconds since 1970, UTC.
    #[ts(type = "number")]
    pub started_at: u64,
    /// How long it took.
    #[ts(type = "number")]
    pub duration_ms: u64,
    /// Rung of the sandbox ladder: `overlay`, `fingerprint` or `none`.
    pub rung: String,
    /// Fingerprint of the workspace before the first prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub before: Option<FingerprintWire>,
    /// Fingerprint of the workspace after the verdict; an approval holds for this tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub after: Option<FingerprintWire>,
    /// What the goal was judged by.
    pub gate: GateWire,
    /// The full report.
    pub report: String,
}

/// A workspace at one moment, in few words. Equal digests are equal trees, content included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FingerprintWire {
    /// `blake3:` and 64 hexadecimal digits, over everything below.
    pub digest: String,
    /// Files.
    #[ts(type = "number")]
    pub files: u64,
    /// Their bytes.
    #[ts(type = "number")]
    pub bytes: u64,
    /// Commit of the workspace's own repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub commit: Option<String>,
    /// Digest of the repositories' HEADs and indexes.
    pub repositories: String,
    /// Digest of the ignore rules in force.
    pub rules: String,
    /// Digests of the tree's parts, by path: they tell where a tree differs.
    pub parts: BTreeMap<String, String>,
}

/// A tool call of the auditor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CheckWire {
    /// The tool.
    pub tool: String,
    /// Its arguments, cut.
    pub args: String,
    /// It ended without error.
    pub ok: bool,
    /// How long it ran, in milliseconds.
    #[ts(type = "number")]
    pub ms: u64,
}

/// Details of an `update_goal` result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AuditDetailsWire {
    /// As in [`AuditWire`].
    pub outcome: String,
    /// As in [`AuditWire`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub why: Option<String>,
    /// `provider/id`.
    pub model: String,
    /// Every tool call.
    pub checks: Vec<CheckWire>,
    /// How long it took.
    #[ts(type = "number")]
    pub duration_ms: u64,
    /// The report, cut.
    pub report: String,
    /// As in [`AuditWire`].
    pub rung: String,
    /// The reason of the pause the audit caused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub paused: Option<String>,
}

/// Token use in pi's shape, every field present: a usage without cost breaks pi's terminal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
pub struct UsageWire {
    /// Prompt tokens.
    pub input: f64,
    /// Generated tokens.
    pub output: f64,
    /// Read from a cache.
    pub cache_read: f64,
    /// Written to a cache.
    pub cache_write: f64,
    /// All tokens.
    pub total_tokens: f64,
    /// Cost of the parts.
    pub cost: CostWire,
}

/// Cost in the provider's currency unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
pub struct CostWire {
    /// Prompt tokens.
    pub input: f64,
    /// Generated tokens.
    pub output: f64,
    /// Read from a cache.
    pub cache_read: f64,
    /// Written to a cache.
    pub cache_write: f64,
    /// In all.
    pub total: f64,
}
