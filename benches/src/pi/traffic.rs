//! What pi sent to its models, and what that means for a provider: pauses, repeated prefixes, tokens.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, Result};
use goal_sim::Exchange;
use goal_tests::{EXECUTOR, Request};
use serde_json::Value;
use tiktoken_rs::CoreBPE;

/// Where a request stops being a continuation of the one before it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Break {
    /// The offered tools differ.
    Tools,
    /// The system prompt differs.
    System,
    /// A message that was sent before is another one now, or is gone.
    Message {
        /// Its place in the conversation.
        at: usize,
    },
}

impl Break {
    /// In words, without its place.
    pub(super) const fn cause(&self) -> &'static str {
        match self {
            Self::Tools => "other tools offered",
            Self::System => "system prompt changed",
            Self::Message { .. } => "earlier message changed or gone",
        }
    }
}

/// The first thing in which `next` is no continuation of `previous`; `None` if it is one.
pub(super) fn first_break(previous: &Request, next: &Request) -> Option<Break> {
    if previous.json["tools"] != next.json["tools"] {
        return Some(Break::Tools);
    }
    let messages = |request: &Request| request.json["messages"].as_array().cloned();
    let (before, after) = (messages(previous)?, messages(next)?);
    let same = |at: &usize| before.get(*at) == after.get(*at);
    let at = (0..before.len()).find(|at| !same(at))?;
    let is_system = before[at]["role"] == "system" || before[at]["role"] == "developer";
    Some(if is_system {
        Break::System
    } else {
        Break::Message { at }
    })
}

/// The executor's requests that follow each other with no summary between them, which nobody could
/// continue.
pub(super) fn pairs(exchanges: &[Exchange]) -> Vec<(&Request, &Request)> {
    let asked = exchanges
        .iter()
        .map(|exchange| exchange.request.as_ref())
        .filter(|request| request.model == EXECUTOR);
    let asked: Vec<&Request> = asked.collect();
    asked
        .windows(2)
        .filter(|pair| pair.iter().all(|request| !request.is_compaction()))
        .map(|pair| (pair[0], pair[1]))
        .collect()
}

/// Between the end of an answer and the next request, with that request.
pub(super) fn pauses(exchanges: &[Exchange]) -> Vec<(Duration, &Request)> {
    let pause = |pair: &[Exchange]| Some(pair[1].request.arrived.saturating_sub(pair[0].ended?));
    exchanges
        .windows(2)
        .filter_map(|pair| Some((pause(pair)?, pair[1].request.as_ref())))
        .collect()
}

/// Whether a request brings the result of a tool; else it begins a run.
pub(super) fn brings_result(request: &Request) -> bool {
    request
        .messages
        .last()
        .is_some_and(|message| message.role == "tool")
}

/// Counts tokens as OpenAI's `o200k` does. Every text is counted once.
pub(super) struct Tokens {
    tokenizer: CoreBPE,
    known: BTreeMap<String, usize>,
}

impl Tokens {
    /// The tokenizer with its table, which is part of this program.
    pub(super) fn new() -> Result<Self> {
        let tokenizer = tiktoken_rs::o200k_base().context("the tokenizer's table")?;
        Ok(Self {
            tokenizer,
            known: BTreeMap::new(),
        })
    }

    fn of_text(&mut self, text: &str) -> usize {
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        let count = self.tokenizer.encode_ordinary(text).len();
        self.known.insert(text.to_owned(), count);
        count
    }

    /// Of the offered tools, as JSON.
    pub(super) fn of_tools(&mut self, request: &Request) -> usize {
        request
            .tools
            .iter()
            .map(|tool| self.of_text(&tool.to_string()))
            .sum()
    }

    /// Of each message, without what a provider puts around it.
    pub(super) fn of_messages(&mut self, request: &Request) -> Vec<usize> {
        let of_message = |message: &goal_sim::Message| {
            let calls: usize = message
                .calls
                .iter()
                .map(|(name, arguments)| self.of_text(name) + self.of_text(arguments))
                .sum();
            self.of_text(&message.text) + calls
        };
        request.messages.iter().map(of_message).collect()
    }

