//! The file on the disk.

use std::fs;
use std::path::Path;

use goal_config::{FILE_MAX_BYTES, Loaded, Settings};

use crate::{agent_file, effective, lines, source, text};

fn load(agent_dir: &Path) -> Loaded {
    goal_config::load(Some(agent_dir), &|_| None)
}

/// Nothing can be read: one diagnostic that says so, and the defaults.
#[track_caller]
fn check_unusable(agent_dir: &Path, why: &str) {
    let loaded = load(agent_dir);
    let file = agent_file(agent_dir);
    let expected = format!("{} is {why}", file.display());
    let [line] = lines(&loaded).try_into().unwrap();
    assert!(line.starts_with(&expected), "{line}");
    assert!(
        line.ends_with("; it is not used, only the environment and the defaults are"),
        "{line}"
    );
    assert_eq!(loaded.settings, Settings::defaults());
    assert_eq!(loaded.path, Some(file));
    assert!(!loaded.file_used);
}

#[test]
fn the_file_is_read_and_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = b"\xEF\xBB\xBF{\"model\":\"x\"}\r\n";
    fs::write(agent_file(dir.path()), bytes).unwrap();
    let loaded = load(dir.path());
    assert_eq!(effective(&loaded, "model"), text("x"));
    let place = format!("file:{}:1:10", agent_file(dir.path()).display());
    assert_eq!(source(&loaded, "model"), place);
    assert_eq!(loaded.path, Some(agent_file(dir.path())));
    assert!(loaded.file_used && loaded.diagnostics.is_empty());
    assert_eq!(fs::read(agent_file(dir.path())).unwrap(), bytes);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn an_absent_file_or_dir_is_silent_and_not_made() {
    let dir = tempfile::tempdir().unwrap();
    for agent_dir in [dir.path().to_owned(), dir.path().join("none").join("there")] {
        let loaded = load(&agent_dir);
        assert_eq!(lines(&loaded), [""; 0]);
        assert_eq!(loaded.path, Some(agent_file(&agent_dir)));
        assert!(!loaded.file_used);
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn without_an_agent_dir_there_is_no_file_layer() {
    let variable = |name: &str| (name == "PI_GOAL_AUDITOR_MODEL").then(|| "m".into());
    for agent_dir in [None, Some(Path::new("relative")), Some(Path::new(""))] {
        let loaded = goal_config::load(agent_dir, &variable);
        let [line] = lines(&loaded).try_into().unwrap();
        assert!(
            line.starts_with("the agent dir cannot be determined"),
            "{line}"
        );
        assert_eq!(effective(&loaded, "model"), text("m"));
        assert_eq!(loaded.path, None);
    }
}

#[test]
fn a_directory_is_no_file() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(agent_file(dir.path())).unwrap();
    check_unusable(dir.path(), "a directory;");
}

#[test]
fn text_that_is_not_utf_8_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(agent_file(dir.path()), b"{\"model\":\"\xff\"}").unwrap();
    check_unusable(dir.path(), "not UTF-8 text (from byte 11 on);");
    fs::write(agent_file(dir.path()), b"\xff\xfe{\0}\0").unwrap();
    check_unusable(dir.path(), "not UTF-8 text (from byte 1 on);");
}

#[test]
fn a_file_over_the_limit_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let limit = usize::try_from(FILE_MAX_BYTES).unwrap();
    let mut text = "{\"model\":\"x\"}".to_owned();
    text.push_str(&" ".repeat(limit - text.len()));
    fs::write(agent_file(dir.path()), &text).unwrap();
    assert!(load(dir.path()).file_used);
    text.push(' ');
    fs::write(agent_file(dir.path()), &text).unwrap();
    check_unusable(dir.path(), "longer than 262144 bytes;");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::Command;

    use super::*;

    #[test]
    fn a_linked_file_and_a_linked_dir_are_fine() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("real")).unwrap();
        fs::create_dir(dir.path().join("agent")).unwrap();
        fs::write(dir.path().join("real/settings.json"), "{\"model\":\"x\"}").unwrap();
        symlink(
            "../real/settings.json",
            agent_file(&dir.path().join("agent")),
        )
        .unwrap();
        symlink("agent", dir.path().join("linked")).unwrap();
        for agent_dir in ["agent", "linked"] {
            let agent_dir = dir.path().join(agent_dir);
            let loaded = load(&agent_dir);
            assert_eq!(effective(&loaded, "model"), text("x"));
            // The path that was asked for, which is the one the user knows.
            assert_eq!(loaded.path, Some(agent_file(&agent_dir)));
            assert!(loaded.diagnostics.is_empty());
        }
    }

    #[test]
    fn links_that_lead_nowhere_are_told() {
        let dir = tempfile::tempdir().unwrap();
        symlink("gone", agent_file(dir.path())).unwrap();
        check_unusable(dir.path(), "a dangling link;");
        fs::remove_file(agent_file(dir.path())).unwrap();
        symlink(goal_config::FILE_NAME, agent_file(dir.path())).unwrap();
        check_unusable(dir.path(), "not readable (");
    }

    #[test]
    fn a_fifo_or_a_device_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let made = Command::new("mkfifo")
            .arg(agent_file(dir.path()))
            .status()
            .unwrap();
        assert!(made.success());
        check_unusable(dir.path(), "not a regular file;");
        fs::remove_file(agent_file(dir.path())).unwrap();
        symlink("/dev/zero", agent_file(dir.path())).unwrap();
        check_unusable(dir.path(), "not a regular file;");
    }

    #[test]
    fn a_file_that_may_not_be_read_is_told() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(agent_file(dir.path()), "{}").unwrap();
        fs::set_permissions(agent_file(dir.path()), fs::Permissions::from_mode(0o000)).unwrap();
        if fs::read(agent_file(dir.path())).is_ok() {
            return; // root may read everything
        }
        check_unusable(dir.path(), "not readable (");
    }

    #[test]
    fn an_agent_dir_that_is_a_file_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let agent_dir = dir.path().join("agent");
        fs::write(&agent_dir, "").unwrap();
        check_unusable(&agent_dir, "not readable (");
    }
}
