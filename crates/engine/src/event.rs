//! Everything that can happen to a goal. Closed on purpose: a match without `_` is the review.

use goal_audit::AuditorEvent;
use goal_state::{Goal, GoalTag, ModelRef};

use crate::effect::{Rung, WayOn, WorkspaceSummary};
use crate::settings::Settings;

/// Something that happened on the host. The host reports facts; the engine decides.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A session was opened, its branch was changed, or the core was restarted inside one.
    SessionOpened(Box<SessionOpened>),
    /// The session is being left (quit, reload, another session). Nothing may follow for it.
    SessionLeft,
    /// The settings as they are now; sent by the driver when they differ from the last ones.
    SettingsRead(Settings),
    /// The user typed `/goal …`.
    Command(Command),
    /// The user answered a question of [`crate::Effect::Confirm`].
    Confirmed {
        /// The question's ticket.
        ticket: u64,
        /// Only a clear yes is one.
        yes: bool,
        /// The host at the moment of the answer.
        host: HostFacts,
    },
    /// The user closed the editor of [`crate::Effect::Edit`].
    Edited {
        /// The question's ticket.
        ticket: u64,
        /// The text as saved; `None` if it was cancelled.
        text: Option<String>,
        /// The host at that moment.
        host: HostFacts,
    },
    /// The user answered an offer of [`crate::Effect::Offer`].
    Chosen {
        /// The offer's ticket.
        ticket: u64,
        /// What was chosen; no answer is [`WayOn::NotNow`].
        way: WayOn,
        /// The host at that moment.
        host: HostFacts,
    },
    /// The answer to [`crate::Effect::WriteReport`]: what was written and where, or why not.
    ReportWritten(Result<String, String>),
    /// The answer to [`crate::Effect::ActivateTools`].
    ToolsChecked {
        /// Whether `get_goal` and `update_goal` are active now.
        active: bool,
    },
    /// The host left rest: the first `agent_start` of a run.
    RunStarted,
    /// The message of [`crate::Effect::StartRun`] is in the conversation: the run that goes on works
    /// on its goal, whoever began it. A start and a message of the user may cross, so that a run
    /// which begins need not be the one that was asked for.
    MessageArrived {
        /// The goal it was sent for.
        tag: GoalTag,
    },
    /// A message of the user was delivered or queued.
    UserMessage,
    /// A model turn ended. Awaited when it did no work: the answer may end the run.
    TurnEnded {
        /// It ended in an abort or an error, so it says nothing about the model's progress.
        broken_off: bool,
    },
    /// A call of any tool was finalised.
    ToolFinished(ToolFinished),
    /// The model called one of our tools, and waits for [`crate::Effect::FinishTool`].
    ToolInvoked(ToolInvoked),
    /// The host cancelled a call of ours (abort signal).
    ToolCancelled {
        /// The host's id of the call.
        call_id: String,
    },
    /// The run is about to settle; the host waits for [`crate::Effect::Propose`].
    Settling(Settling),
    /// The host took a proposal: only now it counts.
    ProposalTaken {
        /// The proposal's number.
        proposal: u64,
    },
    /// A message of the user came first; the boundary comes again.
    ProposalYielded {
        /// The proposal's number.
        proposal: u64,
    },
    /// The host is at rest again.
    RunSettled(RunSettled),
    /// The interrupt key while the host is idle: a stop of our back-off.
    Interrupt,
    /// A compaction began.
    CompactionStarted,
    /// A compaction ended. Awaited when a request follows it without a settle boundary.
    CompactionEnded(CompactionEnded),
    /// The user chose another model.
    ModelSelected {
        /// The host's model now.
        model: Option<ModelRef>,
    },
    /// The answer to [`crate::Effect::PrepareAudit`].
    AuditPrepared {
        /// The audit.
        audit: u64,
        /// What there is, or why the audit cannot be made.
        prepared: Result<Box<Prepared>, String>,
    },
    /// The answer to [`crate::Effect::InspectWorkspace`].
    WorkspaceInspected {
        /// The audit.
        audit: u64,
        /// What was found, or why it could not be looked at.
        inspection: Result<Box<Inspection>, String>,
    },
    /// The driver found out which seal this machine allows.
    SandboxProbed {
        /// The best rung.
        rung: Rung,
        /// Why there is no better one.
        why: Option<String>,
    },
    /// Something in the auditor's session.
    Auditor {
        /// The audit it belongs to; late events of an older one are dropped.
        audit: u64,
        /// What happened.
        event: AuditorEvent,
    },
    /// A deadline passed.
    Tick,
}

