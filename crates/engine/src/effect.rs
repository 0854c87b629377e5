//! Everything the engine can ask of its driver. Closed, and performed in order.

use std::collections::BTreeMap;

use goal_audit::{CheckRecord, Usage};
use goal_state::{AuditOutcome, Ended, Goal, GoalTag, ModelRef, Totals, WallClock};

/// Something to do. The driver performs all effects of an event in order before the next event.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Append a goal entry to the session.
    SaveGoal(SavedGoal),
    /// Append an audit entry to the session.
    SaveAudit(Box<AuditRecord>),
    /// Start a run with this message (the host is idle).
    StartRun(GoalMessage),
    /// The answer to [`crate::Event::Settling`].
    Propose(Proposal),
    /// Put this message into the very next request of the run that is going on.
    SendInRun(GoalMessage),
    /// End the run now: abort it, and mark the abort as ours.
    EndRun,
    /// Make our tools active if they exist, and report with [`crate::Event::ToolsChecked`].
    ActivateTools,
    /// Answer a call of one of our tools.
    FinishTool(Box<ToolAnswer>),
    /// Show how an audit goes, in the tool call that waits for it.
    Progress {
        /// The call.
        call_id: Option<String>,
        /// One line, for hosts that show no more.
        text: String,
        /// The same as facts.
        live: Box<LiveAudit>,
    },
    /// Look at the workspace and seal the audit as the settings say; the driver's own work. Answered
    /// by [`crate::Event::AuditPrepared`].
    PrepareAudit(Box<PrepareAudit>),
    /// Look at the workspace again; the driver's own work. Answered by
    /// [`crate::Event::WorkspaceInspected`].
    InspectWorkspace {
        /// The audit.
        audit: u64,
        /// The record shall hold for this tree: every file's content counts.
        whole: bool,
    },
    /// Add tokens to the session's totals that no answer of a tool carries.
    CountUsage {
        /// Whose tokens.
        model: ModelRef,
        /// How many, and what they cost.
        usage: Usage,
    },
    /// Open an auditor session and prompt it.
    OpenAuditor(Box<OpenAuditor>),
    /// Prompt the open auditor session again.
    PromptAuditor {
        /// The audit.
        audit: u64,
        /// The reminder.
        text: String,
    },
    /// Abort what the auditor is doing, dispose the session and never report from it again.
    CloseAuditor {
        /// The audit.
        audit: u64,
    },
    /// Tell the user.
    Notify(Notice),
    /// Answer the command the user typed.
    Reply(Notice),
    /// What footer and widget show from now on.
    ShowStatus(StatusView),
    /// Ask the user a yes-or-no question; report with [`crate::Event::Confirmed`].
    Confirm {
        /// Names the question.
        ticket: u64,
        /// Its title.
        title: String,
        /// What is at stake.
        message: String,
    },
    /// Open an editor for the objective; report with [`crate::Event::Edited`].
    Edit {
        /// Names the question.
        ticket: u64,
        /// Its title.
        title: String,
        /// The text to begin with.
        text: String,
    },
    /// Show the ways on from a goal's stop as a choice, in place of an editor that is empty and not
    /// typed into; report with [`crate::Event::Chosen`]. Where it cannot be shown so, not now is the
    /// answer.
    Offer {
        /// Names the offer.
        ticket: u64,
        /// How the goal stands.
        title: String,
        /// What can be chosen, best first.
        options: Vec<OfferedWay>,
    },
    /// Take an offer back: what it offers is no longer how things are.
    Withdraw {
        /// The offer.
        ticket: u64,
    },
    /// Write the session's report into a file; the driver's own work. Answered by
    /// [`crate::Event::ReportWritten`].
    WriteReport {
        /// The file as the user named it; `None` is a place of the driver's own.
        path: Option<String>,
        /// The goal the session has now.
        goal: Option<String>,
    },
    /// Call the user, who may look elsewhere: the goal ended or stopped by itself.
    Ring,
    /// Give text back to the editor, so that nothing typed is lost.
    RestoreInput {
        /// What was typed.
        text: String,
    },
    /// A headless command may return: the goal is at rest.
    Release {
        /// The goal was approved: exit status 0, otherwise 2.
        approved: bool,
        /// What to print to stderr when it was not.
        reason: Option<String>,
        /// Something happened to the goal: once all is saved, a report is wanted as by
        /// `/goal report`.
        report: bool,
    },
}

