//! What must hold for any bytes that come from outside.
//!
//! Each target is a function of bytes that panics if something does not hold. A fuzzer calls it with
//! bytes of its own making (`fuzz/fuzz_targets`), and a test of this package with every file of
//! `fuzz/corpus`. There is no fuzzer in here, so the test needs no nightly compiler.
//!
//! What a target asserts are properties: how the answer to one input fits the input, or the answer
//! to a changed one. Examples belong to the tests of the packages.

mod config;
mod engine;
mod report;
mod safe;
mod session;
mod trace;
mod verdict;
mod wire;

pub use config::config;
pub use engine::engine;
pub use report::report;
pub use safe::safe;
pub use session::session;
pub use trace::trace;
pub use verdict::verdict;
pub use wire::wire;

/// A target: it panics if something does not hold for these bytes.
pub type Target = fn(&[u8]);

/// Every target with its name, which is also that of its folder in the corpus.
pub const TARGETS: [(&str, Target); 8] = [
    ("verdict", verdict),
    ("wire", wire),
    ("session", session),
    ("trace", trace),
    ("config", config),
    ("report", report),
    ("safe", safe),
    ("engine", engine),
];

/// Whether a text could command a terminal: control characters other than those of lines and tabs.
fn commands(text: &str) -> bool {
    text.chars()
        .any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
}
