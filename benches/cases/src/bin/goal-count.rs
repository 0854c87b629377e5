//! `goal-count`: counts the instructions of parser, engine and session read, and compares them with the
//! committed baseline. `cargo xtask counts` builds and runs it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::{Parser, Subcommand};
use goal_bench_cases::baseline::{Baseline, circumstances, judge};
use goal_bench_cases::count::{self, CASES};

/// Count the instructions of the core's work, and compare them with the committed baseline
#[derive(Parser)]
#[command(name = "cargo xtask counts", bin_name = "cargo xtask counts")]
struct Cli {
    /// Write the baseline anew, because more (or less) work is meant
    #[arg(long)]
    renew: bool,
    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Subcommand)]
enum Task {
    /// Do the work of one case so many times: what valgrind runs
    #[command(hide = true)]
    One { case: String, rounds: u32 },
}

fn main() -> Result<ExitCode> {
    let cli = Cli::parse();
    if let Some(Task::One { case, rounds }) = cli.task {
        count::run(&case, rounds)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(valgrind) = count::valgrind() else {
        return without_valgrind(cli.renew);
    };
    let now = Baseline {
        circumstances: circumstances(&valgrind)?,
        instructions: count_all()?,
    };
    if cli.renew {
        renew(&now)?;
    }
    check(&now)
}

fn without_valgrind(renew: bool) -> Result<ExitCode> {
    if renew {
        bail!("counting instructions needs valgrind (apt-get install valgrind)");
    }
    println!(
        "INSTRUCTION COUNTS WERE NOT CHECKED: there is no valgrind (apt-get install valgrind)."
    );
    Ok(ExitCode::SUCCESS)
}

fn count_all() -> Result<BTreeMap<String, u64>> {
    let program = std::env::current_exe().context("where is this program?")?;
    let counts = CASES.iter().map(|case| {
        let count = count::instructions(&program, case)?;
        Ok((case.name.to_owned(), count))
    });
    counts.collect()
}

fn check(now: &Baseline) -> Result<ExitCode> {
    let file = file();
    let text =
        fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let baseline = serde_json::from_str(&text).with_context(|| file.display().to_string())?;
    let judgement = judge(&baseline, now);
    print!("{}", judgement.text);
    if judgement.failed {
        println!("If that is meant: `cargo xtask counts --renew`, and say why in the commit.");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

fn renew(now: &Baseline) -> Result<()> {
    let file = file();
    let text = serde_json::to_string_pretty(now)? + "\n";
    fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("baseline.json")
}
