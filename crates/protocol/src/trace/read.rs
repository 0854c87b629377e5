//! Reading a trace line by line: what is cut off at its end is no fault, what is broken before is.

use std::io::{self, BufRead, Read as _};

use goal_engine::{Clocks, Event, Monotonic, WallClock};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::event::{EventLine, SettingsLine, event};
use super::{FORMAT, TRACE_MAX_BYTES, TRACE_VERSION};

/// Why a file cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// Nothing was recorded.
    #[error("it is empty, or cut off in its first line: nothing was recorded")]
    Empty,
    /// It begins as something else does.
    #[error("it is no trace of goal-auditor; a trace begins with {{\"format\":\"{FORMAT}\"")]
    Foreign,
    /// It is a session file of pi.
    #[error(
        "it is a session file of pi, not a trace; `goal-auditor report` tells what happened in it"
    )]
    Session,
    /// It was written by a newer version.
    #[error(
        "it has format {v}, and this version reads up to {TRACE_VERSION}; replay it with \
         goal-auditor {product}, which wrote it"
    )]
    Newer {
        /// Its format.
        v: u64,
        /// The version that wrote it.
        product: String,
    },
    /// A line in the middle makes no sense.
    #[error("line {line} is damaged: {why}")]
    Damaged {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
}

/// How a trace ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceEnd {
    /// In order: the host ended the session.
    Closed,
    /// It was as large as it may get; what came later is not in it.
    Full,
    /// After a whole line, without a word: it was killed, or is still going on.
    Open,
    /// In the middle of a line: it was killed.
    Torn,
    /// While an event was being handled: it died of it.
    Died,
}

/// Who recorded.
#[derive(Debug, Deserialize)]
pub(super) struct Header {
    pub(super) product: String,
    pub(super) protocol: u32,
    pub(super) settings: SettingsLine,
}

/// What tells a trace from other files, whatever its version.
#[derive(Deserialize)]
struct Mark {
    format: Option<String>,
    v: Option<u64>,
    product: Option<String>,
    r#type: Option<String>,
}

/// An event with its effects.
#[derive(Deserialize)]
pub(super) struct Step {
    pub(super) n: u64,
    pub(super) now: u64,
    pub(super) wall: u64,
    pub(super) fresh: String,
    pub(super) event: Box<RawValue>,
    /// `None` if the process died while it handled the event.
    pub(super) effects: Option<Vec<Box<RawValue>>>,
}

#[derive(Deserialize)]
struct EndLine {
    end: String,
}

impl Step {
    /// What the driver gave beside the event.
    pub(super) fn clocks(&self) -> Option<Clocks> {
        Some(Clocks {
            now: Monotonic(self.now),
            wall: WallClock(self.wall),
            fresh: u64::from_str_radix(&self.fresh, 16).ok()?,
        })
    }

    /// The event for the engine.
    pub(super) fn event(&self) -> Result<Event, String> {
        let line: EventLine = serde_json::from_str(self.event.get()).map_err(in_words)?;
        event(line).ok_or_else(|| "the engine has no such event".to_owned())
    }
}

/// A trace that is being read.
pub(super) struct TraceReader<R> {
    input: R,
    /// Lines read so far.
    pub(super) line: u64,
    /// The last event.
    last: Option<(u64, u64)>,
    pub(super) end: TraceEnd,
}

impl<R: BufRead> TraceReader<R> {
    /// Reads the first line.
    pub(super) fn open(input: R) -> Result<(Header, Self), TraceError> {
        let mut reader = Self {
            input,
            line: 0,
            last: None,
            end: TraceEnd::Open,
        };
        let first = reader.line()?.ok_or(TraceError::Empty)?;
        let cut_off = reader.at_end()? && !first.ends_with(b"\n");
        let mark: Mark = match serde_json::from_slice(&first) {
            Ok(mark) => mark,
            Err(_) if cut_off && first.starts_with(b"{\"format\":") => {
                return Err(TraceError::Empty);
            }
            Err(_) => return Err(TraceError::Foreign),
        };
        match (mark.format.as_deref(), mark.v) {
            (Some(FORMAT), Some(v)) if v > TRACE_VERSION.into() => Err(TraceError::Newer {
                v,
                product: mark
                    .product
                    .unwrap_or_else(|| "of a newer version".to_owned()),
            }),
            (Some(FORMAT), Some(_)) => {
                let header =
                    serde_json::from_slice(&first).map_err(|error| reader.damaged(error))?;
                Ok((header, reader))
            }
            _ if mark.r#type.as_deref() == Some("session") => Err(TraceError::Session),
            _ => Err(TraceError::Foreign),
        }
    }

    /// The next event; `None` at the end of the trace, and then `end` says how it ended.
    pub(super) fn step(&mut self) -> Result<Option<Step>, TraceError> {
        let Some(bytes) = self.line()? else {
            return Ok(None);
        };
        let error = match serde_json::from_slice::<Step>(&bytes) {
            Ok(step) => return self.checked(step).map(Some),
            Err(error) => error,
        };
        if let Ok(EndLine { end }) = serde_json::from_slice(&bytes) {
            self.end = if end == "full" {
                TraceEnd::Full
            } else {
                TraceEnd::Closed
            };
            return Ok(None);
        }
        if self.at_end()? {
            self.end = TraceEnd::Torn;
            return Ok(None);
        }
        Err(self.damaged(error))
    }

    /// Events are numbered, and time does not run backwards.
    fn checked(&mut self, step: Step) -> Result<Step, TraceError> {
        let (n, now) = self.last.unwrap_or((0, 0));
        if step.n != n + 1 {
            return Err(self.damaged(format!("event {} comes after event {n}", step.n)));
        }
        if step.now < now {
            return Err(self.damaged("its time is before that of the line above"));
        }
        self.last = Some((step.n, step.now));
        if step.effects.is_none() {
            self.end = TraceEnd::Died;
        }
        Ok(step)
    }

    /// That the line read last makes no sense.
    pub(super) fn damaged(&self, why: impl std::fmt::Display) -> TraceError {
        TraceError::Damaged {
            line: self.line,
            why: in_words(why),
        }
    }

    fn line(&mut self) -> Result<Option<Vec<u8>>, TraceError> {
        let mut bytes = Vec::new();
        let mut limited = self.input.by_ref().take(TRACE_MAX_BYTES);
        if limited.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        self.line += 1;
        Ok(Some(bytes))
    }

    fn at_end(&mut self) -> Result<bool, TraceError> {
        Ok(self.input.fill_buf()?.is_empty())
    }
}

fn in_words(error: impl std::fmt::Display) -> String {
    error.to_string()
}
