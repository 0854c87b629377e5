//! The other end of the pipe: spawns the binary, speaks its lines, and waits with a limit.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub(crate) const TOKEN: &str = "the token";
/// Longest wait for something that must happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A running core and its pipe.
pub(crate) struct Shim {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    next: u64,
    /// Lines that arrived and answer nothing asked for.
    pub(crate) unasked: Vec<Value>,
}

impl Drop for Shim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The binary, with an environment that sets nothing of ours but this: no workspace is looked at, so
/// that an audit opens in the very answer to its claim.
pub(crate) fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_goal-auditor"));
    command.arg("serve");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PI_") {
            command.env_remove(name);
        }
    }
    command.env("PI_GOAL_AUDITOR_SANDBOX", "off");
    command
}

impl Shim {
    /// Started, and nothing said yet.
    pub(crate) fn silent() -> Self {
        Self::of(binary())
    }

    pub(crate) fn of(mut command: Command) -> Self {
        let piped = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = piped.spawn().expect("the binary");
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("a pipe");
        Self {
            child,
            stdin,
            lines: read_lines(stdout),
            next: 1,
            unasked: Vec::new(),
        }
    }

    /// Greeted and welcomed.
    pub(crate) fn greeted(agent_dir: Option<&Path>) -> Self {
        let mut shim = Self::silent();
        let effects = shim.greet(agent_dir);
        assert_eq!(effects[0]["type"], "welcome");
        shim
    }

    pub(crate) fn greet(&mut self, agent_dir: Option<&Path>) -> Vec<Value> {
        self.ask(json!({"type": "hello", "protocol": goal_protocol::PROTOCOL_VERSION, "shim": "0.1.0", "agentDir": agent_dir}))
    }

    /// Writes bytes as they are.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("an open pipe");
        stdin
            .write_all(bytes)
            .and_then(|()| stdin.flush())
            .expect("a reader");
    }

    pub(crate) fn write_line(&mut self, line: &Value) {
        self.write(format!("{line}\n").as_bytes());
    }

    /// Tells, and waits for nothing.
    pub(crate) fn tell(&mut self, event: Value) {
        self.write_line(&json!({"token": TOKEN, "event": event}));
    }

    /// Asks, and waits for the line with the same number.
    pub(crate) fn ask(&mut self, event: Value) -> Vec<Value> {
        let id = self.next;
        self.next += 1;
        self.write_line(&json!({"token": TOKEN, "id": id, "event": event}));
        loop {
            let line = self.line();
            if line["id"] == id {
                return line["effects"].as_array().expect("effects").clone();
            }
            self.unasked.push(line);
        }
    }

    /// The next line, whatever it is.
    pub(crate) fn line(&self) -> Value {
        self.lines.recv_timeout(PATIENCE).expect("a line")
    }

    /// A line that comes by itself and has this effect.
    pub(crate) fn wait_for(&self, kind: &str) -> Vec<Value> {
        loop {
            let line = self.line();
            let effects = line["effects"].as_array().expect("effects").clone();
            if effects.iter().any(|effect| effect["type"] == kind) {
                return effects;
            }
        }
    }

    /// Whether the output has ended.
    pub(crate) fn is_silent_for_ever(&self) -> bool {
        self.lines.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Disconnected)
    }

    pub(crate) fn end_of_input(&mut self) {
        self.stdin = None;
    }

    /// Its end, which must come by itself.
    pub(crate) fn ends(&mut self) -> (ExitStatus, String) {
        let status = wait_for(|| self.child.try_wait().expect("a child"));
        let mut said = String::new();
        let stderr = self.child.stderr.as_mut().expect("a pipe");
        stderr.read_to_string(&mut said).expect("text");
        (status, said)
    }

    /// A number of `/proc/PID/status`, in its unit.
    #[cfg(target_os = "linux")]
    pub(crate) fn proc_status(&self, name: &str) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).expect("a process");
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .expect("a field");
        let number = line
            .trim_matches(':')
            .split_whitespace()
            .next()
            .expect("a number");
        number.parse().expect("a number")
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a pipe that may never say anything needs a reader of its own"
)]
fn read_lines(stdout: impl std::io::Read + Send + 'static) -> Receiver<Value> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines() {
            let line = serde_json::from_str(&line.expect("UTF-8")).expect("JSON");
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Looks until there is something, within [`PATIENCE`].
#[expect(
    clippy::disallowed_methods,
    reason = "another process has its own clock"
)]
pub(crate) fn wait_for<T>(look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    let mut look = look;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(
            Instant::now() < end,
            "it did not happen within {PATIENCE:?}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}
