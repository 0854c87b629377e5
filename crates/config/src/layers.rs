//! The layers: what the file says, what the environment says, and which of them counts.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use figment::value::{Dict, Map, Value};
use figment::{Figment, Metadata, Profile, Provider};

use crate::diagnostic::{DIAGNOSTIC_NOTES_MAX, Diagnostic, nearest, printable};
use crate::json::{self, Json, Member, Node, line_and_column};
use crate::keys::{KEYS, Key, UNIT, key_named};
use crate::settings::{Setting, Settings};
use crate::source::Source;
use crate::values::{self, Judged};

/// What has been read so far.
#[derive(Default)]
pub(crate) struct Layers {
    file: Layer,
    environment: Layer,
    findings: Vec<Finding>,
}

/// The valid values of one layer, by the name of their key.
type Layer = BTreeMap<&'static str, (Setting, Source)>;

/// Something wrong, in the order found.
enum Finding {
    /// Complete as it is.
    Note(Diagnostic),
    /// A refused value: what is used instead is known only after the merge.
    Refused {
        key: &'static Key,
        source: Source,
        shown: String,
    },
}

impl Layers {
    /// Takes in the file's text; `false` if the layer is skipped because it is not a JSON object.
    pub(crate) fn read_file(&mut self, path: &Path, text: &str) -> bool {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let place = Place { path, text };
        let members = match json::read(text) {
            Ok(Node {
                json: Json::Object(members),
                ..
            }) => members,
            Ok(other) => return self.skip_file(&place, other.start, &not_an_object(&other)),
            Err(fault) => return self.skip_file(&place, fault.at, &not_json(&place, &fault)),
        };
        let last = members
            .iter()
            .map(|member| (member.key.as_str(), member))
            .collect();
        let mut notes = Vec::new();
        for member in &members {
            self.read_member(&place, member, &last, &mut notes);
        }
        self.add_notes(&place, notes);
        true
    }

    /// Takes in the environment variables.
    pub(crate) fn read_environment(&mut self, env: &dyn Fn(&str) -> Option<OsString>) {
        for key in &KEYS {
            let Some(value) = env(key.env) else { continue };
            let judged = values::from_variable(key, &value);
            let shown = || match value.to_str() {
                Some(text) => printable(&format!("\"{text}\"")),
                None => format!("{} (not UTF-8)", printable(&value.to_string_lossy())),
            };
            if let Some(set) = self.judge(key, judged, Source::Env(key.env.to_owned()), shown) {
                self.environment.insert(key.name, set);
            }
        }
    }

    /// Lets the environment count over the file, and the file over the defaults.
    pub(crate) fn merge(self) -> (Settings, BTreeMap<&'static str, Source>, Vec<Diagnostic>) {
        let Self {
            mut file,
            environment,
            findings,
        } = self;
        // "The layer that sets either owns both" (§7).
        if UNIT.iter().any(|name| environment.contains_key(name)) {
            file.retain(|name, _| !UNIT.contains(name));
        }
        let figment = Figment::from(Defaults)
            .merge(Named {
                name: FILE,
                layer: &file,
            })
            .merge(Named {
                name: ENVIRONMENT,
                layer: &environment,
            });
        let sources = KEYS
            .iter()
            .map(|key| (key.name, source_of(&figment, key, &file, &environment)))
            .collect();
        match figment.extract() {
            Ok(settings) => {
                let diagnostics = explain(findings, &settings, &sources);
                (settings, sources, diagnostics)
            }
            Err(error) => unmergeable(&error, findings),
        }
    }

    /// A value that is set and valid, with its source; a refused one becomes a finding.
    fn judge(
        &mut self,
        key: &'static Key,
        judged: Judged,
        source: Source,
        shown: impl FnOnce() -> String,
    ) -> Option<(Setting, Source)> {
        match judged {
            Ok(Setting::Unset) => None,
            Ok(setting) => Some((setting, source)),
            Err(values::Refused) => {
                self.findings.push(Finding::Refused {
                    key,
                    source,
                    shown: shown(),
                });
                None
            }
        }
    }

    fn read_member<'t>(
        &mut self,
        place: &Place<'_>,
        member: &'t Member<'t>,
        last: &BTreeMap<&str, &'t Member<'t>>,
        notes: &mut Vec<Note<'t>>,
    ) {
        let Some(key) = key_named(&member.key) else {
            return notes.push(Note {
                member,
                counts: None,
            });
        };
        // The last one counts, as for every common JSON reader.
        let counts = last
            .get(key.name)
            .filter(|last| last.key_start != member.key_start);
        if counts.is_some() {
            return notes.push(Note {
                member,
                counts: counts.copied(),
            });
        }
        let judged = values::from_json(key, &member.value);
        let source = place.source(member.value.start);
        if let Some(set) = self.judge(key, judged, source, || printable(member.value.raw)) {
            self.file.insert(key.name, set);
        }
    }

    fn add_notes(&mut self, place: &Place<'_>, notes: Vec<Note<'_>>) {
        let rest = notes.len().saturating_sub(DIAGNOSTIC_NOTES_MAX);
        let shown = notes.into_iter().take(DIAGNOSTIC_NOTES_MAX);
        self.findings
            .extend(shown.map(|note| Finding::Note(note.explain(place))));
        if rest > 0 {
            self.findings.push(Finding::Note(Diagnostic {
                key: None,
                source: Some(place.source(0)),
                message: format!("{rest} more unknown or repeated keys, not used"),
            }));
        }
    }

    fn skip_file(&mut self, place: &Place<'_>, at: usize, why: &str) -> bool {
        self.findings.push(Finding::Note(Diagnostic {
            key: None,
            source: Some(place.source(at)),
            message: format!(
                "{why}; the file is not used, only the environment and the defaults are"
            ),
        }));
        false
    }
}

