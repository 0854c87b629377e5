//! The other extension: fetched when it is measured, and never else.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use goal_tests::install;
use serde_json::Value;

use crate::node;

/// Where its version is pinned.
const FOLDER: &str = "benches/rival";

/// Brings it to the pinned version. Nothing happens if it is there.
pub(super) fn install() -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(install::root());
    command.args(["run", "--quiet", "--package", "xtask", "--"]);
    let status = command.args(["setup", "--benches"]).status();
    let status = status.context("cargo does not start")?;
    ensure!(status.success(), "`cargo xtask setup --benches` failed");
    Ok(())
}

/// The programs that take part, each with its version.
pub(super) fn versions() -> Result<Vec<(String, String)>> {
    let pi = "@earendil-works/pi-coding-agent";
    let rival = "@capyup/pi-goal";
    Ok(vec![
        ("Node".to_owned(), node::version()?),
        ("pi".to_owned(), package_version("tests/pi", pi)?),
        (rival.to_owned(), package_version(FOLDER, rival)?),
    ])
}

fn package_version(folder: &str, package: &str) -> Result<String> {
    let file = install::root()
        .join(folder)
        .join("node_modules")
        .join(package)
        .join("package.json");
    let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let package: Value = serde_json::from_str(&text)?;
    let version = package["version"].as_str();
    Ok(version.context("a package without a version")?.to_owned())
}
