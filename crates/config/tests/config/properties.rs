//! What must hold for every file and every environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;

use goal_config::{KEYS, Loaded, Setting, Settings, Source};
use proptest::prelude::*;
use serde_json::Value;

use crate::{agent_file, resolve};

/// Values that are valid for some keys, and others.
fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        prop::sample::select(vec![
            0_i64,
            1,
            64,
            999,
            1_000,
            1_001,
            900_000,
            2_147_483_648,
            -1
        ])
        .prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
        prop::collection::vec(word(), 0..3).prop_map(Value::from),
    ]
}

fn word() -> impl Strategy<Value = String> {
    let words = vec![
        "", " ", "off", "HIGH", "prefer", "require", "host", "loopback", "15m", "1000", "1e3", "x",
        "/a:/b", "0", "64",
    ];
    prop_oneof![
        prop::sample::select(words).prop_map(str::to_owned),
        any::<String>()
    ]
}

fn key_name() -> impl Strategy<Value = String> {
    let names: Vec<_> = KEYS.iter().map(|key| key.name).collect();
    prop_oneof![9 => prop::sample::select(names).prop_map(str::to_owned), 1 => any::<String>()]
}

fn file() -> impl Strategy<Value = Option<String>> {
    let members = prop::collection::vec((key_name(), value()), 0..12);
    prop::option::of(members.prop_map(|members| {
        let members: Vec<_> = members
            .into_iter()
            .map(|(key, value)| format!("{}: {value}", Value::from(key)))
            .collect();
        format!("{{{}}}", members.join(",\n"))
    }))
}

fn environment() -> impl Strategy<Value = BTreeMap<&'static str, String>> {
    let names: Vec<_> = KEYS.iter().map(|key| key.env).collect();
    prop::collection::btree_map(prop::sample::select(names), word(), 0..8)
}

/// The value that the source names must be there, and be the one in effect.
fn check_provenance(loaded: &Loaded, file: Option<&str>, environment: &BTreeMap<&str, String>) {
    for key in &KEYS {
        let setting = key.value_in(&loaded.settings);
        match &loaded.sources[key.name] {
            Source::Default => assert_eq!(setting, key.value_in(&Settings::defaults())),
            Source::Env(name) => {
                assert_eq!(name, key.env);
                assert!(!environment[key.env].trim().is_empty());
                assert_ne!(setting, Setting::Unset);
            }
            Source::File { line, column, .. } => {
                // One member a line, so the value reaches to the end of its line.
                let text = file.unwrap().split('\n').nth(line - 1).unwrap();
                let (before, written) = split_at_char(text, column - 1);
                assert!(
                    before
                        .trim_start_matches('{')
                        .starts_with(&format!("\"{}\"", key.name))
                );
                let written = written.trim_end_matches([',', '}']);
                check_same(&setting, &serde_json::from_str(written).unwrap());
            }
        }
    }
}

fn split_at_char(text: &str, chars: usize) -> (&str, &str) {
    let at = text
        .char_indices()
        .nth(chars)
        .map_or(text.len(), |(at, _)| at);
    text.split_at(at)
}

fn check_same(setting: &Setting, written: &Value) {
    match (setting, written) {
        (Setting::Number(number), Value::Number(written)) => {
            assert_eq!(written.as_f64(), Some(*number as f64));
        }
        (Setting::Number(_), Value::String(written)) => assert!(written.contains(char::is_numeric)),
        (Setting::Text(text), Value::String(written)) => {
            assert!(written.to_lowercase().contains(&text.to_lowercase()));
        }
        (Setting::List(items), Value::Array(written)) => assert!(items.len() <= written.len()),
        _ => panic!("{setting:?} is not {written}"),
    }
}

/// The limits of §7, once more.
fn check_limits(settings: &Settings) {
    let deadline = |ms: u64| ms == 0 || (1_000..=2_147_483_647).contains(&ms);
    assert!(deadline(settings.timeout_ms) && deadline(settings.idle_timeout_ms));
    assert!((1..=1_000).contains(&settings.max_empty_continuations));
    assert!((1..=1_000).contains(&settings.max_consecutive_audit_rejections));
    assert!(settings.max_continuations <= 1_000_000 && settings.max_audits <= 1_000);
    assert!(
        settings
            .sandbox_scratch_mb
            .is_none_or(|mb| (64..=1_048_576).contains(&mb))
    );
    let blank = |text: &Option<String>| text.as_ref().is_some_and(|text| text.trim().is_empty());
    assert!(!blank(&settings.provider) && !blank(&settings.model) && !blank(&settings.trace));
}

fn check_unit(loaded: &Loaded) {
    let layer = |name: &str| std::mem::discriminant(&loaded.sources[name]);
    let set = loaded.settings.provider.is_some() && loaded.settings.model.is_some();
    assert!(!set || layer("provider") == layer("model"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn provenance_and_limits_hold(file in file(), environment in environment()) {
        let variables: Vec<_> =
            environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let loaded = resolve(file.as_deref(), &variables);
        prop_assert_eq!(loaded.file_used, file.is_some());
        check_provenance(&loaded, file.as_deref(), &environment);
        check_limits(&loaded.settings);
        check_unit(&loaded);
        prop_assert_eq!(resolve(file.as_deref(), &variables), loaded);
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        check_limits(&resolve(Some(&text), &[]).settings);
    }

    #[test]
    fn no_damage_to_a_file_panics(file in file(), at in any::<prop::sample::Index>(), put in "[{}\",:0-9a\\\\\n]{0,3}") {
        let text = file.unwrap_or_default();
        let chars: Vec<char> = text.chars().collect();
        let at = at.index(chars.len() + 1);
        let damaged: String =
            chars[..at].iter().copied().chain(put.chars()).chain(chars[at..].iter().copied()).collect();
        let loaded = resolve(Some(&damaged), &[]);
        check_limits(&loaded.settings);
        prop_assert!(loaded.file_used || loaded.diagnostics.len() == 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[cfg(unix)]
    #[test]
    fn no_bytes_panic(file in prop::collection::vec(any::<u8>(), 0..200), variable in prop::collection::vec(any::<u8>(), 0..20)) {
        use std::os::unix::ffi::OsStringExt;
        let dir = tempfile::tempdir().unwrap();
        fs::write(agent_file(dir.path()), &file).unwrap();
        let loaded = goal_config::load(Some(dir.path()), &|_| Some(OsString::from_vec(variable.clone())));
        check_limits(&loaded.settings);
        prop_assert_eq!(fs::read(agent_file(dir.path())).unwrap(), file);
    }
}
