//! What the processes of a pi hold in memory.

use goal_tests::{Pi, process};

/// Resident memory, in bytes. Linux only; zero elsewhere.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Memory {
    /// Of pi's own process.
    pub(super) pi: u64,
    /// Of the processes it has started, together.
    pub(super) children: u64,
}

impl Memory {
    /// As it is now.
    pub(super) fn of(pi: &Pi) -> Self {
        if !cfg!(target_os = "linux") {
            return Self::default();
        }
        let others = pi.world().processes().into_iter();
        let others = others.filter(|process| process.pid != pi.pid());
        Self {
            pi: process::memory(pi.pid()).unwrap_or_default(),
            children: others
                .filter_map(|process| process::memory(process.pid))
                .sum(),
        }
    }
}
