//! The workspace around an audit: its fingerprint, and commands in its seal.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use goal_sandbox::fingerprint::{Content, Summary, take, take_after};
use goal_tests::install;
use tempfile::TempDir;

use crate::Effort;
use crate::growth::{Curve, Growing, Law};
use crate::measure::{Samples, Unit, as_f64};
use crate::report::{Section, Table};
use crate::stopwatch::{Side, by_turns, nanoseconds, per_call, time_of};

const FILES_IN_A_FOLDER: usize = 50;
/// Small, as sources are.
const FILE: &[u8] = &[b'x'; 2_000];

/// A repository with so many files.
fn tree(files: usize) -> Result<TempDir> {
    let folder = tempfile::tempdir()?;
    for number in 0..files {
        let place = folder
            .path()
            .join(format!("src/{}", number / FILES_IN_A_FOLDER));
        if number % FILES_IN_A_FOLDER == 0 {
            fs::create_dir_all(&place)?;
        }
        fs::write(place.join(format!("file{number}.rs")), FILE)?;
    }
    let mut git = Command::new("git");
    let status = git.args(["init", "-q"]).current_dir(folder.path()).status();
    ensure!(
        status.context("cannot start git")?.success(),
        "git init failed"
    );
    Ok(folder)
}

/// The fingerprints that an audit takes, and one for a record.
type Look = (&'static str, fn(&Path) -> Result<()>);
const LOOKS: [Look; 3] = [
    ("metadata alone", |root| {
        take(root, Content::None)?;
        Ok(())
    }),
    ("before an audit: what changed last is hashed", |root| {
        take(root, Content::Recent)?;
        Ok(())
    }),
    ("for a record: all content is hashed", |root| {
        let _ = Summary::of(&take(root, Content::All)?);
        Ok(())
    }),
];
const AFTER: &str = "after an audit: compared with the one before";

/// A sample of one look.
fn look(look: impl FnOnce() -> Result<()>) -> Result<f64> {
    let mut done = Ok(());
    let took = time_of(|| done = look());
    done.map(|()| nanoseconds(took))
}

/// Samples of each look at a tree, the one after an audit last.
fn looks(root: &Path, rounds: usize) -> Result<Vec<Samples>> {
    let before = take(root, Content::Recent)?;
    let mut sides: Vec<Side<'_>> = Vec::new();
    for (_, at) in LOOKS {
        sides.push(Box::new(move || look(|| at(root))));
    }
    sides.push(Box::new(|| {
        look(|| take_after(&before).map(drop).map_err(Into::into))
    }));
    by_turns(rounds, &mut sides)
}

/// The section of the parts.
pub(super) fn section(effort: Effort) -> Result<Section> {
    let files = effort.pick(10_000, 50_000);
    let tree = tree(files)?;
    let mut table = Table::new(
        &format!(
            "Fingerprint of {} files",
            Unit::Count("").show(as_f64(files))
        ),
        ["fingerprint", "time", "for each file"],
    );
    let names = LOOKS.map(|(name, _)| name).into_iter().chain([AFTER]);
    for (name, times) in names.zip(looks(tree.path(), effort.pick(5, 15))?) {
        let each = times.median() / as_f64(files);
        table.row([name.to_owned(), times.show(), Unit::Nanoseconds.show(each)]);
    }
    let (commands, found) = commands(tree.path(), effort)?;
    Ok(Section {
        title: "Workspace of an audit".to_owned(),
        intro: format!(
            "A repository of small files, all of them in the system's cache. Commands are `sh -c :`, which does nothing, \
             started in a folder of it: by themselves, in a seal that is held for the whole audit, as an auditor's \
             commands are, and in a seal that is made for the one command. Each file has {} bytes.",
            FILE.len()
        ),
        tables: std::iter::once(table).chain(commands).collect(),
        findings: found,
        ..Section::default()
    })
}

/// A seal that is held.
struct Seal {
    child: Child,
    socket: PathBuf,
    _folder: TempDir,
}

impl Seal {
    /// Seals a workspace; what the system says if it does not allow that.
    fn of(workspace: &Path) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let socket = folder.path().join("socket");
        let mut child = Command::new(install::binary())
            .args(["audit-seal", "--workspace"])
            .arg(workspace)
            .arg("--socket")
            .arg(&socket)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        let output = child.stdout.take().context("no output")?;
        let seal = Self {
            child,
            socket,
            _folder: folder,
        };
        BufReader::new(output).read_line(&mut line)?;
        ensure!(line == "ready\n", "there is no seal here");
        Ok(seal)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(install::binary());
        command.args(["audit-exec", "--join"]).arg(&self.socket);
        command.args(["--", "/bin/sh", "-c", ":"]);
        command
    }
}

