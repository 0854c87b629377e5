//! Lines from the shim to the core.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::saved::{TagWire, UsageWire};

/// One line to the core.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LineIn {
    /// The token of the handshake; a line without it is refused.
    pub token: String,
    /// Set when the shim waits for the answer, which carries the same number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub id: Option<u64>,
    /// What happened.
    pub event: EventWire,
}

/// What happened on the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum EventWire {
    /// The first line: agrees on version and token. Answered by `welcome` or `refused`.
    Hello {
        /// The shim's protocol version.
        protocol: u32,
        /// The shim's own version.
        shim: String,
        /// pi's agent directory, where the settings file is.
        #[serde(default)]
        agent_dir: Option<String>,
    },
    /// Are you there? Answered with no effects.
    Ping,
    /// A session was opened, or the core was restarted inside one. The branch's records follow.
    SessionOpened {
        /// Why.
        cause: OpenCauseWire,
        /// Our entries on the current branch, newest first, and at most the newest 20,000.
        records: Vec<RecordWire>,
        /// The newest `update_goal` call on the branch has no result and nothing follows it.
        audit_lost: bool,
        /// The user can be asked.
        has_ui: bool,
        /// The user interface is pi's terminal.
        terminal: bool,
        /// The host's model.
        #[serde(default)]
        model: Option<ModelWire>,
        /// The working directory.
        #[serde(default)]
        cwd: Option<String>,
    },
    /// The auditor's session of that audit is closed: nothing of it runs any more, or asks.
    AuditorClosed {
        /// The audit.
        #[ts(type = "number")]
        audit: u64,
    },
    /// The session is being left (`session_shutdown`).
    SessionLeft,
    /// `/goal …` was typed. Awaited.
    Command {
        /// What follows `/goal`.
        text: String,
        /// The host at this moment.
        host: HostWire,
    },
    /// The user answered a `confirm` effect.
    Confirmed {
        /// The question.
        #[ts(type = "number")]
        ticket: u64,
        /// A clear yes.
        yes: bool,
        /// The host at the moment of the answer.
        host: HostWire,
    },
    /// The editor of an `edit` effect was closed.
    Edited {
        /// The question.
        #[ts(type = "number")]
        ticket: u64,
        /// The text; null if it was cancelled.
        #[serde(default)]
        text: Option<String>,
        /// The host at that moment.
        host: HostWire,
    },
    /// An `offer` was answered, or could not be shown.
    Chosen {
        /// The offer.
        #[ts(type = "number")]
        ticket: u64,
        /// The choice; `not_now` without one.
        way: WayOnWire,
        /// The host at that moment.
        host: HostWire,
    },
    /// The answer to `activate_tools`.
    ToolsChecked {
        /// Both tools are active now.
        active: bool,
    },
    /// The first `agent_start` since the host was at rest.
    RunStarted,
    /// The message of `start_run` is in the conversation (`message_end` of it).
    MessageArrived {
        /// The goal it was sent for.
        tag: TagWire,
    },
    /// A message of the user was delivered or queued.
    UserMessage,
    /// A turn is over: what follows it has come. Awaited when no call of the turn did work.
    TurnEnded {
        /// The abort signal is set, or the model's answer is an error.
        broken_off: bool,
    },
    /// `tool_execution_end`, of every tool.
    ToolFinished {
        /// Its name.
        tool: String,
        /// The result is an error.
        is_error: bool,
        /// It has a `durationMs`.
        ran: bool,
        /// The abort signal is set.
        aborted: bool,
        /// The beginning of the error text.
        #[serde(default)]
        error: Option<String>,
    },
    /// One of our tools is executing, and waits for `finish_tool`.
    ToolInvoked {
        /// pi's id of the call.
        call_id: String,
        /// Which tool.
        tool: GoalToolWire,
        /// The status as the model gave it; null when missing.
        #[serde(default)]
        status: Option<String>,
        /// The claim.
        #[serde(default)]
        summary: Option<String>,
        /// Number of the model turn.
        #[ts(type = "number")]
        turn: u64,
        /// The working directory.
        cwd: String,
    },
    /// The abort signal of a waiting call of ours fired.
    ToolCancelled {
        /// pi's id of the call.
        call_id: String,
    },
    /// `agent_before_settle`, with nothing of the user's queued. Awaited: `propose`.
    Settling {
        /// The outcome is `error`.
        failed: bool,
        /// The last assistant message has stop reason `aborted`.
        provider_aborted: bool,
        /// Its error message.
        #[serde(default)]
        error: Option<String>,
        /// The text of the last assistant message.
        final_text: String,
        /// Our tools are active.
        tools_active: bool,
        /// The full goal message of the pursued goal is in the context.
        full_message_present: bool,
    },
    /// The proposal is being performed.
    ProposalTaken {
        /// Its number.
        #[ts(type = "number")]
        proposal: u64,
    },
    /// A message was queued meanwhile, or the answer came too late: nothing was performed.
    ProposalYielded {
        /// Its number.
        #[ts(type = "number")]
        proposal: u64,
    },
    /// `agent_settled`.
    RunSettled {
        /// The run was aborted.
        aborted: bool,
        /// We aborted it.
        by_us: bool,
        /// The message of `start_run` was given to this run and is not in the conversation.
        #[serde(default)]
        start_pending: bool,
        /// The full goal message is in the context.
        full_message_present: bool,
    },
    /// The interrupt key while the host is idle.
    Interrupt,
    /// `session_before_compact`.
    CompactionStarted,
    /// `session_compact` or `session_compact_failed`. Awaited when `runGoesOn`.
    CompactionEnded {
        /// Cancelled by the user.
        cancelled: bool,
        /// A request follows without a settle boundary.
        run_goes_on: bool,
        /// The host is idle.
        idle: bool,
        /// The full goal message is in the context.
        full_message_present: bool,
    },
    /// `model_select`.
    ModelSelected {
        /// The host's model now.
        #[serde(default)]
        model: Option<ModelWire>,
    },
    /// Something in the auditor's session.
    Auditor {
        /// The audit.
        #[ts(type = "number")]
        audit: u64,
        /// What happened.
        event: AuditorEventWire,
    },
}

