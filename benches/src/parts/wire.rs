//! The core behind its pipe: a line to `goal-auditor serve` and its answer back.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use goal_bench_cases::session::TOKEN;
use goal_protocol::PROTOCOL_VERSION;
use goal_tests::install;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Effort;
use crate::growth::{Curve, Growing, Law};
use crate::report::{Section, Table};
use crate::stopwatch::{Side, by_turns, nanoseconds, time_of};

/// Rounds of one sample.
const ROUNDS: u32 = 200;

/// A program that answers lines.
struct Pipe {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    line: String,
}

impl Pipe {
    fn start(command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {command:?}"))?;
        let output = child.stdout.take().context("no output")?;
        Ok(Self {
            input: child.stdin.take(),
            output: BufReader::new(output),
            child,
            line: String::new(),
        })
    }

    fn send(&mut self, line: &str) -> Result<()> {
        let input = self.input.as_mut().context("no input")?;
        Ok(input.write_all(format!("{line}\n").as_bytes())?)
    }

    /// The next line.
    fn receive(&mut self) -> Result<&str> {
        self.line.clear();
        if self.output.read_line(&mut self.line)? == 0 {
            bail!("the program has ended");
        }
        Ok(&self.line)
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// A core in the run of a goal.
struct Core {
    pipe: Pipe,
    asked: u64,
    /// Its settings; lives as long as it.
    agent_dir: TempDir,
}

impl Core {
    fn start() -> Result<Self> {
        let agent_dir = tempfile::tempdir()?;
        let settings = json!({"maxContinuations": 0, "sandbox": "off"}).to_string();
        std::fs::write(agent_dir.path().join("goal-auditor.json"), settings)?;
        let mut command = Command::new(install::binary());
        let mut core = Self {
            pipe: Pipe::start(command.arg("serve"))?,
            asked: 0,
            agent_dir,
        };
        core.greet()?;
        Ok(core)
    }

    fn greet(&mut self) -> Result<()> {
        let agent_dir = self.agent_dir.path().to_owned();
        let model = json!({"provider": "p", "id": "m"});
        self.ask(&json!({"type": "hello", "protocol": PROTOCOL_VERSION, "shim": "bench", "agentDir": agent_dir}))?;
        self.ask(&json!({
            "type": "session_opened", "cause": {"type": "start"}, "records": [], "auditLost": false,
            "hasUi": true, "terminal": true, "model": model,
        }))?;
        let started = self.ask(&json!({"type": "command", "text": "the objective", "host": {
            "activity": "idle", "hasUi": true, "headless": false, "model": model, "models": [model],
            "toolsActive": true,
        }}))?;
        let start = effect(&started, "start_run")?;
        let details = &start["message"]["details"];
        let tag = json!({"id": details["goalId"], "generation": details["generation"]});
        self.tell(&json!({"type": "run_started"}))?;
        self.tell(&json!({"type": "message_arrived", "tag": tag}))
    }

    fn tell(&mut self, event: &Value) -> Result<()> {
        self.pipe
            .send(&json!({"token": TOKEN, "event": event}).to_string())
    }

    /// Sends an event, and waits for the answer to it.
    fn ask(&mut self, event: &Value) -> Result<Value> {
        self.asked += 1;
        let id = self.asked;
        self.pipe
            .send(&json!({"token": TOKEN, "id": id, "event": event}).to_string())?;
        loop {
            let line: Value = serde_json::from_str(self.pipe.receive()?)?;
            if line["id"] == id {
                return Ok(line);
            }
        }
    }

    fn ping(&mut self) -> Result<()> {
        self.ask(&json!({"type": "ping"})).map(drop)
    }

    /// A finished tool call, the settle boundary with its answer, and the proposal is taken.
    fn iterate(&mut self) -> Result<()> {
        self.tell(&json!({"type": "tool_finished", "tool": "bash", "isError": false, "ran": true, "aborted": false}))?;
        let answer = self.ask(&json!({
            "type": "settling", "failed": false, "providerAborted": false, "toolsActive": true,
            "finalText": format!("Part {} is done. {}", self.asked, "I go on with the next one. ".repeat(10)),
            "fullMessagePresent": true,
        }))?;
        let proposal = effect(&answer, "propose")?;
        ensure!(!proposal["message"].is_null(), "the loop goes on: {answer}");
        self.tell(&json!({"type": "proposal_taken", "proposal": proposal["proposal"]}))
    }
}

/// The effect of a kind in an answer.
fn effect<'a>(answer: &'a Value, kind: &str) -> Result<&'a Value> {
    let effects = answer["effects"].as_array().into_iter().flatten();
    let mut of_kind = effects.filter(|effect| effect["type"] == kind);
    of_kind
        .next()
        .with_context(|| format!("no {kind}: {answer}"))
}

/// A sample of something that can fail: nanoseconds of one round.
fn sample(mut round: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut done = Ok(());
    let took = time_of(|| done = (0..ROUNDS).try_for_each(|_| round()));
    done?;
    Ok(nanoseconds(took) / f64::from(ROUNDS))
}

/// The section of the parts.
pub(super) fn section(effort: Effort) -> Result<Section> {
    let mut echo = Pipe::start(&mut Command::new("cat"))?;
    let core = std::cell::RefCell::new(Core::start()?);
    let line = json!({"token": TOKEN, "id": 1, "event": {"type": "ping"}}).to_string();
    let mut sides: [Side<'_>; 3] = [
        Box::new(|| {
            sample(|| {
                echo.send(&line)?;
                echo.receive().map(drop)
            })
        }),
        Box::new(|| sample(|| core.borrow_mut().ping())),
        Box::new(|| sample(|| core.borrow_mut().iterate())),
    ];
    let samples = by_turns(effort.pick(7, 21), &mut sides)?;
    let mut table = Table::new(
        "A line there and its answer back",
        ["what", "time", "to the echo"],
    );
    let names = [
        "`cat`: the same line back",
        "the core: are you there?",
        "the core: an iteration (a tool call told, the settle boundary answered, the proposal taken)",
    ];
    for (name, time) in names.iter().zip(&samples) {
        let ratio = crate::measure::Unit::Count("").show(time.ratio_to(&samples[0]));
        table.row([(*name).to_owned(), time.show(), format!("{ratio} ×")]);
    }
    Ok(Section {
        title: "Wire".to_owned(),
        intro: "The real binary behind real pipes, asked from another process as the extension asks it. `cat` on the \
                same machine gives back the same line and shows what the pipes alone take."
            .to_owned(),
        tables: vec![table],
        ..Section::default()
    })
}

/// Time of one more iteration against how many went before.
pub(super) fn growing(effort: Effort) -> Result<Growing> {
    let before = effort.pick([100, 1_000, 5_000], [100, 3_000, 50_000]);
    let mut failure = None;
    let curve = Curve::over(
        "an iteration through the pipe",
        Law::Level,
        &before,
        |before| {
            later(before).unwrap_or_else(|error| {
                failure = Some(error);
                f64::NAN
            })
        },
    );
    failure.map_or(Ok(()), Err)?;
    Ok(Growing {
        title: "The wire against what went before",
        file: "growth-wire.svg",
        size: "iterations before",
        intro: "One core, asked on and on.".to_owned(),
        curves: vec![curve],
    })
}

/// Nanoseconds of an iteration after so many.
fn later(before: usize) -> Result<f64> {
    let mut core = Core::start()?;
    (0..before).try_for_each(|_| core.iterate())?;
    sample(|| core.iterate())
}
