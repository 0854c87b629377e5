//! The workspace around audits: looked at, and sealed, by a thread of its own, so that the loop of
//! events never waits for a disk.
//!
//! A seal is a child process of this binary (`audit-seal`), held from before the first prompt to the
//! end of the audit. It ends with its standard input, and with the thread that started it: hence one
//! thread for all of them, which stays as long as the process.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use goal_engine::{Event, Inspection, PrepareAudit, Prepared, Rung, SandboxGate, WorkspaceSummary};
use goal_sandbox::fingerprint::{self, Change, Changes, Content, Fingerprint, Summary};
use goal_sandbox::{Network, Probe, SealOptions, probe, seal_arguments};
use tokio::sync::mpsc::UnboundedSender;

use super::lines::Incoming;
use crate::process;

/// Changed paths told to the engine. What is beyond changes nothing of its decision.
const PATHS_MAX: usize = 1_000;
/// The setting that takes no lower rung.
const REQUIRE: &str = "require";

/// What the thread is asked.
#[derive(Debug)]
enum Job {
    Probe(SealOptions),
    Prepare(PrepareAudit, SealOptions),
    Inspect(u64, Arc<Fingerprint>, bool),
}

/// What it found out.
#[derive(Debug)]
pub(crate) enum Found {
    /// The best rung of this machine.
    Probe(Probe),
    /// An audit may begin, or not.
    Ready(u64, Result<Box<Ready>, String>),
    /// The workspace after an audit.
    Inspected(u64, Result<Box<Inspection>, String>),
}

/// An audit that may begin.
#[derive(Debug)]
pub(crate) struct Ready {
    before: Arc<Fingerprint>,
    seal: Option<Seal>,
    rung: Rung,
}

/// A running seal. Its socket file goes with it, however it ends.
#[derive(Debug)]
struct Seal {
    child: Child,
    socket: PathBuf,
}

/// The audits' workspaces.
#[derive(Debug)]
pub(crate) struct Workspaces {
    jobs: Option<Sender<Job>>,
    agent_dir: Option<PathBuf>,
    /// How the workspace was before each audit that is not over.
    before: BTreeMap<u64, Arc<Fingerprint>>,
    /// Seals whose auditor may still have a command in them.
    seals: BTreeMap<u64, Seal>,
}

impl Workspaces {
    /// Starts the thread. Without it every audit fails, and says so.
    pub(crate) fn new(done: UnboundedSender<Incoming>, agent_dir: Option<PathBuf>) -> Self {
        let (jobs, todo) = channel();
        let started = thread::Builder::new()
            .name("workspace".to_owned())
            .spawn(move || work(&todo, &done));
        if let Err(error) = &started {
            process::say(format_args!("cannot look at workspaces: {error}"));
        }
        Self {
            jobs: started.is_ok().then_some(jobs),
            agent_dir,
            before: BTreeMap::new(),
            seals: BTreeMap::new(),
        }
    }

    /// Finds out what this machine allows for a workspace.
    pub(crate) fn probe(&self, workspace: &str, settings: &SandboxGate) {
        self.ask(Job::Probe(self.options(workspace, settings)));
    }

    /// Looks at the workspace and seals it.
    pub(crate) fn prepare(&mut self, order: PrepareAudit) {
        // There is one audit at a time; what one that was broken off left is let go.
        self.before.clear();
        self.seals.clear();
        let options = self.options(&order.workspace, &order.sandbox);
        self.ask(Job::Prepare(order, options));
    }

    /// Looks at the workspace again; with every file's content if the record shall hold for this
    /// tree.
    pub(crate) fn inspect(&mut self, audit: u64, whole: bool) -> Option<Event> {
        if let Some(before) = self.before.remove(&audit) {
            self.ask(Job::Inspect(audit, before, whole));
            return None;
        }
        let inspection = Err("the workspace was not looked at before the audit".to_owned());
        Some(Event::WorkspaceInspected { audit, inspection })
    }

    /// Nothing is held for this audit any more.
    pub(crate) fn let_go(&mut self, audit: u64) {
        self.before.remove(&audit);
        self.closed(audit);
    }

    /// The auditor's session is over: the seal goes, and everything that ran in it. Not earlier: a
    /// command that ends of it would be one more result to an auditor that has not been stopped.
    pub(crate) fn closed(&mut self, audit: u64) {
        self.seals.remove(&audit);
    }

    /// The event for what was found.
    pub(crate) fn event(&mut self, found: Found) -> Event {
        match found {
            Found::Probe(Probe {
                rung,
                why_not_higher,
            }) => Event::SandboxProbed {
                rung: rung_of(rung),
                why: why_not_higher,
            },
            Found::Inspected(audit, inspection) => Event::WorkspaceInspected { audit, inspection },
            Found::Ready(audit, Err(why)) => Event::AuditPrepared {
                audit,
                prepared: Err(why),
            },
            Found::Ready(audit, Ok(ready)) => {
                let Ready { before, seal, rung } = *ready;
                let prepared = Box::new(Prepared {
                    rung,
                    seal: seal.as_ref().map(|seal| seal.socket.display().to_string()),
                    before: Some(summary(&before, false)),
                });
                self.before.insert(audit, before);
                self.seals.extend(seal.map(|seal| (audit, seal)));
                Event::AuditPrepared {
                    audit,
                    prepared: Ok(prepared),
                }
            }
        }
    }

    fn ask(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            // The thread ends only with us.
            let _ = jobs.send(job);
        }
    }

    fn options(&self, workspace: &str, settings: &SandboxGate) -> SealOptions {
        SealOptions {
            workspace: PathBuf::from(workspace),
            home: std::env::home_dir(),
            agent_dir: self.agent_dir.clone(),
            network: network(&settings.network),
            hide: settings.hide.iter().map(PathBuf::from).collect(),
            scratch_mb: settings.scratch_mb.map(u64::from),
        }
    }
}

