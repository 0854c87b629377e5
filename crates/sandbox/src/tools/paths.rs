//! What path a model means.

use std::path::{Component, Path, PathBuf};

/// Spaces that models write for a plain one.
fn plain_space(letter: char) -> char {
    match letter {
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    }
}

/// Resolves against the working folder: `@` before a path is dropped, `~` is the home, `file://` is
/// understood, and `..` is taken by name as Node does.
pub(super) fn resolve(path: &str, cwd: &Path, home: Option<&Path>) -> PathBuf {
    let path: String = path.chars().map(plain_space).collect();
    let path = path.strip_prefix('@').unwrap_or(&path);
    let expanded = match (path, path.strip_prefix("~/"), home) {
        ("~", _, Some(home)) => home.to_owned(),
        (_, Some(rest), Some(home)) => home.join(rest),
        _ => match path.strip_prefix("file://") {
            Some(rest) => PathBuf::from(percent_decoded(rest)),
            None => PathBuf::from(path),
        },
    };
    normalized(&cwd.join(expanded))
}

fn normalized(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(part),
        }
    }
    out
}

fn percent_decoded(text: &str) -> String {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let digits = tail.first_chunk::<2>().filter(|_| byte == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(decoded) => {
                out.push(decoded);
                rest = &tail[2..];
            }
            None => {
                out.push(byte);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// For reading: names as macOS writes them, when the one given is not there.
pub(super) fn resolve_to_read(resolved: PathBuf) -> PathBuf {
    if resolved.exists() {
        return resolved;
    }
    let Some(text) = resolved.to_str() else {
        return resolved;
    };
    let narrow = ["AM.", "PM.", "am.", "pm."]
        .iter()
        .fold(text.to_owned(), |text, half| {
            text.replace(&format!(" {half}"), &format!("\u{202f}{half}"))
        });
    let curly = text.replace('\'', "\u{2019}");
    let mut others = [narrow, curly].into_iter().map(PathBuf::from);
    others.find(|path| path.exists()).unwrap_or(resolved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_resolve_as_nodes() {
        let resolve = |path| resolve(path, Path::new("/work/dir"), Some(Path::new("/home/me")));
        for (given, expected) in [
            (".", "/work/dir"),
            ("a/../../b", "/work/b"),
            ("@src/x", "/work/dir/src/x"),
            ("~", "/home/me"),
            ("~/x", "/home/me/x"),
            ("~x", "/work/dir/~x"),
            ("/etc/./passwd", "/etc/passwd"),
            ("/..", "/"),
            ("file:///a%20b", "/a b"),
            ("a\u{a0}b", "/work/dir/a b"),
        ] {
            assert_eq!(resolve(given), Path::new(expected), "{given}");
        }
    }
}
