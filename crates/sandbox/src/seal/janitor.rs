//! The socket of a seal, and the process that makes and removes it.
//!
//! A file outlives the process that made it, unless somebody is left to remove it. So the janitor is
//! there before the socket is: it binds it for the keeper, and removes it when the keeper is gone,
//! however it went.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::Mode;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with,
};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, WaitOptions, waitpid};

use super::init;
use super::sys::{self, Side};
use crate::error::{Doing as _, SealError};

/// Clients that may wait to be taken.
const WAITING_MAX: i32 = 128;
/// Only the seal's user may connect.
const OTHERS_MAY_NOT: u32 = 0o177;

/// The janitor, seen from the keeper.
pub(super) struct Janitor {
    pid: Pid,
    lifeline: OwnedFd,
}

impl Janitor {
    /// Starts the janitor, which binds the socket.
    pub(super) fn start(path: &Path) -> Result<(Self, UnixListener), SealError> {
        let doing = || format!("listening at {}", path.display());
        let socket = socket_with(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
            None,
        );
        let socket = socket.doing(doing)?;
        let (keeper, lifeline) = pipe_with(PipeFlags::CLOEXEC).doing(doing)?;
        let (answer, report) = pipe_with(PipeFlags::CLOEXEC).doing(doing)?;
        let pid = match sys::fork().doing(doing)? {
            Side::Child => work(path, &socket, &keeper, report),
            Side::Parent(pid) => pid,
        };
        drop((keeper, report));
        let janitor = Self { pid, lifeline };
        let mut errno = [0; 4];
        let told = rustix::io::read(&answer, &mut errno).doing(doing)?;
        let bound = match i32::from_le_bytes(errno) {
            0 if told == errno.len() => listen(&socket, WAITING_MAX).map_err(io::Error::from),
            0 => Err(io::Error::other("its janitor is gone")),
            errno => Err(io::Error::from_raw_os_error(errno)),
        };
        match bound.doing(doing) {
            Ok(()) => Ok((janitor, UnixListener::from(socket))),
            Err(error) => {
                janitor.dismiss();
                Err(error)
            }
        }
    }

    /// Has the socket removed, and waits for it.
    pub(super) fn dismiss(self) {
        drop(self.lifeline);
        let _ = waitpid(Some(self.pid), WaitOptions::empty());
    }
}

fn work(path: &Path, socket: &OwnedFd, keeper: &OwnedFd, report: OwnedFd) -> ! {
    let _ = rustix::process::setsid();
    rustix::process::umask(Mode::from_raw_mode(OTHERS_MAY_NOT));
    let address = SocketAddrUnix::new(path);
    let bound = address.and_then(|address| bind(socket, &address));
    let errno = bound.err().map_or(0, |error| error.raw_os_error());
    let _ = rustix::io::write(&report, &errno.to_le_bytes());
    drop(report);
    if bound.is_ok() {
        let own = fs::symlink_metadata(path).ok();
        wait_for_the_end_of(keeper);
        // Another seal may have taken the name since.
        if same_file(own.as_ref(), fs::symlink_metadata(path).ok().as_ref()) {
            let _ = fs::remove_file(path);
        }
    }
    sys::exit_now(0)
}

/// Holds nothing else meanwhile: neither the socket, nor the caller's streams.
fn wait_for_the_end_of(keeper: &OwnedFd) {
    if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        let _ = init::point_streams_at(&null);
    }
    let _ = sys::close_descriptors_from(3, &[keeper.as_raw_fd()]);
    let mut nothing = [0];
    while rustix::io::read(keeper, &mut nothing) == Err(rustix::io::Errno::INTR) {}
}

fn same_file(one: Option<&Metadata>, other: Option<&Metadata>) -> bool {
    let id = |data: &Metadata| (data.dev(), data.ino());
    one.is_some() && one.map(id) == other.map(id)
}
