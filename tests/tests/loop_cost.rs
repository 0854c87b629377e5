//! What a goal costs: the cached prefix, the size of continuations, session entries, round trips.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::{fs, io};

use goal_tests::process::{Signal, signal};
use goal_tests::{EXECUTOR, Pi, PiOptions, Reply, Request, Script, Steps};
use serde_json::{Value, json};

fn bash() -> Reply {
    Reply::call("bash", json!({ "command": "true" }))
}

fn options(steps: impl Into<Steps>) -> PiOptions {
    PiOptions::new(Script::new().executor(steps))
}

/// The raw body of a request, split where its messages end: what a provider caches, and the rest.
fn split(request: &Request) -> (&[u8], &[u8]) {
    let raw = request.raw.as_slice();
    let text = std::str::from_utf8(raw).unwrap_or_default();
    let end = text.find("],\"stream\"").unwrap_or(0);
    raw.split_at(end)
}

#[test]
fn every_request_is_a_byte_identical_prefix_of_the_next() {
    let mut turn = 0;
    let steps = Steps::choose(move |request| {
        turn += 1;
        match turn {
            5 => Reply::text("only talk, so that there is a nudge"),
            8 => Reply::call("update_goal", json!({ "completionSummary": "counted" })),
            11 => Reply::call("no_such_tool", json!({})),
            14 => Reply::text("a message comes").held_before_end("gate"),
            18 | 21 => Reply::status(401, "enough"),
            _ if request
                .messages
                .last()
                .is_some_and(|message| message.role == "tool") =>
            {
                Reply::text(format!("step {turn}"))
            }
            _ => bash(),
        }
    });
    let auditor = [
        bash(),
        Reply::text("Two stars are missing.\n<disapproved/>"),
    ];
    let pi = Pi::start(PiOptions::new(
        Script::new().executor(steps).auditor(auditor),
    ));
    let mark = pi.goal("Count the stars, one after the other");
    pi.wait_request(EXECUTOR, 14);
    pi.queue("Do not forget the moon", "followUp");
    pi.server().release("gate");
    pi.wait_paused(mark);
    let mark = pi.goal("resume");
    pi.wait_paused(mark);

    let asked = pi.asked();
    assert_eq!(asked.len(), 21);
    let session = pi.session();
    assert!(
        session.continuations().len() > 6,
        "six continuations and more"
    );
    assert_eq!(session.full_messages(), 2, "at start and resume");
    assert_eq!(session.audit_outcomes(), ["disapproved"]);
    for pair in asked.windows(2) {
        let (messages, rest) = split(&pair[0]);
        let (next_messages, next_rest) = split(&pair[1]);
        let number = pair[0].number;
        assert!(messages.len() > 1_000, "the split is not where it was");
        assert!(
            next_messages.starts_with(messages) && next_messages.len() > messages.len(),
            "request {number} is no prefix of the next"
        );
        assert_eq!(rest, next_rest, "tools and settings after request {number}");
    }
    // Nothing that changes with time or count stands in the system prompt.
    assert!(
        !asked[0].system_text().contains("stars"),
        "the objective is no part of it"
    );
    assert_eq!(session.messages("system").len(), 1);
    pi.assert_calls_and_results_adjacent();
}

/// The bound for a marker: 80 tokens, at three and a half bytes a token.
const MARKER_MAX_BYTES: usize = 280;

#[test]
fn continuations_stay_small_and_the_full_message_is_sent_once() {
    let objective = "Sort all the shells of the beach by colour and size. ".repeat(40);
    let mut run = 0;
    let steps = Steps::choose(move |request| {
        if request
            .messages
            .last()
            .is_some_and(|message| message.role == "tool")
        {
            return Reply::text("so far");
        }
        run += 1;
        if run % 3 == 0 {
            Reply::text("only talk")
        } else {
            bash()
        }
    });
    let pi = Pi::start(options(steps).caps(json!({ "maxContinuations": 30 })));
    let mark = pi.goal(&objective);
    pi.wait_paused(mark);
    let session = pi.session();
    let sent = session.continuations();
    assert_eq!(sent.len(), 31);
    assert_eq!(session.full_messages(), 1);
    for marker in &sent[1..] {
        let text = marker["content"].as_str().unwrap_or_default();
        assert!(
            !text.is_empty() && text.len() <= MARKER_MAX_BYTES,
            "{} bytes: {text}",
            text.len()
        );
        let entry = marker.to_string().len();
        assert!(
            entry < 1_200,
            "a continuation takes {entry} bytes of the session file"
        );
    }
    let last = pi
        .asked()
        .last()
        .map(|request| request.count_in("user", objective.trim()));
    assert_eq!(last, Some(1));
    assert_eq!(
        session.data_of("goal").len(),
        2,
        "set and paused; none per continuation"
    );
}

