//! `goal-bench`: measures, prints the tables, and writes them into `docs/performance.md`.
//!
//! `cargo xtask bench` builds what is measured and runs this.

use anyhow::Result;
use clap::{Parser, ValueEnum};
use goal_benches::report::{Circumstances, Page, Part, publish};
use goal_benches::{Effort, growth, parts, pi};

/// Measure what goal-auditor costs, and write docs/performance.md
#[derive(Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench")]
struct Cli {
    /// The whole report in less than ten minutes, with fewer samples and smaller sizes
    #[arg(long)]
    quick: bool,
    /// Measure only this; the rest of the page stays as it is (may be given more than once)
    #[arg(long, value_name = "PART")]
    only: Vec<Which>,
    /// Print the tables and write no file
    #[arg(long)]
    print: bool,
}

/// The blocks of the page.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    /// The real pi: ours beside the rival and beside no extension
    Pi,
    /// Single parts of ours
    Parts,
    /// The same parts against their size
    Growth,
}

impl Which {
    fn run(self, effort: Effort) -> Result<Part> {
        match self {
            Self::Pi => pi::run(effort),
            Self::Parts => parts::run(effort),
            Self::Growth => growth::run(effort),
        }
    }
}

fn main() -> Result<()> {
    let cli = Cli::parse();
    let effort = if cli.quick {
        Effort::Quick
    } else {
        Effort::Full
    };
    let circumstances = Circumstances::look(typed());
    let page = (!cli.print).then(|| Page::of_repository(goal_tests::install::root()));
    for which in Which::value_variants() {
        if cli.only.is_empty() || cli.only.contains(which) {
            publish(&which.run(effort)?, &circumstances, page.as_ref())?;
        }
    }
    Ok(())
}

/// What was typed for this report.
fn typed() -> String {
    let words = std::env::args().skip(1);
    std::iter::once("cargo xtask bench".to_owned())
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}
