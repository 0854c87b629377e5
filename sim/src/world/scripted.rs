//! A world that plays a scenario: what models answer and what the user does stands in a file.
//!
//! Nothing is drawn here. The engine, the wires, pi's run loop and the shim are those of every other
//! run; [`models`] answers in place of drawn models, [`look`] is the auditor's session, [`hands`]
//! acts in place of the drawn user, and [`story`] tells in the end what happened.

mod hands;
mod look;
mod models;
mod story;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use goal_engine::{ModelRef, Rung, SandboxGate, Settings};
use goal_protocol::some_unless_zero;
use serde_json::Value;

use super::{Happening, Options, World};
use crate::entropy::{Entropy, Source, Tapes};
use crate::plan::{Plan, Profile};
use crate::scenario::{Action, Answer, ModelSteps, Moment, Seal};
use crate::{AUDITOR, EXECUTOR, Observed, Scenario, Workspace};

/// The provider of every model of a scenario.
const PROVIDER: &str = "sim";
/// A look at the workspace takes longer than what an action leads to at once, as it does on pi.
pub(super) const LOOK_MS: u64 = 100;
/// pi compacts above this many tokens: the window of the models less what pi keeps free.
const CONTEXT_MAX_TOKENS: u64 = 128_000 - 2_000;

/// A scenario that did not get where its next action was to happen, or in which a model was asked
/// more often than it has answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck(String);

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a scenario says, and how far it has been played.
#[derive(Debug)]
pub(crate) struct Scripted {
    objective: Option<String>,
    steps: BTreeMap<String, ModelSteps>,
    /// How often each model was asked.
    taken: BTreeMap<String, usize>,
    actions: VecDeque<Action>,
    /// The moment of the last action: requests of that moment are answered when the actions are done.
    now: Option<Moment>,
    /// What an action leads to at once is still happening.
    acting: bool,
    /// Requests that are not answered before the actions of their moment are done.
    held: Vec<Held>,
    /// The executor's model.
    model: String,
    /// How the user answers questions.
    answer: Answer,
    /// What the user saves in the editor that opens next.
    edit: Option<String>,
    /// Words of the user that did not reach the conversation yet.
    said: VecDeque<String>,
    /// The tools the host has; `None` is all.
    tools: Option<Vec<String>>,
    /// Arguments of the calls of pi's own tools in the answer at hand.
    arguments: VecDeque<Value>,
    /// Calls of each tool that began to run, by the executor and by the auditor.
    begun: [BTreeMap<String, usize>; 2],
    /// The executor's last answer ended for want of room.
    cut_off: bool,
    /// Tokens of the executor's context, as its provider last counted them.
    tokens: u64,
    workspace: Workspace,
    /// The files when the audit in flight was prepared.
    before: BTreeMap<String, String>,
    look: look::Look,
    story: story::Story,
}

/// A request that waits for the actions of its moment.
#[derive(Debug)]
struct Held {
    model: String,
    nth: usize,
    after_ms: u64,
    answer: Happening,
}

impl Scripted {
    fn new(scenario: &Scenario) -> Self {
        Self {
            objective: scenario.objective.clone(),
            steps: scenario.models.clone(),
            taken: BTreeMap::new(),
            actions: scenario.actions.clone().into(),
            now: None,
            acting: false,
            held: Vec::new(),
            model: EXECUTOR.to_owned(),
            answer: Answer::Yes,
            edit: None,
            said: VecDeque::new(),
            tools: scenario.tools.clone(),
            arguments: VecDeque::new(),
            begun: [BTreeMap::new(), BTreeMap::new()],
            cut_off: false,
            tokens: 0,
            workspace: Workspace::with(&scenario.files),
            before: BTreeMap::new(),
            look: look::Look::default(),
            story: story::Story::default(),
        }
    }

    /// The executor's model.
    pub(super) fn model(&self) -> ModelRef {
        model(&self.model)
    }

    /// Every model there is; the agent's and the auditor's are, with answers or without.
    pub(super) fn models(&self) -> Vec<ModelRef> {
        let scripted = self.steps.keys().map(String::as_str);
        let ids: BTreeSet<&str> = scripted.chain([EXECUTOR, AUDITOR]).collect();
        ids.into_iter().map(model).collect()
    }

