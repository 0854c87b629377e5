//! Where two accounts of the same events part.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::BufRead;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::read::{Step, TraceError, TraceReader};

/// Events told before the one that differs.
const CONTEXT_EVENTS: usize = 6;
/// Characters told before the first that differs, and from it on.
const EXCERPT_CHARS: (usize, usize) = (80, 160);

/// The first difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// Number of the event, from 1; 0 is before the first.
    pub event: u64,
    /// Number of its line in the (first) trace, from 1.
    pub line: u64,
    /// What of it differs.
    pub part: Part,
    /// As it is in the (first) trace; `None` if there is no more.
    pub expected: Option<String>,
    /// As it is now, or in the second trace; `None` if there is no more.
    pub got: Option<String>,
    /// The events before it and itself, in few words.
    pub before: Vec<String>,
}

/// What differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "type")]
pub enum Part {
    /// The settings that the engine was made with.
    Settings,
    /// The event, or the clocks given with it.
    Event,
    /// One of its effects.
    Effect {
        /// Which, from 1.
        number: usize,
    },
    /// The engine panicked.
    Panic,
}

impl Difference {
    /// For people, in a few lines, with names for the two sides.
    #[must_use]
    pub fn words(&self, expected: &str, got: &str) -> String {
        let mut out = match self.part {
            Part::Settings => "The settings differ.".to_owned(),
            Part::Event => format!("Event {} differs (line {}).", self.event, self.line),
            Part::Effect { number } => format!(
                "Effect {number} of event {} differs (line {}).",
                self.event, self.line
            ),
            Part::Panic => format!(
                "The engine panics at event {} (line {}).",
                self.event, self.line
            ),
        };
        for line in &self.before {
            let _ = write!(out, "\n  {line}");
        }
        if self.part != Part::Panic {
            let at = self.first_char();
            for (side, text) in [(expected, &self.expected), (got, &self.got)] {
                let text = text.as_deref();
                let text = text.map_or_else(|| "nothing more".to_owned(), |text| excerpt(text, at));
                let _ = write!(out, "\n{side}: {text}");
            }
        }
        out
    }

    /// How many characters both sides begin with.
    fn first_char(&self) -> usize {
        let (Some(expected), Some(got)) = (&self.expected, &self.got) else {
            return 0;
        };
        let same = expected
            .chars()
            .zip(got.chars())
            .take_while(|(a, b)| a == b);
        same.count()
    }
}

/// The text around a character, with marks where it is cut.
fn excerpt(text: &str, at: usize) -> String {
    let (before, from) = EXCERPT_CHARS;
    let begin = at.saturating_sub(before);
    let part: String = text.chars().skip(begin).take(before + from).collect();
    let cut = text.chars().count() > begin + before + from;
    format!(
        "{}{part}{}",
        if begin > 0 { "…" } else { "" },
        if cut { "…" } else { "" }
    )
}

/// A difference, before it is known where.
pub(super) struct Found {
    part: Part,
    expected: Option<String>,
    got: Option<String>,
}

impl Found {
    pub(super) const fn panic() -> Self {
        Self {
            part: Part::Panic,
            expected: None,
            got: None,
        }
    }

    pub(super) fn at(self, step: &Step, line: u64, before: &Before) -> Difference {
        let before = before.0.iter().cloned().chain([summary(step)]);
        Difference {
            event: step.n,
            line,
            part: self.part,
            expected: self.expected,
            got: self.got,
            before: before.collect(),
        }
    }
}

/// The last few events, in few words.
pub(super) struct Before(VecDeque<String>);

impl Before {
    pub(super) const fn new() -> Self {
        Self(VecDeque::new())
    }

    pub(super) fn note(&mut self, step: &Step) {
        if self.0.len() == CONTEXT_EVENTS {
            self.0.pop_front();
        }
        self.0.push_back(summary(step));
    }
}

/// The first effect that differs, with its index.
pub(super) fn first_difference<E: AsRef<str>, G: AsRef<str>>(
    expected: &[E],
    got: &[G],
) -> Option<(usize, Found)> {
    (0..expected.len().max(got.len())).find_map(|at| {
        let expected = expected.get(at).map(AsRef::as_ref);
        let got = got.get(at).map(AsRef::as_ref);
        let same = expected.zip(got).is_some_and(|(a, b)| means_the_same(a, b));
        (!same).then(|| {
            let found = Found {
                part: Part::Effect { number: at + 1 },
                expected: expected.map(str::to_owned),
                got: got.map(str::to_owned),
            };
            (at, found)
        })
    })
}

