//! Why there is no report, and what to do.

use std::io;
use std::path::PathBuf;

/// Why a session file gave no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The file cannot be opened or read.
    #[error("cannot read {path}: {error}. {WHERE}", path = .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A folder was named.
    #[error("{path} is a folder. Name one of the session files in it (*.jsonl)", path = .path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// No line of the file is a session's.
    #[error("{path} is no session file of pi. {WHERE}", path = .path.display())]
    NotASession {
        /// The file.
        path: PathBuf,
    },
    /// The session has no goal where it stands.
    #[error("there is no goal in {path}{}", left_behind(*.elsewhere), path = .path.display())]
    NoGoal {
        /// The file.
        path: PathBuf,
        /// Goals on branches that were left.
        elsewhere: usize,
    },
    /// The goal asked for is not there.
    #[error("{}", unknown(.wanted, .known))]
    UnknownGoal {
        /// The id asked for.
        wanted: String,
        /// Ids and objectives that are there, newest first.
        known: Vec<(String, String)>,
    },
}

const WHERE: &str = "/session in pi shows where its session file is; the files are in sessions/ of pi's agent folder";

fn left_behind(count: usize) -> String {
    match count {
        0 => ". /goal and a text sets one".to_owned(),
        1 => " on its current branch; one goal is on a branch that was left. Go there with /tree and \
              continue from it, then try again"
            .to_owned(),
        count => format!(
            " on its current branch; {count} goals are on branches that were left. Go there with /tree \
             and continue from it, then try again"
        ),
    }
}

fn unknown(wanted: &str, known: &[(String, String)]) -> String {
    let wanted = goal_prompts::safe::for_display(wanted, 80);
    let mut text = format!("the session has no goal {wanted}. It has:");
    for (id, objective) in known {
        text.push_str(&format!("\n  {id}  {objective}"));
    }
    text
}
