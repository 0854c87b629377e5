//! Which layer counts, and what is said about the file as a whole.

use std::ffi::OsString;

use goal_config::{DIAGNOSTIC_NOTES_MAX, KEYS, Setting, unknown_variables};

use crate::{effective, lines, number, resolve, source, text};

#[track_caller]
fn check_lines(file: &str, expected: &[&str]) {
    assert_eq!(lines(&resolve(Some(file), &[])), expected, "for {file:?}");
}

#[test]
fn without_anything_every_value_is_a_default() {
    for loaded in [resolve(None, &[]), resolve(Some("{}"), &[])] {
        assert_eq!(loaded.settings, goal_config::Settings::defaults());
        assert_eq!(lines(&loaded), [""; 0]);
        let names: Vec<_> = loaded.sources.keys().copied().collect();
        let mut known: Vec<_> = KEYS.iter().map(|key| key.name).collect();
        known.sort_unstable();
        assert_eq!(names, known);
        assert!(
            loaded
                .sources
                .values()
                .all(|source| source.to_string() == "default")
        );
    }
}

/// Every mixture of an absent, blank, refused and valid value in both layers.
#[test]
fn environment_if_valid_else_file_if_valid_else_default() {
    let layers = [None, Some(""), Some("no"), Some("7")];
    for file in layers {
        for variable in layers {
            let variables: Vec<_> = variable
                .map(|value| ("PI_GOAL_MAX_AUDITS", value))
                .into_iter()
                .collect();
            let json = file.map(|value| format!("{{\"maxAudits\":\"{value}\"}}"));
            let loaded = resolve(json.as_deref(), &variables);
            let expected = match (file, variable) {
                (_, Some("7")) => (number(7), "env:PI_GOAL_MAX_AUDITS".to_owned()),
                (Some("7"), _) => (number(7), "file:/agent/goal-auditor.json:1:14".to_owned()),
                _ => (number(20), "default".to_owned()),
            };
            let found = (
                effective(&loaded, "maxAudits"),
                source(&loaded, "maxAudits"),
            );
            assert_eq!(found, expected, "{file:?} {variable:?}");
            let refused = [file, variable]
                .iter()
                .filter(|value| **value == Some("no"))
                .count();
            assert_eq!(loaded.diagnostics.len(), refused, "{file:?} {variable:?}");
            let shown = if expected.1 == "default" { "20" } else { "7" };
            let used = format!("used instead: {shown} ({})", expected.1);
            assert!(
                lines(&loaded).iter().all(|line| line.ends_with(&used)),
                "{loaded:?}"
            );
        }
    }
}

#[test]
fn the_layer_that_sets_provider_or_model_owns_both() {
    let file = "{\"provider\":\"fp\",\"model\":\"fm\"}";
    let env = |name: &'static str| match name {
        "provider" => "env:PI_GOAL_AUDITOR_PROVIDER",
        _ => "env:PI_GOAL_AUDITOR_MODEL",
    };
    let provider = ("PI_GOAL_AUDITOR_PROVIDER", "ep");
    let model = ("PI_GOAL_AUDITOR_MODEL", "em");
    let check = |variables: &[(&str, &str)], expected: [(Setting, &str); 2]| {
        let loaded = resolve(Some(file), variables);
        for (name, (value, from)) in ["provider", "model"].into_iter().zip(expected) {
            assert_eq!(effective(&loaded, name), value, "{name} {variables:?}");
            assert_eq!(source(&loaded, name), from, "{name} {variables:?}");
        }
        assert_eq!(lines(&loaded), [""; 0]);
    };
    let from_file = [
        (text("fp"), "file:/agent/goal-auditor.json:1:13"),
        (text("fm"), "file:/agent/goal-auditor.json:1:26"),
    ];
    check(&[], from_file.clone());
    check(
        &[provider],
        [(text("ep"), env("provider")), (Setting::Unset, "default")],
    );
    check(
        &[model],
        [(Setting::Unset, "default"), (text("em"), env("model"))],
    );
    check(
        &[provider, model],
        [(text("ep"), env("provider")), (text("em"), env("model"))],
    );
    // A blank variable sets nothing, and so owns nothing.
    check(&[("PI_GOAL_AUDITOR_MODEL", " ")], from_file);
    // A file with one of them owns both as well: there is nothing below it.
    let loaded = resolve(Some("{\"model\":\"m\",\"provider\":\" \"}"), &[]);
    assert_eq!(effective(&loaded, "provider"), Setting::Unset);
    assert_eq!(effective(&loaded, "model"), text("m"));
}

