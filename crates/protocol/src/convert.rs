//! The wire's types and the engine's, by hand in both directions where both are needed. A match
//! without `_` makes a forgotten variant a build error.

use goal_engine::{
    Activity, Answer, AuditDetails, AuditRecord, AuditorEvent, CheckRecord, Command,
    CompactionEnded, CoreRestart, Effect, Event, Gate, Goal, GoalFacts, GoalMessage, GoalTag,
    GoalTool, HostFacts, Level, LiveAudit, MessageDetails, ModelInfo, ModelRef, Mood, Notice,
    OfferedWay, OpenAuditor, OpenCause, OpenFailure, Phase, Proposal, RunSettled, SandboxGate,
    SavedGoal, SessionOpened, Settling, StatusView, StopKind, ToolAnswer, ToolFinished,
    ToolInvoked, Totals, Usage, WayOn, WorkspaceSummary,
};

use crate::read::read_branch;
use crate::{
    ActivityWire, AuditDetailsWire, AuditWire, AuditorEventWire, CheckWire, CostWire, EffectWire,
    EntryWire, EventWire, FingerprintWire, GateWire, GoalFactsWire, GoalToolWire, GoalWire,
    HostWire, LevelWire, LiveAuditWire, MessageDetailsWire, MessageWire, ModelWire, MoodWire,
    OfferedWayWire, OpenCauseWire, OpenFailureWire, SAVED_VERSION, StopWire, TagWire, TotalsWire,
    UsageWire, WayOnWire,
};

/// Names of our tools on the host.
const OUR_TOOLS: [&str; 2] = ["get_goal", "update_goal"];
/// The host's tools that write files.
const WRITING_TOOLS: [&str; 2] = ["write", "edit"];

/// The engine's event for a line; `None` for the lines that are about the wire itself.
///
/// `config_path` is the settings file that is read, which the core knows and the shim does not.
#[must_use]
pub fn event(wire: EventWire, config_path: Option<&str>) -> Option<Event> {
    Some(match wire {
        EventWire::Hello { .. } | EventWire::Ping | EventWire::AuditorClosed { .. } => return None,
        wire @ EventWire::SessionOpened { .. } => return session_opened(wire),
        EventWire::SessionLeft => Event::SessionLeft,
        EventWire::Command { text, host } => Event::Command(Command {
            text,
            file: None, // The driver reads it.
            host: host_facts(host, config_path),
        }),
        EventWire::Confirmed { ticket, yes, host } => Event::Confirmed {
            ticket,
            yes,
            host: host_facts(host, config_path),
        },
        EventWire::Edited { ticket, text, host } => Event::Edited {
            ticket,
            text,
            host: host_facts(host, config_path),
        },
        EventWire::Chosen { ticket, way, host } => Event::Chosen {
            ticket,
            way: way_on(way),
            host: host_facts(host, config_path),
        },
        EventWire::ToolsChecked { active } => Event::ToolsChecked { active },
        EventWire::RunStarted => Event::RunStarted,
        EventWire::MessageArrived { tag } => Event::MessageArrived { tag: tag_of(tag) },
        EventWire::UserMessage => Event::UserMessage,
        EventWire::TurnEnded { broken_off } => Event::TurnEnded { broken_off },
        wire @ EventWire::ToolFinished { .. } => return tool_finished(wire),
        wire @ EventWire::ToolInvoked { .. } => return tool_invoked(wire),
        EventWire::ToolCancelled { call_id } => Event::ToolCancelled { call_id },
        wire @ EventWire::Settling { .. } => return settling(wire),
        EventWire::ProposalTaken { proposal } => Event::ProposalTaken { proposal },
        EventWire::ProposalYielded { proposal } => Event::ProposalYielded { proposal },
        EventWire::RunSettled {
            aborted,
            by_us,
            start_pending,
            full_message_present,
        } => Event::RunSettled(RunSettled {
            aborted,
            by_us,
            start_pending,
            full_message_present,
        }),
        EventWire::Interrupt => Event::Interrupt,
        EventWire::CompactionStarted => Event::CompactionStarted,
        EventWire::CompactionEnded {
            cancelled,
            run_goes_on,
            idle,
            full_message_present,
        } => Event::CompactionEnded(CompactionEnded {
            cancelled,
            run_goes_on,
            idle,
            full_message_present,
        }),
        EventWire::ModelSelected { model } => Event::ModelSelected {
            model: model.map(model_ref),
        },
        EventWire::Auditor { audit, event } => Event::Auditor {
            audit,
            event: auditor_event(event),
        },
    })
}

