//! Sealed audits on the real pi: the auditor may run anything, and the user's tree is untouched.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::process::Command;

use goal_tests::{AUDITOR, Pi, PiOptions, Reply, Script, install};
use serde_json::{Value, json};

const APPROVED: &str = "I looked.\n<approved/>";

fn bash(command: &str) -> Reply {
    Reply::call("bash", json!({ "command": command }))
}

/// An executor that claims at once, and says its last words whatever comes back.
fn claiming(auditor: impl IntoIterator<Item = Reply>) -> PiOptions {
    let claim = Reply::call("update_goal", json!({ "status": "complete" }));
    let executor = goal_tests::Steps::of([claim]).then_repeat(Reply::text("That is all."));
    let script = Script::new().executor(executor);
    PiOptions::new(script.auditor(goal_tests::Steps::of(auditor)))
        .file("kept.txt", "kept\n")
        .file("draft.txt", "draft\n")
        .config(json!({ "provider": "sim", "model": "auditor", "maxEmptyContinuations": 1 }))
}

/// A repository with one commit and one change that is not committed.
fn with_repository(pi: &Pi) {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "-c",
            "commit.gpgsign=false",
        ]);
        let done = command
            .args(arguments)
            .current_dir(pi.world().workspace())
            .output()
            .unwrap();
        assert!(done.status.success(), "{arguments:?}: {done:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "kept.txt"]);
    git(&["commit", "-q", "-m", "one"]);
    fs::write(
        pi.world().workspace().join("kept.txt"),
        "kept, and changed\n",
    )
    .unwrap();
}

fn audit(pi: &Pi) -> Value {
    pi.session()
        .audits()
        .first()
        .map(|audit| (*audit).clone())
        .unwrap_or_default()
}

fn run(pi: &Pi) {
    let mark = pi.prompt("/goal keep the files");
    pi.settled_quiet(mark);
}

#[test]
fn an_auditor_that_writes_stashes_and_deletes_changes_nothing_and_its_approval_counts() {
    let pi = Pi::start(claiming([
        bash("git stash && rm -rf draft.txt .git && echo broken > kept.txt && touch new.txt && ls"),
        bash("cat kept.txt new.txt && test ! -e draft.txt && echo ~ && echo x > ~/planted"),
        Reply::text(APPROVED),
    ]));
    with_repository(&pi);
    run(&pi);

    let record = audit(&pi);
    assert_eq!(record["outcome"], "approved", "{record:#}");
    assert_eq!(record["rung"], "overlay");
    assert!(
        record["checks"]
            .as_array()
            .unwrap()
            .iter()
            .all(|check| check["ok"] == true)
    );
    assert!(
        record["after"]["digest"]
            .as_str()
            .unwrap()
            .starts_with("blake3:")
    );
    assert_eq!(
        pi.world().file("kept.txt").as_deref(),
        Some("kept, and changed\n")
    );
    assert_eq!(pi.world().file("draft.txt").as_deref(), Some("draft\n"));
    assert_eq!(pi.world().file("new.txt"), None);
    assert!(pi.world().workspace().join(".git/HEAD").exists());
    assert!(!pi.world().home().join("planted").exists());
    assert_eq!(pi.session().ended(), Some("approved"));
}

#[test]
fn what_the_shell_builds_is_seen_by_the_reading_tools_of_the_same_audit() {
    let pi = Pi::start(claiming([
        bash("mkdir built && echo needle > built/out.txt"),
        Reply::call("read", json!({ "path": "built/out.txt" })),
        Reply::call("grep", json!({ "pattern": "needle" })),
        Reply::call("find", json!({ "pattern": "*.txt" })),
        Reply::call("ls", json!({ "path": "built" })),
        Reply::text(APPROVED),
    ]));
    run(&pi);

    let record = audit(&pi);
    assert_eq!(record["outcome"], "approved", "{record:#}");
    let last = pi.wait_request(AUDITOR, 6);
    let results: Vec<&str> = last
        .messages
        .iter()
        .filter(|m| m.role == "tool")
        .map(|m| m.text.as_str())
        .collect();
    assert!(
        results[1].contains("needle") && results[2].contains("built/out.txt"),
        "{results:?}"
    );
    assert!(
        results[3].contains("built/out.txt") && results[4].contains("out.txt"),
        "{results:?}"
    );
    assert!(!pi.world().workspace().join("built").exists());
}

#[test]
fn git_status_diff_and_the_tests_leave_an_approval_standing_on_every_rung() {
    let looking = || {
        [
            bash("git status && git diff && git log -1"),
            bash("python3 -c 'print(1)' && mkdir -p __pycache__ && touch __pycache__/a.pyc"),
            Reply::text(APPROVED),
        ]
    };
    for (rung, options) in [
        ("overlay", claiming(looking())),
        (
            "fingerprint",
            claiming(looking()).binary(install::unsealed()),
        ),
        (
            "none",
            claiming(looking()).env("PI_GOAL_AUDITOR_SANDBOX", "off"),
        ),
    ] {
        let pi = Pi::start(options);
        with_repository(&pi);
        run(&pi);
        let record = audit(&pi);
        assert_eq!(
            (record["rung"].as_str(), record["outcome"].as_str()),
            (Some(rung), Some("approved"))
        );
    }
}

