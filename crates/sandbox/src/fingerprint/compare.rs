//! What differs between two fingerprints, and a fingerprint in few words.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{Entry, Fingerprint, Hash, Kind, same_metadata};

/// What an honest run of builds and tests leaves behind: names of folders. Only *added* files are
/// ever forgiven for being in one.
const BY_PRODUCT_FOLDERS: &[&str] = &[
    "__pycache__",
    "target",
    "node_modules",
    "dist",
    "build",
    "out",
    "coverage",
    "htmlcov",
    ".nyc_output",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".tox",
    ".nox",
    ".gradle",
    ".next",
    ".turbo",
    ".parcel-cache",
    ".vitest",
    ".cache",
    "TestResults",
];
/// The same: names of files.
const BY_PRODUCT_FILES: &[&str] = &[
    ".coverage",
    "coverage.xml",
    "coverage.out",
    "coverage.json",
    "lcov.info",
    "junit.xml",
    ".eslintcache",
    ".stylelintcache",
];
/// The same: ends of file names.
const BY_PRODUCT_ENDS: &[&str] = &[
    ".pyc",
    ".pyo",
    ".tsbuildinfo",
    ".profraw",
    ".profdata",
    ".gcda",
    ".gcno",
    ".test.log",
];

/// Whether an added file is a by-product of builds and tests.
#[must_use]
pub fn is_by_product(path: &Path) -> bool {
    let named = |list: &[&str], name: &OsStr| list.iter().any(|one| OsStr::new(one) == name);
    let mut folders = path.parent().into_iter().flat_map(Path::components);
    let name = path.file_name().unwrap_or_default();
    let text = name.to_string_lossy();
    folders.any(|folder| named(BY_PRODUCT_FOLDERS, folder.as_os_str()))
        || named(BY_PRODUCT_FILES, name)
        || BY_PRODUCT_ENDS.iter().any(|end| text.ends_with(end))
        || text.starts_with(".coverage.")
}

/// A difference, by its place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// A file, by path relative to the workspace.
    File(PathBuf),
    /// An ignore rule file.
    Rules(PathBuf),
    /// HEAD or its commit, of the repository in this folder.
    Head(PathBuf),
    /// What is staged, in the repository in this folder.
    Index(PathBuf),
}

/// What differs between two fingerprints.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// New files.
    pub added: Vec<PathBuf>,
    /// Files that are gone.
    pub removed: Vec<PathBuf>,
    /// Files whose kind, mode, content or target differs, or may differ; and rules, HEAD and index.
    pub changed: Vec<Change>,
}

impl Changes {
    /// Nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }

    /// Takes out the added files that are by-products of builds and tests, and returns them.
    pub fn take_by_products(&mut self) -> Vec<PathBuf> {
        let (forgiven, rest) = std::mem::take(&mut self.added)
            .into_iter()
            .partition(|path| is_by_product(path));
        self.added = rest;
        forgiven
    }
}

/// Compares two fingerprints of one workspace.
#[must_use]
pub fn compare(before: &Fingerprint, after: &Fingerprint) -> Changes {
    let missing = |from: &Fingerprint, path: &Path| !from.entries.contains_key(path);
    let added = after.entries.keys().filter(|path| missing(before, path));
    let removed = before.entries.keys().filter(|path| missing(after, path));
    let mut changed: Vec<Change> = Vec::new();
    for (path, then) in &before.entries {
        let now = after.entries.get(path);
        if now.is_some_and(|now| differs(then, now)) {
            changed.push(Change::File(path.clone()));
        }
    }
    changed.extend(different(&before.rules, &after.rules).map(Change::Rules));
    changed.extend(repositories(before, after));
    Changes {
        added: added.cloned().collect(),
        removed: removed.cloned().collect(),
        changed,
    }
}

/// Times alone do not count when the content is known to be equal.
fn differs(then: &Entry, now: &Entry) -> bool {
    if same_metadata(then, now) {
        return then.content != now.content && then.content.is_some() && now.content.is_some();
    }
    if then.kind != now.kind || then.mode != now.mode {
        return true;
    }
    match then.kind {
        Kind::File => {
            then.size != now.size || then.content.is_none() || then.content != now.content
        }
        Kind::Link(_) => false,
        Kind::Special => then.inode != now.inode,
        Kind::UnreadableFolder => true,
    }
}

fn different<V: PartialEq>(
    then: &BTreeMap<PathBuf, V>,
    now: &BTreeMap<PathBuf, V>,
) -> impl Iterator<Item = PathBuf> {
    let mut paths: Vec<&PathBuf> = then.keys().chain(now.keys()).collect();
    paths.sort();
    paths.dedup();
    let differing = paths
        .into_iter()
        .filter(|path| then.get(*path) != now.get(*path));
    differing.cloned().collect::<Vec<_>>().into_iter()
}

fn repositories(before: &Fingerprint, after: &Fingerprint) -> Vec<Change> {
    let differing = different(&before.repositories, &after.repositories);
    let changes = differing.flat_map(|folder| {
        let (then, now) = (
            before.repositories.get(&folder),
            after.repositories.get(&folder),
        );
        let head =
            |of: Option<&super::Repository>| of.map(|of| (of.head.clone(), of.commit.clone()));
        let mut found = Vec::new();
        if head(then) != head(now) {
            found.push(Change::Head(folder.clone()));
        }
        if then.map(|then| then.index) != now.map(|now| now.index) {
            found.push(Change::Index(folder));
        }
        found
    });
    changes.collect()
}

