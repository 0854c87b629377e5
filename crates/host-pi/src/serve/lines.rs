//! The two ends of the pipe: bounded lines in, whole lines out.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::sync::mpsc;
use std::thread;

use super::workspace::Found;
use anyhow::Context as _;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Longest line taken, in bytes. A session with many records is a few megabytes.
const LINE_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// What the reader hands on.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// One line without its line feed.
    Line(Vec<u8>),
    /// A line over the limit; its bytes were dropped.
    TooLong,
    /// What the thread that looks at workspaces found out.
    Found(Found),
    /// The end of the input: the host is gone, or done with us.
    End,
}

/// Starts the reader. Others may send into its channel too.
pub(crate) fn read_stdin()
-> anyhow::Result<(UnboundedSender<Incoming>, UnboundedReceiver<Incoming>)> {
    let (sender, receiver) = unbounded_channel();
    let lines = sender.clone();
    thread::Builder::new()
        .name("reader".to_owned())
        .spawn(move || read_lines(&lines))
        .context("starting the reader")?;
    Ok((sender, receiver))
}

fn read_lines(sender: &UnboundedSender<Incoming>) {
    let mut input = BufReader::new(io::stdin().lock());
    while let Ok(Some(incoming)) = next_line(&mut input, LINE_MAX_BYTES) {
        if sender.send(incoming).is_err() {
            return;
        }
    }
    let _ = sender.send(Incoming::End);
}

/// The next line, or `None` at the end of the input. A last line without line feed is torn and
/// dropped: the shim always writes whole lines.
fn next_line(input: &mut impl io::BufRead, max_bytes: u64) -> io::Result<Option<Incoming>> {
    let mut line = Vec::new();
    input
        .by_ref()
        .take(max_bytes)
        .read_until(b'\n', &mut line)?;
    if line.pop_if(|last| *last == b'\n').is_some() {
        return Ok(Some(Incoming::Line(line)));
    }
    if (line.len() as u64) < max_bytes {
        return Ok(None);
    }
    Ok(skip_line(input)?.then_some(Incoming::TooLong))
}

/// Drops bytes up to the next line feed; whether there was one.
fn skip_line(input: &mut impl io::BufRead) -> io::Result<bool> {
    loop {
        let (used, found) = {
            let chunk = input.fill_buf()?;
            if chunk.is_empty() {
                return Ok(false);
            }
            let at = chunk.iter().position(|byte| *byte == b'\n');
            (at.map_or(chunk.len(), |at| at + 1), at.is_some())
        };
        input.consume(used);
        if found {
            return Ok(true);
        }
    }
}

/// Starts the writer, so that a host that does not read never blocks the loop. The receiver's channel
/// ends when everything is written.
pub(crate) fn write_stdout() -> anyhow::Result<(mpsc::Sender<Vec<u8>>, mpsc::Receiver<()>)> {
    let (sender, receiver) = mpsc::channel::<Vec<u8>>();
    let (done, written) = mpsc::channel::<()>();
    thread::Builder::new()
        .name("writer".to_owned())
        .spawn(move || {
            let _done = done;
            let mut out = io::stdout().lock();
            for line in receiver {
                if out.write_all(&line).and_then(|()| out.flush()).is_err() {
                    return; // The host is gone; end of input ends the rest.
                }
            }
        })
        .context("starting the writer")?;
    Ok((sender, written))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX_BYTES: u64 = 10;

    fn all(input: &[u8]) -> Vec<String> {
        let mut reader = io::BufReader::with_capacity(3, input);
        let mut lines = Vec::new();
        while let Some(incoming) = next_line(&mut reader, MAX_BYTES).unwrap() {
            lines.push(match incoming {
                Incoming::Line(bytes) => String::from_utf8(bytes).unwrap(),
                Incoming::TooLong => "(too long)".to_owned(),
                Incoming::Found(_) | Incoming::End => unreachable!("the input holds lines"),
            });
        }
        lines
    }

    #[test]
    fn lines_end_at_line_feeds_only_and_a_torn_last_one_is_dropped() {
        assert_eq!(all(b"a\r\n\xe2\x80\xa8b\n\nc"), ["a\r", "\u{2028}b", ""]);
    }

    #[test]
    fn a_line_over_the_limit_is_dropped_and_the_next_one_is_read() {
        for (input, lines) in [
            ("123456789\nnext\n", vec!["123456789", "next"]),
            ("1234567890\nnext\n", vec!["(too long)", "next"]),
            ("12345678901234567890\nnext\n", vec!["(too long)", "next"]),
            ("12345678901234567890", vec![]),
        ] {
            assert_eq!(all(input.as_bytes()), lines, "{input}");
        }
    }
}
