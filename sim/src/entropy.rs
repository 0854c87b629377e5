//! One source of chance, finite and recorded.
//!
//! A run draws from four streams, so that a change in one (say, what a model says) leaves the others
//! (when the user acts) as they were. The streams come from a seed, or from bytes: those of an
//! earlier run, of a fixture, or of a fuzzer. Everywhere a zero means the calmest choice, so a
//! stream that has run dry, or was shortened by shrinking, leads to a calmer run.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// What a draw is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Settings, and which faults and models exist at all.
    Config,
    /// When things happen.
    Schedule,
    /// What goes wrong, and what the user does.
    Faults,
    /// What the models say.
    Models,
}

/// The number of streams.
pub const STREAMS: usize = 4;
/// A run that draws more than this from one stream gets zeros from then on.
const STREAM_MAX_BYTES: usize = 1 << 16;
const CHUNK_BYTES: usize = 64;

/// Where a run's chance comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Expanded as it is needed, the same on every machine.
    Seed(u64),
    /// One byte string a stream; zeros follow.
    Bytes(Tapes),
}

/// What was drawn, or shall be, by stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tapes(pub [Vec<u8>; STREAMS]);

impl Tapes {
    /// Deals one byte string out to the streams in turn, as a fuzzer gives it.
    #[must_use]
    pub fn dealt(bytes: &[u8]) -> Self {
        let mut tapes = Self::default();
        for (at, byte) in bytes.iter().enumerate() {
            tapes.0[at % STREAMS].push(*byte);
        }
        tapes
    }

    /// Bytes in all.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    /// Nothing at all: the calmest run.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Draws for one run.
#[derive(Debug)]
pub struct Entropy {
    tapes: [Tape; STREAMS],
}

#[derive(Debug)]
struct Tape {
    rng: Option<ChaCha8Rng>,
    bytes: Vec<u8>,
    at: usize,
}

impl Entropy {
    /// A fresh source.
    #[must_use]
    pub fn new(source: &Source) -> Self {
        let tapes = std::array::from_fn(|stream| match source {
            Source::Seed(seed) => {
                let mut rng = ChaCha8Rng::seed_from_u64(*seed);
                rng.set_stream(stream as u64);
                Tape {
                    rng: Some(rng),
                    bytes: Vec::new(),
                    at: 0,
                }
            }
            Source::Bytes(tapes) => Tape {
                rng: None,
                bytes: tapes.0[stream].clone(),
                at: 0,
            },
        });
        Self { tapes }
    }

    /// What was drawn so far.
    #[must_use]
    pub fn drawn(&self) -> Tapes {
        Tapes(std::array::from_fn(|stream| {
            let tape = &self.tapes[stream];
            tape.bytes[..tape.at.min(tape.bytes.len())].to_vec()
        }))
    }

    /// One byte.
    pub fn byte(&mut self, stream: Stream) -> u8 {
        self.tapes[stream as usize].byte()
    }

    /// A number below `n`; zero for `n` of zero or one, which draws nothing. Slightly uneven where
    /// `n` is no power of two, which no one here minds.
    pub fn below(&mut self, stream: Stream, n: u32) -> u32 {
        match n {
            0 | 1 => 0,
            2..=256 => u32::from(self.byte(stream)) % n,
            _ => {
                let wide = [self.byte(stream), self.byte(stream), self.byte(stream), 0];
                u32::from_le_bytes(wide) % n
            }
        }
    }

    /// True in `of_256` of 256 cases. A zero byte is always false.
    pub fn chance(&mut self, stream: Stream, of_256: u8) -> bool {
        of_256 > 0 && u16::from(self.byte(stream)) + u16::from(of_256) >= 256
    }

    /// One of several, the first for a zero byte.
    ///
    /// # Panics
    /// If there is nothing to choose from.
    pub fn pick<T: Copy>(&mut self, stream: Stream, of: &[T]) -> T {
        let n = u32::try_from(of.len()).unwrap_or(u32::MAX);
        of[self.below(stream, n) as usize]
    }

    /// Milliseconds below `2^powers`, small ones as likely as large ones.
    pub fn ms(&mut self, powers: u32) -> u64 {
        let power = self.below(Stream::Schedule, powers + 1);
        u64::from(self.below(Stream::Schedule, 1 << power))
    }
}

impl Tape {
    fn byte(&mut self) -> u8 {
        if self.at == self.bytes.len() {
            self.grow();
        }
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        byte
    }

    fn grow(&mut self) {
        if let Some(rng) = &mut self.rng
            && self.bytes.len() < STREAM_MAX_BYTES
        {
            let from = self.bytes.len();
            self.bytes.resize(from + CHUNK_BYTES, 0);
            rng.fill_bytes(&mut self.bytes[from..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_drawn_from_a_seed_gives_the_same_draws_as_bytes() {
        let mut first = Entropy::new(&Source::Seed(7));
        let drawn: Vec<u32> = (0..500)
            .map(|n| first.below(Stream::Models, n * 7))
            .collect();
        let mut again = Entropy::new(&Source::Bytes(first.drawn()));
        let same: Vec<u32> = (0..500)
            .map(|n| again.below(Stream::Models, n * 7))
            .collect();
        assert_eq!(drawn, same);
    }

    #[test]
    fn a_dry_stream_gives_the_calmest_choice() {
        let mut dry = Entropy::new(&Source::Bytes(Tapes::default()));
        assert!(!dry.chance(Stream::Faults, 255));
        assert_eq!(dry.pick(Stream::Models, &["calm", "wild"]), "calm");
        assert_eq!(dry.ms(20), 0);
    }

    #[test]
    fn streams_do_not_disturb_each_other() {
        let mut one = Entropy::new(&Source::Seed(7));
        let mut two = Entropy::new(&Source::Seed(7));
        let _ = two.byte(Stream::Faults);
        assert_eq!(one.byte(Stream::Models), two.byte(Stream::Models));
    }
}
