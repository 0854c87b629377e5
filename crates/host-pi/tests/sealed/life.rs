//! One seal for many commands, and how it ends: on every path with nothing left.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Output, Stdio};

use crate::world::{User, World, eventually, processes_with, seals_work};

/// A seal that is held.
struct Held {
    keeper: Child,
    stdin: Option<ChildStdin>,
    socket: PathBuf,
    world: World,
}

impl Held {
    fn start(user: User, options: &[&str]) -> Self {
        let world = World::new(user);
        let socket = world.path("out/seal");
        let mut command = user.command(world.program());
        command
            .args(["audit-seal", "--workspace"])
            .arg(world.path("work"));
        command.arg("--socket").arg(&socket).args(options);
        world.surround(&mut command);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut keeper = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(keeper.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert_eq!(line, "ready\n");
        Self {
            stdin: keeper.stdin.take(),
            keeper,
            socket,
            world,
        }
    }

    fn exec(&self, options: &[&str], script: &str) -> Command {
        let mut command = self.world.user.command(self.world.program());
        command
            .args(["audit-exec", "--join"])
            .arg(&self.socket)
            .args(options);
        command.args(["--", "bash", "-c", script]);
        self.world.surround(&mut command);
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, script: &str) -> Output {
        self.exec(&[], script).output().unwrap()
    }

    fn says(&self, script: &str) -> String {
        let output = self.run(script);
        assert!(output.status.success(), "{script}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Starts a command that goes on for ever, and waits until it runs.
    fn start_forever(&self) -> Child {
        let script = "setsid sh -c \"sleep 300; : $MARK\" & echo started; sleep 300; : $MARK";
        let mut command = self.exec(&[], script);
        let mut client = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(client.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert_eq!(line, "started\n");
        client
    }

    /// Neither process nor socket is left of it.
    fn is_gone(&self) -> bool {
        let socket = self.socket.to_str().unwrap();
        eventually(|| !self.socket.exists() && processes_with(socket).is_empty())
            && self.world.no_marked_process()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
    }
}

fn for_each_user(test: impl Fn(User)) {
    for user in User::all() {
        if seals_work(user) {
            test(user);
        }
    }
}

#[test]
fn commands_of_one_seal_see_each_others_work_and_the_tree_does_not() {
    for_each_user(|user| {
        let held = Held::start(user, &[]);
        let before = held.world.state();
        held.says("echo built > product; rm tracked.txt; echo cached > ~/cache; echo t > /tmp/t");
        assert_eq!(
            held.says("cat product ~/cache /tmp/t; ls tracked.txt 2> /dev/null || echo gone"),
            "built\ncached\nt\ngone\n"
        );
        // A server that one command leaves in the background serves the next one.
        let serve =
            "import socket; s = socket.create_server((\"127.0.0.1\", 4321)); open(\"up\", \"w\")
while True: s.accept()[0].sendall(b\"served\")";
        held.says(&format!(
            "/usr/bin/python3 -c '{serve}' > /dev/null 2>&1 & until [ -e up ]; do sleep 0.01; done"
        ));
        assert_eq!(held.says("cat < /dev/tcp/127.0.0.1/4321"), "served");
        assert_eq!(held.world.state(), before);
    });
}

#[test]
fn a_killed_client_takes_its_command_along_and_the_seal_goes_on() {
    for_each_user(|user| {
        let held = Held::start(user, &[]);
        let mut client = held.start_forever();
        client.kill().unwrap();
        client.wait().unwrap();
        assert!(held.world.no_marked_process());
        assert_eq!(held.says("echo alive"), "alive\n");
    });
}

#[test]
fn a_command_that_kills_all_it_can_ends_only_itself() {
    for_each_user(|user| {
        let held = Held::start(user, &[]);
        let output = held.run("kill -9 -1; kill -9 1 $PPID; kill -9 $$");
        assert_eq!(output.status.code(), Some(137), "{output:?}");
        assert_eq!(held.says("echo alive"), "alive\n");
        let output = held
            .exec(&["--timeout-ms", "200"], "sleep 300")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(124), "{output:?}");
    });
}

#[test]
fn a_seal_ends_with_its_input_and_leaves_nothing() {
    for_each_user(|user| {
        let mut held = Held::start(user, &[]);
        let mut client = held.start_forever();
        drop(held.stdin.take());
        assert!(held.keeper.wait().unwrap().success());
        assert!(!held.socket.exists());
        assert!(held.is_gone());
        assert_eq!(client.wait().unwrap().code(), Some(137));
        assert_eq!(held.run("echo x").status.code(), Some(125));
    });
}

#[test]
fn a_killed_seal_leaves_nothing() {
    for_each_user(|user| {
        let mut held = Held::start(user, &[]);
        let mut client = held.start_forever();
        held.keeper.kill().unwrap();
        held.keeper.wait().unwrap();
        assert!(held.is_gone());
        assert_eq!(client.wait().unwrap().code(), Some(137));
    });
}

/// As when pi is killed: the seal's parent goes, and with it the other end of its input.
#[test]
fn a_seal_ends_with_its_parent_even_if_its_input_stays_open() {
    for_each_user(|user| {
        let world = World::new(user);
        let socket = world.path("out/seal");
        // The shell's own input stays open here, and is what the seal reads.
        let script =
            "exec 3<&0; \"$0\" audit-seal --workspace \"$WS\" --socket \"$OUT/seal\" <&3 & wait";
        let mut command = user.command("/bin/sh".as_ref());
        command.args(["-c", script]).arg(world.program());
        world.surround(&mut command);
        let (reader, _writer) = std::io::pipe().unwrap();
        let command = command.stdin(reader).stdout(Stdio::null());
        let mut parent = command.spawn().unwrap();
        assert!(eventually(|| socket.exists()));
        parent.kill().unwrap();
        parent.wait().unwrap();
        let name = socket.to_str().unwrap();
        assert!(eventually(
            || !socket.exists() && processes_with(name).is_empty()
        ));
    });
}

#[test]
fn a_taken_socket_is_refused_and_left_alone() {
    for_each_user(|user| {
        let held = Held::start(user, &[]);
        let mut second = user.command(held.world.program());
        second
            .args(["audit-seal", "--workspace"])
            .arg(held.world.path("work"));
        let output = second
            .arg("--socket")
            .arg(&held.socket)
            .stdin(Stdio::null())
            .output();
        assert_eq!(output.unwrap().status.code(), Some(125));
        assert_eq!(held.says("echo alive"), "alive\n");
    });
}

#[test]
fn only_its_user_may_join_a_seal() {
    let users = User::all();
    let [root, other] = users.as_slice() else {
        return;
    };
    if !seals_work(*root) {
        return;
    }
    let held = Held::start(*root, &[]);
    let mut command = other.command(held.world.program());
    command
        .args(["audit-exec", "--join"])
        .arg(&held.socket)
        .args(["--", "echo", "in"]);
    let output = command
        .stdin(File::open("/dev/null").unwrap())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    assert!(output.stdout.is_empty());
}
