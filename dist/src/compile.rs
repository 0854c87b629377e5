//! The binary as it is released.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use object::elf::{FileHeader64, PT_INTERP};
use object::read::elf::{FileHeader as _, ProgramHeader as _};

use crate::platform::Platform;
use crate::project::Project;

/// Between two flags in `CARGO_ENCODED_RUSTFLAGS`.
const BETWEEN_FLAGS: &str = "\x1f";

/// Builds the binary for `platform`.
pub(crate) fn build(project: &Project, platform: &Platform) -> Result<PathBuf> {
    let mut cargo = Command::new(crate::project::cargo());
    cargo
        .args(["build", "--release", "--locked"])
        .args(["--package", crate::BINARY_PACKAGE])
        .args(["--target", platform.triple])
        .arg("--target-dir")
        .arg(&project.target)
        .current_dir(&project.root)
        .env("CARGO_ENCODED_RUSTFLAGS", flags(project, platform));
    let status = cargo.status().context("cannot start cargo")?;
    ensure!(
        status.success(),
        "cargo cannot build for {0}: {status}. If the target is missing: rustup target add {0}",
        platform.triple
    );
    let folder = project.target.join(platform.triple).join("release");
    let binary = folder.join(platform.binary());
    if platform.os == "linux" {
        require_static(&binary)?;
    }
    Ok(binary)
}

/// The compiler's flags: everything linked in, and no path of the machine that builds.
fn flags(project: &Project, platform: &Platform) -> String {
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let mut flags = vec![remap(&project.root, "/goal-auditor")];
    flags.extend(
        project
            .source_folders()
            .iter()
            .map(|folder| remap(folder, "/crates")),
    );
    if platform.links_libc {
        flags.push("-Ctarget-feature=+crt-static".to_owned());
    }
    flags.join(BETWEEN_FLAGS)
}

/// Fails if the program asks for a dynamic linker: it would not start where the libraries differ.
fn require_static(binary: &Path) -> Result<()> {
    let failed = || format!("cannot read {}", binary.display());
    let bytes = fs::read(binary).with_context(failed)?;
    let header =
        FileHeader64::<object::Endianness>::parse(bytes.as_slice()).with_context(failed)?;
    let endian = header.endian().with_context(failed)?;
    let segments = header
        .program_headers(endian, bytes.as_slice())
        .with_context(failed)?;
    if segments
        .iter()
        .any(|segment| segment.p_type(endian) == PT_INTERP)
    {
        bail!("{} is not linked statically", binary.display());
    }
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_asks_for_a_dynamic_linker_is_not_static() {
        // Test programs are linked as the platform does by default, which on glibc is dynamically.
        let this = std::env::current_exe().unwrap();
        let refused = require_static(&this).map_err(|error| error.to_string());
        assert_eq!(refused.is_err(), cfg!(not(target_feature = "crt-static")));
        assert!(require_static(Path::new("/dev/null")).is_err());
    }
}
