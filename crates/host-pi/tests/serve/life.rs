//! How the process ends, and who may look into it.

use serde_json::json;

use crate::shim::Shim;
use crate::{command, effect, opened, pursuing};

#[test]
fn the_end_of_input_ends_it_whatever_it_is_doing() {
    let mut idle = Shim::greeted(None);
    idle.end_of_input();
    assert!(idle.ends().0.success());

    let mut auditing = pursuing(Shim::greeted(None));
    auditing.tell(json!({
        "type": "tool_invoked", "callId": "c", "tool": "update_goal", "status": "complete", "turn": 1, "cwd": "/",
    }));
    auditing.end_of_input();
    assert!(auditing.ends().0.success());

    let mut ungreeted = Shim::silent();
    ungreeted.end_of_input();
    assert!(ungreeted.ends().0.success());
    assert!(ungreeted.is_silent_for_ever());
}

#[test]
fn lines_that_were_read_before_the_end_of_input_are_answered() {
    let mut shim = Shim::greeted(None);
    shim.tell(opened());
    shim.tell(command("status"));
    shim.end_of_input();
    let effects = shim.wait_for("reply");
    assert!(effect(&effects, "reply")["text"].is_string());
    assert!(shim.ends().0.success());
}

#[test]
fn a_torn_last_line_does_nothing() {
    let mut shim = pursuing(Shim::greeted(None));
    shim.ask(json!({"type": "ping"}));
    let line = json!({"token": crate::shim::TOKEN, "event": command("clear")}).to_string();
    shim.write(line.as_bytes());
    shim.end_of_input();
    shim.ends();
    assert!(shim.is_silent_for_ever());
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};

    use serde_json::{Value, json};

    use crate::shim::{Shim, TOKEN, binary, wait_for};
    use crate::{command, effect, opened, pursuing};

    /// Some user who is not root.
    const NOBODY: u32 = 65_534;

    #[test]
    fn a_host_that_does_not_read_cannot_keep_it_alive() {
        let piped = || Stdio::piped();
        let mut child = binary()
            .stdin(piped())
            .stdout(piped())
            .stderr(piped())
            .spawn()
            .expect("the binary");
        let mut stdin = child.stdin.take().expect("a pipe");
        let hello =
            json!({"type": "hello", "protocol": goal_protocol::PROTOCOL_VERSION, "shim": "0.1.0"});
        for (id, event) in [hello, opened()]
            .into_iter()
            .chain((0..2_000).map(|_| command("help")))
            .enumerate()
        {
            let line = json!({"token": TOKEN, "id": id, "event": event});
            writeln!(stdin, "{line}").expect("a reader that is never blocked");
        }
        drop(stdin);
        let status = wait_for(|| child.try_wait().expect("a child"));
        assert!(status.success());
    }

    #[test]
    fn no_process_of_the_user_can_look_into_it() {
        // The kernel gives the files of a non-dumpable process to root; so run as somebody else.
        let dir = tempfile::tempdir().expect("a folder");
        let copy = dir.path().join("goal-auditor");
        fs::copy(env!("CARGO_BIN_EXE_goal-auditor"), &copy).expect("a copy");
        let readable = || fs::Permissions::from_mode(0o755);
        fs::set_permissions(dir.path(), readable())
            .and_then(|()| fs::set_permissions(&copy, readable()))
            .expect("modes");
        let mut command = Command::new(copy);
        command.arg("serve").current_dir("/");
        let mut control = Command::new("sleep");
        control.arg("60");
        if is_root() {
            command.uid(NOBODY);
            control.uid(NOBODY);
        }
        let mut control = control.spawn().expect("sleep");
        let mut shim = Shim::of(command);
        shim.greet(None);
        let owner = |pid: u32| {
            fs::metadata(format!("/proc/{pid}/mem"))
                .expect("a process")
                .uid()
        };
        let (ours, other) = (owner(shim.child.id()), owner(control.id()));
        let _ = control.kill().and_then(|()| control.wait());
        assert_ne!(other, 0, "the control shows that this test can fail");
        assert_eq!(ours, 0);
    }

    fn is_root() -> bool {
        fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
    }

    /// Otherwise a command that runs in it ends with an error, and the auditor asks its model once more
    /// before it is stopped.
    #[test]
    fn a_seal_stands_until_the_auditors_session_is_closed() {
        let workspace = tempfile::tempdir().expect("a folder");
        let mut core = binary();
        core.env_remove("PI_GOAL_AUDITOR_SANDBOX");
        let mut shim = Shim::of(core);
        shim.greet(None);
        let mut shim = pursuing(shim);
        shim.tell(json!({
            "type": "tool_invoked", "callId": "c", "tool": "update_goal", "status": "complete", "turn": 1,
            "cwd": workspace.path(),
        }));
        let opened = shim.wait_for("open_auditor");
        let opened = effect(&opened, "open_auditor");
        let audit = &opened["audit"];
        let seal = opened["seal"].as_str().expect("a seal").to_owned();
        let seal_stands = || {
            let mut client = Command::new(env!("CARGO_BIN_EXE_goal-auditor"));
            client.args(["audit-exec", "--join", &seal, "--", "true"]);
            let output = client.current_dir(workspace.path()).output();
            output.expect("the binary").status.success()
        };
        shim.tell(json!({"type": "auditor", "audit": audit, "event": {"type": "opened"}}));
        let effects = shim.ask(command("pause"));
        assert_eq!(&effect(&effects, "close_auditor")["audit"], audit);
        shim.ask(json!({"type": "ping"}));
        assert!(seal_stands());

        shim.ask(json!({"type": "auditor_closed", "audit": audit}));
        assert!(!seal_stands());
    }

    #[test]
    fn it_dies_with_its_parent_even_if_its_input_stays_open() {
        // A shell in the middle is the parent; the input's other end stays here.
        let mut middle = Command::new("sh");
        middle.args([
            "-c",
            "exec 3<&0; \"$0\" serve <&3 & echo \"$!\"; wait",
            env!("CARGO_BIN_EXE_goal-auditor"),
        ]);
        let piped = middle
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut middle = piped.spawn().expect("sh");
        let mut stdin = middle.stdin.take().expect("a pipe");
        let mut lines = BufReader::new(middle.stdout.take().expect("a pipe"))
            .lines()
            .map_while(Result::ok);
        let pid: u32 = lines.next().expect("a line").parse().expect("a process id");
        let hello = json!({"token": TOKEN, "id": 1, "event": {"type": "hello", "protocol": goal_protocol::PROTOCOL_VERSION, "shim": "0.1.0"}});
        writeln!(stdin, "{hello}").expect("a reader");
        let welcome: Value = serde_json::from_str(&lines.next().expect("a line")).expect("JSON");
        assert_eq!(welcome["effects"][0]["type"], "welcome");
        assert!(is_alive(pid));

        middle
            .kill()
            .and_then(|()| middle.wait())
            .expect("the end of sh");
        wait_for(|| (!is_alive(pid)).then_some(()));
        drop(stdin);
    }

    /// A process that is only waiting to be collected by its new parent is not alive.
    fn is_alive(pid: u32) -> bool {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat
            .rsplit(')')
            .next()
            .and_then(|rest| rest.split_whitespace().next());
        state.is_some_and(|state| state != "Z" && state != "X")
    }
}
