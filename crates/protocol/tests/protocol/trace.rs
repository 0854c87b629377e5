//! A recorded drive of the engine comes out the same again; what is not the same is found and told;
//! and a file that is no sound trace is called what it is.

use std::io;

use goal_engine::{Clocks, Engine, Event, Monotonic, Settings, WallClock};
use goal_protocol::trace::{
    DiffError, GoalEnd, Part, Recorder, Recording, Replay, Side, TRACE_MAX_BYTES, TraceEnd,
    TraceError, diff, replay,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::lines::events;

/// The lines the host would send for a goal that is set, worked on and paused.
fn a_goal() -> Vec<Value> {
    let host = json!({
        "activity": "idle", "hasUi": true, "headless": false, "toolsActive": true,
        "model": {"provider": "p", "id": "x"}, "models": [{"provider": "p", "id": "x"}],
    });
    let mut lines = vec![
        json!({"type": "session_opened", "cause": {"type": "start"}, "records": [], "auditLost": false,
            "hasUi": true, "terminal": false, "model": {"provider": "p", "id": "x"}, "cwd": "/w"}),
        json!({"type": "command", "text": "Write a poem", "host": host}),
    ];
    let set = engine_after(&lines);
    let tag = set.goal().expect("a goal").tag();
    lines.extend([
        json!({"type": "message_arrived", "tag": {"id": tag.id, "generation": tag.generation}}),
        json!({"type": "tool_finished", "tool": "write", "isError": false, "ran": true, "aborted": false}),
        json!({"type": "settling", "failed": false, "providerAborted": false, "finalText": "More to do.",
            "toolsActive": true, "fullMessagePresent": true}),
        json!({"type": "command", "text": "pause", "host": host}),
    ]);
    lines
}

/// The engine that was told these lines.
fn engine_after(lines: &[Value]) -> Engine {
    let mut engine = Engine::new(Settings::for_tests());
    for (at, line) in (1_u64..).zip(lines) {
        let wire = serde_json::from_value(line.clone()).expect("a line of the wire");
        if let Some(event) = goal_protocol::event(wire, Some("/settings")) {
            engine.handle(clocks(at), event, &mut Vec::new());
        }
    }
    engine
}

/// Records what an engine makes of these lines, one every 10 ms.
fn recorded(lines: Vec<Value>) -> String {
    let mut recorder = recorder(TRACE_MAX_BYTES);
    drive(&mut recorder, lines);
    recorder.end();
    text_of(&recorder)
}

fn recorder(max_bytes: u64) -> Recorder<Vec<u8>> {
    Recorder::start(Vec::new(), &Settings::for_tests(), "0.1.0", max_bytes).expect("memory")
}

fn drive(recorder: &mut Recorder<Vec<u8>>, lines: Vec<Value>) -> Recording {
    let mut engine = Engine::new(Settings::for_tests());
    let mut state = Recording::GoesOn;
    for (at, line) in (1_u64..).zip(lines) {
        let wire = serde_json::from_value(line).expect("a line of the wire");
        let Some(event) = goal_protocol::event(wire, Some("/settings")) else {
            continue;
        };
        let clocks = clocks(at);
        recorder.event(clocks, &event);
        let mut effects = Vec::new();
        engine.handle(clocks, event, &mut effects);
        state = recorder.effects(&effects).expect("memory");
    }
    state
}

fn clocks(at: u64) -> Clocks {
    Clocks {
        now: Monotonic(at * 10),
        wall: WallClock(1_700_000_000_000 + at * 10),
        fresh: u64::MAX - at,
    }
}

fn text_of(recorder: &Recorder<Vec<u8>>) -> String {
    String::from_utf8(recorder.out().clone()).expect("text")
}

fn replayed(trace: &str) -> Replay {
    replay(trace.as_bytes()).expect("a trace")
}

fn refused(trace: &str) -> TraceError {
    replay(trace.as_bytes()).expect_err("no trace")
}

/// The trace with one line put through a change.
fn with_line(trace: &str, number: usize, change: impl Fn(&str) -> String) -> String {
    let lines = trace.lines().enumerate();
    let line = |(at, line): (usize, &str)| {
        if at + 1 == number {
            change(line)
        } else {
            line.to_owned()
        }
    };
    lines.map(|line_| line(line_) + "\n").collect()
}

#[test]
fn the_same_events_give_the_same_effects() {
    let replay = replayed(&recorded(a_goal()));
    assert_eq!(replay.difference, None);
    assert_eq!((replay.events, replay.covered_ms), (6, 50));
    assert!(replay.effects >= 6, "{replay:?}");
    assert_eq!(replay.began_at, Some(1_700_000_000_010));
    assert_eq!(
        (replay.product.as_str(), replay.end),
        ("0.1.0", Some(TraceEnd::Closed))
    );
    let GoalEnd::There { phase, reason, .. } = replay.goal else {
        panic!("{replay:?}");
    };
    assert_eq!(
        (phase.as_str(), reason.as_deref()),
        ("paused", Some("user"))
    );
}

#[test]
fn the_goal_of_a_trace_is_told_as_it_ended() {
    let mut cleared = a_goal();
    cleared[5]["text"] = "clear".into();
    cleared
        .push(json!({"type": "confirmed", "ticket": 0, "yes": false, "host": cleared[1]["host"]}));
    let replay = replayed(&recorded(cleared));
    assert!(
        matches!(&replay.goal, GoalEnd::Gone { ended, .. } if ended == "cleared"),
        "{replay:?}"
    );
    assert_eq!(replayed(&recorded(Vec::new())).goal, GoalEnd::None);
}

/// The samples of the wire leave no event out.
#[test]
fn events_in_any_order_are_replayed_the_same() {
    let samples = events();
    let twice = samples
        .iter()
        .chain(samples.iter().rev())
        .cloned()
        .collect();
    let replay = replayed(&recorded(twice));
    assert_eq!(replay.difference, None);
    assert!(replay.events > samples.len() as u64, "{replay:?}");
}

#[test]
fn another_effect_is_found_with_what_came_before_it() {
    let trace = recorded(a_goal());
    let changed = with_line(&trace, 6, |line| line.replacen("\"seq\":1", "\"seq\":2", 1));
    let replay = replayed(&changed);
    let difference = replay.difference.expect("a difference");
    assert_eq!((difference.event, difference.line), (5, 6));
    assert_eq!(difference.part, Part::Effect { number: 1 });
    assert_eq!(difference.before.len(), 5);
    assert!(
        difference.before[4].contains("settling → propose"),
        "{difference:?}"
    );
    let words = difference.words("recorded", "now");
    for part in [
        "Effect 1 of event 5",
        "recorded: …",
        "\"seq\":2",
        "\"seq\":1",
        "command → ",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    assert_eq!(replay.end, None);
}

#[test]
fn an_effect_too_few_and_one_too_many_are_differences() {
    let trace = recorded(a_goal());
    let none = |line: &str| {
        let head = line.split(",\"effects\":").next().unwrap_or_default();
        format!("{head},\"effects\":[]}}")
    };
    let difference = replayed(&with_line(&trace, 6, none))
        .difference
        .expect("a difference");
    assert_eq!(difference.expected, None);
    assert!(
        difference
            .words("recorded", "now")
            .contains("recorded: nothing more")
    );
    let more = |line: &str| line.replacen("\"effects\":[]", "\"effects\":[{\"type\":\"ring\"}]", 1);
    let difference = replayed(&with_line(&trace, 4, more))
        .difference
        .expect("a difference");
    assert_eq!((difference.event, difference.got), (3, None));
}

#[test]
fn a_trace_that_was_laid_out_anew_is_the_same() {
    let trace = recorded(a_goal());
    let sorted = |line: &str| {
        let value: Value = serde_json::from_str(line).expect("JSON");
        value.to_string() // serde_json sorts the names.
    };
    let sorted: String = trace.lines().map(|line| sorted(line) + "\n").collect();
    assert_ne!(sorted, trace);
    assert_eq!(replayed(&sorted).difference, None);
}

#[test]
fn a_trace_cut_off_anywhere_is_replayed_up_to_there() {
    let trace = recorded(a_goal());
    let ends: Vec<usize> = trace.match_indices('\n').map(|(at, _)| at).collect();
    let header = ends[0] + 1;
    for at in (header..trace.len())
        .step_by(7)
        .chain(ends.iter().copied().skip(1))
    {
        let replay = replay(&trace.as_bytes()[..at]).expect("a trace");
        assert_eq!(replay.difference, None, "cut at {at}");
        // A line that lacks nothing but its line feed counts.
        let lines = ends.iter().filter(|end| **end <= at).count() - 1;
        assert_eq!(replay.events, lines.min(6) as u64, "cut at {at}");
        let in_a_line = !ends.contains(&at) && !ends.contains(&(at - 1));
        let end = match lines {
            7 => TraceEnd::Closed,
            _ if in_a_line => TraceEnd::Torn,
            _ => TraceEnd::Open,
        };
        assert_eq!(replay.end, Some(end), "cut at {at}");
    }
    assert!(matches!(refused(""), TraceError::Empty));
    assert!(matches!(refused(&trace[..header / 2]), TraceError::Empty));
}

#[test]
fn an_event_the_process_died_of_is_the_last_line() {
    let told = |answered: bool| {
        let mut out = Vec::new();
        let settings = Settings::for_tests();
        let mut recorder =
            Recorder::start(&mut out, &settings, "0.1.0", TRACE_MAX_BYTES).expect("memory");
        recorder.event(clocks(1), &Event::Interrupt);
        if answered {
            recorder.effects(&[]).expect("memory");
        }
        drop(recorder);
        String::from_utf8(out).expect("text")
    };
    let died = told(false);
    assert!(died.ends_with("\"effects\":null}\n"), "{died}");
    let replay = replayed(&died);
    assert_eq!((replay.events, replay.end), (1, Some(TraceEnd::Died)));
    // One that is dropped between two events adds nothing.
    assert_eq!(replayed(&told(true)).end, Some(TraceEnd::Open));
}

#[test]
fn a_trace_ends_at_its_limit_and_says_so() {
    const MAX: u64 = 2_000;
    let mut small = recorder(MAX);
    assert_eq!(drive(&mut small, a_goal()), Recording::Full);
    let written = small.out().len();
    small.event(clocks(99), &Event::Interrupt);
    assert_eq!(small.effects(&[]).expect("memory"), Recording::Full);
    small.end();
    assert_eq!(small.out().len(), written, "nothing follows");
    assert!(written < 2_100, "{written}");
    let text = text_of(&small);
    assert!(
        text.ends_with("{\"end\":\"full\",\"maxBytes\":2000}\n"),
        "{text}"
    );
    let replay = replayed(&text);
    assert_eq!(
        (replay.difference, replay.end),
        (None, Some(TraceEnd::Full))
    );
}

#[test]
fn a_disk_that_is_full_ends_the_trace_once() {
    struct Disk(usize);
    impl io::Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    assert!(Recorder::start(Disk(0), &Settings::for_tests(), "0.1.0", TRACE_MAX_BYTES).is_err());
    let mut recorder =
        Recorder::start(Disk(1), &Settings::for_tests(), "0.1.0", TRACE_MAX_BYTES).expect("room");
    recorder.event(clocks(1), &Event::Interrupt);
    assert!(recorder.effects(&[]).is_err());
    recorder.event(clocks(2), &Event::Interrupt);
    assert_eq!(recorder.effects(&[]).expect("not tried"), Recording::Full);
}

#[test]
fn a_file_that_is_no_trace_is_called_what_it_is() {
    let session = "{\"type\":\"session\",\"version\":3}\n{\"type\":\"message\"}\n";
    assert!(matches!(refused(session), TraceError::Session));
    for foreign in [
        "hello\n",
        "[]\n",
        "{}\n",
        "{\"format\":\"other\",\"v\":1}\n",
        "\u{0}\u{1}",
    ] {
        let error = refused(foreign);
        assert!(matches!(error, TraceError::Foreign), "{foreign:?}: {error}");
        assert!(
            error.to_string().contains("no trace of goal-auditor"),
            "{error}"
        );
    }
    let newer = with_line(&recorded(a_goal()), 1, |line| {
        line.replacen(
            "\"v\":1,\"product\":\"0.1.0\"",
            "\"v\":2,\"product\":\"9.0.0\"",
            1,
        )
    });
    let error = refused(&newer).to_string();
    assert!(
        error.contains("format 2") && error.contains("goal-auditor 9.0.0"),
        "{error}"
    );
}

#[test]
fn a_damaged_line_before_the_last_is_named() {
    let trace = recorded(a_goal());
    type Damage = fn(&str) -> String;
    let damages: [(&str, Damage); 6] = [
        ("", |line| line[..line.len() / 2].to_owned()),
        ("event 2 comes after event 2", |line| {
            line.replacen("\"n\":3", "\"n\":2", 1)
        }),
        ("time is before", |line| {
            line.replacen("\"now\":30", "\"now\":1", 1)
        }),
        ("fresh", |line| {
            line.replacen("\"fresh\":\"", "\"fresh\":\"x", 1)
        }),
        ("", |line| {
            line.replacen("message_arrived", "message_lost", 1)
        }),
        ("no such event", |line| {
            line.replacen("message_arrived", "ping", 1)
        }),
    ];
    for (why, damage) in damages {
        let error = refused(&with_line(&trace, 4, damage)).to_string();
        assert!(
            error.starts_with("line 4 is damaged: ") && error.contains(why),
            "{why:?}: {error}"
        );
    }
}

#[test]
fn two_traces_differ_where_they_part() {
    let trace = recorded(a_goal());
    let of = |a: &str, b: &str| diff(a.as_bytes(), b.as_bytes());
    assert!(matches!(of(&trace, &trace), Ok(None)));

    let later = with_line(&trace, 4, |line| {
        line.replacen("\"now\":30", "\"now\":31", 1)
    });
    let difference = of(&trace, &later).expect("traces").expect("a difference");
    assert_eq!(
        (difference.part, difference.event, difference.line),
        (Part::Event, 3, 4)
    );

    let other = with_line(&trace, 6, |line| line.replacen("\"seq\":1", "\"seq\":2", 1));
    let difference = of(&trace, &other).expect("traces").expect("a difference");
    assert_eq!(
        (difference.part, difference.event),
        (Part::Effect { number: 1 }, 5)
    );

    let shorter: String = trace
        .lines()
        .take(4)
        .map(|line| format!("{line}\n"))
        .collect();
    let difference = of(&trace, &shorter).expect("traces").expect("a difference");
    assert_eq!((difference.event, difference.got.as_deref()), (4, None));
    assert!(of(&shorter, &trace).expect("traces").is_some());

    let settings = with_line(&trace, 1, |line| {
        line.replacen("\"maxAudits\":20", "\"maxAudits\":2", 1)
    });
    let difference = of(&trace, &settings)
        .expect("traces")
        .expect("a difference");
    assert_eq!((difference.part, difference.event), (Part::Settings, 0));
    assert!(
        difference
            .words("a", "b")
            .starts_with("The settings differ.")
    );

    let error = of(&trace, "hello\n").expect_err("no trace");
    assert!(matches!(
        error,
        DiffError {
            side: Side::B,
            error: TraceError::Foreign
        }
    ));
}

proptest! {
    #[test]
    fn reading_a_trace_never_throws(
        at in any::<prop::sample::Index>(),
        cut in 0_usize..40,
        bytes in prop::collection::vec(any::<u8>(), 0..40),
        alone in any::<bool>(),
    ) {
        let mut trace = recorded(a_goal()).into_bytes();
        let from = at.index(trace.len());
        let to = (from + cut).min(trace.len());
        trace.splice(from..to, bytes.iter().copied());
        let trace = if alone { bytes } else { trace };
        let _ = replay(&trace[..]);
        let compared = diff(&trace[..], &trace[..]);
        prop_assert!(compared.is_err() || matches!(compared, Ok(None)), "{compared:?}");
    }
}
