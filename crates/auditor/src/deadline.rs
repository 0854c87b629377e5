//! The deadlines of an audit: a closed enum with one slot each; the next one is the minimum.

/// Limits in milliseconds; `None` is off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// From the first prompt to the end, reminders included.
    pub absolute_ms: Option<u64>,
    /// Silence of the model in mid-answer.
    pub idle_ms: Option<u64>,
}

/// Which limit it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AuditDeadline {
    /// The absolute limit.
    Absolute,
    /// The idle limit.
    Idle,
}

impl AuditDeadline {
    const COUNT: usize = Self::Idle as usize + 1;
    const ALL: [Self; Self::COUNT] = [Self::Absolute, Self::Idle];
}

/// One slot a deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Table([Option<u64>; AuditDeadline::COUNT]);

impl Table {
    pub(crate) const fn set(&mut self, which: AuditDeadline, at: Option<u64>) {
        self.0[which as usize] = at;
    }

    pub(crate) fn next(&self) -> Option<(u64, AuditDeadline)> {
        AuditDeadline::ALL
            .into_iter()
            .filter_map(|which| self.0[which as usize].map(|at| (at, which)))
            .min()
    }
}
