//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

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
    /// Print what a folder is at this moment, as audits record it
    Fingerprint(FingerprintArgs),
    /// Tell whether the tree that a session's last approval was given for still stands
    ///
    /// Exit code 0 if it does, 1 if it differs (the places are named), 2 if that cannot be told.
    Verify(VerifyArgs),
    /// Hold a seal, in which commands can change nothing outside, until standard input ends
    AuditSeal(AuditSealArgs),
    /// Run a command in a seal
    ///
    /// The command's streams and exit code pass through. Else: 124 when its time is up, 125 when the
    /// seal cannot be made (then nothing was run), 126 when the program cannot be run, 127 when it is
    /// not found, 128 and the signal's number when a signal ended it.
    AuditExec(AuditExecArgs),
    /// Answer one call of an auditor's reading tool: text on standard output, or exit code 1 and
    /// the error on standard error
    AuditTool(AuditToolArgs),
    /// Tell what happened to the goals of a session, as a page or as data
    Report(ReportArgs),
    /// Replay a trace: the same events once more, and whether the same effects come of them
    ///
    /// Exit code 0 if they do, 1 if not (the first difference is shown), 2 if the file cannot be
    /// replayed.
    Replay(ReplayArgs),
    /// Tell whether all is there that a goal needs, and what to do if not
    ///
    /// Exit code 0 if goals work, remarks or not; 1 if there is a problem to solve.
    Doctor(DoctorArgs),
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

/// What a seal covers.
#[derive(Debug, Args)]
pub(crate) struct SealArgs {
    /// What the commands reach of the network
    #[arg(long, value_name = "WHAT", default_value = "loopback")]
    pub(crate) net: Net,
    /// Hide this file or folder too (repeatable); relative to the workspace, or `~/…`
    #[arg(long, value_name = "PATH")]
    pub(crate) hide: Vec<PathBuf>,
    /// Limit of all that is written, in MiB [default: a quarter of memory]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(64..=1_048_576))]
    pub(crate) scratch_mb: Option<u64>,
}

/// Values of `--net`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Net {
    /// A private loopback interface
    Loopback,
    /// The host's network
    Host,
    /// Nothing
    Off,
}

/// Arguments of `audit-seal`.
#[derive(Debug, Args)]
pub(crate) struct AuditSealArgs {
    /// The folder under audit
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: PathBuf,
    /// Where to listen for `audit-exec --join`; the file is removed at the end
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: PathBuf,
    #[command(flatten)]
    pub(crate) seal: SealArgs,
}

/// Arguments of `audit-exec`.
#[derive(Debug, Args)]
pub(crate) struct AuditExecArgs {
    /// Run in the seal that listens here
    #[arg(long, value_name = "PATH", conflicts_with_all = ["net", "hide", "scratch_mb"])]
    pub(crate) join: Option<PathBuf>,
    /// Run in a seal of its own around this folder
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with = "join",
        required_unless_present = "join"
    )]
    pub(crate) workspace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) seal: SealArgs,
    /// Kill the command, and all it has started, after this time
    #[arg(long, value_name = "N")]
    pub(crate) timeout_ms: Option<u64>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub(crate) command: Vec<OsString>,
}

/// Arguments of `fingerprint`.
#[derive(Debug, Args)]
pub(crate) struct FingerprintArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Hash every file, so that equal trees have equal digests wherever they are
    #[arg(long)]
    pub(crate) content: bool,
    /// Print JSON for machines, every file included
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// A session file of pi
    #[arg(value_name = "SESSION")]
    pub(crate) session: PathBuf,
    /// The folder to look at [default: the session's working folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
}

/// Arguments of `audit-tool`.
#[derive(Debug, Args)]
pub(crate) struct AuditToolArgs {
    /// The tool
    #[arg(value_name = "TOOL")]
    pub(crate) tool: ReadingTool,
    /// Its arguments, one JSON object with pi's names [default: read from standard input]
    #[arg(value_name = "JSON")]
    pub(crate) arguments: Option<String>,
    /// Hide this file or folder too (repeatable); relative to the working folder, or `~/…`
    #[arg(long, value_name = "PATH")]
    pub(crate) hide: Vec<PathBuf>,
}

/// The reading tools.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ReadingTool {
    /// Show a file
    Read,
    /// List a folder
    Ls,
    /// Find files by a glob
    Find,
    /// Search files
    Grep,
}

/// Arguments of `report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// pi's session file (*.jsonl); `/session` in pi shows where it is
    pub(crate) session: PathBuf,
    /// The form [default: by the ending of --output, else md]
    #[arg(long, value_name = "FORM")]
    pub(crate) format: Option<Format>,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Only this goal: its id, or how the id begins
    #[arg(long, value_name = "ID")]
    pub(crate) goal: Option<String>,
}

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Markdown
    Md,
    /// One self-contained page
    Html,
    /// Data; docs/report.md has the names
    Json,
}

/// Arguments of `replay`.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// A trace (trace-*.jsonl), from the folder that the setting `trace` names
    #[arg(value_name = "FILE")]
    pub(crate) trace: PathBuf,
    /// How the result is told
    #[arg(long, value_name = "FORM", default_value = "text")]
    pub(crate) format: ReplayFormat,
}

/// The form of a replay's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReplayFormat {
    /// A few lines for people
    Text,
    /// One JSON object; docs/traces.md has the names
    Json,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// pi's agent directory [default: $PI_CODING_AGENT_DIR, else ~/.pi/agent]
    #[arg(long, value_name = "DIR")]
    pub(crate) agent_dir: Option<PathBuf>,
    /// Print JSON for machines
    #[arg(long)]
    pub(crate) json: bool,
}
