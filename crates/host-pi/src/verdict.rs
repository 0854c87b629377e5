//! `goal-auditor verdict`.

use std::io::{self, BufRead as _, Read as _, Write as _};
use std::process::ExitCode;

use anyhow::Context as _;
use goal_parser::{NoVerdict, TEXT_MAX_BYTES, Verdict, parse_verdict};
use serde::Serialize;

use crate::cli::VerdictArgs;

#[derive(Serialize)]
struct Line {
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'static str>,
}

impl From<Result<Verdict, NoVerdict>> for Line {
    fn from(reading: Result<Verdict, NoVerdict>) -> Self {
        match reading {
            Ok(verdict) => Self {
                verdict: verdict.name(),
                why: None,
            },
            Err(why) => Self {
                verdict: "none",
                why: Some(why.name()),
            },
        }
    }
}

pub(crate) fn run(args: &VerdictArgs) -> anyhow::Result<ExitCode> {
    if args.jsonl {
        each_line()
    } else {
        whole_input()
    }
}

/// Prints `approved`, `disapproved` or `none (why)`.
fn whole_input() -> anyhow::Result<ExitCode> {
    let mut bytes = Vec::new();
    // One byte more than the parser takes, so that it can tell.
    let limit = TEXT_MAX_BYTES as u64 + 1;
    io::stdin()
        .lock()
        .take(limit)
        .read_to_end(&mut bytes)
        .context("reading standard input")?;
    let line = Line::from(parse_verdict(&String::from_utf8_lossy(&bytes)));
    match line.why {
        None => println!("{}", line.verdict),
        Some(why) => println!("{} ({why})", line.verdict),
    }
    Ok(ExitCode::SUCCESS)
}

fn each_line() -> anyhow::Result<ExitCode> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for (index, line) in io::stdin().lock().split(b'\n').enumerate() {
        let line = line.context("reading standard input")?;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let text: String = serde_json::from_slice(&line)
            .with_context(|| format!("line {} is not a JSON string", index + 1))?;
        serde_json::to_writer(&mut out, &Line::from(parse_verdict(&text)))?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
