//! The goal record and the moves that change its phase.

use std::fmt;

use crate::fold::TextHash;
use crate::gate::Gate;
use crate::limits::OBJECTIVE_MAX_BYTES;
use crate::phase::{Phase, Stop};

/// A moment of a monotonic clock, in milliseconds since an origin of the driver's choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Monotonic(pub u64);

impl Monotonic {
    /// The moment `ms` milliseconds later.
    #[must_use]
    pub const fn after(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds since `earlier`; zero if that lies ahead.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// A stamp of the wall clock: milliseconds since 1970, UTC. Only for records, never for deadlines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallClock(pub u64);

/// Names one goal at one generation. What was asked under another tag is stale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoalTag {
    /// The goal.
    pub id: String,
    /// Its generation at the time.
    pub generation: u64,
}

/// An objective: ends trimmed, otherwise byte-exact, 1 to [`OBJECTIVE_MAX_BYTES`] bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objective(String);

/// Why a text is not an objective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectiveError {
    /// Nothing but white space.
    Blank,
    /// Longer than [`OBJECTIVE_MAX_BYTES`]; the size in bytes after trimming.
    TooLong(usize),
}

impl fmt::Display for ObjectiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank => f.write_str("the objective is empty"),
            Self::TooLong(bytes) => write!(
                f,
                "the objective has {bytes} bytes; at most {OBJECTIVE_MAX_BYTES} are taken"
            ),
        }
    }
}

impl std::error::Error for ObjectiveError {}

impl Objective {
    /// Takes a text as the user gave it.
    ///
    /// # Errors
    /// If nothing is left after trimming, or too much.
    pub fn new(text: &str) -> Result<Self, ObjectiveError> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(ObjectiveError::Blank);
        }
        if trimmed.len() > OBJECTIVE_MAX_BYTES {
            return Err(ObjectiveError::TooLong(trimmed.len()));
        }
        Ok(Self(trimmed.to_owned()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What counts up while a goal is pursued. Saved with the goal and with every continuation, so
/// that a settle boundary needs no entry of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Totals {
    /// Continuations since the last start or resume.
    pub continuations: u32,
    /// Audits since the last start or resume (aborted ones not counted).
    pub audits: u32,
    /// Runs in a row without work.
    pub empty_streak: u32,
    /// Runs in a row that ended in a model error.
    pub errored_streak: u32,
    /// Runs in a row with the same final text, the last one included.
    pub repeat_streak: u32,
    /// Disapprovals in a row with no work between.
    pub rejection_streak: u32,
    /// Audits in a row without a verdict.
    pub failure_streak: u32,
    /// The same claim met by the same objection, in a row.
    pub refusal_streak: u32,
    /// Hash of the last run's final text.
    pub last_text: Option<TextHash>,
    /// Hash of the last refused claim with its objection.
    pub last_refusal: Option<TextHash>,
    /// Whether a run of the current repetition wrote or edited a file.
    pub repeat_wrote: bool,
}

/// The goal record (spec §1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal {
    id: String,
    generation: u64,
    objective: Objective,
    phase: Phase,
    created_at: WallClock,
    /// Time spent pursuing before `pursuing_since`, in milliseconds.
    active_ms: u64,
    /// Set exactly while the phase is pursuing.
    pursuing_since: Option<Monotonic>,
    /// Counters and hashes of the repetition rules.
    pub totals: Totals,
    /// Bounded text of the last disapproval, until an approval or an edit resolves it.
    pub last_objection: Option<String>,
    gate: Gate,
}

impl Goal {
    /// A new goal, pursuing from `now` on.
    #[must_use]
    pub fn start(
        id: String,
        generation: u64,
        objective: Objective,
        gate: Gate,
        now: Monotonic,
        created_at: WallClock,
    ) -> Self {
        Self {
            id,
            generation,
            objective,
            phase: Phase::Pursuing,
            created_at,
            active_ms: 0,
            pursuing_since: Some(now),
            totals: Totals::default(),
            last_objection: None,
            gate,
        }
    }

    /// A goal read back from a session file. A pursuing one becomes held: only the user re-arms it.
    #[must_use]
    #[expect(clippy::too_many_arguments, reason = "one argument a saved field")]
    pub fn restore(
        id: String,
        generation: u64,
        objective: Objective,
        phase: Phase,
        created_at: WallClock,
        active_ms: u64,
        totals: Totals,
        last_objection: Option<String>,
        gate: Gate,
    ) -> Self {
        let phase = match phase {
            Phase::Pursuing => Phase::Held,
            Phase::Held | Phase::Paused(_) => phase,
        };
        Self {
            id,
            generation,
            objective,
            phase,
            created_at,
            active_ms,
            pursuing_since: None,
            totals,
            last_objection,
            gate,
        }
    }

