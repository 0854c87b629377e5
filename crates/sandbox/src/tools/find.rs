//! `find`.

use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;
use std::path::{Path, PathBuf};

use super::text::{BYTES_MAX, head, size_notice, with_notices};
use super::{Answer, View, limit};

const LIMIT: usize = 1_000;

/// Arguments of `find`.
#[derive(Debug, Clone, PartialEq)]
pub struct FindArgs {
    /// A glob; without `/` it matches names, else paths relative to the folder.
    pub pattern: String,
    /// The folder; the working folder if not given.
    pub path: Option<String>,
    /// Most results.
    pub limit: Option<f64>,
}

/// Finds files and folders by a glob.
///
/// # Errors
/// When there is no such folder, it is hidden, or the glob is none.
pub fn find(view: &View, args: &FindArgs) -> Answer {
    let given = args.path.as_deref().filter(|path| !path.is_empty());
    let folder = view.resolve(given.unwrap_or("."));
    let limit = limit(args.limit, LIMIT);
    view.refuse_hidden(&folder)?;
    if !folder.exists() {
        return Err(format!("Path not found: {}", folder.display()));
    }
    if !folder.is_dir() {
        return Err(format!("Not a directory: {}", folder.display()));
    }
    let pattern = Pattern::new(&args.pattern)?;
    let mut found = Vec::new();
    let mut bytes = 0;
    let mut count = 0;
    let mut more = false;
    for entry in walk(view, &folder).build().flatten() {
        let path = entry.path();
        let relative = path.strip_prefix(&folder).unwrap_or(path);
        if entry.depth() == 0 || !pattern.matches(path, relative) {
            continue;
        }
        if count == limit {
            more = true;
            break;
        }
        count += 1;
        let slash = entry.file_type().is_some_and(|kind| kind.is_dir());
        let line = format!("{}{}", slashes(relative), if slash { "/" } else { "" });
        // One past the limit is kept, so that the cut is seen.
        if bytes <= BYTES_MAX {
            bytes += line.len() + 1;
            found.push(line);
        }
    }
    if found.is_empty() {
        return Ok("No files found matching pattern".to_owned());
    }
    let head = head(&found.join("\n"), usize::MAX);
    let mut notices = Vec::new();
    if more {
        let twice = limit.saturating_mul(2);
        notices.push(format!(
            "{limit} results limit reached. Use limit={twice} for more, or refine pattern"
        ));
    }
    notices.extend(head.cut.map(|_| size_notice()));
    Ok(with_notices(head.text, &notices))
}

fn slashes(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) {
        text.replace('\\', "/")
    } else {
        text.into_owned()
    }
}

/// As fd: hidden files too, `.git` folders not, ignore rules in force — outside a repository too.
fn walk(view: &View, folder: &Path) -> WalkBuilder {
    let in_repository = folder.ancestors().any(|one| one.join(".git").exists());
    let hidden = view.clone();
    let mut builder = WalkBuilder::new(folder);
    builder
        .hidden(false)
        .require_git(in_repository)
        .add_custom_ignore_filename(".fdignore")
        .sort_by_file_path(|one, other| one.cmp(other))
        .filter_entry(move |entry| {
            let is_git =
                entry.file_name() == ".git" && entry.file_type().is_some_and(|kind| kind.is_dir());
            !is_git && !hidden.hides_entry(entry.path())
        });
    builder
}

/// Matches as fd does: a small-letter pattern matches in any case.
struct Pattern {
    matcher: GlobMatcher,
    of: Of,
}

enum Of {
    Name,
    Relative,
    Absolute,
}

impl Pattern {
    fn new(pattern: &str) -> Result<Self, String> {
        let mut pattern = pattern;
        while let Some(rest) = pattern.strip_prefix("./") {
            pattern = rest;
        }
        let glob = GlobBuilder::new(pattern)
            .literal_separator(true)
            .case_insensitive(pattern == pattern.to_lowercase())
            .build()
            .map_err(|error| error.to_string())?;
        let of = if PathBuf::from(pattern).is_absolute() {
            Of::Absolute
        } else if pattern.contains('/') {
            Of::Relative
        } else {
            Of::Name
        };
        Ok(Self {
            matcher: glob.compile_matcher(),
            of,
        })
    }

    fn matches(&self, path: &Path, relative: &Path) -> bool {
        match self.of {
            Of::Name => path
                .file_name()
                .is_some_and(|name| self.matcher.is_match(name)),
            Of::Relative => self.matcher.is_match(relative),
            Of::Absolute => self.matcher.is_match(path),
        }
    }
}
