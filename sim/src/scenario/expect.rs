//! What must come out of a scenario, what did, and where the two differ.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use crate::goal_event::{AuditWord, Ended, Events, GoalEvent, GoalState, MessageKind, fold};
use crate::workspace::FilePath;

/// What must have come out when the loop rests at the end.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// How the goal stands.
    pub outcome: Outcome,
    /// The pause reason as it is saved; missing means that the goal is not paused.
    pub pause_reason: Option<String>,
    /// The outcomes of the audits, in order, without their reasons.
    pub audits: Option<Vec<String>>,
    /// The number of our messages to the executor, the first not counted.
    pub continuations: Option<usize>,
    /// How often each model was asked; `summary` stands for requests for a summary.
    #[serde(default)]
    pub requests: BTreeMap<String, Count>,
    /// Each of these texts is part of something the user was told.
    #[serde(default)]
    pub notices: Vec<String>,
    /// What the models were given to read.
    #[serde(default)]
    pub reads: Vec<Reading>,
    /// Models of which every request begins with the whole of the one before: nothing that was sent
    /// is changed or taken out, so that a provider's cache keeps its worth.
    #[serde(default)]
    pub prefix_kept: Vec<String>,
    /// Files of the workspace with their texts at the end; others are not looked at.
    #[serde(default)]
    pub files: BTreeMap<FilePath, String>,
    /// Exactly this was appended to the session's branch, in this order.
    pub events: Option<Events>,
    /// Exactly this was asked, in this order.
    pub asked: Option<Events>,
}

/// How a goal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// There is none and never was one on this branch.
    None,
    /// An audit approved it.
    Approved,
    /// The user accepted it.
    Accepted,
    /// The user cleared it.
    Cleared,
    /// It is paused.
    Paused,
    /// It waits for the user, because its session was left.
    Held,
    /// It is pursued: nobody may expect that of a loop at rest.
    #[serde(skip_deserializing)]
    Pursuing,
}

/// A number of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Count {
    /// Exactly.
    Exactly(usize),
    /// At most.
    AtMost {
        /// The limit.
        max: usize,
    },
}

/// What a request of a model must hold.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// The model.
    pub model: String,
    /// The number of its request, from 1.
    pub nth: usize,
    /// A text that stands in one of its messages.
    #[serde(default)]
    pub contains: Vec<String>,
    /// A text that stands in none of them.
    #[serde(default)]
    pub lacks: Vec<String>,
}

/// What came out of a scenario on some host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observed {
    /// What was appended to the branch of the session that is open at the end.
    pub events: Vec<GoalEvent>,
    /// What the models were asked, in order.
    pub asked: Vec<GoalEvent>,
    /// The text of each of these requests, its messages joined by line feeds.
    pub texts: Vec<String>,
    /// The goal is held: that is no entry of its own.
    pub held: bool,
    /// What the user was told.
    pub notices: Vec<String>,
    /// The files of the workspace at the end.
    pub files: BTreeMap<String, String>,
}

/// Something that is not as expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What was compared.
    pub what: String,
    /// What should have been.
    pub expected: String,
    /// What was.
    pub got: String,
}

impl Observed {
    /// How the goal stands.
    pub fn outcome(&self) -> Outcome {
        match self.last_state() {
            None => Outcome::None,
            Some(GoalState::Ended(how)) => match how {
                Ended::Approved => Outcome::Approved,
                Ended::Accepted => Outcome::Accepted,
                Ended::Cleared => Outcome::Cleared,
                Ended::Replaced => Outcome::None,
            },
            Some(GoalState::Paused(_)) => Outcome::Paused,
            Some(GoalState::Held) => Outcome::Held,
            Some(GoalState::Pursuing) if self.held => Outcome::Held,
            Some(GoalState::Pursuing) => Outcome::Pursuing,
        }
    }

    /// Why the goal is paused, if it is.
    pub fn pause_reason(&self) -> Option<&str> {
        match self.last_state() {
            Some(GoalState::Paused(reason)) => Some(&reason.name),
            _ => None,
        }
    }

    /// The outcomes of the audits.
    pub fn audits(&self) -> Vec<String> {
        let outcome = |event: &GoalEvent| {
            if let GoalEvent::Audit(audit) = event {
                Some(AuditWord::to_string(&audit.name))
            } else {
                None
            }
        };
        self.events.iter().filter_map(outcome).collect()
    }

    /// The number of our messages to the executor, the first not counted.
    pub fn continuations(&self) -> usize {
        let ours = |event: &&GoalEvent| matches!(event, GoalEvent::Message(kind) if *kind != MessageKind::User);
        self.events.iter().filter(ours).count().saturating_sub(1)
    }

