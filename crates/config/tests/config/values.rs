//! Every kind of value, for every key that takes it, from the file and from the environment.

use goal_config::{KEYS, Setting, Settings};
use serde_json::{Value, json};

use crate::{effective, key, lines, list, number, resolve, source, text};

/// What must become of a value.
#[derive(Clone)]
enum Fate {
    Taken(Setting),
    /// The next layer counts, and nothing is said.
    NotSet,
    /// The next layer counts, with one diagnostic.
    Refused,
}

use Fate::{NotSet, Refused, Taken};

/// Checks one value of one key, in one layer, above another layer and above nothing.
fn check(name: &str, file: Option<&str>, variable: Option<&str>, fate: &Fate) {
    let key = key(name);
    let variables: Vec<_> = variable.iter().map(|value| (key.env, *value)).collect();
    let file = file.map(|value| format!("{{\n  \"{name}\": {value}\n}}"));
    let loaded = resolve(file.as_deref(), &variables);
    let here = if variable.is_some() {
        format!("env:{}", key.env)
    } else {
        format!("file:/agent/goal-auditor.json:2:{}", name.len() + 7)
    };
    let about = format!("{name} = {file:?} {variables:?}: {:?}", lines(&loaded));
    let default = key.value_in(&Settings::defaults());
    match fate {
        Taken(setting) => {
            assert_eq!(effective(&loaded, name), *setting, "{about}");
            assert_eq!(source(&loaded, name), here, "{about}");
            assert!(loaded.diagnostics.is_empty(), "{about}");
        }
        NotSet => {
            assert_eq!(effective(&loaded, name), default, "{about}");
            assert_eq!(source(&loaded, name), "default", "{about}");
            assert!(loaded.diagnostics.is_empty(), "{about}");
        }
        Refused => {
            assert_eq!(effective(&loaded, name), default, "{about}");
            assert_eq!(source(&loaded, name), "default", "{about}");
            let [diagnostic] = loaded.diagnostics.as_slice() else {
                panic!("{about}")
            };
            assert_eq!(diagnostic.key.as_deref(), Some(name), "{about}");
            assert_eq!(
                diagnostic.source.as_ref().unwrap().to_string(),
                here,
                "{about}"
            );
            let message = &diagnostic.message;
            assert!(
                message.contains(&format!("allowed: {}", key.valid)),
                "{about}"
            );
            assert!(message.ends_with(&format!("used instead: {} (default)", key.default)));
        }
    }
}

/// A text as a variable and as a string in the file: the same must become of both.
fn check_text(name: &str, value: &str, fate: &Fate) {
    check(name, None, Some(value), fate);
    check(name, Some(&json!(value).to_string()), None, fate);
}

fn check_json(name: &str, value: &str, fate: &Fate) {
    check(name, Some(value), None, fate);
}

const DURATIONS: [&str; 2] = ["timeoutMs", "idleTimeoutMs"];

/// Each with whether 0 is off, and its limits.
const COUNTS: [(&str, bool, u64, u64); 5] = [
    ("maxEmptyContinuations", false, 1, 1_000),
    ("maxConsecutiveAuditRejections", false, 1, 1_000),
    ("maxContinuations", true, 1, 1_000_000),
    ("maxAudits", true, 1, 1_000),
    ("sandboxScratchMb", false, 64, 1_048_576),
];

fn number_names() -> impl Iterator<Item = &'static str> {
    DURATIONS.into_iter().chain(COUNTS.map(|(name, ..)| name))
}

#[test]
fn blank_and_null_are_not_set_for_every_key() {
    for key in &KEYS {
        for blank in ["", " ", "\t \u{a0}", "\u{feff}", "\r\n"] {
            check_text(key.name, blank, &NotSet);
        }
        check_json(key.name, "null", &NotSet);
    }
}

#[test]
fn wrong_types_are_refused_for_every_key() {
    for key in &KEYS {
        for wrong in ["true", "false", "{}", "{\"a\":1}", "[1]", "[[]]", "[null]"] {
            check_json(key.name, wrong, &Refused);
        }
    }
    for name in [
        "provider",
        "model",
        "thinkingLevel",
        "sandbox",
        "sandboxNetwork",
        "sandboxHide",
    ] {
        check_json(name, "5", &Refused);
    }
    check_json("trace", "5", &Refused);
    check_json("sandboxHide", "\"/a\"", &Refused);
    check_json("model", "[\"x\"]", &Refused);
}

#[test]
fn numbers_are_whole_decimal() {
    for name in number_names() {
        check_text(name, "1000", &Taken(number(1_000)));
        check_text(name, "0001000", &Taken(number(1_000)));
        check_text(name, " 1000\r\n", &Taken(number(1_000)));
        for wrong in [
            "abc",
            "-1",
            "+1000",
            "1000.0",
            "1e3",
            "9e5",
            "0x1000",
            "1,000",
            "1_000",
            "1 000",
            "1000x",
            "1000 ms",
            "١٠٠٠",
            "１０００",
            "Infinity",
            "NaN",
            "true",
            "1000;",
            "#1000",
            "99999999999999999999999999",
            "1000\u{0}",
        ] {
            check_text(name, wrong, &Refused);
        }
        for whole in ["1000", "1000.0", "1e3", "1E+3", "10000e-1", "1.0e3"] {
            check_json(name, whole, &Taken(number(1_000)));
        }
        for wrong in [
            "-1",
            "-0",
            "-0.0",
            "1000.5",
            "1000.0000000000000000001",
            "1e-3",
            "1e12",
            "1e999",
            "99999999999999999999999999",
            "2147483648",
        ] {
            check_json(name, wrong, &Refused);
        }
    }
}

