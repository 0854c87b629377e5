//! The trace of a session: what is in it, who may read it, and that nothing goes wrong with a goal when
//! something goes wrong with it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::shim::{Shim, TOKEN, binary, wait_for};
use crate::{command, opened, pursuing};

/// A core that is asked to trace into this folder, greeted.
fn tracing(folder: &Path, agent_dir: Option<&Path>) -> Shim {
    let mut core = binary();
    core.env("PI_GOAL_TRACE", folder);
    let mut shim = Shim::of(core);
    shim.greet(agent_dir);
    shim
}

/// The session, opened in this working folder.
fn opened_in(workspace: &Path) -> Value {
    let mut event = opened();
    event["cwd"] = json!(workspace);
    event
}

/// The traces of a folder, oldest first.
fn traces(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
}

/// The only trace, as lines.
fn lines(folder: &Path) -> Vec<Value> {
    let [trace] = traces(folder).try_into().expect("one trace");
    let text = fs::read_to_string(trace).expect("a file");
    let line = |line| serde_json::from_str(line).expect("JSON");
    text.lines().map(line).collect()
}

/// The exit status of a replay of the only trace, and what it says.
fn replay(folder: &Path) -> (Option<i32>, String) {
    let [trace] = traces(folder).try_into().expect("one trace");
    let mut replay = Command::new(env!("CARGO_BIN_EXE_goal-auditor"));
    let output = replay
        .arg("replay")
        .arg(trace)
        .output()
        .expect("the binary");
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).expect("text"))
}

fn diagnostics(shim: &Shim) -> Vec<&str> {
    let effects = shim
        .unasked
        .iter()
        .filter_map(|line| line["effects"].as_array());
    let messages = effects
        .flatten()
        .filter(|effect| effect["type"] == "diagnostic");
    messages
        .filter_map(|effect| effect["message"].as_str())
        .collect()
}

#[test]
fn all_that_the_engine_was_told_is_replayed_to_the_same_effects() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("new/traces");
    let mut shim = pursuing(tracing(&folder, None));
    shim.ask(command("pause"));
    shim.end_of_input();
    assert!(shim.ends().0.success());

    let lines = lines(&folder);
    assert_eq!(lines[0]["format"], "goal-auditor-trace");
    assert_eq!(lines[1]["event"]["type"], "session_opened");
    assert_eq!(lines[lines.len() - 1]["end"], "closed");
    let (code, said) = replay(&folder);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("The same effects again"), "{said}");
    assert!(said.contains("paused (user)"), "{said}");
}

#[test]
fn the_token_of_the_handshake_is_not_in_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut shim = pursuing(tracing(dir.path(), None));
    shim.ask(json!({"type": "ping"}));
    let [trace] = traces(dir.path()).try_into().expect("one trace");
    let text = fs::read_to_string(trace).expect("a file");
    assert!(text.contains("the objective"));
    assert!(
        !text.contains(TOKEN) && !text.contains("\"hello\""),
        "{text}"
    );
}

#[cfg(unix)]
#[test]
fn only_its_user_may_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("traces");
    tracing(&folder, None).ask(opened());
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    let [trace] = traces(&folder).try_into().expect("one trace");
    assert_eq!((mode(&folder), mode(&trace)), (0o700, 0o600));
}

#[test]
fn a_core_that_is_killed_loses_nothing_it_answered() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut shim = pursuing(tracing(dir.path(), None));
    shim.ask(command("status"));
    shim.child
        .kill()
        .and_then(|()| shim.child.wait())
        .expect("its end");
    let lines = lines(dir.path());
    assert_eq!(lines[lines.len() - 1]["event"]["text"], "status");
    let (code, said) = replay(dir.path());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("no last line"), "{said}");
}

#[test]
fn a_core_to_which_nothing_happens_leaves_no_file() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("traces");
    let mut shim = tracing(&folder, None);
    shim.ask(json!({"type": "ping"}));
    shim.end_of_input();
    shim.ends();
    assert!(!folder.exists());
}

#[test]
fn a_folder_that_cannot_be_used_is_told_once_and_the_goal_goes_on() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("file");
    fs::write(&file, "").expect("a file");
    let shim = pursuing(tracing(&file.join("traces"), None));
    let told = diagnostics(&shim);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("no trace is written to") && told[0].contains("traces"),
        "{told:?}"
    );
}

/// Every audit would find that its workspace changes.
#[test]
fn a_folder_inside_the_workspace_is_refused_with_a_word() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("a/traces");
    let mut shim = tracing(&folder, None);
    shim.ask(opened_in(dir.path()));
    let told = diagnostics(&shim);
    assert!(
        told.len() == 1 && told[0].contains("inside the workspace"),
        "{told:?}"
    );
    assert!(!dir.path().join("a").exists());
    assert!(!shim.ask(command("status")).is_empty());
}

#[test]
fn a_relative_folder_is_in_pis_agent_folder() {
    let dir = tempfile::tempdir().expect("a folder");
    let agent_dir = dir.path().join("agent");
    fs::create_dir(&agent_dir).expect("a folder");
    tracing(Path::new("traces"), Some(&agent_dir)).ask(opened_in(dir.path()));
    assert_eq!(traces(&agent_dir.join("traces")).len(), 1);

    let mut nowhere = tracing(Path::new("traces"), None);
    nowhere.ask(opened());
    let told = diagnostics(&nowhere);
    assert!(told.len() == 1 && told[0].contains("not known"), "{told:?}");
}

#[test]
fn a_trace_ends_when_the_setting_does_and_begins_with_a_core() {
    let dir = tempfile::tempdir().expect("a folder");
    let (agent_dir, folder) = (dir.path().join("agent"), dir.path().join("traces"));
    fs::create_dir(&agent_dir).expect("a folder");
    let settings = agent_dir.join("goal-auditor.json");
    let on = json!({"trace": folder}).to_string();
    fs::write(&settings, &on).expect("a file");
    let mut shim = Shim::greeted(Some(&agent_dir));
    shim.ask(opened());
    let written = || fs::read(&traces(&folder)[0]).expect("a file").len();
    let before = written();

    fs::write(&settings, "{}").expect("a file");
    shim.ask(command("status"));
    fs::write(&settings, &on).expect("a file");
    shim.ask(command("status"));
    assert_eq!(replay(&folder).0, Some(0));
    assert!(written() < before + 20, "nothing but the last line");
    assert_eq!(
        lines(&folder).last().map(|line| &line["end"]),
        Some(&json!("closed"))
    );
}

/// A disk that is full, in the middle of a goal.
#[cfg(target_os = "linux")]
#[test]
fn a_write_that_fails_is_told_once_and_the_goal_goes_on() {
    let dir = tempfile::tempdir().expect("a folder");
    // No file of this process may be larger.
    let mut core = Command::new("sh");
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" serve";
    core.args(["-c", script, env!("CARGO_BIN_EXE_goal-auditor")]);
    core.env("PI_GOAL_TRACE", dir.path())
        .env("PI_GOAL_AUDITOR_SANDBOX", "off");
    let mut shim = Shim::of(core);
    shim.greet(None);
    let mut shim = pursuing(shim);
    for _ in 0..20 {
        assert!(!shim.ask(command("help")).is_empty());
    }
    wait_for(|| {
        shim.child
            .try_wait()
            .expect("a child")
            .is_none()
            .then_some(())
    });
    let told = diagnostics(&shim);
    assert!(told.len() == 1 && told[0].contains("ends here"), "{told:?}");
    let (code, said) = replay(dir.path());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("torn"), "{said}");
}