/// Why a session was opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum OpenCauseWire {
    /// `session_start`, any reason.
    Start,
    /// `session_tree`.
    Tree,
    /// The core was lost and this is a new one.
    CoreRestart {
        /// The goal last named as pursued by `show_status`.
        #[serde(default)]
        pursued: Option<TagWire>,
        /// Losses in the last ten minutes, this one included.
        recent_losses: u32,
        /// A call of `update_goal` was waiting.
        audit_lost: bool,
        /// A run is going.
        running: bool,
        /// The full goal message is in the context.
        full_message_present: bool,
        /// A headless command is waiting.
        headless: bool,
        /// The user stopped what was going on, and nothing has run since.
        stopped: bool,
    },
}

/// An entry of ours on the branch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum RecordWire {
    /// A `custom` entry of type `goal-auditor`: goal or audit (the audit's `report`, `checks` and
    /// `gate` may be left out by the shim).
    Ours {
        /// Its data, as found.
        #[ts(type = "unknown")]
        data: serde_json::Value,
    },
    /// A `custom_message` entry of type `goal-auditor`.
    Message {
        /// Its details, as found.
        #[ts(type = "unknown")]
        data: serde_json::Value,
    },
    /// A `custom` entry of the predecessor, type `pi-goal`.
    Predecessor {
        /// Its data, as found.
        #[ts(type = "unknown")]
        data: serde_json::Value,
    },
}

/// The host at the moment of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct HostWire {
    /// What the host is doing.
    pub activity: ActivityWire,
    /// The user can be asked.
    pub has_ui: bool,
    /// The process ends when the command returns (print and JSON mode).
    pub headless: bool,
    /// The host's model.
    #[serde(default)]
    pub model: Option<ModelWire>,
    /// The host's thinking level.
    #[serde(default)]
    pub thinking_level: Option<String>,
    /// Models that are known and have credentials.
    pub models: Vec<ModelWire>,
    /// Both tools are active.
    pub tools_active: bool,
    /// pi's file of the session, for a report; null where it keeps none.
    #[serde(default)]
    pub session_file: Option<String>,
}

/// What the host is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ActivityWire {
    /// Nothing.
    Idle,
    /// A run is going.
    Running,
    /// A compaction outside a run.
    Compacting,
}

/// A way on from a goal's stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum WayOnWire {
    /// `/goal resume`.
    Resume,
    /// `/goal edit`.
    Edit,
    /// `/goal accept`.
    Accept,
    /// `/goal clear`.
    Clear,
    /// None of them.
    NotNow,
}

/// A model of the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelWire {
    /// Its provider.
    pub provider: String,
    /// The provider's id of it.
    pub id: String,
    /// The name shown to people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
}

/// Our tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum GoalToolWire {
    /// `get_goal`.
    GetGoal,
    /// `update_goal`.
    UpdateGoal,
}

/// Something in the auditor's session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum AuditorEventWire {
    /// The session is open and was prompted.
    Opened,
    /// No session could be opened.
    OpenFailed {
        /// Which part failed.
        kind: OpenFailureWire,
        /// Why, in the host's words.
        message: String,
    },
    /// Streamed output; at most four a second, the last one always sent.
    Output,
    /// An assistant message ended.
    AnswerEnded {
        /// Its text parts joined, or what was streamed if it carries none.
        text: String,
        /// How it ended.
        stop: StopWire,
        /// The provider's error message.
        #[serde(default)]
        error: Option<String>,
        /// Token use; zero where the host has none.
        usage: UsageWire,
    },
    /// `tool_execution_start`.
    ToolStarted {
        /// The call's id.
        call_id: String,
        /// The tool.
        tool: String,
        /// Its arguments as JSON, cut.
        args: String,
    },
    /// `tool_execution_end`.
    ToolFinished {
        /// The call's id.
        call_id: String,
        /// The tool.
        tool: String,
        /// Not an error.
        ok: bool,
        /// `durationMs`; null when it did not run.
        #[serde(default)]
        #[ts(type = "number | null")]
        ms: Option<u64>,
    },
    /// A compaction of the auditor's context began.
    CompactionStarted,
    /// It ended.
    CompactionEnded {
        /// Token use of the summary.
        #[serde(default)]
        usage: UsageWire,
    },
    /// The host waits before a retry.
    RetryStarted,
    /// The wait is over.
    RetryEnded,
    /// `prompt()` resolved.
    Rested,
    /// `prompt()` rejected, or anything else threw.
    Broke {
        /// Why, in the host's words.
        message: String,
    },
}

/// Which part of opening an auditor session failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum OpenFailureWire {
    /// No credentials for the provider.
    MissingCredentials,
    /// The host does not know the model.
    MissingModel,
    /// Anything else.
    Session,
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum StopWire {
    /// Normally.
    Stop,
    /// With tool calls.
    ToolUse,
    /// Cut off by the output limit.
    Length,
    /// With an error.
    Error,
    /// Aborted.
    Aborted,
}
