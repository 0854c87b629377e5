//! What happened to a goal, in the words in which both hosts tell it.
//!
//! The simulator and the real pi must give the same events for the same scenario. There are two
//! sequences, because on the real pi nothing tells which of an entry and a request came first:
//! what was appended to the session's branch, and what the models were asked.
//!
//! | on the branch | |
//! |---|---|
//! | `goal pursuing`, `goal held` | the goal was saved in that phase |
//! | `goal paused no_progress`, `goal paused model_errors(quota)` | … paused for that reason (and kind) |
//! | `goal approved`, `goal cleared`, `goal replaced`, `goal accepted` | the goal is gone, and how |
//! | `audit disapproved`, `audit failed(timeout)` | an audit was saved with that outcome (and reason) |
//! | `message full`, `message marker`, `message nudge` | our message to the executor, of that kind |
//! | `message user` | a message of the user reached the conversation |
//! | `compaction` | the host compacted the conversation |
//!
//! | what was asked | |
//! |---|---|
//! | `request executor` | that model was asked for a turn |
//! | `request summary` | a model was asked to sum the conversation up |
//!
//! In a scenario file, `message nudge x3` stands for three in a row.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde_json::Value;

use crate::Request;

/// The word that stands for whichever model sums a conversation up.
pub const SUMMARY: &str = "summary";

/// The custom type of every entry of ours.
const CUSTOM_TYPE: &str = "goal-auditor";

/// What every nudge says, and no other message of ours.
const NUDGE_WORDS: &str = "the last run did no work";

/// What may follow an `x` in a scenario file: more would be a slip.
const REPEATS_MAX: usize = 1_000;

/// Something that happened to a goal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum GoalEvent {
    /// The goal was saved.
    Goal(GoalState),
    /// An audit was saved.
    Audit(Named<AuditWord>),
    /// A message reached the conversation.
    Message(MessageKind),
    /// The host compacted the conversation.
    Compaction,
    /// A model was asked; [`SUMMARY`] stands for whichever one sums up.
    Request(String),
}

/// A goal as it was saved.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum GoalState {
    /// It is pursued.
    Pursuing,
    /// It waits for the user, because its session was left.
    Held,
    /// It is paused, for this reason.
    Paused(Named<String>),
    /// It is gone.
    Ended(Ended),
}

/// A name with a kind inside it: `model_errors(quota)`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Named<T> {
    /// The name as it is saved.
    pub name: T,
    /// The kind inside it.
    pub kind: Option<String>,
}

/// How a goal ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ended {
    /// By an approved audit.
    Approved,
    /// By the user's own word.
    Accepted,
    /// By `/goal clear`.
    Cleared,
    /// By another goal.
    Replaced,
}

/// How an audit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AuditWord {
    /// The work is done.
    Approved,
    /// The work is not done.
    Disapproved,
    /// The auditor gave no verdict, or one that does not count.
    NoVerdict,
    /// The audit could not be made.
    Failed,
    /// Goal or workspace changed meanwhile.
    Stale,
    /// It was stopped.
    Aborted,
}

/// What kind of message reached the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MessageKind {
    /// The full goal message.
    Full,
    /// A continuation.
    Marker,
    /// A continuation after a run that did no work.
    Nudge,
    /// The user's own.
    User,
}

/// A text that names no event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no goal event; the words are listed in docs/scenarios.md")]
pub struct UnknownEvent(String);

impl GoalEvent {
    /// The event that an entry of a session file stands for, if it stands for one.
    pub fn of_entry(entry: &Value) -> Option<Self> {
        match entry["type"].as_str()? {
            "compaction" => Some(Self::Compaction),
            "message" => {
                (entry["message"]["role"] == "user").then_some(Self::Message(MessageKind::User))
            }
            _ if entry["customType"] != CUSTOM_TYPE => None,
            "custom" => of_record(&entry["data"]),
            "custom_message" => of_message(entry),
            _ => None,
        }
    }

    /// The event that a request stands for.
    pub fn of_request(request: &Request) -> Self {
        if request.is_compaction() {
            Self::Request(SUMMARY.to_owned())
        } else {
            Self::Request(request.model.clone())
        }
    }

    /// The event of one of our messages to the executor.
    pub fn of_our_message(full: bool, text: &str) -> Self {
        Self::Message(if full {
            MessageKind::Full
        } else if text.contains(NUDGE_WORDS) {
            MessageKind::Nudge
        } else {
            MessageKind::Marker
        })
    }
}

/// An entry with a saved goal or audit.
fn of_record(data: &Value) -> Option<GoalEvent> {
    match data["kind"].as_str()? {
        "audit" => {
            let name = data["outcome"].as_str()?.parse().ok()?;
            let kind = data["why"].as_str().map(str::to_owned);
            Some(GoalEvent::Audit(Named { name, kind }))
        }
        "goal" => of_goal(data).map(GoalEvent::Goal),
        _ => None,
    }
}

