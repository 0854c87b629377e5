//! A report as Markdown.

use std::fmt::Write as _;

use goal_prompts::safe::{fold_space, visible};

use crate::model::{Audit, Goal, Happening, Report, Run};
use crate::{MARK, money, time, words};

/// Runs that are listed in full; of more, the middle is left out.
const RUNS_LISTED_MAX: usize = 200;
/// Characters of a run's last words.
const WORDS_CHARS: usize = 120;

/// The report as Markdown. What others wrote stands in code fences or with every sign of Markdown
/// and HTML escaped, so that it is shown and does nothing.
#[must_use]
pub fn markdown(report: &Report) -> String {
    let mut out = Page(format!("<!-- {MARK} -->\n"));
    out.line("# Goal report");
    out.session(report);
    for goal in &report.goals {
        out.goal(goal);
    }
    visible(&out.0).into_owned()
}

/// A page that grows. Writing to it cannot fail.
struct Page(String);

impl Page {
    fn line(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }

    fn paragraph(&mut self, text: &str) {
        self.line("");
        self.line(text);
    }

    fn heading(&mut self, level: usize, text: &str) {
        self.paragraph(&format!("{} {text}", "#".repeat(level)));
    }

    /// Text of others, as it is, in a fence it cannot close.
    fn fenced(&mut self, text: &str) {
        let text = visible(text.trim());
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat((longest + 1).max(3));
        // A lone CR would end a line for some readers and not for others.
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        self.paragraph(&format!("{fence}text\n{text}\n{fence}"));
    }

    fn session(&mut self, report: &Report) {
        let session = &report.session;
        let mut rows = vec![("Session", inline(&session.path))];
        if let Some(name) = &session.name {
            rows.push(("Name", inline(name)));
        }
        if let Some(cwd) = &session.cwd {
            rows.push(("Folder", inline(cwd)));
        }
        if let (Some(first), Some(last)) = (session.started_at, session.last_at) {
            rows.push((
                "From",
                format!("{} to {} UTC", time::moment(first), time::moment(last)),
            ));
        }
        rows.push(("Made by", report.generator.clone()));
        self.rows(&rows);
        for note in &report.notes {
            self.paragraph(&format!("> **Note:** {note}"));
        }
    }

    fn rows<S: AsRef<str>>(&mut self, rows: &[(S, String)]) {
        self.line("");
        for (name, value) in rows {
            self.line(&format!("* **{}:** {value}", name.as_ref()));
        }
    }

    fn goal(&mut self, goal: &Goal) {
        let standing = words::standing(goal.state.standing);
        let title = inline(&words::title(goal));
        self.heading(2, &format!("{title} — {standing}"));
        self.paragraph(&inline(&words::state(goal)));
        if let Some(detail) = &goal.state.detail {
            self.fenced(detail);
        }
        self.heading(3, "Objective");
        self.fenced(&goal.objective);
        self.totals(goal);
        self.heading(3, "History");
        self.line("");
        for happened in &goal.history {
            self.happening(goal, happened);
        }
        self.runs(goal);
        for audit in goal.audits.iter().rev() {
            self.audit(audit);
        }
        self.heading(3, "Judged by");
        let gate: Vec<(&str, String)> = words::gate(&goal.gate)
            .into_iter()
            .map(|(name, value)| (name, inline(&value)))
            .collect();
        self.rows(&gate);
    }

    fn totals(&mut self, goal: &Goal) {
        let totals = &goal.totals;
        let tools = format!("{} worked, {} failed", totals.calls_ok, totals.calls_failed);
        self.rows(&[
            ("Goal", goal.id.clone()),
            ("Set", format!("{} UTC", time::moment(goal.created_at))),
            ("Active", time::duration(goal.active_ms)),
            ("Runs", breakdown(totals.runs, &words::runs(goal))),
            ("Tool calls", tools),
            ("Audits", breakdown(totals.audits, &words::audits(goal))),
            ("Agent", money::spent(&totals.executor)),
            ("Auditor", money::spent(&totals.auditor)),
        ]);
    }

    fn happening(&mut self, goal: &Goal, happened: &Happening) {
        let text = inline(&words::happening(goal, happened));
        self.line(&format!("* {} — {text}", time::moment(happened.at)));
        for change in &happened.changes {
            self.line(&format!("  * {}", inline(change)));
        }
    }

