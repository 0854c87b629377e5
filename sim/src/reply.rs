//! What a scripted model answers to one request.

use serde::Deserialize;
use serde_json::Value;

/// One answer of a scripted model: a streamed message, or a refusal with an HTTP status.
///
/// Everything has a neutral default, so a step names only what it is about:
/// `Reply::text("done")`, `Reply::call("bash", json!({"command": "ls"})).prompt_tokens(90_000)`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reply {
    /// Silence before the first byte of the answer.
    pub delay_ms: u64,
    /// Refuse with this HTTP status instead of answering.
    pub status: Option<u16>,
    /// The body of a refusal; plain text is wrapped as an OpenAI error object.
    pub body: String,
    /// Reasoning, streamed first as `reasoning_content`.
    pub thinking: String,
    /// Visible text, streamed after the reasoning.
    pub text: String,
    /// So many further words behind the text, to fill the context.
    pub filler_words: usize,
    /// Tool calls, streamed after the text.
    pub calls: Vec<ToolCall>,
    /// How the answer ends.
    pub end: End,
    /// Cut reasoning, text and arguments into chunks with pauses between them.
    pub drip: Option<Drip>,
    /// The token counts reported with the answer.
    pub usage: Usage,
    /// A point at which the answer waits for [`crate::ModelServer::release`]. Rust tests only: a
    /// scenario file has nobody who could release it.
    #[serde(skip)]
    pub hold: Option<Hold>,
}

/// One tool call of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "CallText")]
pub struct ToolCall {
    /// The tool's name, known to pi or not.
    pub name: String,
    /// The arguments exactly as streamed; they need not be JSON.
    pub arguments: String,
}

/// How an answer ends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// `tool_calls` if there are calls, else `stop`.
    #[default]
    Natural,
    /// `length`: the output limit cut the answer.
    Length,
    /// `content_filter`.
    ContentFilter,
    /// Any other finish reason.
    Reason(String),
    /// The connection breaks after the content.
    Drop,
    /// The stream ends cleanly, but no finish reason was sent.
    Close,
    /// Silence after the content, until the client goes away.
    Stall,
    /// The text is repeated for ever, until the client goes away.
    Endless,
}

/// How content is cut into chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drip {
    /// The number of chunks of each part.
    pub chunks: usize,
    /// The pause after each chunk.
    pub pause_ms: u64,
}

/// Token counts reported in the last chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// Tokens of the prompt, cached ones included; pi compares it with the context window.
    pub prompt: u64,
    /// Tokens of the answer.
    pub completion: u64,
    /// The part of `prompt` that came from a cache.
    pub cached: u64,
}

/// Where an answer waits for the test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hold {
    /// Before the first byte.
    Start(String),
    /// After the content, before the finish reason.
    BeforeEnd(String),
}

impl Default for Usage {
    fn default() -> Self {
        Self {
            prompt: 100,
            completion: 10,
            cached: 0,
        }
    }
}

impl Reply {
    /// Answers with text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Answers with reasoning only; chain [`Reply::and_text`] for text after it.
    pub fn thinking(thinking: impl Into<String>) -> Self {
        Self {
            thinking: thinking.into(),
            ..Self::default()
        }
    }

    /// Answers with one tool call; chain [`Reply::and_call`] for more.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers write `json!({…})` in place"
    )]
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::raw_call(name, arguments.to_string())
    }

    /// Answers with one tool call whose arguments are sent as they are, JSON or not.
    pub fn raw_call(name: &str, arguments: impl Into<String>) -> Self {
        Self::default().and_raw_call(name, arguments)
    }

    /// Refuses the request: `Reply::status(500, "overloaded")`.
    pub fn status(status: u16, body: impl Into<String>) -> Self {
        Self {
            status: Some(status),
            body: body.into(),
            ..Self::default()
        }
    }

    /// Adds text, streamed before the tool calls.
    pub fn and_text(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    /// Adds a tool call to the same message.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers write `json!({…})` in place"
    )]
    pub fn and_call(self, name: &str, arguments: Value) -> Self {
        self.and_raw_call(name, arguments.to_string())
    }

    /// Adds a tool call with raw arguments to the same message.
    pub fn and_raw_call(mut self, name: &str, arguments: impl Into<String>) -> Self {
        self.calls.push(ToolCall {
            name: name.to_owned(),
            arguments: arguments.into(),
        });
        self
    }

    /// Ends the answer in the given way.
    pub fn ending(mut self, end: End) -> Self {
        self.end = end;
        self
    }

    /// Ends with `length`, as an answer does that met its output limit.
    pub fn truncated(self) -> Self {
        self.ending(End::Length)
    }

    /// Breaks the connection after the content.
    pub fn dropped(self) -> Self {
        self.ending(End::Drop)
    }

    /// Falls silent after the content until the client goes away.
    pub fn stalled(self) -> Self {
        self.ending(End::Stall)
    }

    /// Repeats the text until the client goes away, one chunk every `pause_ms`.
    pub fn endless(self, pause_ms: u64) -> Self {
        self.drip(1, pause_ms).ending(End::Endless)
    }

    /// Waits this long before the first byte.
    pub fn after_ms(mut self, delay_ms: u64) -> Self {
        self.delay_ms = delay_ms;
        self
    }

    /// Cuts each part into `chunks` chunks with a pause after each.
    pub fn drip(mut self, chunks: usize, pause_ms: u64) -> Self {
        self.drip = Some(Drip { chunks, pause_ms });
        self
    }

    /// Reports this many prompt tokens, to bring pi to the edge of its context window.
    pub fn prompt_tokens(mut self, prompt: u64) -> Self {
        self.usage.prompt = prompt;
        self
    }

    /// Reports these token counts.
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Waits before the first byte until the test releases `gate`.
    pub fn held(mut self, gate: &str) -> Self {
        self.hold = Some(Hold::Start(gate.to_owned()));
        self
    }

    /// Streams the content, then waits until the test releases `gate`, then ends.
    pub fn held_before_end(mut self, gate: &str) -> Self {
        self.hold = Some(Hold::BeforeEnd(gate.to_owned()));
        self
    }

    /// Whether this refuses a request that the script has no step for.
    pub fn is_beyond_script(&self) -> bool {
        crate::script::is_exhausted(self)
    }

    /// The visible text as it is streamed: `text`, and the filler behind it.
    pub fn whole_text(&self) -> String {
        format!("{}{}", self.text, " word".repeat(self.filler_words))
    }

    /// The word for `finish_reason`, or `None` where the stream has none.
    pub(crate) fn finish_reason(&self) -> Option<&str> {
        match &self.end {
            End::Natural if self.calls.is_empty() => Some("stop"),
            End::Natural => Some("tool_calls"),
            End::Length => Some("length"),
            End::ContentFilter => Some("content_filter"),
            End::Reason(word) => Some(word),
            End::Drop | End::Close | End::Stall | End::Endless => None,
        }
    }
}

/// A tool call as a scenario file writes it: a table of arguments, or the raw text of them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallText {
    name: String,
    args: Option<Value>,
    raw_args: Option<String>,
}

impl TryFrom<CallText> for ToolCall {
    type Error = &'static str;

    fn try_from(call: CallText) -> Result<Self, Self::Error> {
        let arguments = match (call.args, call.raw_args) {
            (Some(_), Some(_)) => return Err("a call has `args` or `raw_args`, not both"),
            (Some(args), None) => args.to_string(),
            (None, Some(raw)) => raw,
            (None, None) => "{}".to_owned(),
        };
        Ok(Self {
            name: call.name,
            arguments,
        })
    }
}