fn not_an_object(node: &Node<'_>) -> String {
    format!(
        "expected an object in braces, found {}",
        printable(node.raw)
    )
}

fn not_json(place: &Place<'_>, fault: &json::Fault) -> String {
    let (line, column) = line_and_column(place.text, fault.at);
    format!("not JSON: line {line}, column {column}: {}", fault.what)
}

/// The file that is being read.
struct Place<'a> {
    path: &'a Path,
    /// Without a byte order mark.
    text: &'a str,
}

impl Place<'_> {
    fn source(&self, at: usize) -> Source {
        let (line, column) = line_and_column(self.text, at);
        Source::File {
            path: self.path.to_owned(),
            line,
            column,
        }
    }
}

/// A key of the file that is not used: unknown, or given again later.
struct Note<'t> {
    member: &'t Member<'t>,
    /// The one that counts instead; `None` if the key is unknown.
    counts: Option<&'t Member<'t>>,
}

impl Note<'_> {
    fn explain(&self, place: &Place<'_>) -> Diagnostic {
        let (at, message) = match self.counts {
            None => (
                self.member.key_start,
                format!(
                    "unknown key, not used; the nearest known one is {}",
                    nearest(&self.member.key, |key| key.name)
                ),
            ),
            Some(counts) => {
                let (line, column) = line_and_column(place.text, counts.value.start);
                let message = format!(
                    "{} is not used: the key is repeated, and the last value, {} at line {line}, \
                     column {column}, counts",
                    printable(self.member.value.raw),
                    printable(counts.value.raw),
                );
                (self.member.value.start, message)
            }
        };
        Diagnostic {
            key: Some(self.member.key.clone()),
            source: Some(place.source(at)),
            message,
        }
    }
}

/// The names under which figment keeps apart what comes from where.
const FILE: &str = "file";
const ENVIRONMENT: &str = "environment";

/// A layer as figment takes it.
struct Named<'a> {
    name: &'static str,
    layer: &'a Layer,
}

impl Provider for Named<'_> {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.name)
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        let values = self
            .layer
            .iter()
            .map(|(name, (setting, _))| (*name, setting.clone()));
        Ok(Profile::Default.collect(dict(values)))
    }
}

/// The lowest layer: every key whose default is a value of its own.
struct Defaults;

impl Provider for Defaults {
    fn metadata(&self) -> Metadata {
        Metadata::named("defaults")
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        let settings = Settings::defaults();
        let values = KEYS.iter().map(|key| (key.name, key.value_in(&settings)));
        Ok(Profile::Default.collect(dict(values)))
    }
}

fn dict(values: impl Iterator<Item = (&'static str, Setting)>) -> Dict {
    values
        .filter_map(|(name, setting)| Some((name.to_owned(), value(setting)?)))
        .collect()
}

fn value(setting: Setting) -> Option<Value> {
    match setting {
        Setting::Unset => None,
        Setting::Number(number) => Some(number.into()),
        Setting::Text(text) => Some(text.into()),
        Setting::List(items) => Some(items.into()),
    }
}

fn source_of(figment: &Figment, key: &Key, file: &Layer, environment: &Layer) -> Source {
    let layer = match figment
        .find_metadata(key.name)
        .map(|metadata| metadata.name.as_ref())
    {
        Some(FILE) => file,
        Some(ENVIRONMENT) => environment,
        _ => return Source::Default,
    };
    layer
        .get(key.name)
        .map_or(Source::Default, |(_, source)| source.clone())
}

fn explain(
    findings: Vec<Finding>,
    settings: &Settings,
    sources: &BTreeMap<&'static str, Source>,
) -> Vec<Diagnostic> {
    let explained = |finding| match finding {
        Finding::Note(diagnostic) => diagnostic,
        Finding::Refused { key, source, shown } => Diagnostic {
            key: Some(key.name.to_owned()),
            source: Some(source),
            message: format!(
                "{shown} is not valid; allowed: {}; used instead: {}",
                key.valid,
                in_effect(key, settings, sources)
            ),
        },
    };
    findings.into_iter().map(explained).collect()
}

fn in_effect(key: &Key, settings: &Settings, sources: &BTreeMap<&'static str, Source>) -> String {
    match sources.get(key.name) {
        Some(source @ (Source::Env(_) | Source::File { .. })) => {
            format!(
                "{} ({source})",
                printable(&key.value_in(settings).to_string())
            )
        }
        Some(Source::Default) | None => format!("{} (default)", key.default),
    }
}

/// Cannot happen: every value was judged before the merge. If it does, the defaults hold and it is
/// said, rather than a session lost.
fn unmergeable(
    error: &figment::Error,
    findings: Vec<Finding>,
) -> (Settings, BTreeMap<&'static str, Source>, Vec<Diagnostic>) {
    debug_assert!(false, "judged values do not merge: {error}");
    let settings = Settings::defaults();
    let sources = KEYS.iter().map(|key| (key.name, Source::Default)).collect();
    let mut diagnostics = explain(findings, &settings, &sources);
    diagnostics.push(Diagnostic {
        key: None,
        source: None,
        message: format!("the settings do not fit together, the defaults are used: {error}"),
    });
    (settings, sources, diagnostics)
}