    /// Whether pi compacts before it goes on.
    pub(super) const fn context_is_full(&self) -> bool {
        self.tokens > CONTEXT_MAX_TOKENS
    }

    /// How the user answers a question.
    pub(super) fn says_yes(&self) -> bool {
        self.answer == Answer::Yes
    }

    /// What the user saves in an editor.
    pub(super) const fn take_edit(&mut self) -> Option<String> {
        self.edit.take()
    }

    /// Paths that are not as they were when the audit was prepared.
    pub(super) fn changed_paths(&self) -> Vec<String> {
        let now = self.workspace.files();
        let differs = |path: &&String| self.before.get(*path) != now.get(*path);
        let gone = self.before.keys().filter(|path| !now.contains_key(*path));
        let paths = now.keys().chain(gone).filter(differs);
        paths.cloned().collect()
    }

    /// Equal for equal files.
    pub(super) fn workspace_digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in self
            .workspace
            .files()
            .iter()
            .flat_map(|(path, text)| [path, text])
        {
            hasher.update(&part.len().to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}

impl World {
    /// An audit is prepared: the workspace is fingerprinted.
    pub(super) fn remember_workspace(&mut self) {
        if let Some(scripted) = &mut self.scripted {
            scripted.before = scripted.workspace.files().clone();
        }
    }

    /// pi makes our tools active, where it has them.
    pub(super) fn tools_are_turned_on(&mut self) {
        if let Some(scripted) = &self.scripted {
            self.pi.tools_active = scripted.has_our_tools();
        }
    }
}

fn model(id: &str) -> ModelRef {
    ModelRef {
        provider: PROVIDER.to_owned(),
        id: id.to_owned(),
    }
}

/// Plays a scenario until nothing happens any more behind the last action.
///
/// # Errors
/// The moment of an action never came, or a model was asked more often than it has answers.
pub(crate) fn play(scenario: &Scenario) -> Result<Observed, Stuck> {
    let mut entropy = Entropy::new(&Source::Bytes(Tapes::default()));
    let mut plan = Plan::draw(Profile::Calm, &mut entropy);
    plan.settings = settings(scenario)?;
    plan.rung = match scenario.seal {
        Seal::Overlay => Rung::Overlay,
        Seal::Fingerprint => Rung::Fingerprint,
    };
    let options = Options {
        keep_going: true,
        ..Options::default()
    };
    let scripted = Scripted::new(scenario);
    let has_tools = scripted.has_our_tools();
    let mut world = World::new(entropy, plan, &options, Some(Box::new(scripted)));
    world.pi.tools_active = has_tools;
    world.play_out()?;
    match &world.checks.failure {
        Some(failure) => Err(Stuck(format!(
            "a promise is broken: {} {}",
            failure.fingerprint(),
            failure.more
        ))),
        None => Ok(world.observed()),
    }
}

/// The settings of a file, read as the product reads them.
fn settings(scenario: &Scenario) -> Result<Settings, Stuck> {
    let mut keys = serde_json::to_value(&scenario.settings)
        .map_err(|error| Stuck(format!("the settings cannot be used: {error}")))?;
    keys["provider"] = PROVIDER.into();
    keys["model"] = AUDITOR.into();
    let file = std::path::Path::new("goal-auditor.json");
    let loaded = goal_config::resolve(Some((file, &keys.to_string())), &|_| None);
    let read = loaded.settings;
    Ok(Settings {
        provider: read.provider,
        model: read.model,
        thinking_level: read.thinking_level.map(|level| level.name().to_owned()),
        timeout_ms: some_unless_zero(read.timeout_ms),
        idle_timeout_ms: some_unless_zero(read.idle_timeout_ms),
        max_empty_continuations: read.max_empty_continuations,
        max_consecutive_audit_rejections: read.max_consecutive_audit_rejections,
        max_continuations: some_unless_zero(read.max_continuations),
        max_audits: some_unless_zero(read.max_audits),
        sandbox: SandboxGate {
            mode: read.sandbox.name().to_owned(),
            network: read.sandbox_network.name().to_owned(),
            hide: read.sandbox_hide,
            scratch_mb: read.sandbox_scratch_mb,
        },
        changed: Vec::new(),
        rows: Vec::new(),
    })
}
