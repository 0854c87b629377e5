//! Finding the text of `goal-auditor.json`. The file is only ever read.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use crate::diagnostic::Diagnostic;

/// The name of the file in the agent dir (§7).
pub const FILE_NAME: &str = "goal-auditor.json";

/// The most bytes of it that are read; a longer file is refused. All keys together need less than
/// one hundredth.
pub const FILE_MAX_BYTES: u64 = 256 * 1024;

pub(crate) enum Found {
    Text(String),
    /// No such file: nothing is wrong with that.
    Nothing,
    /// There is something, but no settings can be read from it; the reason in words.
    Unusable(String),
}

pub(crate) fn find(path: &Path) -> Found {
    match read(path) {
        Ok(text) => Found::Text(text),
        Err(Problem::Io(error)) if error.kind() == ErrorKind::NotFound => {
            // A name that is there and leads nowhere is a link.
            match fs::symlink_metadata(path) {
                Ok(_) => Found::Unusable("a dangling link".to_owned()),
                Err(_) => Found::Nothing,
            }
        }
        Err(Problem::Io(error)) => Found::Unusable(format!("not readable ({error})")),
        Err(Problem::Content(why)) => Found::Unusable(why),
    }
}

pub(crate) fn no_agent_dir() -> Diagnostic {
    Diagnostic {
        key: None,
        source: None,
        message: format!(
            "the agent dir cannot be determined, so no {FILE_NAME} is read; the environment and \
             the defaults are used"
        ),
    }
}

pub(crate) fn unusable(path: &Path, why: &str) -> Diagnostic {
    let message = format!(
        "{} is {why}; it is not used, only the environment and the defaults are",
        printable_path(path)
    );
    Diagnostic {
        key: None,
        source: None,
        message,
    }
}

/// A path is not cut: its end is what tells it apart.
fn printable_path(path: &Path) -> String {
    path.to_string_lossy()
        .chars()
        .map(|c| {
            if c.is_control() {
                char::REPLACEMENT_CHARACTER
            } else {
                c
            }
        })
        .collect()
}

enum Problem {
    Io(io::Error),
    Content(String),
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn read(path: &Path) -> Result<String, Problem> {
    // Asked before opening: merely opening a FIFO waits for a writer.
    let kind = fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return Err(Problem::Content("a directory".to_owned()));
    }
    if !kind.is_file() {
        return Err(Problem::Content("not a regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    File::open(path)?
        .take(FILE_MAX_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_MAX_BYTES {
        return Err(Problem::Content(format!(
            "longer than {FILE_MAX_BYTES} bytes"
        )));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Problem::Content(format!("not UTF-8 text (from byte {} on)", at + 1))
    })
}
