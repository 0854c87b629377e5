//! The engine's events as lines of a trace, in both directions. What comes from the host keeps the
//! shape it has on the wire; the rest is the driver's, or has more to it than the wire's event.

use std::borrow::Borrow;

use goal_engine::{
    Command, Event, FileTrouble, HostFacts, Inspection, LastAudit, ModelInfo, Monotonic, Prepared,
    Recovered, Rung, SandboxGate, SessionOpened, SettingRow, Settings, ToolFinished, WayOn,
};
use serde::{Deserialize, Serialize};

use super::wire;
use crate::convert::{
    activity, fingerprint_wire, goal_wire, model_info, model_ref, model_wire, open_cause, tag_wire,
    way_on, way_on_wire,
};
use crate::read::restore;
use crate::{
    ActivityWire, EventWire, FingerprintWire, GoalWire, ModelWire, OpenCauseWire, WayOnWire,
};

/// An event in a trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum EventLine {
    Core(Box<CoreEvent>),
    Host(EventWire),
}

/// Events that are not what the wire calls so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub(super) enum CoreEvent {
    SessionOpened {
        cause: OpenCauseWire,
        branch: BranchLine,
        has_ui: bool,
        terminal: bool,
        model: Option<ModelWire>,
        cwd: Option<String>,
    },
    SettingsRead {
        settings: SettingsLine,
    },
    Command {
        text: String,
        /// What was in the file that the text names.
        file: Option<FileLine>,
        host: HostLine,
    },
    Confirmed {
        ticket: u64,
        yes: bool,
        host: HostLine,
    },
    Edited {
        ticket: u64,
        text: Option<String>,
        host: HostLine,
    },
    Chosen {
        ticket: u64,
        way: WayOnWire,
        host: HostLine,
    },
    ReportWritten {
        written: Told<String>,
    },
    ToolFinished {
        tool: String,
        is_error: bool,
        ours: bool,
        writes: bool,
        ran: bool,
        aborted: bool,
        error: Option<String>,
    },
    AuditPrepared {
        audit: u64,
        prepared: Told<PreparedLine>,
    },
    WorkspaceInspected {
        audit: u64,
        inspection: Told<InspectionLine>,
    },
    SandboxProbed {
        rung: RungLine,
        why: Option<String>,
    },
    Tick,
}

