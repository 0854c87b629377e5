//! Session files that pi did not write: cut, torn, foreign, or from another time.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::World;

/// A session file in the making. It begins with a header and one message of the user.
#[derive(Debug, Clone)]
pub struct Draft {
    lines: Vec<String>,
    entries: usize,
}

impl Draft {
    /// A session of that world's workspace.
    pub fn new(world: &World) -> Self {
        let header = json!({
            "type": "session", "version": 3, "id": "00000000-0000-7000-8000-000000000001",
            "timestamp": "2026-01-01T00:00:00.000Z", "cwd": world.workspace(),
        });
        let draft = Self {
            lines: vec![header.to_string()],
            entries: 0,
        };
        let content = json!([{ "type": "text", "text": "Hello" }]);
        draft.entry(json!({
            "type": "message",
            "message": { "role": "user", "content": content, "timestamp": 1_767_225_600_000_u64 },
        }))
    }

    /// One more entry; its id and its parent are filled in.
    pub fn entry(mut self, mut entry: Value) -> Self {
        entry["parentId"] = match self.entries {
            0 => Value::Null,
            before => format!("{before:08x}").into(),
        };
        self.entries += 1;
        entry["id"] = format!("{:08x}", self.entries).into();
        entry["timestamp"] = "2026-01-01T00:00:01.000Z".into();
        self.lines.push(entry.to_string());
        self
    }

    /// One more custom entry.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers write `json!({…})` in place"
    )]
    pub fn custom(self, custom_type: &str, data: Value) -> Self {
        self.entry(json!({ "type": "custom", "customType": custom_type, "data": data }))
    }

    /// One more entry of ours.
    pub fn ours(self, data: Value) -> Self {
        self.custom("goal-auditor", data)
    }

    /// One more goal entry of ours: a sound one, with these fields changed.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers write `json!({…})` in place"
    )]
    pub fn goal(self, changes: Value) -> Self {
        self.ours(goal_entry(&changes))
    }

    /// Bytes as they are, without a line feed after them.
    pub fn torn(mut self, bytes: &str) -> Torn {
        let mut text = self.lines.join("\n");
        self.lines.clear();
        text.push('\n');
        text.push_str(bytes);
        Torn(text)
    }

    /// Writes the file among the world's sessions.
    pub fn write(self, world: &World, name: &str) -> PathBuf {
        self.torn("").write(world, name)
    }
}

/// A session file whose last line is no line.
#[derive(Debug, Clone)]
pub struct Torn(String);

impl Torn {
    /// Writes the file among the world's sessions.
    pub fn write(&self, world: &World, name: &str) -> PathBuf {
        write(world, name, &self.0)
    }
}

/// Writes a text as a session file of that world.
pub fn write(world: &World, name: &str, text: &str) -> PathBuf {
    let folder = world.agent_dir().join("sessions/drafts");
    fs::create_dir_all(&folder).expect("the agent folder can be written");
    let path = folder.join(format!("{name}.jsonl"));
    fs::write(&path, text).expect("the folder can be written");
    path
}

/// The data of a sound goal entry, with these fields of the goal changed.
pub fn goal_entry(changes: &Value) -> Value {
    let mut goal = json!({
        "id": "g-draft", "generation": 3, "objective": "Write a poem", "phase": "pursuing",
        "createdAt": 1_767_225_600_000_u64, "activeMs": 4_000, "continuations": 2, "audits": 1,
        "emptyStreak": 0, "erroredStreak": 0, "repeatStreak": 0, "rejectionStreak": 1,
        "failureStreak": 0, "refusalStreak": 1, "repeatWrote": false,
        "gate": {
            "provider": "sim", "model": "auditor", "timeoutMs": 900_000, "idleTimeoutMs": 120_000,
            "maxEmptyContinuations": 3, "maxConsecutiveAuditRejections": 3, "maxContinuations": 100,
            "maxAudits": 20, "sandbox": "prefer", "sandboxNetwork": "loopback", "sandboxHide": [],
        },
    });
    for (key, value) in changes.as_object().into_iter().flatten() {
        goal[key] = value.clone();
    }
    json!({ "v": 1, "kind": "goal", "goal": goal })
}
