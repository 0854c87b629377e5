//! Fences: untrusted text between two marks that carry a token the text cannot know.
//!
//! ```text
//! <<<begin objective 3f9c>>>
//! whatever the user wrote
//! <<<end objective 3f9c>>>
//! ```
//!
//! The token is fresh for every message and comes from outside. Should the text hold it all the same,
//! it is taken out there, so that only our own end mark can close the fence.

use crate::safe::{cut, entities, is_mark, visible};

/// What stands where a text held the token of its own fence.
const TOKEN_SHOWN: &str = "⟦fence token⟧";

/// Fences a text for the auditor: dangerous code points shown, `&`, `<` and `>` as entities, and after
/// that cut to `max_chars`. `label` is a word of ours.
pub fn for_auditor(token: &str, label: &str, text: &str, max_chars: Option<usize>) -> String {
    FenceToken(token).around(label, &entities(&visible(text)), max_chars)
}

/// Fences a text for the executor, who may have to write it into a file: dangerous code points shown,
/// everything else as it is, and after that cut to `max_chars`. `label` is a word of ours.
pub fn for_executor(token: &str, label: &str, text: &str, max_chars: Option<usize>) -> String {
    FenceToken(token).around(label, &visible(text), max_chars)
}

/// The secret of one fence.
#[derive(Clone, Copy)]
struct FenceToken<'a>(&'a str);

impl FenceToken<'_> {
    fn around(self, label: &str, safe_text: &str, max_chars: Option<usize>) -> String {
        debug_assert!(!self.0.is_empty(), "a fence without a token is no fence");
        let Self(token) = self;
        let mut body = self.taken_out_of(safe_text);
        if let Some(max_chars) = max_chars {
            body = cut(&body, max_chars).into_owned();
        }
        format!("<<<begin {label} {token}>>>\n{body}\n<<<end {label} {token}>>>")
    }

    /// The text without the token, in whatever case and with whatever invisible marks inside it.
    fn taken_out_of(self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if let Some(len) = self.len_at_start_of(rest) {
                out.push_str(TOKEN_SHOWN);
                rest = &rest[len..];
            } else {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
        out
    }

    /// Bytes of `text` that a reader would take for the token.
    fn len_at_start_of(self, text: &str) -> Option<usize> {
        let mut wanted = self.0.chars().peekable();
        wanted.peek()?;
        for (at, c) in text.char_indices() {
            let Some(&next) = wanted.peek() else {
                return Some(at);
            };
            if c.eq_ignore_ascii_case(&next) {
                wanted.next();
            } else if at == 0 || !is_mark(c) {
                return None;
            }
        }
        wanted.peek().is_none().then_some(text.len())
    }
}
