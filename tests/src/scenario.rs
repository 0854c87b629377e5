//! Plays scenario files on the real pi.

use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use goal_sim::goal_event::SUMMARY;
use goal_sim::scenario::{Action, Answer, Deed, Difference, Moment, Place, Seal, TORN_ENTRY, gate};
use goal_sim::{Fate, GoalEvent, Observed, Scenario};
use serde_json::{Value, json};

use crate::{Dialogs, Pi, PiOptions, install, patience, poll};

/// Commands for what RPC has no command of its own for.
const MOVES: &str = r#"
export default function (pi) {
  pi.registerCommand("jump", { handler: async (args, ctx) => { await ctx.navigateTree(args.trim(), {}); } });
  pi.registerCommand("renew", { handler: async (_args, ctx) => { await ctx.reload(); } });
  pi.registerCommand("goal-tools-off", { handler: async () => {
    pi.setActiveTools(pi.getActiveTools().filter((name) => !name.endsWith("_goal")));
  } });
}"#;

/// How long a goal at rest must have been silent: its state is known, so this only lets the last
/// words arrive.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// How long a loop must rest until nobody expects the moment any more that an action waits for.
const GIVEN_UP: Duration = Duration::from_millis(1_500);

/// Our key in pi's footer.
const STATUS_KEY: &str = "goal";

/// A scenario that did not get where its next action was to happen, or never came to rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
    /// What was waited for.
    waited_for: String,
    /// What is wrong with that.
    why: String,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "waited for {}, but {}", self.waited_for, self.why)
    }
}

/// A scenario that was played to its end.
pub struct Played {
    /// What came out.
    pub observed: Observed,
    /// pi at rest; it reports what happened to it when a test fails before it is dropped.
    pub pi: Pi,
}

/// Plays `sim/scenarios/<name>.toml` and fails unless all is as it expects.
pub fn check(name: &str) {
    let scenario = load(name);
    if scenario.simulator_only.is_some() {
        return;
    }
    let played = play(&scenario).unwrap_or_else(|stuck| panic!("{name}: {stuck}"));
    let found = scenario.expect.differences(&played.observed);
    let lines: Vec<_> = found.iter().map(Difference::to_string).collect();
    assert!(found.is_empty(), "{name}:\n  {}", lines.join("\n  "));
}

/// Reads `sim/scenarios/<name>.toml`, which must be a scenario.
pub fn load(name: &str) -> Scenario {
    let file = folder().join(name).with_extension("toml");
    Scenario::load(&file).unwrap_or_else(|error| panic!("{error}"))
}

/// Where the scenario files are.
pub fn folder() -> PathBuf {
    install::root().join("sim/scenarios")
}

/// The names of all scenario files, in order.
pub fn names() -> Vec<String> {
    let files = std::fs::read_dir(folder()).expect("the scenarios are there");
    let mut names: Vec<_> = files
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|it| it == "toml"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    names
}

/// Plays a scenario on a pi of its own, until the loop rests behind the last action.
///
/// # Errors
/// The moment of an action never came, or the loop never came to rest.
pub fn play(scenario: &Scenario) -> Result<Played, Stuck> {
    let mut player = Player::start(scenario);
    if let Some(objective) = &scenario.objective {
        // With `--` an objective may begin with the name of a sub-command.
        player.pi.prompt(&format!("/goal -- {objective}"));
    }
    for (index, action) in scenario.actions.iter().enumerate() {
        if let Some(moment) = &action.when {
            player.wait_for(moment)?;
        }
        player = player.perform(&action.deed);
        let next = scenario.actions.get(index + 1);
        if next.is_none_or(|next| next.when.is_some()) {
            player.release(&scenario.actions[..=index]);
        }
    }
    player.wait_for(&Moment::Rest)?;
    Ok(Played {
        observed: player.observe(),
        pi: player.pi,
    })
}

/// The user of a pi, and its host.
struct Player {
    pi: Pi,
    /// The session the scenario began with.
    first_session: Value,
    /// The newest entry when the user first moved in the tree.
    newest: Option<Value>,
    dialogs: Dialogs,
    /// What was told before a pi was killed.
    notices: Vec<String>,
}

impl Player {
    fn start(scenario: &Scenario) -> Self {
        let settings = serde_json::to_value(&scenario.settings).expect("settings are plain data");
        let mut options = PiOptions::new(scenario.script())
            .caps(settings)
            .extra_extension("moves", MOVES);
        if let Some(tools) = &scenario.tools {
            options = options.flag("--tools").flag(tools.join(","));
        }
        if scenario.seal == Seal::Fingerprint {
            options = options.binary(install::unsealed());
        }
        for (path, text) in &scenario.files {
            options = options.file(path.as_str(), text);
        }
        let pi = Pi::start(options);
        Self {
            first_session: pi.state()["sessionFile"].clone(),
            newest: None,
            dialogs: Dialogs::Yes,
            notices: Vec::new(),
            pi,
        }
    }