/// What was found out, or why it could not be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Told<T> {
    Ok(T),
    Failed(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BranchLine {
    goal: Option<Box<GoalWire>>,
    audits_ever: u32,
    diagnostics: Vec<String>,
    newer_version: bool,
    last_audit: Option<LastAuditLine>,
    audit_lost: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LastAuditLine {
    outcome: String,
    why: Option<String>,
    model: String,
    successes: u32,
    failure: Option<String>,
    report: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FileLine {
    Text(String),
    NotAFile,
    TooLarge(u64),
    NotText,
    Blank,
    Unreadable(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HostLine {
    activity: ActivityWire,
    has_ui: bool,
    headless: bool,
    model: Option<ModelWire>,
    thinking_level: Option<String>,
    models: Vec<ModelWire>,
    tools_active: bool,
    config_path: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PreparedLine {
    rung: RungLine,
    seal: Option<String>,
    before: Option<FingerprintWire>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InspectionLine {
    after: FingerprintWire,
    changed: Vec<String>,
    forgiven: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RungLine {
    Overlay,
    Fingerprint,
    None,
}

/// The settings the engine works under. `null` of a limit is "off".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SettingsLine {
    provider: Option<String>,
    model: Option<String>,
    thinking_level: Option<String>,
    timeout_ms: Option<u64>,
    idle_timeout_ms: Option<u64>,
    max_empty_continuations: u32,
    max_consecutive_audit_rejections: u32,
    max_continuations: Option<u32>,
    max_audits: Option<u32>,
    sandbox: SandboxLine,
    changed: Vec<String>,
    rows: Vec<RowLine>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SandboxLine {
    mode: String,
    network: String,
    hide: Vec<String>,
    scratch_mb: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RowLine {
    name: String,
    value: String,
    source: String,
}

/// The line of an event.
pub(super) fn line(event: &Event) -> EventLine {
    EventLine::Host(match event {
        Event::SessionLeft => EventWire::SessionLeft,
        Event::ToolsChecked { active } => EventWire::ToolsChecked { active: *active },
        Event::RunStarted => EventWire::RunStarted,
        Event::MessageArrived { tag } => EventWire::MessageArrived {
            tag: tag_wire(tag.clone()),
        },
        Event::UserMessage => EventWire::UserMessage,
        Event::TurnEnded { broken_off } => EventWire::TurnEnded {
            broken_off: *broken_off,
        },
        Event::ToolInvoked(invoked) => wire::tool_invoked(invoked),
        Event::ToolCancelled { call_id } => EventWire::ToolCancelled {
            call_id: call_id.clone(),
        },
        Event::Settling(settling) => wire::settling(settling),
        Event::ProposalTaken { proposal } => EventWire::ProposalTaken {
            proposal: *proposal,
        },
        Event::ProposalYielded { proposal } => EventWire::ProposalYielded {
            proposal: *proposal,
        },
        Event::RunSettled(settled) => wire::run_settled(*settled),
        Event::Interrupt => EventWire::Interrupt,
        Event::CompactionStarted => EventWire::CompactionStarted,
        Event::CompactionEnded(ended) => wire::compaction_ended(*ended),
        Event::ModelSelected { model } => EventWire::ModelSelected {
            model: model.clone().map(model_wire),
        },
        Event::Auditor { audit, event } => EventWire::Auditor {
            audit: *audit,
            event: wire::auditor_event(event),
        },
        Event::SessionOpened(opened) => return core(session_opened_line(opened)),
        Event::SettingsRead(settings) => return core(settings_read_line(settings)),
        Event::Command(command) => return core(command_line(command)),
        Event::Confirmed { ticket, yes, host } => return core(confirmed_line(*ticket, *yes, host)),
        Event::Edited { ticket, text, host } => {
            return core(edited_line(*ticket, text.clone(), host));
        }
        Event::Chosen { ticket, way, host } => return core(chosen_line(*ticket, *way, host)),
        Event::ReportWritten(written) => return core(report_written_line(written)),
        Event::ToolFinished(finished) => return core(tool_finished_line(finished)),
        Event::AuditPrepared { audit, prepared } => return core(prepared_line(*audit, prepared)),
        Event::WorkspaceInspected { audit, inspection } => {
            return core(inspected_line(*audit, inspection));
        }
        Event::SandboxProbed { rung, why } => return core(probed_line(*rung, why.clone())),
        Event::Tick => return core(CoreEvent::Tick),
    })
}

fn core(event: CoreEvent) -> EventLine {
    EventLine::Core(Box::new(event))
}

/// The event of a line; `None` for a line that no event of the engine makes.
pub(super) fn event(line: EventLine) -> Option<Event> {
    match line {
        EventLine::Host(wire) => crate::event(wire, None),
        EventLine::Core(core) => core_event(*core),
    }
}

fn core_event(line: CoreEvent) -> Option<Event> {
    Some(match line {
        CoreEvent::SessionOpened {
            cause,
            branch,
            has_ui,
            terminal,
            model,
            cwd,
        } => Event::SessionOpened(Box::new(SessionOpened {
            cause: open_cause(cause),
            branch: branch_of(branch)?,
            has_ui,
            terminal,
            model: model.map(model_ref),
            cwd,
        })),
        CoreEvent::SettingsRead { settings } => Event::SettingsRead(settings_of(settings)),
        CoreEvent::Command { text, file, host } => Event::Command(Command {
            text,
            file: file.map(file_of),
            host: host_of(host),
        }),
        CoreEvent::Confirmed { ticket, yes, host } => Event::Confirmed {
            ticket,
            yes,
            host: host_of(host),
        },
        CoreEvent::Edited { ticket, text, host } => Event::Edited {
            ticket,
            text,
            host: host_of(host),
        },
        CoreEvent::Chosen { ticket, way, host } => Event::Chosen {
            ticket,
            way: way_on(way),
            host: host_of(host),
        },
        CoreEvent::ReportWritten { written } => Event::ReportWritten(written.into_result(|it| it)),
        finished @ CoreEvent::ToolFinished { .. } => return tool_finished_of(finished),
        CoreEvent::AuditPrepared { audit, prepared } => Event::AuditPrepared {
            audit,
            prepared: prepared.into_result(prepared_of),
        },
        CoreEvent::WorkspaceInspected { audit, inspection } => Event::WorkspaceInspected {
            audit,
            inspection: inspection.into_result(inspection_of),
        },
        CoreEvent::SandboxProbed { rung, why } => Event::SandboxProbed {
            rung: rung_of(rung),
            why,
        },
        CoreEvent::Tick => Event::Tick,
    })
}

impl<T> Told<T> {
    fn of<B: Borrow<F>, F>(found: &Result<B, String>, line: impl FnOnce(&F) -> T) -> Self {
        match found {
            Ok(found) => Self::Ok(line(found.borrow())),
            Err(why) => Self::Failed(why.clone()),
        }
    }

    fn into_result<F>(self, found: impl FnOnce(T) -> F) -> Result<F, String> {
        match self {
            Self::Ok(line) => Ok(found(line)),
            Self::Failed(why) => Err(why),
        }
    }
}

fn session_opened_line(opened: &SessionOpened) -> CoreEvent {
    CoreEvent::SessionOpened {
        cause: wire::open_cause(&opened.cause),
        branch: branch_line(&opened.branch),
        has_ui: opened.has_ui,
        terminal: opened.terminal,
        model: opened.model.clone().map(model_wire),
        cwd: opened.cwd.clone(),
    }
}

fn branch_line(branch: &Recovered) -> BranchLine {
    // A goal read from a branch is not pursued, so its time stands still.
    let goal = branch.goal.as_ref();
    let goal = goal.map(|goal| Box::new(goal_wire(goal, goal.active_ms(Monotonic(0)))));
    BranchLine {
        goal,
        audits_ever: branch.audits_ever,
        diagnostics: branch.diagnostics.clone(),
        newer_version: branch.newer_version,
        last_audit: branch.last_audit.as_ref().map(last_audit_line),
        audit_lost: branch.audit_lost,
    }
}

fn branch_of(line: BranchLine) -> Option<Recovered> {
    let goal = match line.goal {
        Some(saved) => Some(restore(*saved)?),
        None => None,
    };
    Some(Recovered {
        goal,
        audits_ever: line.audits_ever,
        diagnostics: line.diagnostics,
        newer_version: line.newer_version,
        last_audit: line.last_audit.map(last_audit_of),
        audit_lost: line.audit_lost,
    })
}

fn last_audit_line(audit: &LastAudit) -> LastAuditLine {
    LastAuditLine {
        outcome: audit.outcome.clone(),
        why: audit.why.clone(),
        model: audit.model.clone(),
        successes: audit.successes,
        failure: audit.failure.clone(),
        report: audit.report.clone(),
    }
}

fn last_audit_of(line: LastAuditLine) -> LastAudit {
    LastAudit {
        outcome: line.outcome,
        why: line.why,
        model: line.model,
        successes: line.successes,
        failure: line.failure,
        report: line.report,
    }
}

fn command_line(command: &Command) -> CoreEvent {
    CoreEvent::Command {
        text: command.text.clone(),
        file: command.file.as_ref().map(file_line),
        host: host_line(&command.host),
    }
}

fn confirmed_line(ticket: u64, yes: bool, host: &HostFacts) -> CoreEvent {
    CoreEvent::Confirmed {
        ticket,
        yes,
        host: host_line(host),
    }
}

fn edited_line(ticket: u64, text: Option<String>, host: &HostFacts) -> CoreEvent {
    CoreEvent::Edited {
        ticket,
        text,
        host: host_line(host),
    }
}

fn chosen_line(ticket: u64, way: WayOn, host: &HostFacts) -> CoreEvent {
    CoreEvent::Chosen {
        ticket,
        way: way_on_wire(way),
        host: host_line(host),
    }
}

fn file_line(file: &Result<String, FileTrouble>) -> FileLine {
    match file {
        Ok(text) => FileLine::Text(text.clone()),
        Err(FileTrouble::NotAFile) => FileLine::NotAFile,
        Err(FileTrouble::TooLarge(bytes)) => FileLine::TooLarge(*bytes),
        Err(FileTrouble::NotText) => FileLine::NotText,
        Err(FileTrouble::Blank) => FileLine::Blank,
        Err(FileTrouble::Unreadable(why)) => FileLine::Unreadable(why.clone()),
    }
}

fn file_of(line: FileLine) -> Result<String, FileTrouble> {
    Err(match line {
        FileLine::Text(text) => return Ok(text),
        FileLine::NotAFile => FileTrouble::NotAFile,
        FileLine::TooLarge(bytes) => FileTrouble::TooLarge(bytes),
        FileLine::NotText => FileTrouble::NotText,
        FileLine::Blank => FileTrouble::Blank,
        FileLine::Unreadable(why) => FileTrouble::Unreadable(why),
    })
}

fn host_line(host: &HostFacts) -> HostLine {
    HostLine {
        activity: wire::activity(host.activity),
        has_ui: host.has_ui,
        headless: host.headless,
        model: host.model.clone().map(model_wire),
        thinking_level: host.thinking_level.clone(),
        models: host.models.iter().map(model_line).collect(),
        tools_active: host.tools_active,
        config_path: host.config_path.clone(),
    }
}

fn host_of(line: HostLine) -> HostFacts {
    HostFacts {
        activity: activity(line.activity),
        has_ui: line.has_ui,
        headless: line.headless,
        model: line.model.map(model_ref),
        thinking_level: line.thinking_level,
        models: line.models.into_iter().map(model_info).collect(),
        tools_active: line.tools_active,
        config_path: line.config_path,
    }
}

fn model_line(info: &ModelInfo) -> ModelWire {
    ModelWire {
        name: Some(info.name.clone()),
        ..model_wire(info.model.clone())
    }
}

fn report_written_line(written: &Result<String, String>) -> CoreEvent {
    CoreEvent::ReportWritten {
        written: Told::of(written, String::clone),
    }
}

fn tool_finished_line(finished: &ToolFinished) -> CoreEvent {
    CoreEvent::ToolFinished {
        tool: finished.tool.clone(),
        is_error: finished.is_error,
        ours: finished.ours,
        writes: finished.writes,
        ran: finished.ran,
        aborted: finished.aborted,
        error: finished.error.clone(),
    }
}

fn tool_finished_of(line: CoreEvent) -> Option<Event> {
    let CoreEvent::ToolFinished {
        tool,
        is_error,
        ours,
        writes,
        ran,
        aborted,
        error,
    } = line
    else {
        return None;
    };
    Some(Event::ToolFinished(ToolFinished {
        tool,
        is_error,
        ours,
        writes,
        ran,
        aborted,
        error,
    }))
}

fn prepared_line(audit: u64, prepared: &Result<Box<Prepared>, String>) -> CoreEvent {
    let line = |prepared: &Prepared| PreparedLine {
        rung: rung_line(prepared.rung),
        seal: prepared.seal.clone(),
        before: prepared.before.clone().map(fingerprint_wire),
    };
    CoreEvent::AuditPrepared {
        audit,
        prepared: Told::of(prepared, line),
    }
}

fn prepared_of(line: PreparedLine) -> Box<Prepared> {
    Box::new(Prepared {
        rung: rung_of(line.rung),
        seal: line.seal,
        before: line.before.map(wire::fingerprint),
    })
}

fn inspected_line(audit: u64, inspection: &Result<Box<Inspection>, String>) -> CoreEvent {
    let line = |inspection: &Inspection| InspectionLine {
        after: fingerprint_wire(inspection.after.clone()),
        changed: inspection.changed.clone(),
        forgiven: inspection.forgiven.clone(),
    };
    CoreEvent::WorkspaceInspected {
        audit,
        inspection: Told::of(inspection, line),
    }
}

fn inspection_of(line: InspectionLine) -> Box<Inspection> {
    Box::new(Inspection {
        after: wire::fingerprint(line.after),
        changed: line.changed,
        forgiven: line.forgiven,
    })
}

const fn probed_line(rung: Rung, why: Option<String>) -> CoreEvent {
    CoreEvent::SandboxProbed {
        rung: rung_line(rung),
        why,
    }
}

const fn rung_line(rung: Rung) -> RungLine {
    match rung {
        Rung::Overlay => RungLine::Overlay,
        Rung::Fingerprint => RungLine::Fingerprint,
        Rung::None => RungLine::None,
    }
}

const fn rung_of(line: RungLine) -> Rung {
    match line {
        RungLine::Overlay => Rung::Overlay,
        RungLine::Fingerprint => Rung::Fingerprint,
        RungLine::None => Rung::None,
    }
}

fn settings_read_line(settings: &Settings) -> CoreEvent {
    CoreEvent::SettingsRead {
        settings: settings_line(settings),
    }
}

pub(super) fn settings_line(settings: &Settings) -> SettingsLine {
    SettingsLine {
        provider: settings.provider.clone(),
        model: settings.model.clone(),
        thinking_level: settings.thinking_level.clone(),
        timeout_ms: settings.timeout_ms,
        idle_timeout_ms: settings.idle_timeout_ms,
        max_empty_continuations: settings.max_empty_continuations,
        max_consecutive_audit_rejections: settings.max_consecutive_audit_rejections,
        max_continuations: settings.max_continuations,
        max_audits: settings.max_audits,
        sandbox: sandbox_line(&settings.sandbox),
        changed: settings.changed.clone(),
        rows: settings.rows.iter().map(row_line).collect(),
    }
}

pub(super) fn settings_of(line: SettingsLine) -> Settings {
    let row = |row: RowLine| SettingRow {
        name: row.name,
        value: row.value,
        source: row.source,
    };
    Settings {
        provider: line.provider,
        model: line.model,
        thinking_level: line.thinking_level,
        timeout_ms: line.timeout_ms,
        idle_timeout_ms: line.idle_timeout_ms,
        max_empty_continuations: line.max_empty_continuations,
        max_consecutive_audit_rejections: line.max_consecutive_audit_rejections,
        max_continuations: line.max_continuations,
        max_audits: line.max_audits,
        sandbox: SandboxGate {
            mode: line.sandbox.mode,
            network: line.sandbox.network,
            hide: line.sandbox.hide,
            scratch_mb: line.sandbox.scratch_mb,
        },
        changed: line.changed,
        rows: line.rows.into_iter().map(row).collect(),
    }
}

pub(super) fn sandbox_line(sandbox: &SandboxGate) -> SandboxLine {
    SandboxLine {
        mode: sandbox.mode.clone(),
        network: sandbox.network.clone(),
        hide: sandbox.hide.clone(),
        scratch_mb: sandbox.scratch_mb,
    }
}

fn row_line(row: &SettingRow) -> RowLine {
    RowLine {
        name: row.name.clone(),
        value: row.value.clone(),
        source: row.source.clone(),
    }
}