/// Most parts a summary is divided into.
pub const PARTS_MAX: usize = 200;
/// Deepest folders that are parts of their own.
const DEPTH_MAX: usize = 12;

/// A fingerprint in few words, for a record: equal digests are equal trees, content included. Times
/// and file numbers do not count, so that a copy or a fresh checkout of the same tree is equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// `blake3:` and 64 hexadecimal digits, over everything below.
    pub digest: String,
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Commit of the workspace's own repository.
    pub commit: Option<String>,
    /// Digest of the repositories' HEADs and indexes.
    pub repositories: String,
    /// Digest of the ignore rules.
    pub rules: String,
    /// Digests of the tree's parts, by path: folders as deep as [`PARTS_MAX`] allows, and the files
    /// above them. They tell where a tree differs.
    pub parts: BTreeMap<String, String>,
}

impl Summary {
    /// Sums up a fingerprint that was taken with [`super::Content::All`]. Files without a hash count
    /// by size and times, so that the sum never takes unknown for equal.
    #[must_use]
    pub fn of(fingerprint: &Fingerprint) -> Self {
        let parts = parts(fingerprint);
        let mut repositories = blake3::Hasher::new();
        for (folder, one) in &fingerprint.repositories {
            add(&mut repositories, path_bytes(folder));
            add(&mut repositories, one.head.as_bytes());
            add(
                &mut repositories,
                one.commit.as_deref().unwrap_or("").as_bytes(),
            );
            add(
                &mut repositories,
                one.index.as_ref().map_or(&[], |hash| &hash[..]),
            );
        }
        let mut rules = blake3::Hasher::new();
        for (path, hash) in &fingerprint.rules {
            add(&mut rules, path_bytes(path));
            add(&mut rules, hash);
        }
        let (repositories, rules) = (short(&repositories), short(&rules));
        let mut whole = blake3::Hasher::new();
        add(&mut whole, repositories.as_bytes());
        add(&mut whole, rules.as_bytes());
        for (path, entry) in &fingerprint.entries {
            add_entry(&mut whole, path, entry);
        }
        let entries = fingerprint.entries.values();
        Self {
            digest: format!("blake3:{}", whole.finalize().to_hex()),
            files: entries.len() as u64,
            bytes: entries.map(|entry| entry.size).sum(),
            commit: own_commit(fingerprint),
            repositories,
            rules,
            parts,
        }
    }

    /// Names of what differs from another summary: parts, `(git)` and `(ignore rules)`.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut names: Vec<&String> = self.parts.keys().chain(other.parts.keys()).collect();
        names.sort();
        names.dedup();
        names.retain(|name| self.parts.get(*name) != other.parts.get(*name));
        let mut found: Vec<String> = names.into_iter().cloned().collect();
        if self.repositories != other.repositories {
            found.push("(git: HEAD or index)".to_owned());
        }
        if self.rules != other.rules {
            found.push("(ignore rules)".to_owned());
        }
        found
    }
}

fn own_commit(fingerprint: &Fingerprint) -> Option<String> {
    let inside = fingerprint.repositories.get(Path::new(""));
    let around = || fingerprint.repositories.values().next();
    inside.or_else(around).and_then(|one| one.commit.clone())
}

fn parts(fingerprint: &Fingerprint) -> BTreeMap<String, String> {
    let grouped = (1..=DEPTH_MAX).rev().find_map(|depth| {
        let mut groups: BTreeMap<PathBuf, blake3::Hasher> = BTreeMap::new();
        for (path, entry) in &fingerprint.entries {
            let name: PathBuf = path.components().take(depth).collect();
            add_entry(groups.entry(name).or_default(), path, entry);
            if groups.len() > PARTS_MAX {
                return None;
            }
        }
        Some(groups)
    });
    let groups = grouped.unwrap_or_default().into_iter();
    groups
        .map(|(name, hasher)| (name.to_string_lossy().into_owned(), short(&hasher)))
        .collect()
}

fn add_entry(hasher: &mut blake3::Hasher, path: &Path, entry: &Entry) {
    add(hasher, path_bytes(path));
    let (kind, target): (u8, &Path) = match &entry.kind {
        Kind::File => (0, Path::new("")),
        Kind::Link(target) => (1, target),
        Kind::Special => (2, Path::new("")),
        Kind::UnreadableFolder => (3, Path::new("")),
    };
    add(hasher, &[kind]);
    add(hasher, path_bytes(target));
    add(hasher, &entry.mode.to_be_bytes());
    if entry.kind != Kind::File {
        return;
    }
    add(hasher, &entry.size.to_be_bytes());
    match &entry.content {
        Some(hash) => add(hasher, hash),
        None => {
            let (seconds, nanos) = entry.changed;
            add(hasher, &seconds.to_be_bytes());
            add(hasher, &nanos.to_be_bytes());
        }
    }
}

fn add(hasher: &mut blake3::Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_be_bytes());
    hasher.update(bytes);
}

fn path_bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// Enough of a hash to tell parts apart.
fn short(hasher: &blake3::Hasher) -> String {
    let hash: Hash = *hasher.finalize().as_bytes();
    hash.iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
