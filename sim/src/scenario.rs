//! Scenario files: a script one can read.
//!
//! A scenario says what the models answer, what user and host do meanwhile, and what must come out.
//! The same file runs on the real pi and in the simulator; `docs/scenarios.md` describes the format.

mod action;
mod expect;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

pub use action::{Action, Answer, Deed, Moment, Place, TORN_ENTRY, UnknownMoment};
pub use expect::{Count, Difference, Expectation, Observed, Outcome, Reading};

use crate::goal_event::SUMMARY;
use crate::workspace::{FilePath, NotPlayable, check_call};
use crate::{Reply, Script, Steps};

/// One scenario, as a file in `sim/scenarios/` writes it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A short name in kebab case, equal to the file's.
    pub name: String,
    /// What it shows, in a sentence.
    pub about: String,
    /// Ids of the situations in `docs/situations.md` that it shows.
    #[serde(default)]
    pub covers: Vec<String>,
    /// Why the real pi does not play it (it would take minutes, say); missing means that it does.
    pub simulator_only: Option<String>,
    /// The first thing typed, after `/goal`; without it the actions begin.
    pub objective: Option<String>,
    /// Files of the workspace before the start, by relative path.
    #[serde(default)]
    pub files: BTreeMap<FilePath, String>,
    /// Keys of `goal-auditor.json`, beside the auditor's provider and model.
    #[serde(default)]
    pub settings: toml::Table,
    /// The best seal that the machine allows.
    #[serde(default)]
    pub seal: Seal,
    /// The only tools the host has, as pi's `--tools` names them; missing means all.
    pub tools: Option<Vec<String>>,
    /// The answers of each model, by its id; `summary` answers requests for a summary.
    pub models: BTreeMap<String, ModelSteps>,
    /// What user and host do, in this order.
    #[serde(default)]
    pub actions: Vec<Action>,
    /// What must have come out when the loop rests at the end.
    pub expect: Expectation,
}

/// How an auditor can be kept from changing what it judges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seal {
    /// It works on throw-away copies.
    #[default]
    Overlay,
    /// The workspace is only compared before and after.
    Fingerprint,
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
    /// The parts of the file do not fit together.
    #[error("{origin}: {fault}")]
    Faulty {
        /// The file, or what stands for it.
        origin: String,
        /// What does not fit.
        fault: Fault,
    },
}

/// Parts of a scenario that do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A tool call that one of the hosts could not play.
    #[error("models.{model}.steps, step {step}: {reason}")]
    Call {
        /// The model.
        model: String,
        /// The number of its step, from 1.
        step: usize,
        /// What cannot be played.
        reason: NotPlayable,
    },
    /// An action waits for a request that the script could not answer.
    #[error("action {action} waits for request {nth} of {model}, which has no step for it")]
    NoStep {
        /// The number of the action, from 1.
        action: usize,
        /// The model.
        model: String,
        /// The request.
        nth: usize,
    },
    /// An action or an expectation names a model without answers.
    #[error("{place} names the model {model}, which is not among the models")]
    UnknownModel {
        /// Where.
        place: String,
        /// The model.
        model: String,
    },
    /// Nothing would ever happen.
    #[error("there is neither an objective nor an action")]
    Idle,
}

impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// The file cannot be read, is no scenario, or its parts do not fit together.
    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        let text = std::fs::read_to_string(path).map_err(|source| ScenarioError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Reads a scenario from text; `origin` names it in errors.
    ///
    /// # Errors
    /// It is no scenario, or its parts do not fit together.
    pub fn parse(text: &str, origin: &str) -> Result<Self, ScenarioError> {
        let scenario: Self = toml::from_str(text).map_err(|source| ScenarioError::Parse {
            origin: origin.to_owned(),
            source,
        })?;
        match scenario.fault() {
            None => Ok(scenario),
            Some(fault) => Err(ScenarioError::Faulty {
                origin: origin.to_owned(),
                fault,
            }),
        }
    }

    /// The script the models play. A request that an action waits for is held at [`gate`].
    pub fn script(&self) -> Script {
        self.models
            .iter()
            .fold(Script::new(), |script, (id, model)| {
                let steps = model.held_at(&self.awaited(id), id);
                if id == SUMMARY {
                    script.compaction(steps)
                } else {
                    script.model(id, steps)
                }
            })
    }

    /// The requests of a model that actions wait for.
    fn awaited(&self, model: &str) -> BTreeSet<usize> {
        let awaited = self.actions.iter().filter_map(|action| match &action.when {
            Some(Moment::Request { model: of, nth }) if of == model => Some(*nth),
            Some(_) | None => None,
        });
        awaited.collect()
    }

    fn fault(&self) -> Option<Fault> {
        if self.objective.is_none() && self.actions.is_empty() {
            return Some(Fault::Idle);
        }
        self.faulty_call()
            .or_else(|| self.faulty_action())
            .or_else(|| self.faulty_expectation())
    }

    fn faulty_call(&self) -> Option<Fault> {
        for (model, steps) in &self.models {
            for (index, step) in steps.steps.iter().enumerate() {
                let checks = step.calls.iter();
                let mut faults = checks.map(|call| check_call(&call.name, &call.arguments));
                if let Some(reason) = faults.find_map(Result::err) {
                    return Some(Fault::Call {
                        model: model.clone(),
                        step: index + 1,
                        reason,
                    });
                }
            }
        }
        None
    }

    fn faulty_action(&self) -> Option<Fault> {
        let mut faults = self.actions.iter().enumerate().map(|(index, action)| {
            if let Deed::SelectModel(model) = &action.deed {
                self.known(model, || format!("action {}", index + 1))?;
            }
            let Some(Moment::Request { model, nth }) = &action.when else {
                return Ok(());
            };
            self.known(model, || format!("action {}", index + 1))?;
            let answers = self.models.get(model).is_some_and(|it| it.answers(*nth));
            answers.then_some(()).ok_or_else(|| Fault::NoStep {
                action: index + 1,
                model: model.clone(),
                nth: *nth,
            })
        });
        faults.find_map(Result::err)
    }

    fn faulty_expectation(&self) -> Option<Fault> {
        let counted = self.expect.requests.keys();
        let read = self.expect.reads.iter().map(|reading| &reading.model);
        let mut faults = counted
            .chain(read)
            .filter(|model| *model != SUMMARY)
            .map(|model| self.known(model, || "expect".to_owned()));
        faults.find_map(Result::err)
    }

    fn known(&self, model: &str, place: impl FnOnce() -> String) -> Result<(), Fault> {
        if self.models.contains_key(model) {
            return Ok(());
        }
        Err(Fault::UnknownModel {
            place: place(),
            model: model.to_owned(),
        })
    }
}