    /// Of all that the scripted models did not write: tools, system prompt, and what the user and the
    /// extensions said.
    pub(super) fn of_host(&mut self, request: &Request) -> usize {
        let counts = self.of_messages(request);
        let of_host = |role: &str| role != "assistant" && role != "tool";
        let messages: usize = counts
            .iter()
            .zip(&request.messages)
            .filter(|(_, message)| of_host(&message.role))
            .map(|(count, _)| *count)
            .sum();
        self.of_tools(request) + messages
    }

    /// Of what a provider that keeps the longest common beginning must read anew.
    pub(super) fn read_anew(&mut self, previous: &Request, next: &Request) -> usize {
        let counts = self.of_messages(next);
        let from = match first_break(previous, next) {
            Some(Break::Tools) => return self.of_tools(next) + counts.iter().sum::<usize>(),
            Some(Break::System) => 0,
            Some(Break::Message { at }) => at,
            None => previous.messages.len(),
        };
        counts.iter().skip(from).sum()
    }
}

/// The bytes of a request that the scripted models did not write.
pub(super) fn host_bytes(request: &Request) -> usize {
    let messages = request.json["messages"].as_array();
    let of_host = messages.into_iter().flatten().filter(|message| {
        let role = message["role"].as_str().unwrap_or_default();
        role != "assistant" && role != "tool"
    });
    let bytes = |value: &Value| value.to_string().len();
    of_host.map(bytes).sum::<usize>() + bytes(&request.json["tools"])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A request as the server would have parsed it.
    fn request(tools: &[&str], messages: &[(&str, &str)]) -> Request {
        let tools: Vec<Value> = tools.iter().map(|name| json!({ "name": name })).collect();
        let said: Vec<Value> = messages
            .iter()
            .map(|(role, text)| json!({ "role": role, "content": text }))
            .collect();
        let parsed = messages.iter().map(|(role, text)| goal_sim::Message {
            role: (*role).to_owned(),
            text: (*text).to_owned(),
            calls: Vec::new(),
        });
        Request {
            number: 0,
            nth: 0,
            model: EXECUTOR.to_owned(),
            messages: parsed.collect(),
            json: json!({ "tools": tools, "messages": said }),
            tools,
            raw: Vec::new(),
            authorization: None,
            arrived: Duration::ZERO,
        }
    }

    const BEFORE: [(&str, &str); 2] = [("system", "You help."), ("user", "Count the stars.")];
    const ANSWER: (&str, &str) = ("assistant", "One.");

    #[test]
    fn a_request_that_begins_like_the_one_before_continues_it() {
        let before = request(&["read"], &BEFORE);
        let more = [BEFORE[0], BEFORE[1], ANSWER];
        assert_eq!(first_break(&before, &request(&["read"], &more)), None);
    }

    #[test]
    fn other_tools_another_prompt_and_a_changed_or_missing_message_break_it() {
        let before = request(&["read"], &BEFORE);
        let broken = |tools: &[&str], messages: &[(&str, &str)]| {
            first_break(&before, &request(tools, messages))
        };
        assert_eq!(broken(&["read", "bash"], &BEFORE), Some(Break::Tools));
        let prompt = [("system", "You count."), BEFORE[1]];
        assert_eq!(broken(&["read"], &prompt), Some(Break::System));
        let changed = [BEFORE[0], ("user", "Stale.")];
        assert_eq!(broken(&["read"], &changed), Some(Break::Message { at: 1 }));
        assert_eq!(
            broken(&["read"], &BEFORE[..1]),
            Some(Break::Message { at: 1 })
        );
    }

    #[test]
    fn what_follows_the_first_change_is_read_anew_and_all_of_it_if_the_tools_change() {
        let mut tokens = Tokens::new().unwrap();
        let before = request(&["read"], &BEFORE);
        let longer = [BEFORE[0], BEFORE[1], ANSWER];
        let longer = request(&["read"], &longer);
        let answer = tokens.of_text(ANSWER.1);
        assert_eq!(tokens.read_anew(&before, &longer), answer);
        let changed = [BEFORE[0], ("user", "Stale."), ANSWER];
        let changed = request(&["read"], &changed);
        let stale = tokens.of_text("Stale.");
        assert_eq!(tokens.read_anew(&before, &changed), stale + answer);
        let retooled = request(&["bash"], &BEFORE);
        let whole = tokens.of_host(&retooled);
        assert_eq!(tokens.read_anew(&before, &retooled), whole);
    }
}
