//! The side that asks for a command: hands its streams over and waits.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;
use rustix::pipe::{PipeFlags, pipe_with};

use super::wire::{self, Answer, Request};
use crate::error::{Doing as _, SealError};
use crate::scrub::is_secret;
use crate::{Outcome, SealedCommand};

/// How long output that is still in a pipe may take to arrive after a command has ended.
const LAST_OUTPUT: Duration = Duration::from_millis(50);
const CHUNK_BYTES: usize = 64 * 1024;

/// Has one command run by the seal at the other end, with this process's folder, environment and
/// streams.
pub(super) fn run(seal: &UnixStream, command: &SealedCommand) -> Result<Outcome, SealError> {
    let doing = || "asking the seal to run the command".to_owned();
    let stdin = Input::open().doing(|| "handing over standard input".to_owned())?;
    let stdout = Output::open(io::stdout().as_fd()).doing(|| "handing over output".to_owned())?;
    let stderr = Output::open(io::stderr().as_fd()).doing(|| "handing over errors".to_owned())?;
    let streams = [stdin.end(), stdout.end(), stderr.end()];
    wire::send(seal, &request(command).doing(doing)?, streams).doing(doing)?;
    stdin.handed_over();
    let pumps = [stdout.handed_over(), stderr.handed_over()];
    let answer = Answer::receive(seal).doing(|| "waiting for the seal".to_owned())?;
    for pump in pumps.into_iter().flatten() {
        pump.finish();
    }
    match answer {
        Some(Answer::Exited(code)) => Ok(Outcome::Exited(code)),
        Some(Answer::Killed(signal)) => Ok(Outcome::Killed(signal)),
        Some(Answer::TimedOut) => Ok(Outcome::TimedOut),
        Some(Answer::NotRun(errno)) => Ok(Outcome::NotRun(io::Error::from_raw_os_error(errno))),
        Some(Answer::NoFolder(errno)) => Err(SealError::new(
            "entering the working folder inside the seal",
            io::Error::from_raw_os_error(errno),
        )),
        Some(Answer::Refused) => Err(SealError::new(doing(), "it refused")),
        None => Ok(Outcome::Lost),
    }
}

fn request(command: &SealedCommand) -> io::Result<Request> {
    let environment = env::vars_os().filter(|(name, value)| !is_secret(name, value));
    Ok(Request {
        command: command.words.clone(),
        folder: env::current_dir()?,
        environment: environment.collect::<Vec<(OsString, OsString)>>(),
        timeout_ms: command.timeout.map_or(0, |limit| {
            u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).max(1)
        }),
    })
}

/// Whether a stream is a file, which must stay outside: a pipe goes in instead.
fn is_file(stream: BorrowedFd<'_>) -> io::Result<bool> {
    let stat = rustix::fs::fstat(stream)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(true),
        FileType::Fifo | FileType::Socket | FileType::CharacterDevice => Ok(false),
        FileType::Directory | FileType::Symlink | FileType::BlockDevice | FileType::Unknown => {
            Err(io::Error::other("a folder or disk is no stream"))
        }
    }
}

/// Standard input, or the pipe a file is copied into.
struct Input(Option<(OwnedFd, OwnedFd)>, io::Stdin);

impl Input {
    fn open() -> io::Result<Self> {
        let stdin = io::stdin();
        let pipe = is_file(stdin.as_fd())?.then(|| pipe_with(PipeFlags::CLOEXEC));
        Ok(Self(pipe.transpose()?, stdin))
    }

    fn end(&self) -> BorrowedFd<'_> {
        self.0
            .as_ref()
            .map_or_else(|| self.1.as_fd(), |(end, _)| end.as_fd())
    }

    /// Copies until the command reads no more; nobody waits for this.
    #[expect(
        clippy::disallowed_methods,
        reason = "a client, which makes no namespaces, may thread"
    )]
    fn handed_over(self) {
        if let Some((_, to)) = self.0 {
            thread::spawn(move || io::copy(&mut io::stdin().lock(), &mut File::from(to)));
        }
    }
}

/// An output stream, or the pipe that is copied into a file.
struct Output {
    stream: OwnedFd,
    pipe: Option<(OwnedFd, OwnedFd)>,
}

impl Output {
    fn open(stream: BorrowedFd<'_>) -> io::Result<Self> {
        let pipe = is_file(stream)?.then(|| pipe_with(PipeFlags::CLOEXEC));
        Ok(Self {
            pipe: pipe.transpose()?,
            stream: stream.try_clone_to_owned()?,
        })
    }

    fn end(&self) -> BorrowedFd<'_> {
        self.pipe
            .as_ref()
            .map_or_else(|| self.stream.as_fd(), |(_, end)| end.as_fd())
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a client, which makes no namespaces, may thread"
    )]
    fn handed_over(self) -> Option<Pump> {
        let (from, _) = self.pipe?;
        let ended = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&ended);
        let mut to = File::from(self.stream);
        let copier = thread::spawn(move || copy_until(&mut File::from(from), &mut to, &told));
        Some(Pump { ended, copier })
    }
}

/// Copies a command's output into a file.
struct Pump {
    ended: Arc<AtomicBool>,
    copier: JoinHandle<io::Result<()>>,
}

impl Pump {
    /// The command has ended: takes what is still in the pipe. What it left running in the
    /// background may hold the pipe open, and is not waited for.
    fn finish(self) {
        self.ended.store(true, Ordering::Release);
        let _ = self.copier.join();
    }
}

fn copy_until(from: &mut File, to: &mut File, ended: &AtomicBool) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    let nap = Timespec::try_from(LAST_OUTPUT).ok();
    loop {
        let last = ended.load(Ordering::Acquire);
        let ready = poll(&mut [PollFd::new(from, PollFlags::IN)], nap.as_ref())?;
        if ready == 0 {
            if last {
                return Ok(());
            }
            continue;
        }
        match from.read(&mut chunk)? {
            0 => return Ok(()),
            count => to.write_all(&chunk[..count])?,
        }
    }
}
