//! `ls`.

use std::cmp::Ordering;
use std::fs;

use super::text::{head, size_notice, with_notices};
use super::{Answer, View, limit};

const LIMIT: usize = 500;

/// Arguments of `ls`.
#[derive(Debug, Clone, PartialEq)]
pub struct LsArgs {
    /// The folder; the working folder if not given.
    pub path: Option<String>,
    /// Most entries to list.
    pub limit: Option<f64>,
}

/// Lists a folder.
///
/// # Errors
/// When there is no such folder, or it is hidden or unreadable.
pub fn ls(view: &View, args: &LsArgs) -> Answer {
    let given = args.path.as_deref().filter(|path| !path.is_empty());
    let folder = view.resolve(given.unwrap_or("."));
    let limit = limit(args.limit, LIMIT);
    view.refuse_hidden(&folder)?;
    let Ok(found) = fs::metadata(&folder) else {
        return Err(format!("Path not found: {}", folder.display()));
    };
    if !found.is_dir() {
        return Err(format!("Not a directory: {}", folder.display()));
    }
    let entries = fs::read_dir(&folder)
        .map_err(|error| format!("Cannot read directory: {error}"))?
        .flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    names.sort_by_cached_key(|name| SortKey::of(&name.to_string_lossy()));
    let mut lines = Vec::new();
    let mut more = false;
    for name in names {
        if lines.len() >= limit {
            more = true;
            break;
        }
        // As pi: what cannot be looked at, as a link to nowhere, is left out.
        let Ok(found) = fs::metadata(folder.join(&name)) else {
            continue;
        };
        let slash = if found.is_dir() { "/" } else { "" };
        lines.push(format!("{}{slash}", name.to_string_lossy()));
    }
    if lines.is_empty() {
        return Ok("(empty directory)".to_owned());
    }
    let head = head(&lines.join("\n"), usize::MAX);
    let mut notices = Vec::new();
    if more {
        let twice = limit.saturating_mul(2);
        notices.push(format!(
            "{limit} entries limit reached. Use limit={twice} for more"
        ));
    }
    notices.extend(head.cut.map(|_| size_notice()));
    Ok(with_notices(head.text, &notices))
}

/// ICU's order of ASCII, without case: blanks, marks, signs, digits, letters.
const ORDER: &str = "\t\n\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz";

#[derive(PartialEq, Eq)]
struct SortKey(Vec<usize>);

impl SortKey {
    fn of(name: &str) -> Self {
        let rank = |letter: char| ORDER.find(letter).unwrap_or(ORDER.len() + letter as usize);
        Self(name.to_lowercase().chars().map(rank).collect())
    }
}

impl Ord for SortKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}

impl PartialOrd for SortKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
