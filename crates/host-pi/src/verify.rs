//! `goal-auditor verify`.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use goal_protocol::FingerprintWire;
use goal_sandbox::fingerprint::{self, Content, Summary};
use serde::Deserialize;

use crate::cli::VerifyArgs;
use crate::fingerprint::restored;

const EXIT_DIFFERS: u8 = 1;
const EXIT_CANNOT_TELL: u8 = 2;
/// The custom type of everything our extension writes.
const CUSTOM_TYPE: &str = "goal-auditor";
/// Most places named.
const PLACES_MAX: usize = 50;

/// What of a session's line matters here; others have none of it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    r#type: String,
    cwd: Option<PathBuf>,
    custom_type: Option<String>,
    data: Option<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
struct Audit {
    kind: String,
    outcome: String,
    number: u64,
    after: Option<FingerprintWire>,
}

pub(crate) fn run(args: &VerifyArgs) -> anyhow::Result<ExitCode> {
    match verify(args) {
        Ok(code) => Ok(code),
        Err(error) => {
            eprintln!("goal-auditor: cannot tell: {error:#}");
            Ok(ExitCode::from(EXIT_CANNOT_TELL))
        }
    }
}

fn verify(args: &VerifyArgs) -> anyhow::Result<ExitCode> {
    let (cwd, audit) = newest_approval(&args.session)?;
    let audit = audit.context("the session holds no approved audit")?;
    let approved = audit
        .after
        .with_context(|| format!("audit {} kept no fingerprint (sandbox off?)", audit.number))?;
    let workspace = args.workspace.clone().or(cwd);
    let workspace = workspace.context("the session names no working folder; use --workspace")?;
    let now = fingerprint::take(&workspace, Content::All)
        .with_context(|| format!("cannot read {}", workspace.display()))?;
    let (approved, now) = (restored(approved), Summary::of(&now));
    if now.digest == approved.digest {
        println!("The tree of audit {} stands: {}", audit.number, now.digest);
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "The tree differs from the one audit {} approved.",
        audit.number
    );
    println!("approved  {}  {} files", approved.digest, approved.files);
    println!("now       {}  {} files", now.digest, now.files);
    let places = approved.differences(&now);
    for place in places.iter().take(PLACES_MAX) {
        println!("  {place}");
    }
    if let Some(more) = places
        .len()
        .checked_sub(PLACES_MAX)
        .filter(|more| *more > 0)
    {
        println!("  and {more} more");
    }
    Ok(ExitCode::from(EXIT_DIFFERS))
}

/// The session's working folder, and its last audit that approved. A torn last line is no entry.
fn newest_approval(session: &Path) -> anyhow::Result<(Option<PathBuf>, Option<Audit>)> {
    let file = File::open(session).with_context(|| format!("cannot open {}", session.display()))?;
    let (mut cwd, mut found) = (None, None);
    for line in BufReader::new(file).split(b'\n') {
        let line = line.with_context(|| format!("cannot read {}", session.display()))?;
        let Ok(line) = serde_json::from_slice::<Line>(&line) else {
            continue;
        };
        if line.r#type == "session" {
            cwd = line.cwd;
            continue;
        }
        let ours = line.r#type == "custom" && line.custom_type.as_deref() == Some(CUSTOM_TYPE);
        let data = line.data.filter(|_| ours);
        let audit = data.and_then(|data| serde_json::from_value::<Audit>(data).ok());
        found = audit
            .filter(|one| one.kind == "audit" && one.outcome == "approved")
            .or(found);
    }
    Ok((cwd, found))
}
