//! One line of a session file, with what a report needs of it.

use std::borrow::Cow;
use std::fmt;

use goal_protocol::{EntryWire, MessageDetailsWire, UsageWire};
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::value::RawValue;

/// The custom type of everything our extension writes.
const CUSTOM_TYPE: &str = "goal-auditor";
/// Our tools, whose calls are no work.
const GOAL_TOOLS: [&str; 2] = ["get_goal", "update_goal"];

/// A line of a session file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Line<'a> {
    #[serde(rename = "type", borrow)]
    pub(crate) kind: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) parent_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    custom_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    details: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    usage: Option<UsageWire>,
    pub(crate) name: Option<Text>,
    pub(crate) cwd: Option<Text>,
}

/// What an entry is to a report.
#[derive(Debug)]
pub(crate) enum What {
    /// A saved goal or audit.
    Saved(Box<EntryWire>),
    /// One of our entries that this version cannot read.
    Unreadable,
    /// The message that begins a run.
    Continuation(Box<MessageDetailsWire>),
    /// A message of the user's.
    User,
    /// An answer of the agent's model.
    Assistant(Box<Assistant>),
    /// The result of a call.
    ToolResult {
        /// Of one of our tools.
        ours: bool,
        /// It is an error.
        failed: bool,
    },
    /// The context was compacted.
    Compaction(UsageWire),
    /// Use of a model beside the conversation.
    Usage(UsageWire),
    /// Nothing a report tells.
    Other,
}

/// An answer of the agent's model.
#[derive(Debug, Default)]
pub(crate) struct Assistant {
    pub(crate) text: String,
    /// What its `update_goal` calls claim.
    pub(crate) claims: Vec<Option<String>>,
    pub(crate) failed: bool,
    pub(crate) aborted: bool,
    pub(crate) error: Option<String>,
    pub(crate) usage: UsageWire,
}

impl Line<'_> {
    /// What this line is to a report; an error if it is a message that makes no sense.
    pub(crate) fn what(&self) -> Result<What, serde_json::Error> {
        let ours = self.custom_type.as_deref() == Some(CUSTOM_TYPE);
        Ok(match &*self.kind {
            "custom" if ours => saved(self.data).map_or(What::Unreadable, What::Saved),
            "custom_message" if ours => {
                continuation(self.details).map_or(What::Unreadable, What::Continuation)
            }
            "message" => match self.message {
                Some(message) => message_of(message)?,
                None => What::Other,
            },
            "compaction" => What::Compaction(self.usage.unwrap_or_default()),
            "usage" => What::Usage(self.usage.unwrap_or_default()),
            _ => What::Other,
        })
    }
}

fn saved(data: Option<&RawValue>) -> Option<Box<EntryWire>> {
    serde_json::from_str(data?.get()).ok()
}

fn continuation(details: Option<&RawValue>) -> Option<Box<MessageDetailsWire>> {
    serde_json::from_str(details?.get()).ok()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow)]
    tool_name: Option<Cow<'a, str>>,
    #[serde(default)]
    is_error: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(default)]
    content: Vec<Part>,
    stop_reason: Option<String>,
    error_message: Option<Text>,
    #[serde(default)]
    usage: UsageWire,
}

#[derive(Deserialize)]
struct Part {
    text: Option<Text>,
    name: Option<Text>,
    arguments: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Claim {
    completion_summary: Option<Text>,
}

fn message_of(message: &RawValue) -> Result<What, serde_json::Error> {
    let head: Head<'_> = serde_json::from_str(message.get())?;
    Ok(match &*head.role {
        "user" => What::User,
        "assistant" => What::Assistant(Box::new(
            serde_json::from_str::<Answer>(message.get())?.into(),
        )),
        "toolResult" => What::ToolResult {
            ours: head
                .tool_name
                .is_some_and(|name| GOAL_TOOLS.contains(&&*name)),
            failed: head.is_error,
        },
        _ => What::Other,
    })
}

impl From<Answer> for Assistant {
    fn from(answer: Answer) -> Self {
        let mut assistant = Self {
            failed: answer.stop_reason.as_deref() == Some("error"),
            aborted: answer.stop_reason.as_deref() == Some("aborted"),
            error: answer.error_message.map(|text| text.0),
            usage: answer.usage,
            ..Self::default()
        };
        for part in answer.content {
            if part.name.is_some_and(|name| name.0 == "update_goal") {
                assistant.claims.push(claim(part.arguments.as_deref()));
            } else if let Some(text) = part.text {
                assistant.text.push_str(&text.0);
            }
        }
        assistant
    }
}

fn claim(arguments: Option<&RawValue>) -> Option<String> {
    let claim: Claim = serde_json::from_str(arguments?.get()).ok()?;
    claim.completion_summary.map(|text| text.0)
}

/// Text that may hold halves of surrogate pairs, as JavaScript writes them; these become U+FFFD.
#[derive(Debug, Default)]
pub(crate) struct Text(pub(crate) String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Asked for bytes, serde_json takes such halves; asked for a string, it does not.
        deserializer.deserialize_bytes(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Text, E> {
        Ok(Text(text.to_owned()))
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Text, E> {
        Ok(Text(String::from_utf8_lossy(bytes).into_owned()))
    }

    /// serde_json reads a list as bytes too; it is no text.
    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Text, A::Error> {
        Err(de::Error::custom("a list is no text"))
    }
}