impl Drop for Seal {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn unsealed() -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", ":"]);
    command
}

fn seal_of_its_own() -> Command {
    let mut command = Command::new(install::binary());
    command.args(["audit-exec", "--workspace", ".", "--", "/bin/sh", "-c", ":"]);
    command
}

/// A sample of a command: nanoseconds from its start to its end.
fn run(workspace: &Path, command: &mut Command) -> Result<f64> {
    let command = command
        .current_dir(workspace)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let mut failed = false;
    let time = per_call(|| failed |= !command.status().is_ok_and(|status| status.success()));
    ensure!(!failed, "{command:?} failed");
    Ok(time)
}

/// Sealed commands beside the same unsealed, or why there are none.
fn commands(workspace: &Path, effort: Effort) -> Result<(Option<Table>, Vec<String>)> {
    let seal = match Seal::of(workspace) {
        Ok(seal) => seal,
        Err(why) => return Ok((None, vec![format!("No sealed commands: {why}.")])),
    };
    let mut sides: [Side<'_>; 3] = [
        Box::new(|| run(workspace, &mut unsealed())),
        Box::new(|| run(workspace, &mut seal.command())),
        Box::new(|| run(workspace, &mut seal_of_its_own())),
    ];
    let samples = by_turns(effort.pick(10, 30), &mut sides)?;
    let mut table = Table::new(
        "A command that does nothing",
        ["command", "time", "more than unsealed"],
    );
    let names = [
        "unsealed",
        "in the seal of an audit",
        "in a seal of its own",
    ];
    for (name, times) in names.iter().zip(&samples) {
        let more = times.median() - samples[0].median();
        let more = if more > 0.0 {
            Unit::Nanoseconds.show(more)
        } else {
            "–".to_owned()
        };
        table.row([(*name).to_owned(), times.show(), more]);
    }
    Ok((Some(table), Vec::new()))
}

/// Times against the files of a workspace.
pub(super) fn growing_fingerprint(effort: Effort) -> Result<Growing> {
    let sizes = effort.pick([100, 1_000, 10_000], [100, 3_000, 100_000]);
    let names = LOOKS.map(|(name, _)| name).into_iter().chain([AFTER]);
    let mut curves: Vec<Curve> = names.map(|name| curve(name, Law::Linear)).collect();
    for files in sizes {
        let tree = tree(files)?;
        for (curve, times) in curves.iter_mut().zip(looks(tree.path(), 3)?) {
            curve.points.push((as_f64(files), times.median()));
        }
    }
    Ok(Growing {
        title: "Fingerprint against the workspace",
        file: "growth-fingerprint.svg",
        size: "files",
        intro: String::new(),
        curves,
    })
}

/// The same for a command.
pub(super) fn growing_commands(effort: Effort) -> Result<Growing> {
    let sizes = effort.pick([100, 1_000, 10_000], [100, 3_000, 100_000]);
    let names = [
        "unsealed",
        "in the seal of an audit",
        "in a seal of its own",
    ];
    let mut curves = names.map(|name| curve(name, Law::Level));
    for files in sizes {
        let tree = tree(files)?;
        let workspace = tree.path();
        let seal = Seal::of(workspace)?;
        let mut sides: [Side<'_>; 3] = [
            Box::new(|| run(workspace, &mut unsealed())),
            Box::new(|| run(workspace, &mut seal.command())),
            Box::new(|| run(workspace, &mut seal_of_its_own())),
        ];
        for (curve, times) in curves.iter_mut().zip(by_turns(5, &mut sides)?) {
            curve.points.push((as_f64(files), times.median()));
        }
    }
    Ok(Growing {
        title: "A command against the workspace",
        file: "growth-commands.svg",
        size: "files",
        intro: "A command that does nothing.".to_owned(),
        curves: curves.to_vec(),
    })
}

fn curve(name: &str, law: Law) -> Curve {
    Curve {
        name: name.to_owned(),
        law: Some(law),
        points: Vec::new(),
    }
}
