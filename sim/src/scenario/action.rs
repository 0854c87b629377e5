//! What user and host do in a scenario, and when.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use crate::workspace::FilePath;

/// Half a saved goal, without a line feed, as a kill in the middle of a write leaves it.
pub const TORN_ENTRY: &str = r#"{"type":"custom","customType":"goal-auditor","data":{"v":1,"kind":"goal","goal":{"id":"g-torn","pha"#;

/// One thing that user or host do. Actions happen one after the other, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// The moment to wait for; without it the action follows the one before at once.
    #[serde(default)]
    pub when: Option<Moment>,
    /// What is done.
    #[serde(rename = "do")]
    pub deed: Deed,
}

/// A moment that both hosts know.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Moment {
    /// `rest`: nothing happens any more by itself. A back-off is no rest.
    Rest,
    /// `back_off`: the goal waits to start again after a model error.
    BackOff,
    /// `request MODEL NTH`: that model's request has arrived, counted from 1; it is answered only
    /// when this action, and those that follow it at once, are done.
    Request {
        /// The model, or [`crate::goal_event::SUMMARY`].
        model: String,
        /// Its number, from 1.
        nth: usize,
    },
    /// `tool NAME NTH`: a call of that tool by the executor is running, counted from 1 among the
    /// calls of that tool that began to run.
    Tool {
        /// The tool.
        name: String,
        /// Its number, from 1.
        nth: usize,
    },
    /// `check NAME NTH`: the same for the auditor.
    Check {
        /// The tool.
        name: String,
        /// Its number, from 1.
        nth: usize,
    },
}

/// What user or host do.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Deed {
    /// The user types a command.
    Command(String),
    /// The user types `/goal edit` and saves this text as the objective.
    Edit(String),
    /// The user sends a message: at rest it starts a run, in a run it waits for the run's end.
    Message(String),
    /// The user sends a message that a run takes up after its present turn.
    Steer(String),
    /// The user aborts what is going on.
    Abort,
    /// The user compacts the conversation by hand.
    Compact,
    /// The user reloads the extensions.
    Reload,
    /// The user begins a new session.
    NewSession,
    /// The user goes back to the session the scenario began with.
    ResumeSession,
    /// The user moves in the session's tree.
    Tree(Place),
    /// The host is killed and opened again with the same session.
    KillAndReopen,
    /// The same in the middle of writing: [`TORN_ENTRY`] stands at the end of the session.
    KillInMidWrite,
    /// The core is killed; done when there is a new one, or when it is known that there is none.
    LoseCore,
    /// How the user answers questions from now on; at first with yes.
    Answer(Answer),
    /// The user chooses another model of the scenario for the executor.
    SelectModel(String),
    /// Another extension makes our tools inactive.
    ToolsOff,
    /// Somebody else writes a file of the workspace.
    Write {
        /// The file.
        path: FilePath,
        /// Its text.
        text: String,
    },
}

/// A place in the session's tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Just before the goal was set.
    BeforeGoal,
    /// The entry that was the newest when the user first moved away.
    Newest,
}

/// An answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Yes.
    Yes,
    /// No.
    No,
    /// The question is dismissed.
    None,
}

/// A text that names no moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`when` is `rest`, `back_off`, `request MODEL NTH`, `tool NAME NTH` or `check NAME NTH`, not `{0}`"
)]
pub struct UnknownMoment(String);

impl FromStr for Moment {
    type Err = UnknownMoment;

    fn from_str(text: &str) -> Result<Self, UnknownMoment> {
        let unknown = || UnknownMoment(text.to_owned());
        let number = |nth: &str| nth.parse().ok().filter(|nth| *nth > 0).ok_or_else(unknown);
        let words: Vec<_> = text.split(' ').collect();
        match words[..] {
            ["rest"] => Ok(Self::Rest),
            ["back_off"] => Ok(Self::BackOff),
            ["request", model, nth] => Ok(Self::Request {
                model: model.to_owned(),
                nth: number(nth)?,
            }),
            ["tool", name, nth] => Ok(Self::Tool {
                name: name.to_owned(),
                nth: number(nth)?,
            }),
            ["check", name, nth] => Ok(Self::Check {
                name: name.to_owned(),
                nth: number(nth)?,
            }),
            _ => Err(unknown()),
        }
    }
}

impl TryFrom<String> for Moment {
    type Error = UnknownMoment;

    fn try_from(text: String) -> Result<Self, UnknownMoment> {
        text.parse()
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rest => f.write_str("rest"),
            Self::BackOff => f.write_str("back_off"),
            Self::Request { model, nth } => write!(f, "request {model} {nth}"),
            Self::Tool { name, nth } => write!(f, "tool {name} {nth}"),
            Self::Check { name, nth } => write!(f, "check {name} {nth}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_moment_reads_as_it_is_written() {
        for text in [
            "rest",
            "back_off",
            "request executor 2",
            "tool bash 1",
            "check bash 1",
        ] {
            assert_eq!(text.parse::<Moment>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn other_moments_are_refused_with_those_that_exist() {
        for text in [
            "",
            "at once",
            "request executor",
            "request executor 0",
            "tool bash x",
        ] {
            let error = text.parse::<Moment>().unwrap_err().to_string();
            assert!(error.contains("request MODEL NTH"), "{error}");
        }
    }

    #[test]
    fn an_unknown_deed_is_refused_with_those_that_exist() {
        let error = toml::from_str::<Action>("do = \"explode\"")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("explode") && error.contains("kill_and_reopen"),
            "{error}"
        );
    }
}
