//! Which model audits (spec §8).

use goal_state::ModelRef;

use crate::event::HostFacts;
use crate::settings::Settings;

/// A resolved auditor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resolved {
    pub(crate) model: ModelRef,
    /// Something the user should know about the choice.
    pub(crate) notice: Option<String>,
}

/// Resolves the auditor's model from the settings and what the host can use.
///
/// The error is a text for the user: what was looked for, what there is.
pub(crate) fn resolve(settings: &Settings, host: &HostFacts) -> Result<Resolved, String> {
    match (&settings.provider, &settings.model) {
        (None, None) => of_the_host(host),
        (Some(provider), Some(model)) => pair(provider, model, host),
        (Some(provider), None) => of_provider(provider, host),
        (None, Some(model)) => named(model, host),
    }
}

fn plain(model: ModelRef) -> Result<Resolved, String> {
    Ok(Resolved {
        model,
        notice: None,
    })
}

fn of_the_host(host: &HostFacts) -> Result<Resolved, String> {
    match &host.model {
        Some(model) => plain(model.clone()),
        None => Err(
            "No model is selected, so there is nobody to work or to audit. Choose one with \
                     /model, then try again."
                .to_owned(),
        ),
    }
}

fn pair(provider: &str, id: &str, host: &HostFacts) -> Result<Resolved, String> {
    let wanted = ModelRef {
        provider: provider.to_owned(),
        id: id.to_owned(),
    };
    if is_usable(&wanted, host) {
        return plain(wanted);
    }
    let ids = host
        .models
        .iter()
        .filter(|known| known.model.provider == provider);
    let ids: Vec<&str> = ids.map(|known| known.model.id.as_str()).collect();
    if ids.is_empty() {
        return Err(format!(
            "The auditor's model {wanted} cannot be used: pi has no usable model of the provider \
             \"{provider}\" (unknown, or without credentials). Log in with /login or set \
             \"provider\" and \"model\" in goal-auditor.json, then try again."
        ));
    }
    Err(format!(
        "The auditor's model {wanted} is not known to pi.{} Set \"model\" in goal-auditor.json, then \
         try again.",
        nearest(id, ids.into_iter())
    ))
}

fn of_provider(provider: &str, host: &HostFacts) -> Result<Resolved, String> {
    if let Some(model) = host
        .model
        .as_ref()
        .filter(|model| model.provider == provider)
    {
        return plain(model.clone());
    }
    let first = host.models.iter().map(|known| &known.model);
    match first
        .filter(|model| model.provider == provider)
        .min_by(|a, b| a.id.cmp(&b.id))
    {
        Some(model) => Ok(Resolved {
            model: model.clone(),
            notice: Some(format!(
                "Only the auditor's provider is set, so its first model audits: {model}."
            )),
        }),
        None => Err(format!(
            "The auditor's provider \"{provider}\" has no model that pi can use (unknown, or without \
             credentials). Log in with /login or change \"provider\" in goal-auditor.json."
        )),
    }
}

fn named(name: &str, host: &HostFacts) -> Result<Resolved, String> {
    if let Some((provider, id)) = name.split_once('/') {
        let wanted = ModelRef {
            provider: provider.to_owned(),
            id: id.to_owned(),
        };
        if is_usable(&wanted, host) {
            return plain(wanted);
        }
    }
    let found: Vec<&ModelRef> = host
        .models
        .iter()
        .filter(|known| known.model.id == name || known.name == name)
        .map(|known| &known.model)
        .collect();
    match found.as_slice() {
        [only] => plain((*only).clone()),
        [] => {
            let ids = host.models.iter().map(|known| known.model.id.as_str());
            Err(format!(
                "The auditor's model \"{name}\" was not found among the models pi can use.{} Set \
                 \"model\" in goal-auditor.json, then try again.",
                nearest(name, ids)
            ))
        }
        several => {
            let list: Vec<String> = several.iter().map(ToString::to_string).collect();
            Err(format!(
                "The auditor's model \"{name}\" is ambiguous: {}. Name one of them in full.",
                list.join(", ")
            ))
        }
    }
}

