//! pi's agent folder, and where it keeps sessions.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Finding;
use crate::serve::trace::folder_of as trace_folder;

const SAY_WHERE: &str = "Say where it is: --agent-dir, or the variable PI_CODING_AGENT_DIR";

pub(super) fn folder(agent_dir: Option<&Path>) -> Finding {
    let name = "agent-dir";
    let Some(folder) = agent_dir else {
        return Finding::fine(name, "unknown")
            .problem("there is no home folder to look in", SAY_WHERE);
    };
    let shown = folder.display().to_string();
    let finding = Finding::fine(name, &*shown).with(json!({ "path": shown }));
    match fs::metadata(folder) {
        Ok(meta) if meta.is_dir() => finding,
        Ok(_) => finding.problem("it is a file, not a folder", SAY_WHERE),
        Err(error) if error.kind() == io::ErrorKind::NotFound => finding.warning(
            "it is not there yet; pi makes it when it starts for the first time",
            "Start pi once; or say where it is: --agent-dir, or the variable PI_CODING_AGENT_DIR",
        ),
        Err(error) => finding.problem(
            format!("it cannot be looked at: {error}"),
            "Mend its permissions",
        ),
    }
}

/// A goal lives in its session file, so sessions must be writable.
pub(super) fn sessions(agent_dir: Option<&Path>) -> Finding {
    let name = "sessions";
    let Some((folder, source)) = session_folder(agent_dir) else {
        return Finding::fine(name, "unknown").problem("the agent folder is not known", SAY_WHERE);
    };
    let shown = folder.display().to_string();
    let details = json!({ "path": shown, "source": source });
    let finding = |text: String| Finding::fine(name, text).with(details.clone());
    match try_writing(&folder) {
        Ok(()) => finding(format!("writable · {shown}")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            not_there_yet(&folder, finding(shown))
        }
        Err(error) => finding(shown).problem(
            format!("nothing can be written there ({error}), and a goal lives in its session file"),
            "Mend the folder's permissions, or choose another with PI_CODING_AGENT_SESSION_DIR",
        ),
    }
}

/// pi makes the folder with the first session, if the nearest folder above lets it.
fn not_there_yet(folder: &Path, finding: Finding) -> Finding {
    let above = folder.ancestors().skip(1).find(|above| above.is_dir());
    match above.map(try_writing) {
        Some(Ok(())) => Finding {
            found: format!("made with the first session · {}", finding.found),
            ..finding
        },
        Some(Err(_)) | None => finding.problem(
            "it is not there, and it cannot be made: nothing can be written above it",
            "Mend the permissions of the folder above it",
        ),
    }
}

/// Where traces go, if the settings ask for them. Goals work without.
pub(super) fn trace(setting: Option<&str>, agent_dir: Option<&Path>) -> Finding {
    let name = "trace";
    let Some(setting) = setting else {
        return Finding::fine(name, "off");
    };
    let unusable = |why: String| {
        Finding::fine(name, setting).warning(
            why,
            "Goals work, but no trace is written. Set trace to a folder that you may write to",
        )
    };
    let folder = match trace_folder(setting, agent_dir) {
        Ok(folder) => folder,
        Err(why) => return unusable(why),
    };
    let there = folder.ancestors().find(|part| part.exists());
    match there.map_or(Ok(()), try_writing) {
        Ok(()) => Finding::fine(name, format!("every session, into {}", folder.display()))
            .with(json!({ "path": folder })),
        Err(error) => unusable(format!("nothing can be written there ({error})")),
    }
}

/// Makes a file and removes it again.
fn try_writing(folder: &Path) -> io::Result<()> {
    tempfile::Builder::new()
        .prefix(".goal-auditor-doctor-")
        .tempfile_in(folder)
        .and_then(tempfile::NamedTempFile::close)
}

/// Where pi keeps sessions, and what says so; the flag `--session-dir` of a pi cannot be known here.
fn session_folder(agent_dir: Option<&Path>) -> Option<(PathBuf, &'static str)> {
    let set = std::env::var_os("PI_CODING_AGENT_SESSION_DIR").filter(|dir| !dir.is_empty());
    if let Some(folder) = set {
        return Some((PathBuf::from(folder), "env:PI_CODING_AGENT_SESSION_DIR"));
    }
    let agent_dir = agent_dir?;
    let settings = pi_settings(agent_dir);
    let folder = settings.get("sessionDir").and_then(Value::as_str);
    match folder.map(Path::new).filter(|folder| folder.is_absolute()) {
        Some(folder) => Some((folder.to_owned(), "settings.json")),
        None => Some((agent_dir.join("sessions"), "default")),
    }
}

/// pi's own settings; null if there are none, or none that can be read.
pub(super) fn pi_settings(agent_dir: &Path) -> Value {
    let text = fs::read_to_string(agent_dir.join("settings.json"));
    text.ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default()
}
