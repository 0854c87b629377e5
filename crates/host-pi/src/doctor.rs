//! `goal-auditor doctor`: is all there that a goal needs, and what to do if not.

mod agent;
mod install;
mod judge;
mod program;
mod programs;

use std::process::ExitCode;

use anstream::println;
use anstyle::{AnsiColor, Style};
use goal_prompts::safe::for_display;
use serde::Serialize;
use serde_json::Value;

use crate::cli::DoctorArgs;
use crate::{config, settings};

/// Version of the JSON form.
const VERSION: u32 = 1;
/// Columns of one sentence; longer ones are cut.
const SENTENCE_COLUMNS: usize = 400;

/// What was found about one thing.
#[derive(Debug, Serialize)]
pub(crate) struct Finding {
    /// Its stable name.
    name: &'static str,
    status: Status,
    /// What is there, in a line.
    found: String,
    /// What is wrong with it, or why it is not better, in sentences.
    why: Vec<String>,
    /// What to do.
    remedy: Option<String>,
    /// The same as data.
    details: Value,
}

/// How good it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    /// As it should be.
    Ok,
    /// Goals work, but not as they might.
    Warning,
    /// Goals do not work, or not as the settings ask.
    Problem,
}

#[derive(Serialize)]
struct Report {
    v: u32,
    ok: bool,
    checks: Vec<Finding>,
    settings: config::Report,
}

impl Finding {
    fn fine(name: &'static str, found: impl Into<String>) -> Self {
        Self {
            name,
            status: Status::Ok,
            found: found.into(),
            why: Vec::new(),
            remedy: None,
            details: Value::Null,
        }
    }

    fn warning(self, why: impl Into<String>, remedy: impl Into<String>) -> Self {
        self.flawed(Status::Warning, vec![why.into()], remedy.into())
    }

    fn problem(self, why: impl Into<String>, remedy: impl Into<String>) -> Self {
        self.flawed(Status::Problem, vec![why.into()], remedy.into())
    }

    fn flawed(self, status: Status, why: Vec<String>, remedy: String) -> Self {
        Self {
            status,
            why,
            remedy: Some(remedy),
            ..self
        }
    }

    fn with(self, details: Value) -> Self {
        Self { details, ..self }
    }
}

/// Exit status 0 if there is no problem, else 1; warnings are none.
pub(crate) fn run(args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    let agent_dir = args.agent_dir.clone().or_else(config::default_agent_dir);
    // A relative folder would be another one for pi, which may run elsewhere.
    let agent_dir = agent_dir.map(|dir| std::path::absolute(&dir).unwrap_or(dir));
    let loaded = settings::load(agent_dir.as_deref());
    let mut checks = vec![install::binary(), install::shim(agent_dir.as_deref())];
    checks.extend(programs::pi_and_node());
    checks.extend([
        agent::folder(agent_dir.as_deref()),
        agent::sessions(agent_dir.as_deref()),
        judge::settings(&loaded),
        judge::auditor(&loaded),
        judge::sandbox(&loaded),
        agent::trace(loaded.settings.trace.as_deref(), agent_dir.as_deref()),
    ]);
    let ok = checks.iter().all(|check| check.status != Status::Problem);
    let report = Report {
        v: VERSION,
        ok,
        checks,
        settings: config::report(&loaded),
    };
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print(&report);
    }
    Ok(if ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn print(report: &Report) {
    let name = report
        .checks
        .iter()
        .map(|check| check.name.len())
        .max()
        .unwrap_or(0);
    for check in &report.checks {
        print_finding(check, name);
    }
    println!();
    println!("{}", verdict(&report.checks));
}

fn print_finding(check: &Finding, width: usize) {
    let (style, mark) = look(check.status);
    let dim = Style::new().dimmed();
    println!(
        "{style}{mark}{style:#} {:width$}  {}",
        check.name,
        line(&check.found)
    );
    let indent = " ".repeat(width + 4);
    for why in &check.why {
        println!("{indent}{style}{}{style:#}", line(why));
    }
    if let Some(remedy) = &check.remedy {
        println!("{indent}{dim}→ {}{dim:#}", line(remedy));
    }
}

const fn look(status: Status) -> (Style, char) {
    match status {
        Status::Ok => (AnsiColor::Green.on_default(), '✓'),
        Status::Warning => (AnsiColor::Yellow.on_default(), '!'),
        Status::Problem => (AnsiColor::Red.on_default().bold(), '✗'),
    }
}

/// Paths and words of other programs, on one line and harmless.
fn line(text: &str) -> String {
    for_display(text, SENTENCE_COLUMNS)
}

fn verdict(checks: &[Finding]) -> String {
    let count = |status| checks.iter().filter(|check| check.status == status).count();
    let counted = |count: usize, what| match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    };
    match (count(Status::Problem), count(Status::Warning)) {
        (0, 0) => "All is well.".to_owned(),
        (0, warnings) => format!("Goals work. {}, see above.", counted(warnings, "remark")),
        (problems, _) => format!("{} to solve, see above.", counted(problems, "problem")),
    }
}
