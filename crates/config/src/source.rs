//! Where a value comes from.

use std::fmt;
use std::path::PathBuf;

/// Where a value comes from. `Display` gives `default`, `env:NAME` or `file:PATH:LINE:COLUMN`, the
/// form of `goal-auditor config --json` (§7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Neither the file nor the environment sets it.
    Default,
    /// The environment variable of this name.
    Env(String),
    /// A place in the file.
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1. Lines end at LF, CRLF or CR.
        line: usize,
        /// The column, from 1, in characters; a byte order mark does not count.
        column: usize,
    },
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Env(name) => write!(f, "env:{name}"),
            Self::File { path, line, column } => {
                write!(f, "file:{}:{line}:{column}", path.display())
            }
        }
    }
}
