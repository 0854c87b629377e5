//! What a workspace is at one moment, so that two moments can be compared.
//!
//! A fingerprint covers every file that git would track or show as untracked (outside a repository:
//! every file), the ignore rules in force, and of each repository its HEAD and the entries of its
//! index. It only reads, and never runs `git`: a repository can make git execute things.
//!
//! # Content
//! Metadata tells at once that nothing changed; that something did takes content, and afterwards the
//! earlier content is gone. So [`Content::Recent`] hashes, when a fingerprint is taken, the files
//! changed last — up to [`RECENT_FILES_MAX`] files of at most [`RECENT_FILE_MAX_BYTES`] each,
//! [`RECENT_MAX_BYTES`] in all — which are those a tool is likely to touch again. A later
//! fingerprint taken with [`take_after`] hashes only what looks different. A file outside that
//! budget whose times changed with the same size counts as changed: unknown is not equal.

mod compare;
mod index;
mod repository;
mod walk;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

pub use self::compare::{Change, Changes, PARTS_MAX, Summary, compare, is_by_product};
pub use self::repository::Repository;

/// Most entries of a fingerprint; a larger tree is an error, never a half fingerprint.
pub const ENTRIES_MAX: usize = 2_000_000;
/// Files hashed by [`Content::Recent`].
pub const RECENT_FILES_MAX: usize = 10_000;
/// Largest file hashed by [`Content::Recent`], in bytes.
pub const RECENT_FILE_MAX_BYTES: u64 = 1024 * 1024;
/// Bytes hashed by [`Content::Recent`] in all.
pub const RECENT_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A BLAKE3 hash.
pub type Hash = [u8; 32];

/// Which files' content is hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// None: metadata only.
    None,
    /// The files changed last, within a budget.
    Recent,
    /// All files.
    All,
}

/// What an entry is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A symbolic link and where it points; never followed.
    Link(PathBuf),
    /// A pipe, socket or device.
    Special,
    /// A folder that cannot be read: what is in it is unknown.
    UnreadableFolder,
}

/// One file of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub kind: Kind,
    /// Permission bits; only the read-only bit where there are no others.
    pub mode: u32,
    /// Length in bytes.
    pub size: u64,
    /// Last change of the content: seconds and nanoseconds.
    pub modified: (i64, i64),
    /// Last change of content or metadata; equal to `modified` where the system has none.
    pub changed: (i64, i64),
    /// File number; 0 where the system has none.
    pub inode: u64,
    /// Hash of the content, if it was taken.
    pub content: Option<Hash>,
    /// The content was to be hashed and could not be read.
    pub unreadable: bool,
}

/// A workspace at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    /// The workspace.
    pub root: PathBuf,
    /// Its files, by path relative to it.
    pub entries: BTreeMap<PathBuf, Entry>,
    /// The ignore rules in force, by file: paths below the root are relative to it.
    pub rules: BTreeMap<PathBuf, Hash>,
    /// The repositories in it (and the one around it), by their folder.
    pub repositories: BTreeMap<PathBuf, Repository>,
}

/// Takes a fingerprint.
///
/// # Errors
/// When the workspace cannot be read at all, or has more than [`ENTRIES_MAX`] files.
pub fn take(root: &Path, content: Content) -> io::Result<Fingerprint> {
    let mut taken = walk::walk(root)?;
    match content {
        Content::None => {}
        Content::Recent => hash(&mut taken, recent),
        Content::All => hash(&mut taken, |entries| entries.keys().cloned().collect()),
    }
    Ok(taken)
}

/// Takes a fingerprint to compare with an earlier one: hashes what looks different and was hashed
/// then.
///
/// # Errors
/// As [`take`].
pub fn take_after(before: &Fingerprint) -> io::Result<Fingerprint> {
    let mut taken = walk::walk(&before.root)?;
    hash(&mut taken, |entries| {
        let suspicious = entries.iter().filter(|(path, now)| {
            let then = before.entries.get(*path);
            then.is_some_and(|then| then.content.is_some() && !same_metadata(then, now))
        });
        suspicious.map(|(path, _)| path.clone()).collect()
    });
    // What is certainly the same has the same content.
    for (path, entry) in &mut taken.entries {
        let then = before.entries.get(path);
        if let Some(then) =
            then.filter(|then| entry.content.is_none() && same_metadata(then, entry))
        {
            entry.content = then.content;
        }
    }
    Ok(taken)
}

/// Nothing about it moved. The change time cannot be set by a program, so equal metadata is equal
/// content.
fn same_metadata(one: &Entry, other: &Entry) -> bool {
    one.kind == other.kind
        && one.mode == other.mode
        && one.size == other.size
        && one.modified == other.modified
        && one.changed == other.changed
        && one.inode == other.inode
}

/// The files changed last, within the budget of [`Content::Recent`].
fn recent(entries: &BTreeMap<PathBuf, Entry>) -> Vec<PathBuf> {
    let small = |entry: &Entry| entry.kind == Kind::File && entry.size <= RECENT_FILE_MAX_BYTES;
    let mut files: Vec<_> = entries.iter().filter(|(_, entry)| small(entry)).collect();
    files.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.modified));
    let mut left = RECENT_MAX_BYTES;
    let within = files
        .into_iter()
        .take(RECENT_FILES_MAX)
        .take_while(|(_, entry)| {
            let fits = entry.size <= left;
            left = left.saturating_sub(entry.size);
            fits
        });
    within.map(|(path, _)| path.clone()).collect()
}

fn hash(taken: &mut Fingerprint, choose: impl FnOnce(&BTreeMap<PathBuf, Entry>) -> Vec<PathBuf>) {
    let mut paths = choose(&taken.entries);
    let is_file = |path: &PathBuf| {
        taken
            .entries
            .get(path)
            .is_some_and(|one| one.kind == Kind::File)
    };
    paths.retain(is_file);
    for (path, hash) in hash_files(&taken.root, &paths) {
        let Some(entry) = taken.entries.get_mut(path) else {
            continue;
        };
        entry.unreadable = hash.is_none();
        entry.content = hash;
    }
}

/// Hashes files on all processors; `None` for one that cannot be read.
fn hash_files<'a>(root: &Path, paths: &'a [PathBuf]) -> Vec<(&'a PathBuf, Option<Hash>)> {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
    let share = paths.len().div_ceil(threads).max(1);
    let one = |path: &'a PathBuf| (path, hash_file(&root.join(path)).ok());
    std::thread::scope(|scope| {
        let shares = paths.chunks(share);
        let work =
            shares.map(|share| scope.spawn(move || share.iter().map(one).collect::<Vec<_>>()));
        let work: Vec<_> = work.collect();
        // A thread that failed has hashed nothing: its files stay unknown.
        work.into_iter()
            .flat_map(|thread| thread.join().unwrap_or_default())
            .collect()
    })
}

fn hash_file(path: &Path) -> io::Result<Hash> {
    let mut hasher = blake3::Hasher::new();
    io::copy(&mut walk::open_file(path)?, &mut hasher)?;
    Ok(*hasher.finalize().as_bytes())
}
