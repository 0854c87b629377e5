//! The shapes of an OpenAI chat completion on the wire.

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};

use crate::Usage;

/// The last line of a complete stream.
pub(super) const DONE: Bytes = Bytes::from_static(b"data: [DONE]\n\n");

/// A JSON response.
pub(super) fn json(status: u16, value: &Value) -> Response {
    respond(status, "application/json", Body::from(value.to_string()))
}

/// A response with that status, kind and body.
pub(super) fn respond(status: u16, kind: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// The body of `/v1/models`.
pub(super) fn model_list<'a>(ids: impl Iterator<Item = &'a str>) -> Value {
    let models: Vec<_> = ids
        .map(|id| json!({ "id": id, "object": "model" }))
        .collect();
    json!({ "object": "list", "data": models })
}

/// The body of a refusal. A body that is JSON already stays as it is.
pub(super) fn refusal(status: u16, body: &str) -> Response {
    if serde_json::from_str::<Value>(body).is_ok_and(|value| value.is_object()) {
        return respond(status, "application/json", Body::from(body.to_owned()));
    }
    json(
        status,
        &json!({ "error": { "message": body, "type": "goal_sim", "code": status } }),
    )
}

/// Builds the chunks of one completion.
pub(super) struct Chunks {
    id: String,
    model: String,
}

impl Chunks {
    pub(super) fn new(number: usize, model: String) -> Self {
        Self {
            id: format!("sim-{number}"),
            model,
        }
    }

    pub(super) fn role(&self) -> Bytes {
        self.delta(&json!({ "role": "assistant", "content": "" }))
    }

    pub(super) fn thinking(&self, piece: &str) -> Bytes {
        self.delta(&json!({ "reasoning_content": piece }))
    }

    pub(super) fn text(&self, piece: &str) -> Bytes {
        self.delta(&json!({ "content": piece }))
    }

    /// Opens a tool call; its arguments follow.
    pub(super) fn call_start(&self, index: usize, name: &str) -> Bytes {
        let id = format!("call_{}_{index}", self.id.replace('-', "_"));
        let function = json!({ "name": name, "arguments": "" });
        let call = json!({ "index": index, "id": id, "type": "function", "function": function });
        self.delta(&json!({ "tool_calls": [call] }))
    }

    pub(super) fn call_arguments(&self, index: usize, piece: &str) -> Bytes {
        let call = json!({ "index": index, "function": { "arguments": piece } });
        self.delta(&json!({ "tool_calls": [call] }))
    }

    pub(super) fn finish(&self, reason: &str) -> Bytes {
        self.chunk(
            &json!([{ "index": 0, "delta": {}, "finish_reason": reason }]),
            &Value::Null,
        )
    }

    /// The usage comes alone, after the finish reason, as `include_usage` asks.
    pub(super) fn usage(&self, usage: Usage) -> Bytes {
        let counts = json!({
            "prompt_tokens": usage.prompt,
            "completion_tokens": usage.completion,
            "total_tokens": usage.prompt + usage.completion,
            "prompt_tokens_details": { "cached_tokens": usage.cached },
        });
        self.chunk(&json!([]), &counts)
    }

    fn delta(&self, delta: &Value) -> Bytes {
        self.chunk(
            &json!([{ "index": 0, "delta": delta, "finish_reason": null }]),
            &Value::Null,
        )
    }

    fn chunk(&self, choices: &Value, usage: &Value) -> Bytes {
        let chunk = json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": 0,
            "model": self.model,
            "choices": choices,
            "usage": usage,
        });
        Bytes::from(format!("data: {chunk}\n\n"))
    }
}
