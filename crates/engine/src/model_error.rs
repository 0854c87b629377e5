//! What kind of failure a provider's message tells of.
//!
//! Providers agree on no code that pi passes on, so the words decide. A message that fits nothing
//! is transient: the streak of errored runs bounds what a wrong guess can cost.

use goal_state::ModelErrorKind;

/// Phrases by kind, in lower case. The first kind with a phrase in the message wins, so that a quota
/// message that speaks of a rate is a quota message.
const PHRASES: [(ModelErrorKind, &[&str]); 4] = [
    (
        ModelErrorKind::ContextOverflow,
        &[
            "prompt is too long",
            "prompt too long",
            "prompt exceeds max length",
            "maximum prompt length",
            "maximum allowed input length",
            "context_length_exceeded",
            "context length",
            "context window",
            "context_window",
            "context size",
            "maximum context",
            "exceeds the context",
            "exceeds the limit of",
            "input is too long",
            "input token count",
            "range of input length",
            "too many tokens",
            "token limit",
            "request_too_large",
            "reduce the length",
            "400 status code (no body)",
            "400 (no body)",
        ],
    ),
    (
        ModelErrorKind::Quota,
        &[
            "insufficient_quota",
            "insufficient quota",
            "exceeded your current quota",
            "quota exceeded",
            "quota_exceeded",
            "billing",
            "credit balance",
            "insufficient credits",
            "insufficient balance",
            "out of credits",
            "payment required",
            "out of budget",
            "available balance",
            "usage limit",
            "usagelimit",
            "usage_limit",
            "\"code\":\"1308\"",
            "\"code\":1308",
        ],
    ),
    (
        ModelErrorKind::Authentication,
        &[
            "invalid api key",
            "invalid_api_key",
            "incorrect api key",
            "no api key",
            "api key auth",
            "failed to resolve api key",
            "provider is not configured",
            "has no credentials",
            "api key not valid",
            "authentication",
            "unauthorized",
            "unauthenticated",
            "permission denied",
            "permission_denied",
            "permission_error",
            "forbidden",
            "invalid x-api-key",
            "token expired",
            "token has expired",
        ],
    ),
    (
        ModelErrorKind::UnknownModel,
        &[
            "model not found",
            "model_not_found",
            "no such model",
            "unknown model",
            "unknown provider",
            "does not exist or you do not have access",
            "is not a valid model",
            "invalid model",
            "unsupported model",
        ],
    ),
];

/// Status codes that mean one kind wherever they stand first in the message.
const CODES: [(&str, ModelErrorKind); 5] = [
    ("404", ModelErrorKind::UnknownModel),
    ("401", ModelErrorKind::Authentication),
    ("403", ModelErrorKind::Authentication),
    ("402", ModelErrorKind::Quota),
    ("413", ModelErrorKind::ContextOverflow),
];

/// Classifies a provider's error message.
pub(crate) fn classify(message: &str) -> ModelErrorKind {
    let lower = message.to_lowercase();
    let by_phrase = PHRASES
        .iter()
        .find(|(_, phrases)| phrases.iter().any(|phrase| lower.contains(phrase)))
        .map(|(kind, _)| *kind);
    // A busy server's message may speak of anything; its code tells that time mends it.
    if is_server_error(&lower) {
        return ModelErrorKind::Transient;
    }
    match by_phrase {
        Some(ModelErrorKind::ContextOverflow) if is_throttled(&lower) => ModelErrorKind::Transient,
        found => found.or_else(|| by_code(&lower)).unwrap_or_default(),
    }
}

/// A rate counted in tokens sounds like an overflow ("too many tokens, please wait").
fn is_throttled(lower: &str) -> bool {
    const WORDS: [&str; 6] = [
        "rate limit",
        "rate-limit",
        "rate_limit",
        "too many requests",
        "throttl",
        "per minute",
    ];
    leading_code(lower) == Some("429") || WORDS.iter().any(|word| lower.contains(word))
}

fn is_server_error(lower: &str) -> bool {
    leading_code(lower).is_some_and(|code| code.starts_with('5'))
}

fn by_code(lower: &str) -> Option<ModelErrorKind> {
    let code = leading_code(lower)?;
    CODES
        .iter()
        .find(|(known, _)| *known == code)
        .map(|(_, kind)| *kind)
}