/// A word that is no network is none: fail closed.
fn network(name: &str) -> Network {
    [Network::Loopback, Network::Host]
        .into_iter()
        .find(|one| one.name() == name)
        .unwrap_or(Network::Off)
}

const fn rung_of(rung: goal_sandbox::Rung) -> Rung {
    match rung {
        goal_sandbox::Rung::Overlay => Rung::Overlay,
        goal_sandbox::Rung::Fingerprint => Rung::Fingerprint,
        goal_sandbox::Rung::None => Rung::None,
    }
}

/// The thread: one job after the other.
fn work(todo: &Receiver<Job>, done: &UnboundedSender<Incoming>) {
    for job in todo {
        let found = match job {
            Job::Probe(options) => Found::Probe(probe_here(&options)),
            Job::Prepare(order, options) => Found::Ready(order.audit, prepare(&order, &options)),
            Job::Inspect(audit, before, whole) => Found::Inspected(audit, inspect(&before, whole)),
        };
        if done.send(Incoming::Found(found)).is_err() {
            return;
        }
    }
}

fn probe_here(options: &SealOptions) -> Probe {
    match std::env::current_exe() {
        Ok(program) => probe(&program, options),
        Err(error) => Probe {
            rung: goal_sandbox::Rung::Fingerprint,
            why_not_higher: Some(format!("the program's own file is unknown: {error}")),
        },
    }
}

/// Looks first and seals then: what changes between the two is seen afterwards.
fn prepare(order: &PrepareAudit, options: &SealOptions) -> Result<Box<Ready>, String> {
    let before = fingerprint::take(&options.workspace, Content::Recent).map_err(in_words)?;
    let (seal, rung) = match seal(options) {
        Ok(seal) => (Some(seal), Rung::Overlay),
        Err(why) if order.sandbox.mode == REQUIRE => {
            return Err(format!(
                "a seal is required (sandbox: require), and there is none: {why}"
            ));
        }
        Err(_) => (None, Rung::Fingerprint),
    };
    Ok(Box::new(Ready {
        before: Arc::new(before),
        seal,
        rung,
    }))
}

fn inspect(before: &Arc<Fingerprint>, whole: bool) -> Result<Box<Inspection>, String> {
    let now = fingerprint::take_after(before).map_err(in_words)?;
    let mut changes = fingerprint::compare(before, &now);
    let forgiven = changes.take_by_products();
    let after = if whole {
        let taken = fingerprint::take(&before.root, Content::All).map_err(in_words)?;
        summary(&taken, true)
    } else {
        summary(&now, false)
    };
    Ok(Box::new(Inspection {
        after,
        changed: names(&changes),
        forgiven: forgiven.iter().map(shown).collect(),
    }))
}

fn names(changes: &Changes) -> Vec<String> {
    let removed = changes
        .removed
        .iter()
        .map(|path| format!("{} (removed)", path.display()));
    let changed = changes.changed.iter().map(|change| match change {
        Change::File(path) => shown(path),
        Change::Rules(path) => format!("{} (ignore rules)", path.display()),
        Change::Head(folder) => format!("{} (HEAD)", folder.join(".git").display()),
        Change::Index(folder) => format!("{} (index)", folder.join(".git").display()),
    });
    let added = changes
        .added
        .iter()
        .map(|path| format!("{} (added)", path.display()));
    changed
        .chain(added)
        .chain(removed)
        .take(PATHS_MAX)
        .collect()
}

fn shown(path: impl AsRef<Path>) -> String {
    path.as_ref().display().to_string()
}

fn summary(fingerprint: &Fingerprint, with_parts: bool) -> WorkspaceSummary {
    let Summary {
        digest,
        files,
        bytes,
        commit,
        repositories,
        rules,
        parts,
    } = Summary::of(fingerprint);
    let parts = if with_parts { parts } else { BTreeMap::new() };
    WorkspaceSummary {
        digest,
        files,
        bytes,
        commit,
        repositories,
        rules,
        parts,
    }
}

/// Starts a seal and waits until it stands.
fn seal(options: &SealOptions) -> Result<Seal, String> {
    let name = getrandom::u64().map_err(|error| error.to_string())?;
    let socket = std::env::temp_dir().join(format!("goal-auditor-{name:016x}"));
    let mut child = Command::new(std::env::current_exe().map_err(in_words)?)
        .arg("audit-seal")
        .args(seal_arguments(options))
        .envs(
            options
                .agent_dir
                .iter()
                .map(|dir| ("PI_CODING_AGENT_DIR", dir)),
        )
        .arg("--socket")
        .arg(&socket)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(in_words)?;
    wait_until_ready(&mut child)?;
    Ok(Seal { child, socket })
}

fn wait_until_ready(child: &mut Child) -> Result<(), String> {
    let mut line = String::new();
    if let Some(stdout) = child.stdout.take() {
        BufReader::new(stdout)
            .read_line(&mut line)
            .map_err(in_words)?;
    }
    if line.trim() == "ready" {
        return Ok(());
    }
    let mut why = String::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = BufReader::new(stderr).read_line(&mut why);
    }
    let _ = child.wait();
    Err(why.trim().trim_start_matches("goal-auditor: ").to_owned())
}

impl Drop for Seal {
    fn drop(&mut self) {
        let child = &mut self.child;
        drop(child.stdin.take());
        let _ = child.kill();
        let _ = child.wait();
    }
}

fn in_words(error: impl std::fmt::Display) -> String {
    error.to_string()
}
