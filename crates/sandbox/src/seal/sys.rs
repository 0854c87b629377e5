//! The system calls that no safe wrapper covers. All `unsafe` of the project is in this file and in
//! the one hook between fork and exec in `runner`.
#![expect(unsafe_code, reason = "see the head of the file")]

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, RawFd};

use rustix::process::Pid;

/// Which side of a fork this is.
pub(super) enum Side {
    Parent(Pid),
    Child,
}

/// Fails unless this process has exactly one thread: a forked or unshared thread would leave the
/// others' locks held for ever, and a user namespace cannot be entered beside other threads.
pub(super) fn require_single_thread() -> io::Result<()> {
    match std::fs::read_dir("/proc/self/task")?.count() {
        1 => Ok(()),
        count => Err(io::Error::other(format!(
            "this process has {count} threads and must have one"
        ))),
    }
}

/// Forks. Only after [`require_single_thread`].
pub(super) fn fork() -> io::Result<Side> {
    clone(0)
}

/// Forks into new namespaces (`CLONE_NEW…`): the child is in all of them, and is process 1 of a new
/// pid namespace. Only after [`require_single_thread`].
pub(super) fn clone(namespaces: u64) -> io::Result<Side> {
    let mut args = libc::clone_args {
        flags: namespaces,
        pidfd: 0,
        child_tid: 0,
        parent_tid: 0,
        exit_signal: libc::SIGCHLD.unsigned_abs().into(),
        stack: 0,
        stack_size: 0,
        tls: 0,
        set_tid: 0,
        set_tid_size: 0,
        cgroup: 0,
    };
    // SAFETY: without CLONE_VM and with no stack this is fork: the child has its own copy of all
    // memory. There is one thread, so no lock is held by a thread the child lacks. `args` is a
    // valid structure of the size given.
    let pid = unsafe {
        libc::syscall(
            libc::SYS_clone3,
            &raw mut args,
            size_of::<libc::clone_args>(),
        )
    };
    match i32::try_from(pid).ok().filter(|pid| *pid >= 0) {
        None => Err(io::Error::last_os_error()),
        Some(pid) => Ok(Pid::from_raw(pid).map_or(Side::Child, Side::Parent)),
    }
}

/// Ends this process at once, without the destructors and buffers it shares with its parent.
pub(super) fn exit_now(code: i32) -> ! {
    // SAFETY: `_exit` takes any number, touches no memory and does not return.
    unsafe { libc::_exit(code) }
}

/// Sets mount attributes (`MOUNT_ATTR_…`) on a mount and all mounts below it.
pub(super) fn set_mount_attributes(mount: BorrowedFd<'_>, attributes: u64) -> io::Result<()> {
    let change = libc::mount_attr {
        attr_set: attributes,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    let flags = libc::AT_EMPTY_PATH | libc::AT_RECURSIVE;
    // SAFETY: the descriptor is open for the whole call, the path is a C string, and `change` is a
    // valid structure of the size given, which the kernel only reads.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const change,
            size_of::<libc::mount_attr>(),
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Closes every descriptor from `first` on that is not in `keep`. Only where nothing in this process
/// owns one of the others.
pub(super) fn close_descriptors_from(first: RawFd, keep: &[RawFd]) -> io::Result<()> {
    let mut kept: Vec<RawFd> = keep.iter().copied().filter(|fd| *fd >= first).collect();
    kept.sort_unstable();
    let mut start = first;
    for fd in kept {
        close_range(start, fd - 1)?;
        start = fd + 1;
    }
    close_range(start, RawFd::MAX)
}

fn close_range(first: RawFd, last: RawFd) -> io::Result<()> {
    if first > last {
        return Ok(());
    }
    // SAFETY: closes descriptors only; the callers (start of a command, or a fresh fork that goes
    // on with the kept ones alone) own no value that holds one of them.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Brings up the loopback interface of this network namespace.
pub(super) fn loopback_up(socket: BorrowedFd<'_>) -> io::Result<()> {
    // The number is small; the C libraries only disagree about its type.
    const SET_FLAGS: libc::Ioctl = libc::SIOCSIFFLAGS as libc::Ioctl;
    // SAFETY: `ifreq` is plain data, for which all zeros is a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo\0") {
        *to = libc::c_char::from_ne_bytes([*from]);
    }
    request.ifr_ifru.ifru_flags = i16::try_from(libc::IFF_UP).unwrap_or(1);
    // SAFETY: SIOCSIFFLAGS reads a whole `ifreq`, which outlives the call.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), SET_FLAGS, &raw const request) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Leaves the session keyring of the caller for an empty one. Kernels without keyrings have nothing
/// to leave, so failing is fine.
pub(super) fn leave_session_keyring() {
    const KEYCTL_JOIN_SESSION_KEYRING: libc::c_long = 1;
    let anonymous: *const libc::c_char = std::ptr::null();
    // SAFETY: a null name is the documented way to ask for an anonymous keyring; no memory is read.
    unsafe { libc::syscall(libc::SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, anonymous) };
}

/// Lets the kernel reap every child of this process by itself, or gives that back to `wait`.
pub(super) fn reap_automatically(automatically: bool) {
    let action = if automatically {
        libc::SIG_IGN
    } else {
        libc::SIG_DFL
    };
    // SAFETY: sets one of the two built-in actions; no handler of ours runs.
    unsafe { libc::signal(libc::SIGCHLD, action) };
}
