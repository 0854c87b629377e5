//! This binary, and the shim that pi loads.

use std::fs;
use std::path::{Path, PathBuf};

use goal_protocol::PROTOCOL_VERSION;
use serde_json::{Value, json};

use super::Finding;
use super::agent::pi_settings;
use super::program::version_of;

/// The name of our extension's folder, and of what a package of it is called.
const NAME: &str = "goal-auditor";
/// The npm package of the shim.
const PACKAGE: &str = "pi-goal-auditor";
const INSTALL: &str =
    "Install it: pi install npm:pi-goal-auditor, or cargo xtask install in a checkout";
const INSTALL_AGAIN: &str =
    "Install it anew, as docs/install.md says for the way you chose; then /reload in a running pi";
const UPDATE: &str = "Update it: pi update --extensions; then /reload in a running pi";

pub(super) fn binary() -> Finding {
    let version = env!("CARGO_PKG_VERSION");
    let details = |path: Option<&str>| json!({ "path": path, "version": version, "protocol": PROTOCOL_VERSION });
    match std::env::current_exe() {
        Ok(path) => {
            let shown = path.display().to_string();
            Finding::fine(
                "binary",
                format!("{version}, protocol {PROTOCOL_VERSION} · {shown}"),
            )
            .with(details(Some(&shown)))
        }
        Err(_) => Finding::fine("binary", format!("{version}, protocol {PROTOCOL_VERSION}"))
            .with(details(None)),
    }
}

/// The shim: in pi's extensions, or named in pi's settings, or else only in a checkout.
pub(super) fn shim(agent_dir: Option<&Path>) -> Finding {
    let installed = agent_dir.map(|dir| dir.join("extensions").join(NAME));
    let named = agent_dir.map(named_in_settings).unwrap_or_default();
    match installed.filter(|folder| folder.join("index.ts").is_file()) {
        Some(folder) => installed_shim(&folder, &named),
        None => other_shim(agent_dir, &named),
    }
}

fn installed_shim(folder: &Path, named: &[String]) -> Finding {
    let shown = folder.display().to_string();
    let protocol = protocol_of(folder);
    let details = json!({ "path": shown, "protocol": protocol, "named": named });
    let finding = Finding::fine("shim", format!("installed · {shown}")).with(details);
    if let Some(source) = named.first() {
        return finding.warning(
            format!("pi's settings name it as well ({source}), so that pi loads it twice"),
            "Remove one of them: the entry in settings.json (pi remove), or the folder (cargo xtask uninstall)",
        );
    }
    match protocol {
        None => finding.problem(
            "its wire.ts is missing or says no protocol version",
            INSTALL_AGAIN,
        ),
        Some(other) if other != u64::from(PROTOCOL_VERSION) => {
            finding.problem(disagreement(other), INSTALL_AGAIN)
        }
        Some(_) => its_binary(folder, finding),
    }
}

/// The shim starts the binary beside it, which may not be this one.
fn its_binary(folder: &Path, finding: Finding) -> Finding {
    let file = folder.join(format!("{NAME}{}", std::env::consts::EXE_SUFFIX));
    if std::env::var_os("GOAL_AUDITOR_BIN").is_some_and(|named| !named.is_empty()) {
        let remedy = "Unset GOAL_AUDITOR_BIN unless you develop goal-auditor";
        return finding.warning(
            "GOAL_AUDITOR_BIN names another binary for the shim to start",
            remedy,
        );
    }
    if !file.exists() {
        return finding.problem(
            "there is no binary beside it, so it has no core to start",
            INSTALL_AGAIN,
        );
    }
    let is_this = |this: PathBuf| this.canonicalize().ok() == file.canonicalize().ok();
    if std::env::current_exe().is_ok_and(is_this) {
        return finding;
    }
    let ours = concat!("goal-auditor ", env!("CARGO_PKG_VERSION"));
    match version_of(&file) {
        Ok(answer) if answer.ok && answer.line == ours => finding,
        Ok(answer) if answer.ok => {
            let why = format!(
                "the binary beside it is {}, this one is {ours}",
                answer.line
            );
            finding.warning(why, INSTALL_AGAIN)
        }
        Ok(answer) => finding.problem(
            format!("the binary beside it fails: {}", answer.line),
            INSTALL_AGAIN,
        ),
        Err(why) => finding.problem(format!("the binary beside it: {why}"), INSTALL_AGAIN),
    }
}

