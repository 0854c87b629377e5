//! The page that is half written by hand and half by measuring.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// Where the figures are published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The Markdown file.
    pub text: PathBuf,
    /// The folder of its pictures.
    pub pictures: PathBuf,
}

impl Page {
    /// `docs/performance.md` of a repository.
    #[must_use]
    pub fn of_repository(root: &Path) -> Self {
        Self {
            text: root.join("docs/performance.md"),
            pictures: root.join("docs/images/performance"),
        }
    }

    /// Writes a block of the page anew.
    ///
    /// # Errors
    ///
    /// The page cannot be read or written, or has no marks of that name.
    pub fn replace(&self, block: &str, text: &str) -> Result<()> {
        let file = self.text.display();
        let page = fs::read_to_string(&self.text).with_context(|| format!("cannot read {file}"))?;
        let page = replace_block(&page, block, text)
            .with_context(|| format!("{file} has no marks around `{block}`"))?;
        fs::write(&self.text, page).with_context(|| format!("cannot write {file}"))
    }
}

/// The page with other words between the marks of a block; `None` without such marks.
#[must_use]
pub fn replace_block(page: &str, block: &str, text: &str) -> Option<String> {
    let begin = format!("<!-- measured: {block} -->");
    let end = format!("<!-- end: {block} -->");
    let from = page.find(&begin)? + begin.len();
    let to = from + page[from..].find(&end)?;
    Some(format!("{}\n\n{text}\n\n{}", &page[..from], &page[to..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_its_own_marks_is_replaced() {
        let page = "by hand\n<!-- measured: a -->\nold\n<!-- end: a -->\nmore\n<!-- measured: b --><!-- end: b -->\n";
        let expected = "by hand\n<!-- measured: a -->\n\nnew\n\n<!-- end: a -->\nmore\n<!-- measured: b --><!-- end: b -->\n";
        assert_eq!(replace_block(page, "a", "new").as_deref(), Some(expected));
        assert_eq!(
            replace_block(expected, "a", "new").as_deref(),
            Some(expected)
        );
        assert_eq!(replace_block(page, "c", "new"), None);
    }
}
