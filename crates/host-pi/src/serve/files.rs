//! Files that a command names: an objective to read, a report to write.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use goal_engine::{FileTrouble, OBJECTIVE_MAX_BYTES};

use crate::report;

/// Where reports go that are given no place, in the agent folder.
const REPORTS: &str = "goal-reports";
const BOM: char = '\u{feff}';

/// Where the user's words point from.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// The host's working directory.
    pub(crate) cwd: Option<PathBuf>,
    /// The host's session file.
    pub(crate) session: Option<PathBuf>,
}

impl Places {
    /// What is in the file that a command's text names; `None` where it names none that exists.
    pub(crate) fn objective(&self, text: &str) -> Option<Result<String, FileTrouble>> {
        let path = self.resolve(goal_engine::file_named(text)?)?;
        path.exists().then(|| read(&path))
    }

    /// Writes the session's report; says what was written and where.
    pub(crate) fn write_report(
        &self,
        path: Option<&str>,
        goal: Option<&str>,
        agent_dir: Option<&Path>,
    ) -> Result<String, String> {
        let Some(session) = self.session.as_deref().filter(|session| session.exists()) else {
            return Err(
                "this session is not in a file (yet), so there is nothing to report on. pi makes \
                        the file with the first message, unless it was started with --no-session"
                    .to_owned(),
            );
        };
        let file = match path {
            None => None,
            Some(path) => Some(
                self.resolve(path)
                    .ok_or("pi's working folder is not known")?,
            ),
        };
        let reports = agent_dir.map(|dir| dir.join(REPORTS));
        report::of_session(session, goal, file, reports.as_deref())
            .map_err(|error| format!("{error:#}"))
    }

    fn resolve(&self, path: &str) -> Option<PathBuf> {
        if let Some(rest) = path.strip_prefix("~/") {
            return Some(std::env::home_dir()?.join(rest));
        }
        let path = Path::new(path);
        let absolute = || self.cwd.as_ref().map(|cwd| cwd.join(path));
        if path.is_absolute() {
            Some(path.to_owned())
        } else {
            absolute()
        }
    }
}

/// The text of a regular file, without a byte order mark.
fn read(path: &Path) -> Result<String, FileTrouble> {
    let unreadable = |error: std::io::Error| FileTrouble::Unreadable(error.to_string());
    // Looked at before it is opened: a pipe would make us wait for its writer.
    if !path.metadata().map_err(unreadable)?.is_file() {
        return Err(FileTrouble::NotAFile);
    }
    let file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    let most = u64::try_from(OBJECTIVE_MAX_BYTES + BOM.len_utf8()).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > most {
        return Err(FileTrouble::TooLarge(length));
    }
    let text = String::from_utf8(bytes).map_err(|_| FileTrouble::NotText)?;
    let text = text.strip_prefix(BOM).unwrap_or(&text);
    match text.trim().len() {
        0 => Err(FileTrouble::Blank),
        size if size > OBJECTIVE_MAX_BYTES => Err(FileTrouble::TooLarge(length)),
        _ => Ok(text.to_owned()),
    }
}