fn session_opened(wire: EventWire) -> Option<Event> {
    let EventWire::SessionOpened {
        cause,
        records,
        audit_lost,
        has_ui,
        terminal,
        model,
        cwd,
    } = wire
    else {
        return None;
    };
    let mut branch = read_branch(&records);
    branch.audit_lost = audit_lost;
    Some(Event::SessionOpened(Box::new(SessionOpened {
        cause: open_cause(cause),
        branch,
        has_ui,
        terminal,
        model: model.map(model_ref),
        cwd,
    })))
}

fn tool_finished(wire: EventWire) -> Option<Event> {
    let EventWire::ToolFinished {
        tool,
        is_error,
        ran,
        aborted,
        error,
    } = wire
    else {
        return None;
    };
    Some(Event::ToolFinished(ToolFinished {
        ours: OUR_TOOLS.contains(&tool.as_str()),
        writes: WRITING_TOOLS.contains(&tool.as_str()),
        tool,
        is_error,
        ran,
        aborted,
        error,
    }))
}

fn tool_invoked(wire: EventWire) -> Option<Event> {
    let EventWire::ToolInvoked {
        call_id,
        tool,
        status,
        summary,
        turn,
        cwd,
    } = wire
    else {
        return None;
    };
    let tool = goal_tool(tool);
    Some(Event::ToolInvoked(ToolInvoked {
        call_id,
        tool,
        status,
        summary,
        turn,
        cwd,
    }))
}

fn settling(wire: EventWire) -> Option<Event> {
    let EventWire::Settling {
        failed,
        provider_aborted,
        error,
        final_text,
        tools_active,
        full_message_present,
    } = wire
    else {
        return None;
    };
    Some(Event::Settling(Settling {
        failed,
        provider_aborted,
        error,
        final_text,
        tools_active,
        full_message_present,
    }))
}

/// What an engine's effect is on the wire; `None` for what the driver does by itself.
#[must_use]
pub fn effect(effect: Effect) -> Option<EffectWire> {
    Some(match effect {
        Effect::PrepareAudit(_) | Effect::InspectWorkspace { .. } | Effect::WriteReport { .. } => {
            return None;
        }
        Effect::SaveGoal(saved) => EffectWire::SaveEntry {
            entry: goal_entry(saved),
        },
        Effect::SaveAudit(record) => EffectWire::SaveEntry {
            entry: audit_entry(*record),
        },
        Effect::StartRun(message) => EffectWire::StartRun {
            message: message_wire(message),
        },
        Effect::Propose(proposal) => propose(proposal),
        Effect::SendInRun(message) => EffectWire::SendInRun {
            message: message_wire(message),
        },
        Effect::EndRun => EffectWire::EndRun,
        Effect::ActivateTools => EffectWire::ActivateTools,
        Effect::FinishTool(answer) => finish_tool(*answer),
        Effect::Progress {
            call_id,
            text,
            live,
        } => progress(call_id, text, *live),
        Effect::CountUsage { model, usage } => count_usage(model, usage),
        Effect::OpenAuditor(open) => open_auditor(*open),
        Effect::PromptAuditor { audit, text } => EffectWire::PromptAuditor { audit, text },
        Effect::CloseAuditor { audit } => EffectWire::CloseAuditor { audit },
        Effect::Notify(Notice { level, text }) => EffectWire::Notify {
            level: level_wire(level),
            text,
        },
        Effect::Reply(Notice { level, text }) => EffectWire::Reply {
            level: level_wire(level),
            text,
        },
        Effect::ShowStatus(view) => show_status(view),
        Effect::Confirm {
            ticket,
            title,
            message,
        } => confirm(ticket, title, message),
        Effect::Edit {
            ticket,
            title,
            text,
        } => edit(ticket, title, text),
        Effect::Offer {
            ticket,
            title,
            options,
        } => offer(ticket, title, options),
        Effect::Withdraw { ticket } => EffectWire::Withdraw { ticket },
        Effect::Ring => EffectWire::Ring,
        Effect::RestoreInput { text } => EffectWire::RestoreInput { text },
        Effect::Release {
            approved,
            reason,
            report,
        } => release(approved, reason, report),
    })
}

