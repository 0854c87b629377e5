//! Time, memory and the number of lines.

use std::fs;

use serde_json::{Value, json};

use crate::shim::Shim;
use crate::{command, effect, opened, pursuing};

/// A core with these settings.
fn with_settings(settings: &Value) -> (Shim, tempfile::TempDir) {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("goal-auditor.json"), settings.to_string()).expect("a file");
    (Shim::greeted(Some(dir.path())), dir)
}

#[test]
fn an_auditor_that_falls_silent_is_ended_by_the_cores_own_clock() {
    let (shim, _dir) = with_settings(&json!({"idleTimeoutMs": 1000}));
    let mut shim = pursuing(shim);
    let effects = shim.ask(json!({
        "type": "tool_invoked", "callId": "c", "tool": "update_goal", "status": "complete", "turn": 1, "cwd": "/",
    }));
    let audit = effect(&effects, "open_auditor")["audit"].clone();
    shim.tell(json!({"type": "auditor", "audit": audit, "event": {"type": "opened"}}));
    shim.tell(json!({"type": "auditor", "audit": audit, "event": {"type": "output"}}));
    let effects = shim.wait_for("finish_tool");
    let result = effect(&effects, "finish_tool");
    assert_eq!(result["details"]["why"], "idle_timeout");
    assert!(
        result["text"]
            .as_str()
            .is_some_and(|text| text.contains("idleTimeoutMs")),
        "{result}"
    );
    assert_eq!(effect(&effects, "close_auditor")["audit"], audit);
}

#[test]
fn an_aborted_run_pauses_its_goal_by_the_cores_own_clock() {
    let mut shim = pursuing(Shim::greeted(None));
    shim.tell(
        json!({"type": "run_settled", "aborted": true, "byUs": false, "fullMessagePresent": true}),
    );
    let effects = shim.wait_for("save_entry");
    assert_eq!(
        effect(&effects, "save_entry")["entry"]["goal"]["pauseReason"],
        "aborted"
    );
}

#[test]
fn settings_that_are_wrong_are_told_once_a_session() {
    let (mut shim, _dir) = with_settings(&json!({"maxAudits": "many"}));
    let effects = shim.ask(opened());
    let told = effect(&effects, "notify")["text"]
        .as_str()
        .unwrap_or_default();
    assert!(
        told.contains("maxAudits") && told.contains("many"),
        "{told}"
    );
    let effects = shim.ask(opened());
    assert!(
        effects.iter().all(|effect| effect["type"] != "notify"),
        "{effects:?}"
    );
}

#[test]
fn settings_changed_in_mid_goal_are_told_and_count_from_the_next_resume() {
    let (shim, dir) = with_settings(&json!({}));
    let mut shim = pursuing(shim);
    fs::write(dir.path().join("goal-auditor.json"), "{\"maxAudits\": 1}").expect("a file");
    let effects = shim.ask(command("status"));
    let told = effect(&effects, "notify")["text"]
        .as_str()
        .unwrap_or_default();
    assert!(told.contains("/goal resume"), "{told}");
}

#[test]
fn many_calls_in_one_goal_cost_no_line_and_little_memory() {
    let mut shim = pursuing(Shim::greeted(None));
    shim.ask(json!({"type": "ping"}));
    let before = shim.unasked.len();
    let error = "x".repeat(2_000);
    for at in 0..10_000_u32 {
        let error = (at % 3 == 0).then_some(&error);
        shim.tell(json!({
            "type": "tool_finished", "tool": "bash", "isError": error.is_some(), "ran": true, "aborted": false,
            "error": error,
        }));
        if at % 10 == 9 {
            shim.tell(json!({"type": "turn_ended", "brokenOff": false}));
        }
    }
    assert!(shim.ask(json!({"type": "ping"})).is_empty());
    assert_eq!(shim.unasked.len(), before, "{:?}", &shim.unasked[before..]);
    #[cfg(target_os = "linux")]
    {
        let peak_kib = shim.proc_status("VmHWM");
        assert!(peak_kib < 20 * 1024, "{peak_kib} KiB");
    }
}

#[test]
fn many_runs_of_one_goal_cost_one_line_each_and_little_memory() {
    let (shim, _dir) = with_settings(&json!({"maxContinuations": 0}));
    let mut shim = pursuing(shim);
    for _ in 0..2_000 {
        shim.tell(json!({"type": "tool_finished", "tool": "bash", "isError": false, "ran": true, "aborted": false}));
        let effects = shim.ask(json!({
            "type": "settling", "failed": false, "providerAborted": false, "finalText": "", "toolsActive": true,
            "fullMessagePresent": true,
        }));
        let proposal = effect(&effects, "propose")["proposal"].clone();
        let taken = shim.ask(json!({"type": "proposal_taken", "proposal": proposal}));
        assert!(
            taken.iter().all(|effect| effect["type"] == "show_status"),
            "{taken:?}"
        );
    }
    assert!(shim.unasked.len() <= 1, "{:?}", shim.unasked);
    #[cfg(target_os = "linux")]
    {
        let peak_kib = shim.proc_status("VmHWM");
        assert!(peak_kib < 20 * 1024, "{peak_kib} KiB");
    }
}