impl ModelSteps {
    /// Whether the `nth` request (from 1) has an answer.
    fn answers(&self, nth: usize) -> bool {
        nth <= self.steps.len() || (self.then_repeat && !self.steps.is_empty())
    }

    /// The steps, those with the given numbers held at their gates.
    fn held_at(&self, numbers: &BTreeSet<usize>, model: &str) -> Steps {
        let last = numbers.last().copied().unwrap_or(0);
        let mut replies: Vec<Reply> = self.steps.clone();
        let repeated = replies.last().filter(|_| self.then_repeat).cloned();
        if let Some(reply) = &repeated {
            let missing = last.saturating_sub(replies.len());
            replies.extend(std::iter::repeat_n(reply.clone(), missing));
        }
        for number in numbers {
            if let Some(reply) = replies.get_mut(number - 1) {
                *reply = std::mem::take(reply).held(&gate(model, *number));
            }
        }
        let steps = Steps::of(replies);
        match repeated {
            Some(reply) => steps.then_repeat(reply),
            None => steps,
        }
    }
}

/// The gate at which the answer to a model's request waits until the actions of that moment are done.
pub fn gate(model: &str, nth: usize) -> String {
    format!("{model} {nth}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "name = 'x'\nabout = 'y'\n";

    fn refused(text: &str) -> String {
        Scenario::parse(&format!("{HEAD}{text}"), "test")
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn every_scenario_file_parses_and_is_named_like_its_file() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let scenario = Scenario::load(&path).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(path.file_stem().unwrap().to_str().unwrap(), scenario.name);
        }
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_place() {
        let error = refused("typo = 1\n");
        assert!(
            error.contains("typo") && error.contains("line 3"),
            "{error}"
        );
    }

    #[test]
    fn parts_that_do_not_fit_together_are_refused_with_what_is_wrong() {
        let model = |step: &str| format!("[[models.executor.steps]]\n{step}\n");
        let expect = "[expect]\noutcome = 'none'\n";
        let talks = model("text = 'ok'");
        for (text, words) in [
            (
                format!("{talks}{expect}"),
                "neither an objective nor an action",
            ),
            (
                format!(
                    "objective = 'o'\n{}{expect}",
                    model("calls = [{ name = 'bash', args = { command = 'make' } }]")
                ),
                "models.executor.steps, step 1: the shell of scenarios does not know `make`",
            ),
            (
                format!("{talks}[[actions]]\nwhen = 'request executor 2'\ndo = 'abort'\n{expect}"),
                "action 1 waits for request 2 of executor",
            ),
            (
                format!("{talks}[[actions]]\nwhen = 'request auditor 1'\ndo = 'abort'\n{expect}"),
                "action 1 names the model auditor",
            ),
            (
                format!("objective = 'o'\n{talks}{expect}requests = {{ auditor = 0 }}\n"),
                "expect names the model auditor",
            ),
            (
                format!("objective = 'o'\n{talks}[files]\n'/etc/passwd' = ''\n{expect}"),
                "`/etc/passwd` is no relative path",
            ),
            (
                format!("objective = 'o'\n{talks}{expect}events = ['goal asleep']\n"),
                "`goal asleep` is no goal event",
            ),
        ] {
            let error = refused(&text);
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_request_that_an_action_waits_for_is_held_also_among_repeated_ones() {
        let steps = ModelSteps {
            steps: vec![Reply::text("a"), Reply::text("b")],
            then_repeat: true,
        };
        assert!(steps.answers(9));
        let text = format!(
            "{HEAD}[models.executor]\nthen_repeat = true\nsteps = [{{ text = 'a' }}]\n\
             [[actions]]\nwhen = 'request executor 3'\ndo = 'abort'\n[expect]\noutcome = 'none'\n"
        );
        let mut script = Scenario::parse(&text, "test").unwrap().script();
        let body = serde_json::json!({ "model": "executor", "messages": [] }).to_string();
        let mut ask = || {
            let request =
                crate::Request::parse(body.clone().into_bytes(), std::time::Duration::ZERO);
            script.answer(&request)
        };
        let held: Vec<_> = (1..=4).map(|_| ask().hold.is_some()).collect();
        assert_eq!(held, [false, false, true, false]);
    }
}
