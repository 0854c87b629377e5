//! `read`.

use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::path::Path;

use super::text::{BYTES_MAX, CutBy, Head, LINES_MAX, head, size};
use super::{Answer, View, image, paths, whole};

/// Arguments of `read`.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadArgs {
    /// The file.
    pub path: String,
    /// First line to show, from 1.
    pub offset: Option<f64>,
    /// Most lines to show.
    pub limit: Option<f64>,
}

/// Shows a text file, or a part of it.
///
/// # Errors
/// When there is no such file, it is hidden, or it ends before the offset.
pub fn read(view: &View, args: &ReadArgs) -> Answer {
    let path = paths::resolve_to_read(view.resolve(&args.path));
    view.refuse_hidden(&path)?;
    let mut file = open(&path)?;
    let mut first = Vec::new();
    let sniffed = file
        .by_ref()
        .take(image::SNIFF_BYTES as u64)
        .read_to_end(&mut first);
    sniffed.map_err(|error| node_error(&error, "read", None))?;
    if let Some(kind) = image::mime_type(&first) {
        return Ok(format!(
            "Read image file [{kind}]\n[Image omitted: auditors are not shown images.]"
        ));
    }
    let start = args.offset.filter(|offset| *offset != 0.0);
    let start = whole(start.map_or(0.0, |offset| (offset - 1.0).max(0.0)));
    let mut selection = Selection::new(start, end(start, args.limit));
    let whole_file = BufReader::new(io::Cursor::new(first).chain(file));
    selection
        .take_all(whole_file)
        .map_err(|error| node_error(&error, "read", None))?;
    show(&selection, args)
}

/// Opens a regular file; pi would wait for a pipe for ever.
fn open(path: &Path) -> Result<File, String> {
    let refuse = |error: &io::Error| node_error(error, "access", Some(path));
    let found = path.metadata().map_err(|error| refuse(&error))?;
    if found.is_dir() {
        return Err("EISDIR: illegal operation on a directory, read".to_owned());
    }
    if !found.is_file() {
        return Err(format!("Not a regular file: {}", path.display()));
    }
    File::open(path).map_err(|error| refuse(&error))
}

/// An error in Node's words, which models know.
fn node_error(error: &io::Error, doing: &str, path: Option<&Path>) -> String {
    let of = path.map_or_else(String::new, |path| format!(" '{}'", path.display()));
    let text = if error.kind() == io::ErrorKind::NotFound {
        "ENOENT: no such file or directory".to_owned()
    } else if error.kind() == io::ErrorKind::PermissionDenied {
        "EACCES: permission denied".to_owned()
    } else if error.kind() == io::ErrorKind::NotADirectory {
        "ENOTDIR: not a directory".to_owned()
    } else {
        error.to_string()
    };
    format!("{text}, {doing}{of}")
}

/// The line after the last one; a negative limit counts from the end, as pi's does.
fn end(start: usize, limit: Option<f64>) -> End {
    match limit {
        None => End::Line(usize::MAX),
        Some(limit) if limit >= 0.0 => End::Line(start.saturating_add(whole(limit))),
        Some(limit) => End::BeforeLast(whole((-limit).floor()), start),
    }
}

#[derive(Clone, Copy)]
enum End {
    Line(usize),
    /// `array.slice(start, start + limit)` with a negative sum leaves out that many at the end; with
    /// a sum that is not negative it is an earlier line.
    BeforeLast(usize, usize),
}

/// The lines asked for, as far as they can be shown.
struct Selection {
    start: usize,
    end: End,
    lines: Vec<Vec<u8>>,
    bytes: usize,
    full: bool,
    /// Length of the first line asked for.
    first_line_bytes: usize,
    /// Lines of the file; a final line end begins one more, as pi counts.
    total: usize,
}

impl Selection {
    const fn new(start: usize, end: End) -> Self {
        Self {
            start,
            end,
            lines: Vec::new(),
            bytes: 0,
            full: false,
            first_line_bytes: 0,
            total: 0,
        }
    }

    /// Goes through the file in pieces: a line longer than any that can be shown is only measured.
    fn take_all(&mut self, mut from: impl io::BufRead) -> io::Result<()> {
        let mut line = Vec::new();
        let mut length = 0;
        loop {
            let piece = from.fill_buf()?;
            if piece.is_empty() {
                self.finish_line(line, length);
                return Ok(());
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let text = &piece[..end.unwrap_or(piece.len())];
            length += text.len();
            if self.wants() && line.len() <= BYTES_MAX {
                line.extend(&text[..text.len().min(BYTES_MAX + 1)]);
            }
            let used = text.len() + usize::from(end.is_some());
            from.consume(used);
            if end.is_some() {
                self.finish_line(std::mem::take(&mut line), length);
                length = 0;
            }
        }
    }

    /// The end may depend on the number of lines, which is known only at the end.
    fn wants(&self) -> bool {
        let before_end = match self.end {
            End::Line(end) => self.total < end,
            End::BeforeLast(..) => true,
        };
        self.total >= self.start && before_end && !self.full
    }

    fn finish_line(&mut self, line: Vec<u8>, length: usize) {
        if self.wants() {
            if self.total == self.start {
                self.first_line_bytes = length;
            }
            // One line past the limits is kept, so that the cut is seen.
            self.full = self.lines.len() > LINES_MAX || self.bytes > BYTES_MAX;
            self.bytes += line.len() + usize::from(!self.lines.is_empty());
            self.lines.push(line);
        }
        self.total += 1;
    }

    /// The line after the last one asked for.
    fn end(&self) -> usize {
        match self.end {
            End::Line(end) => end.min(self.total),
            End::BeforeLast(back, start) => match start.checked_sub(back) {
                Some(end) => end.min(self.total),
                None => self.total.saturating_sub(back - start),
            },
        }
    }

    fn head(&self) -> Head {
        let count = self.end().saturating_sub(self.start).min(self.lines.len());
        let lines = self.lines[..count].iter();
        let lines: Vec<_> = lines.map(|line| String::from_utf8_lossy(line)).collect();
        head(&lines.join("\n"), LINES_MAX)
    }
}

fn show(selection: &Selection, args: &ReadArgs) -> Answer {
    let (start, total) = (selection.start, selection.total);
    if start >= total {
        let offset = args.offset.unwrap_or(0.0);
        return Err(format!(
            "Offset {offset} is beyond end of file ({total} lines total)"
        ));
    }
    let first = start + 1;
    let limit = size(BYTES_MAX);
    let head = selection.head();
    if head.first_line_too_long {
        let long = size(selection.first_line_bytes);
        let path = &args.path;
        return Ok(format!(
            "[Line {first} is {long}, exceeds {limit} limit. Use bash: sed -n '{first}p' {path} | head -c {BYTES_MAX}]"
        ));
    }
    let last = start + head.lines;
    let next = last + 1;
    let by_size = match head.cut {
        Some(CutBy::Lines) => String::new(),
        Some(CutBy::Bytes) => format!(" ({limit} limit)"),
        None => {
            let left = total - selection.end();
            return Ok(match args.limit.filter(|_| left > 0) {
                Some(_) => format!(
                    "{}\n\n[{left} more lines in file. Use offset={} to continue.]",
                    head.text,
                    selection.end() + 1
                ),
                None => head.text,
            });
        }
    };
    Ok(format!(
        "{}\n\n[Showing lines {first}-{last} of {total}{by_size}. Use offset={next} to continue.]",
        head.text
    ))
}
