//! One goal of the page.

use maud::{Markup, html as markup};

use super::text::block;
use super::{audits, badge, runs};
use crate::model::{Event, Goal, Happening, Outcome, Spent, State, Totals};
use crate::{money, time, words};

/// Bytes of an objective from which it is folded away.
const LONG_OBJECTIVE: usize = 1_500;
/// Happenings from which the history is folded away.
const LONG_HISTORY: usize = 30;

/// A goal; all but the first are folded.
pub(super) fn article(goal: &Goal, index: usize) -> Markup {
    let body = markup! {
        (standing(goal))
        (facts(goal))
        (objective(goal))
        (runs::section(goal, index))
        (audits::section(goal, index))
        (history(goal, index))
        (gate(goal))
    };
    let head = markup! {
        (badge(goal.state.standing))
        h1 dir="auto" { (words::title(goal)) }
    };
    let id = format!("goal{index}");
    markup! {
        @if index == 0 {
            article id=(id) { div.head { (head) } (body) }
        } @else {
            article id=(id) { details.fold { summary { div.head { (head) } } (body) } }
        }
    }
}

fn standing(goal: &Goal) -> Markup {
    let State { detail, .. } = &goal.state;
    markup! {
        p.lead dir="auto" { (words::state(goal)) }
        @if let Some(detail) = detail { blockquote { (block(detail)) } }
    }
}

fn facts(goal: &Goal) -> Markup {
    let totals = &goal.totals;
    let tools = tool_calls(totals);
    markup! {
        dl.facts {
            (fact("Active", &time::duration(goal.active_ms), &format!("set {}", time::moment(goal.created_at))))
            (fact("Runs", &words::number(totals.runs as u64), &parts(&words::runs(goal))))
            (fact("Audits", &words::number(totals.audits as u64), &parts(&words::audits(goal))))
            (spent("Agent", &totals.executor, &tools))
            (spent("Auditor", &totals.auditor, &format!("{} of auditing", time::duration(totals.audits_ms))))
        }
    }
}

fn tool_calls(totals: &Totals) -> String {
    let all = words::counted(
        totals.calls_ok + totals.calls_failed,
        "tool call",
        "tool calls",
    );
    match totals.calls_failed {
        0 => all,
        failed => format!("{all}, {} failed", words::number(failed)),
    }
}

fn fact(name: &str, value: &str, more: &str) -> Markup {
    markup! {
        div { dt { (name) } dd { span.big { (value) } @if !more.is_empty() { span.more { (more) } } } }
    }
}

fn spent(name: &str, spent: &Spent, more: &str) -> Markup {
    let tokens = format!("{} tokens", money::tokens(spent.total_tokens));
    match money::cost(spent.cost) {
        Some(cost) => fact(name, &cost, &format!("{tokens} · {more}")),
        None => fact(name, &tokens, more),
    }
}

fn parts(parts: &[(usize, &'static str)]) -> String {
    let parts: Vec<String> = parts
        .iter()
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    parts.join(" · ")
}

fn objective(goal: &Goal) -> Markup {
    let text = &goal.objective;
    // The heading says it already.
    if text.trim() == words::title(goal) {
        return Markup::default();
    }
    markup! {
        section {
            h2 { "Objective" }
            @if text.len() > LONG_OBJECTIVE {
                details { summary { "Show all " (words::number(text.chars().count() as u64)) " characters" } (block(text)) }
            } @else {
                (block(text))
            }
        }
    }
}

fn history(goal: &Goal, index: usize) -> Markup {
    let list = markup! {
        ol.history {
            @for happened in &goal.history { (happening(goal, happened, index)) }
        }
    };
    markup! {
        section {
            h2 { "History" }
            @if goal.history.len() > LONG_HISTORY {
                details { summary { "Show all " (words::counted(goal.history.len() as u64, "event", "events")) } (list) }
            } @else {
                (list)
            }
        }
    }
}

fn happening(goal: &Goal, happened: &Happening, index: usize) -> Markup {
    let text = words::happening(goal, happened);
    markup! {
        li class=(tone(goal, happened)) {
            time { (time::moment(happened.at)) }
            div {
                @if let Some(number) = happened.audit {
                    a href=(format!("#goal{index}-audit{number}")) { (text) }
                } @else {
                    (text)
                }
                @if let (Event::Edited, Some(objective)) = (happened.event, &happened.objective) {
                    (block(objective))
                }
                @for change in &happened.changes { p.more { (change) } }
            }
        }
    }
}

fn tone(goal: &Goal, happened: &Happening) -> &'static str {
    match happened.event {
        Event::Approved => "good",
        Event::Accepted => "own",
        Event::Paused | Event::Held => "warn",
        Event::Audited => goal
            .audits
            .iter()
            .rev()
            .find(|audit| Some(audit.number) == happened.audit)
            .map_or("past", |audit| outcome_tone(audit.outcome)),
        Event::Set | Event::Edited | Event::Resumed => "live",
        Event::Changed | Event::Cleared | Event::Replaced | Event::Ended => "past",
    }
}

pub(super) const fn outcome_tone(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Approved => "good",
        Outcome::Disapproved => "bad",
        Outcome::NoVerdict | Outcome::Failed | Outcome::Stale => "warn",
        Outcome::Aborted | Outcome::Unknown => "past",
    }
}

fn gate(goal: &Goal) -> Markup {
    markup! {
        section.gate {
            details {
                summary { "What it is judged by" }
                dl.pairs {
                    @for (name, value) in words::gate(&goal.gate) {
                        div { dt { (name) } dd { (value) } }
                    }
                    div { dt { "goal" } dd { (goal.id) } }
                }
            }
        }
    }
}