    fn wait_for(&self, moment: &Moment) -> Result<(), Stuck> {
        let stuck = |why: &str| Stuck {
            waited_for: moment.to_string(),
            why: why.to_owned(),
        };
        let reached = poll(patience(), || {
            if let Some(refusal) = self.refused_for_want_of_a_step() {
                return Some(Err(stuck(&refusal)));
            }
            if self.has_come(moment) {
                return Some(Ok(()));
            }
            self.rests(GIVEN_UP)
                .then(|| Err(stuck("the loop came to rest before")))
        });
        reached.unwrap_or_else(|| Err(stuck("it did not come in time")))
    }

    fn has_come(&self, moment: &Moment) -> bool {
        let server = self.pi.server();
        match moment {
            Moment::Rest => self.rests(LAST_WORDS),
            Moment::BackOff => self.is_quiet(LAST_WORDS) && self.status().contains("waiting after"),
            Moment::Request { model, nth } if model == SUMMARY => {
                server.compactions().len() >= *nth
            }
            Moment::Request { model, nth } => server.requests_of(model).len() >= *nth,
            Moment::Tool { name, nth } => self.tools_begun(name) >= *nth,
            Moment::Check { name, nth } => self.checks_begun(name) >= *nth,
        }
    }

    /// A script that ends too early would let the goal rest for the wrong reason.
    fn refused_for_want_of_a_step(&self) -> Option<String> {
        let exchanges = self.pi.server().exchanges();
        let refused = exchanges.into_iter().find(|it| it.reply.is_beyond_script());
        refused.map(|exchange| exchange.reply.body)
    }

    fn tools_begun(&self, name: &str) -> usize {
        let begun = |r: &&Value| r["type"] == "tool_execution_start" && r["toolName"] == name;
        self.pi.log().all().iter().filter(begun).count()
    }

    /// How often the progress of an audit began to name a call of that tool.
    fn checks_begun(&self, name: &str) -> usize {
        let words = format!(" · {name} ");
        let records = self.pi.log().all();
        let progress = records
            .iter()
            .filter(|r| r["type"] == "tool_execution_update" && r["toolName"] == "update_goal");
        let named: Vec<_> = progress.map(|r| r.to_string().contains(&words)).collect();
        named.chunk_by(|a, b| a == b).filter(|run| run[0]).count()
    }

    /// Nothing happens any more by itself: pi is quiet, and the goal says so too.
    fn rests(&self, quiet: Duration) -> bool {
        let status = self.status();
        let busy = ["pursuing", "audit running", "waiting"];
        self.is_quiet(quiet) && !busy.iter().any(|word| status.contains(word))
    }

    fn is_quiet(&self, span: Duration) -> bool {
        let log = self.pi.log();
        let exchanges = self.pi.server().exchanges();
        let asking = exchanges.iter().any(|it| it.fate == Fate::Open);
        !asking && !log.is_running() && log.silence() >= span
    }

    /// What pi's footer says of the goal; empty if there is none.
    fn status(&self) -> String {
        self.pi.status(STATUS_KEY).unwrap_or_default()
    }

    /// Lets the answers go on that the last of these actions, and those before it at the same
    /// moment, held up.
    fn release(&self, actions: &[Action]) {
        let moment = actions.iter().rev().find_map(|action| action.when.as_ref());
        if let Some(Moment::Request { model, nth }) = moment {
            self.pi.server().release(&gate(model, *nth));
        }
    }

    fn perform(mut self, deed: &Deed) -> Self {
        match deed {
            Deed::Command(text) => self.command(text),
            Deed::Edit(text) => self.edit(text),
            Deed::Message(text) => self.say(text, "followUp"),
            Deed::Steer(text) => self.say(text, "steer"),
            Deed::Abort => drop(self.pi.abort()),
            Deed::Compact => drop(self.pi.compact()),
            Deed::Reload => drop(self.pi.prompt("/renew")),
            Deed::NewSession => drop(self.pi.new_session()),
            Deed::ResumeSession => {
                let path = self.first_session.as_str().unwrap_or_default();
                self.pi.switch_session(Path::new(path));
            }
            Deed::Tree(place) => self.jump(*place),
            Deed::KillAndReopen => return self.reopened(),
            Deed::KillInMidWrite => {
                self.pi.kill();
                let path = self.pi.world().session().path;
                append(&path, TORN_ENTRY).expect("a session was saved");
                return self.reopened();
            }
            Deed::LoseCore => self.lose_core(),
            Deed::Answer(answer) => {
                self.dialogs = match answer {
                    Answer::Yes => Dialogs::Yes,
                    Answer::No => Dialogs::No,
                    Answer::None => Dialogs::Cancel,
                };
                self.pi.answer_dialogs(self.dialogs);
            }
            Deed::SelectModel(id) => {
                let command = json!({ "type": "set_model", "provider": "sim", "modelId": id });
                self.pi.command(command);
            }
            Deed::ToolsOff => drop(self.pi.prompt("/goal-tools-off")),
            Deed::Write { path, text } => self.pi.world().put(path.as_str(), text),
        }
        self
    }

