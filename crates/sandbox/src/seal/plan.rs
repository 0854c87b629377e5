//! What a seal will look like, decided in the caller's own view of the files, before anything of it
//! is made.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use crate::error::{Doing as _, SealError};
use crate::hidden::hidden_paths;
use crate::{Network, SealOptions};

/// Folders that are empty and private inside.
const PRIVATE: &[&str] = &["/tmp", "/var/tmp", "/run"];
/// What stays visible of `/run`: the programs of NixOS, and where names of hosts are looked up.
const KEPT_OF_RUN: &[&str] = &[
    "/run/current-system",
    "/run/wrappers",
    "/run/opengl-driver",
    "/run/systemd/resolve",
];
const MIB: u64 = 1024 * 1024;

/// A seal to be made. All paths are real: absolute, and free of links.
#[derive(Debug)]
pub(super) struct Plan {
    /// Empty folders, writable and private.
    pub(super) private: Vec<PathBuf>,
    /// Folders under a throw-away overlay, outer before inner.
    pub(super) overlaid: Vec<PathBuf>,
    /// Files and folders shown read-only although a private folder covers them.
    pub(super) kept: Vec<PathBuf>,
    /// Files and folders covered by something empty.
    pub(super) hidden: Vec<PathBuf>,
    /// Where nothing is of value to the seal: the tree is put together here.
    pub(super) stage: PathBuf,
    pub(super) network: Network,
    /// Size of all that can be written, in bytes.
    pub(super) scratch_bytes: u64,
    /// Memory of the machine, in bytes.
    pub(super) memory_bytes: u64,
}

impl Plan {
    pub(super) fn new(options: &SealOptions) -> Result<Self, SealError> {
        let workspace = real(&options.workspace)
            .doing(|| format!("finding the workspace {}", options.workspace.display()))?;
        if workspace == Path::new("/") {
            return Err(SealError::new(
                "sealing the workspace",
                "it is /, which no overlay can cover",
            ));
        }
        if !workspace.is_dir() {
            let doing = format!("sealing the workspace {}", workspace.display());
            return Err(SealError::new(doing, "it is not a folder"));
        }
        let home = options.home.as_deref().and_then(|home| real(home).ok());
        let home = home.filter(|home| home.is_dir() && home != Path::new("/"));
        let overlaid = outer_first(home.iter().cloned().chain([workspace.clone()]));
        refuse_mounts_below(&overlaid)?;
        let private = private_folders();
        let memory_bytes = memory_bytes();
        let hidden = hidden_paths(
            home.as_deref(),
            options.agent_dir.as_deref(),
            &workspace,
            &options.hide,
        );
        Ok(Self {
            kept: kept(&private, &overlaid),
            overlaid,
            hidden: existing(&hidden),
            stage: stage(&private)?,
            private,
            network: options.network,
            scratch_bytes: options
                .scratch_mb
                .map_or(memory_bytes / 4, |mb| mb.saturating_mul(MIB)),
            memory_bytes,
        })
    }
}

fn real(path: &Path) -> std::io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// Sorted so that an outer folder comes first; one inside another needs no overlay of its own.
fn outer_first(folders: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = folders.collect();
    all.sort();
    let mut kept: Vec<PathBuf> = Vec::new();
    for folder in all {
        if !kept.iter().any(|outer| folder.starts_with(outer)) {
            kept.push(folder);
        }
    }
    kept
}

fn private_folders() -> Vec<PathBuf> {
    let found = PRIVATE.iter().filter_map(|path| real(Path::new(path)).ok());
    outer_first(found.filter(|path| path.is_dir()))
}

fn stage(private: &[PathBuf]) -> Result<PathBuf, SealError> {
    let doing = "finding a place to put the seal together";
    let first = private.first().cloned();
    first.ok_or_else(|| SealError::new(doing, "there is neither /tmp nor /var/tmp nor /run"))
}

/// The kernel makes no overlay over a folder that has mounts below it: it could show what they cover.
fn refuse_mounts_below(overlaid: &[PathBuf]) -> Result<(), SealError> {
    let table = fs::read("/proc/self/mountinfo").doing(|| "reading the mount table".to_owned())?;
    let points: Vec<PathBuf> = table
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.split(|byte| *byte == b' ').nth(4))
        .map(|field| PathBuf::from(OsString::from_vec(unescaped(field))))
        .collect();
    for folder in overlaid {
        let below = |point: &&PathBuf| *point != folder && point.starts_with(folder);
        if let Some(point) = points.iter().find(below) {
            let doing = format!("making an overlay over {}", folder.display());
            let why = format!("a file system is mounted inside it, at {}", point.display());
            return Err(SealError::new(doing, why));
        }
    }
    Ok(())
}

/// The mount table writes blanks, tabs, line ends and backslashes as `\ooo`.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, tail)) = rest.split_first() {
        let code = tail.first_chunk::<3>().filter(|_| byte == b'\\');
        let code = code.and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(escaped) => {
                out.push(escaped);
                rest = &tail[3..];
            }
            None => {
                out.push(byte);
                rest = tail;
            }
        }
    }
    out
}

/// This program itself, which serves the auditor's reading tools inside; and parts of `/run`.
fn kept(private: &[PathBuf], overlaid: &[PathBuf]) -> Vec<PathBuf> {
    let this = std::env::current_exe().and_then(|path| real(&path)).ok();
    let covered = |path: &PathBuf| {
        let in_private = private.iter().any(|folder| path.starts_with(folder));
        in_private && !overlaid.iter().any(|folder| path.starts_with(folder))
    };
    let of_run = KEPT_OF_RUN.iter().map(PathBuf::from);
    let of_run = of_run.filter(|path| path.symlink_metadata().is_ok());
    of_run.chain(this).filter(covered).collect()
}

/// Where links lead counts: it is the file itself that is covered.
fn existing(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = paths.iter().filter_map(|path| real(path).ok()).collect();
    found.sort();
    found.dedup();
    found
}

fn memory_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    info.totalram.saturating_mul(info.mem_unit.into())
}

/// A path below the new root that is being put together at `root`.
pub(super) fn inside(root: &Path, path: &Path) -> PathBuf {
    let bytes = path.as_os_str().as_bytes();
    let relative = bytes.strip_prefix(b"/").unwrap_or(bytes);
    root.join(OsString::from_vec(relative.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_inside_another_needs_no_overlay_of_its_own() {
        let folders = ["/home/me/project", "/home/me", "/home/me2"].map(PathBuf::from);
        let expected = ["/home/me", "/home/me2"].map(PathBuf::from);
        assert_eq!(outer_first(folders.into_iter()), expected);
    }

    #[test]
    fn the_mount_tables_escapes_are_undone() {
        assert_eq!(unescaped(br"/a\040b\134c\012"), b"/a b\\c\n");
        assert_eq!(unescaped(br"/a\9\"), br"/a\9\");
    }
}
