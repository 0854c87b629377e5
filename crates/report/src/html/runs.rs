//! The runs of a goal: a bar each, and a table.

use std::cmp::Ordering;

use goal_prompts::safe::for_display;
use maud::{Markup, html as markup};

use super::goal::outcome_tone;
use crate::model::{Event, Goal, Happening, Run, RunResult};
use crate::{money, time, words};

/// Runs from which the table is folded away.
const LONG_TABLE: usize = 15;
/// Runs from which bars are narrow.
const MANY: usize = 60;
/// Columns of a run's last words.
const WORDS_COLUMNS: usize = 200;
/// Height of the lowest bar, in percent.
const LOWEST: u64 = 14;

pub(super) fn section(goal: &Goal, index: usize) -> Markup {
    let table = table(goal, index);
    markup! {
        section {
            h2 { "Runs" }
            @if goal.runs.is_empty() {
                p.more { "The agent has not begun." }
            } @else {
                (strip(goal, index))
                (legend())
                @if goal.runs.len() > LONG_TABLE {
                    details { summary { "Show all " (words::counted(goal.runs.len() as u64, "run", "runs")) } (table) }
                } @else {
                    (table)
                }
            }
        }
    }
}

/// A bar per run, and a mark where the goal rested. Few bars are as wide as the runs were long, one
/// after the other; many are narrow, and as high as the runs were long.
fn strip(goal: &Goal, index: usize) -> Markup {
    let longest = goal.runs.iter().map(length).max().unwrap_or(0);
    let folded = goal.runs.len() > LONG_TABLE;
    let mut rests = goal
        .history
        .iter()
        .filter(|h| h.event == Event::Paused)
        .peekable();
    markup! {
        div.strip.few[!folded].many[goal.runs.len() > MANY] role="group" aria-label=(label(goal)) {
            @for run in &goal.runs {
                @for rest in rests_before(&mut rests, run) {
                    i.rest title=(words::happening(goal, rest)) {}
                }
                (bar(goal, run, index, longest, folded))
            }
            @for rest in rests { i.rest title=(words::happening(goal, rest)) {} }
        }
    }
}

fn label(goal: &Goal) -> String {
    let parts: Vec<String> = words::runs(goal)
        .iter()
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    format!(
        "{}: {}",
        words::counted(goal.runs.len() as u64, "run", "runs"),
        parts.join(", ")
    )
}

fn rests_before<'a>(
    rests: &mut std::iter::Peekable<impl Iterator<Item = &'a Happening>>,
    run: &Run,
) -> Vec<&'a Happening> {
    let mut before = Vec::new();
    while let Some(rest) = rests.next_if(|rest| rest.at.cmp(&run.began_at) != Ordering::Greater) {
        before.push(rest);
    }
    before
}

fn bar(goal: &Goal, run: &Run, index: usize, longest: u64, folded: bool) -> Markup {
    let width = (!folded).then(|| format!("flex-grow:{}", height(length(run), longest)));
    let height = folded.then(|| format!("height:{}%", height(length(run), longest)));
    let title = format!(
        "Run {}: {}, {}, {} tokens",
        run.number,
        words::result(run.result),
        time::duration(length(run)),
        money::tokens(run.spent.total_tokens),
    );
    let tone = tone(run.result);
    let audits = run.audits.iter().rev();
    let audits =
        audits.filter_map(|number| goal.audits.iter().find(|audit| audit.number == *number));
    let href = (!folded).then(|| format!("#goal{index}-run{}", run.number));
    markup! {
        a.run href=[href] title=(title) style=[width] {
            span { @for audit in audits { b class=(outcome_tone(audit.outcome)) {} } }
            i class=(tone) style=[height] { @if !folded { (run.number) } }
        }
    }
}

/// Longer runs are larger; the root keeps the short ones visible beside a long one.
fn height(length: u64, longest: u64) -> u64 {
    let share = length.saturating_mul(10_000) / longest.max(1);
    LOWEST + share.isqrt() * (100 - LOWEST) / 100
}

fn length(run: &Run) -> u64 {
    run.ended_at.saturating_sub(run.began_at)
}

const fn tone(result: RunResult) -> &'static str {
    match result {
        RunResult::Work => "work",
        RunResult::Claim => "claim",
        RunResult::Empty => "empty",
        RunResult::Error => "bad",
        RunResult::Aborted | RunResult::Lost => "past",
    }
}

fn legend() -> Markup {
    markup! {
        p.legend {
            span { i.work {} "work" } span { i.claim {} "claim only" } span { i.empty {} "no work" }
            span { i.bad {} "model error" } span { i.past {} "broken off" }
            span { b.good {} "approved" } span { b.bad {} "disapproved" } span { b.warn {} "without a verdict" }
        }
    }
}

fn table(goal: &Goal, index: usize) -> Markup {
    let longest = goal.runs.iter().map(length).max().unwrap_or(0);
    markup! {
        div.scroll {
            table.runs {
                thead {
                    tr {
                        th.num { "#" } th { "Began" } th { "Took" } th { "Result" }
                        th.num { "Tools" } th.num.wide { "Tokens" } th { "Last words" }
                    }
                }
                tbody { @for run in &goal.runs { (row(goal, run, index, longest)) } }
            }
        }
    }
}

fn row(goal: &Goal, run: &Run, index: usize, longest: u64) -> Markup {
    let width = length(run).saturating_mul(100) / longest.max(1);
    let first_day = time::day(goal.created_at);
    let began = if time::day(run.began_at) == first_day {
        time::clock(run.began_at)
    } else {
        time::moment(run.began_at)
    };
    markup! {
        tr id=(format!("goal{index}-run{}", run.number)) {
            td.num { (run.number) }
            td.time title=(time::moment(run.began_at)) { (began) span.more { (words::origin(run.origin)) } }
            td.time {
                (time::duration(length(run)))
                span.track { i class=(tone(run.result)) style=(format!("width:{}%", width.max(1))) {} }
            }
            td {
                span class={ "result " (tone(run.result)) } { (words::result(run.result)) }
                @for number in &run.audits {
                    a.more href=(format!("#goal{index}-audit{number}")) { "audit " (number) }
                }
            }
            td.num { (run.calls_ok) " ✓" @if run.calls_failed > 0 { span.more { (run.calls_failed) " ✗" } } }
            td.num.wide { (money::tokens(run.spent.total_tokens)) }
            td.words dir="auto" { (said(run)) }
        }
    }
}

fn said(run: &Run) -> Markup {
    let error = run
        .error
        .as_ref()
        .map(|error| for_display(error, WORDS_COLUMNS));
    let text = run
        .last_text
        .as_ref()
        .map(|text| for_display(text, WORDS_COLUMNS));
    let beside = beside(run);
    markup! {
        @if let Some(error) = error { span.error { (error) } " " }
        @if let Some(text) = text { (text) }
        @if !beside.is_empty() { span.more { (beside) } }
    }
}

/// What else a run had.
fn beside(run: &Run) -> String {
    let mut all = Vec::new();
    if run.user_messages > 0 {
        all.push(words::counted(
            run.user_messages.into(),
            "message of the user",
            "messages of the user",
        ));
    }
    if run.compactions > 0 {
        all.push(words::counted(
            run.compactions.into(),
            "compaction",
            "compactions",
        ));
    }
    if run.errors > 1 || (run.errors == 1 && run.result != RunResult::Error) {
        all.push(words::counted(
            run.errors.into(),
            "error of the model",
            "errors of the model",
        ));
    }
    if run.aborted && run.result != RunResult::Aborted {
        all.push("broken off".to_owned());
    }
    all.join(" · ")
}
