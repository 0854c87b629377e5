//! A seal on Linux: namespaces in which the workspace and the home are throw-away overlays.
//!
//! ```text
//!   keeper (audit-seal)     the caller's namespaces; ends with its standard input or its parent
//!   ├ janitor               makes the socket; removes it when the keeper is gone, however it went
//!   └ process 1             in all namespaces; ends with the keeper, and everything inside with it
//!     ├ runner              one a client: reaper of its command; kills it whole
//!     │ └ command …
//!     └ orphans             what a finished command left in the background, until the seal ends
//! ```

mod client;
mod confine;
mod init;
mod janitor;
mod plan;
mod root;
mod runner;
mod sys;
mod wire;

use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    PidfdFlags, Signal, WaitOptions, getppid, pidfd_open, set_parent_process_death_signal, waitpid,
};

pub use self::confine::PROCESSES_MAX;
use self::init::{Held, Source};
use self::janitor::Janitor;
use self::plan::Plan;
use crate::error::{Doing as _, SealError};
use crate::{Outcome, SealOptions, SealedCommand};

/// A seal that is held for many commands. Everything in it is gone when this is dropped or its
/// process ends, in any way.
pub struct Seal {
    held: Held,
    janitor: Janitor,
}

impl Seal {
    /// Makes a seal whose commands come in at a Unix socket. The calling process must have a single
    /// thread, and loses every open file but its standard streams.
    ///
    /// # Errors
    /// When the seal cannot be made here, and why.
    pub fn hold(options: &SealOptions, socket: &Path) -> Result<Self, SealError> {
        begin()?;
        let plan = Plan::new(options)?;
        let (janitor, listener) = Janitor::start(socket)?;
        match init::start(&plan, Source::Listener(listener)) {
            Ok(held) => Ok(Self { held, janitor }),
            Err(error) => {
                janitor.dismiss();
                Err(error)
            }
        }
    }

    /// Waits until standard input ends, or the seal's first process does; then ends the seal.
    ///
    /// # Errors
    /// When nothing can be waited for.
    pub fn until_input_ends(self) -> Result<(), SealError> {
        let doing = || "waiting".to_owned();
        let init = pidfd_open(self.held.init, PidfdFlags::empty()).doing(doing)?;
        let stdin = io::stdin();
        let mut nothing = [0; 1_024];
        loop {
            let mut waited_for = [
                PollFd::new(&init, PollFlags::IN),
                PollFd::new(&stdin, PollFlags::IN),
            ];
            match poll(&mut waited_for, None) {
                Err(rustix::io::Errno::INTR) => continue,
                ready => ready.doing(doing)?,
            };
            let gone = !waited_for[0].revents().is_empty();
            let said = !waited_for[1].revents().is_empty();
            if gone || (said && !matches!(stdin.lock().read(&mut nothing), Ok(1..))) {
                break;
            }
        }
        end(self.held);
        self.janitor.dismiss();
        Ok(())
    }
}

/// Ends a seal and waits until all its processes are gone.
fn end(held: Held) {
    let init = held.init;
    drop(held);
    let _ = waitpid(Some(init), WaitOptions::empty());
}

/// Runs one command in a seal of its own.
///
/// # Errors
/// When the seal cannot be made; then nothing was run.
pub fn run_once(options: &SealOptions, command: &SealedCommand) -> Result<Outcome, SealError> {
    begin()?;
    let plan = Plan::new(options)?;
    let (ours, theirs) = UnixStream::pair().doing(|| "starting the seal".to_owned())?;
    let held = init::start(&plan, Source::Client(theirs))?;
    let outcome = client::run(&ours, command);
    end(held);
    outcome
}

/// Runs one command in a seal that is held elsewhere.
///
/// # Errors
/// When there is no seal at that socket, or it refuses.
pub fn run_in(socket: &Path, command: &SealedCommand) -> Result<Outcome, SealError> {
    let seal = UnixStream::connect(socket)
        .doing(|| format!("joining the seal at {}", socket.display()))?;
    client::run(&seal, command)
}

/// What a keeper does first: it ends with its parent, and brings nothing along that was open.
fn begin() -> Result<(), SealError> {
    let doing = || "starting the seal".to_owned();
    let parent = getppid();
    set_parent_process_death_signal(Some(Signal::KILL)).doing(doing)?;
    if parent != getppid() {
        return Err(SealError::new(doing(), "the caller is gone"));
    }
    sys::require_single_thread().doing(doing)?;
    sys::close_descriptors_from(3, &[]).doing(doing)
}
