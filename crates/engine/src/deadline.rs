//! The engine's deadlines: a closed enum, one slot each; the next one is the minimum.

use goal_state::Monotonic;

/// Why the engine wants to be woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deadline {
    /// The pause of an aborted run is written, unless the session is being left.
    AbortGrace,
    /// A run starts again after a model error.
    BackOff,
    /// The driver takes too long to prepare an audit, or to look at the workspace after it.
    AuditWorkspace,
    /// The absolute limit of the audit in flight.
    AuditTimeout,
    /// The idle limit of the audit in flight.
    AuditIdle,
}

/// Leaving a session looks like a user's abort until the host says so; it does within this time.
pub(crate) const ABORT_GRACE_MS: u64 = 250;

/// The engine's own slots. Those of an audit live in the audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Deadlines {
    pub(crate) abort_grace: Option<Monotonic>,
    pub(crate) back_off: Option<Monotonic>,
}

impl Deadlines {
    pub(crate) fn next(&self) -> Option<(Monotonic, Deadline)> {
        let grace = self.abort_grace.map(|at| (at, Deadline::AbortGrace));
        let back_off = self.back_off.map(|at| (at, Deadline::BackOff));
        grace.into_iter().chain(back_off).min()
    }
}