/// Equal to the byte, or the same JSON: a tool that a trace went through may have laid it out anew.
fn means_the_same(a: &str, b: &str) -> bool {
    let value = |text| serde_json::from_str::<Value>(text).ok();
    a == b || value(a).zip(value(b)).is_some_and(|(a, b)| a == b)
}

/// What of an event or effect names it.
#[derive(Deserialize)]
struct Name {
    r#type: String,
    /// What happened in the auditor's session.
    event: Option<Box<Self>>,
}

/// `12  +3.210 s  settling → propose, show_status`.
fn summary(step: &Step) -> String {
    let effects = step.effects.as_deref().unwrap_or_default();
    let effects: Vec<String> = effects.iter().map(|effect| name(effect.get())).collect();
    let effects = match (&step.effects, effects.is_empty()) {
        (None, _) => "the end of the process".to_owned(),
        (Some(_), true) => "nothing".to_owned(),
        (Some(_), false) => effects.join(", "),
    };
    let (seconds, millis) = (step.now / 1_000, step.now % 1_000);
    format!(
        "{}  +{seconds}.{millis:03} s  {} → {effects}",
        step.n,
        name(step.event.get())
    )
}

fn name(json: &str) -> String {
    match serde_json::from_str::<Name>(json) {
        Ok(Name {
            r#type,
            event: Some(inner),
        }) => format!("{type} {}", inner.r#type),
        Ok(name) => name.r#type,
        Err(_) => "?".to_owned(),
    }
}

/// Which of two traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The first.
    A,
    /// The second.
    B,
}

/// One of two traces cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct DiffError {
    /// Which.
    pub side: Side,
    /// Why.
    pub error: TraceError,
}

/// The first difference of two traces, in settings, events, clocks or effects. Who recorded them
/// and how they end is no difference.
///
/// # Errors
/// If one of them cannot be read, as in [`super::replay`].
pub fn diff(a: impl BufRead, b: impl BufRead) -> Result<Option<Difference>, DiffError> {
    let of = |side| move |error| DiffError { side, error };
    let (header_a, mut a) = TraceReader::open(a).map_err(of(Side::A))?;
    let (header_b, mut b) = TraceReader::open(b).map_err(of(Side::B))?;
    if header_a.settings != header_b.settings {
        let text = |settings| serde_json::to_string(settings).ok();
        return Ok(Some(Difference {
            event: 0,
            line: 1,
            part: Part::Settings,
            expected: text(&header_a.settings),
            got: text(&header_b.settings),
            before: Vec::new(),
        }));
    }
    let mut before = Before::new();
    loop {
        let (step_a, step_b) = (
            a.step().map_err(of(Side::A))?,
            b.step().map_err(of(Side::B))?,
        );
        let Some(step) = step_a.as_ref().or(step_b.as_ref()) else {
            return Ok(None);
        };
        if let Some(found) = steps_differ(step_a.as_ref(), step_b.as_ref()) {
            return Ok(Some(found.at(step, a.line, &before)));
        }
        before.note(step);
    }
}

fn steps_differ(a: Option<&Step>, b: Option<&Step>) -> Option<Found> {
    let (told_a, told_b) = (a.map(told), b.map(told));
    let same = told_a.as_deref().zip(told_b.as_deref());
    if !same.is_some_and(|(a, b)| means_the_same(a, b)) {
        return Some(Found {
            part: Part::Event,
            expected: told_a,
            got: told_b,
        });
    }
    let texts = |step: Option<&Step>| -> Vec<String> {
        let effects = step.and_then(|step| step.effects.as_deref());
        let effects = effects.unwrap_or_default().iter();
        effects.map(|effect| effect.get().to_owned()).collect()
    };
    first_difference(&texts(a), &texts(b)).map(|(_, found)| found)
}

/// What the engine was told.
fn told(step: &Step) -> String {
    let Step {
        now,
        wall,
        fresh,
        event,
        ..
    } = step;
    format!("{{\"now\":{now},\"wall\":{wall},\"fresh\":\"{fresh}\",\"event\":{event}}}")
}
