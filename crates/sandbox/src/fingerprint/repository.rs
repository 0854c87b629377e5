//! What of a git repository belongs to a fingerprint, read without git.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::index::{self, Staged};
use super::{Hash, walk};

/// Largest file read from a repository's folder, in bytes.
const FILE_MAX_BYTES: u64 = 1024 * 1024 * 1024;
/// HEAD points to a branch, which may be a link to another; git follows this many.
const REFERENCES_MAX: usize = 5;

/// The state of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// What HEAD says: `ref: refs/heads/main`, or a commit.
    pub head: String,
    /// The commit it leads to; none before the first.
    pub commit: Option<String>,
    /// Hash of the index by its entries, or of its bytes if this cannot read it; none without one.
    pub index: Option<Hash>,
}

/// A repository and what its index tracks, by path relative to its folder.
pub(super) struct Read {
    pub(super) repository: Repository,
    pub(super) tracked: Vec<Vec<u8>>,
    /// Where `info/exclude` is.
    pub(super) common: PathBuf,
}

/// Reads the repository whose `.git` (folder or file) is in `folder`; `None` if there is none.
pub(super) fn read(folder: &Path) -> Option<Read> {
    let git = git_folder(folder)?;
    let head = text(&git.join("HEAD"))?;
    let common = text(&git.join("commondir")).map_or_else(|| git.clone(), |path| git.join(path));
    let commit = commit(&git, &common, &head);
    let object_bytes = match uses_sha256(&common) {
        true => 32,
        false => 20,
    };
    let bytes = contents(&git.join("index"));
    let staged = bytes
        .as_deref()
        .map(|bytes| index::read(bytes, object_bytes));
    let index = match (&bytes, staged.as_ref()) {
        (Some(_), Some(Some(staged))) => Some(hash(staged)),
        (Some(bytes), _) => Some(*blake3::hash(bytes).as_bytes()),
        (None, _) => None,
    };
    let tracked = staged.flatten().unwrap_or_default();
    Some(Read {
        repository: Repository {
            head,
            commit,
            index,
        },
        tracked: tracked.into_iter().map(|one| one.path).collect(),
        common,
    })
}

/// `.git`, or where the file of that name (a worktree, a submodule) points.
fn git_folder(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    let found = fs::metadata(&git).ok()?;
    if found.is_dir() {
        return Some(git);
    }
    let line = text(&git)?;
    Some(folder.join(line.strip_prefix("gitdir:")?.trim()))
}

fn contents(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = walk::open_file(path).ok()?;
    file.take(FILE_MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn text(path: &Path) -> Option<String> {
    let bytes = contents(path)?;
    Some(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

fn commit(git: &Path, common: &Path, head: &str) -> Option<String> {
    let mut value = head.to_owned();
    for _ in 0..REFERENCES_MAX {
        let Some(name) = value.strip_prefix("ref:").map(str::trim) else {
            return Some(value);
        };
        value = text(&git.join(name))
            .or_else(|| text(&common.join(name)))
            .or_else(|| packed(common, name))?;
    }
    None
}

fn packed(common: &Path, name: &str) -> Option<String> {
    let table = text(&common.join("packed-refs"))?;
    let mut lines = table.lines().filter_map(|line| line.split_once(' '));
    let found = lines.find(|(_, of)| *of == name)?;
    Some(found.0.to_owned())
}

fn uses_sha256(common: &Path) -> bool {
    let config = text(&common.join("config")).unwrap_or_default();
    config.lines().any(|line| {
        let line = line.to_ascii_lowercase();
        let setting = line.split_once('=');
        setting.is_some_and(|(key, value)| key.trim() == "objectformat" && value.trim() == "sha256")
    })
}

fn hash(staged: &[Staged]) -> Hash {
    let mut hasher = blake3::Hasher::new();
    for one in staged {
        hasher.update(&one.mode.to_be_bytes());
        hasher.update(&one.object);
        hasher.update(&[one.stage]);
        hasher.update(&one.path.len().to_be_bytes());
        hasher.update(&one.path);
    }
    *hasher.finalize().as_bytes()
}
