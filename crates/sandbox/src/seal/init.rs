//! Process 1 of a seal: makes the seal, forks a runner for each client, and holds everything up
//! until its keeper outside goes away. The kernel then kills every process of the seal.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{AddressFamily, SocketType};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, set_parent_process_death_signal};

use super::plan::Plan;
use super::sys::{self, Side};
use super::{confine, root, runner};
use crate::Network;
use crate::error::{Doing as _, SealError};

/// Longest complaint of process 1, in bytes.
const COMPLAINT_MAX: u64 = 4_096;
/// What process 1 says when the seal is made; no complaint begins so.
const MADE: &[u8] = b"\0";

/// Where a seal's commands come from.
pub(super) enum Source {
    /// Clients that connect.
    Listener(UnixListener),
    /// One client, connected already.
    Client(UnixStream),
}

/// A running seal, seen from its keeper. Dropping it ends the seal.
pub(super) struct Held {
    pub(super) init: Pid,
    /// Process 1 waits for the end of this pipe.
    _lifeline: OwnedFd,
}

/// The ends of the pipes that process 1 holds.
struct Ends {
    lifeline: OwnedFd,
    report: OwnedFd,
}

/// Makes the seal; returns when it is made, or why it cannot be.
pub(super) fn start(plan: &Plan, source: Source) -> Result<Held, SealError> {
    let doing = || "preparing a seal".to_owned();
    sys::require_single_thread().doing(doing)?;
    let (lifeline, lifeline_out) = pipe_with(PipeFlags::CLOEXEC).doing(doing)?;
    let (report_in, report) = pipe_with(PipeFlags::CLOEXEC).doing(doing)?;
    let ends = Ends { lifeline, report };
    let side = sys::clone(namespaces(plan.network))
        .doing(|| "making namespaces (user namespaces may be switched off)".to_owned())?;
    let init = match side {
        Side::Child => be_init(plan, source, ends),
        Side::Parent(init) => init,
    };
    drop((ends, source));
    let held = Held {
        init,
        _lifeline: lifeline_out,
    };
    map_ids(init).doing(|| "mapping the user into its namespace".to_owned())?;
    rustix::io::write(&held._lifeline, MADE).doing(doing)?;
    let mut report = Vec::new();
    let mut reader = File::from(report_in).take(COMPLAINT_MAX);
    reader.read_to_end(&mut report).doing(doing)?;
    if report == MADE {
        return Ok(held);
    }
    let report = String::from_utf8_lossy(&report);
    Err(match report.split_once('\0') {
        Some((doing, why)) => SealError::new(doing, why),
        None => SealError::new(doing(), "its first process ended"),
    })
}

fn namespaces(network: Network) -> u64 {
    let always = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS;
    let flags = match network {
        Network::Host => always,
        Network::Loopback | Network::Off => always | libc::CLONE_NEWNET,
    };
    u64::from(flags.unsigned_abs())
}

/// Everybody keeps their number. Root maps all numbers it has, so that owners look right; any other
/// user may map only itself.
fn map_ids(init: Pid) -> io::Result<()> {
    let of = |name: &str| format!("/proc/{}/{name}", init.as_raw_nonzero());
    let uid = rustix::process::geteuid();
    let gid = rustix::process::getegid();
    if uid.is_root() {
        let all = |name| -> io::Result<()> {
            fs::write(
                of(name),
                identity(&fs::read_to_string(format!("/proc/self/{name}"))?),
            )
        };
        if all("uid_map").is_ok() && all("gid_map").is_ok() {
            return Ok(());
        }
    }
    fs::write(of("setgroups"), "deny")?;
    fs::write(of("uid_map"), format!("{0} {0} 1", uid.as_raw()))?;
    fs::write(of("gid_map"), format!("{0} {0} 1", gid.as_raw()))
}

/// The identity on the numbers a map's left column covers.
fn identity(map: &str) -> String {
    let extents = map.lines().filter_map(|line| {
        let mut columns = line.split_ascii_whitespace();
        let (first, count) = (columns.next()?, columns.nth(1)?);
        Some(format!("{first} {first} {count}\n"))
    });
    extents.collect()
}

fn be_init(plan: &Plan, source: Source, ends: Ends) -> ! {
    let Ends { lifeline, report } = ends;
    let made = prepare(plan, &source, &lifeline, &report);
    let text = match &made {
        Ok(()) => MADE.to_vec(),
        Err(error) => format!("{}\0{}", error.doing, error.why).into_bytes(),
    };
    // Closes it, too: the keeper reads to the end.
    let told = File::from(report).write_all(&text);
    if made.is_err() || told.is_err() {
        sys::exit_now(1);
    }
    serve(source, &lifeline)
}

fn prepare(
    plan: &Plan,
    source: &Source,
    lifeline: &OwnedFd,
    report: &OwnedFd,
) -> Result<(), SealError> {
    let doing = || "starting the seal's first process".to_owned();
    let source = match source {
        Source::Listener(listener) => listener.as_raw_fd(),
        Source::Client(client) => client.as_raw_fd(),
    };
    let keep = [lifeline.as_raw_fd(), report.as_raw_fd(), source];
    sys::close_descriptors_from(3, &keep).doing(doing)?;
    set_parent_process_death_signal(Some(Signal::KILL)).doing(doing)?;
    // The keeper says when the ids are mapped; before that nothing may be done in their name.
    let mut go = [0];
    match rustix::io::read(lifeline, &mut go).doing(doing)? {
        0 => return Err(SealError::new(doing(), "the keeper is gone")),
        _ => rustix::process::setsid().doing(doing)?,
    };
    if plan.network == Network::Loopback {
        let doing = || "bringing up the loopback interface".to_owned();
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None);
        sys::loopback_up(socket.doing(doing)?.as_fd()).doing(doing)?;
    }
    root::enter(plan)?;
    confine::confine(plan)?;
    let null = File::options().read(true).write(true).open("/dev/null");
    point_streams_at(&null.doing(doing)?).doing(doing)
}

/// Makes this process's standard streams harmless; a command gets its client's.
pub(super) fn point_streams_at(null: &File) -> io::Result<()> {
    rustix::stdio::dup2_stdin(null)?;
    rustix::stdio::dup2_stdout(null)?;
    Ok(rustix::stdio::dup2_stderr(null)?)
}

/// Serves until the keeper is gone.
fn serve(source: Source, lifeline: &OwnedFd) -> ! {
    // Whatever loses its parent in here becomes a child of this process.
    sys::reap_automatically(true);
    let listener = match source {
        Source::Listener(listener) => Some(listener),
        Source::Client(client) => {
            if let Ok(Side::Child) = sys::fork() {
                runner::run(&client);
            }
            // Ours is closed with this: when the runner is gone, the client must see the end.
            None
        }
    };
    let listener = listener.as_ref();
    loop {
        let mut waited_for = vec![PollFd::new(lifeline, PollFlags::IN)];
        waited_for.extend(listener.map(|listener| PollFd::new(listener, PollFlags::IN)));
        let ready = poll(&mut waited_for, None);
        if ready.is_ok() && !waited_for[0].revents().is_empty() {
            sys::exit_now(0);
        }
        let called = waited_for
            .get(1)
            .is_some_and(|one| !one.revents().is_empty());
        if let Some(listener) = listener.filter(|_| ready.is_ok() && called) {
            accept(listener);
        }
    }
}

/// Takes one client; it waits no longer than the client does.
fn accept(listener: &UnixListener) {
    let Ok((client, _)) = listener.accept() else {
        return;
    };
    if let Ok(Side::Child) = sys::fork() {
        runner::run(&client);
    }
}
