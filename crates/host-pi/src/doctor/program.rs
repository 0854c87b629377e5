//! Other programs: where they are, and what they answer.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A program that has not said its version by then hangs.
const LIMIT: Duration = Duration::from_secs(10);
/// A version is short; a program that says more is not listened to.
const ANSWER_MAX_BYTES: u64 = 4_096;

/// What a program answered.
pub(super) struct Answer {
    /// It ended well.
    pub(super) ok: bool,
    /// Its first line on standard output, or its last on standard error if it failed.
    pub(super) line: String,
}

/// The program of that name that a shell would run.
pub(super) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let endings: &[&str] = if cfg!(windows) {
        &[".exe", ".cmd"]
    } else {
        &[""]
    };
    std::env::split_paths(&path)
        .flat_map(|folder| {
            endings
                .iter()
                .map(move |ending| folder.join(format!("{name}{ending}")))
        })
        .find(|file| is_executable(file))
}

#[cfg(unix)]
pub(super) fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(super) fn is_executable(file: &Path) -> bool {
    file.is_file()
}

/// Runs `program --version`; an error says why there is no answer.
pub(super) fn version_of(program: &Path) -> Result<Answer, String> {
    version_within(program, LIMIT)
}

fn version_within(program: &Path, limit: Duration) -> Result<Answer, String> {
    let mut child = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .envs([
            ("PI_OFFLINE", "1"),
            ("PI_SKIP_VERSION_CHECK", "1"),
            ("PI_TELEMETRY", "0"),
        ])
        .spawn()
        .map_err(|error| format!("it cannot be run: {error}"))?;
    let (said, hear) = mpsc::channel();
    read(child.stdout.take(), said.clone(), false);
    read(child.stderr.take(), said, true);
    let (mut out, mut err) = (String::new(), String::new());
    for _ in 0..2 {
        let Ok((is_err, text)) = hear.recv_timeout(limit) else {
            // It is ours, and it hangs.
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!(
                "it did not say its version within {} s",
                LIMIT.as_secs()
            ));
        };
        *if is_err { &mut err } else { &mut out } = text;
    }
    let ok = child.wait().is_ok_and(|status| status.success());
    let words = if ok {
        out.lines().next()
    } else {
        telling(&err)
    };
    Ok(Answer {
        ok,
        line: words.unwrap_or("nothing").trim().to_owned(),
    })
}

/// The line of an error output that names the error.
fn telling(err: &str) -> Option<&str> {
    let mut lines = err.lines().filter(|line| !line.trim().is_empty());
    let named = lines.clone().find(|line| line.contains("Error"));
    named.or_else(|| lines.next_back())
}

/// Reads a stream to its end in the background. What a grandchild keeps open ends with this process.
#[expect(
    clippy::disallowed_methods,
    reason = "a command of a person, no core: it may wait in threads"
)]
fn read(
    stream: Option<impl std::io::Read + Send + 'static>,
    said: mpsc::Sender<(bool, String)>,
    is_err: bool,
) {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(stream) = stream {
            // An unreadable stream has said nothing.
            let _ = stream.take(ANSWER_MAX_BYTES).read_to_end(&mut bytes);
        }
        // Nobody listens any more once the time is up.
        let _ = said.send((is_err, String::from_utf8_lossy(&bytes).into_owned()));
    });
}

/// The numbers of a version such as `v22.19.0`.
pub(super) fn numbers(version: &str) -> Option<(u32, u32)> {
    let digits = version.trim().trim_start_matches('v');
    let mut parts = digits.split(|c: char| !c.is_ascii_digit());
    let major = parts.next()?.parse().ok()?;
    let minor = parts.next()?.parse().ok()?;
    Some((major, minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_version_are_its_first_two() {
        for (text, read) in [
            ("v22.19.0", Some((22, 19))),
            ("1.6.0\n", Some((1, 6))),
            ("1.10.0-beta.1", Some((1, 10))),
            ("nightly", None),
            ("", None),
            ("7", None),
        ] {
            assert_eq!(numbers(text), read, "{text}");
        }
    }

    #[test]
    fn of_an_error_output_the_line_that_names_the_error_is_told() {
        let trace =
            "file:///pi.js:2\n  ^^^\nSyntaxError: no such export\n    at x\n\nNode.js v20.20.2\n";
        assert_eq!(telling(trace), Some("SyntaxError: no such export"));
        assert_eq!(telling("one\ntwo\n\n"), Some("two"));
        assert_eq!(telling(""), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_hangs_is_ended_when_its_time_is_up() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("slow");
        std::fs::write(&program, "#!/bin/sh\nexec sleep 60\n").unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let why = version_within(&program, Duration::from_millis(50))
            .err()
            .unwrap();
        assert!(why.contains("did not say its version"), "{why}");
    }
}
