//! What must work inside a seal, or an honest auditor could not check anything.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::world::{Run, User, World, link_program, seals_work};

const SEALED: Run<'static> = Run { seal: Some(&[]) };

/// Runs a test for each user for whom seals can be made.
fn for_each_user(test: impl Fn(&World)) {
    for user in User::all() {
        if seals_work(user) {
            let world = World::new(user);
            let before = world.state();
            test(&world);
            assert_eq!(world.state(), before, "{user:?}: something got out");
        }
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A sealed command with pipes for its streams.
fn sealed(world: &World, command: &[&str]) -> Command {
    let mut sealed = world.user.command(world.program());
    sealed
        .args(["audit-exec", "--workspace"])
        .arg(world.path("work"));
    sealed.arg("--").args(command);
    world.surround(&mut sealed);
    sealed.stdin(Stdio::null());
    sealed
}

fn succeeds(world: &World, what: &str, script: &str) -> String {
    let output = world.run(&format!("set -e\n{script}"), &SEALED);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{what}: {errors}\n{}",
        said(&output)
    );
    said(&output)
}

#[test]
fn builds_tests_and_git_work_and_see_their_own_changes() {
    for_each_user(|world| {
        for (what, script) in [
            ("make", "printf 'all:\\n\\tcc -o prog src/main.c\\n' > Makefile; make -s; ./prog"),
            (
                "git",
                "git status --short | grep -q tracked.txt; git diff | grep -q edited; git log | grep -q first
                 git commit -qam second; git log | grep -q second; git stash list; git checkout -q -b b",
            ),
            (
                "python -m unittest",
                "printf 'import unittest\\nclass T(unittest.TestCase):\\n  def test(self): self.assertEqual(1, 1)\\n' > test_it.py
                 /usr/bin/python3 -m unittest -q",
            ),
            (
                "caches in the home",
                "mkdir -p ~/.cache/go-build; for i in 1 2 3; do echo $i > ~/.cache/go-build/$i; done; cat ~/.cache/go-build/*",
            ),
            (
                "a loopback server",
                "/usr/bin/python3 - <<'PY'
import socket, threading
server = socket.create_server(('127.0.0.1', 0))
threading.Thread(target=lambda: server.accept()[0].sendall(b'hello')).start()
assert socket.create_connection(server.getsockname()).recv(5) == b'hello'
server = socket.create_server(('::1', 0), family=socket.AF_INET6)
socket.create_connection(server.getsockname()[:2])
PY",
            ),
            (
                "temporary files, terminals, shared memory",
                "f=$(mktemp); echo x > $f; d=$(mktemp -d); rmdir $d; echo x > /dev/shm/x; echo x > /run/x
                 /usr/bin/python3 -c 'import os; a, b = os.openpty(); os.write(a, b\"x\")'
                 head -c 10 /dev/urandom > /dev/null; echo x > /dev/null; : < /dev/zero; cat <(echo y)",
            ),
            (
                "processes",
                "sleep 100 & kill $!; ps > /dev/null; (exit 3) || true; nproc > /dev/null; trap 'exit 0' TERM; kill -TERM $$",
            ),
            ("200 MB of output in files", "head -c 200M /dev/zero > big; [ $(stat -c %s big) = 209715200 ]"),
            ("a socket of its own", "/usr/bin/python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind(\"s\"); s.listen(); socket.socket(socket.AF_UNIX).connect(\"s\")'"),
            ("renames of folders from below", "mv src lib; ls lib/main.c; rm -r lib; mkdir lib; ls -A lib"),
            ("locks", "exec 5>lock; flock -n 5"),
        ] {
            succeeds(world, what, script);
        }
    });
}

/// The tools of their trades are in the home of whoever built this; so they are tried as that user.
#[test]
fn cargo_test_and_npm_test_work_without_a_network() {
    let user = User::all()[0];
    if !seals_work(user) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for (name, text) in [
        (
            "Cargo.toml",
            "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
        ),
        (
            "src/lib.rs",
            "#[test]\nfn holds() { assert_eq!(1 + 1, 2); }\n",
        ),
        (
            "package.json",
            "{\"name\":\"tiny\",\"version\":\"1.0.0\",\"scripts\":{\"test\":\"node test.js\"}}",
        ),
        (
            "test.js",
            "require('assert').equal(1 + 1, 2); console.log('held');",
        ),
    ] {
        fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
        fs::write(path.join(name), text).unwrap();
    }
    let run = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_goal-auditor"))
            .args(["audit-exec", "--workspace", "."])
            .arg("--")
            .args(words)
            .current_dir(path)
            .env_remove("CARGO_TARGET_DIR")
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {errors}");
        said(&output)
    };
    assert!(run(&[env!("CARGO"), "test", "--offline"]).contains("1 passed"));
    assert!(run(&["npm", "test"]).contains("held"));
    let left: Vec<_> = fs::read_dir(path)
        .unwrap()
        .flatten()
        .map(|one| one.file_name())
        .collect();
    assert_eq!(left.len(), 4, "{left:?}");
}

#[test]
fn exit_codes_and_signals_pass_through() {
    for_each_user(|world| {
        for (command, expected) in [
            (&["true"][..], 0),
            (&["sh", "-c", "exit 7"], 7),
            (&["sh", "-c", "exit 255"], 255),
            (&["sh", "-c", "kill -TERM $$"], 143),
            (&["sh", "-c", "kill -KILL $$"], 137),
            (&["no-such-program"], 127),
            (&["/no/such/program"], 127),
            (&["./tracked.txt"], 126),
            (&["src"], 127),
            (&["./src"], 126),
        ] {
            let output = sealed(world, command).output().unwrap();
            assert_eq!(
                output.status.code(),
                Some(expected),
                "{command:?} {output:?}"
            );
        }
    });
}

