//! What is printed about a pi when a test fails.

use std::fmt::Write;

use serde_json::Value;

use crate::{World, ui};

/// How many of the last records and session entries are shown.
const TAIL: usize = 14;
/// How many characters of each are shown.
const WIDTH: usize = 240;

/// The report.
pub(crate) fn of(world: &World, records: &[Value], stderr: &str) -> String {
    let mut text = String::from("\n--- model requests ---\n");
    for exchange in world.server.exchanges() {
        let request = &exchange.request;
        let role = request
            .messages
            .last()
            .map_or("nothing", |message| &message.role);
        let _ = writeln!(
            text,
            "{:>3} {}#{} {:?}, last {role}: {}\n      -> {}",
            request.number,
            if request.is_compaction() {
                "summary by "
            } else {
                ""
            }
            .to_owned()
                + &request.model,
            request.nth,
            exchange.fate,
            cut(&format!("{:?}", request.last_text())),
            cut(&summary(&exchange.reply)),
        );
    }
    text.push_str("--- notices ---\n");
    for notice in records.iter().filter_map(ui::notice) {
        let _ = writeln!(text, "{}: {}", notice.level, cut(&notice.text));
    }
    let _ = writeln!(
        text,
        "--- last records of pi ({} in all) ---",
        records.len()
    );
    let worth = |record: &&Value| record["type"] != "message_update";
    let shown: Vec<_> = records.iter().filter(worth).collect();
    lines(&mut text, &shown);
    // It is written while a test fails: what cannot be read must not fail a second time.
    let read = std::panic::AssertUnwindSafe(|| world.session());
    let session = std::panic::catch_unwind(read).unwrap_or_default();
    let _ = writeln!(text, "--- last entries of {} ---", session.path.display());
    lines(&mut text, &session.entries.iter().collect::<Vec<_>>());
    if let Some(torn) = &session.torn {
        let _ = writeln!(text, "torn: {}", cut(torn));
    }
    if !stderr.is_empty() {
        let _ = writeln!(text, "--- stderr of pi ---\n{stderr}");
    }
    text
}

/// The reply without its defaults.
fn summary(reply: &goal_sim::Reply) -> String {
    let mut parts = Vec::new();
    if let Some(status) = reply.status {
        parts.push(format!("HTTP {status} {}", reply.body));
    }
    if !reply.thinking.is_empty() {
        parts.push(format!("thinking {:?}", reply.thinking));
    }
    if !reply.text.is_empty() {
        parts.push(format!("text {:?}", reply.text));
    }
    parts.extend(
        reply
            .calls
            .iter()
            .map(|call| format!("{}({})", call.name, call.arguments)),
    );
    parts.push(format!("{:?}", reply.end));
    parts.join(", ")
}

fn lines(text: &mut String, values: &[&Value]) {
    for value in values.iter().skip(values.len().saturating_sub(TAIL)) {
        let _ = writeln!(text, "{}", cut(&value.to_string()));
    }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= WIDTH {
        return text.to_owned();
    }
    let head: String = text.chars().take(WIDTH * 2 / 3).collect();
    let tail: Vec<char> = text.chars().rev().take(WIDTH / 3).collect();
    format!("{head} … {}", tail.into_iter().rev().collect::<String>())
}