#[cfg(unix)]
#[test]
fn a_variable_that_is_not_utf_8_is_refused_and_owns_nothing() {
    use std::os::unix::ffi::OsStringExt;
    for key in &KEYS {
        let env = |name: &str| (name == key.env).then(|| OsString::from_vec(b"a\xffb".to_vec()));
        let loaded = goal_config::resolve(None, &env);
        let [line] = lines(&loaded).try_into().unwrap();
        let start = format!(
            "{} (env:{}): a\u{fffd}b (not UTF-8) is not valid; ",
            key.name, key.env
        );
        assert!(line.starts_with(&start), "{line}");
        assert_eq!(loaded.settings, goal_config::Settings::defaults());
    }
}

#[test]
fn a_refusal_says_everything() {
    let loaded = resolve(
        Some("{\r\n  \"timeoutMs\": -5,\r\n  \"maxAudits\": 4}"),
        &[
            ("PI_GOAL_AUDITOR_TIMEOUT_MS", "9e5"),
            ("PI_GOAL_MAX_AUDITS", "many"),
        ],
    );
    let deadline = "0 (off), or 1,000 … 2,147,483,647 milliseconds; or a whole number with one unit \
                    ms, s, m, h, in the file as a string";
    assert_eq!(
        lines(&loaded),
        [
            format!(
                "timeoutMs (file:/agent/goal-auditor.json:2:16): -5 is not valid; allowed: \
                 {deadline}; used instead: 900000 (default)"
            ),
            format!(
                "timeoutMs (env:PI_GOAL_AUDITOR_TIMEOUT_MS): \"9e5\" is not valid; allowed: \
                 {deadline}; used instead: 900000 (default)"
            ),
            "maxAudits (env:PI_GOAL_MAX_AUDITS): \"many\" is not valid; allowed: 0 (off), or 1 … \
             1,000; used instead: 4 (file:/agent/goal-auditor.json:3:16)"
                .to_owned(),
        ]
    );
}

#[test]
fn unknown_keys_are_told_with_the_nearest_known_one() {
    check_lines(
        "{\"timeOutMs\":1000,\"model\":\"x\",\"idleTimeoutMs\":0}",
        &[
            "timeOutMs (file:/agent/goal-auditor.json:1:2): unknown key, not used; the nearest known \
           one is timeoutMs",
        ],
    );
    let loaded = resolve(
        Some("{\"timeOutMs\":1000,\"model\":\"x\",\"idleTimeoutMs\":0}"),
        &[],
    );
    assert_eq!(effective(&loaded, "model"), text("x"));
    assert_eq!(effective(&loaded, "idleTimeoutMs"), number(0));
    assert_eq!(effective(&loaded, "timeoutMs"), number(900_000));
    for (written, known) in [
        ("Model", "model"),
        ("thinking_level", "thinkingLevel"),
        ("maxAuditRejections", "maxConsecutiveAuditRejections"),
        ("sandboxhide", "sandboxHide"),
        ("trcae", "trace"),
    ] {
        let [line] = lines(&resolve(Some(&format!("{{\"{written}\":1}}")), &[]))
            .try_into()
            .unwrap();
        assert!(line.ends_with(&format!(" is {known}")), "{line}");
    }
}