/// The three digits a message begins with, perhaps after `error`, `http` or the name of an API:
/// `401: {…}`, `github-copilot API error (413): {…}`.
fn leading_code(lower: &str) -> Option<&str> {
    let rest = lower
        .split_once(" api error (")
        .map_or(lower, |(_, rest)| rest)
        .trim_start()
        .trim_start_matches("error")
        .trim_start_matches([':', ' ']);
    let rest = rest
        .trim_start_matches("http")
        .trim_start_matches([':', ' ']);
    let code = rest.get(..3)?;
    let ends = rest
        .as_bytes()
        .get(3)
        .is_none_or(|byte| !byte.is_ascii_alphanumeric());
    (ends && code.bytes().all(|byte| byte.is_ascii_digit())).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_from_the_wild_are_told_apart() {
        use ModelErrorKind::*;
        for (message, kind) in [
            (
                "prompt is too long: 210000 tokens > 200000",
                ContextOverflow,
            ),
            (
                "400: {\"error\":{\"code\":\"context_length_exceeded\"}}",
                ContextOverflow,
            ),
            ("401: {\"error\":\"bad key\"}", Authentication),
            ("403 forbidden", Authentication),
            ("No API key for provider: x", Authentication),
            ("429: {\"error\":{\"code\":\"insufficient_quota\"}}", Quota),
            ("402: pay first", Quota),
            (
                "404: {\"error\":{\"code\":\"model_not_found\"}}",
                UnknownModel,
            ),
            (
                "404: The model `x` does not exist or you do not have access to it.",
                UnknownModel,
            ),
            // As pi 1.6.0 lists them for the providers it knows.
            (
                "Input length (265330) exceeds model's maximum context length (262144).",
                ContextOverflow,
            ),
            (
                "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
                ContextOverflow,
            ),
            (
                "Please reduce the length of the messages or completion",
                ContextOverflow,
            ),
            (
                "Input length 9 exceeds the maximum allowed input length of 8 tokens.",
                ContextOverflow,
            ),
            (
                "the request exceeds the available context size, try increasing it",
                ContextOverflow,
            ),
            (
                "prompt token count of 9 exceeds the limit of 8",
                ContextOverflow,
            ),
            (
                "github-copilot API error (413): {\"message\":\"failed to parse request\"}",
                ContextOverflow,
            ),
            (
                "invalid params, context window exceeds limit",
                ContextOverflow,
            ),
            (
                "Your request exceeded model token limit: 8 (requested: 9)",
                ContextOverflow,
            ),
            (
                "Prompt has 9 tokens, but the configured context size is 8 tokens",
                ContextOverflow,
            ),
            ("400 status code (no body)", ContextOverflow),
            ("413 status code (no body)", ContextOverflow),
            (
                "{\"code\":\"1261\",\"message\":\"Prompt too long\"}",
                ContextOverflow,
            ),
            (
                "Provider finish_reason: model_context_window_exceeded",
                ContextOverflow,
            ),
            ("Range of input length should be [1, 8]", ContextOverflow),
            (
                "Throttling error: Too many tokens, please wait before trying again.",
                Transient,
            ),
            (
                "429: tokens per minute exceeds the limit of 1000",
                Transient,
            ),
            ("GoUsageLimitError: Monthly usage limit reached", Quota),
            ("429: {\"code\":\"1308\",\"message\":\"plan\"}", Quota),
            (
                "API key auth failed for provider x: Failed to resolve API key",
                Authentication,
            ),
            ("Provider is not configured: x", Authentication),
            ("Unknown provider: x", UnknownModel),
            ("404: The model `x` does not exist", UnknownModel),
            ("503: {\"type\":\"server_error\"}", Transient),
            ("500: {\"error\":\"billing service is down\"}", Transient),
            ("429: rate-limited upstream", Transient),
            (
                "ThrottlingException: Too many tokens, please wait before trying again.",
                Transient,
            ),
            (
                "429: {\"error\":{\"type\":\"rate_limit_error\",\"message\":\"would exceed 40,000 input \
                 tokens per minute; reduce the length\"}}",
                Transient,
            ),
            ("You exceeded your current quota; see rate limits", Quota),
            ("Stream ended without finish_reason", Transient),
            ("socket hang up", Transient),
            ("", Transient),
            ("5001 things", Transient),
        ] {
            assert_eq!(classify(message), kind, "{message}");
        }
    }
}