fn progress(call_id: Option<String>, text: String, live: LiveAudit) -> EffectWire {
    EffectWire::Progress {
        call_id,
        text,
        live: live_wire(live),
    }
}

fn count_usage(model: ModelRef, usage: Usage) -> EffectWire {
    EffectWire::CountUsage {
        model: model_wire(model),
        usage: usage_wire(usage),
    }
}

const fn confirm(ticket: u64, title: String, message: String) -> EffectWire {
    EffectWire::Confirm {
        ticket,
        title,
        message,
    }
}

const fn edit(ticket: u64, title: String, text: String) -> EffectWire {
    EffectWire::Edit {
        ticket,
        title,
        text,
    }
}

const fn release(approved: bool, reason: Option<String>, report: bool) -> EffectWire {
    EffectWire::Release {
        approved,
        reason,
        report,
    }
}

fn offer(ticket: u64, title: String, options: Vec<OfferedWay>) -> EffectWire {
    EffectWire::Offer {
        ticket,
        title,
        options: options.into_iter().map(offered_way_wire).collect(),
    }
}

fn offered_way_wire(offered: OfferedWay) -> OfferedWayWire {
    OfferedWayWire {
        way: way_on_wire(offered.way),
        label: offered.label,
    }
}

pub(crate) const fn way_on_wire(way: WayOn) -> WayOnWire {
    match way {
        WayOn::Resume => WayOnWire::Resume,
        WayOn::Edit => WayOnWire::Edit,
        WayOn::Accept => WayOnWire::Accept,
        WayOn::Clear => WayOnWire::Clear,
        WayOn::NotNow => WayOnWire::NotNow,
    }
}

pub(crate) const fn way_on(wire: WayOnWire) -> WayOn {
    match wire {
        WayOnWire::Resume => WayOn::Resume,
        WayOnWire::Edit => WayOn::Edit,
        WayOnWire::Accept => WayOn::Accept,
        WayOnWire::Clear => WayOn::Clear,
        WayOnWire::NotNow => WayOn::NotNow,
    }
}

fn finish_tool(answer: ToolAnswer) -> EffectWire {
    EffectWire::FinishTool {
        call_id: answer.call_id,
        text: answer.text,
        is_error: answer.is_error,
        ends_run: answer.ends_run,
        details: answer.audit.map(details_wire),
        usage: answer.usage.map(usage_wire),
    }
}

fn open_auditor(open: OpenAuditor) -> EffectWire {
    EffectWire::OpenAuditor {
        audit: open.audit,
        call_id: open.call_id,
        model: model_wire(open.model),
        thinking_level: open.thinking_level,
        system_prompt: open.system_prompt,
        prompt: open.prompt,
        seal: open.seal,
    }
}

fn show_status(view: StatusView) -> EffectWire {
    EffectWire::ShowStatus {
        footer: view.footer,
        widget: view.widget,
        goal: view.goal.map(|facts| facts_wire(*facts)),
        pursued: view.pursued.map(tag_wire),
        waiting: view.waiting,
    }
}

pub(crate) fn open_cause(wire: OpenCauseWire) -> OpenCause {
    match wire {
        OpenCauseWire::Start => OpenCause::Start,
        OpenCauseWire::Tree => OpenCause::Tree,
        OpenCauseWire::CoreRestart {
            pursued,
            recent_losses,
            audit_lost,
            running,
            full_message_present,
            headless,
            stopped,
        } => OpenCause::CoreRestart(CoreRestart {
            pursued: pursued.map(tag_of),
            recent_losses,
            audit_lost,
            running,
            full_message_present,
            headless,
            stopped,
        }),
    }
}

