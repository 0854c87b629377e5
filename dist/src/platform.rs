//! The platforms that get a package, and how each is named by Rust and by npm.

use anyhow::{Context, Result};

/// One platform.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Platform {
    /// Rust's name, as for `rustc --target`.
    pub(crate) triple: &'static str,
    /// The end of the name of its package; the extension's `core.ts` makes the same names.
    pub(crate) name: &'static str,
    /// npm's `os`, which is Node's `process.platform`.
    pub(crate) os: &'static str,
    /// npm's `cpu`, which is Node's `process.arch`.
    pub(crate) cpu: &'static str,
    /// npm's `libc`, where a platform has more than one.
    pub(crate) libc: Option<&'static str>,
    /// The C library can be linked into the program.
    pub(crate) links_libc: bool,
}

/// Every platform, in the order of the documentation.
pub(crate) const ALL: [Platform; 7] = [
    linux("x86_64-unknown-linux-gnu", "linux-x64-gnu", "x64", "glibc"),
    linux("x86_64-unknown-linux-musl", "linux-x64-musl", "x64", "musl"),
    linux(
        "aarch64-unknown-linux-gnu",
        "linux-arm64-gnu",
        "arm64",
        "glibc",
    ),
    linux(
        "aarch64-unknown-linux-musl",
        "linux-arm64-musl",
        "arm64",
        "musl",
    ),
    other("x86_64-apple-darwin", "darwin-x64", "darwin", "x64"),
    other("aarch64-apple-darwin", "darwin-arm64", "darwin", "arm64"),
    other("x86_64-pc-windows-msvc", "win32-x64", "win32", "x64"),
];

const fn linux(
    triple: &'static str,
    name: &'static str,
    cpu: &'static str,
    libc: &'static str,
) -> Platform {
    Platform {
        triple,
        name,
        os: "linux",
        cpu,
        libc: Some(libc),
        links_libc: true,
    }
}

const fn other(
    triple: &'static str,
    name: &'static str,
    os: &'static str,
    cpu: &'static str,
) -> Platform {
    Platform {
        triple,
        name,
        os,
        cpu,
        libc: None,
        // macOS has no static system library.
        links_libc: matches!(os.as_bytes(), b"win32"),
    }
}

impl Platform {
    /// The platform of a Rust triple.
    pub(crate) fn of(triple: &str) -> Result<&'static Self> {
        let known = || ALL.map(|platform| platform.triple).join(", ");
        ALL.iter()
            .find(|platform| platform.triple == triple)
            .with_context(|| format!("no package is made for {triple}; known are {}", known()))
    }

    /// The npm package with its binary.
    pub(crate) fn package(&self) -> String {
        format!("{}-{}", crate::MAIN_PACKAGE, self.name)
    }

    /// The file name of the binary.
    pub(crate) fn binary(&self) -> &'static str {
        if self.os == "win32" {
            "goal-auditor.exe"
        } else {
            "goal-auditor"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_platform_has_a_name_of_its_own_made_of_what_npm_calls_it() {
        for platform in &ALL {
            assert_eq!(Platform::of(platform.triple).unwrap(), platform);
            let mut name = format!("{}-{}", platform.os, platform.cpu);
            match platform.libc {
                Some("glibc") => name.push_str("-gnu"),
                Some(libc) => name.push_str(&format!("-{libc}")),
                None => {}
            }
            assert_eq!(platform.name, name, "as core.ts makes it");
        }
        assert_eq!(
            Platform::of("x86_64-pc-windows-msvc").unwrap().binary(),
            "goal-auditor.exe"
        );
    }

    #[test]
    fn a_platform_without_a_package_is_refused_with_those_that_have_one() {
        let refused = Platform::of("riscv64gc-unknown-linux-gnu")
            .unwrap_err()
            .to_string();
        assert!(refused.contains("x86_64-unknown-linux-gnu, "), "{refused}");
    }

    #[test]
    fn a_release_builds_every_platform() {
        let workflow = include_str!("../../.github/workflows/release.yml");
        let built = workflow.lines().filter_map(|line| {
            let (_, target) = line.trim().strip_suffix(" }")?.split_once("target: ")?;
            Some(target)
        });
        assert_eq!(
            built.collect::<Vec<_>>(),
            ALL.map(|platform| platform.triple)
        );
    }
}