    /// The goal's unique id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Counts create, edit, pause, resume and clear; what was asked under an older one is stale.
    #[must_use]
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// The objective as the user gave it.
    #[must_use]
    pub fn objective(&self) -> &str {
        self.objective.as_str()
    }

    /// Where the goal stands.
    #[must_use]
    pub const fn phase(&self) -> &Phase {
        &self.phase
    }

    /// Whether the loop works on it.
    #[must_use]
    pub const fn is_pursuing(&self) -> bool {
        matches!(self.phase, Phase::Pursuing)
    }

    /// When it was created.
    #[must_use]
    pub const fn created_at(&self) -> WallClock {
        self.created_at
    }

    /// What it is judged by.
    #[must_use]
    pub const fn gate(&self) -> &Gate {
        &self.gate
    }

    /// This goal at this generation.
    #[must_use]
    pub fn tag(&self) -> GoalTag {
        GoalTag {
            id: self.id.clone(),
            generation: self.generation,
        }
    }

    /// Whether `tag` names this goal at its present generation.
    #[must_use]
    pub fn is(&self, tag: &GoalTag) -> bool {
        self.id == tag.id && self.generation == tag.generation
    }

    /// Time spent pursuing until `now`, in milliseconds.
    #[must_use]
    pub fn active_ms(&self, now: Monotonic) -> u64 {
        let running = self.pursuing_since.map_or(0, |since| now.since(since));
        self.active_ms.saturating_add(running)
    }

    /// Stops the goal. Keeps every total and the time; what is under way becomes stale.
    pub fn pause(&mut self, stop: Stop, now: Monotonic) {
        self.stop_clock(now);
        self.generation += 1;
        self.phase = Phase::Paused(stop);
    }

    /// The session was left: nothing runs until the user acts. Writes no entry, so no generation.
    pub fn hold(&mut self, now: Monotonic) {
        self.stop_clock(now);
        self.phase = Phase::Held;
    }

    /// The user goes on: a fresh gate (the user's own limit of this goal stays), streaks, hashes and
    /// the limited totals back to zero.
    pub fn resume(&mut self, gate: Gate, now: Monotonic) {
        self.stop_clock(now);
        self.generation += 1;
        self.set_gate(gate);
        self.totals = Totals::default();
        self.phase = Phase::Pursuing;
        self.pursuing_since = Some(now);
    }

    /// What judges the goal from now on. The user's own limit of this goal stays.
    pub fn set_gate(&mut self, gate: Gate) {
        let own = self.gate.own_limit.then_some(self.gate.max_continuations);
        self.gate = gate;
        if let Some(limit) = own {
            self.set_limit(limit);
        }
    }

    /// The user sets how often this goal may be continued; `None` is off. What is under way goes on.
    pub fn set_limit(&mut self, max_continuations: Option<u32>) {
        self.gate.max_continuations = max_continuations;
        self.gate.own_limit = true;
    }

    /// The user words the goal anew: whatever was judged or asked under the old words is stale, what
    /// counts and the phase stay.
    pub fn edit(&mut self, objective: Objective) {
        self.generation += 1;
        self.objective = objective;
        self.last_objection = None;
        let totals = &mut self.totals;
        totals.repeat_streak = 0;
        totals.repeat_wrote = false;
        totals.last_text = None;
        totals.refusal_streak = 0;
        totals.last_refusal = None;
    }

    /// After a restart of the core the goal goes on as it was, under the same generation.
    pub fn rearm(&mut self, now: Monotonic) {
        if self.phase == Phase::Held {
            self.phase = Phase::Pursuing;
            self.pursuing_since = Some(now);
        }
    }

    /// Work was done: the run it belongs to did not merely argue with the auditor.
    pub fn note_work(&mut self) {
        self.totals.rejection_streak = 0;
    }

    /// The user said something: what the agent repeats or leaves undone is judged anew.
    pub fn note_user_message(&mut self) {
        self.totals.repeat_streak = 0;
        self.totals.repeat_wrote = false;
        self.totals.last_text = None;
        self.totals.empty_streak = 0;
    }

    fn stop_clock(&mut self, now: Monotonic) {
        self.active_ms = self.active_ms(now);
        self.pursuing_since = None;
    }
}
