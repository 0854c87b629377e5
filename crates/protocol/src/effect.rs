//! Lines from the core to the shim.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::event::{ModelWire, WayOnWire};
use crate::saved::{
    AuditDetailsWire, CheckWire, EntryWire, MessageDetailsWire, TagWire, UsageWire,
};

/// One line to the shim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LineOut {
    /// The token of the handshake.
    pub token: String,
    /// The number of the line this answers, if the shim waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub id: Option<u64>,
    /// To perform in order, synchronously.
    pub effects: Vec<EffectWire>,
}

/// Something for the shim to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum EffectWire {
    /// The handshake is accepted.
    Welcome {
        /// The core's protocol version.
        protocol: u32,
        /// The core's own version.
        version: String,
    },
    /// The handshake is refused; the core exits.
    Refused {
        /// What does not fit, and what to do.
        message: String,
    },
    /// A line could not be understood, or the core has something to say about itself.
    Diagnostic {
        /// One line.
        message: String,
    },
    /// `pi.appendEntry("goal-auditor", entry)`.
    SaveEntry {
        /// The entry's data.
        entry: EntryWire,
    },
    /// `sendMessage(message, { triggerTurn: true })` while idle.
    StartRun {
        /// The message.
        message: MessageWire,
    },
    /// The answer to `settling`.
    Propose {
        /// Its number.
        #[ts(type = "number")]
        proposal: u64,
        /// Continue with this message; null rests.
        message: Option<MessageWire>,
        /// To perform if, and only if, the proposal is taken.
        effects: Vec<Self>,
    },
    /// `sendMessage(message, { triggerTurn: true })` inside a run, after a compaction.
    SendInRun {
        /// The message.
        message: MessageWire,
    },
    /// Abort the run, marked as ours; block what is left of the batch.
    EndRun,
    /// Make our tools active, answer with `tools_checked`.
    ActivateTools,
    /// The result of one of our tools.
    FinishTool {
        /// pi's id of the call.
        call_id: String,
        /// What the model reads.
        text: String,
        /// It is an error result.
        is_error: bool,
        /// No request may follow: `terminate`, block later calls, abort if an earlier one ran.
        ends_run: bool,
        /// The audit as data.
        details: Option<AuditDetailsWire>,
        /// The auditor's token use.
        usage: Option<UsageWire>,
    },
    /// `onUpdate` of the waiting call.
    Progress {
        /// pi's id of the call.
        call_id: Option<String>,
        /// One line, for those who show no more.
        text: String,
        /// The audit as it stands.
        live: LiveAuditWire,
    },
    /// Add to the session's totals what no tool result carries (`sessionManager.appendUsage`).
    CountUsage {
        /// Whose tokens.
        model: ModelWire,
        /// How many, and what they cost.
        usage: UsageWire,
    },
    /// Open an auditor session and prompt it.
    OpenAuditor {
        /// Names the audit.
        #[ts(type = "number")]
        audit: u64,
        /// The waiting call; null when the user waits.
        call_id: Option<String>,
        /// The auditor's model.
        model: ModelWire,
        /// Its thinking level; null takes the host's.
        thinking_level: Option<String>,
        /// The session's system prompt.
        system_prompt: String,
        /// The first prompt.
        prompt: String,
        /// Where the audit's seal is joined; null when it has none.
        seal: Option<String>,
    },
    /// Prompt the auditor again.
    PromptAuditor {
        /// The audit.
        #[ts(type = "number")]
        audit: u64,
        /// The text.
        text: String,
    },
    /// Abort and dispose the auditor's session; report nothing of it any more.
    CloseAuditor {
        /// The audit.
        #[ts(type = "number")]
        audit: u64,
    },
    /// `ui.notify`, or stderr when headless.
    Notify {
        /// How loud.
        level: LevelWire,
        /// The text, already safe to display.
        text: String,
    },
    /// The answer to a command: `ui.notify`, or stderr when headless.
    Reply {
        /// How loud.
        level: LevelWire,
        /// The text, already safe to display.
        text: String,
    },
    /// Footer and widget from now on.
    ShowStatus {
        /// `setStatus`; null clears it.
        footer: Option<String>,
        /// `setWidget` where only text is shown; empty removes it.
        widget: Vec<String>,
        /// The goal for a terminal; null removes its widget.
        goal: Option<GoalFactsWire>,
        /// The goal that is pursued, for `core_restart`.
        pursued: Option<TagWire>,
        /// A deadline is open: watch the core even while idle.
        waiting: bool,
    },
    /// `ui.confirm`; answer with `confirmed`.
    Confirm {
        /// Names the question.
        #[ts(type = "number")]
        ticket: u64,
        /// Title.
        title: String,
        /// Message.
        message: String,
    },
    /// `ui.editor`; answer with `edited`.
    Edit {
        /// Names the question.
        #[ts(type = "number")]
        ticket: u64,
        /// Title.
        title: String,
        /// The text to begin with.
        text: String,
    },
    /// `ui.select` in the terminal, if nothing else is open and the editor is empty and not typed into;
    /// answer with `chosen`.
    Offer {
        /// Names the offer.
        #[ts(type = "number")]
        ticket: u64,
        /// Title.
        title: String,
        /// What can be chosen.
        options: Vec<OfferedWayWire>,
    },
    /// Close the offer's choice, if it is open; no answer is wanted.
    Withdraw {
        /// The offer.
        #[ts(type = "number")]
        ticket: u64,
    },
    /// Ring the terminal's bell; nothing where there is none.
    Ring,
    /// Put the text back into the editor.
    RestoreInput {
        /// What was typed.
        text: String,
    },
    /// The waiting headless command may return.
    Release {
        /// Exit status 0 instead of 2.
        approved: bool,
        /// For stderr.
        reason: Option<String>,
        /// A report is wanted as by `/goal report`, if the session is in a file.
        report: bool,
    },
}

