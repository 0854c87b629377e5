//! `goal-auditor serve` without pi: the handshake, lines that make no sense, time, and how it dies.
#![expect(
    clippy::needless_pass_by_value,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests, which the exemption for tests does not reach"
)]

mod life;
mod limits;
mod lines;
mod shim;
mod traces;

use serde_json::{Value, json};
use shim::Shim;

/// The host as a command reports it.
fn host() -> Value {
    json!({
        "activity": "idle", "hasUi": true, "headless": false, "toolsActive": true, "thinkingLevel": null,
        "model": {"provider": "p", "id": "executor"}, "models": [{"provider": "p", "id": "executor"}],
    })
}

fn command(text: &str) -> Value {
    json!({"type": "command", "text": text, "host": host()})
}

fn opened() -> Value {
    json!({
        "type": "session_opened", "cause": {"type": "start"}, "records": [], "auditLost": false,
        "hasUi": true, "terminal": true, "model": {"provider": "p", "id": "executor"},
    })
}

/// A core whose goal is in its run.
fn pursuing(mut shim: Shim) -> Shim {
    shim.ask(opened());
    let effects = shim.ask(command("the objective"));
    let details = &effect(&effects, "start_run")["message"]["details"];
    let tag = json!({"id": details["goalId"], "generation": details["generation"]});
    shim.tell(json!({"type": "run_started"}));
    shim.tell(json!({"type": "message_arrived", "tag": tag}));
    shim
}

/// The effect of this type.
fn effect<'a>(effects: &'a [Value], kind: &str) -> &'a Value {
    let found = effects.iter().find(|effect| effect["type"] == kind);
    found.unwrap_or_else(|| panic!("no {kind} among {effects:?}"))
}