/// A goal entry. Written whenever the meaning changed, never twice the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SavedGoal {
    /// The goal as it stands.
    Present {
        /// The record.
        goal: Box<Goal>,
        /// Time spent pursuing until now, in milliseconds.
        active_ms: u64,
    },
    /// The goal is gone.
    Gone {
        /// Its id.
        id: String,
        /// How it ended.
        ended: Ended,
    },
}

impl SavedGoal {
    /// Whether both say the same. Time that went by while a goal is pursued says nothing new.
    pub(crate) fn means(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Present { goal, .. }, Self::Present { goal: others, .. }) => goal == others,
            (Self::Gone { .. }, Self::Gone { .. }) => self == other,
            (Self::Present { .. }, Self::Gone { .. })
            | (Self::Gone { .. }, Self::Present { .. }) => false,
        }
    }
}

/// A message of ours in the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoalMessage {
    /// What the model reads.
    pub text: String,
    /// What the session keeps beside it.
    pub details: MessageDetails,
}

/// What a continuation message keeps for a later load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageDetails {
    /// The goal and its generation.
    pub tag: GoalTag,
    /// Number of the continuation since start or resume; 0 for the first message.
    pub seq: u32,
    /// It is the full goal message, not a marker.
    pub full: bool,
    /// Counters at this moment.
    pub totals: Totals,
    /// Time spent pursuing until now, in milliseconds.
    pub active_ms: u64,
}

/// What to do at a settle boundary. Counts only when taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// Names the proposal in [`crate::Event::ProposalTaken`].
    pub number: u64,
    /// Continue the run with this message; `None` lets it rest.
    pub message: Option<GoalMessage>,
    /// To perform when the proposal is taken, and only then.
    pub effects: Vec<Effect>,
}

/// The answer to a call of one of our tools.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolAnswer {
    /// The host's id of the call.
    pub call_id: String,
    /// What the model reads.
    pub text: String,
    /// The result is an error.
    pub is_error: bool,
    /// No model request may follow: end the run with this result.
    pub ends_run: bool,
    /// The audit behind it, as data for display.
    pub audit: Option<AuditDetails>,
    /// The auditor's token use, for the host's totals.
    pub usage: Option<Usage>,
}

/// An audit as data in the tool result.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditDetails {
    /// How it ended.
    pub outcome: AuditOutcome,
    /// The auditor's model.
    pub model: ModelRef,
    /// The auditor's tool calls.
    pub checks: Vec<CheckRecord>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The auditor's report.
    pub report: String,
    /// How it was kept from changing what it judged.
    pub rung: Rung,
    /// The reason of the pause this audit caused.
    pub paused: Option<String>,
}

/// An audit entry: what was asked, done and found.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditRecord {
    /// The goal it judged.
    pub tag: GoalTag,
    /// Number over the goal's whole life.
    pub number: u32,
    /// The user asked for it; no call of the agent waits for it.
    pub by_user: bool,
    /// Outcome, model, calls, report.
    pub details: AuditDetails,
    /// The auditor's thinking level, if set by the gate.
    pub thinking_level: Option<String>,
    /// Prompts the auditor was given.
    pub attempts: u32,
    /// The auditor's token use.
    pub usage: Usage,
    /// When it began.
    pub started_at: WallClock,
    /// What the goal was judged by.
    pub gate: goal_state::Gate,
    /// Why it failed, in the provider's or our words.
    pub failure: Option<String>,
    /// The workspace before the first prompt.
    pub before: Option<WorkspaceSummary>,
    /// The workspace after the verdict.
    pub after: Option<WorkspaceSummary>,
}

/// A workspace at one moment, in few words, as the driver's fingerprint sums it up. The engine only
/// keeps it for the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceSummary {
    /// Over everything below.
    pub digest: String,
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Commit of the workspace's own repository.
    pub commit: Option<String>,
    /// Digest of the repositories' HEADs and indexes.
    pub repositories: String,
    /// Digest of the ignore rules in force.
    pub rules: String,
    /// Digests of the tree's parts, by path; only where they are needed again.
    pub parts: BTreeMap<String, String>,
}

