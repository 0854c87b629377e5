//! Finds what belongs to a fingerprint.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ignore::{DirEntry, WalkBuilder, WalkState};

use super::repository::{self, Read};
use super::{ENTRIES_MAX, Entry, Fingerprint, Hash, Kind};

const GIT: &str = ".git";
const GITIGNORE: &str = ".gitignore";
/// Most files without a name to look at that a walk may go through at once.
const THREADS_MAX: usize = 8;

pub(super) fn walk(root: &Path) -> io::Result<Fingerprint> {
    let root = fs::canonicalize(root)?;
    fs::read_dir(&root)?;
    let found = Mutex::new(Found::default());
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
    builder(&root)
        .threads(threads.min(THREADS_MAX))
        .build_parallel()
        .run(|| {
            let mut batch = Batch::new(&root, &found);
            Box::new(move |entry| batch.take(entry))
        });
    let found = found
        .into_inner()
        .unwrap_or_else(|poison| poison.into_inner());
    let mut taken = Fingerprint {
        entries: found.entries,
        rules: BTreeMap::new(),
        repositories: BTreeMap::new(),
        root,
    };
    add_repositories(&mut taken, found.repositories);
    add_rules(&mut taken, found.rules);
    if taken.entries.len() > ENTRIES_MAX {
        let why = format!("the workspace has more than {ENTRIES_MAX} files");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    Ok(taken)
}

/// All that git sees, hidden files included. `.ignore` files are not git's.
fn builder(root: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    builder
        .hidden(false)
        .ignore(false)
        .parents(true)
        .git_ignore(true)
        .git_exclude(true)
        .git_global(true)
        .require_git(true)
        .follow_links(false)
        .filter_entry(|entry| entry.file_name() != GIT);
    builder
}

#[derive(Default)]
struct Found {
    entries: BTreeMap<PathBuf, Entry>,
    rules: Vec<PathBuf>,
    repositories: Vec<PathBuf>,
}

/// What one thread of a walk has found; handed over when it ends.
struct Batch<'a> {
    root: &'a Path,
    found: &'a Mutex<Found>,
    own: Found,
}

impl<'a> Batch<'a> {
    fn new(root: &'a Path, found: &'a Mutex<Found>) -> Self {
        Self {
            root,
            found,
            own: Found::default(),
        }
    }

    fn take(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        match entry {
            Ok(entry) => self.add(&entry),
            Err(error) => self.add_unreadable(&error),
        }
        if self.own.entries.len() > ENTRIES_MAX {
            WalkState::Quit
        } else {
            WalkState::Continue
        }
    }

    fn add(&mut self, entry: &DirEntry) {
        let path = entry.path();
        let relative = relative(self.root, path);
        if entry.file_type().is_some_and(|kind| kind.is_dir()) {
            if path.join(GIT).symlink_metadata().is_ok() {
                self.own.repositories.push(relative.clone());
            }
            if path.join(GITIGNORE).symlink_metadata().is_ok() {
                self.own.rules.push(relative.join(GITIGNORE));
            }
            return;
        }
        if let Some(taken) = look(path) {
            self.own.entries.insert(relative, taken);
        }
    }

    /// A folder that cannot be listed. (A file that vanished meanwhile has no path or no metadata.)
    fn add_unreadable(&mut self, error: &ignore::Error) {
        let Some(path) = path_of(error) else { return };
        if let Ok(data) = fs::symlink_metadata(path)
            && data.is_dir()
        {
            let entry = entry(&data, Kind::UnreadableFolder);
            self.own.entries.insert(relative(self.root, path), entry);
        }
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        let Ok(mut found) = self.found.lock() else {
            return;
        };
        found.entries.append(&mut self.own.entries);
        found.rules.append(&mut self.own.rules);
        found.repositories.append(&mut self.own.repositories);
    }
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            path_of(err)
        }
        ignore::Error::Partial(errors) => errors.iter().find_map(path_of),
        ignore::Error::Loop { .. }
        | ignore::Error::Io(_)
        | ignore::Error::Glob { .. }
        | ignore::Error::UnrecognizedFileType(_)
        | ignore::Error::InvalidDefinition => None,
    }
}

