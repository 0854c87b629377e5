//! What judges goals: settings, the auditor's model, the seal of audits.

use std::path::PathBuf;

use goal_config::{Loaded, SandboxMode, SandboxNetwork, Settings, Source};
use goal_sandbox::{Network, Probe, Rung, SealOptions};
use serde_json::json;

use super::{Finding, Status};
use crate::{config, settings};

const CORRECT: &str = "Correct them; goal-auditor config shows every value and where it comes from";

pub(super) fn settings(loaded: &Loaded) -> Finding {
    let changed = settings::changed(loaded);
    let path = loaded.path.as_ref().map(|path| path.display().to_string());
    let values = if changed.is_empty() {
        "all at their defaults".to_owned()
    } else {
        changed.join(", ")
    };
    let found = match &path {
        Some(path) if !loaded.file_used => format!("{values} · no {path}"),
        Some(_) | None => values,
    };
    let finding =
        Finding::fine("settings", found).with(json!({ "path": path, "changed": changed }));
    let wrong: Vec<String> = loaded.diagnostics.iter().map(ToString::to_string).collect();
    if wrong.is_empty() {
        finding
    } else {
        finding.flawed(Status::Warning, wrong, CORRECT.to_owned())
    }
}

/// Who audits, as far as the settings tell; whether the model is there, only pi knows.
pub(super) fn auditor(loaded: &Loaded) -> Finding {
    let Settings {
        provider, model, ..
    } = &loaded.settings;
    let source = |key: &str| {
        loaded
            .sources
            .get(key)
            .map(Source::to_string)
            .unwrap_or_default()
    };
    let details = json!({ "provider": provider, "model": model });
    let found = match (provider, model) {
        (Some(provider), Some(model)) => format!("{provider}/{model} ({})", source("model")),
        (None, None) => "the model of your session, at /goal and /goal resume".to_owned(),
        (Some(provider), None) => format!(
            "a model of {provider} ({}): your session's if it is one of them, else the first",
            source("provider")
        ),
        (None, Some(model)) => format!(
            "the model {model}, wherever it is offered ({})",
            source("model")
        ),
    };
    Finding::fine("auditor", found).with(details)
}

/// How audits are sealed on this machine. Tried for real, in the working directory.
pub(super) fn sandbox(loaded: &Loaded) -> Finding {
    let mode = loaded.settings.sandbox;
    let probe = match mode {
        SandboxMode::Off => none("the setting sandbox is off"),
        SandboxMode::Prefer | SandboxMode::Require => try_here(loaded),
    };
    judged(mode, &probe)
}

fn judged(mode: SandboxMode, probe: &Probe) -> Finding {
    let why = probe.why_not_higher.clone();
    let details = json!({ "rung": probe.rung.name(), "why": why, "setting": mode.name() });
    let finding = Finding::fine("sandbox", words(probe.rung)).with(details);
    let why = why.unwrap_or_default();
    match probe.rung {
        Rung::Overlay => finding,
        Rung::Fingerprint if mode == SandboxMode::Require => finding.problem(
            format!("the settings require a seal, and none can be made here: {why}"),
            "Make user namespaces possible on this machine (docs/limits.md), or set sandbox to prefer",
        ),
        Rung::Fingerprint => finding.warning(
            format!("a seal cannot be made here: {why}"),
            "Goals work; docs/limits.md says what a seal needs. To be sure of one, set sandbox to require",
        ),
        Rung::None => finding.warning(
            why,
            "Goals work, but an auditor could change what it judges. docs/limits.md says more",
        ),
    }
}

fn none(why: &str) -> Probe {
    Probe {
        rung: Rung::None,
        why_not_higher: Some(why.to_owned()),
    }
}

fn try_here(loaded: &Loaded) -> Probe {
    let found = std::env::current_exe().and_then(|binary| Ok((binary, std::env::current_dir()?)));
    match found {
        Ok((binary, workspace)) => goal_sandbox::probe(&binary, &options(loaded, workspace)),
        Err(error) => Probe {
            rung: Rung::Fingerprint,
            why_not_higher: Some(format!("it cannot be tried: {error}")),
        },
    }
}

fn options(loaded: &Loaded, workspace: PathBuf) -> SealOptions {
    let settings = &loaded.settings;
    SealOptions {
        workspace,
        home: std::env::home_dir(),
        agent_dir: config::default_agent_dir(),
        network: match settings.sandbox_network {
            SandboxNetwork::Loopback => Network::Loopback,
            SandboxNetwork::Host => Network::Host,
            SandboxNetwork::Off => Network::Off,
        },
        hide: settings.sandbox_hide.iter().map(PathBuf::from).collect(),
        scratch_mb: settings.sandbox_scratch_mb.map(Into::into),
    }
}

const fn words(rung: Rung) -> &'static str {
    match rung {
        Rung::Overlay => "sealed: auditors work on throw-away copies",
        Rung::Fingerprint => "not sealed; the workspace is compared before and after an audit",
        Rung::None => "neither sealed nor compared",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_seals_is_a_problem_only_where_the_settings_require_one() {
        let unsealed = Probe {
            rung: Rung::Fingerprint,
            why_not_higher: Some("user namespaces are off".to_owned()),
        };
        for (mode, status) in [
            (SandboxMode::Require, Status::Problem),
            (SandboxMode::Prefer, Status::Warning),
        ] {
            let finding = judged(mode, &unsealed);
            assert_eq!(finding.status, status);
            assert!(
                finding.why[0].contains("user namespaces are off"),
                "{finding:?}"
            );
        }
        let sealed = Probe {
            rung: Rung::Overlay,
            why_not_higher: None,
        };
        assert_eq!(judged(SandboxMode::Require, &sealed).status, Status::Ok);
        assert_eq!(
            judged(SandboxMode::Off, &none("off")).status,
            Status::Warning
        );
    }
}