fn other_shim(agent_dir: Option<&Path>, named: &[String]) -> Finding {
    if let Some(source) = named.first() {
        return named_shim(agent_dir, source, named);
    }
    let place = agent_dir.map_or_else(
        || "pi's agent folder".to_owned(),
        |dir| dir.join("extensions").display().to_string(),
    );
    let why = format!("it is not in {place} and not named in pi's settings, so pi has no /goal");
    let finding = Finding::fine("shim", "not installed");
    match beside() {
        Some(folder) => {
            let (shown, protocol) = (folder.display().to_string(), protocol_of(&folder));
            let remedy = format!("{INSTALL}. To try it without: pi -e {shown}/index.ts");
            finding
                .with(json!({ "path": shown, "protocol": protocol, "named": named }))
                .problem(why, remedy)
        }
        None => finding
            .with(json!({ "path": null, "protocol": null, "named": named }))
            .problem(why, INSTALL),
    }
}

/// What pi's settings name is there, or pi fetches it at its start.
fn named_shim(agent_dir: Option<&Path>, source: &str, named: &[String]) -> Finding {
    let place = agent_dir.map(|dir| match source.strip_prefix("npm:") {
        Some(_) => dir.join("npm/node_modules").join(PACKAGE),
        None => dir.join(source.strip_suffix("/index.ts").unwrap_or(source)),
    });
    let folder = place.filter(|folder| folder.join("index.ts").is_file());
    let protocol = folder.as_deref().and_then(protocol_of);
    let shown = folder.map(|folder| folder.display().to_string());
    let finding = Finding::fine("shim", format!("named in pi's settings: {source}"))
        .with(json!({ "path": shown, "protocol": protocol, "named": named }));
    match protocol {
        Some(other) if other != u64::from(PROTOCOL_VERSION) => {
            finding.problem(disagreement(other), UPDATE)
        }
        _ => finding,
    }
}

fn disagreement(protocol: u64) -> String {
    format!("it speaks protocol {protocol}, this binary {PROTOCOL_VERSION}; they refuse each other")
}

/// The shim beside this binary, or that of the checkout it was built in.
fn beside() -> Option<PathBuf> {
    let binary = std::env::current_exe().ok()?.canonicalize().ok()?;
    let folder = binary.parent()?;
    let checkout = folder.join("../../crates/host-pi/extension");
    [folder.to_owned(), checkout]
        .into_iter()
        .find(|place| place.join("index.ts").is_file())
        .and_then(|place| place.canonicalize().ok())
}

/// The protocol a shim speaks, as its generated wire.ts says.
fn protocol_of(folder: &Path) -> Option<u64> {
    let text = fs::read_to_string(folder.join("wire.ts")).ok()?;
    let (_, rest) = text.split_once("PROTOCOL_VERSION = ")?;
    rest.split(';').next()?.trim().parse().ok()
}

/// Packages and extensions of pi's settings that are ours.
fn named_in_settings(agent_dir: &Path) -> Vec<String> {
    let settings = pi_settings(agent_dir);
    let all = ["packages", "extensions"];
    let entries = all.iter().filter_map(|key| settings.get(key)?.as_array());
    entries
        .flatten()
        .filter_map(|entry| {
            entry
                .as_str()
                .or_else(|| entry.get("source").and_then(Value::as_str))
        })
        .filter(|source| source.contains(NAME))
        .map(str::to_owned)
        .collect()
}