    /// How often a model was asked.
    pub fn requests(&self, model: &str) -> usize {
        self.texts_of(model).count()
    }

    fn texts_of<'a>(&'a self, model: &'a str) -> impl Iterator<Item = &'a str> {
        let asked = self.asked.iter().zip(&self.texts);
        asked
            .filter(move |(event, _)| matches!(event, GoalEvent::Request(it) if it == model))
            .map(|(_, text)| text.as_str())
    }

    fn last_state(&self) -> Option<&GoalState> {
        self.events.iter().rev().find_map(|event| {
            if let GoalEvent::Goal(state) = event {
                Some(state)
            } else {
                None
            }
        })
    }
}

impl Expectation {
    /// Where `observed` is not as expected; empty if it is.
    pub fn differences(&self, observed: &Observed) -> Vec<Difference> {
        let mut found = Differences::default();
        found.compare("the outcome", self.outcome, observed.outcome());
        let reason = |reason: Option<&str>| reason.unwrap_or("none").to_owned();
        found.compare(
            "the pause reason",
            reason(self.pause_reason.as_deref()),
            reason(observed.pause_reason()),
        );
        if let Some(audits) = &self.audits {
            found.compare(
                "the audits",
                audits.join(", "),
                observed.audits().join(", "),
            );
        }
        if let Some(continuations) = self.continuations {
            found.compare("continuations", continuations, observed.continuations());
        }
        for (model, count) in &self.requests {
            let got = observed.requests(model);
            if !count.allows(got) {
                found.add(format!("requests of {model}"), count, got);
            }
        }
        found.sequence("event", self.events.as_ref(), &observed.events);
        found.sequence("request", self.asked.as_ref(), &observed.asked);
        for (path, text) in &self.files {
            let none = String::from("no such file");
            let got = observed.files.get(path.as_str()).unwrap_or(&none);
            found.compare(&format!("the file {path}"), text, got);
        }
        self.compare_texts(observed, &mut found);
        found.0
    }

    fn compare_texts(&self, observed: &Observed, found: &mut Differences) {
        for text in &self.notices {
            if !observed.notices.iter().any(|notice| notice.contains(text)) {
                found.add("a notice", text, observed.notices.join(" | "));
            }
        }
        for Reading {
            model,
            nth,
            contains,
            lacks,
        } in &self.reads
        {
            let what = format!("request {nth} of {model}");
            let Some(read) = observed.texts_of(model).nth(nth.saturating_sub(1)) else {
                found.add(what, "to be made", "it was not");
                continue;
            };
            for text in contains.iter().filter(|text| !read.contains(*text)) {
                found.add(&what, format!("with `{text}`"), read);
            }
            for text in lacks.iter().filter(|text| read.contains(*text)) {
                found.add(&what, format!("without `{text}`"), read);
            }
        }
        for model in &self.prefix_kept {
            let texts: Vec<_> = observed.texts_of(model).collect();
            let broken = texts.windows(2).position(|two| !two[1].starts_with(two[0]));
            if let Some(at) = broken {
                let what = format!("request {} of {model}", at + 2);
                found.add(what, "to begin with the one before", texts[at + 1]);
            }
        }
    }
}

/// Differences as they are found.
#[derive(Default)]
struct Differences(Vec<Difference>);

impl Differences {
    fn add(
        &mut self,
        what: impl fmt::Display,
        expected: impl fmt::Display,
        got: impl fmt::Display,
    ) {
        self.0.push(Difference {
            what: what.to_string(),
            expected: expected.to_string(),
            got: got.to_string(),
        });
    }

    fn compare<T: PartialEq + fmt::Display>(&mut self, what: &str, expected: T, got: T) {
        if expected != got {
            self.add(what, expected, got);
        }
    }

    /// The first difference of two sequences, by its place.
    fn sequence(&mut self, what: &str, expected: Option<&Events>, got: &[GoalEvent]) {
        let Some(Events(expected)) = expected else {
            return;
        };
        if expected == got {
            return;
        }
        let same = expected.iter().zip(got).take_while(|(a, b)| a == b).count();
        let at = |events: &[GoalEvent]| {
            let rest = fold(events.get(same..).unwrap_or_default());
            if rest.is_empty() {
                "the end".to_owned()
            } else {
                rest.join(", ")
            }
        };
        self.add(format!("{what} {}", same + 1), at(expected), at(got));
    }
}