/// The host's own model counts as usable even if its list does not show it.
fn is_usable(wanted: &ModelRef, host: &HostFacts) -> bool {
    host.model.as_ref() == Some(wanted) || host.models.iter().any(|known| &known.model == wanted)
}

/// Names less alike than this are no help.
const NEAREST_MIN: f64 = 0.6;

fn nearest<'a>(wanted: &str, ids: impl Iterator<Item = &'a str>) -> String {
    let scored = ids.map(|id| (strsim::jaro_winkler(wanted, id), id));
    match scored.max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1))) {
        Some((score, id)) if score >= NEAREST_MIN => format!(" The nearest is \"{id}\"."),
        Some(_) | None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Activity, ModelInfo};
    use crate::settings::Settings;

    fn host(current: Option<&str>, known: &[(&str, &str)]) -> HostFacts {
        HostFacts {
            activity: Activity::Idle,
            has_ui: true,
            headless: false,
            model: current.map(model),
            thinking_level: None,
            models: known
                .iter()
                .map(|(label, name)| ModelInfo {
                    model: model(label),
                    name: (*name).to_owned(),
                })
                .collect(),
            tools_active: true,
            config_path: None,
        }
    }

    fn model(label: &str) -> ModelRef {
        let (provider, id) = label.split_once('/').unwrap();
        ModelRef {
            provider: provider.to_owned(),
            id: id.to_owned(),
        }
    }

    fn check(
        provider: Option<&str>,
        name: Option<&str>,
        host: &HostFacts,
    ) -> Result<String, String> {
        let settings = Settings {
            provider: provider.map(str::to_owned),
            model: name.map(str::to_owned),
            ..Settings::for_tests()
        };
        resolve(&settings, host).map(|found| found.model.to_string())
    }

    const KNOWN: [(&str, &str); 5] = [
        ("a/one", "One"),
        ("a/org/two", "Two"),
        ("b/three", "Three"),
        ("b/twin", "Twin"),
        ("c/twin", "Other"),
    ];

    #[test]
    fn unset_takes_the_hosts_model_and_none_is_an_error() {
        assert_eq!(check(None, None, &host(Some("x/y"), &[])), Ok("x/y".into()));
        assert!(
            check(None, None, &host(None, &KNOWN))
                .unwrap_err()
                .contains("/model")
        );
    }

    #[test]
    fn a_pair_is_taken_whole_even_with_a_slash_in_the_id() {
        let host = host(Some("x/y"), &KNOWN);
        assert_eq!(
            check(Some("a"), Some("org/two"), &host),
            Ok("a/org/two".into())
        );
        assert!(
            check(Some("a"), Some("on"), &host)
                .unwrap_err()
                .contains("\"one\"")
        );
        assert!(
            check(Some("zz"), Some("one"), &host)
                .unwrap_err()
                .contains("credentials")
        );
    }

    #[test]
    fn a_provider_alone_takes_the_hosts_model_or_its_first() {
        assert_eq!(
            check(Some("b"), None, &host(Some("b/own"), &KNOWN)),
            Ok("b/own".into())
        );
        assert_eq!(
            check(Some("b"), None, &host(Some("x/y"), &KNOWN)),
            Ok("b/three".into())
        );
        assert!(check(Some("zz"), None, &host(Some("x/y"), &KNOWN)).is_err());
    }

    #[test]
    fn a_model_alone_is_split_at_the_first_slash_or_found_by_id_or_name() {
        let host = host(Some("x/y"), &KNOWN);
        assert_eq!(
            check(None, Some("a/org/two"), &host),
            Ok("a/org/two".into())
        );
        assert_eq!(check(None, Some("org/two"), &host), Ok("a/org/two".into()));
        assert_eq!(check(None, Some("Three"), &host), Ok("b/three".into()));
        assert!(
            check(None, Some("twin"), &host)
                .unwrap_err()
                .contains("b/twin, c/twin")
        );
        assert!(
            check(None, Some("thre"), &host)
                .unwrap_err()
                .contains("\"three\"")
        );
    }
}
