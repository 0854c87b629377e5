//! The records a pi process wrote to stdout, in order, with waiting.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A position in a log; what was written before it is out of sight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(pub(crate) usize);

/// All records of one process.
#[derive(Default)]
pub struct Log {
    records: Mutex<Records>,
    changed: Condvar,
}

#[derive(Default)]
struct Records {
    list: Vec<Value>,
    last_at: Option<Instant>,
    ended: bool,
}

impl Log {
    /// The end of the log as it is now.
    pub fn mark(&self) -> Mark {
        Mark(self.lock().list.len())
    }

    /// A copy of all records.
    pub fn all(&self) -> Vec<Value> {
        self.since(Mark::default())
    }

    /// A copy of the records since `mark`.
    pub fn since(&self, mark: Mark) -> Vec<Value> {
        self.lock().list.get(mark.0..).unwrap_or_default().to_vec()
    }

    /// Waits for the first record since `mark` for which `wanted` holds. `Err` says why there is
    /// none: time is up, or the process has ended.
    pub fn wait(
        &self,
        mark: Mark,
        limit: Duration,
        mut wanted: impl FnMut(&Value) -> bool,
    ) -> Result<Value, &'static str> {
        let deadline = Instant::now() + limit;
        let mut next = mark.0;
        let mut records = self.lock();
        loop {
            while let Some(record) = records.list.get(next) {
                if wanted(record) {
                    return Ok(record.clone());
                }
                next += 1;
            }
            if records.ended {
                return Err("pi has ended");
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err("time is up");
            }
            records = self
                .changed
                .wait_timeout(records, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// How long nothing was written.
    pub fn silence(&self) -> Duration {
        self.lock().last_at.map_or(Duration::MAX, |at| at.elapsed())
    }

    /// Whether the process has closed its stdout.
    pub fn ended(&self) -> bool {
        self.lock().ended
    }

    /// Whether a run is going, as far as the records tell.
    pub fn is_running(&self) -> bool {
        let records = self.lock();
        let kind = |record: &Value| record["type"].as_str().map(str::to_owned);
        let last = records
            .list
            .iter()
            .rev()
            .filter_map(kind)
            .find(|kind| matches!(kind.as_str(), "agent_start" | "agent_settled"));
        last.is_some_and(|kind| kind == "agent_start")
    }

    pub(crate) fn push(&self, record: Value) {
        let mut records = self.lock();
        records.list.push(record);
        records.last_at = Some(Instant::now());
        drop(records);
        self.changed.notify_all();
    }

    pub(crate) fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