fn host_facts(wire: HostWire, config_path: Option<&str>) -> HostFacts {
    HostFacts {
        activity: activity(wire.activity),
        has_ui: wire.has_ui,
        headless: wire.headless,
        model: wire.model.map(model_ref),
        thinking_level: wire.thinking_level,
        models: wire.models.into_iter().map(model_info).collect(),
        tools_active: wire.tools_active,
        config_path: config_path.map(str::to_owned),
    }
}

pub(crate) const fn activity(wire: ActivityWire) -> Activity {
    match wire {
        ActivityWire::Idle => Activity::Idle,
        ActivityWire::Running => Activity::Running,
        ActivityWire::Compacting => Activity::Compacting,
    }
}

pub(crate) fn model_ref(wire: ModelWire) -> ModelRef {
    ModelRef {
        provider: wire.provider,
        id: wire.id,
    }
}

pub(crate) fn model_info(mut wire: ModelWire) -> ModelInfo {
    let name = wire.name.take().unwrap_or_else(|| wire.id.clone());
    ModelInfo {
        model: model_ref(wire),
        name,
    }
}

pub(crate) fn model_wire(model: ModelRef) -> ModelWire {
    ModelWire {
        provider: model.provider,
        id: model.id,
        name: None,
    }
}

const fn goal_tool(wire: GoalToolWire) -> GoalTool {
    match wire {
        GoalToolWire::GetGoal => GoalTool::GetGoal,
        GoalToolWire::UpdateGoal => GoalTool::UpdateGoal,
    }
}

fn auditor_event(wire: AuditorEventWire) -> AuditorEvent {
    match wire {
        AuditorEventWire::Opened => AuditorEvent::Opened,
        AuditorEventWire::OpenFailed { kind, message } => AuditorEvent::OpenFailed {
            kind: open_failure(kind),
            message,
        },
        AuditorEventWire::Output => AuditorEvent::Output,
        AuditorEventWire::AnswerEnded {
            text,
            stop,
            error,
            usage,
        } => AuditorEvent::AnswerEnded(Answer {
            text,
            stop: stop_kind(stop),
            error,
            usage: usage_of(usage),
        }),
        AuditorEventWire::ToolStarted {
            call_id,
            tool,
            args,
        } => AuditorEvent::ToolStarted {
            call_id,
            tool,
            args,
        },
        AuditorEventWire::ToolFinished {
            call_id,
            tool,
            ok,
            ms,
        } => AuditorEvent::ToolFinished {
            call_id,
            tool,
            ok,
            ms,
        },
        AuditorEventWire::CompactionStarted => AuditorEvent::CompactionStarted,
        AuditorEventWire::CompactionEnded { usage } => AuditorEvent::CompactionEnded {
            usage: usage_of(usage),
        },
        AuditorEventWire::RetryStarted => AuditorEvent::RetryStarted,
        AuditorEventWire::RetryEnded => AuditorEvent::RetryEnded,
        AuditorEventWire::Rested => AuditorEvent::Rested,
        AuditorEventWire::Broke { message } => AuditorEvent::Broke { message },
    }
}

const fn open_failure(wire: OpenFailureWire) -> OpenFailure {
    match wire {
        OpenFailureWire::MissingCredentials => OpenFailure::MissingCredentials,
        OpenFailureWire::MissingModel => OpenFailure::MissingModel,
        OpenFailureWire::Session => OpenFailure::Session,
    }
}

const fn stop_kind(wire: StopWire) -> StopKind {
    match wire {
        StopWire::Stop => StopKind::Stop,
        StopWire::ToolUse => StopKind::ToolUse,
        StopWire::Length => StopKind::Length,
        StopWire::Error => StopKind::Error,
        StopWire::Aborted => StopKind::Aborted,
    }
}

const fn level_wire(level: Level) -> LevelWire {
    match level {
        Level::Info => LevelWire::Info,
        Level::Warning => LevelWire::Warning,
        Level::Error => LevelWire::Error,
    }
}

pub(crate) fn tag_of(TagWire { id, generation }: TagWire) -> GoalTag {
    GoalTag { id, generation }
}

pub(crate) fn tag_wire(tag: GoalTag) -> TagWire {
    TagWire {
        id: tag.id,
        generation: tag.generation,
    }
}

