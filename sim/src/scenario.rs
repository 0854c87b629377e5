//! Scenario files: a script one can read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::{Reply, Script, Steps};

/// One scenario, as a file in `sim/scenarios/` writes it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A short name in kebab case, equal to the file's.
    pub name: String,
    /// What it shows, in a sentence.
    #[serde(default)]
    pub about: String,
    /// What is typed after `/goal`.
    pub objective: String,
    /// Files of the workspace before the start, by relative path.
    #[serde(default)]
    pub files: BTreeMap<PathBuf, String>,
    /// The answers of each model, by its id.
    pub models: BTreeMap<String, ModelSteps>,
    /// What must have come out when the loop rests.
    pub expect: Expectation,
}

/// The answers of one model.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSteps {
    /// In order.
    pub steps: Vec<Reply>,
    /// The last step is the answer to every later request too.
    #[serde(default)]
    pub then_repeat: bool,
}

/// What must have come out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// `approved`, `paused` or `held`.
    pub outcome: String,
    /// The pause reason as it is saved.
    pub pause_reason: Option<String>,
    /// The outcomes of the audits, in order.
    pub audits: Option<Vec<String>>,
    /// The number of continuations, the first full message not counted.
    pub continuations: Option<u32>,
}

/// Why a scenario file could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// The file does not exist or may not be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The text is not TOML, or a key is missing, unknown or of the wrong kind.
    #[error("{origin}: {source}")]
    Parse {
        /// The file, or what stands for it.
        origin: String,
        /// The parser's message, with line and column.
        source: toml::de::Error,
    },
}

impl Scenario {
    /// Reads a scenario file.
    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        let text = std::fs::read_to_string(path).map_err(|source| ScenarioError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Reads a scenario from text; `origin` names it in errors.
    pub fn parse(text: &str, origin: &str) -> Result<Self, ScenarioError> {
        toml::from_str(text).map_err(|source| ScenarioError::Parse {
            origin: origin.to_owned(),
            source,
        })
    }

    /// The script the model server plays.
    pub fn script(&self) -> Script {
        let steps = |model: &ModelSteps| {
            let steps = Steps::of(model.steps.iter().cloned());
            if model.then_repeat {
                steps.repeat_last()
            } else {
                steps
            }
        };
        self.models
            .iter()
            .fold(Script::new(), |script, (id, model)| {
                script.model(id, steps(model))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_file_parses_and_is_named_like_its_file() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let scenario = Scenario::load(&path).unwrap();
            assert_eq!(path.file_stem().unwrap().to_str().unwrap(), scenario.name);
        }
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_place() {
        let error = Scenario::parse("name = \"x\"\ntypo = 1\n", "test")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("typo") && error.contains("line 2"),
            "{error}"
        );
    }
}
