//! What a client and a seal say to each other over their Unix socket.
//!
//! The client sends one request, with its three standard streams attached, and reads one answer. It
//! says nothing more: when its end closes before the answer, the command is killed.

use std::ffi::{OsStr, OsString};
use std::io::{self, IoSlice, IoSliceMut, Read, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// Longest request in bytes; the kernel allows a command about 2 MiB of arguments and environment.
const REQUEST_MAX: u32 = 16 * 1024 * 1024;
const STREAMS: usize = 3;
/// Length of an answer in bytes.
const ANSWER_LEN: usize = 5;

/// A command to run inside a seal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    /// Program and arguments; never empty.
    pub(super) command: Vec<OsString>,
    pub(super) folder: PathBuf,
    pub(super) environment: Vec<(OsString, OsString)>,
    /// 0: no limit.
    pub(super) timeout_ms: u64,
}

/// What became of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// It ended with this exit code.
    Exited(i32),
    /// It was ended by this signal.
    Killed(i32),
    /// Its time was up; everything it had started was killed.
    TimedOut,
    /// The working folder cannot be entered inside (an errno).
    NoFolder(i32),
    /// The program was not found, or could not be run (an errno).
    NotRun(i32),
    /// The seal did not understand the request.
    Refused,
}

impl Answer {
    fn pair(self) -> (u8, i32) {
        match self {
            Self::Exited(code) => (0, code),
            Self::Killed(signal) => (1, signal),
            Self::TimedOut => (2, 0),
            Self::NoFolder(errno) => (3, errno),
            Self::NotRun(errno) => (4, errno),
            Self::Refused => (5, 0),
        }
    }

    fn from_pair(kind: u8, number: i32) -> Option<Self> {
        match kind {
            0 => Some(Self::Exited(number)),
            1 => Some(Self::Killed(number)),
            2 => Some(Self::TimedOut),
            3 => Some(Self::NoFolder(number)),
            4 => Some(Self::NotRun(number)),
            5 => Some(Self::Refused),
            _ => None,
        }
    }

    pub(super) fn send(self, mut to: &UnixStream) -> io::Result<()> {
        let (kind, number) = self.pair();
        let mut bytes = [kind, 0, 0, 0, 0];
        bytes[1..].copy_from_slice(&number.to_le_bytes());
        to.write_all(&bytes)
    }

    /// Waits for the answer; `None` if the seal went away without one.
    pub(super) fn receive(mut from: &UnixStream) -> io::Result<Option<Self>> {
        let mut bytes = [0; ANSWER_LEN];
        match from.read_exact(&mut bytes) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
            Err(error) => return Err(error),
        }
        let [kind, number @ ..] = bytes;
        Ok(Self::from_pair(kind, i32::from_le_bytes(number)))
    }
}

/// Sends a request and the streams its command shall have.
pub(super) fn send(
    mut to: &UnixStream,
    request: &Request,
    streams: [BorrowedFd<'_>; STREAMS],
) -> io::Result<()> {
    let bytes = encode(request);
    let length = u32::try_from(bytes.len())
        .ok()
        .filter(|length| *length <= REQUEST_MAX);
    let length = length.ok_or_else(|| io::Error::other("the command is too long"))?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(STREAMS))];
    let mut attached = SendAncillaryBuffer::new(&mut space);
    attached.push(SendAncillaryMessage::ScmRights(&streams));
    let head = length.to_le_bytes();
    let sent = sendmsg(
        to.as_fd(),
        &[IoSlice::new(&head)],
        &mut attached,
        SendFlags::NOSIGNAL,
    )?;
    to.write_all(&head[sent..])?;
    to.write_all(&bytes)
}

/// Receives a request with its streams.
pub(super) fn receive(mut from: &UnixStream) -> io::Result<(Request, [OwnedFd; STREAMS])> {
    let mut head = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(STREAMS))];
    let mut attached = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(
        from.as_fd(),
        &mut [IoSliceMut::new(&mut head)],
        &mut attached,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    let mut streams = Vec::new();
    for message in attached.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            streams.extend(descriptors);
        }
    }
    from.read_exact(&mut head[received.bytes..])?;
    let length = u32::from_le_bytes(head);
    let streams = <[OwnedFd; STREAMS]>::try_from(streams).map_err(|_| malformed())?;
    if length > REQUEST_MAX {
        return Err(malformed());
    }
    let mut bytes = Vec::new();
    from.take(length.into()).read_to_end(&mut bytes)?;
    Ok((decode(&bytes).ok_or_else(malformed)?, streams))
}

fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not a request to a seal")
}

fn encode(request: &Request) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(request.timeout_ms.to_le_bytes());
    put(&mut out, request.folder.as_os_str());
    put_count(&mut out, request.command.len());
    for word in &request.command {
        put(&mut out, word);
    }
    put_count(&mut out, request.environment.len());
    for (name, value) in &request.environment {
        put(&mut out, name);
        put(&mut out, value);
    }
    out
}

/// Counts and lengths are below the longest request, which is checked before anything is sent.
fn put_count(out: &mut Vec<u8>, count: usize) {
    out.extend(u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

fn put(out: &mut Vec<u8>, text: &OsStr) {
    put_count(out, text.len());
    out.extend(text.as_bytes());
}

fn decode(mut bytes: &[u8]) -> Option<Request> {
    let input = &mut bytes;
    let timeout_ms = u64::from_le_bytes(*input.split_off(..8)?.first_chunk()?);
    let folder = PathBuf::from(take(input)?);
    let count = take_count(input)?;
    let command: Vec<OsString> = (0..count).map_while(|_| take(input)).collect();
    let pairs = take_count(input)?;
    let environment: Vec<(OsString, OsString)> = (0..pairs)
        .map_while(|_| Some((take(input)?, take(input)?)))
        .collect();
    let whole = command.len() == count && environment.len() == pairs && input.is_empty();
    (whole && !command.is_empty()).then_some(Request {
        command,
        folder,
        environment,
        timeout_ms,
    })
}

fn take_count(input: &mut &[u8]) -> Option<usize> {
    let bytes = input.split_off(..4)?.first_chunk()?;
    usize::try_from(u32::from_le_bytes(*bytes)).ok()
}

fn take(input: &mut &[u8]) -> Option<OsString> {
    let length = take_count(input)?;
    Some(OsString::from_vec(input.split_off(..length)?.to_vec()))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::fd::AsFd as _;

    use super::*;

    fn request() -> Request {
        Request {
            command: vec!["sh".into(), OsString::from_vec(vec![0xff, b'\n'])],
            folder: PathBuf::from("/a b"),
            environment: vec![("A".into(), "".into())],
            timeout_ms: 7,
        }
    }

    #[test]
    fn a_request_arrives_as_it_was_sent_with_its_streams() {
        let (client, seal) = UnixStream::pair().unwrap();
        let null = std::fs::File::open("/dev/null").unwrap();
        send(&client, &request(), [null.as_fd(); 3]).unwrap();
        let (received, _streams) = receive(&seal).unwrap();
        assert_eq!(received, request());
    }

    #[test]
    fn a_request_without_streams_is_refused() {
        let (mut client, seal) = UnixStream::pair().unwrap();
        client.write_all(&[1, 0, 0, 0, 0]).unwrap();
        assert!(receive(&seal).is_err());
    }

    #[test]
    fn every_cut_of_a_request_is_refused() {
        let whole = encode(&request());
        assert_eq!(decode(&whole), Some(request()));
        for length in 0..whole.len() {
            assert_eq!(decode(&whole[..length]), None, "cut at {length}");
        }
    }

    #[test]
    fn answers_survive_the_way_and_a_closed_end_is_none() {
        let (client, seal) = UnixStream::pair().unwrap();
        for answer in [
            Answer::Exited(255),
            Answer::Killed(9),
            Answer::TimedOut,
            Answer::NoFolder(2),
            Answer::NotRun(13),
            Answer::Refused,
        ] {
            answer.send(&seal).unwrap();
            assert_eq!(Answer::receive(&client).unwrap(), Some(answer));
        }
        drop(seal);
        assert_eq!(Answer::receive(&client).unwrap(), None);
    }
}
