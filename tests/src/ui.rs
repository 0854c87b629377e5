//! What the extension shows, as it arrives over RPC.

use serde_json::{Value, json};

/// How dialogs are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialogs {
    /// `confirm` with yes; other dialogs are cancelled.
    Yes,
    /// `confirm` with no; other dialogs are cancelled.
    No,
    /// Every dialog is dismissed.
    Cancel,
    /// Nobody answers; the test may do it with [`crate::Pi::send`].
    Ignore,
}

/// One notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// `info`, `warning` or `error`.
    pub level: String,
    /// What it says.
    pub text: String,
}

impl Dialogs {
    /// The answer to a dialog request; `None` for requests that want none.
    pub(crate) fn answer(self, request: &Value) -> Option<Value> {
        let method = request["method"].as_str()?;
        if !matches!(method, "confirm" | "select" | "input" | "editor") {
            return None;
        }
        let mut answer = json!({ "type": "extension_ui_response", "id": request["id"] });
        match (self, method) {
            (Self::Ignore, _) => return None,
            (Self::Yes, "confirm") => answer["confirmed"] = true.into(),
            (Self::No, "confirm") => answer["confirmed"] = false.into(),
            (Self::Yes | Self::No | Self::Cancel, _) => answer["cancelled"] = true.into(),
        }
        Some(answer)
    }
}

/// Whether a record is a UI request with that method.
pub(crate) fn is_request(record: &Value, method: &str) -> bool {
    record["type"] == "extension_ui_request" && record["method"] == method
}

/// The notification in a record, if it is one.
pub(crate) fn notice(record: &Value) -> Option<Notice> {
    is_request(record, "notify").then(|| Notice {
        level: record["notifyType"].as_str().unwrap_or("info").to_owned(),
        text: record["message"].as_str().unwrap_or_default().to_owned(),
    })
}
