//! The verdict grammar: the vectors of the specification, more of each kind, and properties.

mod properties;
mod reference;
mod vectors;

use goal_parser::parse_verdict;

/// The parser's answer as one name; the reference must give the same one.
fn answer(text: &str) -> &'static str {
    let name = match parse_verdict(text) {
        Ok(verdict) => verdict.name(),
        Err(why) => why.name(),
    };
    assert_eq!(
        name,
        reference::reference(text),
        "the reference differs on {text:?}"
    );
    name
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(answer(text), expected, "for {text:?}");
}
