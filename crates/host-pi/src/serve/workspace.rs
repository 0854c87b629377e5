//! The workspace around audits: looked at, and sealed, by threads of their own, so that the loop of
//! events never waits for a disk.
//!
//! One seal is a child process of this binary (`audit-seal`), held from before the first prompt to
//! the end of the audit. It ends when its standard input does, so nothing of it survives us.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;

use goal_engine::{Event, Inspection, PrepareAudit, Prepared, Rung, SandboxGate};
use goal_sandbox::{Changes, Fingerprint, Probe};
use tempfile::TempDir;
use tokio::sync::mpsc::UnboundedSender;

use super::lines::Incoming;

/// Changed paths told to the engine; what is beyond is counted by nobody.
const PATHS_MAX: usize = 1_000;

/// What a thread found out.
#[derive(Debug)]
pub(crate) enum Found {
    /// The best rung of this machine.
    Probe(Probe),
    /// An audit may begin, or not.
    Ready(u64, Result<Ready, String>),
    /// The workspace after an audit.
    Inspected(u64, Result<Inspection, String>),
}

/// An audit that may begin.
#[derive(Debug)]
pub(crate) struct Ready {
    held: Held,
    rung: Rung,
}

/// What is held for one audit.
#[derive(Debug)]
struct Held {
    workspace: PathBuf,
    before: Arc<Fingerprint>,
    seal: Option<Seal>,
}

/// A running seal, and the private folder of its socket.
#[derive(Debug)]
struct Seal {
    child: Child,
    socket: PathBuf,
    _folder: TempDir,
}

/// The audits' workspaces.
#[derive(Debug)]
pub(crate) struct Workspaces {
    done: UnboundedSender<Incoming>,
    agent_dir: Option<PathBuf>,
    held: BTreeMap<u64, Held>,
    /// Audits up to this number are over; what is found for them is dropped.
    closed: u64,
}

impl Workspaces {
    pub(crate) fn new(done: UnboundedSender<Incoming>, agent_dir: Option<PathBuf>) -> Self {
        Self { done, agent_dir, held: BTreeMap::new(), closed: 0 }
    }

    /// Finds out what this machine allows.
    pub(crate) fn probe(&self) {
        self.in_thread(|_| Found::Probe(goal_sandbox::probe()));
    }

    /// Looks at the workspace and seals it.
    pub(crate) fn prepare(&self, order: PrepareAudit) {
        self.in_thread(move |agent_dir| Found::Ready(order.audit, prepare(&order, agent_dir)));
    }

    /// Looks at the workspace again. What was held for the audit is let go.
    pub(crate) fn inspect(&mut self, audit: u64) {
        match self.held.remove(&audit) {
            Some(Held { workspace, before, .. }) => {
                self.in_thread(move |_| Found::Inspected(audit, inspect(&workspace, &before)));
            }
            None => self.in_thread(move |_| {
                Found::Inspected(audit, Err("the workspace was not looked at before".to_owned()))
            }),
        }
    }

    /// The auditor's session is over: the seal goes, and everything that ran in it.
    pub(crate) fn close(&mut self, audit: u64) {
        self.closed = self.closed.max(audit);
        if let Some(held) = self.held.get_mut(&audit) {
            held.seal = None;
        }
    }

    /// The event for what was found, unless nobody waits for it any more.
    pub(crate) fn event(&mut self, found: Found) -> Option<Event> {
        match found {
            Found::Probe(probe) => {
                Some(Event::SandboxProbed { rung: rung(&probe), why: probe.why })
            }
            Found::Inspected(audit, inspection) => {
                Some(Event::WorkspaceInspected { audit, inspection })
            }
            Found::Ready(audit, _) if audit <= self.closed => None,
            Found::Ready(audit, Err(why)) => {
                Some(Event::AuditPrepared { audit, prepared: Err(why) })
            }
            Found::Ready(audit, Ok(Ready { held, rung })) => {
                let prepared = Prepared {
                    rung,
                    seal: held.seal.as_ref().map(|seal| seal.socket.display().to_string()),
                    before: Some(held.before.digest()),
                };
                self.held.insert(audit, held);
                Some(Event::AuditPrepared { audit, prepared: Ok(prepared) })
            }
        }
    }

