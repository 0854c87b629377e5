//! The settings.

use std::ffi::OsString;
use std::path::Path;

use goal_config::{
    DIAGNOSTIC_NOTES_MAX, KEYS, Loaded, Setting, Settings, Source, resolve, unknown_variables,
};

use crate::commands;

/// Parts of the bytes, each ended by a zero byte.
const END_OF_PART: u8 = 0;

/// The first part is the file, if it is not empty; the others are the values of the variables, in the
/// order of [`KEYS`]. Whatever they are:
///
/// * every value in effect is within the limits of the specification;
/// * it comes from where its source says, and the environment goes before the file;
/// * what is wrong is said in lines that are fit to print, and not without end.
pub fn config(bytes: &[u8]) {
    let parts: Vec<&[u8]> = bytes.split(|byte| *byte == END_OF_PART).collect();
    let file = parts.first().filter(|part| !part.is_empty());
    let file = file.map(|part| String::from_utf8_lossy(part));
    let variable = |name: &str| {
        let at = KEYS.iter().position(|key| key.env == name)?;
        parts.get(at + 1).map(|part| os_string(part))
    };
    let path = Path::new("/agent/goal-auditor.json");
    let loaded = resolve(file.as_deref().map(|text| (path, text)), &variable);
    is_within_limits(&loaded.settings);
    comes_from_its_source(&loaded, file.is_some(), &variable);
    tells_it_in_lines(&loaded);
    tells_an_unknown_name(&parts);
    let again = resolve(file.as_deref().map(|text| (path, text)), &variable);
    assert_eq!(again, loaded);
}

#[cfg(unix)]
fn os_string(bytes: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStringExt as _;
    OsString::from_vec(bytes.to_owned())
}

#[cfg(not(unix))]
fn os_string(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// The limits of the specification, written a second time.
fn is_within_limits(settings: &Settings) {
    let deadline = |ms: u64| ms == 0 || (1_000..=2_147_483_647).contains(&ms);
    assert!(deadline(settings.timeout_ms) && deadline(settings.idle_timeout_ms));
    assert!((1..=1_000).contains(&settings.max_empty_continuations));
    assert!((1..=1_000).contains(&settings.max_consecutive_audit_rejections));
    assert!(settings.max_continuations <= 1_000_000 && settings.max_audits <= 1_000);
    let scratch = settings.sandbox_scratch_mb;
    assert!(scratch.is_none_or(|mb| (64..=1_048_576).contains(&mb)));
    for text in [&settings.provider, &settings.model, &settings.trace] {
        let blank = text.as_ref().is_some_and(|text| text.trim().is_empty());
        assert!(!blank, "a blank is not set: {settings:?}");
    }
}

fn comes_from_its_source(
    loaded: &Loaded,
    has_file: bool,
    variable: &dyn Fn(&str) -> Option<OsString>,
) {
    assert_eq!(loaded.sources.len(), KEYS.len());
    for key in &KEYS {
        let setting = key.value_in(&loaded.settings);
        match &loaded.sources[key.name] {
            Source::Default => assert_eq!(setting, key.value_in(&Settings::defaults())),
            Source::Env(name) => {
                assert_eq!(name, key.env);
                assert!(variable(name).is_some_and(|value| !value.is_empty()));
                assert_ne!(setting, Setting::Unset, "{name}");
            }
            Source::File { line, column, .. } => {
                assert!(has_file && loaded.file_used, "{}", key.name);
                assert!(*line >= 1 && *column >= 1);
            }
        }
    }
    let [provider, model] = ["provider", "model"].map(|name| &loaded.sources[name]);
    let set = loaded.settings.provider.is_some() && loaded.settings.model.is_some();
    let same = std::mem::discriminant(provider) == std::mem::discriminant(model);
    assert!(!set || same, "provider and model of two layers");
}

fn tells_it_in_lines(loaded: &Loaded) {
    // Notes of single keys are bounded; of each known key a layer can refuse one value.
    let most = DIAGNOSTIC_NOTES_MAX + 2 * KEYS.len() + 2;
    assert!(
        loaded.diagnostics.len() <= most,
        "{:#?}",
        loaded.diagnostics
    );
    for diagnostic in &loaded.diagnostics {
        is_a_line(&diagnostic.to_string());
    }
}

/// A variable that looks like one of ours; the last part is its name.
fn tells_an_unknown_name(parts: &[&[u8]]) {
    let name = parts.last().map(|part| String::from_utf8_lossy(part));
    let name = name.map(|name| format!("PI_GOAL_MAX_{name}").into());
    let unknown = unknown_variables(name);
    assert!(unknown.len() <= 1);
    for diagnostic in unknown {
        is_a_line(&diagnostic.to_string());
    }
}

fn is_a_line(text: &str) {
    let line = !commands(text) && !text.contains(['\n', '\r', '\u{2028}', '\u{2029}']);
    assert!(line, "{text:?}");
}