#[test]
fn of_a_repeated_key_the_last_counts() {
    check_lines(
        "{\"maxAudits\": 5,\n \"maxAudits\": 6,\n \"maxAudits\": 7}",
        &[
            "maxAudits (file:/agent/goal-auditor.json:1:15): 5 is not used: the key is repeated, \
             and the last value, 7 at line 3, column 15, counts",
            "maxAudits (file:/agent/goal-auditor.json:2:15): 6 is not used: the key is repeated, \
             and the last value, 7 at line 3, column 15, counts",
        ],
    );
    let loaded = resolve(Some("{\"maxAudits\":5,\"max\\u0041udits\":7}"), &[]);
    assert_eq!(effective(&loaded, "maxAudits"), number(7));
    assert_eq!(loaded.diagnostics.len(), 1);
    // Also if the last one is refused, or sets nothing.
    let loaded = resolve(Some("{\"maxAudits\":5,\"maxAudits\":-1}"), &[]);
    assert_eq!(effective(&loaded, "maxAudits"), number(20));
    assert_eq!(loaded.diagnostics.len(), 2);
    let loaded = resolve(Some("{\"maxAudits\":5,\"maxAudits\":null}"), &[]);
    assert_eq!(effective(&loaded, "maxAudits"), number(20));
    assert_eq!(loaded.diagnostics.len(), 1);
}

#[test]
fn what_is_no_json_object_skips_the_whole_file() {
    let skipped = "; the file is not used, only the environment and the defaults are";
    for (file, place, what) in [
        (
            "{\"timeoutMs\":600000,}",
            "1:21",
            "not JSON: line 1, column 21: expected more after the comma (JSON has no trailing \
             comma), found `}`",
        ),
        (
            "{ // cheap\n \"model\":\"x\" }",
            "1:3",
            "not JSON: line 1, column 3: expected a key in double quotes, found a comment, which \
             JSON does not have",
        ),
        ("", "1:1", "not JSON: line 1, column 1: the file is empty"),
        (
            "\u{feff}",
            "1:1",
            "not JSON: line 1, column 1: the file is empty",
        ),
        ("[]", "1:1", "expected an object in braces, found []"),
        ("\n null", "2:2", "expected an object in braces, found null"),
        (
            "\"model\"",
            "1:1",
            "expected an object in braces, found \"model\"",
        ),
        (
            "model: x",
            "1:1",
            "not JSON: line 1, column 1: expected a value (text needs double quotes), found `m`",
        ),
    ] {
        let loaded = resolve(Some(file), &[("PI_GOAL_MAX_AUDITS", "9")]);
        let expected = format!("file:/agent/goal-auditor.json:{place}: {what}{skipped}");
        assert_eq!(lines(&loaded), [expected]);
        assert!(!loaded.file_used);
        assert_eq!(effective(&loaded, "maxAudits"), number(9));
        assert_eq!(effective(&loaded, "model"), Setting::Unset);
    }
}

#[test]
fn a_byte_order_mark_and_crlf_are_fine() {
    let loaded = resolve(Some("\u{feff}{\"model\":\"x\"}\r\n"), &[]);
    assert_eq!(effective(&loaded, "model"), text("x"));
    assert_eq!(
        source(&loaded, "model"),
        "file:/agent/goal-auditor.json:1:10"
    );
    assert_eq!(lines(&loaded), [""; 0]);
    assert!(loaded.file_used);
}

#[test]
fn unknown_and_repeated_keys_are_told_up_to_a_limit() {
    let members: Vec<_> = (0..5_000).map(|n| format!("\"key{n}\": {n}")).collect();
    let loaded = resolve(
        Some(&format!("{{{}, \"maxAudits\": -1}}", members.join(","))),
        &[],
    );
    // The refused value is told however many unknown keys there are.
    assert_eq!(loaded.diagnostics.len(), DIAGNOSTIC_NOTES_MAX + 2);
    assert!(
        lines(&loaded)
            .iter()
            .any(|line| line.contains("4968 more unknown or repeated keys"))
    );
    assert!(lines(&loaded)[0].starts_with("maxAudits "));
}

#[test]
fn variables_that_look_like_ours_are_told() {
    let names = [
        "PATH",
        "PI_GOAL_AUDITOR_MODLE",
        "PI_GOAL_AUDITOR_MODEL",
        "PI_GOAL_TRACE",
        "PI_GOAL_MAX_AUDIT",
        "PI_GOALS",
    ];
    let found: Vec<_> = unknown_variables(names.map(OsString::from))
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        found,
        [
            "env:PI_GOAL_AUDITOR_MODLE: unknown variable, not used; the nearest known one is \
             PI_GOAL_AUDITOR_MODEL",
            "env:PI_GOAL_MAX_AUDIT: unknown variable, not used; the nearest known one is \
             PI_GOAL_MAX_AUDITS",
        ]
    );
}
