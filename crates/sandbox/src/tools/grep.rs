//! `grep`.

use std::io;
use std::path::{Path, PathBuf};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;

use super::text::{BYTES_MAX, cut_line, head, size_notice, with_notices};
use super::{Answer, View, limit, whole};

const LIMIT: usize = 100;

/// Arguments of `grep`.
#[derive(Debug, Clone, PartialEq)]
pub struct GrepArgs {
    /// A regular expression, or a literal text.
    pub pattern: String,
    /// The folder or file; the working folder if not given.
    pub path: Option<String>,
    /// Only files that match this glob.
    pub glob: Option<String>,
    /// Ignore case.
    pub ignore_case: bool,
    /// Take the pattern literally.
    pub literal: bool,
    /// Lines to show around each match.
    pub context: Option<f64>,
    /// Most matches.
    pub limit: Option<f64>,
}

/// Searches files.
///
/// # Errors
/// When there is no such path, it is hidden, or pattern or glob is none.
pub fn grep(view: &View, args: &GrepArgs) -> Answer {
    let given = args.path.as_deref().filter(|path| !path.is_empty());
    let path = view.resolve(given.unwrap_or("."));
    view.refuse_hidden(&path)?;
    let Ok(found) = path.metadata() else {
        return Err(format!("Path not found: {}", path.display()));
    };
    let matcher = matcher(args)?;
    let context = args.context.filter(|lines| *lines > 0.0).map_or(0, whole);
    let mut findings = Findings::new(limit(args.limit, LIMIT), context);
    if found.is_dir() {
        let mut searcher = searcher(context, BinaryDetection::quit(0));
        for entry in walk(view, &path, args.glob.as_deref())?.build().flatten() {
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let name = entry
                .path()
                .strip_prefix(&path)
                .unwrap_or_else(|_| entry.path());
            findings.begin(name);
            // A file that cannot be read is passed over, as ripgrep does.
            let _ = searcher.search_path(&matcher, entry.path(), &mut findings);
            if findings.done {
                break;
            }
        }
    } else if found.is_file() {
        findings.begin(Path::new(path.file_name().unwrap_or_default()));
        // As ripgrep with a file that is named: all of its lines, binary or not.
        searcher(context, BinaryDetection::none())
            .search_path(&matcher, &path, &mut findings)
            .map_err(|error| format!("{}: {error}", path.display()))?;
    } else {
        return Err(format!("Not a regular file: {}", path.display()));
    }
    Ok(findings.show())
}

/// Built as ripgrep builds its own.
fn matcher(args: &GrepArgs) -> Result<RegexMatcher, String> {
    RegexMatcherBuilder::new()
        .case_insensitive(args.ignore_case)
        .fixed_strings(args.literal)
        .multi_line(true)
        .line_terminator(Some(b'\n'))
        .build(&args.pattern)
        .map_err(|error| error.to_string())
}

fn searcher(context: usize, binary: BinaryDetection) -> Searcher {
    SearcherBuilder::new()
        .line_number(true)
        .before_context(context)
        .after_context(context)
        .binary_detection(binary)
        .build()
}

/// As `rg --hidden`: ignore rules in force inside repositories. But folders named `.git` are left
/// out: in a fixed order they would come first and take up the limit.
fn walk(view: &View, folder: &Path, glob: Option<&str>) -> Result<WalkBuilder, String> {
    let hidden = view.clone();
    let mut builder = WalkBuilder::new(folder);
    builder
        .hidden(false)
        .add_custom_ignore_filename(".rgignore")
        .sort_by_file_path(|one, other| one.cmp(other))
        .filter_entry(move |entry| {
            let is_git = entry.depth() > 0 && entry.file_name() == ".git";
            !is_git && !hidden.hides_entry(entry.path())
        });
    if let Some(glob) = glob {
        let (not, mut rest) = match glob.strip_prefix('!') {
            Some(rest) => ("!", rest),
            None => ("", glob),
        };
        while let Some(shorter) = rest.strip_prefix("./") {
            rest = shorter;
        }
        let mut overrides = OverrideBuilder::new(folder);
        overrides
            .add(&format!("{not}{rest}"))
            .map_err(|error| error.to_string())?;
        builder.overrides(overrides.build().map_err(|error| error.to_string())?);
    }
    Ok(builder)
}

/// What was found, as far as it can be shown.
struct Findings {
    limit: usize,
    context: u64,
    file: PathBuf,
    lines: Vec<String>,
    /// Of all lines, those past the limit too, each with its line end.
    bytes: usize,
    matches: usize,
    /// Set at the last match allowed: its file, and where its context ends.
    last: Option<(PathBuf, u64)>,
    /// There was another match.
    more: bool,
    lines_cut: bool,
    done: bool,
}

impl Findings {
    fn new(limit: usize, context: usize) -> Self {
        Self {
            limit,
            context: context as u64,
            file: PathBuf::new(),
            lines: Vec::new(),
            bytes: 0,
            matches: 0,
            last: None,
            more: false,
            lines_cut: false,
            done: false,
        }
    }

    fn begin(&mut self, file: &Path) {
        file.clone_into(&mut self.file);
    }

    /// Takes a line; `false` when no more are needed.
    fn take(&mut self, number: u64, line: &[u8], is_match: bool) -> bool {
        let Some((file, end)) = self.last.clone() else {
            self.push(number, line, is_match);
            if is_match {
                self.matches += 1;
                if self.matches >= self.limit {
                    let end = number.saturating_add(self.context);
                    self.last = Some((self.file.clone(), end));
                }
            }
            return true;
        };
        let in_context = file == self.file && number <= end;
        // A match inside the last match's context is shown as context.
        if in_context {
            self.push(number, line, false);
        }
        self.more |= is_match;
        self.done = self.more && !(in_context && number < end);
        !self.done
    }

    fn push(&mut self, number: u64, line: &[u8], is_match: bool) {
        let text = String::from_utf8_lossy(line);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let (text, cut) = cut_line(text);
        self.lines_cut |= cut;
        let file = self.file.to_string_lossy();
        let line = if is_match {
            format!("{file}:{number}: {text}")
        } else {
            format!("{file}-{number}- {text}")
        };
        let before = self.bytes;
        self.bytes += line.len() + 1;
        if before <= BYTES_MAX {
            self.lines.push(line);
        }
    }

    fn show(&self) -> String {
        if self.matches == 0 {
            return "No matches found".to_owned();
        }
        let head = head(&self.lines.join("\n"), usize::MAX);
        let mut notices = Vec::new();
        if self.more {
            let (limit, twice) = (self.limit, self.limit.saturating_mul(2));
            notices.push(format!(
                "{limit} matches limit reached. Use limit={twice} for more, or refine pattern"
            ));
        }
        notices.extend(head.cut.map(|_| size_notice()));
        if self.lines_cut {
            notices.push(
                "Some lines truncated to 500 chars. Use read tool to see full lines".to_owned(),
            );
        }
        with_notices(head.text, &notices)
    }
}

impl Sink for Findings {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let number = found.line_number().unwrap_or(0);
        Ok(self.take(number, found.bytes(), true))
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> io::Result<bool> {
        let number = found.line_number().unwrap_or(0);
        Ok(self.take(number, found.bytes(), false))
    }
}
