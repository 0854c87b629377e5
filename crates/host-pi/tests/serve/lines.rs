//! The handshake, and lines that make no sense.

use serde_json::json;

use crate::shim::{Shim, TOKEN};
use crate::{command, effect, opened, pursuing};

#[test]
fn a_greeting_is_answered_with_version_and_token() {
    let mut shim = Shim::silent();
    shim.write_line(&json!({
        "token": TOKEN, "id": 7, "event": {"type": "hello", "protocol": goal_protocol::PROTOCOL_VERSION, "shim": "9.9", "agentDir": null},
    }));
    let line = shim.line();
    assert_eq!(
        (line["token"].as_str(), line["id"].as_u64()),
        (Some(TOKEN), Some(7))
    );
    let welcome = &line["effects"][0];
    assert_eq!(welcome["type"], "welcome");
    assert_eq!(welcome["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn another_protocol_is_refused_with_what_to_do_and_the_process_ends() {
    let mut shim = Shim::silent();
    let effects = shim.ask(json!({"type": "hello", "protocol": 999, "shim": "9.9"}));
    let message = effect(&effects, "refused")["message"]
        .as_str()
        .unwrap_or_default();
    let ours = format!("speaks {}", goal_protocol::PROTOCOL_VERSION);
    for part in ["protocol 999", &ours, "/reload"] {
        assert!(message.contains(part), "{message}");
    }
    let (status, _) = shim.ends();
    assert!(status.success());
}

#[test]
fn a_first_message_that_is_no_greeting_is_refused_and_the_process_ends() {
    for event in [
        json!({"type": "ping"}),
        opened(),
        json!({"type": "unheard_of"}),
        json!({}),
    ] {
        let mut shim = Shim::silent();
        let effects = shim.ask(event);
        assert!(effect(&effects, "refused")["message"].is_string());
        shim.ends();
    }
}

#[test]
fn rubbish_before_the_greeting_is_said_on_stderr_and_the_greeting_still_counts() {
    let mut shim = Shim::silent();
    shim.write(b"not json\n\xff\xfe\n[]\n");
    assert_eq!(shim.greet(None)[0]["type"], "welcome");
    shim.end_of_input();
    let (_, said) = shim.ends();
    assert_eq!(said.lines().count(), 3, "{said}");
}

#[test]
fn a_line_with_another_token_changes_nothing_and_is_said_on_stderr() {
    let mut shim = pursuing(Shim::greeted(None));
    for token in ["", "the token ", "The token"] {
        shim.write_line(&json!({"token": token, "id": 99, "event": command("clear")}));
    }
    let effects = shim.ask(command("status"));
    let text = effect(&effects, "reply")["text"]
        .as_str()
        .unwrap_or_default();
    assert!(text.contains("the objective"), "{text}");
    assert!(
        shim.unasked.iter().all(|line| line["id"].is_null()),
        "{:?}",
        shim.unasked
    );
    shim.end_of_input();
    let (_, said) = shim.ends();
    assert_eq!(said.matches("without the token").count(), 3, "{said}");
}

#[test]
fn an_approval_with_another_token_completes_nothing() {
    let mut shim = pursuing(Shim::greeted(None));
    let effects = shim.ask(json!({
        "type": "tool_invoked", "callId": "c", "tool": "update_goal", "status": "complete", "turn": 1, "cwd": "/",
    }));
    let audit = effect(&effects, "open_auditor")["audit"].clone();
    let usage = json!({"input": 0, "output": 0, "cost": {}});
    for event in [
        json!({"type": "tool_finished", "callId": "x", "tool": "read", "ok": true, "ms": 1}),
        json!({"type": "answer_ended", "text": "<approved/>", "stop": "stop", "usage": usage}),
        json!({"type": "rested"}),
    ] {
        let event = json!({"type": "auditor", "audit": audit, "event": event});
        shim.write_line(&json!({"token": "guessed", "event": event}));
    }
    let effects = shim.ask(command("status"));
    let text = effect(&effects, "reply")["text"]
        .as_str()
        .unwrap_or_default();
    assert!(text.contains("audit running"), "{text}");
}

#[test]
fn an_unknown_event_is_answered_under_its_own_number() {
    let mut shim = Shim::greeted(None);
    for event in [
        json!({"type": "goal_wished"}),
        json!({"type": "confirmed"}),
        json!(3),
        json!(null),
    ] {
        let effects = shim.ask(event);
        assert!(effect(&effects, "diagnostic")["message"].is_string());
    }
    assert!(shim.ask(json!({"type": "ping"})).is_empty());
}

#[test]
fn rubbish_after_the_greeting_is_one_diagnostic_each_and_life_goes_on() {
    let mut shim = Shim::greeted(None);
    let rubbish: [&[u8]; 5] = [b"garbage", b"", b"{}", b"\"text\"", b"\xc3\x28"];
    for line in rubbish {
        shim.write(line);
        shim.write(b"\n");
        let answer = shim.line();
        assert_eq!(answer["effects"][0]["type"], "diagnostic", "{answer}");
        assert!(answer["id"].is_null());
    }
    assert!(shim.ask(json!({"type": "ping"})).is_empty());
}

#[test]
fn an_over_long_line_is_dropped_and_the_next_one_is_read() {
    let mut shim = Shim::greeted(None);
    let chunk = vec![b'x'; 1024 * 1024];
    for _ in 0..65 {
        shim.write(&chunk);
    }
    shim.write(b"\n");
    let answer = shim.line();
    let message = answer["effects"][0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("too long"), "{answer}");
    assert!(shim.ask(json!({"type": "ping"})).is_empty());
}

#[test]
fn line_and_paragraph_separators_end_no_line() {
    let mut shim = Shim::greeted(None);
    shim.ask(opened());
    let effects = shim.ask(command("one\u{2028}two\u{2029}three\u{85}four"));
    let entry = &effect(&effects, "save_entry")["entry"];
    assert_eq!(
        entry["goal"]["objective"],
        "one\u{2028}two\u{2029}three\u{85}four"
    );
}

#[test]
fn unknown_fields_of_a_newer_shim_are_tolerated() {
    let mut shim = Shim::greeted(None);
    let mut event = opened();
    event["weather"] = json!("fine");
    shim.write_line(&json!({"token": TOKEN, "id": 50, "event": event, "mood": 1}));
    assert_eq!(shim.line()["id"], 50);
}
