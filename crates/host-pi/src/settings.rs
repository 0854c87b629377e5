//! Settings as the config crate resolves them, turned into the engine's.

use std::path::Path;

use goal_config::{KEYS, Loaded, Setting, Source};
use goal_engine::{SandboxGate, SettingRow, Settings};
use goal_protocol::some_unless_zero;

/// Reads file and environment as they are now.
pub(crate) fn load(agent_dir: Option<&Path>) -> Loaded {
    let mut loaded = goal_config::load(agent_dir, &|name| std::env::var_os(name));
    let names = std::env::vars_os().map(|(name, _)| name);
    loaded
        .diagnostics
        .extend(goal_config::unknown_variables(names));
    loaded
}

/// The engine's settings. In files `0` means "off".
pub(crate) fn for_engine(loaded: &Loaded) -> Settings {
    let settings = &loaded.settings;
    Settings {
        provider: settings.provider.clone(),
        model: settings.model.clone(),
        thinking_level: settings.thinking_level.map(|level| level.name().to_owned()),
        timeout_ms: some_unless_zero(settings.timeout_ms),
        idle_timeout_ms: some_unless_zero(settings.idle_timeout_ms),
        max_empty_continuations: settings.max_empty_continuations,
        max_consecutive_audit_rejections: settings.max_consecutive_audit_rejections,
        max_continuations: some_unless_zero(settings.max_continuations),
        max_audits: some_unless_zero(settings.max_audits),
        sandbox: SandboxGate {
            mode: settings.sandbox.name().to_owned(),
            network: settings.sandbox_network.name().to_owned(),
            hide: settings.sandbox_hide.clone(),
            scratch_mb: settings.sandbox_scratch_mb,
        },
        changed: changed(loaded),
        rows: rows(loaded),
    }
}

fn rows(loaded: &Loaded) -> Vec<SettingRow> {
    let row = |key: &goal_config::Key| SettingRow {
        name: key.name.to_owned(),
        value: key.value_in(&loaded.settings).to_string(),
        source: loaded
            .sources
            .get(key.name)
            .map_or_else(String::new, ToString::to_string),
    };
    KEYS.iter().map(row).collect()
}

/// `key = value (source)` for every setting that is not the default.
pub(crate) fn changed(loaded: &Loaded) -> Vec<String> {
    KEYS.iter()
        .filter_map(|key| {
            let source = loaded.sources.get(key.name)?;
            let value = key.value_in(&loaded.settings);
            let set = *source != Source::Default && value != Setting::Unset;
            set.then(|| format!("{} = {value} ({source})", key.name))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `/goal config` gives this rule in place of fourteen names.
    #[test]
    fn the_variables_of_the_limits_and_the_trace_begin_shorter_than_all_others() {
        let shorter = |name: &str| name.starts_with("max") || name == "trace";
        for key in KEYS.iter() {
            let auditors = key.env.starts_with("PI_GOAL_AUDITOR_");
            assert!(key.env.starts_with("PI_GOAL_"), "{}", key.env);
            assert_eq!(auditors, !shorter(key.name), "{}", key.env);
        }
    }
}
