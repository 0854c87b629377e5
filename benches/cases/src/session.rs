//! Sessions as the core reads them: the line that opens one, with the goal's records on its branch.

use goal_engine::{Effect, Event, Recovered, Settings};
use goal_protocol::{EffectWire, EventWire, LineIn, RecordWire, effect, event, read_branch};
use serde_json::{Value, json};

use crate::running::{Running, command};

/// The token of the handshake.
pub const TOKEN: &str = "0123456789abcdef";

/// Our records of a branch, newest first: the audits of a goal, and before them the goal.
#[must_use]
pub fn records(count: usize) -> Vec<RecordWire> {
    let goal = saved_goal();
    let audit = json!({
        "v": 1, "kind": "audit", "goalId": goal["goal"]["id"], "generation": 1, "number": 1,
        "outcome": "disapproved", "model": "p/m", "checks": [{"ok": true}, {"ok": false}],
    });
    let audits = count.saturating_sub(1);
    let mut records = vec![RecordWire::Ours { data: audit }; audits];
    records.push(RecordWire::Ours { data: goal });
    records
}

/// The line of the wire that opens a session with so many records of ours.
#[must_use]
pub fn line(count: usize) -> String {
    let records = serde_json::to_value(records(count)).unwrap_or_else(|error| panic!("{error}"));
    let event = json!({
        "type": "session_opened", "cause": {"type": "start"}, "records": records, "auditLost": false,
        "hasUi": true, "terminal": true, "model": {"provider": "p", "id": "m"}, "cwd": "/work",
    });
    json!({"token": TOKEN, "id": 1, "event": event}).to_string()
}

/// Reads such a line, the records in it, and opens the session in an engine: all that the core does.
#[must_use]
pub fn open(line: &str) -> Running {
    let opened = event_of(line);
    let mut running = Running::resting(Settings::for_tests());
    running.give(opened);
    assert!(running.engine().goal().is_some(), "the goal was read");
    running
}

/// What the records of a branch say.
#[must_use]
pub fn read(records: &[RecordWire]) -> Recovered {
    let recovered = read_branch(records);
    assert!(recovered.goal.is_some(), "the goal was read");
    recovered
}

/// The line of the wire that reports a settle boundary.
#[must_use]
pub fn settling_line(final_text: &str) -> String {
    let event = EventWire::Settling {
        failed: false,
        provider_aborted: false,
        error: None,
        final_text: final_text.to_owned(),
        tools_active: true,
        full_message_present: true,
    };
    let line = LineIn {
        token: TOKEN.to_owned(),
        id: Some(7),
        event,
    };
    serde_json::to_string(&line).unwrap_or_else(|error| panic!("{error}"))
}

/// The event of a line.
#[must_use]
pub fn event_of(line: &str) -> Event {
    let line: LineIn = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}"));
    event(line.event, None).unwrap_or_else(|| panic!("an event of the engine"))
}

/// A goal as the session file keeps it.
#[must_use]
pub fn saved_goal() -> Value {
    let paused = Running::new().give(command("pause"));
    let saved = paused
        .into_iter()
        .find(|effect| matches!(effect, Effect::SaveGoal(_)));
    match saved.and_then(effect) {
        Some(EffectWire::SaveEntry { entry }) => {
            serde_json::to_value(entry).unwrap_or_else(|error| panic!("{error}"))
        }
        other => panic!("a pause saves the goal: {other:?}"),
    }
}