    fn runs(&mut self, goal: &Goal) {
        self.heading(3, "Runs");
        if goal.runs.is_empty() {
            return self.paragraph("None: the agent has not begun.");
        }
        self.line("");
        self.line("| # | began | took | result | tools ✓/✗ | audits | tokens | last words |");
        self.line("|--:|---|--:|---|--:|---|--:|---|");
        let hidden = goal.runs.len().saturating_sub(RUNS_LISTED_MAX);
        let head = if hidden == 0 {
            goal.runs.len()
        } else {
            RUNS_LISTED_MAX / 2
        };
        for run in &goal.runs[..head] {
            self.run(run);
        }
        if hidden > 0 {
            self.line(&format!(
                "| … | | | {} left out; the HTML and JSON forms have all | | | | |",
                words::counted(hidden as u64, "run", "runs")
            ));
            for run in &goal.runs[head + hidden..] {
                self.run(run);
            }
        }
    }

    fn run(&mut self, run: &Run) {
        let said = run.error.as_ref().or(run.last_text.as_ref());
        let said = said.map(|text| goal_prompts::safe::for_display(text, WORDS_CHARS));
        let audits: Vec<String> = run.audits.iter().map(u32::to_string).collect();
        let _ = writeln!(
            self.0,
            "| {} | {} | {} | {} | {}/{} | {} | {} | {} |",
            run.number,
            time::moment(run.began_at),
            time::duration(run.ended_at.saturating_sub(run.began_at)),
            words::result(run.result),
            run.calls_ok,
            run.calls_failed,
            audits.join(", "),
            money::tokens(run.spent.total_tokens),
            inline(&said.unwrap_or_default()),
        );
    }

    fn audit(&mut self, audit: &Audit) {
        let outcome = inline(&words::outcome_in_full(audit));
        self.heading(3, &format!("Audit {}: {outcome}", audit.number));
        self.paragraph(words::outcome_meaning(audit));
        let level = audit.thinking_level.as_ref();
        let level = level
            .map(|level| format!(", thinking {level}"))
            .unwrap_or_default();
        let mut rows = vec![
            ("Auditor", inline(&format!("{}{level}", audit.model))),
            ("Began", format!("{} UTC", time::moment(audit.started_at))),
            ("Took", time::duration(audit.duration_ms)),
            ("Prompts", audit.attempts.to_string()),
            ("Used", money::spent(&audit.spent)),
            ("Seal", inline(words::rung(&audit.rung))),
        ];
        if let Some(workspace) = words::workspace(audit) {
            rows.push(("Workspace", inline(&workspace)));
        }
        self.rows(&rows);
        if audit.by_user {
            self.paragraph(words::ASKED_BY_USER);
        }
        if let Some(claim) = &audit.claim {
            self.paragraph("The agent claimed:");
            self.fenced(claim);
        }
        if let Some(failure) = &audit.failure {
            self.paragraph("What failed:");
            self.fenced(failure);
        }
        if !audit.report.trim().is_empty() {
            self.paragraph("The auditor's report:");
            self.fenced(&audit.report);
        }
        self.checks(audit);
    }

    fn checks(&mut self, audit: &Audit) {
        let (ok, all) = (audit.checks_ok, audit.checks.len());
        self.paragraph(&format!("Checks of the auditor: {ok} of {all} successful."));
        if all > 0 {
            self.line("");
            self.line("| | tool | arguments | took |");
            self.line("|---|---|---|--:|");
        }
        for check in &audit.checks {
            let mark = if check.ok { "✓" } else { "✗" };
            let (tool, args) = (inline(&check.tool), inline(&check.args));
            self.line(&format!(
                "| {mark} | {tool} | {args} | {} |",
                time::duration(check.ms)
            ));
        }
    }
}

/// `3 (2 with work, 1 no work)`.
fn breakdown(count: usize, parts: &[(usize, &'static str)]) -> String {
    if parts.is_empty() {
        return count.to_string();
    }
    let parts: Vec<String> = parts
        .iter()
        .map(|(n, what)| format!("{n} {what}"))
        .collect();
    format!("{count} ({})", parts.join(", "))
}

/// Text of others inside a line: one line, and no sign of it means anything to Markdown or HTML.
fn inline(text: &str) -> String {
    let line = fold_space(&visible(text));
    let mut out = String::with_capacity(line.len() + 8);
    for c in line.chars() {
        if matches!(
            c,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '#' | '!'
        ) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
