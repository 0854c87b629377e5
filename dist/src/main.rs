//! `cargo xtask dist`: the packages that users install, with checksums, licences and a bill of materials.
//!
//! Everything in them is the same, byte for byte, for the same source and toolchain.

mod archive;
mod bom;
mod compile;
mod licences;
mod packages;
mod platform;
mod project;
mod runtime;
mod sums;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use clap::Parser;

use crate::packages::Plan;
use crate::platform::Platform;
use crate::project::Project;

/// The npm package that users name.
const MAIN_PACKAGE: &str = "pi-goal-auditor";
/// The Rust package of the binary, and the folder that needs no npm.
const BINARY_PACKAGE: &str = "goal-auditor";

/// Build the packages that users install
#[derive(Parser)]
#[command(name = "cargo xtask dist", bin_name = "cargo xtask dist")]
struct Cli {
    /// Platform of the binary, in Rust's words [default: this machine's]
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// Where folders, archives and SHA256SUMS go [default: target/dist]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Pack this binary instead of building one; nobody checks how it is linked
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Address of the repository, https://…, for the packages' manifests
    #[arg(long, value_name = "ADDRESS")]
    repository: Option<String>,
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("dist: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<()> {
    let target = match cli.target {
        Some(target) => target,
        None => host()?,
    };
    let platform = Platform::of(&target)?;
    let project = Project::read(root(), platform)?;
    let binary = match cli.binary {
        Some(binary) => binary,
        None => compile::build(&project, platform)?,
    };
    let out = cli.out.unwrap_or_else(|| project.target.join("dist"));
    fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;
    let plan = Plan {
        project: &project,
        platform,
        binary: &binary,
        out: &out,
        repository: cli.repository.as_deref(),
    };
    for made in plan.make()? {
        println!("{}", made.display());
    }
    sums::write(&out, &project.version)?;
    println!("{}", out.join(sums::FILE).display());
    Ok(())
}

/// The root of the repository.
fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

/// The platform that the compiler runs on.
fn host() -> Result<String> {
    let output = Command::new("rustc").arg("-vV").output();
    let output = output.context("cannot start rustc")?;
    let told = String::from_utf8_lossy(&output.stdout);
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc names no host")?.to_owned())
}
