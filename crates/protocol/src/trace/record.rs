//! Writing a trace while the engine is driven.

use std::io::{self, Write};
use std::mem;

use goal_engine::{Clocks, Effect, Event, Settings};
use serde::Serialize;

use super::event::{EventLine, SettingsLine, line, settings_line};
use super::{FORMAT, TRACE_VERSION, effect};
use crate::PROTOCOL_VERSION;

/// The first line.
#[derive(Serialize)]
struct HeaderLine<'a> {
    format: &'a str,
    v: u32,
    /// Version of the program that recorded.
    product: &'a str,
    protocol: u32,
    settings: SettingsLine,
}

/// An event, with what the driver gave beside it.
#[derive(Serialize)]
struct Head {
    n: u64,
    now: u64,
    wall: u64,
    fresh: String,
    event: EventLine,
}

/// Whether a trace goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recording {
    /// It does.
    GoesOn,
    /// It is as large as it may get: its last line says so, and nothing more is written.
    Full,
}

/// Records what an engine is told and what it answers. Each event is one line, written at once and
/// before its effects are performed, so that whatever ends the process costs at most the last line.
///
/// Dropped while an event is being handled (the engine panicked), it writes that event down without
/// effects.
#[derive(Debug)]
pub struct Recorder<W: Write> {
    out: W,
    /// Nothing more is written.
    ended: bool,
    bytes: u64,
    max_bytes: u64,
    events: u64,
    /// The line of the event that is being handled, without its end.
    open: String,
}

impl<W: Write> Recorder<W> {
    /// Begins a trace of an engine that was just made with these settings by this version of the
    /// product. The trace takes at most `max_bytes`, and one line that says so.
    ///
    /// # Errors
    /// If the first line cannot be written.
    pub fn start(out: W, settings: &Settings, product: &str, max_bytes: u64) -> io::Result<Self> {
        let mut recorder = Self {
            out,
            ended: false,
            bytes: 0,
            max_bytes,
            events: 0,
            open: String::new(),
        };
        let header = serde_json::to_string(&HeaderLine {
            format: FORMAT,
            v: TRACE_VERSION,
            product,
            protocol: PROTOCOL_VERSION,
            settings: settings_line(settings),
        })?;
        recorder.write(header)?;
        Ok(recorder)
    }

    /// An event is about to be given to the engine.
    pub fn event(&mut self, clocks: Clocks, event: &Event) {
        if self.ended {
            return;
        }
        self.events += 1;
        let head = Head {
            n: self.events,
            now: clocks.now.0,
            wall: clocks.wall.0,
            fresh: format!("{:016x}", clocks.fresh),
            event: line(event),
        };
        self.open = serde_json::to_string(&head).unwrap_or_default();
        self.open.pop(); // The brace: the effects go into the same object.
    }

    /// These are the effects of that event.
    ///
    /// # Errors
    /// If the line cannot be written; the trace has ended then.
    pub fn effects(&mut self, effects: &[Effect]) -> io::Result<Recording> {
        if self.ended {
            return Ok(Recording::Full);
        }
        let effects = serde_json::to_string(&effect::lines(effects))?;
        let line = format!("{},\"effects\":{effects}}}", mem::take(&mut self.open));
        if self.bytes + line.len() as u64 >= self.max_bytes {
            let end = format!("{{\"end\":\"full\",\"maxBytes\":{}}}", self.max_bytes);
            self.write(end)?;
            self.ended = true;
            return Ok(Recording::Full);
        }
        self.write(line)?;
        Ok(Recording::GoesOn)
    }

    /// Ends the trace in order, with a line that says so.
    pub fn end(&mut self) {
        if !self.ended {
            // Whoever looks at the trace misses nothing but the word that it is all.
            let _ = self.write("{\"end\":\"closed\"}".to_owned());
            self.ended = true;
        }
    }

    /// Where it is written to.
    pub const fn out(&self) -> &W {
        &self.out
    }

    /// One line in one go. After a failure nothing more is tried.
    fn write(&mut self, mut line: String) -> io::Result<()> {
        line.push('\n');
        self.bytes += line.len() as u64;
        let out = &mut self.out;
        let written = out.write_all(line.as_bytes()).and_then(|()| out.flush());
        self.ended |= written.is_err();
        written
    }
}

impl<W: Write> Drop for Recorder<W> {
    fn drop(&mut self) {
        if !self.ended && !self.open.is_empty() {
            let line = format!("{},\"effects\":null}}", mem::take(&mut self.open));
            let _ = self.write(line);
        }
    }
}
