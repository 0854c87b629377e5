//! Text that is out to break things, for the property tests.

use proptest::prelude::*;

/// Characters of every troublesome kind, mixed with plain ones.
fn nasty_char() -> impl Strategy<Value = char> {
    prop_oneof![
        3 => any::<char>(),
        3 => proptest::char::range('a', 'f'),
        2 => prop::sample::select(vec![' ', '\t', '\n', '\r', '\u{A0}', '\u{3000}', '\u{2003}']),
        2 => prop::sample::select(vec!['&', '<', '>', '⟦', '⟧', 'U', '+', ';', '3', '9']),
        2 => prop::sample::select(vec![
            '\u{200C}', '\u{200D}', '\u{FE0F}', '\u{301}', '\u{94D}', '\u{20E3}',
        ]),
        2 => prop::sample::select(vec![
            '\0', '\u{1B}', '\u{7F}', '\u{85}', '\u{AD}', '\u{61C}', '\u{200B}', '\u{202E}',
            '\u{2028}', '\u{2066}', '\u{FEFF}', '\u{FFFE}', '\u{E0041}', '\u{E0101}', '\u{10FFFF}',
        ]),
        2 => prop::sample::select(vec![
            '👩', '💻', '🏽', '❤', '🇩', '🇪', '語', 'م', 'ی', 'क', '한', '\u{1100}', '\u{1161}', 'ﷺ',
        ]),
    ]
}

/// A text of up to `chars_max` such characters.
pub(crate) fn nasty_text(chars_max: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(nasty_char(), 0..=chars_max).prop_map(String::from_iter)
}
