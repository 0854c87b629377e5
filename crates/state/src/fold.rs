//! Hashes of folded texts, for the repetition rules: equal texts up to white space hash equally.

use std::fmt;

/// Hash of a text with its white space folded. Kept instead of the text, so that a saved goal
/// stays small; a collision would only pause a goal, never complete one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextHash(u64);

impl TextHash {
    /// The hash as saved in a session file: 16 hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        (text.len() == 16)
            .then(|| u64::from_str_radix(text, 16).ok().map(Self))
            .flatten()
    }
}

impl fmt::Display for TextHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Folds white space (runs become one space, ends are dropped) and hashes what is left.
#[must_use]
pub fn fold_hash(texts: &[&str]) -> TextHash {
    let mut hash = Fnv::new();
    for text in texts {
        for word in text.split_whitespace() {
            hash.write(word.as_bytes());
            hash.write(b" ");
        }
        hash.write(&[0xff]); // Not UTF-8, so that ["a", "b"] and ["a b"] differ.
    }
    TextHash(hash.0)
}

/// Number of characters a text has after folding.
pub(crate) fn folded_chars(text: &str) -> usize {
    let words = text
        .split_whitespace()
        .map(|word| word.chars().count() + 1)
        .sum::<usize>();
    words.saturating_sub(1)
}

/// FNV-1a, 64 bits: small, portable and stable over versions, which std's hasher does not promise.
struct Fnv(u64);

impl Fnv {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;

    fn new() -> Self {
        Self(Self::OFFSET)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(Self::PRIME);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_differ_in_white_space_only_hash_equally() {
        assert_eq!(fold_hash(&["a  b\n"]), fold_hash(&[" a b"]));
        assert_ne!(fold_hash(&["a b"]), fold_hash(&["ab"]));
        assert_ne!(fold_hash(&["a b"]), fold_hash(&["a", "b"]));
    }

    #[test]
    fn a_hash_survives_being_saved_and_read() {
        let hash = fold_hash(&["some text"]);
        assert_eq!(TextHash::parse(&hash.to_string()), Some(hash));
        assert_eq!(TextHash::parse("xyz"), None);
    }

    #[test]
    fn folded_length_counts_single_spaces() {
        assert_eq!(folded_chars("  a \n b  "), 3);
        assert_eq!(folded_chars("   "), 0);
    }
}
