//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// The native core of goal-auditor, the /goal command of the pi coding agent.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) task: Task,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Serve one pi process over standard input and output (started by the extension)
    Serve,
    /// Read a verdict from an auditor's text, as an audit would
    Verdict(VerdictArgs),
    /// Print every effective setting with its source
    Config(ConfigArgs),
}

/// Arguments of `verdict`.
#[derive(Debug, Args)]
pub(crate) struct VerdictArgs {
    /// Read one JSON string a line and answer with one JSON object a line
    #[arg(long)]
    pub(crate) jsonl: bool,
}

/// Arguments of `config`.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// pi's agent directory [default: $PI_CODING_AGENT_DIR, else ~/.pi/agent]
    #[arg(long, value_name = "DIR")]
    pub(crate) agent_dir: Option<PathBuf>,
    /// Print JSON for machines
    #[arg(long)]
    pub(crate) json: bool,
}
