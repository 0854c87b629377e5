//! `goal-auditor config`: every effective setting with its source.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use goal_config::{Diagnostic, KEYS, Loaded, Setting};
use serde::Serialize;
use serde_json::Value;

use crate::cli::ConfigArgs;
use crate::settings;

/// Every setting, for machines.
#[derive(Serialize)]
pub(crate) struct Report {
    settings: BTreeMap<&'static str, Shown>,
    diagnostics: Vec<Told>,
}

#[derive(Serialize)]
struct Shown {
    value: Value,
    source: String,
}

#[derive(Serialize)]
struct Told {
    key: Option<String>,
    source: Option<String>,
    message: String,
}

impl From<&Diagnostic> for Told {
    fn from(diagnostic: &Diagnostic) -> Self {
        Self {
            key: diagnostic.key.clone(),
            source: diagnostic.source.as_ref().map(ToString::to_string),
            message: diagnostic.message.clone(),
        }
    }
}

pub(crate) fn run(args: &ConfigArgs) -> anyhow::Result<ExitCode> {
    let agent_dir = args.agent_dir.clone().or_else(default_agent_dir);
    let loaded = settings::load(agent_dir.as_deref());
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report(&loaded))?);
    } else {
        print_table(&loaded);
    }
    Ok(ExitCode::SUCCESS)
}

/// Where pi looks: its variable, in which a leading `~` is the home folder, else `.pi/agent` in the
/// home folder.
pub(crate) fn default_agent_dir() -> Option<PathBuf> {
    let set = std::env::var_os("PI_CODING_AGENT_DIR").filter(|dir| !dir.is_empty());
    let Some(set) = set.map(PathBuf::from) else {
        return std::env::home_dir().map(|home| home.join(".pi/agent"));
    };
    match set.strip_prefix("~") {
        Ok(rest) => std::env::home_dir().map(|home| home.join(rest)),
        Err(_) => Some(set),
    }
}

fn shown(loaded: &Loaded) -> impl Iterator<Item = (&'static str, Setting, String)> + '_ {
    KEYS.iter().map(|key| {
        let source = loaded
            .sources
            .get(key.name)
            .map_or_else(String::new, ToString::to_string);
        (key.name, key.value_in(&loaded.settings), source)
    })
}

/// Every setting of `loaded`.
pub(crate) fn report(loaded: &Loaded) -> Report {
    Report {
        settings: shown(loaded)
            .map(|(name, value, source)| {
                (
                    name,
                    Shown {
                        value: json(value),
                        source,
                    },
                )
            })
            .collect(),
        diagnostics: loaded.diagnostics.iter().map(Told::from).collect(),
    }
}

fn json(value: Setting) -> Value {
    match value {
        Setting::Unset => Value::Null,
        Setting::Number(number) => number.into(),
        Setting::Text(text) => text.into(),
        Setting::List(list) => list.into(),
    }
}

fn print_table(loaded: &Loaded) {
    let rows: Vec<(&str, String, String)> = shown(loaded)
        .map(|(name, value, source)| (name, value.to_string(), source))
        .collect();
    let name = rows.iter().map(|row| row.0.len()).max().unwrap_or(0);
    let value = rows
        .iter()
        .map(|row| row.1.chars().count())
        .max()
        .unwrap_or(0);
    for row in &rows {
        println!("{:name$}  {:value$}  {}", row.0, row.1, row.2);
    }
    println!();
    match &loaded.path {
        Some(path) if loaded.file_used => println!("Settings file: {}", path.display()),
        Some(path) => println!("Settings file: {} (not there, or not used)", path.display()),
        None => println!("Settings file: none"),
    }
    for diagnostic in &loaded.diagnostics {
        println!("warning: {diagnostic}");
    }
}