#[test]
fn counts_keep_their_limits() {
    for (name, zero_is_off, min, max) in COUNTS {
        let zero = if zero_is_off {
            Taken(number(0))
        } else {
            Refused
        };
        for (value, fate) in [
            (0, zero),
            (
                min - 1,
                if min == 1 && zero_is_off {
                    Taken(number(0))
                } else {
                    Refused
                },
            ),
            (min, Taken(number(min))),
            (max, Taken(number(max))),
            (max + 1, Refused),
        ] {
            check_text(name, &value.to_string(), &fate);
            check_json(name, &value.to_string(), &fate);
        }
        for duration in ["1000ms", "10s", "1m"] {
            check_text(name, duration, &Refused);
        }
    }
}

#[test]
fn durations_keep_their_limits_and_take_one_unit() {
    for name in DURATIONS {
        for (value, milliseconds) in [
            ("0", 0),
            ("1000", 1_000),
            ("2147483647", 2_147_483_647),
            ("0ms", 0),
            ("0h", 0),
            ("1000ms", 1_000),
            ("1s", 1_000),
            ("90s", 90_000),
            ("15m", 900_000),
            (" 15m ", 900_000),
            ("2h", 7_200_000),
            ("596h", 2_145_600_000),
            ("2147483647ms", 2_147_483_647),
            ("2147483s", 2_147_483_000),
        ] {
            check_text(name, value, &Taken(number(milliseconds)));
        }
        for wrong in [
            "1",
            "5",
            "999",
            "999ms",
            "2147483648",
            "2147483648ms",
            "2147484s",
            "35792m",
            "597h",
            "2592000000",
            "18446744073709551615h",
            "99999999999999999999h",
            "5124095576030431h",
            "15 m",
            "15M",
            "15min",
            "15 min",
            "1h30m",
            "1.5h",
            "-1s",
            "m",
            "h",
            "ms",
            "s15",
            "15µs",
            "1d",
            "15ｍ",
            "10sec",
            "1e3s",
            "0x10s",
            "900,000",
            "600_000",
        ] {
            check_text(name, wrong, &Refused);
        }
        for wrong in ["1", "5", "999", "2592000000", "1e12"] {
            check_json(name, wrong, &Refused);
        }
        check_json(name, "0", &Taken(number(0)));
        check_json(name, "0.0", &Taken(number(0)));
        check_json(name, "900000.0", &Taken(number(900_000)));
        check_json(name, "9e5", &Taken(number(900_000)));
    }
}

#[test]
fn names_are_trimmed_and_otherwise_kept() {
    for name in ["provider", "model"] {
        for (value, kept) in [
            ("x", "x"),
            (" anthropic/claude-x:1 \n", "anthropic/claude-x:1"),
            ("a b", "a b"),
            ("0", "0"),
            ("null", "null"),
            ("模型", "模型"),
        ] {
            check_text(name, value, &Taken(text(kept)));
        }
        check_json(name, "\"\\u006d\\ud83d\\ude00\"", &Taken(text("m😀")));
    }
}

#[test]
fn thinking_levels_take_any_case_and_the_sandbox_words_do_not() {
    for level in ["off", "minimal", "low", "medium", "high", "xhigh", "max"] {
        for value in [level.to_owned(), level.to_uppercase(), format!(" {level} ")] {
            check_text("thinkingLevel", &value, &Taken(text(level)));
        }
    }
    check_text("thinkingLevel", "xHigh", &Taken(text("xhigh")));
    for wrong in [
        "x-high",
        "maximum",
        "on",
        "none",
        "0",
        "ｏｆｆ",
        "mediu\u{307}m",
    ] {
        check_text("thinkingLevel", wrong, &Refused);
    }
    for word in ["require", "prefer", "off"] {
        check_text("sandbox", word, &Taken(text(word)));
        check_text("sandbox", &word.to_uppercase(), &Refused);
    }
    for word in ["loopback", "host", "off"] {
        check_text("sandboxNetwork", word, &Taken(text(word)));
        check_text("sandboxNetwork", &word.to_uppercase(), &Refused);
    }
    for wrong in ["true", "host", "yes", "prefer,off"] {
        check_text("sandbox", wrong, &Refused);
    }
    check_text("sandboxNetwork", "prefer", &Refused);
}