fn relative(root: &Path, path: &Path) -> PathBuf {
    path.strip_prefix(root).unwrap_or(path).to_owned()
}

/// What is at a path, without following it; `None` for a folder or nothing.
fn look(path: &Path) -> Option<Entry> {
    let data = fs::symlink_metadata(path).ok()?;
    let kind = data.file_type();
    if kind.is_dir() {
        return None;
    }
    Some(if kind.is_file() {
        entry(&data, Kind::File)
    } else if kind.is_symlink() {
        let target = fs::read_link(path).unwrap_or_default();
        entry(&data, Kind::Link(target))
    } else {
        entry(&data, Kind::Special)
    })
}

#[cfg(unix)]
fn entry(data: &Metadata, kind: Kind) -> Entry {
    use std::os::unix::fs::MetadataExt as _;
    const PERMISSIONS: u32 = 0o7777;
    Entry {
        kind,
        mode: data.mode() & PERMISSIONS,
        size: data.len(),
        modified: (data.mtime(), data.mtime_nsec()),
        changed: (data.ctime(), data.ctime_nsec()),
        inode: data.ino(),
        content: None,
        unreadable: false,
    }
}

#[cfg(not(unix))]
fn entry(data: &Metadata, kind: Kind) -> Entry {
    let since = data.modified().ok().and_then(|time| {
        let since = time.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some((
            i64::try_from(since.as_secs()).ok()?,
            since.subsec_nanos().into(),
        ))
    });
    let modified = since.unwrap_or_default();
    Entry {
        kind,
        mode: data.permissions().readonly().into(),
        size: data.len(),
        modified,
        changed: modified,
        inode: 0,
        content: None,
        unreadable: false,
    }
}

/// Opens a regular file to read; never waits for a pipe that took its place.
pub(super) fn open_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("not a regular file"))
    }
}

/// HEAD and index of each repository, and the files it tracks although they are ignored.
fn add_repositories(taken: &mut Fingerprint, mut folders: Vec<PathBuf>) {
    let around = taken.root.ancestors().skip(1);
    let around = around.filter(|folder| folder.join(GIT).symlink_metadata().is_ok());
    if !folders.contains(&PathBuf::new()) {
        folders.extend(around.take(1).map(Path::to_owned));
    }
    for folder in folders {
        let Some(read) = repository::read(&taken.root.join(&folder)) else {
            continue;
        };
        add_tracked(taken, &folder, &read);
        let exclude = read.common.join("info/exclude");
        if let Some(hash) = hash_of(&exclude) {
            taken.rules.insert(relative(&taken.root, &exclude), hash);
        }
        taken.repositories.insert(folder, read.repository);
    }
}

fn add_tracked(taken: &mut Fingerprint, folder: &Path, read: &Read) {
    let base = taken.root.join(folder);
    for path in &read.tracked {
        let full = base.join(as_path(path));
        let Ok(relative) = full.strip_prefix(&taken.root) else {
            continue;
        };
        if !taken.entries.contains_key(relative)
            && let Some(entry) = look(&full)
        {
            taken.entries.insert(relative.to_owned(), entry);
        }
    }
}

#[cfg(unix)]
fn as_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn as_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// The rules' files below, above and beside the workspace; they may themselves be ignored.
fn add_rules(taken: &mut Fingerprint, below: Vec<PathBuf>) {
    let above = taken
        .root
        .ancestors()
        .skip(1)
        .map(|dir| dir.join(GITIGNORE));
    let own = ignore::gitignore::gitconfig_excludes_path();
    for path in below.into_iter().chain(above).chain(own) {
        if let Some(hash) = hash_of(&taken.root.join(&path)) {
            taken.rules.insert(path, hash);
        }
    }
}

fn hash_of(path: &Path) -> Option<Hash> {
    super::hash_file(path).ok()
}
