//! There are no seals on this system: each call says so.

use std::path::Path;

use crate::{Outcome, SealError, SealOptions, SealedCommand};

/// Limit on processes in a seal.
pub const PROCESSES_MAX: u64 = 0;

/// A seal; there is none on this system.
pub struct Seal(std::convert::Infallible);

impl Seal {
    /// Makes a seal.
    ///
    /// # Errors
    /// Always, on this system.
    pub fn hold(_options: &SealOptions, _socket: &Path) -> Result<Self, SealError> {
        Err(unsupported())
    }

    /// Waits for the end of standard input.
    ///
    /// # Errors
    /// Never called: there is no seal.
    pub fn until_input_ends(self) -> Result<(), SealError> {
        match self.0 {}
    }
}

/// Runs one command in a seal of its own.
///
/// # Errors
/// Always, on this system.
pub fn run_once(_options: &SealOptions, _command: &SealedCommand) -> Result<Outcome, SealError> {
    Err(unsupported())
}

/// Runs one command in a seal that is held elsewhere.
///
/// # Errors
/// Always, on this system.
pub fn run_in(_socket: &Path, _command: &SealedCommand) -> Result<Outcome, SealError> {
    Err(unsupported())
}

fn unsupported() -> SealError {
    SealError::new("making a seal", "only Linux has what it needs")
}
