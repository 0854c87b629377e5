//! A script of `benches/js` in the pinned Node, asked line by line.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, bail};
use goal_tests::install;
use serde_json::Value;

/// A running script; it ends with its input.
#[derive(Debug)]
pub struct Script {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Script {
    /// Starts a script of `benches/js`.
    ///
    /// # Errors
    ///
    /// Node does not start.
    pub fn start(name: &str, arguments: &[OsString]) -> Result<Self> {
        let mut child = Command::new(install::pi_node())
            .arg("--disable-warning=ExperimentalWarning")
            .arg(install::root().join("benches/js").join(name))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start Node")?;
        let output = child.stdout.take().context("Node has no output")?;
        Ok(Self {
            input: child.stdin.take(),
            output: BufReader::new(output),
            child,
        })
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    ///
    /// The script has ended, or answers something else than JSON.
    pub fn ask(&mut self, question: &Value) -> Result<Value> {
        let mut input = self.input.as_ref().context("Node has no input")?;
        writeln!(input, "{question}")?;
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            bail!("the script has ended");
        }
        serde_json::from_str(&line).with_context(|| format!("no JSON: {line}"))
    }

    /// Asks for a figure.
    ///
    /// # Errors
    ///
    /// As [`Self::ask`], or the answer is no number.
    pub fn figure(&mut self, question: &Value) -> Result<f64> {
        let answer = self.ask(question)?;
        answer
            .as_f64()
            .with_context(|| format!("no number: {answer}"))
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// Node's version, for the head of a report.
///
/// # Errors
///
/// Node does not run.
pub fn version() -> Result<String> {
    let output = Command::new(install::pi_node()).arg("--version").output();
    let output = output.context("cannot start Node")?;
    let told = String::from_utf8_lossy(&output.stdout);
    Ok(told.trim().trim_start_matches('v').to_owned())
}
