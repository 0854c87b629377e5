//! A report as one HTML file: no script, nothing loaded from anywhere, light and dark, fit to print.

mod audits;
mod goal;
mod runs;
mod text;

use goal_prompts::safe::visible;
use maud::{DOCTYPE, Markup, PreEscaped, html as markup};

use crate::model::{Goal, Report, Standing};
use crate::{MARK, time, words};

const STYLE: &str = include_str!("html/style.css");
/// Whatever a text might try: the page may load and run nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// The report as a page. maud escapes every text where it is put in; what hides, reorders or commands
/// is made visible in the whole page at the end, so that no place can forget it.
#[must_use]
pub fn html(report: &Report) -> String {
    let title = report.goals.first().map(words::title).unwrap_or_default();
    let page = markup! {
        (DOCTYPE)
        (PreEscaped(format!("<!-- {MARK} -->")))
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { "Goal report: " (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    (head(report))
                    @for (index, goal) in report.goals.iter().enumerate() {
                        (self::goal::article(goal, index))
                    }
                    (foot(report))
                }
            }
        }
    };
    visible(&page.into_string()).into_owned()
}

fn head(report: &Report) -> Markup {
    let session = &report.session;
    markup! {
        header.page {
            p.brand { "Goal report" }
            dl.session {
                @if let Some(name) = &session.name {
                    div { dt { "Session" } dd { bdi { (name) } } }
                }
                @if let Some(cwd) = &session.cwd {
                    div { dt { "Folder" } dd { bdi { (cwd) } } }
                }
                @if let (Some(first), Some(last)) = (session.started_at, session.last_at) {
                    div { dt { "From" } dd { (time::moment(first)) " to " (until(first, last)) " UTC" } }
                }
            }
            @for note in &report.notes { p.note { (note) } }
            @if report.goals.len() > 1 { (contents(&report.goals)) }
        }
    }
}

/// The later end of a span of time, without the day if it is the same one.
fn until(first: u64, last: u64) -> String {
    if time::day(first) == time::day(last) {
        time::clock(last)
    } else {
        time::moment(last)
    }
}

fn contents(goals: &[Goal]) -> Markup {
    markup! {
        nav aria-label="Goals" {
            ol.goals {
                @for (index, goal) in goals.iter().enumerate() {
                    li {
                        a href=(format!("#goal{index}")) { (words::title(goal)) }
                        (badge(goal.state.standing))
                    }
                }
            }
        }
    }
}

/// How a goal stands, in its colour.
fn badge(standing: Standing) -> Markup {
    let tone = match standing {
        Standing::Approved => "good",
        Standing::Accepted => "own",
        Standing::Paused | Standing::Held => "warn",
        Standing::Pursuing => "live",
        Standing::Cleared | Standing::Replaced | Standing::Ended => "past",
    };
    let sign = match standing {
        Standing::Approved => "✓ ",
        Standing::Accepted => "☞ ",
        Standing::Paused | Standing::Held => "❚❚ ",
        Standing::Pursuing => "▶ ",
        Standing::Cleared | Standing::Replaced | Standing::Ended => "",
    };
    markup! {
        span.badge.(tone) { span aria-hidden="true" { (sign) } (words::standing(standing)) }
    }
}

fn foot(report: &Report) -> Markup {
    markup! {
        footer {
            p { "Made by " (report.generator) " from " bdi { code { (report.session.path) } } "." }
            p {
                "Texts of agents, auditors and tools are quoted as they are. Characters that would hide or \
                 reorder text are shown as ⟦U+XXXX⟧. All times are UTC."
            }
        }
    }
}
