//! Why a seal could not be made.

use std::io;

/// A seal could not be made; then nothing was run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{doing}: {why}")]
pub struct SealError {
    /// What was being done, as "making the overlay over /work".
    pub doing: String,
    /// What went wrong, in the system's or our words.
    pub why: String,
}

impl SealError {
    pub(crate) fn new(doing: impl Into<String>, why: impl std::fmt::Display) -> Self {
        Self {
            doing: doing.into(),
            why: why.to_string(),
        }
    }
}

/// Says what was being done when a system call failed.
pub(crate) trait Doing<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, SealError>;
}

impl<T, E: Into<io::Error>> Doing<T> for Result<T, E> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, SealError> {
        self.map_err(|error| SealError::new(what(), error.into()))
    }
}
