//! `uninstall`: takes the extension out again and leaves the user's settings alone.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::agent_dir::{self, AgentDir};

/// Runs the task.
pub(crate) fn run(agent_dir: Option<PathBuf>) -> Result<()> {
    let agent = AgentDir::find(agent_dir)?;
    let place = agent.extension();
    if place.symlink_metadata().is_err() {
        println!("not installed: there is no {}", place.display());
        return Ok(());
    }
    let scratch = agent.scratch()?;
    agent_dir::move_away(&place, &scratch)?;
    // Removing a tree does not follow a developer's link; it removes the link.
    fs::remove_dir_all(&scratch).with_context(|| format!("cannot remove {}", scratch.display()))?;
    println!("removed: {}", place.display());
    if agent.settings().exists() {
        println!("kept your settings: {}", agent.settings().display());
    }
    println!("a running pi drops it with /reload; goals stay in their session files");
    println!("to undo: cargo xtask install");
    Ok(())
}
