//! Our records of a session's branch.

use goal_engine::{Activity, ModelInfo};
use goal_engine::{
    Clocks, Command, Effect, Engine, Event, Goal, HostFacts, ModelRef, Monotonic,
    OBJECTIVE_MAX_BYTES, OpenCause, Recovered, SavedGoal, SessionOpened, Settings, WallClock,
};
use goal_protocol::{RecordWire, read_branch};
use serde_json::Value;

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
    can_be_gone_on_with(read);
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
    // The shim's integers end at 2^53.
    assert!(goal.generation() < 1 << 53);
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

fn can_be_gone_on_with(branch: Recovered) {
    let may_resume = branch.goal.is_some();
    let mut driver = Driver {
        engine: Engine::new(Settings::for_tests()),
        events: 0,
    };
    driver.give(Event::SessionOpened(Box::new(SessionOpened {
        cause: OpenCause::Start,
        branch,
        has_ui: true,
        model: None,
        cwd: None,
    })));
    for text in ["status", "why", "config", "help"] {
        driver.command(text);
    }
    let resumed = driver.command("resume");
    let starts = resumed
        .iter()
        .any(|effect| matches!(effect, Effect::StartRun(_)));
    assert_eq!(starts, may_resume, "{resumed:?}");
    driver.command("pause");
    assert!(!driver.engine.goal().is_some_and(Goal::is_pursuing));
}

struct Driver {
    engine: Engine,
    events: u64,
}

impl Driver {
    fn command(&mut self, text: &str) -> Vec<Effect> {
        self.give(Event::Command(Command {
            text: text.to_owned(),
            file: None,
            host: host(),
        }))
    }

    fn give(&mut self, event: Event) -> Vec<Effect> {
        self.events += 1;
        let clocks = Clocks {
            now: Monotonic(self.events),
            wall: WallClock(self.events),
            fresh: self.events,
        };
        let mut effects = Vec::new();
        self.engine.handle(clocks, event, &mut effects);
        effects
    }
}

fn host() -> HostFacts {
    let model = ModelRef {
        provider: "p".to_owned(),
        id: "executor".to_owned(),
    };
    HostFacts {
        activity: Activity::Idle,
        has_ui: true,
        headless: false,
        model: Some(model.clone()),
        thinking_level: None,
        models: vec![ModelInfo {
            model,
            name: "executor".to_owned(),
        }],
        tools_active: true,
        config_path: None,
    }
}