    fn in_thread(&self, work: impl FnOnce(Option<&Path>) -> Found + Send + 'static) {
        let done = self.done.clone();
        let agent_dir = self.agent_dir.clone();
        let job = move || {
            // A loop that has ended waits for nothing.
            let _ = done.send(Incoming::Found(work(agent_dir.as_deref())));
        };
        if let Err(error) = thread::Builder::new().name("workspace".to_owned()).spawn(job) {
            eprintln!("goal-auditor: cannot look at the workspace: {error}");
        }
    }
}

fn rung(probe: &Probe) -> Rung {
    match probe.rung {
        goal_sandbox::Rung::Overlay => Rung::Overlay,
        goal_sandbox::Rung::Fingerprint => Rung::Fingerprint,
        goal_sandbox::Rung::None => Rung::None,
    }
}

/// Looks first and seals then: what changes between the two is seen afterwards.
fn prepare(order: &PrepareAudit, agent_dir: Option<&Path>) -> Result<Ready, String> {
    let workspace = PathBuf::from(&order.workspace);
    let before = Fingerprint::take(&workspace).map_err(|error| error.to_string())?;
    let sealed = seal(&workspace, &order.sandbox, agent_dir);
    let (seal, rung) = match sealed {
        Ok(seal) => (Some(seal), Rung::Overlay),
        Err(why) if order.sandbox.mode == "require" => {
            return Err(format!("a seal is required (sandbox: require), and there is none: {why}"));
        }
        Err(_) => (None, Rung::Fingerprint),
    };
    Ok(Ready { held: Held { workspace, before: Arc::new(before), seal }, rung })
}

fn inspect(workspace: &Path, before: &Fingerprint) -> Result<Inspection, String> {
    let after = Fingerprint::take(workspace).map_err(|error| error.to_string())?;
    let changes = before.compare(&after);
    let (changed, forgiven) = sort(changes);
    Ok(Inspection { after: after.digest(), changed, forgiven })
}

/// Added by-products of tests and builds are forgiven where nothing is sealed.
fn sort(changes: Changes) -> (Vec<String>, Vec<String>) {
    let (forgiven, added): (Vec<String>, Vec<String>) =
        changes.added.into_iter().partition(|path| goal_sandbox::is_by_product(path));
    let changed = added.into_iter().chain(changes.changed).chain(changes.removed);
    (changed.take(PATHS_MAX).collect(), forgiven.into_iter().take(PATHS_MAX).collect())
}

/// Starts a seal and waits until it stands.
fn seal(workspace: &Path, settings: &SandboxGate, agent_dir: Option<&Path>) -> Result<Seal, String> {
    let folder = tempfile::Builder::new().prefix("goal-auditor-").tempdir().map_err(in_words)?;
    let socket = folder.path().join("seal");
    let mut command = Command::new(std::env::current_exe().map_err(in_words)?);
    command.arg("audit-seal").arg("--workspace").arg(workspace).arg("--socket").arg(&socket);
    if let Some(agent_dir) = agent_dir {
        command.arg("--agent-dir").arg(agent_dir);
    }
    command.args(["--net", &settings.network]);
    for path in &settings.hide {
        command.arg("--hide").arg(path);
    }
    if let Some(mb) = settings.scratch_mb {
        command.arg("--scratch-mb").arg(mb.to_string());
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(in_words)?;
    let mut seal = Seal { child, socket, _folder: folder };
    seal.wait_until_ready()?;
    Ok(seal)
}

impl Seal {
    fn wait_until_ready(&mut self) -> Result<(), String> {
        let mut line = String::new();
        if let Some(stdout) = self.child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line).map_err(in_words)?;
        }
        if line.trim() == "ready" {
            return Ok(());
        }
        let mut why = String::new();
        if let Some(stderr) = self.child.stderr.take() {
            let _ = BufReader::new(stderr).read_line(&mut why);
        }
        Err(why.trim().to_owned())
    }
}

impl Drop for Seal {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn in_words(error: io::Error) -> String {
    error.to_string()
}