fn of_goal(data: &Value) -> Option<GoalState> {
    let goal = &data["goal"];
    if goal.is_null() {
        return data["ended"].as_str()?.parse().ok().map(GoalState::Ended);
    }
    match goal["phase"].as_str()? {
        "pursuing" => Some(GoalState::Pursuing),
        "held" => Some(GoalState::Held),
        "paused" => Some(GoalState::Paused(Named {
            name: goal["pauseReason"].as_str()?.to_owned(),
            kind: goal["pauseKind"].as_str().map(str::to_owned),
        })),
        _ => None,
    }
}

fn of_message(entry: &Value) -> Option<GoalEvent> {
    let details = &entry["details"];
    let text = entry["content"]
        .as_str()
        .or_else(|| entry["content"][0]["text"].as_str())
        .unwrap_or_default();
    (details["kind"] == "continuation")
        .then(|| GoalEvent::of_our_message(details["full"] == true, text))
}

/// Equal events in a row become one line with a count: `message nudge x3`.
pub fn fold(events: &[GoalEvent]) -> Vec<String> {
    let equal = events.chunk_by(|a, b| a == b);
    equal
        .filter_map(|run| match run {
            [] => None,
            [one] => Some(one.to_string()),
            [first, ..] => Some(format!("{first} x{}", run.len())),
        })
        .collect()
}

/// The opposite of [`fold`].
pub fn unfold<S: AsRef<str>>(lines: &[S]) -> Result<Vec<GoalEvent>, UnknownEvent> {
    let mut events = Vec::new();
    for line in lines {
        let (event, times) = counted(line.as_ref());
        events.extend(std::iter::repeat_n(event.parse()?, times));
    }
    Ok(events)
}

fn counted(line: &str) -> (&str, usize) {
    line.rsplit_once(" x")
        .and_then(|(event, times)| Some((event, times.parse().ok()?)))
        .filter(|(_, times)| (1..=REPEATS_MAX).contains(times))
        .unwrap_or((line, 1))
}

impl fmt::Display for GoalEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Goal(state) => write!(f, "goal {state}"),
            Self::Audit(outcome) => write!(f, "audit {outcome}"),
            Self::Message(kind) => write!(f, "message {kind}"),
            Self::Compaction => f.write_str("compaction"),
            Self::Request(model) => write!(f, "request {model}"),
        }
    }
}

impl FromStr for GoalEvent {
    type Err = UnknownEvent;

    fn from_str(text: &str) -> Result<Self, UnknownEvent> {
        let unknown = || UnknownEvent(text.to_owned());
        if text == "compaction" {
            return Ok(Self::Compaction);
        }
        let (subject, rest) = text.split_once(' ').ok_or_else(unknown)?;
        match subject {
            "goal" => rest.parse().map(Self::Goal),
            "audit" => rest.parse().map(Self::Audit),
            "message" => rest.parse().map(Self::Message),
            "request" if is_name(rest) => Ok(Self::Request(rest.to_owned())),
            _ => Err(unknown()),
        }
        .map_err(|_| unknown())
    }
}

impl fmt::Display for GoalState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pursuing => f.write_str("pursuing"),
            Self::Held => f.write_str("held"),
            Self::Paused(reason) => write!(f, "paused {reason}"),
            Self::Ended(how) => how.fmt(f),
        }
    }
}

impl FromStr for GoalState {
    type Err = UnknownEvent;

    fn from_str(text: &str) -> Result<Self, UnknownEvent> {
        match text {
            "pursuing" => Ok(Self::Pursuing),
            "held" => Ok(Self::Held),
            _ => match text.strip_prefix("paused ") {
                Some(reason) => reason.parse().map(Self::Paused),
                None => text.parse().map(Self::Ended),
            },
        }
    }
}

impl<T: fmt::Display> fmt::Display for Named<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            None => self.name.fmt(f),
            Some(kind) => write!(f, "{}({kind})", self.name),
        }
    }
}

impl<T: FromStr> FromStr for Named<T> {
    type Err = UnknownEvent;

    fn from_str(text: &str) -> Result<Self, UnknownEvent> {
        let unknown = || UnknownEvent(text.to_owned());
        let (name, kind) = match text.split_once('(') {
            None => (text, None),
            Some((name, rest)) => (name, Some(rest.strip_suffix(')').ok_or_else(unknown)?)),
        };
        if !is_name(name) || !kind.is_none_or(is_name) {
            return Err(unknown());
        }
        Ok(Self {
            name: name.parse().map_err(|_| unknown())?,
            kind: kind.map(str::to_owned),
        })
    }
}

/// Names as they are saved, and ids of models.
fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    !text.is_empty() && text.chars().all(fits)
}

