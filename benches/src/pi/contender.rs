//! Who takes part: what is loaded into pi, and the words by which it is driven.

use goal_tests::{Loading, PiOptions, Reply, Script, install};
use serde_json::json;

/// The loop that the others are compared with.
const BARE: &str = include_str!("../../pi/bare.ts");

/// The other extension, as `npm ci` puts it there.
const RIVAL: &str = "benches/rival/node_modules/@capyup/pi-goal";

/// What is loaded into pi.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contender {
    /// No extension.
    Plain,
    /// An extension that does nothing but go on.
    Bare,
    /// This project.
    Ours,
    /// `@capyup/pi-goal`.
    Rival,
}

impl Contender {
    /// Those that work on a goal, and the loop without one.
    pub(super) const LOOPS: [Self; 3] = [Self::Bare, Self::Ours, Self::Rival];
    /// Those that work on a goal, and a pi that knows of none.
    pub(super) const ALONE: [Self; 3] = [Self::Plain, Self::Ours, Self::Rival];

    /// Its name in tables.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Plain => "no extension",
            Self::Bare => "bare loop",
            Self::Ours => "goal-auditor",
            Self::Rival => "@capyup/pi-goal",
        }
    }

    /// A pi with it, whose models answer as `script` says. Everything is as a new user has it.
    pub(super) fn options(self, script: Script) -> PiOptions {
        let options = PiOptions::plain(script).no_config();
        // The harness has traces written for its tests; a user has none.
        let options = options.env("PI_GOAL_TRACE", "");
        match self {
            Self::Plain => options,
            Self::Bare => options.extra_extension("bare", BARE),
            Self::Ours => options.loading(Loading::Flag),
            Self::Rival => options
                .flag("-e")
                .flag(install::root().join(RIVAL).display().to_string()),
        }
    }

    /// The same with an auditor of its own. Both goal extensions take it from the same variables.
    pub(super) fn audited(self, script: Script) -> PiOptions {
        self.options(script)
            .env("PI_GOAL_AUDITOR_PROVIDER", "sim")
            .env("PI_GOAL_AUDITOR_MODEL", goal_tests::AUDITOR)
    }

    /// What the user types to set a goal; without a goal extension, the objective as a prompt.
    pub(super) fn goal(self, objective: &str) -> String {
        match self {
            Self::Plain | Self::Bare => objective.to_owned(),
            Self::Ours => format!("/goal {objective}"),
            Self::Rival => format!("/goals-set {objective}"),
        }
    }
}

/// A model's call of the tool that shows the goal: both goal extensions name it alike.
pub(super) fn look_at_goal() -> Reply {
    Reply::call("get_goal", json!({}))
}

/// A model's claim that all is done: both goal extensions take it alike.
pub(super) fn claim() -> Reply {
    let summary = "Every file was read and counted; the notes are complete.";
    let arguments = json!({ "status": "complete", "completionSummary": summary });
    Reply::call("update_goal", arguments)
}
