use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// The fault as `LINE:COLUMN what`.
fn fault(text: &str) -> String {
    let fault = read(text).expect_err("must not be JSON");
    let (line, column) = line_and_column(text, fault.at);
    format!("{line}:{column} {}", fault.what)
}

#[test]
fn faults_name_the_place_and_what_is_there() {
    for (text, expected) in [
        ("", "1:1 the file is empty"),
        (" \r\n\t", "2:2 the file is empty"),
        (
            "{\"a\":600000,}",
            "1:13 expected more after the comma (JSON has no trailing comma), found `}`",
        ),
        (
            "[1,\n]",
            "2:1 expected more after the comma (JSON has no trailing comma), found `]`",
        ),
        (
            "{ // cheap\n \"model\":\"x\" }",
            "1:3 expected a key in double quotes, found a comment, which JSON does not have",
        ),
        (
            "{\"a\":1} /* b */",
            "1:9 expected the end of the file, found a comment, which JSON does not have",
        ),
        (
            "{model: 1}",
            "1:2 expected a key in double quotes, found `m`",
        ),
        (
            "{'model': 1}",
            "1:2 expected a key in double quotes, found `'` (strings take double quotes)",
        ),
        ("{\"a\" 1}", "1:6 expected `:` after the key, found `1`"),
        ("{\"a\":}", "1:6 expected a value, found `}`"),
        (
            "{\"a\":high}",
            "1:6 expected a value (text needs double quotes), found `h`",
        ),
        ("{\"a\":NaN}", "1:6 expected a value, found `N`"),
        ("{\"a\":1 \"b\":2}", "1:8 expected `,` or `}`, found `\"`"),
        ("[1 2]", "1:4 expected `,` or `]`, found `2`"),
        ("{\"a\":1", "1:7 expected `,` or `}`, the file ends"),
        (
            "{\"é\":\r\"b",
            "2:3 expected the rest of the string, or its closing quote, the file ends",
        ),
        (
            "\"a\nb\"",
            "1:3 expected the rest of the string, or its closing quote, found `\\n`",
        ),
        (
            "\"\\x\"",
            "1:3 expected an escape: one of \" \\ / b f n r t u, found `x`",
        ),
        (
            "\"\\u12g4\"",
            "1:6 expected four hexadecimal digits after \\u, found `g`",
        ),
        ("\"a\\ud800\"", "1:3 half of a surrogate pair in a string"),
        (
            "\"\\udc00\\ud800\"",
            "1:2 half of a surrogate pair in a string",
        ),
        (
            "\"\\ud800\\u0041\"",
            "1:2 half of a surrogate pair in a string",
        ),
        (
            "01",
            "1:2 expected no digit after a leading zero, found `1`",
        ),
        ("-", "1:2 expected a digit, the file ends"),
        ("1.", "1:3 expected a digit, the file ends"),
        ("1e+", "1:4 expected a digit, the file ends"),
        ("+1", "1:1 expected a value, found `+`"),
        ("0x10", "1:2 expected the end of the file, found `x`"),
        ("{} {}", "1:4 expected the end of the file, found `{`"),
        ("\u{a0}{}", "1:1 expected a value, found `\u{a0}`"),
    ] {
        assert_eq!(
            fault(text).replace("\\u{a0}", "\u{a0}"),
            expected,
            "for {text:?}"
        );
    }
}

#[test]
fn nesting_is_bounded() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(read(&nested(DEPTH_MAX)).is_ok());
    assert_eq!(
        fault(&nested(DEPTH_MAX + 1)),
        "1:65 nested deeper than 64 levels"
    );
    assert!(read(&"[".repeat(1_000_000)).is_err());
    assert!(read(&"{\"a\":".repeat(1_000_000)).is_err());
}

#[test]
fn lines_and_columns_count_as_an_editor_does() {
    let text = "a\r\nbé\rc\n\nd";
    let places: Vec<_> = text
        .char_indices()
        .map(|(at, _)| line_and_column(text, at))
        .collect();
    let expected = [
        (1, 1),
        (1, 2),
        (2, 1),
        (2, 1),
        (2, 2),
        (2, 3),
        (3, 1),
        (3, 2),
        (4, 1),
        (5, 1),
    ];
    // Between CR and LF the CR alone counts: no value begins there.
    assert_eq!(places, expected);
}

