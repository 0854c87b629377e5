//! The audits of a goal, newest first.

use maud::{Markup, html as markup};

use super::goal::outcome_tone;
use super::text::{account, block};
use crate::model::{Audit, Goal};
use crate::{money, time, words};

/// The newest audits that are open.
const OPEN: usize = 3;
/// Checks up to which their list is open.
const FEW_CHECKS: usize = 8;

pub(super) fn section(goal: &Goal, index: usize) -> Markup {
    markup! {
        section {
            h2 { "Audits" }
            @if goal.audits.is_empty() { p.more { "The agent never claimed completion." } }
            @for (age, audit) in goal.audits.iter().rev().enumerate() {
                (card(audit, index, age < OPEN))
            }
        }
    }
}

fn card(audit: &Audit, index: usize, open: bool) -> Markup {
    markup! {
        details.audit.(outcome_tone(audit.outcome)) open[open] id=(format!("goal{index}-audit{}", audit.number)) {
            summary {
                span.number { "Audit " (audit.number) }
                span.outcome { (words::outcome_in_full(audit)) }
                span.more {
                    (audit.model) " · " (checks_in_short(audit)) " · " (time::duration(audit.duration_ms))
                }
            }
            p.more { (words::outcome_meaning(audit)) }
            @if audit.by_user { p.more { (words::ASKED_BY_USER) } }
            @if let Some(failure) = &audit.failure { h3 { "What failed" } blockquote { (block(failure)) } }
            @if let Some(claim) = &audit.claim { h3 { "The agent's claim" } blockquote { (block(claim)) } }
            @if !audit.report.trim().is_empty() { h3 { "The auditor's account" } (account(&audit.report)) }
            (checks(audit))
            (facts(audit))
        }
    }
}

fn checks_in_short(audit: &Audit) -> String {
    let all = audit.checks.len();
    if all == audit.checks_ok {
        words::counted(all as u64, "check", "checks")
    } else {
        format!("{} of {all} checks successful", audit.checks_ok)
    }
}

fn checks(audit: &Audit) -> Markup {
    let all = audit.checks.len();
    markup! {
        @if all > 0 {
            h3 { "What the auditor did" }
            details.checks open[all <= FEW_CHECKS] {
                summary { (audit.checks_ok) " of " (all) " tool calls successful" }
                ol {
                    @for check in &audit.checks {
                        li class=(if check.ok { "good" } else { "bad" }) {
                            span.mark { (if check.ok { "✓" } else { "✗" }) }
                            code { strong { (check.tool) } " " (check.args) }
                            span.more { (time::duration(check.ms)) }
                        }
                    }
                }
            }
        }
    }
}

fn facts(audit: &Audit) -> Markup {
    let level = audit.thinking_level.as_deref().unwrap_or("as the agent's");
    let reminders = audit.attempts.saturating_sub(1);
    let reminded = words::counted(reminders.into(), "reminder", "reminders");
    markup! {
        dl.pairs {
            div { dt { "Auditor" } dd { (audit.model) } }
            div { dt { "Thinking level" } dd { (level) } }
            div { dt { "Began" } dd { (time::moment(audit.started_at)) } }
            div { dt { "Took" } dd { (time::duration(audit.duration_ms)) @if reminders > 0 { ", " (reminded) } } }
            div { dt { "Used" } dd { (money::spent(&audit.spent)) } }
            div { dt { "Seal" } dd { (words::rung(&audit.rung)) } }
            @if let Some(workspace) = words::workspace(audit) {
                div { dt { "Workspace" } dd { (workspace) } }
            }
        }
    }
}
