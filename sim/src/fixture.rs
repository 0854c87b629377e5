//! Fixtures: the bytes of a run in a file one can read, commit, and run again.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::entropy::{STREAMS, Source, Tapes};
use crate::marks::Marks;
use crate::plan::Profile;

/// A recorded run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fixture {
    /// The profile's name.
    pub profile: String,
    /// What the run broke when it was recorded (`S3: …`); empty for a run that must simply pass.
    #[serde(default)]
    pub broke: String,
    /// Why it is kept.
    #[serde(default)]
    pub about: String,
    /// Situations it is kept for, in the words of [`crate::marks::Mark::words`]: should the run change because the
    /// simulator draws something else, they say that it must be recorded anew.
    #[serde(default)]
    pub meets: Vec<String>,
    /// The bytes of each stream, in hexadecimal: configuration, schedule, faults, models.
    pub bytes: [String; STREAMS],
}

/// Why a fixture could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FixtureError {
    /// The file does not exist or may not be read.
    #[error("{0}")]
    Read(#[from] std::io::Error),
    /// It is no TOML, or a key is missing, unknown or of the wrong kind.
    #[error("{0}")]
    Parse(#[from] toml::de::Error),
    /// No profile of that name.
    #[error("there is no profile {0}; there are calm, swarm, adversary and weak")]
    Profile(String),
    /// A stream is no hexadecimal text of whole bytes.
    #[error("the bytes of stream {0} are no hexadecimal digits in pairs")]
    Bytes(usize),
}

impl Fixture {
    /// Records a run.
    #[must_use]
    pub fn of(profile: Profile, tapes: &Tapes, broke: String, met: Marks) -> Self {
        let hex = |bytes: &Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Self {
            profile: profile.name().to_owned(),
            broke,
            about: String::new(),
            meets: met.iter().map(|mark| mark.words().to_owned()).collect(),
            bytes: std::array::from_fn(|stream| hex(&tapes.0[stream])),
        }
    }

    /// Reads a fixture file.
    pub fn load(path: &Path) -> Result<Self, FixtureError> {
        Ok(toml::from_str(&std::fs::read_to_string(path)?)?)
    }

    /// As a file's text.
    pub fn text(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// What a run of it should have met, and has not.
    pub fn unmet(&self, met: Marks) -> impl Iterator<Item = &str> {
        let words = move |words: &String| met.iter().any(|mark| mark.words() == words);
        let unmet = self.meets.iter().filter(move |meets| !words(meets));
        unmet.map(String::as_str)
    }

    /// What to run.
    pub fn source(&self) -> Result<(Source, Profile), FixtureError> {
        let profile = Profile::named(&self.profile)
            .ok_or_else(|| FixtureError::Profile(self.profile.clone()))?;
        let mut tapes = Tapes::default();
        for (stream, text) in self.bytes.iter().enumerate() {
            tapes.0[stream] = bytes(text).ok_or(FixtureError::Bytes(stream))?;
        }
        Ok((Source::Bytes(tapes), profile))
    }
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let pairs = digits.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marks::Mark;

    #[test]
    fn a_fixture_gives_back_the_bytes_it_was_made_of() {
        let tapes = Tapes([vec![0, 255], vec![], vec![16], vec![1, 2, 3]]);
        let fixture = Fixture::of(Profile::Weak, &tapes, "S3: x".to_owned(), Marks::default());
        let text = fixture.text().expect("TOML");
        let read: Fixture = toml::from_str(&text).expect("a fixture");
        let (source, profile) = read.source().expect("bytes");
        assert_eq!((source, profile), (Source::Bytes(tapes), Profile::Weak));
    }

    #[test]
    fn a_run_that_changed_is_told_by_what_it_no_longer_meets() {
        let mut met = Marks::default();
        met.meet(Mark::Held);
        let fixture = Fixture::of(Profile::Calm, &Tapes::default(), String::new(), met);
        assert_eq!(fixture.unmet(met).count(), 0);
        let unmet: Vec<&str> = fixture.unmet(Marks::default()).collect();
        assert_eq!(unmet, [Mark::Held.words()]);
    }

    #[test]
    fn half_a_byte_is_refused() {
        let mut fixture = Fixture::of(
            Profile::Calm,
            &Tapes::default(),
            String::new(),
            Marks::default(),
        );
        fixture.bytes[2] = "abc".to_owned();
        assert!(matches!(fixture.source(), Err(FixtureError::Bytes(2))));
    }
}
