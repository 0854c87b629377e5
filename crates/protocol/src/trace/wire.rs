//! What the host tells, back in the shape it has on the wire.

use goal_engine::{
    Activity, Answer, AuditorEvent, CompactionEnded, CoreRestart, GoalTool, OpenCause, OpenFailure,
    RunSettled, Settling, StopKind, ToolInvoked, WorkspaceSummary,
};

use crate::convert::{tag_wire, usage_wire};
use crate::{
    ActivityWire, AuditorEventWire, EventWire, FingerprintWire, GoalToolWire, OpenCauseWire,
    OpenFailureWire, StopWire,
};

pub(super) fn tool_invoked(invoked: &ToolInvoked) -> EventWire {
    EventWire::ToolInvoked {
        call_id: invoked.call_id.clone(),
        tool: match invoked.tool {
            GoalTool::GetGoal => GoalToolWire::GetGoal,
            GoalTool::UpdateGoal => GoalToolWire::UpdateGoal,
        },
        status: invoked.status.clone(),
        summary: invoked.summary.clone(),
        turn: invoked.turn,
        cwd: invoked.cwd.clone(),
    }
}

pub(super) fn settling(settling: &Settling) -> EventWire {
    EventWire::Settling {
        failed: settling.failed,
        provider_aborted: settling.provider_aborted,
        error: settling.error.clone(),
        final_text: settling.final_text.clone(),
        tools_active: settling.tools_active,
        full_message_present: settling.full_message_present,
    }
}

pub(super) const fn run_settled(settled: RunSettled) -> EventWire {
    EventWire::RunSettled {
        aborted: settled.aborted,
        by_us: settled.by_us,
        start_pending: settled.start_pending,
        full_message_present: settled.full_message_present,
    }
}

pub(super) const fn compaction_ended(ended: CompactionEnded) -> EventWire {
    EventWire::CompactionEnded {
        cancelled: ended.cancelled,
        run_goes_on: ended.run_goes_on,
        idle: ended.idle,
        full_message_present: ended.full_message_present,
    }
}

pub(super) fn open_cause(cause: &OpenCause) -> OpenCauseWire {
    match cause {
        OpenCause::Start => OpenCauseWire::Start,
        OpenCause::Tree => OpenCauseWire::Tree,
        OpenCause::CoreRestart(CoreRestart {
            pursued,
            recent_losses,
            audit_lost,
            running,
            full_message_present,
            headless,
            stopped,
        }) => OpenCauseWire::CoreRestart {
            pursued: pursued.clone().map(tag_wire),
            recent_losses: *recent_losses,
            audit_lost: *audit_lost,
            running: *running,
            full_message_present: *full_message_present,
            headless: *headless,
            stopped: *stopped,
        },
    }
}

pub(super) const fn activity(activity: Activity) -> ActivityWire {
    match activity {
        Activity::Idle => ActivityWire::Idle,
        Activity::Running => ActivityWire::Running,
        Activity::Compacting => ActivityWire::Compacting,
    }
}

pub(super) fn fingerprint(wire: FingerprintWire) -> WorkspaceSummary {
    WorkspaceSummary {
        digest: wire.digest,
        files: wire.files,
        bytes: wire.bytes,
        commit: wire.commit,
        repositories: wire.repositories,
        rules: wire.rules,
        parts: wire.parts,
    }
}

pub(super) fn auditor_event(event: &AuditorEvent) -> AuditorEventWire {
    match event {
        AuditorEvent::Opened => AuditorEventWire::Opened,
        AuditorEvent::OpenFailed { kind, message } => AuditorEventWire::OpenFailed {
            kind: open_failure(*kind),
            message: message.clone(),
        },
        AuditorEvent::Output => AuditorEventWire::Output,
        AuditorEvent::AnswerEnded(answer) => answer_ended(answer),
        AuditorEvent::ToolStarted {
            call_id,
            tool,
            args,
        } => AuditorEventWire::ToolStarted {
            call_id: call_id.clone(),
            tool: tool.clone(),
            args: args.clone(),
        },
        AuditorEvent::ToolFinished {
            call_id,
            tool,
            ok,
            ms,
        } => AuditorEventWire::ToolFinished {
            call_id: call_id.clone(),
            tool: tool.clone(),
            ok: *ok,
            ms: *ms,
        },
        AuditorEvent::CompactionStarted => AuditorEventWire::CompactionStarted,
        AuditorEvent::CompactionEnded { usage } => AuditorEventWire::CompactionEnded {
            usage: usage_wire(*usage),
        },
        AuditorEvent::RetryStarted => AuditorEventWire::RetryStarted,
        AuditorEvent::RetryEnded => AuditorEventWire::RetryEnded,
        AuditorEvent::Rested => AuditorEventWire::Rested,
        AuditorEvent::Broke { message } => AuditorEventWire::Broke {
            message: message.clone(),
        },
    }
}

fn answer_ended(answer: &Answer) -> AuditorEventWire {
    AuditorEventWire::AnswerEnded {
        text: answer.text.clone(),
        stop: match answer.stop {
            StopKind::Stop => StopWire::Stop,
            StopKind::ToolUse => StopWire::ToolUse,
            StopKind::Length => StopWire::Length,
            StopKind::Error => StopWire::Error,
            StopKind::Aborted => StopWire::Aborted,
        },
        error: answer.error.clone(),
        usage: usage_wire(answer.usage),
    }
}

const fn open_failure(kind: OpenFailure) -> OpenFailureWire {
    match kind {
        OpenFailure::MissingCredentials => OpenFailureWire::MissingCredentials,
        OpenFailure::MissingModel => OpenFailureWire::MissingModel,
        OpenFailure::Session => OpenFailureWire::Session,
    }
}
