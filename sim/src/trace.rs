//! What happened in one run, line by line.

/// The lines of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trace {
    lines: Vec<String>,
}

/// Longer lines are cut for the eye, with a hash over all of it.
const SHOWN_MAX_CHARS: usize = 400;

impl Trace {
    pub(crate) fn note(&mut self, now_ms: u64, line: &str) {
        self.lines.push(format!("{now_ms:>10} {line}"));
    }

    /// The lines in full.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// The lines for the eye.
    pub fn shown(&self) -> impl Iterator<Item = String> {
        self.lines.iter().map(|line| shown(line))
    }

    /// Over every byte of every line.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for line in &self.lines {
            hasher.update(line.as_bytes());
            hasher.update(b"\n");
        }
        hasher.finalize().to_hex().as_str()[..16].to_owned()
    }
}

fn shown(line: &str) -> String {
    match line.char_indices().nth(SHOWN_MAX_CHARS) {
        None => line.to_owned(),
        Some((at, _)) => {
            let hash = blake3::hash(line.as_bytes()).to_hex();
            format!("{} … #{}", &line[..at], &hash.as_str()[..8])
        }
    }
}
