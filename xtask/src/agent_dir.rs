//! pi's agent folder, found as pi finds it, and our place in it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The folder of our extension inside the agent folder.
const EXTENSION: &str = "goal-auditor";

/// The agent folder of a pi.
pub(crate) struct AgentDir(PathBuf);

impl AgentDir {
    /// `given`, else `PI_CODING_AGENT_DIR` (a leading `~/` is the home), else `~/.pi/agent`.
    pub(crate) fn find(given: Option<PathBuf>) -> Result<Self> {
        if let Some(folder) = given {
            return Ok(Self(folder));
        }
        let set = std::env::var_os("PI_CODING_AGENT_DIR").filter(|value| !value.is_empty());
        let Some(folder) = set.map(PathBuf::from) else {
            return Ok(Self(home()?.join(".pi/agent")));
        };
        match folder.strip_prefix("~") {
            Ok(rest) => Ok(Self(home()?.join(rest))),
            Err(_) => Ok(Self(folder)),
        }
    }

    /// Where our extension is, if it is installed.
    pub(crate) fn extension(&self) -> PathBuf {
        self.extensions().join(EXTENSION)
    }

    /// The user's settings for our extension; never written, only mentioned.
    pub(crate) fn settings(&self) -> PathBuf {
        self.0.join("goal-auditor.json")
    }

    /// A fresh folder from which a rename into the extensions folder is possible. It is beside that
    /// folder and not inside, because pi loads whatever it finds inside.
    pub(crate) fn scratch(&self) -> Result<PathBuf> {
        let extensions = self.extensions();
        fs::create_dir_all(&extensions)
            .with_context(|| format!("cannot create {}", extensions.display()))?;
        // The real folder: the user may keep it on another disk, behind a link.
        let real = extensions.canonicalize()?;
        let beside = real.parent().unwrap_or(&real);
        let folder = beside.join(format!(".{EXTENSION}-{}", std::process::id()));
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(folder)
    }

    fn extensions(&self) -> PathBuf {
        self.0.join("extensions")
    }
}

/// Moves what is at `place` (a folder, or a link a developer made) into `scratch`; says whether
/// there was anything.
pub(crate) fn move_away(place: &Path, scratch: &Path) -> Result<bool> {
    if place.symlink_metadata().is_err() {
        return Ok(false);
    }
    fs::rename(place, scratch.join("old"))
        .with_context(|| format!("cannot move {} away", place.display()))?;
    Ok(true)
}

fn home() -> Result<PathBuf> {
    std::env::home_dir().context("the home folder is unknown; name the agent folder: --agent-dir")
}
