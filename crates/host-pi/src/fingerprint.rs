//! `goal-auditor fingerprint`, and the saved form of a fingerprint.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use goal_protocol::FingerprintWire;
use goal_sandbox::fingerprint::{self, Content, Entry, Fingerprint, Kind, Summary};
use serde::Serialize;

use crate::cli::FingerprintArgs;

#[derive(Serialize)]
struct Report {
    /// Every file was hashed; else the digest holds times and means only this tree at this moment.
    content: bool,
    #[serde(flatten)]
    summary: FingerprintWire,
    entries: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    path: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    mode: String,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    inode: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    blake3: Option<String>,
}

pub(crate) fn run(args: &FingerprintArgs) -> anyhow::Result<ExitCode> {
    let content = if args.content {
        Content::All
    } else {
        Content::None
    };
    let taken = fingerprint::take(&args.folder, content)
        .with_context(|| format!("cannot read {}", args.folder.display()))?;
    let summary = saved(&Summary::of(&taken));
    if args.json {
        println!("{}", serde_json::to_string(&report(&taken, summary, args))?);
    } else {
        print(&summary, args);
    }
    Ok(ExitCode::SUCCESS)
}

fn print(summary: &FingerprintWire, args: &FingerprintArgs) {
    let of = if args.content {
        "content"
    } else {
        "metadata only: --content makes it comparable"
    };
    println!("{}  ({of})", summary.digest);
    println!("{} files, {} bytes", summary.files, summary.bytes);
    if let Some(commit) = &summary.commit {
        println!("commit {commit}");
    }
    println!(
        "git {}, ignore rules {}",
        summary.repositories, summary.rules
    );
}

fn report(taken: &Fingerprint, summary: FingerprintWire, args: &FingerprintArgs) -> Report {
    let entries = taken.entries.iter();
    Report {
        content: args.content,
        summary,
        entries: entries.map(|(path, entry)| line(path, entry)).collect(),
    }
}

fn line(path: &Path, entry: &Entry) -> Line {
    let (kind, target) = match &entry.kind {
        Kind::File if entry.unreadable => ("unreadable file", None),
        Kind::File => ("file", None),
        Kind::Link(target) => ("link", Some(target.to_string_lossy().into_owned())),
        Kind::Special => ("special", None),
        Kind::UnreadableFolder => ("unreadable folder", None),
    };
    let hex = |hash: &[u8; 32]| hash.iter().map(|byte| format!("{byte:02x}")).collect();
    Line {
        path: path.to_string_lossy().into_owned(),
        kind,
        target,
        mode: format!("{:o}", entry.mode),
        size: entry.size,
        modified: entry.modified,
        changed: entry.changed,
        inode: entry.inode,
        blake3: entry.content.as_ref().map(hex),
    }
}

/// The form kept in an audit's entry.
pub(crate) fn saved(summary: &Summary) -> FingerprintWire {
    FingerprintWire {
        digest: summary.digest.clone(),
        files: summary.files,
        bytes: summary.bytes,
        commit: summary.commit.clone(),
        repositories: summary.repositories.clone(),
        rules: summary.rules.clone(),
        parts: summary.parts.clone(),
    }
}

/// Back from the form kept in an audit's entry.
pub(crate) fn restored(saved: FingerprintWire) -> Summary {
    Summary {
        digest: saved.digest,
        files: saved.files,
        bytes: saved.bytes,
        commit: saved.commit,
        repositories: saved.repositories,
        rules: saved.rules,
        parts: saved.parts,
    }
}
