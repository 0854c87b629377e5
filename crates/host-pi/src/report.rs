//! `goal-auditor report`: what happened to the goals of a session.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
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
    let text = render(&report, format);
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
    args.output.as_deref().map_or(Ok(Format::Md), format_of)
}

fn render(report: &Report, format: Format) -> String {
    match format {
        Format::Md => goal_report::markdown(report),
        Format::Html => goal_report::html(report),
        Format::Json => goal_report::json(report),
    }
}

/// Writes the report of a session into `file`, or into a file of its own among `reports`. Says what was
/// written and where.
pub(crate) fn of_session(
    session: &Path,
    goal: Option<&str>,
    file: Option<PathBuf>,
    reports: Option<&Path>,
) -> anyhow::Result<String> {
    let report = goal_report::read(session, None)?;
    let file = match file {
        Some(file) => file,
        None => {
            let folder = reports
                .context("pi's agent folder is not known. Name a file: /goal report goal.html")?;
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
            folder.join(own_name(session, goal, &report))
        }
    };
    write(&file, &render(&report, format_of(&file)?))?;
    Ok(written(&report, &file))
}

/// The session's name and its goal's: the one it has, or else the last it had.
fn own_name(session: &Path, goal: Option<&str>, report: &Report) -> String {
    let stem = session.file_stem().unwrap_or_default().to_string_lossy();
    let last = report.goals.iter().max_by_key(|goal| goal.created_at);
    let goal = goal.or_else(|| last.map(|goal| goal.id.as_str()));
    let goal = goal.unwrap_or("goal");
    let safe = |c: char| {
        if c.is_ascii_alphanumeric() || "-_.".contains(c) {
            c
        } else {
            '_'
        }
    };
    format!("{stem}-{goal}.html").chars().map(safe).collect()
}

fn format_of(output: &Path) -> anyhow::Result<Format> {
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
