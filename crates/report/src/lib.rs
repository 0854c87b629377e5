//! The report: what a session file says about its goals, afterwards.
//!
//! [`read`] folds the current branch of a pi session file into a [`Report`]; [`markdown`], [`html`]
//! and [`json`] write it down. Reading trusts nothing: a line that is torn or foreign is skipped and
//! counted, and every text others wrote is shown as text, whatever is in it. Nothing here is
//! decided: the core judges goals, this crate only tells what happened to them.

mod build;
mod chronicle;
mod entry;
mod error;
mod html;
mod json;
mod markdown;
mod model;
mod money;
mod session;
mod time;
mod words;

pub use build::{read, read_lines};
pub use error::ReportError;
pub use html::html;
pub use json::json;
pub use markdown::markdown;
pub use model::{
    Audit, Event, Goal, Happening, Origin, Outcome, Report, Run, RunResult, Session, Spent,
    Standing, State, Totals,
};

/// What every report says of itself at its beginning, so that one is known when it is seen.
const MARK: &str = "goal-auditor report";

/// Whether a file that begins so is a report, in any format, of any version.
#[must_use]
pub fn is_report(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head);
    [
        format!("<!-- {MARK} -->"),
        format!("<!DOCTYPE html><!-- {MARK} -->"),
        format!("{{\n  \"kind\": \"{MARK}\""),
    ]
    .iter()
    .any(|beginning| head.starts_with(beginning))
}
