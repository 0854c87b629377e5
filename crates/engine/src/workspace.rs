//! The workspace around an audit: looked at before and after, and sealed where the system allows.
//!
//! The driver does the looking and the sealing; what it means is decided here.

use goal_state::{AuditOutcome, FailureKind};

use crate::audit::Stage;
use crate::canary::Canary;
use crate::effect::{Effect, Level, Notice, PrepareAudit, Rung};
use crate::engine::Engine;
use crate::event::{Inspection, Prepared};
use crate::say;

/// Longest time the driver may take to look at the workspace, in milliseconds. A tree of a million
/// files takes seconds; what takes longer does not end.
pub(crate) const WORKSPACE_MAX_MS: u64 = 120_000;

/// The setting that switches sealing and looking off.
const SANDBOX_OFF: &str = "off";

impl Engine {
    /// Asks the driver to look and to seal, unless that is switched off.
    pub(crate) fn prepare_audit(&mut self, workspace: &str, out: &mut Vec<Effect>) {
        let Some(audit) = &self.audit else { return };
        if audit.gate.sandbox.mode == SANDBOX_OFF {
            let prepared = Prepared {
                rung: Rung::None,
                seal: None,
                before: None,
            };
            return self.open_auditor(prepared, out);
        }
        out.push(Effect::PrepareAudit(Box::new(PrepareAudit {
            audit: audit.number,
            workspace: workspace.to_owned(),
            sandbox: audit.gate.sandbox.clone(),
        })));
        self.push_progress(out);
    }

    /// The driver has looked and sealed, or could not.
    pub(crate) fn audit_prepared(
        &mut self,
        number: u64,
        prepared: Result<Box<Prepared>, String>,
        out: &mut Vec<Effect>,
    ) {
        let waits = self.audit.as_ref().is_some_and(|audit| {
            audit.number == number && matches!(audit.stage, Stage::Preparing { .. })
        });
        if !waits {
            return;
        }
        match prepared {
            // A rung that rests on a look needs that look.
            Ok(prepared) if prepared.rung != Rung::None && prepared.before.is_none() => self
                .fail_audit(
                    FailureKind::SandboxUnavailable,
                    say::workspace_not_seen(),
                    out,
                ),
            Ok(prepared) => self.open_auditor(*prepared, out),
            Err(why) => self.fail_audit(FailureKind::SandboxUnavailable, why, out),
        }
    }

    /// The auditor has ended: before its word counts, the workspace is looked at again.
    pub(crate) fn inspect_workspace(
        &mut self,
        outcome: AuditOutcome,
        failure: Option<String>,
        out: &mut Vec<Effect>,
    ) {
        let until = self.clocks.now.after(WORKSPACE_MAX_MS);
        let closes = !self.planted_leak(&outcome);
        let Some(audit) = &mut self.audit else { return };
        if audit.before.is_none() {
            return self.finish_audit(outcome, failure, out);
        }
        let whole = outcome == AuditOutcome::Approved;
        audit.stage = Stage::Inspecting {
            until,
            outcome,
            failure,
        };
        let audit = audit.number;
        out.extend(closes.then_some(Effect::CloseAuditor { audit }));
        out.push(Effect::InspectWorkspace { audit, whole });
        self.push_progress(out);
    }

    /// The driver has looked again.
    pub(crate) fn workspace_inspected(
        &mut self,
        number: u64,
        inspection: &Result<Box<Inspection>, String>,
        out: &mut Vec<Effect>,
    ) {
        let shown_only = self.planted(Canary::ChangedWorkspaceApproved);
        let Some(audit) = self.audit.as_mut().filter(|audit| audit.number == number) else {
            return;
        };
        let Stage::Inspecting {
            outcome, failure, ..
        } = audit.stage.clone()
        else {
            return;
        };
        audit.after = inspection.as_ref().ok().map(|found| found.after.clone());
        let found = inspection.as_ref().map(AsRef::as_ref);
        let (outcome, failure) = if shown_only {
            (outcome, failure)
        } else {
            judge(audit.rung, outcome, failure, found)
        };
        if let Ok(found) = inspection {
            out.extend(told(found).map(Effect::Notify));
        }
        self.finish_audit(outcome, failure, out);
    }

    /// Neither an audit nor its workspace may keep the agent waiting for ever.
    pub(crate) fn workspace_took_too_long(&mut self, out: &mut Vec<Effect>) {
        self.fail_audit(
            FailureKind::SandboxUnavailable,
            say::workspace_too_slow(WORKSPACE_MAX_MS),
            out,
        );
    }

    /// The best seal of this machine is known. What is less than a seal is told at once; a seal is
    /// when it matters: at the next start of a goal, or at the first audit.
    pub(crate) fn sandbox_probed(
        &mut self,
        rung: Rung,
        why: Option<String>,
        out: &mut Vec<Effect>,
    ) {
        let first = self.sandbox.replace((rung, why)).is_none();
        if first && rung != Rung::Overlay {
            out.extend(self.sandbox_news());
        }
    }

    /// What the user has not been told of the seal yet.
    pub(crate) fn sandbox_news(&mut self) -> Option<Effect> {
        let (rung, why) = self.sandbox.as_ref()?;
        if std::mem::replace(&mut self.sandbox_told, true) {
            return None;
        }
        let level = match rung {
            Rung::Overlay => Level::Info,
            Rung::Fingerprint | Rung::None => Level::Warning,
        };
        let text = say::sandbox(*rung, why.as_deref());
        Some(Effect::Notify(Notice { level, text }))
    }

    fn fail_audit(&mut self, kind: FailureKind, why: String, out: &mut Vec<Effect>) {
        self.finish_audit(AuditOutcome::Failed(kind), Some(why), out);
    }
}

/// What a change of the workspace does to an outcome (spec of the sandbox, "Fingerprint"). Only an
/// approval depends on it: a refusal of work that changed meanwhile is a refusal all the same.
fn judge(
    rung: Rung,
    outcome: AuditOutcome,
    failure: Option<String>,
    inspection: Result<&Inspection, &String>,
) -> (AuditOutcome, Option<String>) {
    if outcome != AuditOutcome::Approved {
        return (outcome, failure);
    }
    match inspection {
        Err(why) => (
            AuditOutcome::Failed(FailureKind::SandboxUnavailable),
            Some(why.clone()),
        ),
        Ok(found) if rung == Rung::Overlay && changed_at_all(found) => (
            AuditOutcome::StaleWorkspace,
            Some(say::workspace_changed_by_others(found)),
        ),
        Ok(found) if !found.changed.is_empty() => (
            AuditOutcome::Failed(FailureKind::WorkspaceChanged),
            Some(say::workspace_changed_by_audit(found)),
        ),
        Ok(_) => (outcome, failure),
    }
}

/// A sealed audit leaves nothing, so whatever is new is somebody else's, by-product or not.
fn changed_at_all(found: &Inspection) -> bool {
    !found.changed.is_empty() || !found.forgiven.is_empty()
}

fn told(found: &Inspection) -> Option<Notice> {
    changed_at_all(found).then(|| Notice {
        level: Level::Warning,
        text: say::workspace_notice(found),
    })
}
