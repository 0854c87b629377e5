//! `goal-auditor report`: what happened to the goals of a session.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use goal_report::Report;
use tempfile::NamedTempFile;

use crate::cli::{Format, ReportArgs};

/// As much of a file as shows whether it is a report.
const HEAD_BYTES: u64 = 256;

pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    let format = format(args)?;
    let report = goal_report::read(&args.session, args.goal.as_deref())?;
    let text = match format {
        Format::Md => goal_report::markdown(&report),
        Format::Html => goal_report::html(&report),
        Format::Json => goal_report::json(&report),
    };
    match &args.output {
        None => print(&text)?,
        Some(file) => {
            write(file, &text)?;
            eprintln!("{}", written(&report, file));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn format(args: &ReportArgs) -> anyhow::Result<Format> {
    if let Some(format) = args.format {
        return Ok(format);
    }
    let Some(output) = &args.output else {
        return Ok(Format::Md);
    };
    match output.extension().and_then(|ending| ending.to_str()) {
        Some("md") => Ok(Format::Md),
        Some("html") => Ok(Format::Html),
        Some("json") => Ok(Format::Json),
        _ => bail!(
            "which form should {} have? End its name with .md, .html or .json, or say --format",
            output.display()
        ),
    }
}

/// A reader who has seen enough is no error.
fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("writing to standard output"),
    }
}

/// Writes the whole file or nothing; only an older report is replaced.
fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    if is_taken(file)? {
        bail!(
            "{} is there already and is no report, so it is left alone. Choose another name",
            file.display()
        );
    }
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    let cannot = || format!("cannot write {}", file.display());
    let mut fresh = fresh_file(folder).with_context(cannot)?;
    fresh.write_all(text.as_bytes()).with_context(cannot)?;
    fresh.persist(file).with_context(cannot)?;
    Ok(())
}

/// A file as the user's other new files: a report is there to be shown.
fn fresh_file(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// Something is there that is no report of ours.
fn is_taken(file: &Path) -> anyhow::Result<bool> {
    let there = match fs::metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        other => other.with_context(|| format!("cannot look at {}", file.display()))?,
    };
    if !there.is_file() {
        return Ok(true);
    }
    let mut head = Vec::new();
    File::open(file)
        .and_then(|open| open.take(HEAD_BYTES).read_to_end(&mut head))
        .with_context(|| format!("cannot look at {}", file.display()))?;
    Ok(!goal_report::is_report(&head))
}

fn written(report: &Report, file: &Path) -> String {
    let goals = report.goals.len();
    let runs: usize = report.goals.iter().map(|goal| goal.runs.len()).sum();
    let audits: usize = report.goals.iter().map(|goal| goal.audits.len()).sum();
    let counted =
        |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    format!(
        "Report of {}, {} and {}: {}",
        counted(goals, "goal"),
        counted(runs, "run"),
        counted(audits, "audit"),
        file.display()
    )
}
