//! One recorded request, parsed far enough for tests to ask about it.

use std::time::Duration;

use serde_json::Value;

/// How the system prompt of pi's own summaries begins (measured on pi 1.6.0).
const SUMMARY_PROMPT_START: &str = "You are a context summarization assistant";

/// A request as it arrived at the model server.
#[derive(Debug, Clone)]
pub struct Request {
    /// Position among all requests of the server, from 1.
    pub number: usize,
    /// Which step of its model answers it, from 1; for a request for a summary, which consumes no
    /// step, the one that comes next.
    pub nth: usize,
    /// The model id that was asked for.
    pub model: String,
    /// The conversation.
    pub messages: Vec<Message>,
    /// The offered tools, as sent.
    pub tools: Vec<Value>,
    /// The body, byte for byte; prefix comparisons are made on this.
    pub raw: Vec<u8>,
    /// The body as JSON.
    pub json: Value,
    /// The `Authorization` header, which tells whose key was used.
    pub authorization: Option<String>,
    /// When it arrived, since the server started.
    pub arrived: Duration,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// The text, its parts joined.
    pub text: String,
    /// Names and raw arguments of an assistant's tool calls.
    pub calls: Vec<(String, String)>,
}

impl Request {
    /// Reads a request body. A body that is no chat request gives empty fields, never a failure:
    /// what pi sends is what is being tested.
    pub(crate) fn parse(raw: Vec<u8>, arrived: Duration) -> Self {
        let json: Value = serde_json::from_slice(&raw).unwrap_or_default();
        let model = json["model"].as_str().unwrap_or_default().to_owned();
        let messages = json["messages"]
            .as_array()
            .into_iter()
            .flatten()
            .map(Message::parse);
        let messages = messages.collect();
        let tools = json["tools"].as_array().cloned().unwrap_or_default();
        Self {
            number: 0,
            nth: 0,
            model,
            messages,
            tools,
            raw,
            json,
            authorization: None,
            arrived,
        }
    }

    /// Whether pi asks for a summary (compaction or branch summary) rather than for a turn.
    pub fn is_compaction(&self) -> bool {
        self.system_text().starts_with(SUMMARY_PROMPT_START)
    }

    /// The text of all system messages.
    pub fn system_text(&self) -> String {
        let of_system = self
            .messages
            .iter()
            .filter(|m| m.role == "system" || m.role == "developer");
        of_system
            .map(|m| m.text.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The text of the last message.
    pub fn last_text(&self) -> &str {
        self.messages.last().map_or("", |message| &message.text)
    }

    /// The text of the last message of that role.
    pub fn last_of(&self, role: &str) -> Option<&str> {
        self.messages
            .iter()
            .rev()
            .find(|m| m.role == role)
            .map(|m| m.text.as_str())
    }

    /// How many messages of that role contain `needle`.
    pub fn count_in(&self, role: &str, needle: &str) -> usize {
        self.messages
            .iter()
            .filter(|m| m.role == role && m.text.contains(needle))
            .count()
    }

    /// Whether any message contains `needle`.
    pub fn mentions(&self, needle: &str) -> bool {
        self.messages.iter().any(|m| m.text.contains(needle))
    }

    /// The names of the offered tools, in order.
    pub fn tool_names(&self) -> Vec<&str> {
        self.tools
            .iter()
            .filter_map(|tool| tool["function"]["name"].as_str())
            .collect()
    }
}

impl Message {
    fn parse(json: &Value) -> Self {
        let calls = json["tool_calls"].as_array().into_iter().flatten();
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Self {
            role: word(&json["role"]),
            text: content_text(&json["content"]),
            calls: calls
                .map(|call| &call["function"])
                .map(|function| (word(&function["name"]), word(&function["arguments"])))
                .collect(),
        }
    }
}

fn content_text(content: &Value) -> String {
    let of_parts = |parts: &Vec<Value>| {
        parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n")
    };
    content.as_str().map_or_else(
        || content.as_array().map(of_parts).unwrap_or_default(),
        str::to_owned,
    )
}