    /// Types a command; a question that it asks has been answered, and the answer heard, at the end.
    fn command(&self, text: &str) {
        let mark = self.pi.prompt(text);
        if !self.pi.dialogs_since(mark).is_empty() {
            self.pi.wait_notice(mark, "");
        }
    }

    /// Saves another objective in the editor that `/goal edit` opens.
    fn edit(&self, text: &str) {
        self.pi.answer_dialogs(Dialogs::Ignore);
        let mark = self.pi.prompt("/goal edit");
        let opened = self.pi.wait_dialog(mark, "editor");
        let answer = json!({ "type": "extension_ui_response", "id": opened["id"], "value": text });
        self.pi.send(&answer);
        self.pi.answer_dialogs(self.dialogs);
        self.pi.wait_notice(mark, "");
    }

    fn say(&self, text: &str, behavior: &str) {
        if self.pi.log().is_running() {
            self.pi.queue(text, behavior);
        } else {
            let mark = self.pi.prompt(text);
            self.pi.wait_event(mark, "agent_start");
        }
    }

    fn jump(&mut self, place: Place) {
        let session = self.pi.command(json!({ "type": "get_entries" }));
        let newest = self.newest.get_or_insert_with(|| session["leafId"].clone());
        let entries = session["entries"].as_array().into_iter().flatten();
        let first_of_ours = entries.into_iter().find(|entry| {
            GoalEvent::of_entry(entry).is_some_and(|it| matches!(it, GoalEvent::Goal(_)))
        });
        let target = match place {
            Place::Newest => newest,
            Place::BeforeGoal => &first_of_ours.expect("a goal was set")["parentId"],
        };
        let id = target.as_str().expect("an entry to move to");
        self.pi.prompt(&format!("/jump {id}"));
    }

    fn reopened(mut self) -> Self {
        self.notices = self.told();
        self.pi = self.pi.restart(&["--continue"]);
        self.pi.answer_dialogs(self.dialogs);
        self
    }

    fn lose_core(&self) {
        let pursued = !self.status().is_empty() && !self.rests(Duration::ZERO);
        let old = self.pi.sidecar();
        let mark = self.pi.mark();
        crate::process::signal(old, crate::process::Signal::KILL);
        if pursued {
            // Started again, or paused for the second loss: either way the core has spoken.
            self.pi.wait_notice(mark, "core was lost");
        } else {
            self.pi.wait_until("a new core", || {
                self.pi.sidecars().iter().any(|sidecar| sidecar.pid != old)
            });
        }
    }

    fn told(&self) -> Vec<String> {
        let earlier = self.notices.iter().cloned();
        let now = self.pi.notices().into_iter().map(|notice| notice.text);
        earlier.chain(now).collect()
    }

    fn observe(&self) -> Observed {
        let session = self.pi.command(json!({ "type": "get_entries" }));
        let requests = self.pi.server().requests();
        let text = |request: &crate::Request| {
            let texts = request.messages.iter().map(|message| message.text.as_str());
            texts.collect::<Vec<_>>().join("\n")
        };
        Observed {
            events: branch(&session)
                .iter()
                .filter_map(|it| GoalEvent::of_entry(it))
                .collect(),
            asked: requests
                .iter()
                .map(|it| GoalEvent::of_request(it))
                .collect(),
            texts: requests.iter().map(|it| text(it)).collect(),
            held: self.status().contains("on hold"),
            notices: self.told(),
            files: self.pi.world().files(),
        }
    }
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).open(path)?;
    file.write_all(text.as_bytes())
}

/// The entries of the current branch, oldest first.
fn branch(session: &Value) -> Vec<&Value> {
    let entries = session["entries"].as_array().map_or(&[][..], Vec::as_slice);
    let mut branch = Vec::new();
    let mut wanted = &session["leafId"];
    // A parent stands before its child.
    for entry in entries.iter().rev() {
        if entry["id"] == *wanted {
            branch.push(entry);
            wanted = &entry["parentId"];
        }
    }
    branch.reverse();
    branch
}