#[test]
fn streams_pass_through_whole_and_apart() {
    for_each_user(|world| {
        let bytes: Vec<u8> = (0..10_000_000_u32)
            .map(|n| n.to_le_bytes()[(n % 3) as usize])
            .collect();
        let mut child = sealed(world, &["cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let sent = bytes.clone();
        let writer = std::thread::spawn(move || stdin.write_all(&sent));
        let mut received = Vec::new();
        child
            .stdout
            .take()
            .unwrap()
            .read_to_end(&mut received)
            .unwrap();
        writer.join().unwrap().unwrap();
        assert!(child.wait().unwrap().success());
        assert!(
            received == bytes,
            "{} of {} bytes",
            received.len(),
            bytes.len()
        );

        let both = ["sh", "-c", "echo out; echo err >&2"];
        let output = sealed(world, &both).output().unwrap();
        assert_eq!(
            (output.stdout, output.stderr),
            (b"out\n".to_vec(), b"err\n".to_vec())
        );

        // Files go through pipes; nothing is lost.
        let from = world.path("out/file");
        let to = tempfile::NamedTempFile::new().unwrap();
        let status = sealed(world, &["sh", "-c", "cat; head -c 3000000 /dev/zero"])
            .stdin(fs::File::open(from).unwrap())
            .stdout(to.reopen().unwrap())
            .status();
        assert!(status.unwrap().success());
        assert_eq!(
            to.path().metadata().unwrap().len(),
            3_000_000 + "outside\n".len() as u64
        );
    });
}

#[test]
fn words_folder_and_environment_are_the_callers() {
    for_each_user(|world| {
        let output = sealed(
            world,
            &["printf", "%s|", "a b", "", "'", "\n", "$HOME", "*"],
        )
        .output()
        .unwrap();
        assert_eq!(said(&output), "a b||'|\n|$HOME|*|");
        let output = sealed(world, &["sh", "-c", "pwd; echo $MINE-$TMPDIR-$MY_API_KEY"])
            .current_dir(world.path("work/src"))
            .env("MINE", "yes")
            .env("TMPDIR", world.path("out/nowhere"))
            .output()
            .unwrap();
        assert_eq!(
            said(&output),
            format!("{}\nyes--\n", world.path("work/src").display())
        );
        // Only what is written in the home and the workspace differs from outside.
        assert_eq!(succeeds(world, "reading", "cat \"$OUT/file\""), "outside\n");
    });
}

#[test]
fn a_workspace_below_tmp_or_with_a_strange_name_works() {
    for user in User::all() {
        if !seals_work(user) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().join("a b,c:d\\e'f\ng");
        fs::create_dir(&workspace).unwrap();
        fs::write(workspace.join("seen"), "yes").unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        user.own(folder.path());
        let output = user
            .command(&link_program(folder.path()))
            .args(["audit-exec", "--workspace", "."])
            .args(["--", "sh", "-c", "cat seen; rm seen; echo x > new; ls"])
            .current_dir(&workspace)
            .env("HOME", folder.path())
            .output()
            .unwrap();
        assert_eq!(said(&output), "yesnew\n", "{user:?} {output:?}");
        assert!(workspace.join("seen").exists() && !workspace.join("new").exists());
    }
}

#[test]
fn a_timeout_kills_everything_a_command_started() {
    for_each_user(|world| {
        let start = Instant::now();
        let script =
            "trap '' TERM INT HUP; setsid sh -c \"sleep 300; : $MARK\" & sleep 300; : $MARK";
        let output = world.run(
            script,
            &Run {
                seal: Some(&["--timeout-ms", "300"]),
            },
        );
        assert_eq!(output.status.code(), Some(124), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("killed after 300 ms"));
        assert!(start.elapsed() < Duration::from_secs(30));
        assert!(world.no_marked_process());
    });
}

#[test]
fn what_cannot_be_sealed_is_refused_in_one_line_and_not_run() {
    for_each_user(|world| {
        for (workspace, expected) in [
            ("/", "which no overlay can cover"),
            ("/nonexistent", "finding the workspace /nonexistent"),
            ("/etc/passwd", "it is not a folder"),
            ("/proc", "overlay over /proc"),
        ] {
            let output = world
                .user
                .command(world.program())
                .args(["audit-exec", "--workspace", workspace, "--", "echo", "ran"])
                .output()
                .unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(125), "{workspace}: {errors}");
            assert!(
                errors.contains(expected) && errors.lines().count() == 1,
                "{errors}"
            );
            assert_eq!(said(&output), "");
        }
    });
}

/// As on a machine whose user namespaces are switched off: in one where none may be made.
#[test]
fn without_user_namespaces_nothing_runs_and_the_reason_is_given() {
    let user = User::all()[0];
    if !seals_work(user) {
        return;
    }
    let world = World::new(user);
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    let mut command = Command::new("unshare");
    command
        .args(["-Ur", "sh", "-c", script, "sh"])
        .arg(world.program());
    command
        .args(["audit-exec", "--workspace"])
        .arg(world.path("work"));
    command.args(["--", "touch", "ran"]);
    world.surround(&mut command);
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{errors}");
    assert!(
        errors.contains("user namespaces may be switched off"),
        "{errors}"
    );
    assert!(!world.path("work/ran").exists());
}
