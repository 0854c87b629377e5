//! The settings: `goal-auditor.json` in the agent dir, under the environment, over the defaults (§7
//! of the goal-loop specification).
//!
//! [`load`] reads the file and resolves; [`resolve`] does the same with a text already at hand and
//! touches nothing. Neither ever fails: whatever is wrong with a setting becomes a [`Diagnostic`],
//! and the next layer counts. The file is only ever read.
//!
//! This crate knows nothing of goals, of audits or of the engine, and reads no environment of its
//! own: the caller hands in how to look a variable up.
//!
//! How a value gets into effect:
//!
//! 1. `file` finds the text and `json` reads it, keeping the place of every value;
//! 2. `values` judges each value by its row of [`KEYS`], for the file and the environment alike;
//! 3. `layers` collects what is valid, and figment merges the layers and tells which one won.

mod diagnostic;
mod file;
mod json;
mod keys;
mod layers;
mod settings;
mod source;
mod values;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use diagnostic::{DIAGNOSTIC_NOTES_MAX, Diagnostic, VALUE_SHOWN_MAX_CHARS, unknown_variables};
pub use file::{FILE_MAX_BYTES, FILE_NAME};
pub use json::DEPTH_MAX;
pub use keys::{KEYS, Key, key_named};
pub use settings::{SandboxMode, SandboxNetwork, Setting, Settings, ThinkingLevel};
pub use source::Source;

use file::Found;
use layers::Layers;

/// The settings in effect and how they came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// The value in effect for every key.
    pub settings: Settings,
    /// Where each of them comes from; holds every key of [`KEYS`], by its name.
    pub sources: BTreeMap<&'static str, Source>,
    /// What is wrong, the file first, then the environment; empty if all is well.
    pub diagnostics: Vec<Diagnostic>,
    /// The file that was looked for, whether it is there or not; `None` without an agent dir.
    pub path: Option<PathBuf>,
    /// Whether that file was there and its values took part (as a layer; single ones may have been
    /// refused).
    pub file_used: bool,
}

/// Reads `goal-auditor.json` in the agent dir and resolves the settings.
///
/// `agent_dir` is `None` if it cannot be determined; then there is no file layer (§7: "never a
/// relative path", so a relative one counts as `None`). `env` looks up an environment variable.
pub fn load(agent_dir: Option<&Path>, env: &dyn Fn(&str) -> Option<OsString>) -> Loaded {
    let Some(path) = agent_dir
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(FILE_NAME))
    else {
        return skipping_file(None, file::no_agent_dir(), env);
    };
    match file::find(&path) {
        Found::Text(text) => resolve(Some((&path, &text)), env),
        Found::Nothing => Loaded {
            path: Some(path),
            ..resolve(None, env)
        },
        Found::Unusable(why) => {
            let diagnostic = file::unusable(&path, &why);
            skipping_file(Some(path), diagnostic, env)
        }
    }
}

/// Resolves the settings from the text of a file (with its path, for the diagnostics) and the
/// environment. Pure: the file system is not touched.
pub fn resolve(file: Option<(&Path, &str)>, env: &dyn Fn(&str) -> Option<OsString>) -> Loaded {
    let mut layers = Layers::default();
    let file_used = file.is_some_and(|(path, text)| layers.read_file(path, text));
    layers.read_environment(env);
    let (settings, sources, diagnostics) = layers.merge();
    let path = file.map(|(path, _)| path.to_owned());
    Loaded {
        settings,
        sources,
        diagnostics,
        path,
        file_used,
    }
}

fn skipping_file(
    path: Option<PathBuf>,
    diagnostic: Diagnostic,
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Loaded {
    let mut loaded = Loaded {
        path,
        ..resolve(None, env)
    };
    loaded.diagnostics.insert(0, diagnostic);
    loaded
}