#[test]
fn without_a_seal_a_changed_workspace_voids_the_approval_and_names_the_paths() {
    let pi = Pi::start(
        claiming([bash("echo broken > kept.txt"), Reply::text(APPROVED)])
            .binary(install::unsealed()),
    );
    // Told as soon as it is known, which may be before the goal is set.
    let start = pi.mark_of_the_start();
    let mark = pi.prompt("/goal keep the files");
    pi.wait_notice(start, "not sealed");
    pi.settled_quiet(mark);

    let record = audit(&pi);
    assert_eq!(
        (record["rung"].as_str(), record["why"].as_str()),
        (Some("fingerprint"), Some("workspace_changed"))
    );
    assert!(
        record["failure"].as_str().unwrap().contains("kept.txt"),
        "{record:#}"
    );
    assert_ne!(pi.session().ended(), Some("approved"));
    pi.wait_notice(mark, "kept.txt");
}

#[test]
fn an_edit_by_the_user_during_a_sealed_audit_makes_its_approval_stale() {
    let pi = Pi::start(claiming([
        bash("cat kept.txt"),
        Reply::text(APPROVED).held_before_end("edited"),
    ]));
    let mark = pi.prompt("/goal keep the files");
    pi.wait_request(AUDITOR, 2);
    fs::write(pi.world().workspace().join("kept.txt"), "edited\n").unwrap();
    pi.server().release("edited");
    pi.settled_quiet(mark);

    let record = audit(&pi);
    assert_eq!(
        (record["outcome"].as_str(), record["why"].as_str()),
        (Some("stale"), Some("workspace"))
    );
    assert!(
        record["failure"].as_str().unwrap().contains("kept.txt"),
        "{record:#}"
    );
    assert_ne!(pi.session().ended(), Some("approved"));
}

#[test]
fn a_required_seal_that_is_not_to_be_had_gives_no_audit_at_all() {
    let pi = Pi::start(
        claiming([Reply::text(APPROVED)])
            .binary(install::unsealed())
            .env("PI_GOAL_AUDITOR_SANDBOX", "require"),
    );
    run(&pi);

    assert_eq!(audit(&pi)["why"], "sandbox_unavailable");
    assert!(pi.server().requests_of(AUDITOR).is_empty());
}

#[test]
fn a_hung_command_ends_with_its_audit_and_leaves_nothing() {
    let options = claiming([bash("sleep 1000 & sleep 1000")]).config(
        json!({ "provider": "sim", "model": "auditor", "timeoutMs": 2000,
            "maxEmptyContinuations": 1 }),
    );
    let mut pi = Pi::start(options);
    run(&pi);

    assert_eq!(audit(&pi)["why"], "timeout");
    let sleeps = pi
        .world()
        .processes()
        .into_iter()
        .filter(|one| one.command.contains("sleep 1000"));
    assert_eq!(sleeps.count(), 0);
    pi.close();
    pi.world().assert_no_process_left();
}

#[test]
fn a_pi_killed_in_mid_audit_leaves_no_process_mount_or_file() {
    let mut pi = Pi::start(claiming([bash("echo x > scratch; sleep 1000")]));
    pi.prompt("/goal keep the files");
    pi.wait_request(AUDITOR, 1);
    let sleeping = goal_tests::poll(goal_tests::patience(), || {
        pi.world()
            .processes()
            .into_iter()
            .find(|one| one.command.contains("sleep 1000"))
    });
    assert!(sleeping.is_some(), "the command runs");
    pi.kill();

    pi.world().assert_no_process_left();
    let gone = goal_tests::poll(goal_tests::patience(), || {
        let left = fs::read_dir(pi.world().home().join("tmp"))
            .unwrap()
            .flatten();
        let left = left.filter(|entry| {
            entry
                .file_name()
                .to_string_lossy()
                .starts_with("goal-auditor")
        });
        (left.count() == 0).then_some(())
    });
    assert!(gone.is_some(), "a socket file is left");
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(
        !mounts.contains(&pi.world().workspace().display().to_string()),
        "{mounts}"
    );
    assert_eq!(pi.world().file("scratch"), None);
}

#[test]
fn the_record_of_a_sealed_audit_can_be_verified_against_the_tree_later() {
    let pi = Pi::start(claiming([bash("cat kept.txt"), Reply::text(APPROVED)]));
    run(&pi);
    let session = pi.world().session_files().pop().unwrap();
    let verify = || {
        let mut command = Command::new(install::binary());
        command
            .arg("verify")
            .arg(&session)
            .current_dir(pi.world().workspace());
        let done = command.output().unwrap();
        (
            done.status.code(),
            String::from_utf8_lossy(&done.stdout).into_owned(),
        )
    };

    assert_eq!(verify().0, Some(0), "{:?}", verify());
    fs::write(pi.world().workspace().join("kept.txt"), "later\n").unwrap();
    let (code, said) = verify();
    assert_eq!(code, Some(1));
    assert!(said.contains("kept.txt"), "{said}");
}
