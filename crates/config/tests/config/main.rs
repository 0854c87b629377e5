//! The settings from the outside: values, layers, files, the documentation, and properties.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests, which the exemption for tests does not reach"
)]

mod docs;
mod files;
mod layers;
mod properties;
mod values;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use goal_config::{Key, Loaded, Setting, key_named};

/// A path that names no file: [`goal_config::resolve`] must not look.
const PATH: &str = "/agent/goal-auditor.json";

/// Resolves a file text (if any) under some variables.
fn resolve(file: Option<&str>, variables: &[(&str, &str)]) -> Loaded {
    goal_config::resolve(file.map(|text| (Path::new(PATH), text)), &|name| {
        variable(variables, name)
    })
}

fn variable(variables: &[(&str, &str)], name: &str) -> Option<OsString> {
    let found = variables.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| OsString::from(value))
}

fn key(name: &str) -> &'static Key {
    key_named(name).expect("a known key")
}

fn effective(loaded: &Loaded, name: &str) -> Setting {
    key(name).value_in(&loaded.settings)
}

fn source(loaded: &Loaded, name: &str) -> String {
    loaded.sources[name].to_string()
}

/// All diagnostics as lines.
fn lines(loaded: &Loaded) -> Vec<String> {
    loaded.diagnostics.iter().map(ToString::to_string).collect()
}

fn number(number: u64) -> Setting {
    Setting::Number(number)
}

fn text(text: &str) -> Setting {
    Setting::Text(text.to_owned())
}

fn list(items: &[&str]) -> Setting {
    Setting::List(items.iter().map(|item| (*item).to_owned()).collect())
}

fn agent_file(dir: &Path) -> PathBuf {
    dir.join(goal_config::FILE_NAME)
}