#[test]
fn a_thousand_tool_calls_add_hardly_an_entry_and_no_memory() {
    const CALLS: usize = 100;
    const MESSAGES: usize = 10;
    let many = || {
        let call = || json!({ "path": "a.txt", "limit": 1 });
        (1..CALLS).fold(Reply::call("read", call()), |reply, _| {
            reply.and_call("read", call())
        })
    };
    let mut messages = 0;
    let steps = Steps::choose(move |_| {
        messages += 1;
        match messages {
            1..=MESSAGES => many(),
            11 => Reply::text("All read."),
            _ => Reply::status(401, "enough"),
        }
    });
    let pi = Pi::start(options(steps).file("a.txt", "a\n"));
    let mark = pi.goal("Read it often");
    pi.wait_paused(mark);
    let session = pi.session();
    assert_eq!(session.tool_results("read").len(), CALLS * MESSAGES);
    let ours = session
        .entries
        .iter()
        .filter(|entry| entry["customType"] == "goal-auditor")
        .count();
    let continuations = session.continuations().len();
    assert!(
        ours - continuations < 20,
        "{ours} entries, {continuations} continuations"
    );
    assert_eq!(ours - continuations, 2, "set and paused");
    let memory = goal_tests::process::memory(pi.sidecar()).unwrap();
    assert!(memory < 20_000_000, "the core takes {memory} bytes");
}

#[test]
fn a_turn_that_works_waits_for_no_core() {
    let steps = [
        bash()
            .and_call("bash", json!({ "command": "true" }))
            .held_before_end("gate"),
        bash(),
        bash().held_before_end("thaw"),
        Reply::text("There."),
        Reply::status(401, "enough"),
    ];
    let pi = Pi::start(options(steps));
    let mark = pi.goal("Work");
    pi.wait_event(mark, "message_update");
    let sidecar = pi.sidecar();
    signal(sidecar, Signal::STOP);
    pi.server().release("gate");
    // Three calls and two turns pass while the core stands still.
    pi.wait_request(EXECUTOR, 3);
    signal(sidecar, Signal::CONT);
    pi.server().release("thaw");
    pi.wait_paused(mark);
    assert_eq!(pi.asked().len(), 5);
    assert_eq!(pi.sidecar(), sidecar, "it was not lost meanwhile");
}

/// A core behind a tap that keeps what the shim tells it.
const TAPPED: &str = "#!/bin/sh\ntee -a \"$TAP\" | \"$TAPPED_BIN\" \"$@\"\n";

/// What the shim told the core in a goal with that many calls in one run.
fn told(calls: usize) -> io::Result<Vec<Value>> {
    let folder = tempfile::tempdir()?;
    let (program, tap) = (
        folder.path().join("goal-auditor"),
        folder.path().join("tap"),
    );
    fs::write(&program, TAPPED)?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;

    let work = (1..calls).fold(bash(), |reply, _| reply.and_call("ls", json!({})));
    let steps = [work, Reply::text("There."), Reply::status(401, "enough")];
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let options = options(steps)
        .env("GOAL_AUDITOR_BIN", text(&program))
        .env("TAPPED_BIN", text(&goal_tests::install::binary()))
        .env("TAP", text(&tap));
    let pi = Pi::start(options);
    let mark = pi.goal("Work");
    pi.wait_paused(mark);
    let lines = fs::read_to_string(&tap)?;
    Ok(lines
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect())
}

#[test]
fn the_number_of_awaited_answers_does_not_grow_with_the_tool_calls() {
    let (few, many) = (told(1).unwrap(), told(41).unwrap());
    let of = |all: &[Value], kind: &str| {
        all.iter()
            .filter(|line| line["event"]["type"] == kind)
            .count()
    };
    assert_eq!(of(&few, "tool_finished") + 40, of(&many, "tool_finished"));
    let awaited = |all: &[Value]| {
        let asked = all.iter().filter(|line| !line["id"].is_null());
        let kinds = asked.map(|line| {
            line["event"]["type"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        });
        kinds.filter(|kind| kind != "ping").collect::<Vec<_>>()
    };
    assert_eq!(awaited(&few), awaited(&many));
    // A handshake, the command, the turn that did no work, and two boundaries.
    assert_eq!(
        awaited(&many),
        ["hello", "command", "turn_ended", "settling", "settling"]
    );
    assert_eq!(many.len() - few.len(), 40, "one line a call, and no more");
}
