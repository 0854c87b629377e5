//! Our records of a session's branch.

use goal_engine::{
    Clocks, Effect, Engine, Goal, Monotonic, OBJECTIVE_MAX_BYTES, Recovered, SavedGoal, Settings,
    WallClock,
};
use goal_protocol::{EventWire, RecordWire, read_branch};
use serde_json::{Value, json};

/// Records that are read; what a longer branch costs is measured elsewhere.
const RECORDS_MAX: usize = 64;

/// Each line is a record as the shim sends them, newest first, or the bare data of an entry of ours.
/// Whatever they are:
///
/// * nothing is pursued by being read, and a goal that is read is one the engine may have;
/// * what is older than a goal's entry does not change the goal;
/// * a goal that was read, saved and read again is the same;
/// * the engine can tell about it, resume it, and pause it.
pub fn session(bytes: &[u8]) {
    let lines = bytes.split(|byte| *byte == b'\n');
    let records: Vec<RecordWire> = lines.filter_map(record).take(RECORDS_MAX).collect();
    let read = read_branch(&records);
    is_sound(&read);
    is_decided_by_the_newest(&records, &read);
    if let Some(goal) = &read.goal {
        comes_back(goal);
    }
    can_be_gone_on_with(&records, read.goal.is_some());
}

fn record(line: &[u8]) -> Option<RecordWire> {
    let ours = || {
        let data: Value = serde_json::from_slice(line).ok()?;
        Some(RecordWire::Ours { data })
    };
    serde_json::from_slice(line).ok().or_else(ours)
}

fn is_sound(read: &Recovered) {
    assert!(read.diagnostics.len() <= 1, "{:?}", read.diagnostics);
    assert!(!read.newer_version || read.goal.is_none());
    let Some(goal) = &read.goal else { return };
    assert!(!goal.is_pursuing(), "{goal:?}");
    assert!(!goal.id().is_empty());
    let objective = goal.objective();
    assert!(!objective.is_empty() && objective.len() <= OBJECTIVE_MAX_BYTES);
    assert_eq!(objective, objective.trim());
    // The shim's integers end at 2^53, and generations are counted on from here.
    assert!(goal.generation() < 1 << 52);
}

/// The newest records up to a goal's entry decide; those of a newer version outrank everything.
fn is_decided_by_the_newest(records: &[RecordWire], read: &Recovered) {
    if read.newer_version {
        return;
    }
    let ours: Vec<&RecordWire> = records.iter().filter(|record| !is_legacy(record)).collect();
    let found =
        (0..=ours.len()).find_map(|newest| read_branch(ours[..newest].iter().copied()).goal);
    if let Some(found) = found {
        assert_eq!(read.goal, Some(found), "of {records:?}");
    }
}

const fn is_legacy(record: &RecordWire) -> bool {
    matches!(record, RecordWire::Predecessor { .. })
}

fn comes_back(goal: &Goal) {
    let saved = Effect::SaveGoal(SavedGoal::Present {
        goal: Box::new(goal.clone()),
        active_ms: goal.active_ms(Monotonic(0)),
    });
    let written = goal_protocol::effect(saved).map(serde_json::to_value);
    let entry = written.and_then(Result::ok);
    let entry = entry.as_ref().and_then(|wire| wire.get("entry"));
    let data = entry.cloned().unwrap_or_default();
    let again = read_branch(&[RecordWire::Ours { data }]);
    assert_eq!(again.goal.as_ref(), Some(goal));
}

fn can_be_gone_on_with(records: &[RecordWire], may_resume: bool) {
    let mut driver = Driver {
        engine: Engine::new(Settings::for_tests()),
        events: 0,
    };
    driver.give(json!({
        "type": "session_opened", "cause": {"type": "start"}, "records": records,
        "auditLost": false, "hasUi": true, "terminal": true,
    }));
    for text in ["status", "why", "config", "help"] {
        driver.command(text);
    }
    let resumed = driver.command("resume");
    let starts = |effect: &Effect| matches!(effect, Effect::StartRun(_));
    assert_eq!(resumed.iter().any(starts), may_resume, "{resumed:?}");
    driver.command("pause");
    assert!(!driver.engine.goal().is_some_and(Goal::is_pursuing));
}

struct Driver {
    engine: Engine,
    events: u64,
}

impl Driver {
    fn command(&mut self, text: &str) -> Vec<Effect> {
        self.give(json!({"type": "command", "text": text, "host": {
            "activity": "idle", "hasUi": true, "headless": false, "toolsActive": true,
            "model": {"provider": "p", "id": "executor"},
            "models": [{"provider": "p", "id": "executor"}],
        }}))
    }

    /// An event as the shim writes it.
    fn give(&mut self, line: Value) -> Vec<Effect> {
        let wire: Result<EventWire, _> = serde_json::from_value(line);
        assert!(wire.is_ok(), "the wire has changed: {wire:?}");
        let event = wire.ok().and_then(|wire| goal_protocol::event(wire, None));
        self.events += 1;
        let clocks = Clocks {
            now: Monotonic(self.events),
            wall: WallClock(self.events),
            fresh: self.events,
        };
        let mut effects = Vec::new();
        if let Some(event) = event {
            self.engine.handle(clocks, event, &mut effects);
        }
        effects
    }
}
