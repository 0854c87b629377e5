//! What is wrong with the settings, in words.

use std::ffi::OsString;
use std::fmt;

use crate::keys::{KEYS, Key};
use crate::source::Source;

/// The most characters of a refused value that are shown; a longer one is cut and says so.
pub const VALUE_SHOWN_MAX_CHARS: usize = 80;

/// The most unknown and repeated keys that are reported one by one; the rest is only counted.
/// (Every refused value of a known key is reported: there are at most two a key.)
pub const DIAGNOSTIC_NOTES_MAX: usize = 32;

/// One thing that is wrong with the settings. None of them is fatal. `Display` gives one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The key, as written; `None` if the whole file is meant.
    pub key: Option<String>,
    /// The place; `None` if there is none inside the file (it could not be read, or not found).
    pub source: Option<Source>,
    /// The value, what is allowed, and what is used instead. Safe to print.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.key, &self.source) {
            (Some(key), Some(source)) => write!(f, "{} ({source}): ", printable(key))?,
            (Some(key), None) => write!(f, "{}: ", printable(key))?,
            (None, Some(source)) => write!(f, "{source}: ")?,
            (None, None) => {}
        }
        f.write_str(&self.message)
    }
}

/// Diagnostics for environment variables that look like ours and are not: typing errors. `names`
/// are the names of all variables; others are passed over.
pub fn unknown_variables(names: impl IntoIterator<Item = OsString>) -> Vec<Diagnostic> {
    let is_ours = |name: &String| OUR_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    names
        .into_iter()
        .filter_map(|name| name.into_string().ok())
        .filter(|name| is_ours(name) && KEYS.iter().all(|key| key.env != name.as_str()))
        .take(DIAGNOSTIC_NOTES_MAX)
        .map(|name| Diagnostic {
            message: format!(
                "unknown variable, not used; the nearest known one is {}",
                nearest(&name, |key| key.env)
            ),
            key: None,
            source: Some(Source::Env(printable(&name))),
        })
        .collect()
}

const OUR_PREFIXES: [&str; 2] = ["PI_GOAL_AUDITOR_", "PI_GOAL_MAX_"];

/// The known name that is nearest to `name`, whatever the case. The distance is taken relative to the
/// length, so that a long name with a word left out is not nearer to a short one.
pub(crate) fn nearest(name: &str, known: fn(&Key) -> &'static str) -> &'static str {
    let name: String = name
        .chars()
        .take(VALUE_SHOWN_MAX_CHARS)
        .collect::<String>()
        .to_lowercase();
    let likeness =
        |known: &str| strsim::normalized_damerau_levenshtein(&name, &known.to_lowercase());
    KEYS.iter()
        .map(known)
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
        .unwrap_or_default()
}

/// A value as it was written, on one line, printable and cut.
pub(crate) fn printable(written: &str) -> String {
    let mut out = String::new();
    for c in written.chars().take(VALUE_SHOWN_MAX_CHARS) {
        match c {
            '"' | '\'' | '\\' => out.push(c),
            _ => out.extend(c.escape_debug()),
        }
    }
    let more = written.chars().skip(VALUE_SHOWN_MAX_CHARS).count();
    if more > 0 {
        out.push_str(&format!("… ({more} more characters)"));
    }
    out
}
