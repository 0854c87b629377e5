//! What the core spends its time on, one bench for each thing that a user could feel.
//!
//! `cargo bench -p goal-benches` runs them all; a word behind `--` picks some of them.
#![expect(
    clippy::expect_used,
    reason = "a bench whose set-up fails has nothing to measure"
)]

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use goal_engine::{
    Activity, Clocks, Command, Effect, Engine, Event, HostFacts, ModelInfo, ModelRef, Monotonic,
    OpenCause, Recovered, SessionOpened, Settings, Settling, ToolFinished, WallClock,
};
use goal_parser::parse_verdict;
use goal_prompts::{fence, safe};
use goal_protocol::{LineIn, LineOut, RecordWire, effect, event, read_branch};
use serde_json::json;

/// A verdict at the end of a report with reasoning, emphasis and a long body.
fn verdicts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("verdict");
    for kib in [4, 1024] {
        let line = "* requirement checked with `cargo test`: <b>fine</b>, see **src/lib.rs**\n";
        let body = line.repeat(kib * 1024 / line.len());
        let text = format!("<think>first I look around</think>\n{body}\n**<approved/>**\n");
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(format!("{kib} KiB"), |bench| {
            bench.iter(|| parse_verdict(black_box(&text)))
        });
    }
    group.finish();
}

/// An objective of the largest size, fenced and made safe for the auditor, and cut for a line.
fn untrusted_text(criterion: &mut Criterion) {
    let text = "Fix <b>it</b> & keep 👩‍💻 می‌خواهم \u{202e}calm\n".repeat(1_200);
    let mut group = criterion.benchmark_group("untrusted text");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("fenced for the auditor", |bench| {
        bench.iter(|| fence::for_auditor("0123456789abcdef", "objective", black_box(&text), None));
    });
    group.bench_function("one line of a widget", |bench| {
        bench.iter(|| safe::for_display(black_box(&text), 60))
    });
    group.finish();
}

/// The engine in the run of a goal.
struct Running {
    engine: Engine,
    moment: u64,
}

impl Running {
    fn new() -> Self {
        let settings = Settings {
            max_continuations: None,
            ..Settings::for_tests()
        };
        let mut running = Self {
            engine: Engine::new(settings),
            moment: 0,
        };
        running.give(Event::SessionOpened(Box::new(SessionOpened {
            cause: OpenCause::Start,
            branch: Recovered::default(),
            has_ui: true,
            terminal: true,
            cwd: None,
            model: Some(model()),
        })));
        running.give(Event::Command(Command {
            text: "the objective".to_owned(),
            file: None,
            host: host(),
        }));
        running.give(Event::RunStarted);
        running
    }

    fn give(&mut self, event: Event) -> usize {
        self.effects(event).len()
    }

    fn effects(&mut self, event: Event) -> Vec<Effect> {
        self.moment += 1;
        let clocks = Clocks {
            now: Monotonic(self.moment),
            wall: WallClock(self.moment),
            fresh: self.moment,
        };
        let mut out = Vec::new();
        self.engine.handle(clocks, event, &mut out);
        out
    }
}

fn model() -> ModelRef {
    ModelRef {
        provider: "p".to_owned(),
        id: "m".to_owned(),
    }
}

fn host() -> HostFacts {
    HostFacts {
        activity: Activity::Idle,
        has_ui: true,
        headless: false,
        model: Some(model()),
        thinking_level: None,
        models: vec![ModelInfo {
            model: model(),
            name: "m".to_owned(),
        }],
        tools_active: true,
        config_path: None,
    }
}

fn call() -> Event {
    Event::ToolFinished(ToolFinished {
        tool: "bash".to_owned(),
        is_error: false,
        ours: false,
        writes: false,
        ran: true,
        aborted: false,
        error: None,
    })
}

/// What a tool call and a settle boundary cost in the core.
fn engine_steps(criterion: &mut Criterion) {
    let mut running = Running::new();
    criterion.bench_function("engine/a finished tool call", |bench| {
        bench.iter(|| running.give(call()))
    });
    criterion.bench_function("engine/a settle boundary", |bench| {
        bench.iter(|| {
            running.give(call());
            running.give(Event::Settling(Settling {
                failed: false,
                provider_aborted: false,
                error: None,
                final_text: "done for now".to_owned(),
                tools_active: true,
                full_message_present: true,
            }))
        });
    });
}

/// A session with 50,000 entries of ours on its branch: the goal, and all its audits before.
fn branches(criterion: &mut Criterion) {
    let mut engine = Running::new();
    let paused = engine.effects(Event::Command(Command {
        file: None,
        text: "pause".to_owned(),
        host: host(),
    }));
    let goal = paused
        .into_iter()
        .find(|effect| matches!(effect, Effect::SaveGoal(_)));
    let goal = serde_json::to_value(goal.and_then(effect)).expect("JSON")["entry"].clone();
    let audit = json!({
        "v": 1, "kind": "audit", "goalId": goal["goal"]["id"], "generation": 1, "number": 1,
        "outcome": "disapproved", "model": "p/m", "checks": [{"ok": true}, {"ok": false}],
    });
    let mut records = vec![RecordWire::Ours { data: goal }];
    records.resize(50_000, RecordWire::Ours { data: audit });
    assert!(read_branch(&records).goal.is_some());
    criterion.bench_function("branch/50,000 records", |bench| {
        bench.iter(|| read_branch(black_box(&records)))
    });
}

/// A line in, its effects, a line out: what the pipe adds to a settle boundary.
fn wire(criterion: &mut Criterion) {
    let settling = json!({
        "type": "settling", "failed": false, "providerAborted": false, "finalText": "x".repeat(2_000),
        "toolsActive": true, "fullMessagePresent": true,
    });
    let line = json!({"token": "0123456789abcdef", "id": 7, "event": settling}).to_string();
    criterion.bench_function("wire/a settle boundary there and back", |bench| {
        bench.iter_batched(
            Running::new,
            |mut running| {
                let line: LineIn = serde_json::from_str(black_box(&line)).expect("a line");
                let event = event(line.event, None).expect("an event");
                let clocks = Clocks {
                    now: Monotonic(100),
                    wall: WallClock(100),
                    fresh: 100,
                };
                let mut out = Vec::new();
                running.engine.handle(clocks, event, &mut out);
                let effects = out.into_iter().filter_map(effect).collect();
                let line = LineOut {
                    token: line.token,
                    id: line.id,
                    effects,
                };
                serde_json::to_vec(&line).expect("JSON")
            },
            BatchSize::SmallInput,
        );
    });
}

criterion_group!(
    benches,
    verdicts,
    untrusted_text,
    engine_steps,
    branches,
    wire
);
criterion_main!(benches);
