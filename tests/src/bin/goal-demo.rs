//! `cargo xtask demo`: a goal from its command to its audited end, on the real pi, told step by step.
//!
//! The home is a throw-away one, and the models are scripted (`sim/scenarios/`); pi, extension and
//! core are the real ones, installed as a user installs them.
#![allow(
    clippy::expect_used,
    reason = "a demonstration that cannot run says why and ends"
)]

use std::path::Path;
use std::process::ExitCode;

use anstream::println;
use anstyle::{AnsiColor, Style};
use goal_sim::Scenario;
use goal_tests::{Loading, PiOptions, World, install};
use serde_json::Value;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default().bold();
const RED: Style = AnsiColor::Red.on_default().bold();
const CYAN: Style = AnsiColor::Cyan.on_default();

/// Columns of a quoted text; the whole of it is in the session file.
const QUOTE_COLUMNS: usize = 96;

fn main() -> ExitCode {
    let file = install::root().join("sim/scenarios/approved-after-a-refusal.toml");
    let scenario = Scenario::load(&file).expect("the scenario of the demonstration is readable");
    let options = PiOptions::new(scenario.script()).loading(Loading::Installed);
    let mut world = World::new(options);
    world.keep();
    let objective = scenario.objective.expect("the demonstration has a goal");
    introduce(&world, &objective);

    let prompt = format!("/goal {objective}");
    let finished = world.stream(&["--mode", "json", &prompt], tell);

    conclude(&world, finished.code, &finished.stderr);
    let approved = finished.code == Some(0) && world.session().ended() == Some("approved");
    if approved {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn introduce(world: &World, objective: &str) {
    println!("{BOLD}goal-auditor, on the real pi with scripted models{BOLD:#}");
    row("home", world.home());
    row("workspace", world.workspace());
    row(
        "extension",
        &world.agent_dir().join("extensions/goal-auditor"),
    );
    println!();
    println!("{CYAN}user   {CYAN:#} /goal {objective}");
}

/// One line for each event of pi that a person would want to see.
fn tell(record: &Value) {
    match record["type"].as_str() {
        Some("message_end") => tell_message(&record["message"]),
        Some("tool_execution_start") if record["toolName"] == "update_goal" => {
            println!("{CYAN}agent  {CYAN:#} claims that it is done; the auditor looks for itself");
        }
        Some("tool_execution_update") if record["toolName"] == "update_goal" => {
            let text = record["partialResult"]["content"][0]["text"]
                .as_str()
                .unwrap_or_default();
            println!("{DIM}auditor {}{DIM:#}", quote(text));
        }
        Some("tool_execution_end") => tell_tool(record),
        _ => {}
    }
}

fn tell_message(message: &Value) {
    match message["role"].as_str() {
        Some("custom") => {
            let full = message["details"]["full"] == true;
            let what = if full {
                "the whole goal message"
            } else {
                "a short marker"
            };
            println!("{DIM}goal    sends {what}{DIM:#}");
        }
        Some("assistant") => {
            let parts = message["content"]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default();
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            for text in texts.filter(|text| !text.trim().is_empty()) {
                println!("{CYAN}agent  {CYAN:#} {}", quote(text));
            }
        }
        _ => {}
    }
}

fn tell_tool(record: &Value) {
    let details = &record["result"]["details"];
    let Some(outcome) = details["outcome"].as_str() else {
        let mark = if record["isError"] == true {
            "failed"
        } else {
            "ok"
        };
        println!(
            "{DIM}        {} {mark}{DIM:#}",
            record["toolName"].as_str().unwrap_or_default()
        );
        return;
    };
    let style = if outcome == "approved" { GREEN } else { RED };
    let model = details["model"].as_str().unwrap_or_default();
    println!("{style}auditor {outcome}{style:#} {DIM}({model}){DIM:#}");
    for check in details["checks"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
    {
        let mark = if check["ok"] == true { "✓" } else { "✗" };
        let (tool, args) = (check["tool"].as_str(), check["args"].as_str());
        let call = format!("{} {}", tool.unwrap_or_default(), args.unwrap_or_default());
        println!("        {mark} {}", quote(&call));
    }
    let report = details["report"].as_str().unwrap_or_default();
    for line in report.lines().filter(|line| !line.trim().is_empty()) {
        println!("        {DIM}│{DIM:#} {}", quote(line));
    }
}

fn conclude(world: &World, code: Option<i32>, stderr: &str) {
    let session = world.session();
    println!();
    let ended = session.ended().unwrap_or("still open");
    let style = if ended == "approved" { GREEN } else { RED };
    let status = code.map_or_else(|| "none".to_owned(), |code| code.to_string());
    println!("{style}the goal is {ended}{style:#}, pi's exit status is {status}");
    for line in stderr.lines() {
        println!("{DIM}stderr  {line}{DIM:#}");
    }
    let audits = session.audit_outcomes().join(", ");
    println!(
        "        audits: {audits}; messages of ours: {}",
        session.continuations().len()
    );
    if let Some(text) = world.file("greeting.txt") {
        println!("        greeting.txt now says: {text:?}");
    }
    for file in world.session_files() {
        row("session", &file);
    }
    println!(
        "{DIM}        the throw-away home stays for you to look at; delete it when you like{DIM:#}"
    );
    println!("        your own pi: cargo xtask install");
}

fn row(name: &str, path: &Path) {
    println!("{DIM}{name:<10} {}{DIM:#}", path.display());
}

fn quote(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(QUOTE_COLUMNS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
