//! Processes of a world: finding, signalling, making sure that none is left.

use std::fs;

use rustix::process::{Pid, kill_process};

pub use rustix::process::Signal;

use crate::world::WORLD_VARIABLE;

/// One living process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its parent's id.
    pub parent: u32,
    /// Its process group, by which a sidecar is known even where its environment is unreadable.
    pub group: u32,
    /// Its command line, words joined by spaces.
    pub command: String,
}

impl Process {
    /// Whether it is the sidecar of the extension (and not, say, one of its sandboxed shells).
    pub fn is_sidecar(&self) -> bool {
        let mut words = self.command.split(' ');
        words
            .next()
            .is_some_and(|program| program.ends_with("goal-auditor"))
            && words.next() == Some("serve")
    }
}

/// Sends a signal; a process that has ended meanwhile is no error.
pub fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid)
        .ok()
        .and_then(Pid::from_raw)
        .expect("a process id");
    let _ = kill_process(pid, signal);
}

/// Whether the process lives; a zombie does not.
pub fn lives(pid: u32) -> bool {
    read(pid).is_some()
}

/// Fails where processes cannot be listed, so that no check passes by seeing nothing.
pub(crate) fn require_listing() {
    let own = fs::exists("/proc/self/stat").unwrap_or(false);
    assert!(own, "this check reads /proc, which only Linux has");
}

/// The memory a process has in use (resident set), in bytes; `None` if it has ended.
pub fn memory(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// How often the threads of a process have waited for something, and so how often they have run:
/// what does not change was asleep.
pub fn wakings(pid: u32) -> u64 {
    require_listing();
    let tasks = fs::read_dir(format!("/proc/{pid}/task"));
    let tasks = tasks.into_iter().flatten().flatten();
    let waits = |status: String| {
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
        line.trim().parse::<u64>().ok()
    };
    tasks
        .filter_map(|task| fs::read_to_string(task.path().join("status")).ok())
        .filter_map(waits)
        .sum()
}

/// All living processes; none where they cannot be listed.
pub(crate) fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(read)
        .collect()
}

/// The processes of one world: those that carry its mark, and those in a group with one of them. A
/// sidecar that made itself undumpable hides its environment, but stays in pi's group.
pub(crate) fn of_world(id: &str) -> Vec<Process> {
    let mark = format!("{WORLD_VARIABLE}={id}");
    let all = all();
    let marked = |process: &Process| {
        let environment = fs::read(format!("/proc/{}/environ", process.pid)).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|variable| variable == mark.as_bytes())
    };
    let groups: Vec<_> = all.iter().filter(|p| marked(p)).map(|p| p.group).collect();
    all.into_iter()
        .filter(|process| groups.contains(&process.group))
        .collect()
}

/// Ends what is left of a world. A killed process may have started another one meanwhile, so it is
/// asked again, a few times.
pub(crate) fn kill_world(id: &str) {
    const ROUNDS_MAX: usize = 5;
    for _ in 0..ROUNDS_MAX {
        let left = of_world(id);
        if left.is_empty() {
            return;
        }
        left.iter()
            .for_each(|process| signal(process.pid, Signal::KILL));
    }
}

fn read(pid: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses and may hold any character, so the fields start after the last.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let command = String::from_utf8_lossy(&command)
        .trim_end_matches('\0')
        .replace('\0', " ");
    Some(Process {
        pid,
        parent,
        group,
        command,
    })
}
