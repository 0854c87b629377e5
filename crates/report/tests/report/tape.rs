//! A session file in the making, entry by entry, as pi and the extension write them.

use serde_json::{Value, json};

/// When a tape begins, in milliseconds since 1970: 2026-11-30 12:00:00 UTC.
pub(crate) const BEGIN: u64 = 1_796_040_000_000;

/// The lines so far; every entry hangs on the one before and comes a second after it.
pub(crate) struct Tape {
    lines: Vec<String>,
    entries: u64,
    parent: Option<String>,
    goal: Value,
}

impl Tape {
    /// A session with a header and nothing else.
    pub(crate) fn new() -> Self {
        let mut tape = Self {
            lines: Vec::new(),
            entries: 0,
            parent: None,
            goal: goal("g-1", "Write a poem"),
        };
        let header = json!({ "type": "session", "version": 3, "id": "s-1",
            "timestamp": tape.stamp(), "cwd": "/home/you/work" });
        tape.lines.push(header.to_string());
        tape
    }

    /// The text of the file.
    pub(crate) fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }

    /// The goal as it would be saved now, to be changed.
    pub(crate) fn goal(&mut self) -> &mut Value {
        &mut self.goal
    }

    /// A line that pi did not write.
    pub(crate) fn line(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    /// The id of the newest entry.
    pub(crate) fn newest(&self) -> Option<String> {
        self.parent.clone()
    }

    /// The next entry hangs on this one, as after `/tree`.
    pub(crate) fn go_to(&mut self, entry: Option<String>) {
        self.parent = entry;
    }

    pub(crate) fn entry(&mut self, mut entry: Value) {
        self.entries += 1;
        let id = format!("e{}", self.entries);
        entry["id"] = id.as_str().into();
        entry["parentId"] = json!(self.parent);
        entry["timestamp"] = self.stamp().into();
        self.lines.push(entry.to_string());
        self.parent = Some(id);
    }

    pub(crate) fn custom(&mut self, data: Value) {
        self.entry(json!({ "type": "custom", "customType": "goal-auditor", "data": data }));
    }

    /// The goal is saved as it is now.
    pub(crate) fn save(&mut self) {
        let goal = self.goal.clone();
        self.custom(json!({ "v": 1, "kind": "goal", "goal": goal }));
    }

    /// The goal is saved with this phase under the next generation.
    pub(crate) fn phase(&mut self, phase: &str, reason: Option<&str>) {
        self.goal["phase"] = phase.into();
        self.goal["generation"] = (self.goal["generation"].as_u64().unwrap() + 1).into();
        self.goal.as_object_mut().unwrap().remove("pauseReason");
        if let Some(reason) = reason {
            self.goal["pauseReason"] = reason.into();
        }
        self.save();
    }

    pub(crate) fn ended(&mut self, how: &str) {
        let id = self.goal["id"].clone();
        self.custom(json!({ "v": 1, "kind": "goal", "goal": null, "goalId": id, "ended": how }));
    }

    /// Our message with this number since start or resume.
    pub(crate) fn message(&mut self, seq: u32, full: bool) {
        self.goal["continuations"] = seq.into();
        let details = json!({ "v": 1, "kind": "continuation", "goalId": self.goal["id"],
            "generation": self.goal["generation"], "seq": seq, "full": full, "totals": self.goal });
        self.entry(
            json!({ "type": "custom_message", "customType": "goal-auditor",
            "content": "Goal …", "display": true, "details": details }),
        );
    }

    pub(crate) fn user(&mut self, text: &str) {
        self.entry(json!({ "type": "message", "message": { "role": "user", "content": text } }));
    }

    /// An answer that ends so: `stop`, `toolUse`, `error`, `aborted`.
    pub(crate) fn answer(&mut self, text: &str, stop: &str) {
        self.answer_with(json!([{ "type": "text", "text": text }]), stop);
    }

    pub(crate) fn answer_with(&mut self, content: Value, stop: &str) {
        let error = (stop == "error").then_some("500: overloaded");
        self.entry(
            json!({ "type": "message", "message": { "role": "assistant", "content": content,
            "stopReason": stop, "errorMessage": error, "usage": usage(100, 10) } }),
        );
    }

    /// A call of a tool and its result.
    pub(crate) fn call(&mut self, tool: &str, ok: bool) {
        let call = json!([{ "type": "toolCall", "id": "c", "name": tool, "arguments": {} }]);
        self.answer_with(call, "toolUse");
        self.result(tool, ok);
    }

    pub(crate) fn result(&mut self, tool: &str, ok: bool) {
        self.entry(
            json!({ "type": "message", "message": { "role": "toolResult", "toolName": tool,
            "content": [{ "type": "text", "text": "out" }], "isError": !ok } }),
        );
    }

    /// A claim, its audit, and the result of the call.
    pub(crate) fn audit(&mut self, number: u32, outcome: &str, claim: &str) {
        let arguments = json!({ "status": "complete", "completionSummary": claim });
        let call = json!([{ "type": "toolCall", "id": "c", "name": "update_goal", "arguments": arguments }]);
        self.answer_with(call, "toolUse");
        let audit = self.audit_data(number, outcome);
        self.custom(audit);
        self.result("update_goal", true);
    }

    /// The data of an audit entry.
    pub(crate) fn audit_data(&self, number: u32, outcome: &str) -> Value {
        let checks = json!([
            { "tool": "read", "args": "{\"path\":\"poem.txt\"}", "ok": true, "ms": 3 },
            { "tool": "bash", "args": "{\"command\":\"false\"}", "ok": false, "ms": 4 },
        ]);
        let seen = json!({ "digest": "aa", "files": 1, "bytes": 1, "repositories": "", "rules": "", "parts": {} });
        json!({ "v": 1, "kind": "audit", "goalId": self.goal["id"], "generation": self.goal["generation"],
            "number": number, "outcome": outcome, "model": "sim/auditor", "checks": checks, "attempts": 1,
            "usage": usage(200, 20), "startedAt": BEGIN, "durationMs": 1_500, "rung": "fingerprint",
            "before": seen, "after": seen, "gate": self.goal["gate"], "report": "Looked at it." })
    }

    pub(crate) fn compaction(&mut self) {
        let id = self.newest();
        self.entry(
            json!({ "type": "compaction", "summary": "…", "firstKeptEntryId": id,
            "tokensBefore": 9_000, "usage": usage(1_000, 50) }),
        );
    }

    fn stamp(&self) -> String {
        let (hours, rest) = (12 + self.entries / 3_600, self.entries % 3_600);
        format!(
            "2026-11-30T{hours:02}:{:02}:{:02}.000Z",
            rest / 60,
            rest % 60
        )
    }
}

fn usage(input: u64, output: u64) -> Value {
    json!({ "input": input, "output": output, "cacheRead": 0, "cacheWrite": 0,
        "totalTokens": input + output,
        "cost": { "input": 0.001, "output": 0.001, "cacheRead": 0, "cacheWrite": 0, "total": 0.002 } })
}

fn goal(id: &str, objective: &str) -> Value {
    json!({ "id": id, "generation": 1, "objective": objective, "phase": "pursuing", "createdAt": BEGIN,
        "activeMs": 0, "continuations": 0, "audits": 0, "emptyStreak": 0, "erroredStreak": 0,
        "repeatStreak": 0, "rejectionStreak": 0, "failureStreak": 0,
        "gate": { "provider": "sim", "model": "auditor", "timeoutMs": 900_000, "idleTimeoutMs": 120_000,
            "maxEmptyContinuations": 3, "maxConsecutiveAuditRejections": 3, "maxContinuations": 100,
            "maxAudits": 20, "sandbox": "prefer", "sandboxNetwork": "loopback", "sandboxHide": [] } })
}