/// Both directions between the variants of a closed set of words and their names.
macro_rules! words {
    ($kind:ty { $($variant:ident = $name:literal),+ $(,)? }) => {
        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self { $(Self::$variant => $name),+ })
            }
        }

        impl FromStr for $kind {
            type Err = UnknownEvent;

            fn from_str(text: &str) -> Result<Self, UnknownEvent> {
                match text {
                    $($name => Ok(Self::$variant),)+
                    _ => Err(UnknownEvent(text.to_owned())),
                }
            }
        }
    };
}

words!(Ended {
    Approved = "approved",
    Accepted = "accepted",
    Cleared = "cleared",
    Replaced = "replaced",
});

words!(AuditWord {
    Approved = "approved",
    Disapproved = "disapproved",
    NoVerdict = "no_verdict",
    Failed = "failed",
    Stale = "stale",
    Aborted = "aborted",
});

words!(MessageKind {
    Full = "full",
    Marker = "marker",
    Nudge = "nudge",
    User = "user",
});

/// Events as a scenario file lists them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct Events(pub Vec<GoalEvent>);

impl TryFrom<Vec<String>> for Events {
    type Error = UnknownEvent;

    fn try_from(lines: Vec<String>) -> Result<Self, UnknownEvent> {
        unfold(&lines).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ALL: [&str; 17] = [
        "goal pursuing",
        "goal held",
        "goal paused no_progress",
        "goal paused model_errors(quota)",
        "goal approved",
        "goal accepted",
        "goal cleared",
        "goal replaced",
        "audit approved",
        "audit no_verdict(no_tag)",
        "audit aborted(user)",
        "message full",
        "message marker",
        "message nudge",
        "message user",
        "compaction",
        "request executor",
    ];

    #[test]
    fn every_event_reads_as_it_is_written() {
        for text in ALL {
            assert_eq!(text.parse::<GoalEvent>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_event_is_refused_with_its_text() {
        for text in [
            "",
            "goal",
            "goal asleep",
            "goal paused",
            "goal paused no progress",
            "audit approved(",
            "audit perhaps",
            "message hello",
            "request",
            "request a b",
            "message nudge x0",
            "message nudge x1001",
        ] {
            let error = unfold(&[text]).unwrap_err().to_string();
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
    }

    #[test]
    fn equal_events_in_a_row_are_counted() {
        let lines = [
            "message full",
            "message nudge x2",
            "goal paused no_progress",
        ];
        let events = unfold(&lines).unwrap();
        assert_eq!(events.len(), 4);
        assert_eq!(fold(&events), lines);
    }

    fn ours(data: &Value) -> Value {
        json!({ "type": "custom", "customType": "goal-auditor", "data": data })
    }

    fn message(full: bool, text: &str) -> Value {
        json!({ "type": "custom_message", "customType": "goal-auditor", "content": text,
            "details": { "v": 1, "kind": "continuation", "full": full } })
    }

    #[test]
    fn entries_of_a_session_file_are_told_as_events() {
        let paused =
            json!({ "phase": "paused", "pauseReason": "model_errors", "pauseKind": "quota" });
        let audit = json!({ "kind": "audit", "outcome": "stale", "why": "goal" });
        for (entry, event) in [
            (
                ours(&json!({ "kind": "goal", "goal": { "phase": "pursuing" } })),
                "goal pursuing",
            ),
            (
                ours(&json!({ "kind": "goal", "goal": paused })),
                "goal paused model_errors(quota)",
            ),
            (
                ours(&json!({ "kind": "goal", "goal": null, "ended": "cleared" })),
                "goal cleared",
            ),
            (ours(&audit), "audit stale(goal)"),
            (message(true, "The user has set a goal"), "message full"),
            (message(false, "Goal g1 is still open."), "message marker"),
            (
                message(false, "Goal g1: the last run did no work."),
                "message nudge",
            ),
            (
                json!({ "type": "message", "message": { "role": "user" } }),
                "message user",
            ),
            (
                json!({ "type": "compaction", "summary": "…" }),
                "compaction",
            ),
        ] {
            let told = GoalEvent::of_entry(&entry).map(|event| event.to_string());
            assert_eq!(told.as_deref(), Some(event), "{entry}");
        }
    }

    #[test]
    fn what_others_wrote_into_a_session_is_no_event() {
        for entry in [
            json!({ "type": "custom", "customType": "other", "data": { "kind": "goal", "goal": null } }),
            json!({ "type": "message", "message": { "role": "assistant" } }),
            json!({ "type": "model_change" }),
            json!(null),
            ours(&json!({ "kind": "goal", "goal": { "phase": "asleep" } })),
        ] {
            assert_eq!(GoalEvent::of_entry(&entry), None, "{entry}");
        }
    }
}