/// One line of an offer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OfferedWayWire {
    /// What it does.
    pub way: WayOnWire,
    /// Its words; no two of an offer are the same.
    pub label: String,
}

/// A message of ours in the conversation (`customType: "goal-auditor"`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MessageWire {
    /// What the model reads.
    pub content: String,
    /// What the session keeps beside it.
    pub details: MessageDetailsWire,
}

/// An audit in flight. Its clock runs on from `elapsedMs` when the line arrives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LiveAuditWire {
    /// What it is at, in words.
    pub stage: String,
    /// `provider/id`.
    pub model: String,
    /// Milliseconds since it began.
    #[ts(type = "number")]
    pub elapsed_ms: u64,
    /// Milliseconds it may take; null is without a limit.
    #[ts(type = "number | null")]
    pub limit_ms: Option<u64>,
    /// Calls that ended without error.
    pub successes: u32,
    /// All calls that ended.
    pub checks: u32,
    /// The last of them, oldest first.
    pub recent: Vec<CheckWire>,
    /// The call that runs.
    pub in_flight: Option<String>,
}

/// A goal for a terminal. Its clock runs on from `activeMs` while it works, is audited or waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct GoalFactsWire {
    /// Symbol and colour.
    pub mood: MoodWire,
    /// Phase and reason in words.
    pub state: String,
    /// The objective, in one line already safe to display.
    pub objective: String,
    /// What is counted; what does not fit is left out from the end.
    pub counts: Vec<String>,
    /// Milliseconds it was pursued.
    #[ts(type = "number")]
    pub active_ms: u64,
}

/// How a goal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum MoodWire {
    /// A run of it goes on.
    Working,
    /// An audit is in flight.
    Auditing,
    /// It is pursued and nothing runs.
    Waiting,
    /// Found in a session that was opened.
    Held,
    /// Stopped.
    Paused,
}

/// How loud a notice is; pi's own names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum LevelWire {
    /// For information.
    Info,
    /// Something stopped.
    Warning,
    /// Something failed.
    Error,
}