impl Count {
    fn allows(self, got: usize) -> bool {
        match self {
            Self::Exactly(number) => got == number,
            Self::AtMost { max } => got <= max,
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(number) => number.fmt(f),
            Self::AtMost { max } => write!(f, "at most {max}"),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::None => "none",
            Self::Approved => "approved",
            Self::Accepted => "accepted",
            Self::Cleared => "cleared",
            Self::Paused => "paused",
            Self::Held => "held",
            Self::Pursuing => "pursuing",
        })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: expected {}; got {}",
            self.what, self.expected, self.got
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal_event::unfold;

    fn expectation(text: &str) -> Expectation {
        toml::from_str(text).unwrap()
    }

    fn observed() -> Observed {
        Observed {
            events: unfold(&[
                "goal pursuing",
                "message full",
                "audit disapproved",
                "goal pursuing",
                "message nudge x2",
                "goal paused no_progress",
            ])
            .unwrap(),
            asked: unfold(&["request executor", "request auditor x2", "request executor"]).unwrap(),
            texts: ["Set", "Audit this", "Audit that", "Go on"]
                .map(str::to_owned)
                .to_vec(),
            held: false,
            notices: vec!["Goal paused: 3 runs in a row did no work.".to_owned()],
            files: BTreeMap::from([("a.txt".to_owned(), "a".to_owned())]),
        }
    }

    #[test]
    fn what_is_as_expected_shows_no_difference() {
        let expect = expectation(
            "outcome = 'paused'\nfiles = { 'a.txt' = 'a' }\npause_reason = 'no_progress'\naudits = ['disapproved']\n\
             continuations = 2\nrequests = { executor = 2, auditor = { max = 3 }, summary = 0 }\n\
             notices = ['did no work']\nasked = ['request executor', 'request auditor x2', 'request executor']\n\
             [[reads]]\nmodel = 'auditor'\nnth = 2\ncontains = ['that']\nlacks = ['this']",
        );
        assert_eq!(expect.differences(&observed()), []);
    }

    #[test]
    fn every_difference_is_named_and_a_sequence_shows_its_first() {
        let expect = expectation(
            "outcome = 'approved'\nfiles = { 'a.txt' = 'b', 'c.txt' = 'c' }\naudits = []\ncontinuations = 3\n\
             requests = { executor = 3, auditor = { max = 1 } }\nnotices = ['hello']\n\
             events = ['goal pursuing', 'message full', 'message marker']\n\
             asked = ['request executor', 'request auditor x2', 'request executor x2']\n\
             [[reads]]\nmodel = 'executor'\nnth = 2\ncontains = ['Stop']\nlacks = ['Go']\n\
             [[reads]]\nmodel = 'executor'\nnth = 9",
        );
        let found: Vec<_> = expect
            .differences(&observed())
            .iter()
            .map(ToString::to_string)
            .collect();
        let wanted = [
            "the outcome: expected approved; got paused",
            "the pause reason: expected none; got no_progress",
            "the audits: expected ; got disapproved",
            "continuations: expected 3; got 2",
            "requests of auditor: expected at most 1; got 2",
            "requests of executor: expected 3; got 2",
            "event 3: expected message marker; got audit disapproved, goal pursuing, message nudge x2, \
             goal paused no_progress",
            "request 5: expected request executor; got the end",
            "the file a.txt: expected b; got a",
            "the file c.txt: expected c; got no such file",
            "a notice: expected hello; got Goal paused: 3 runs in a row did no work.",
            "request 2 of executor: expected with `Stop`; got Go on",
            "request 2 of executor: expected without `Go`; got Go on",
            "request 9 of executor: expected to be made; got it was not",
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_request_that_does_not_begin_with_the_one_before_is_a_difference() {
        let mut expect = expectation("outcome = 'none'\nprefix_kept = ['executor']");
        let mut observed = Observed {
            asked: unfold(&["request executor x3"]).unwrap(),
            texts: ["a", "a\nb", "a\nb\nc"].map(str::to_owned).to_vec(),
            ..Observed::default()
        };
        assert_eq!(expect.differences(&observed), []);
        observed.texts[2] = "a\nB\nc".to_owned();
        let found = expect.differences(&observed);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].what, "request 3 of executor");
        expect.prefix_kept.clear();
        assert_eq!(expect.differences(&observed), []);
    }

    #[test]
    fn a_goal_that_is_saved_as_pursued_is_held_only_if_the_host_says_so() {
        let mut observed = Observed {
            events: unfold(&["goal pursuing"]).unwrap(),
            ..Observed::default()
        };
        assert_eq!(observed.outcome(), Outcome::Pursuing);
        observed.held = true;
        assert_eq!(observed.outcome(), Outcome::Held);
    }
}
