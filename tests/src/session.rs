//! A session file, as pi wrote it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The custom type of everything our extension writes.
const CUSTOM_TYPE: &str = "goal-auditor";

/// The entries of a session file.
#[derive(Debug, Clone, Default)]
pub struct Session {
    /// The file; empty if there is none.
    pub path: PathBuf,
    /// Every line that is JSON, the header included.
    pub entries: Vec<Value>,
    /// The last line, if a kill tore it.
    pub torn: Option<String>,
}

impl Session {
    /// Reads a session file. A torn last line is kept apart; a torn line elsewhere is a failure.
    pub fn read(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<_> = text.split('\n').filter(|line| !line.is_empty()).collect();
        let mut session = Self {
            path: path.to_owned(),
            ..Self::default()
        };
        for (index, line) in lines.iter().enumerate() {
            match serde_json::from_str(line) {
                Ok(entry) => session.entries.push(entry),
                Err(_) if index + 1 == lines.len() => session.torn = Some((*line).to_owned()),
                Err(error) => panic!("line {} of {}: {error}", index + 1, path.display()),
            }
        }
        session
    }

    /// The `data` of our `custom` entries of that kind (`goal` or `audit`), oldest first.
    pub fn data_of(&self, kind: &str) -> Vec<&Value> {
        let ours = self
            .entries
            .iter()
            .filter(|e| e["type"] == "custom" && is_ours(e));
        ours.map(|entry| &entry["data"])
            .filter(|data| data["kind"] == kind)
            .collect()
    }

    /// The saved goals, oldest first; a goal that is gone is `null`.
    pub fn goals(&self) -> Vec<&Value> {
        self.data_of("goal")
            .into_iter()
            .map(|data| &data["goal"])
            .collect()
    }

    /// The phase of the last saved goal: its name, `none` after its end, or `nothing saved`.
    pub fn phase(&self) -> &str {
        match self.goals().last() {
            None => "nothing saved",
            Some(goal) => goal["phase"].as_str().unwrap_or("none"),
        }
    }

    /// Why the last saved goal is paused.
    pub fn pause_reason(&self) -> Option<&str> {
        self.goals()
            .last()
            .and_then(|goal| goal["pauseReason"].as_str())
    }

    /// How the last goal ended (`approved`, `cleared`, …), if it is gone.
    pub fn ended(&self) -> Option<&str> {
        self.data_of("goal")
            .last()
            .and_then(|data| data["ended"].as_str())
    }

    /// The audit entries, oldest first.
    pub fn audits(&self) -> Vec<&Value> {
        self.data_of("audit")
    }

    /// The outcomes of the audits, oldest first.
    pub fn audit_outcomes(&self) -> Vec<&str> {
        self.audits()
            .into_iter()
            .filter_map(|audit| audit["outcome"].as_str())
            .collect()
    }

    /// Our continuation messages, the first full one included, oldest first.
    pub fn continuations(&self) -> Vec<&Value> {
        let ours = self
            .entries
            .iter()
            .filter(|e| e["type"] == "custom_message" && is_ours(e));
        ours.filter(|entry| entry["details"]["kind"] == "continuation")
            .collect()
    }

    /// The messages of that role (`user`, `assistant`, `toolResult`, `system`), oldest first.
    pub fn messages(&self, role: &str) -> Vec<&Value> {
        let messages = self.entries.iter().filter(|e| e["type"] == "message");
        messages
            .map(|entry| &entry["message"])
            .filter(|m| m["role"] == role)
            .collect()
    }

    /// The entry ids of the user's messages, oldest first; pi forks before one of them.
    pub fn user_ids(&self) -> Vec<String> {
        let of_user = |entry: &&Value| entry["message"]["role"] == "user";
        self.entries.iter().filter(of_user).map(id_of).collect()
    }

    /// The id of the last entry.
    pub fn last_id(&self) -> String {
        self.entries.last().map(id_of).unwrap_or_default()
    }

    /// The results of that tool, oldest first.
    pub fn tool_results(&self, tool: &str) -> Vec<&Value> {
        let mut results = self.messages("toolResult");
        results.retain(|message| message["toolName"] == tool);
        results
    }
}

fn id_of(entry: &Value) -> String {
    entry["id"].as_str().unwrap_or_default().to_owned()
}

fn is_ours(entry: &Value) -> bool {
    entry["customType"] == CUSTOM_TYPE
}

/// The text of a message, its parts joined.
pub fn text_of(message: &Value) -> String {
    let content = &message["content"];
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let parts = content.as_array().into_iter().flatten();
    parts
        .filter_map(|part| part["text"].as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_last_line_is_kept_apart() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("session.jsonl");
        let line = r#"{"type":"custom","customType":"goal-auditor","data":{"kind":"goal","goal":null,"ended":"cleared"}}"#;
        fs::write(&file, format!("{line}\n{{\"type\":\"cus")).unwrap();
        let session = Session::read(&file);
        assert_eq!(
            (session.phase(), session.ended()),
            ("none", Some("cleared"))
        );
        assert_eq!(session.torn.as_deref(), Some("{\"type\":\"cus"));
    }
}
