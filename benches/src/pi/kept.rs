//! What stays of the work in files.

use std::fs;

use goal_tests::Pi;

/// The session file, and files beside it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Kept {
    /// Entries of the session that an extension wrote.
    pub(super) entries: usize,
    /// Their bytes.
    pub(super) entry_bytes: usize,
    /// The bytes of the whole session file.
    pub(super) session_bytes: usize,
    /// The bytes of files that an extension wrote into the workspace.
    pub(super) file_bytes: usize,
}

impl Kept {
    /// As it is now.
    pub(super) fn of(pi: &Pi) -> Self {
        let session = pi.session();
        let text = fs::read_to_string(&session.path).unwrap_or_default();
        let of_extension = |entry: &&serde_json::Value| {
            let kind = entry["type"].as_str().unwrap_or_default();
            kind.starts_with("custom")
        };
        let own = session.entries.iter().filter(of_extension);
        let own: Vec<usize> = own.map(|entry| entry.to_string().len() + 1).collect();
        let files = pi.world().files().into_iter();
        let files = files.filter(|(path, _)| path.starts_with(".pi"));
        Self {
            entries: own.len(),
            entry_bytes: own.iter().sum(),
            session_bytes: text.len(),
            file_bytes: files.map(|(_, text)| text.len()).sum(),
        }
    }
}
