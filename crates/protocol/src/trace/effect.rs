//! The engine's effects as a trace keeps them: what the host performs as on the wire, and what the
//! driver does by itself beside it.

use goal_engine::{Effect, Ended, SavedGoal};
use serde::Serialize;

use super::event::{SandboxLine, sandbox_line};
use crate::EffectWire;

/// An effect in a trace. Only written: a replay compares what it is written as.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum EffectLine {
    Host(Box<EffectWire>),
    Driver(OwnEffect),
}

/// What the driver does by itself.
#[derive(Serialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub(super) enum OwnEffect {
    PrepareAudit {
        audit: u64,
        workspace: String,
        sandbox: SandboxLine,
    },
    InspectWorkspace {
        audit: u64,
        whole: bool,
    },
    WriteReport {
        path: Option<String>,
        goal: Option<String>,
    },
}

pub(super) fn lines(effects: &[Effect]) -> Vec<EffectLine> {
    effects.iter().filter_map(line).collect()
}

fn line(effect: &Effect) -> Option<EffectLine> {
    let own = match effect {
        Effect::PrepareAudit(order) => OwnEffect::PrepareAudit {
            audit: order.audit,
            workspace: order.workspace.clone(),
            sandbox: sandbox_line(&order.sandbox),
        },
        Effect::InspectWorkspace { audit, whole } => OwnEffect::InspectWorkspace {
            audit: *audit,
            whole: *whole,
        },
        Effect::WriteReport { path, goal } => OwnEffect::WriteReport {
            path: path.clone(),
            goal: goal.clone(),
        },
        Effect::SaveGoal(_)
        | Effect::SaveAudit(_)
        | Effect::StartRun(_)
        | Effect::Propose(_)
        | Effect::SendInRun(_)
        | Effect::EndRun
        | Effect::ActivateTools
        | Effect::FinishTool(_)
        | Effect::Progress { .. }
        | Effect::CountUsage { .. }
        | Effect::OpenAuditor(_)
        | Effect::PromptAuditor { .. }
        | Effect::CloseAuditor { .. }
        | Effect::Notify(_)
        | Effect::Reply(_)
        | Effect::ShowStatus(_)
        | Effect::Confirm { .. }
        | Effect::Edit { .. }
        | Effect::Offer { .. }
        | Effect::Withdraw { .. }
        | Effect::Ring
        | Effect::RestoreInput { .. }
        | Effect::Release { .. } => {
            return crate::effect(effect.clone()).map(|wire| EffectLine::Host(Box::new(wire)));
        }
    };
    Some(EffectLine::Driver(own))
}

/// Each effect as it is written.
pub(super) fn texts(effects: &[Effect]) -> Vec<String> {
    let text = |line| serde_json::to_string(&line).unwrap_or_default();
    lines(effects).into_iter().map(text).collect()
}

/// The goal that these effects say is gone, and how it ended.
pub(super) fn gone(effects: &[Effect]) -> Option<(String, Ended)> {
    effects.iter().rev().find_map(|effect| {
        if let Effect::SaveGoal(SavedGoal::Gone { id, ended }) = effect {
            Some((id.clone(), *ended))
        } else if let Effect::Propose(proposal) = effect {
            gone(&proposal.effects)
        } else {
            None
        }
    })
}