const fn usage_of(wire: UsageWire) -> Usage {
    Usage {
        input: wire.input,
        output: wire.output,
        cache_read: wire.cache_read,
        cache_write: wire.cache_write,
        total_tokens: wire.total_tokens,
        cost_input: wire.cost.input,
        cost_output: wire.cost.output,
        cost_cache_read: wire.cost.cache_read,
        cost_cache_write: wire.cost.cache_write,
        cost_total: wire.cost.total,
    }
}

pub(crate) const fn usage_wire(usage: Usage) -> UsageWire {
    UsageWire {
        input: usage.input,
        output: usage.output,
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
        total_tokens: usage.total_tokens,
        cost: CostWire {
            input: usage.cost_input,
            output: usage.cost_output,
            cache_read: usage.cost_cache_read,
            cache_write: usage.cost_cache_write,
            total: usage.cost_total,
        },
    }
}

fn propose(proposal: Proposal) -> EffectWire {
    EffectWire::Propose {
        proposal: proposal.number,
        message: proposal.message.map(message_wire),
        effects: proposal.effects.into_iter().filter_map(effect).collect(),
    }
}

fn message_wire(message: GoalMessage) -> MessageWire {
    let MessageDetails {
        tag,
        seq,
        full,
        totals,
        active_ms,
    } = message.details;
    MessageWire {
        content: message.text,
        details: MessageDetailsWire {
            v: SAVED_VERSION,
            kind: "continuation".to_owned(),
            goal_id: tag.id,
            generation: tag.generation,
            seq,
            full,
            totals: totals_wire(&totals, active_ms),
        },
    }
}

fn goal_entry(saved: SavedGoal) -> EntryWire {
    match saved {
        SavedGoal::Present { goal, active_ms } => EntryWire::Goal {
            v: SAVED_VERSION,
            goal: Some(Box::new(goal_wire(&goal, active_ms))),
            goal_id: None,
            ended: None,
        },
        SavedGoal::Gone { id, ended } => EntryWire::Goal {
            v: SAVED_VERSION,
            goal: None,
            goal_id: Some(id),
            ended: Some(ended.name().to_owned()),
        },
    }
}

pub(crate) fn goal_wire(goal: &Goal, active_ms: u64) -> GoalWire {
    let stop = match goal.phase() {
        Phase::Paused(stop) => Some(stop),
        Phase::Pursuing | Phase::Held => None,
    };
    GoalWire {
        id: goal.id().to_owned(),
        generation: goal.generation(),
        objective: goal.objective().to_owned(),
        phase: goal.phase().name().to_owned(),
        pause_reason: stop.map(|stop| stop.reason.name().to_owned()),
        pause_kind: stop.and_then(|stop| stop.reason.kind().map(str::to_owned)),
        pause_detail: stop.and_then(|stop| stop.detail.clone()),
        created_at: goal.created_at().0,
        totals: totals_wire(&goal.totals, active_ms),
        last_objection: goal.last_objection.clone(),
        gate: gate_wire(goal.gate()),
    }
}

fn totals_wire(totals: &Totals, active_ms: u64) -> TotalsWire {
    TotalsWire {
        active_ms,
        continuations: totals.continuations,
        audits: totals.audits,
        empty_streak: totals.empty_streak,
        errored_streak: totals.errored_streak,
        repeat_streak: totals.repeat_streak,
        rejection_streak: totals.rejection_streak,
        failure_streak: totals.failure_streak,
        refusal_streak: totals.refusal_streak,
        repeat_wrote: totals.repeat_wrote,
        last_text: totals.last_text.map(|hash| hash.to_string()),
        last_refusal: totals.last_refusal.map(|hash| hash.to_string()),
    }
}

pub(crate) fn gate_wire(gate: &Gate) -> GateWire {
    GateWire {
        provider: gate.model.provider.clone(),
        model: gate.model.id.clone(),
        thinking_level: gate.thinking_level.clone(),
        timeout_ms: gate.timeout_ms.unwrap_or(0),
        idle_timeout_ms: gate.idle_timeout_ms.unwrap_or(0),
        max_empty_continuations: gate.max_empty_continuations,
        max_consecutive_audit_rejections: gate.max_consecutive_audit_rejections,
        max_continuations: gate.max_continuations.unwrap_or(0),
        own_limit: gate.own_limit,
        max_audits: gate.max_audits.unwrap_or(0),
        sandbox: gate.sandbox.mode.clone(),
        sandbox_network: gate.sandbox.network.clone(),
        sandbox_hide: gate.sandbox.hide.clone(),
        sandbox_scratch_mb: gate.sandbox.scratch_mb,
    }
}

