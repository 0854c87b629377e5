//! `setup`: installs what a folder pins, once for every state of its lock file.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::project;

/// Installs the pi that everything else runs on.
pub(crate) fn pi() -> Result<()> {
    pinned(&project::pi_folder(), "pi, Node, tsc; about 400 MB")
}

/// Installs all that the tests run on.
pub(crate) fn run() -> Result<()> {
    pi()?;
    pinned(
        &project::registry_folder(),
        "a registry of packages; about 65 MB",
    )
}

/// Installs what the benches measure beside us.
pub(crate) fn benches() -> Result<()> {
    pinned(&project::rival_folder(), "the other extension")
}

/// Installs what one folder pins.
fn pinned(folder: &Path, what: &str) -> Result<()> {
    let name = folder.display();
    // Tests of one run call this side by side, and `npm ci` deletes the folder that they use.
    let guard =
        File::create(folder.join(".setup.lock")).with_context(|| format!("cannot lock {name}"))?;
    guard
        .lock()
        .with_context(|| format!("cannot lock {name}"))?;

    let wanted = fs::read(folder.join("package-lock.json"))
        .with_context(|| format!("{name}/package-lock.json is missing"))?;
    let stamp = folder.join("node_modules/.installed-from");
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    eprintln!("setup: npm ci in {name} ({what}) …");
    install(folder)?;
    fs::write(&stamp, wanted).with_context(|| format!("cannot write the stamp of {name}"))?;
    eprintln!("setup: done");
    Ok(())
}

fn install(folder: &Path) -> Result<()> {
    let npm = npm();
    let found = Command::new(&npm)
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    if !found.is_ok_and(|status| status.success()) {
        bail!(
            "`{}` does not run. npm (any version that comes with Node 18 or newer) installs \
             pi and what else is needed from its registry: https://nodejs.org/en/download",
            npm.display()
        );
    }
    // pi's own Node is among the packages, so npm's warnings about the system's are void.
    let mut command = Command::new(&npm);
    command.args(["ci", "--loglevel=error"]).current_dir(folder);
    project::run(&mut command)
}

fn npm() -> OsString {
    let name = if cfg!(windows) { "npm.cmd" } else { "npm" };
    std::env::var_os("NPM").unwrap_or_else(|| name.into())
}