/// An audit that can begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// How it is kept from changing what it judges.
    pub rung: Rung,
    /// Where its seal is joined.
    pub seal: Option<String>,
    /// The workspace as it was.
    pub before: Option<WorkspaceSummary>,
}

/// The workspace after an audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// The workspace as it is now.
    pub after: WorkspaceSummary,
    /// Paths that changed and are no known by-product of tests and builds; bounded by the driver.
    pub changed: Vec<String>,
    /// Added paths that are such by-products.
    pub forgiven: Vec<String>,
}

/// A session as it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionOpened {
    /// Why it was opened.
    pub cause: OpenCause,
    /// What its branch says about a goal.
    pub branch: Recovered,
    /// Whether the host has a terminal or another user interface.
    pub has_ui: bool,
    /// Whether that is a terminal, where a person sees what is shown and can choose.
    pub terminal: bool,
    /// The host's model.
    pub model: Option<ModelRef>,
    /// The host's working directory.
    pub cwd: Option<String>,
}

/// Why a session was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenCause {
    /// The host started, or a session was created, resumed, forked or reloaded.
    Start,
    /// The user moved to another place of the session tree.
    Tree,
    /// The core was lost and started again inside a living session.
    CoreRestart(CoreRestart),
}

/// What the shim knows about the moment in which the core was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreRestart {
    /// The goal that was pursued then, if any. A goal that was merely loaded stays held.
    pub pursued: Option<GoalTag>,
    /// Losses within the last ten minutes, this one included.
    pub recent_losses: u32,
    /// An audit was in flight; its tool call was answered with an error by the shim.
    pub audit_lost: bool,
    /// The host is in a run.
    pub running: bool,
    /// The full goal message is still in the context.
    pub full_message_present: bool,
    /// A headless command still waits for the end of the goal.
    pub headless: bool,
    /// The user stopped what was going on, and the old core has not answered to it: nothing of the
    /// goal was started since, and it is shown as pursued. A run that goes on is the user's own.
    pub stopped: bool,
}

/// What the branch says about a goal (read by `goal-protocol`).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Recovered {
    /// The goal, as last saved plus the newest totals; held if it was pursuing.
    pub goal: Option<Goal>,
    /// Audits of this goal over its whole life.
    pub audits_ever: u32,
    /// Things to tell once: skipped entries, a newer version.
    pub diagnostics: Vec<String>,
    /// The branch was written by a newer version: show it, save nothing over it.
    pub newer_version: bool,
    /// The newest audit of the goal, for the status.
    pub last_audit: Option<LastAudit>,
    /// An `update_goal` call has no result: an audit was lost.
    pub audit_lost: bool,
}

/// The newest audit, as the status shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastAudit {
    /// Name of the outcome.
    pub outcome: String,
    /// Name of its reason.
    pub why: Option<String>,
    /// The auditor's model.
    pub model: String,
    /// Successful checks.
    pub successes: u32,
    /// Why it failed, in the provider's or our words.
    pub failure: Option<String>,
    /// The auditor's report, bounded; empty where it is not known.
    pub report: String,
}

