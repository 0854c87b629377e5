//! What a test's pi is like.

use std::collections::{BTreeMap, BTreeSet};

use goal_sim::Script;
use serde_json::{Value, json};

/// The context window of the scripted models unless a test makes it smaller.
pub(crate) const CONTEXT_WINDOW: u64 = 128_000;

/// How our extension gets into pi.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loading {
    /// Not at all: pi as it is.
    None,
    /// `-e crates/host-pi/extension/index.ts`.
    Flag,
    /// By `cargo xtask install`, into the agent folder of the world.
    Installed,
}

/// What `GOAL_AUDITOR_BIN` names, with [`Loading::Flag`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binary {
    /// The binary of this build.
    Built,
    /// This, whatever it is.
    Named(String),
    /// A file with this text and mode.
    Written(String, u32),
}

/// Everything a test may change; the rest is quiet, offline and quick.
pub struct PiOptions {
    pub(crate) script: Script,
    pub(crate) loading: Loading,
    pub(crate) binary: Binary,
    pub(crate) config: Option<String>,
    pub(crate) settings: Value,
    pub(crate) windows: BTreeMap<String, u64>,
    pub(crate) reasoning: bool,
    pub(crate) cost: Value,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) extensions: Vec<(String, String)>,
    pub(crate) flags: Vec<String>,
    pub(crate) files: Vec<(String, String)>,
}

impl PiOptions {
    /// Models that answer as `script` says, our extension, and an auditor `sim/auditor`.
    pub fn new(script: Script) -> Self {
        Self {
            script,
            loading: Loading::Flag,
            binary: Binary::Built,
            config: Some(json!({ "provider": "sim", "model": "auditor" }).to_string()),
            settings: default_settings(),
            windows: BTreeMap::new(),
            reasoning: false,
            cost: Value::Null,
            env: BTreeMap::new(),
            extensions: Vec::new(),
            flags: Vec::new(),
            files: Vec::new(),
        }
    }

    /// pi without our extension.
    pub fn plain(script: Script) -> Self {
        Self::new(script).loading(Loading::None)
    }

    /// How our extension is loaded.
    pub fn loading(mut self, loading: Loading) -> Self {
        self.loading = loading;
        self
    }

    /// What the extension is told to start.
    pub fn binary(mut self, binary: Binary) -> Self {
        self.binary = binary;
        self
    }

    /// `goal-auditor.json`, replacing the default.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers write `json!({…})` in place"
    )]
    pub fn config(self, config: Value) -> Self {
        self.config_text(config.to_string())
    }

    /// More keys of `goal-auditor.json`, beside the auditor of the default.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers write `json!({…})` in place"
    )]
    pub fn caps(self, caps: Value) -> Self {
        let mut config = json!({ "provider": "sim", "model": "auditor" });
        for (key, value) in caps.as_object().into_iter().flatten() {
            config[key] = value.clone();
        }
        self.config(config)
    }

    /// `goal-auditor.json`, byte for byte, so that it can be broken.
    pub fn config_text(mut self, text: impl Into<String>) -> Self {
        self.config = Some(text.into());
        self
    }

    /// No `goal-auditor.json` at all.
    pub fn no_config(mut self) -> Self {
        self.config = None;
        self
    }

    /// One key of pi's `settings.json`, at the top level or by dotted path (`"retry.enabled"`).
    pub fn setting(mut self, path: &str, value: Value) -> Self {
        let pointer = format!("/{}", path.replace('.', "/"));
        if let Some(place) = self.settings.pointer_mut(&pointer) {
            *place = value;
        } else {
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            self.settings
                .pointer_mut(parent)
                .expect("the parent of the setting exists")[key] = value;
        }
        self
    }

    /// The context window of one model, to make compaction come early.
    pub fn context_window(mut self, model: &str, tokens: u64) -> Self {
        self.windows.insert(model.to_owned(), tokens);
        self
    }

    /// Declares the models as able to think, so that thinking levels mean something.
    pub fn reasoning(mut self) -> Self {
        self.reasoning = true;
        self
    }

    /// What the models cost, in dollars per million tokens: `input`, `output`, `cacheRead`,
    /// `cacheWrite`.
    pub fn cost(mut self, cost: Value) -> Self {
        self.cost = cost;
        self
    }

    /// One more environment variable of pi.
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.insert(name.to_owned(), value.into());
        self
    }

    /// One more extension, loaded before ours: the TypeScript source of a module.
    pub fn extra_extension(mut self, name: &str, source: &str) -> Self {
        self.extensions.push((name.to_owned(), source.to_owned()));
        self
    }

    /// One more flag or argument of pi, in every mode.
    pub fn flag(mut self, flag: impl Into<String>) -> Self {
        self.flags.push(flag.into());
        self
    }

    /// One file of the workspace.
    pub fn file(mut self, path: &str, text: &str) -> Self {
        self.files.push((path.to_owned(), text.to_owned()));
        self
    }

    /// The contents of `models.json`.
    pub(crate) fn models_json(&self, base_url: &str) -> Value {
        let mut ids = BTreeSet::from([goal_sim::EXECUTOR, goal_sim::AUDITOR]);
        // The world has named every model of the script here.
        ids.extend(self.windows.keys().map(String::as_str));
        let model = |id: &str| {
            let window = self.windows.get(id).copied().unwrap_or(CONTEXT_WINDOW);
            let mut model = json!({
                "id": id,
                "contextWindow": window,
                "maxTokens": 4096,
                "reasoning": self.reasoning,
            });
            if self.cost.is_object() {
                model["cost"] = self.cost.clone();
            }
            model
        };
        let models: Vec<_> = ids.into_iter().map(model).collect();
        json!({ "providers": { "sim": {
            "baseUrl": base_url,
            "api": "openai-completions",
            "apiKey": "sim-key",
            "models": models,
        } } })
    }
}

/// pi's settings: the scripted executor, retries that do not make a test wait, and no chatter.
fn default_settings() -> Value {
    json!({
        "defaultProvider": "sim",
        "defaultModel": "executor",
        "quietStartup": true,
        "enableInstallTelemetry": false,
        "defaultProjectTrust": "never",
        "compaction": { "enabled": true, "reserveTokens": 2000, "keepRecentTokens": 200 },
        "retry": { "enabled": true, "maxRetries": 3, "baseDelayMs": 50 },
    })
}
