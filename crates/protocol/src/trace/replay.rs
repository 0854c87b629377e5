//! The same events once more, and whether the same effects come of them.

use std::io::BufRead;
use std::panic::{AssertUnwindSafe, catch_unwind};

use goal_engine::{Ended, Engine, Goal, Phase};
use serde::Serialize;

use super::difference::{Before, Difference, Found, first_difference};
use super::effect;
use super::event::settings_of;
use super::read::{Step, TraceEnd, TraceError, TraceReader};

/// What a replay found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Replay {
    /// Version of the program that recorded.
    pub product: String,
    /// Its protocol.
    pub protocol: u32,
    /// Events replayed.
    pub events: u64,
    /// Effects that were the same.
    pub effects: u64,
    /// Wall clock of the first event, in milliseconds since 1970, UTC.
    pub began_at: Option<u64>,
    /// Milliseconds from the first event to the last, by the monotonic clock.
    pub covered_ms: u64,
    /// The goal after the last event.
    pub goal: GoalEnd,
    /// How the trace ends; `None` if a difference came first.
    pub end: Option<TraceEnd>,
    /// Where other effects came of the same events, if anywhere; nothing behind it was replayed.
    pub difference: Option<Difference>,
}

/// How things stand with the goal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum GoalEnd {
    /// There was none.
    None,
    /// It is gone.
    Gone {
        /// Its id.
        id: String,
        /// `approved`, `cleared`, `replaced` or `accepted`.
        ended: String,
    },
    /// It is there.
    There {
        /// Its id.
        id: String,
        /// `pursuing`, `held` or `paused`.
        phase: String,
        /// Why it is paused.
        reason: Option<String>,
    },
}

/// Drives a fresh engine with the events of a trace, and compares every effect with what was
/// recorded, as it is written.
///
/// # Errors
/// If the trace cannot be read, is none, is of a newer format, or is damaged before its last line.
pub fn replay(input: impl BufRead) -> Result<Replay, TraceError> {
    let (header, mut trace) = TraceReader::open(input)?;
    let mut run = Run::new(Engine::new(settings_of(header.settings)));
    let mut difference = None;
    while difference.is_none()
        && let Some(step) = trace.step()?
    {
        difference = run.step(&step, &trace)?;
    }
    Ok(Replay {
        product: header.product,
        protocol: header.protocol,
        events: run.events,
        effects: run.same,
        began_at: run.first.map(|(_, wall)| wall),
        covered_ms: run.last.saturating_sub(run.first.map_or(0, |(now, _)| now)),
        goal: run.goal_end(),
        end: difference.is_none().then_some(trace.end),
        difference,
    })
}

/// An engine on its way through a trace.
struct Run {
    engine: Engine,
    events: u64,
    same: u64,
    /// Both clocks at the first event.
    first: Option<(u64, u64)>,
    /// The monotonic clock at the last event.
    last: u64,
    gone: Option<(String, Ended)>,
    before: Before,
}

impl Run {
    const fn new(engine: Engine) -> Self {
        Self {
            engine,
            events: 0,
            same: 0,
            first: None,
            last: 0,
            gone: None,
            before: Before::new(),
        }
    }

    fn step<R: BufRead>(
        &mut self,
        step: &Step,
        trace: &TraceReader<R>,
    ) -> Result<Option<Difference>, TraceError> {
        let clocks = step.clocks();
        let clocks = clocks.ok_or_else(|| trace.damaged("`fresh` is no hexadecimal number"))?;
        let event = step.event().map_err(|why| trace.damaged(why))?;
        let mut effects = Vec::new();
        let handled = catch_unwind(AssertUnwindSafe(|| {
            self.engine.handle(clocks, event, &mut effects);
        }));
        self.events += 1;
        self.first.get_or_insert((step.now, step.wall));
        self.last = step.now;
        self.gone = effect::gone(&effects).or_else(|| self.gone.take());
        let found = match handled {
            Ok(()) => self.compare(step, &effect::texts(&effects)),
            Err(_) => Some(Found::panic()),
        };
        let found = found.map(|found| found.at(step, trace.line, &self.before));
        self.before.note(step);
        Ok(found)
    }

    fn compare(&mut self, step: &Step, got: &[String]) -> Option<Found> {
        // What came of an event that the process died of is not known.
        let expected = step.effects.as_ref()?;
        let expected: Vec<&str> = expected.iter().map(|effect| effect.get()).collect();
        let found = first_difference(&expected, got);
        let same = found.as_ref().map_or(got.len(), |(at, _)| *at);
        self.same += same as u64;
        found.map(|(_, found)| found)
    }

    fn goal_end(self) -> GoalEnd {
        match (self.engine.goal(), self.gone) {
            (Some(goal), _) => there(goal),
            (None, Some((id, ended))) => GoalEnd::Gone {
                id,
                ended: ended.name().to_owned(),
            },
            (None, None) => GoalEnd::None,
        }
    }
}

fn there(goal: &Goal) -> GoalEnd {
    GoalEnd::There {
        id: goal.id().to_owned(),
        phase: goal.phase().name().to_owned(),
        reason: match goal.phase() {
            Phase::Paused(stop) => Some(stop.reason.name().to_owned()),
            Phase::Pursuing | Phase::Held => None,
        },
    }
}
