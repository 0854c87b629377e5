//! `goal-auditor replay`: what it says and how it exits. That cores write such traces is seen with
//! `serve`.

use std::path::Path;

use serde_json::{Value, json};

use crate::{Said, file, run, text};

/// A trace of one event without effects: nothing happens before a session is opened.
fn trace(product: &str, more: &str) -> String {
    let settings = json!({
        "provider": null, "model": null, "thinkingLevel": null, "timeoutMs": null, "idleTimeoutMs": null,
        "maxEmptyContinuations": 3, "maxConsecutiveAuditRejections": 3, "maxContinuations": null,
        "maxAudits": null, "changed": [], "rows": [],
        "sandbox": {"mode": "off", "network": "off", "hide": [], "scratchMb": null},
    });
    format!(
        "{{\"format\":\"goal-auditor-trace\",\"v\":1,\"product\":\"{product}\",\"protocol\":1,\"settings\":{settings}}}\n\
         {{\"n\":1,\"now\":5,\"wall\":1700000000000,\"fresh\":\"1\",\"event\":{{\"type\":\"tick\"}},\"effects\":[{more}]}}\n\
         {{\"end\":\"closed\"}}\n"
    )
}

fn replayed(content: &str, flags: &[&str]) -> Said {
    let dir = tempfile::tempdir().unwrap();
    let path = text(&file(dir.path(), "trace.jsonl", content));
    run(&[&["replay", &path], flags].concat())
}

#[test]
fn the_same_effects_are_a_success() {
    let said = replayed(&trace(env!("CARGO_PKG_VERSION"), ""), &[]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    for part in [
        "The same effects again.",
        "1 events, 0 effects, 0s, from 2023-11-14T22:13:20Z.",
        "No goal.",
        "The trace is whole.",
    ] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    assert!(!said.out.contains("another version"), "{}", said.out);
}

#[test]
fn a_difference_is_shown_and_is_a_failure() {
    let said = replayed(&trace("0.0.1", "{\"type\":\"ring\"}"), &[]);
    assert_eq!(said.code, Some(1), "{}", said.err);
    for part in [
        "Effect 1 of event 1 differs (line 2).",
        "\n  1 +0.005 s tick → ring\n",
        "recorded: {\"type\":\"ring\"}\nnow: nothing more\n",
        "another version",
    ] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
}

#[test]
fn json_is_for_machines() {
    let said = replayed(
        &trace("0.0.1", "{\"type\":\"ring\"}"),
        &["--format", "json"],
    );
    assert_eq!(said.code, Some(1), "{}", said.err);
    let told: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(told["events"], 1);
    assert_eq!(
        told["difference"]["part"],
        json!({"type": "effect", "number": 1})
    );
    assert_eq!(told["goal"], json!({"state": "none"}));
}

#[test]
fn what_cannot_be_replayed_says_why_and_what_to_do() {
    let newer = trace("9.0.0", "").replacen("\"v\":1", "\"v\":2", 1);
    let cases = [
        ("hello\n", "no trace of goal-auditor"),
        (
            "{\"type\":\"session\",\"version\":3}\n",
            "goal-auditor report",
        ),
        ("", "nothing was recorded"),
        (newer.as_str(), "goal-auditor 9.0.0"),
    ];
    for (content, part) in cases {
        let said = replayed(content, &[]);
        assert_eq!(
            (said.code, said.out.as_str()),
            (Some(2), ""),
            "{}",
            said.err
        );
        assert!(
            said.err.contains(part) && said.err.lines().count() == 1,
            "{}",
            said.err
        );
    }
    let dir = tempfile::tempdir().unwrap();
    for (path, part) in [
        (dir.path(), "no file"),
        (Path::new("/nowhere"), "No such file"),
    ] {
        let said = run(&["replay", &text(path)]);
        assert_eq!(said.code, Some(2), "{}", said.err);
        assert!(said.err.contains(part), "{}", said.err);
    }
    assert_eq!(run(&["replay"]).code, Some(2), "usage");
}

/// A trace comes with a bug report, from anybody.
#[test]
fn a_hostile_trace_cannot_talk_to_the_terminal() {
    let hostile = "{\"type\":\"\\u001b[2J\u{9b}2J\u{202e}\"}";
    let said = replayed(&trace("\\u001b]0;x\\u0007\u{202e}", hostile), &[]);
    assert_eq!(said.code, Some(1), "{}", said.err);
    let bad = |c: &char| (c.is_control() && *c != '\n') || *c == '\u{202e}';
    assert_eq!(said.out.chars().find(bad), None, "{:?}", said.out);
    let newer = trace("\\u001b[2J", "").replacen("\"v\":1", "\"v\":2", 1);
    let said = replayed(&newer, &[]);
    assert_eq!(said.err.chars().find(bad), None, "{:?}", said.err);
}
