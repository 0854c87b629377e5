//! The auditor's reading tools, served by this program so that they see what its sealed shell sees.
//!
//! Parameters, forms of output and limits are those of pi's own `read`, `ls`, `find` and `grep`, so
//! that a model knows them; the code is ours, on ripgrep's crates, and needs no downloaded program.
//! What differs on purpose:
//! * Hidden paths are refused, wherever a link leads.
//! * Order is fixed (by path); pi's `find` and `grep` list what their threads found first.
//! * `grep` leaves out folders named `.git`; they can be searched by name.
//! * `read` shows no images, and waits for no pipe or device.
//! * Names sort as ICU sorts ASCII; letters beyond it come after `z`.

mod find;
mod grep;
mod image;
mod ls;
mod paths;
mod read;
mod text;

use std::path::{Path, PathBuf};

pub use self::find::{FindArgs, find};
pub use self::grep::{GrepArgs, grep};
pub use self::ls::{LsArgs, ls};
pub use self::read::{ReadArgs, read};

/// What a tool answers: its text, or an error for the model.
pub type Answer = Result<String, String>;

/// Where the tools look from, and what they must not show.
#[derive(Debug, Clone)]
pub struct View {
    cwd: PathBuf,
    home: Option<PathBuf>,
    hidden: Vec<PathBuf>,
}

impl View {
    /// A view from a folder. Of the hidden paths it is the files themselves that count, not their
    /// names.
    #[must_use]
    pub fn new(cwd: PathBuf, home: Option<PathBuf>, hidden: &[PathBuf]) -> Self {
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        Self {
            cwd,
            home,
            hidden: hidden.iter().map(real).collect(),
        }
    }

    /// The absolute path a model means.
    fn resolve(&self, path: &str) -> PathBuf {
        paths::resolve(path, &self.cwd, self.home.as_deref())
    }

    fn refuse_hidden(&self, path: &Path) -> Result<(), String> {
        if self.is_hidden(path) {
            Err(format!("Not shown to auditors: {}", path.display()))
        } else {
            Ok(())
        }
    }

    fn is_hidden(&self, path: &Path) -> bool {
        if self.hidden.is_empty() {
            return false;
        }
        let real = path.canonicalize();
        let real = real.as_deref().unwrap_or(path);
        self.hidden.iter().any(|hidden| real.starts_with(hidden))
    }

    /// For walks, which do not follow links and go no further below what is hidden: only an entry of
    /// a hidden one's name can be it, by whatever way the walk came.
    fn hides_entry(&self, path: &Path) -> bool {
        let name = path.file_name();
        let may_be = self.hidden.iter().any(|hidden| hidden.file_name() == name);
        may_be && self.is_hidden(path)
    }
}

/// A limit as pi reads it: whole, and at least 1.
fn limit(given: Option<f64>, default: usize) -> usize {
    given.map_or(default, |given| whole(given.floor()).max(1))
}

/// The nearest index; not a number is 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, as wanted"
)]
fn whole(number: f64) -> usize {
    number as usize
}
