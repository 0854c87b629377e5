//! What a run that reached its settle boundary means for the goal (spec §4, rows 3 to 7).

use crate::fold::{fold_hash, folded_chars};
use crate::goal::Goal;
use crate::limits::{
    BACK_OFF_MS, ERRORED_RUNS_MAX, REPEAT_MIN_CHARS, REPEATS_MAX, REPEATS_WITH_WRITES_MAX,
};
use crate::phase::{ModelErrorKind, PauseReason, Stop};

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    /// The model finished its answer.
    Completed,
    /// The last request failed, pi's own retries included.
    Error(ModelErrorKind, String),
}

/// What happened in a run of the goal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummary {
    /// A tool other than ours really executed without error.
    pub did_work: bool,
    /// A file was written or edited successfully.
    pub wrote: bool,
    /// How it ended.
    pub end: RunEnd,
    /// The final text of the executor, possibly empty.
    pub final_text: String,
}

/// What to do after a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Go on at once, with a nudge if the run did nothing.
    Continue {
        /// The run did no work.
        nudge: bool,
    },
    /// Rest, and start again after this many milliseconds.
    BackOff(u64),
    /// Stop. The caller pauses the goal.
    Pause(Stop),
}

impl Goal {
    /// Decides what follows a run and counts it. A continue counts as one continuation; a back-off
    /// counts when it restarts ([`Goal::count_continuation`]).
    pub fn settle(&mut self, run: &RunSummary) -> Decision {
        if let RunEnd::Error(kind, message) = &run.end {
            return self.settle_error(*kind, message, run.did_work);
        }
        self.totals.errored_streak = 0;
        if let Some(stop) = self.settle_repetition(run) {
            return Decision::Pause(stop);
        }
        if run.did_work {
            self.totals.empty_streak = 0;
            return self.continue_or_limit(false);
        }
        self.totals.empty_streak = self.totals.empty_streak.saturating_add(1);
        if self.totals.empty_streak >= self.gate().max_empty_continuations {
            return pause(PauseReason::NoProgress, Some(&run.final_text));
        }
        self.continue_or_limit(true)
    }

    /// Counts one continuation, unless `maxContinuations` forbids it.
    ///
    /// # Errors
    /// The stop to make instead.
    pub fn count_continuation(&mut self) -> Result<(), Stop> {
        let limit = self.gate().max_continuations;
        if limit.is_some_and(|limit| self.totals.continuations >= limit) {
            return Err(Stop::plain(PauseReason::ContinuationLimit));
        }
        self.totals.continuations = self.totals.continuations.saturating_add(1);
        Ok(())
    }

    fn continue_or_limit(&mut self, nudge: bool) -> Decision {
        match self.count_continuation() {
            Ok(()) => Decision::Continue { nudge },
            Err(stop) => Decision::Pause(stop),
        }
    }

    fn settle_error(&mut self, kind: ModelErrorKind, message: &str, did_work: bool) -> Decision {
        if !kind.is_mendable() {
            return pause(PauseReason::ModelErrors(kind), Some(message));
        }
        let before = if did_work {
            0
        } else {
            self.totals.errored_streak
        };
        self.totals.errored_streak = before.saturating_add(1);
        if did_work {
            self.totals.empty_streak = 0;
        }
        let attempt = self.totals.errored_streak as usize - 1;
        match BACK_OFF_MS.get(attempt) {
            Some(wait) if self.totals.errored_streak < ERRORED_RUNS_MAX => Decision::BackOff(*wait),
            Some(_) | None => pause(PauseReason::ModelErrors(kind), Some(message)),
        }
    }

    /// Counts equal final texts. Short ones ("Done.") are left to the other rules.
    fn settle_repetition(&mut self, run: &RunSummary) -> Option<Stop> {
        if folded_chars(&run.final_text) < REPEAT_MIN_CHARS {
            self.totals.last_text = None;
            self.totals.repeat_streak = 0;
            self.totals.repeat_wrote = false;
            return None;
        }
        let hash = Some(fold_hash(&[&run.final_text]));
        if self.totals.last_text == hash {
            self.totals.repeat_streak = self.totals.repeat_streak.saturating_add(1);
            self.totals.repeat_wrote |= run.wrote;
        } else {
            self.totals.last_text = hash;
            self.totals.repeat_streak = 1;
            self.totals.repeat_wrote = run.wrote;
        }
        let max = if self.totals.repeat_wrote {
            REPEATS_WITH_WRITES_MAX
        } else {
            REPEATS_MAX
        };
        (self.totals.repeat_streak >= max).then(|| Stop {
            reason: PauseReason::Repetition,
            detail: Some(run.final_text.clone()),
        })
    }
}

fn pause(reason: PauseReason, detail: Option<&str>) -> Decision {
    let detail = detail
        .filter(|text| !text.trim().is_empty())
        .map(str::to_owned);
    Decision::Pause(Stop { reason, detail })
}