#[test]
fn paths_come_as_a_list_or_separated_like_path() {
    for (value, items) in [
        ("[]", vec![]),
        ("[\"/a\"]", vec!["/a"]),
        ("[\"/a:b\", \"/a\", \"~/c d\"]", vec!["/a:b", "/a", "~/c d"]),
        ("[\"/a\", \"\", \" \"]", vec!["/a"]),
    ] {
        check_json("sandboxHide", value, &Taken(list(&items)));
    }
    for value in ["[\"\"]", "[\" \", \"\"]"] {
        check_json("sandboxHide", value, &NotSet);
    }
    for wrong in [
        "[\"/a\", 1]",
        "[\"/a\", null]",
        "[\"/a\\u0000\"]",
        "{\"/a\": true}",
    ] {
        check_json("sandboxHide", wrong, &Refused);
    }
    let joined = |paths: &[&str]| std::env::join_paths(paths).unwrap().into_string().unwrap();
    check("sandboxHide", None, Some("/a"), &Taken(list(&["/a"])));
    check(
        "sandboxHide",
        None,
        Some(&joined(&["/a", "/b c"])),
        &Taken(list(&["/a", "/b c"])),
    );
    check(
        "sandboxHide",
        None,
        Some(&joined(&["/a", "", "/b"])),
        &Taken(list(&["/a", "/b"])),
    );
    check("sandboxHide", None, Some(&joined(&["", " "])), &NotSet);
}

#[test]
fn a_trace_folder_is_kept_as_it_stands() {
    for folder in ["/tmp/traces", "/with space ", "C:\\traces"] {
        check_text("trace", folder, &Taken(text(folder)));
    }
    check_text("trace", "/a\u{0}b", &Refused);
}

#[test]
fn refused_values_are_shown_on_one_line_and_cut() {
    let long = "x".repeat(1_000_000);
    for value in [long.as_str(), "a\nb\u{1b}[31m\u{202e}c\u{0}", "\u{7}"] {
        for loaded in [
            resolve(None, &[("PI_GOAL_MAX_AUDITS", value)]),
            resolve(Some(&json!({ "maxAudits": value }).to_string()), &[]),
        ] {
            if loaded.diagnostics[0].key.is_none() {
                // The long one makes no longer file than is read.
                continue;
            }
            let [line] = lines(&loaded).try_into().unwrap();
            assert!(line.chars().count() < 400, "{line}");
            assert!(
                !line.contains(|c: char| c.is_control() || c == '\u{202e}'),
                "{line}"
            );
        }
    }
    let [line] = lines(&resolve(None, &[("PI_GOAL_MAX_AUDITS", &long)]))
        .try_into()
        .unwrap();
    assert!(
        line.contains("xxx… (999922 more characters) is not valid"),
        "{line}"
    );
}

#[test]
fn defaults_shown_are_the_defaults() {
    let defaults = Settings::defaults();
    for key in &KEYS {
        let shown = match key.value_in(&defaults) {
            Setting::Unset => continue,
            setting @ (Setting::Number(_) | Setting::Text(_) | Setting::List(_)) => {
                setting.to_string()
            }
        };
        assert_eq!(shown, key.default, "{}", key.name);
    }
    let unset: Vec<_> = KEYS
        .iter()
        .filter(|key| key.value_in(&defaults) == Setting::Unset)
        .map(|key| key.name)
        .collect();
    assert_eq!(
        unset,
        [
            "provider",
            "model",
            "thinkingLevel",
            "sandboxScratchMb",
            "trace"
        ]
    );
}

#[test]
fn a_value_of_every_key_reaches_its_own_field() {
    let file: Value = json!({
        "provider": "p", "model": "m", "thinkingLevel": "xhigh", "timeoutMs": 1001,
        "idleTimeoutMs": 1002, "maxEmptyContinuations": 13, "maxConsecutiveAuditRejections": 14,
        "maxContinuations": 15, "maxAudits": 16, "sandbox": "require", "sandboxNetwork": "host",
        "sandboxHide": ["/h"], "sandboxScratchMb": 64, "trace": "/t",
    });
    let loaded = resolve(Some(&file.to_string()), &[]);
    assert_eq!(lines(&loaded), [""; 0]);
    let expected = Settings {
        provider: Some("p".to_owned()),
        model: Some("m".to_owned()),
        thinking_level: Some(goal_config::ThinkingLevel::Xhigh),
        timeout_ms: 1_001,
        idle_timeout_ms: 1_002,
        max_empty_continuations: 13,
        max_consecutive_audit_rejections: 14,
        max_continuations: 15,
        max_audits: 16,
        sandbox: goal_config::SandboxMode::Require,
        sandbox_network: goal_config::SandboxNetwork::Host,
        sandbox_hide: vec!["/h".to_owned()],
        sandbox_scratch_mb: Some(64),
        trace: Some("/t".to_owned()),
    };
    assert_eq!(loaded.settings, expected);
    for (name, value) in file.as_object().unwrap() {
        let shown = match effective(&loaded, name) {
            Setting::Number(number) => json!(number),
            Setting::Text(text) => json!(text),
            Setting::List(items) => json!(items),
            Setting::Unset => Value::Null,
        };
        assert_eq!(shown, *value, "{name}");
    }
}
