//! Makes a failing run small: fewer bytes, lower bytes, the same failure.

use crate::entropy::{Source, Tapes};
use crate::marks::Marks;
use crate::plan::Profile;
use crate::world::{Options, run};

/// Runs a shrink may cost.
const RUNS_MAX: u32 = 20_000;

/// What is left of a failing run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shrunk {
    /// The bytes.
    pub tapes: Tapes,
    /// What the run meets until it fails.
    pub met: Marks,
    /// Runs it took.
    pub runs: u32,
}

/// Shrinks a run that fails with `fingerprint`; `None` if it does not.
#[must_use]
pub fn shrink(source: &Source, profile: Profile, options: &Options) -> Option<(Shrunk, String)> {
    let outcome = run(source, profile, options);
    let fingerprint = outcome.failure?.fingerprint();
    let mut hunt = Hunt {
        best: outcome.drawn,
        met: outcome.marks,
        profile,
        options,
        fingerprint: &fingerprint,
        runs: 1,
    };
    while hunt.pass() {}
    let shrunk = Shrunk {
        tapes: hunt.best,
        met: hunt.met,
        runs: hunt.runs,
    };
    Some((shrunk, fingerprint))
}

struct Hunt<'a> {
    best: Tapes,
    met: Marks,
    profile: Profile,
    options: &'a Options,
    fingerprint: &'a str,
    runs: u32,
}

impl Hunt<'_> {
    /// One pass over all streams; true if something became smaller.
    fn pass(&mut self) -> bool {
        let mut smaller = false;
        for stream in 0..self.best.0.len() {
            smaller |= self.truncate(stream);
            smaller |= self.delete_spans(stream);
            smaller |= self.lower(stream);
        }
        smaller && self.runs < RUNS_MAX
    }

    fn truncate(&mut self, stream: usize) -> bool {
        let mut smaller = false;
        loop {
            let len = self.best.0[stream].len();
            let half = len / 2;
            if len == 0 || !self.try_with(stream, |bytes| bytes.truncate(half)) {
                return smaller;
            }
            smaller = true;
        }
    }

    fn delete_spans(&mut self, stream: usize) -> bool {
        let mut smaller = false;
        for span in [32, 8, 2, 1] {
            let mut at = 0;
            while at + span <= self.best.0[stream].len() {
                if self.try_with(stream, |bytes| drop(bytes.drain(at..at + span))) {
                    smaller = true;
                } else {
                    at += span;
                }
            }
        }
        smaller
    }

    /// Zeroes, then halves, each byte.
    fn lower(&mut self, stream: usize) -> bool {
        let mut smaller = false;
        for at in 0..self.best.0[stream].len() {
            while self.best.0[stream].get(at).is_some_and(|byte| *byte > 0) {
                let byte = self.best.0[stream][at];
                let lower = [0, byte / 2, byte - 1];
                let lowered = lower
                    .into_iter()
                    .any(|to| to < byte && self.try_with(stream, |bytes| bytes[at] = to));
                if !lowered {
                    break;
                }
                smaller = true;
            }
        }
        smaller
    }

    /// Keeps a change that shows the same failure.
    fn try_with(&mut self, stream: usize, change: impl FnOnce(&mut Vec<u8>)) -> bool {
        if self.runs >= RUNS_MAX {
            return false;
        }
        let mut candidate = self.best.clone();
        change(&mut candidate.0[stream]);
        self.runs += 1;
        let outcome = run(&Source::Bytes(candidate), self.profile, self.options);
        let same = outcome
            .failure
            .is_some_and(|failure| failure.fingerprint() == self.fingerprint);
        // What was drawn is what counts: a candidate may leave bytes unread.
        let drawn = outcome.drawn;
        let smaller = (drawn.len(), weight(&drawn)) < (self.best.len(), weight(&self.best));
        if same && smaller {
            self.best = drawn;
            self.met = outcome.marks;
        }
        same && smaller
    }
}

fn weight(tapes: &Tapes) -> u64 {
    tapes.0.iter().flatten().map(|byte| u64::from(*byte)).sum()
}
