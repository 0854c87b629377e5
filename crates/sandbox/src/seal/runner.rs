//! Runs one command for one client, inside a seal, and answers what became of it.
//!
//! The runner is the reaper of all that its command starts, so that a command that ran out of time,
//! or lost its client, can be killed whole, daemons included.

use std::fs;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, kill_process, pidfd_open,
    set_child_subreaper, wait,
};

use super::sys;
use super::wire::{self, Answer, Request};

/// How often the children of what has ended are reaped.
const REAP_EVERY: Duration = Duration::from_millis(250);
/// Rounds of killing; each finds what was forked during the one before.
const KILL_ROUNDS_MAX: u32 = 2_000;
/// Folders and addresses that mean nothing inside when what they name is not there.
const PLACES: &[&str] = &["TMPDIR", "TMP", "TEMP", "XDG_RUNTIME_DIR"];

/// Runs a client's command; this process ends with it.
pub(super) fn run(client: &UnixStream) -> ! {
    sys::reap_automatically(false);
    let answer = match serve(client) {
        Ok(answer) => answer,
        Err(_) => Some(Answer::Refused),
    };
    if let Some(answer) = answer {
        // A client that is gone needs none.
        let _ = answer.send(client);
    }
    sys::exit_now(0)
}

/// `None`: the client went away, and everything was killed.
fn serve(client: &UnixStream) -> io::Result<Option<Answer>> {
    client.set_nonblocking(false)?;
    set_child_subreaper(Some(Pid::INIT))?;
    rustix::process::setsid()?;
    let (request, streams) = wire::receive(client)?;
    for stream in &streams {
        if !may_enter(stream)? {
            return Ok(Some(Answer::Refused));
        }
    }
    if let Err(error) = rustix::process::chdir(&request.folder) {
        return Ok(Some(Answer::NoFolder(error.raw_os_error())));
    }
    let deadline = match request.timeout_ms {
        0 => None,
        limit => now().checked_add(Duration::from_millis(limit)),
    };
    match spawn(&request, streams) {
        Ok(command) => supervise(command, client, deadline),
        Err(error) => Ok(Some(Answer::NotRun(why_not_run(&error, &request)))),
    }
}

/// Files and folders of the view outside stay outside: through an open descriptor they could be
/// opened anew for writing (`/proc/self/fd`), or be walked from. The client puts pipes before files.
fn may_enter(stream: &OwnedFd) -> io::Result<bool> {
    let stat = rustix::fs::fstat(stream)?;
    Ok(match FileType::from_raw_mode(stat.st_mode) {
        FileType::Fifo | FileType::Socket | FileType::CharacterDevice => true,
        FileType::RegularFile
        | FileType::Directory
        | FileType::Symlink
        | FileType::BlockDevice
        | FileType::Unknown => false,
    })
}

fn spawn(request: &Request, [stdin, stdout, stderr]: [OwnedFd; 3]) -> io::Result<Pid> {
    let [program, arguments @ ..] = request.command.as_slice() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let absent = |name: &str, value: &Path| PLACES.contains(&name) && !value.is_dir();
    let environment = request.environment.iter();
    let environment = environment
        .filter(|(name, value)| !absent(&name.to_string_lossy(), Path::new(value)))
        .map(|(name, value)| (name, value));
    let child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(environment)
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::from(stdout))
        .stderr(Stdio::from(stderr))
        .process_group(0)
        .spawn()?;
    // It is waited for below, together with whatever loses its parent.
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| io::Error::other("a process without a number"))
}

/// An errno. A folder of PATH that may not be entered makes the system say "permission denied" for
/// a program that is nowhere; a shell says "not found", and so do we.
fn why_not_run(error: &io::Error, request: &Request) -> i32 {
    let errno = error.raw_os_error().unwrap_or(0);
    let program = request.command.first().map(Path::new);
    let bare = program.filter(|program| program.components().count() == 1);
    let (Some(name), true) = (bare, error.kind() == io::ErrorKind::PermissionDenied) else {
        return errno;
    };
    let path = request.environment.iter().find(|(name, _)| name == "PATH");
    let mut folders = path
        .into_iter()
        .flat_map(|(_, path)| std::env::split_paths(path));
    if folders.any(|folder| folder.join(name).exists()) {
        errno
    } else {
        rustix::io::Errno::NOENT.raw_os_error()
    }
}

fn supervise(
    command: Pid,
    client: &UnixStream,
    deadline: Option<Instant>,
) -> io::Result<Option<Answer>> {
    let end = pidfd_open(command, PidfdFlags::empty())?;
    loop {
        if let Some(status) = reap(command) {
            return Ok(Some(answer(status)));
        }
        let left = deadline.map(|deadline| deadline.saturating_duration_since(now()));
        if left.is_some_and(|left| left.is_zero()) {
            kill_everything();
            return Ok(Some(Answer::TimedOut));
        }
        let nap = left.map_or(REAP_EVERY, |left| left.min(REAP_EVERY));
        let nap = Timespec::try_from(nap).ok();
        let mut waited_for = [
            PollFd::new(&end, PollFlags::IN),
            PollFd::from_borrowed_fd(client.as_fd(), PollFlags::IN),
        ];
        if poll(&mut waited_for, nap.as_ref()).is_err() {
            continue;
        }
        // A client says nothing after its request: anything here is its end.
        if !waited_for[1].revents().is_empty() && waited_for[0].revents().is_empty() {
            kill_everything();
            return Ok(None);
        }
    }
}

fn answer(status: WaitStatus) -> Answer {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Answer::Exited(code),
        (None, signal) => Answer::Killed(signal.unwrap_or(0)),
    }
}

/// Reaps all that has ended; tells how the command did, if it has.
fn reap(command: Pid) -> Option<WaitStatus> {
    let mut ended = None;
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        if pid == command {
            ended = Some(status);
        }
    }
    ended
}

/// Kills all that descends from this process, until nothing does.
fn kill_everything() {
    let this = rustix::process::getpid();
    for _ in 0..KILL_ROUNDS_MAX {
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        let found = descendants(this);
        if found.is_empty() {
            return;
        }
        for pid in found {
            let _ = kill_process(pid, Signal::KILL);
        }
        nap();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this process waits for nothing else"
)]
fn nap() {
    std::thread::sleep(Duration::from_millis(1));
}

#[expect(
    clippy::disallowed_methods,
    reason = "the host's clock: a limit on a real command"
)]
fn now() -> Instant {
    Instant::now()
}

fn descendants(of: Pid) -> Vec<Pid> {
    let parents = all_processes();
    let mut found = vec![of];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(
            parents
                .iter()
                .filter(|(_, of)| *of == parent)
                .map(|(pid, _)| *pid),
        );
        next += 1;
    }
    found.split_off(1)
}

/// Every process with its parent.
fn all_processes() -> Vec<(Pid, Pid)> {
    let Ok(folder) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let numbers = folder.flatten().filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        Some((Pid::from_raw(pid)?, parent_of(pid)?))
    });
    numbers.collect()
}

/// Reads `PID (any name) STATE PARENT …`.
fn parent_of(pid: i32) -> Option<Pid> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after_name = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&stat[after_name + 1..]).ok()?;
    Pid::from_raw(rest.split_ascii_whitespace().nth(1)?.parse().ok()?)
}
