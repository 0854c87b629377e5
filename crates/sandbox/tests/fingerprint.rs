//! What a fingerprint sees, and what two of them say of each other.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use goal_sandbox::fingerprint::{
    Change, Changes, Content, Fingerprint, Kind, Summary, compare, is_by_product, take, take_after,
};
use tempfile::TempDir;

/// A folder with a repository of one commit.
fn repository() -> TempDir {
    let folder = plain();
    let path = folder.path();
    git(path, &["init", "-q", "-b", "main"]);
    git(path, &["add", "-A"]);
    git(path, &["commit", "-q", "-m", "first"]);
    folder
}

/// A folder without one.
fn plain() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "src/main.rs", "fn main() {}\n");
    write(folder.path(), "README.md", "hello\n");
    folder
}

fn git(folder: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Takes a fingerprint, does something, and tells what changed.
fn changes(folder: &Path, act: impl FnOnce(&Path)) -> Changes {
    let before = take(folder, Content::Recent).unwrap();
    act(folder);
    compare(&before, &take_after(&before).unwrap())
}

fn paths(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(PathBuf::from).collect()
}

fn names(taken: &Fingerprint) -> Vec<String> {
    let keys = taken.entries.keys();
    keys.map(|path| path.to_string_lossy().into_owned())
        .collect()
}

#[test]
fn added_removed_and_changed_files_are_named() {
    let folder = repository();
    let found = changes(folder.path(), |path| {
        write(path, "new file", "x");
        fs::remove_file(path.join("README.md")).unwrap();
        write(path, "src/main.rs", "fn main() { }\n");
    });
    assert_eq!(found.added, paths(&["new file"]));
    assert_eq!(found.removed, paths(&["README.md"]));
    assert_eq!(found.changed, [Change::File("src/main.rs".into())]);
}

#[test]
fn the_same_content_with_new_times_or_a_new_inode_is_no_change() {
    let folder = plain();
    let found = changes(folder.path(), |path| {
        write(path, "README.md", "hello\n");
        fs::rename(path.join("src/main.rs"), path.join("away")).unwrap();
        write(path, "src/main.rs", "fn main() {}\n");
        fs::remove_file(path.join("away")).unwrap();
    });
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn equal_length_and_a_forged_time_do_not_hide_a_change() {
    let folder = plain();
    let found = changes(folder.path(), |path| {
        let file = path.join("README.md");
        let time = fs::metadata(&file).unwrap().modified().unwrap();
        fs::write(&file, "jello\n").unwrap();
        let opened = fs::File::options().write(true).open(&file).unwrap();
        opened.set_modified(time).unwrap();
    });
    assert_eq!(found.changed, [Change::File("README.md".into())]);
}

#[test]
fn without_earlier_content_a_touched_file_counts_as_changed() {
    let folder = plain();
    let before = take(folder.path(), Content::None).unwrap();
    write(folder.path(), "README.md", "hello\n");
    let found = compare(&before, &take_after(&before).unwrap());
    assert_eq!(found.changed, [Change::File("README.md".into())]);
}

#[test]
fn git_status_changes_nothing_but_add_and_commit_and_checkout_do() {
    let folder = repository();
    let found = changes(folder.path(), |path| {
        // Makes the index's stat data stale, so that git rewrites it.
        write(path, "README.md", "hello\n");
        git(path, &["status"]);
        git(path, &["diff"]);
    });
    assert!(found.is_empty(), "{found:?}");

    write(folder.path(), "other", "x");
    let index = Change::Index(PathBuf::new());
    let found = changes(folder.path(), |path| git(path, &["add", "other"]));
    assert_eq!(found.changed, [index]);
    let found = changes(folder.path(), |path| {
        git(path, &["commit", "-qm", "second"])
    });
    assert_eq!(found.changed, [Change::Head(PathBuf::new())]);
    let found = changes(folder.path(), |path| {
        git(path, &["checkout", "-qb", "branch"])
    });
    assert_eq!(found.changed, [Change::Head(PathBuf::new())]);
    write(folder.path(), "other", "y");
    let found = changes(folder.path(), |path| git(path, &["stash", "-q"]));
    assert_eq!(found.changed, [Change::File("other".into())]);
}

#[test]
fn every_version_of_the_index_is_read() {
    for version in ["2", "3", "4"] {
        let folder = repository();
        write(folder.path(), ".gitignore", "ignored*\n");
        write(folder.path(), "ignored but tracked", "x");
        write(folder.path(), "ignored", "x");
        git(folder.path(), &["add", "-f", "ignored but tracked"]);
        git(folder.path(), &["add", "-N", ".gitignore"]);
        git(folder.path(), &["update-index", "--index-version", version]);
        let taken = take(folder.path(), Content::None).unwrap();
        let expected = [
            ".gitignore",
            "README.md",
            "ignored but tracked",
            "src/main.rs",
        ];
        assert_eq!(names(&taken), expected, "version {version}");
    }
}

#[test]
fn a_repository_with_sha256_is_read() {
    let folder = plain();
    git(folder.path(), &["init", "-q", "--object-format=sha256"]);
    write(folder.path(), ".gitignore", "README.md\n");
    git(folder.path(), &["add", "-f", "README.md"]);
    let taken = take(folder.path(), Content::None).unwrap();
    assert_eq!(names(&taken), [".gitignore", "README.md", "src/main.rs"]);
}

#[test]
fn the_rules_that_hide_files_belong_to_the_fingerprint() {
    let folder = repository();
    write(folder.path(), "secret", "x");
    let exclude = PathBuf::from(".git/info/exclude");
    let found = changes(folder.path(), |path| {
        write(path, ".git/info/exclude", "secret\n");
    });
    assert_eq!(found.removed, paths(&["secret"]));
    assert_eq!(found.changed, [Change::Rules(exclude)]);
    // A rule file that ignores itself is no file of the tree, but still a rule.
    let found = changes(folder.path(), |path| write(path, "src/.gitignore", "*\n"));
    assert!(found.added.is_empty());
    assert_eq!(found.changed, [Change::Rules("src/.gitignore".into())]);
}

#[test]
fn a_nested_repository_is_seen_with_its_own_head_and_index() {
    let folder = repository();
    let nested = folder.path().join("vendor/lib");
    write(&nested, "lib.rs", "");
    git(&nested, &["init", "-q"]);
    let found = changes(folder.path(), |_| {
        git(&nested, &["add", "lib.rs"]);
        write(&nested, "lib.rs", "//");
    });
    let expected = [
        Change::File("vendor/lib/lib.rs".into()),
        Change::Index("vendor/lib".into()),
    ];
    assert_eq!(found.changed, expected);
}

#[test]
fn a_worktree_and_a_folder_inside_a_repository_know_their_head() {
    let folder = repository();
    let tree = folder.path().join("tree");
    git(
        folder.path(),
        &["worktree", "add", "-q", "-b", "side", "tree"],
    );
    let found = changes(&tree, |path| {
        git(path, &["commit", "-q", "--allow-empty", "-m", "x"])
    });
    assert_eq!(found.changed, [Change::Head(PathBuf::new())]);
    let found = changes(&folder.path().join("src"), |path| {
        git(path, &["commit", "-q", "--allow-empty", "-m", "x"]);
    });
    assert!(
        matches!(found.changed.as_slice(), [Change::Head(_)]),
        "{found:?}"
    );
}

#[cfg(unix)]
#[test]
fn strange_names_and_kinds_are_taken_as_they_are() {
    use std::os::unix::ffi::OsStringExt as _;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::os::unix::net::UnixListener;

    let folder = plain();
    let path = folder.path();
    let odd = std::ffi::OsString::from_vec(b"not \xff utf-8\n".to_vec());
    fs::write(path.join(&odd), "x").unwrap();
    symlink(".", path.join("loop")).unwrap();
    symlink("nowhere", path.join("dangling")).unwrap();
    let _listener = UnixListener::bind(path.join("socket")).unwrap();
    let made = Command::new("mkfifo")
        .arg(path.join("pipe"))
        .status()
        .unwrap();
    assert!(made.success());
    let taken = take(path, Content::All).unwrap();
    assert_eq!(taken.entries.len(), 7, "{:?}", names(&taken));
    assert_eq!(taken.entries[Path::new("pipe")].kind, Kind::Special);
    assert_eq!(taken.entries[Path::new("socket")].kind, Kind::Special);
    assert_eq!(
        taken.entries[Path::new("loop")].kind,
        Kind::Link(".".into())
    );
    assert!(taken.entries[Path::new(&odd)].content.is_some());

    let found = changes(path, |path| {
        fs::remove_file(path.join("dangling")).unwrap();
        symlink("elsewhere", path.join("dangling")).unwrap();
        fs::set_permissions(path.join("README.md"), fs::Permissions::from_mode(0o755)).unwrap();
    });
    let expected = ["README.md", "dangling"].map(|name| Change::File(name.into()));
    assert_eq!(found.changed, expected);
}

#[test]
fn only_added_by_products_are_forgiven() {
    for (path, expected) in [
        ("target/debug/x", true),
        ("a/__pycache__/m.cpython-311.pyc", true),
        (".pytest_cache/v/cache", true),
        ("coverage/lcov.info", true),
        (".coverage.host.12", true),
        ("src/target.rs", false),
        ("target", false),
        ("src/lib.rs", false),
        ("Cargo.lock", false),
    ] {
        assert_eq!(is_by_product(Path::new(path)), expected, "{path}");
    }
    let folder = plain();
    write(folder.path(), "target/old", "1");
    let mut found = changes(folder.path(), |path| {
        write(path, "target/new", "1");
        write(path, "target/old", "22");
        write(path, "mine.rs", "");
    });
    assert_eq!(found.take_by_products(), paths(&["target/new"]));
    assert_eq!(found.added, paths(&["mine.rs"]));
    assert_eq!(found.changed, [Change::File("target/old".into())]);
}

#[test]
fn equal_trees_have_equal_digests_wherever_they_are() {
    let (one, other) = (plain(), plain());
    let sum = |folder: &TempDir| Summary::of(&take(folder.path(), Content::All).unwrap());
    assert_eq!(sum(&one), sum(&other));
    let before = sum(&one);
    write(one.path(), "src/main.rs", "fn main() { }\n");
    write(one.path(), "docs/new.md", "");
    let after = sum(&one);
    assert_ne!(before.digest, after.digest);
    assert_eq!(before.differences(&after), ["docs/new.md", "src/main.rs"]);
}

#[test]
fn a_summary_of_a_large_tree_names_folders() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..500 {
        write(
            folder.path(),
            &format!("src/part{}/file{number}", number % 50),
            "",
        );
    }
    let sum = || Summary::of(&take(folder.path(), Content::All).unwrap());
    let before = sum();
    assert_eq!((before.files, before.parts.len()), (500, 50));
    write(folder.path(), "src/part7/file7", "x");
    assert_eq!(before.differences(&sum()), ["src/part7"]);
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    assert!(take(Path::new("/nonexistent/folder"), Content::None).is_err());
}