/// What the driver prepares before an auditor looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrepareAudit {
    /// Names the audit.
    pub audit: u64,
    /// The workspace: the host's working directory.
    pub workspace: String,
    /// The sandbox settings of the gate.
    pub sandbox: goal_state::SandboxGate,
}

/// How an audit is kept from changing what it judges (the ladder of the sandbox).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rung {
    /// Every command runs over throw-away overlays.
    Overlay,
    /// Commands run as they are; the workspace is fingerprinted around the audit.
    Fingerprint,
    /// Nothing: switched off.
    None,
}

impl Rung {
    /// The name saved and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overlay => "overlay",
            Self::Fingerprint => "fingerprint",
            Self::None => "none",
        }
    }
}

/// What an auditor session needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenAuditor {
    /// Names the audit in every event of its session.
    pub audit: u64,
    /// The call that waits for it; `None` when the user does.
    pub call_id: Option<String>,
    /// The auditor's model.
    pub model: ModelRef,
    /// Its thinking level; `None` takes the host's.
    pub thinking_level: Option<String>,
    /// The session's own system prompt.
    pub system_prompt: String,
    /// The first prompt.
    pub prompt: String,
    /// How the audit is kept from changing what it judges.
    pub rung: Rung,
    /// Where its seal is joined, if it is sealed.
    pub seal: Option<String>,
}

/// How loud a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// For information.
    Info,
    /// Something stopped, or is not as asked.
    Warning,
    /// Something failed.
    Error,
}

/// A text for the user: what happened, why, what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// How loud.
    pub level: Level,
    /// The text, safe to display.
    pub text: String,
}

/// One line of an offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedWay {
    /// What it does.
    pub way: WayOn,
    /// Its words.
    pub label: String,
}

/// A way on from a goal's stop. Each but the last does what the typed command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WayOn {
    /// `/goal resume`.
    Resume,
    /// `/goal edit`.
    Edit,
    /// `/goal accept`.
    Accept,
    /// `/goal clear`.
    Clear,
    /// Leave it as it is; also the answer of who gives none.
    NotNow,
}

/// An audit in flight, as it stands at the moment of the effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveAudit {
    /// What it is at, in words.
    pub stage: &'static str,
    /// The auditor.
    pub model: ModelRef,
    /// Milliseconds since it began.
    pub elapsed_ms: u64,
    /// Milliseconds it may take; `None` is without a limit.
    pub limit_ms: Option<u64>,
    /// Calls that ended without error.
    pub successes: u32,
    /// All calls that ended.
    pub checks: u32,
    /// The last of them, oldest first.
    pub recent: Vec<CheckRecord>,
    /// The call that runs.
    pub in_flight: Option<String>,
}

/// A goal as a terminal shows it: words, numbers, and clocks that run on by themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoalFacts {
    /// Its colour and symbol.
    pub mood: Mood,
    /// Phase and reason in words.
    pub state: String,
    /// The objective in one safe line; the host cuts it to the terminal's width.
    pub objective: String,
    /// What is counted, most important first; what does not fit is left out from the end.
    pub counts: Vec<String>,
    /// Milliseconds it was pursued, at the moment of the effect. Not compared: a clock that runs
    /// on is no change.
    pub active_ms: u64,
}

/// How a goal stands, as a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    /// A run of it goes on; its clock runs.
    Working,
    /// An audit is in flight; its clock runs.
    Auditing,
    /// It is pursued and nothing runs; its clock runs.
    Waiting,
    /// Found in a session that was opened.
    Held,
    /// Stopped.
    Paused,
}

/// What footer and widget show.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StatusView {
    /// One short line for the footer; `None` clears it.
    pub footer: Option<String>,
    /// At most two lines above the editor, for hosts that take plain text.
    pub widget: Vec<String>,
    /// The same for a terminal; `None` without a goal.
    pub goal: Option<Box<GoalFacts>>,
    /// The goal that is pursued right now, for a restart of the core.
    pub pursued: Option<GoalTag>,
    /// A deadline is open, so the driver's life matters even while the host is idle.
    pub waiting: bool,
}
