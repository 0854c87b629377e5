//! `goal-auditor fingerprint` and `goal-auditor verify`.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

fn goal_auditor(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_goal-auditor"))
        .args(arguments)
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn workspace() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.txt"), "one").unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/b.txt"), "two").unwrap();
    folder
}

fn fingerprint(folder: &Path) -> Value {
    let output = goal_auditor(&[
        "fingerprint",
        "--content",
        "--json",
        folder.to_str().unwrap(),
    ]);
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A session whose audits ended so, each on the tree as it is now or on none that is known.
fn session(folder: &Path, audits: &[(&str, Option<&Value>)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut lines = vec![json!({"type": "session", "cwd": folder})];
    for (number, (outcome, after)) in audits.iter().enumerate() {
        let mut data = json!({"kind": "audit", "outcome": outcome, "number": number + 1});
        if let Some(after) = after {
            data["after"] = (*after).clone();
        }
        lines.push(json!({"type": "custom", "customType": "goal-auditor", "data": data}));
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(dir.path().join("session.jsonl"), text + "{\"torn").unwrap();
    dir
}

fn verify(session: &TempDir) -> Output {
    goal_auditor(&[
        "verify",
        session.path().join("session.jsonl").to_str().unwrap(),
    ])
}

#[test]
fn an_untouched_tree_stands() {
    let folder = workspace();
    let now = fingerprint(folder.path());
    let session = session(
        folder.path(),
        &[("approved", Some(&now)), ("disapproved", None)],
    );
    let output = verify(&session);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(stdout(&output).contains("tree of audit 1 stands"));
}

#[test]
fn a_changed_tree_differs_and_the_place_is_named() {
    let folder = workspace();
    let now = fingerprint(folder.path());
    fs::write(folder.path().join("src/b.txt"), "TWO").unwrap();
    let output = verify(&session(folder.path(), &[("approved", Some(&now))]));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stdout(&output).contains("\n  src/b.txt\n"), "{output:?}");
    assert!(!stdout(&output).contains("a.txt"), "{output:?}");
}

#[test]
fn the_newest_approval_counts() {
    let folder = workspace();
    let then = fingerprint(folder.path());
    fs::write(folder.path().join("a.txt"), "1").unwrap();
    let now = fingerprint(folder.path());
    let both = [("approved", Some(&then)), ("approved", Some(&now))];
    assert_eq!(
        verify(&session(folder.path(), &both)).status.code(),
        Some(0)
    );
}

#[test]
fn what_cannot_be_told_is_said_with_its_own_code() {
    let folder = workspace();
    for audits in [
        vec![],
        vec![("disapproved", None)],
        vec![("approved", None)],
    ] {
        let output = verify(&session(folder.path(), &audits));
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(!output.stderr.is_empty());
    }
    let output = goal_auditor(&["verify", "/nonexistent/session"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn without_content_the_digest_says_so() {
    let folder = workspace();
    let output = goal_auditor(&["fingerprint", folder.path().to_str().unwrap()]);
    assert!(stdout(&output).contains("metadata only"), "{output:?}");
    let entries = fingerprint(folder.path());
    assert_eq!(entries["entries"][1]["path"], "src/b.txt");
    assert_eq!(entries["files"], 2);
}