pub(crate) fn gate_of(wire: GateWire) -> Gate {
    Gate {
        model: ModelRef {
            provider: wire.provider,
            id: wire.model,
        },
        thinking_level: wire.thinking_level,
        timeout_ms: some_unless_zero(wire.timeout_ms),
        idle_timeout_ms: some_unless_zero(wire.idle_timeout_ms),
        max_empty_continuations: wire.max_empty_continuations,
        max_consecutive_audit_rejections: wire.max_consecutive_audit_rejections,
        max_continuations: some_unless_zero(wire.max_continuations),
        own_limit: wire.own_limit,
        max_audits: some_unless_zero(wire.max_audits),
        sandbox: SandboxGate {
            mode: wire.sandbox,
            network: wire.sandbox_network,
            hide: wire.sandbox_hide,
            scratch_mb: wire.sandbox_scratch_mb,
        },
    }
}

/// In files and settings `0` means "off"; inside the core that is `None`.
pub fn some_unless_zero<N: Default + PartialEq>(limit: N) -> Option<N> {
    (limit != N::default()).then_some(limit)
}

fn audit_entry(record: AuditRecord) -> EntryWire {
    let details = details_wire(record.details);
    EntryWire::Audit {
        v: SAVED_VERSION,
        audit: Box::new(AuditWire {
            goal_id: record.tag.id,
            generation: record.tag.generation,
            number: record.number,
            by_user: record.by_user,
            outcome: details.outcome,
            why: details.why,
            failure: record.failure,
            model: details.model,
            thinking_level: record.thinking_level,
            checks: details.checks,
            attempts: record.attempts,
            usage: usage_wire(record.usage),
            started_at: record.started_at.0,
            duration_ms: details.duration_ms,
            rung: details.rung,
            before: record.before.map(fingerprint_wire),
            after: record.after.map(fingerprint_wire),
            gate: gate_wire(&record.gate),
            report: details.report,
        }),
    }
}

fn details_wire(details: AuditDetails) -> AuditDetailsWire {
    AuditDetailsWire {
        outcome: details.outcome.name().to_owned(),
        why: details.outcome.why().map(str::to_owned),
        model: details.model.to_string(),
        checks: details.checks.into_iter().map(check_wire).collect(),
        duration_ms: details.duration_ms,
        report: details.report,
        rung: details.rung.name().to_owned(),
        paused: details.paused,
    }
}

pub(crate) fn fingerprint_wire(summary: WorkspaceSummary) -> FingerprintWire {
    FingerprintWire {
        digest: summary.digest,
        files: summary.files,
        bytes: summary.bytes,
        commit: summary.commit,
        repositories: summary.repositories,
        rules: summary.rules,
        parts: summary.parts,
    }
}

fn live_wire(live: LiveAudit) -> LiveAuditWire {
    LiveAuditWire {
        stage: live.stage.to_owned(),
        model: live.model.to_string(),
        elapsed_ms: live.elapsed_ms,
        limit_ms: live.limit_ms,
        successes: live.successes,
        checks: live.checks,
        recent: live.recent.into_iter().map(check_wire).collect(),
        in_flight: live.in_flight,
    }
}

fn facts_wire(facts: GoalFacts) -> GoalFactsWire {
    GoalFactsWire {
        mood: match facts.mood {
            Mood::Working => MoodWire::Working,
            Mood::Auditing => MoodWire::Auditing,
            Mood::Waiting => MoodWire::Waiting,
            Mood::Held => MoodWire::Held,
            Mood::Paused => MoodWire::Paused,
        },
        state: facts.state,
        objective: facts.objective,
        counts: facts.counts,
        active_ms: facts.active_ms,
    }
}

fn check_wire(check: CheckRecord) -> CheckWire {
    CheckWire {
        tool: check.tool,
        args: check.args,
        ok: check.ok,
        ms: check.ms,
    }
}