/// The same value in serde_json's terms; the last of repeated keys counts.
fn as_serde(node: &Node<'_>) -> Value {
    match &node.json {
        Json::Null | Json::Bool | Json::Number => serde_json::from_str(node.raw).unwrap(),
        Json::Text(text) => Value::String(text.clone()),
        Json::List(items) => items.iter().map(as_serde).collect(),
        Json::Object(members) => members
            .iter()
            .map(|member| (member.key.clone(), as_serde(&member.value)))
            .collect(),
    }
}

fn check_against_serde(text: &str) {
    match (read(text), serde_json::from_str::<Value>(text)) {
        (Ok(node), Ok(value)) => assert_eq!(as_serde(&node), value, "for {text:?}"),
        (Err(fault), Err(_)) => assert!(text.is_char_boundary(fault.at)),
        // serde_json has no room for 1e999 in its numbers; we keep them as written.
        (Ok(_), Err(error)) => {
            assert!(
                error.to_string().starts_with("number out of range"),
                "{text:?}: {error}"
            );
        }
        (Err(fault), Ok(_)) => panic!("refused {text:?} at {}: {}", fault.at, fault.what),
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// Pieces of JSON and near misses; glued together some are JSON, most are nearly.
fn nearly_json() -> impl Strategy<Value = String> {
    let pieces = vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"",
        "\\",
        "\\u00e9",
        "\\ud83d\\ude00",
        "\\ud83d",
        "null",
        "true",
        "false",
        "nul",
        "0",
        "1",
        "-",
        ".",
        "e",
        "E+",
        "12",
        " ",
        "\n",
        "\t",
        "é",
        "//",
        "\u{0}",
        "\u{feff}",
        "\"b\":",
        "{\"c\":[",
        "]}",
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn agrees_with_serde_json_on_json(value in any_json(), pretty in any::<bool>()) {
        let text = if pretty {
            serde_json::to_string_pretty(&value).unwrap()
        } else {
            value.to_string()
        };
        prop_assert!(read(&text).is_ok());
        check_against_serde(&text);
    }

    #[test]
    fn agrees_with_serde_json_on_what_is_nearly_json(text in nearly_json()) {
        check_against_serde(&text);
    }

    #[test]
    fn agrees_with_serde_json_on_numbers(text in "-?[0-9]{0,3}[.]?[0-9]{0,2}[eE]?[+-]?[0-9]{0,2}") {
        check_against_serde(&text);
    }

    #[test]
    fn agrees_with_serde_json_on_strings(inside in r#"([a-z\\"/]|\\[a-z"/]|\\u[0-9a-fA-F]{4}|\\u[dD][89a-f]00|\PC){0,6}"#) {
        check_against_serde(&format!("\"{inside}\""));
    }

    #[test]
    fn agrees_with_serde_json_on_damaged_json(value in any_json(), at in any::<prop::sample::Index>(), cut in 0_usize..3) {
        let text = value.to_string();
        let chars: Vec<char> = text.chars().collect();
        let at = at.index(chars.len());
        let damaged: String = chars[..at].iter().chain(chars.iter().skip(at + cut)).collect();
        check_against_serde(&damaged);
    }

    #[test]
    fn every_place_holds_what_it_says(value in any_json()) {
        let text = value.to_string();
        let mut nodes = vec![read(&text).unwrap()];
        while let Some(node) = nodes.pop() {
            prop_assert!(text[node.start..].starts_with(node.raw));
            match node.json {
                Json::List(items) => nodes.extend(items),
                Json::Object(members) => {
                    for member in members {
                        prop_assert!(text[member.key_start..].starts_with('"'));
                        nodes.push(member.value);
                    }
                }
                Json::Null | Json::Bool | Json::Number | Json::Text(_) => {}
            }
        }
    }
}