/// A `/goal` command with the facts it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// What follows `/goal`, as typed.
    pub text: String,
    /// What is in the file that the text names (see [`crate::file_named`]); `None` where there is no
    /// such file.
    pub file: Option<Result<String, FileTrouble>>,
    /// The host at this moment.
    pub host: HostFacts,
}

/// Why a file that exists gives no objective.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileTrouble {
    /// A folder, a pipe, a device.
    NotAFile,
    /// Larger than an objective may be; its bytes.
    TooLarge(u64),
    /// Its bytes are no UTF-8.
    NotText,
    /// Nothing but white space.
    Blank,
    /// The system's own words.
    Unreadable(String),
}

/// The host at the moment of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFacts {
    /// What the host is doing.
    pub activity: Activity,
    /// Whether the user can be asked.
    pub has_ui: bool,
    /// The process ends when the command returns (`-p`, `--mode json`): the goal must be awaited.
    pub headless: bool,
    /// The host's model.
    pub model: Option<ModelRef>,
    /// The host's thinking level.
    pub thinking_level: Option<String>,
    /// The models the host can use: known, with credentials.
    pub models: Vec<ModelInfo>,
    /// Our tools are active.
    pub tools_active: bool,
    /// The settings file that is read, for the status.
    pub config_path: Option<String>,
}

/// What the host is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// Nothing.
    Idle,
    /// A run is going (a compaction or a retry wait inside it included).
    Running,
    /// A compaction outside a run.
    Compacting,
}

/// A model the host can use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInfo {
    /// Provider and id.
    pub model: ModelRef,
    /// The name shown to people.
    pub name: String,
}

/// A finalised call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFinished {
    /// The tool's name as the model wrote it.
    pub tool: String,
    /// The result is an error.
    pub is_error: bool,
    /// It is one of ours.
    pub ours: bool,
    /// It writes files (the host's write and edit tools).
    pub writes: bool,
    /// It really ran (an unknown tool, refused arguments and blocked calls do not).
    pub ran: bool,
    /// The run's abort signal was set.
    pub aborted: bool,
    /// The beginning of the error text.
    pub error: Option<String>,
}

/// Our two tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoalTool {
    /// `get_goal`.
    GetGoal,
    /// `update_goal`.
    UpdateGoal,
}

impl GoalTool {
    /// The name models call it by.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::GetGoal => "get_goal",
            Self::UpdateGoal => "update_goal",
        }
    }
}

/// A call of one of our tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolInvoked {
    /// The host's id of the call.
    pub call_id: String,
    /// Which tool.
    pub tool: GoalTool,
    /// The `status` as given; `None` when missing or null.
    pub status: Option<String>,
    /// The claim.
    pub summary: Option<String>,
    /// Number of the model turn, so that several calls of one message are known as such.
    pub turn: u64,
    /// The host's working directory, for the auditor's prompt.
    pub cwd: String,
}

/// A run at its settle boundary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settling {
    /// The host's outcome was an error.
    pub failed: bool,
    /// The last assistant message says it was aborted, though nobody aborted the run.
    pub provider_aborted: bool,
    /// The provider's error message.
    pub error: Option<String>,
    /// The final text of the run.
    pub final_text: String,
    /// Our tools are active.
    pub tools_active: bool,
    /// The full goal message is still in the context.
    pub full_message_present: bool,
}

/// The host at rest after a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunSettled {
    /// The run was aborted.
    pub aborted: bool,
    /// By our own [`crate::Effect::EndRun`].
    pub by_us: bool,
    /// The message of [`crate::Effect::StartRun`] was given to this run and did not arrive in it.
    pub start_pending: bool,
    /// Whether the full goal message is still in the context.
    pub full_message_present: bool,
}

/// A compaction that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactionEnded {
    /// It was cancelled by the user.
    pub cancelled: bool,
    /// A request follows without a settle boundary (inside a run, before one, or after an overflow).
    pub run_goes_on: bool,
    /// The host is idle now.
    pub idle: bool,
    /// The full goal message is still in the context.
    pub full_message_present: bool,
}
