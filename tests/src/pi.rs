//! pi in RPC mode.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use goal_sim::{ModelServer, Request};
use serde_json::{Value, json};

use crate::process::{self, Process, Signal};
use crate::ui::{self, Dialogs, Notice};
use crate::{Log, Mark, PiOptions, Session, World, patience, poll, report};

/// How long nothing may happen before pi counts as quiet: longer than anything pi does between two
/// runs of its own accord, shorter than the shortest back-off.
pub const QUIET: Duration = Duration::from_millis(300);

/// One pi process in RPC mode, ended when dropped.
pub struct Pi {
    world: Arc<World>,
    child: Child,
    link: Arc<Link>,
    next_id: AtomicU32,
}

/// What the reader threads share with the owner.
struct Link {
    log: Log,
    stdin: Mutex<Option<ChildStdin>>,
    dialogs: Mutex<Dialogs>,
    stderr: Mutex<String>,
}

impl Pi {
    /// Builds a world and starts pi in it.
    pub fn start(options: PiOptions) -> Self {
        Self::start_in(Arc::new(World::new(options)), &[])
    }

    /// Starts pi in a world that exists, with more flags.
    pub fn start_in(world: Arc<World>, flags: &[&str]) -> Self {
        let mut command = world.command(&[&["--mode", "rpc"], flags].concat());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().expect("the pinned Node starts");
        let link = Arc::new(Link {
            log: Log::default(),
            stdin: Mutex::new(child.stdin.take()),
            dialogs: Mutex::new(Dialogs::Yes),
            stderr: Mutex::default(),
        });
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        spawn_reader("pi-stdout", &link, move |link| read_records(stdout, link));
        spawn_reader("pi-stderr", &link, move |link| read_text(stderr, link));
        let pi = Self {
            world,
            child,
            link,
            next_id: AtomicU32::new(1),
        };
        // The first answer says that the session has started and commands are taken.
        pi.state();
        pi
    }

    /// Ends this process (hard, if it still runs) and starts another in the same world.
    pub fn restart(mut self, flags: &[&str]) -> Self {
        self.kill();
        Self::start_in(Arc::clone(&self.world), flags)
    }

    /// The surroundings.
    pub fn world(&self) -> &Arc<World> {
        &self.world
    }

    /// The models.
    pub fn server(&self) -> &ModelServer {
        &self.world.server
    }

    /// All records pi wrote.
    pub fn log(&self) -> &Log {
        &self.link.log
    }

    /// The end of the log as it is now.
    pub fn mark(&self) -> Mark {
        self.link.log.mark()
    }

    /// The position before all that pi ever wrote.
    pub fn mark_of_the_start(&self) -> Mark {
        Mark::default()
    }

    /// What pi wrote to stderr.
    pub fn stderr(&self) -> String {
        self.link
            .stderr
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    // --- commands ---

    /// Writes one record and waits for nothing.
    pub fn send(&self, record: &Value) {
        self.link.write(record);
    }

    /// Sends a command and returns the whole response, also a refusal.
    pub fn request(&self, mut command: Value) -> Value {
        let id = format!("test-{}", self.next_id.fetch_add(1, Ordering::Relaxed));
        command["id"] = id.as_str().into();
        let mark = self.mark();
        self.send(&command);
        let what = format!("the response to {}", command["type"]);
        self.wait_for(mark, &what, |r| {
            r["type"] == "response" && r["id"] == id.as_str()
        })
    }

    /// Sends a command that must succeed and returns its data.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers write `json!({…})` in place"
    )]
    pub fn command(&self, command: Value) -> Value {
        let mut response = self.request(command.clone());
        if response["success"] != true {
            self.fail(&format!("{command} was refused: {response}"));
        }
        response["data"].take()
    }

    /// Sends a prompt or a slash command; returns the mark from which to wait for its effects.
    pub fn prompt(&self, text: &str) -> Mark {
        let mark = self.mark();
        self.command(json!({ "type": "prompt", "message": text }));
        mark
    }

    /// Queues a message during a run: `steer` or `followUp`.
    pub fn queue(&self, text: &str, behavior: &str) -> Mark {
        let mark = self.mark();
        self.command(json!({ "type": "prompt", "message": text, "streamingBehavior": behavior }));
        mark
    }

    /// Aborts what is going on and waits until pi is idle.
    pub fn abort(&self) -> Mark {
        let mark = self.mark();
        self.command(json!({ "type": "abort" }));
        mark
    }

    /// Starts a fresh session.
    pub fn new_session(&self) -> Mark {
        let mark = self.mark();
        self.command(json!({ "type": "new_session" }));
        mark
    }

    /// Opens another session file.
    pub fn switch_session(&self, path: &std::path::Path) -> Mark {
        let mark = self.mark();
        self.command(json!({ "type": "switch_session", "sessionPath": path }));
        mark
    }

    /// Forks before the user message with that entry id.
    pub fn fork(&self, entry: &str) -> Value {
        self.command(json!({ "type": "fork", "entryId": entry }))
    }

    /// Compacts by hand; returns the whole response, because it may well be refused.
    pub fn compact(&self) -> Value {
        self.request(json!({ "type": "compact" }))
    }

    /// pi's state.
    pub fn state(&self) -> Value {
        self.command(json!({ "type": "get_state" }))
    }

    // --- waiting ---

    /// Waits for the first record since `mark` for which `wanted` holds.
    pub fn wait_for(&self, mark: Mark, what: &str, wanted: impl FnMut(&Value) -> bool) -> Value {
        match self.link.log.wait(mark, patience(), wanted) {
            Ok(record) => record,
            Err(why) => self.fail(&format!("waited for {what}, but {why}")),
        }
    }

    /// Waits for the first event of that type since `mark`.
    pub fn wait_event(&self, mark: Mark, kind: &str) -> Value {
        self.wait_for(mark, kind, |record| record["type"] == kind)
    }

    /// Waits for the next `agent_settled` since `mark`.
    pub fn wait_settled(&self, mark: Mark) -> Value {
        self.wait_event(mark, "agent_settled")
    }

    /// Waits until pi has settled since `mark` and then nothing has happened for [`QUIET`]. A goal's
    /// loop may settle many times on its way.
    pub fn settled_quiet(&self, mark: Mark) {
        self.wait_settled(mark);
        self.quiet(QUIET);
    }

    /// Waits until no run is going, no model is being asked, and nothing has been written for
    /// `span`.
    pub fn quiet(&self, span: Duration) {
        let open = || {
            let exchanges = self.server().exchanges();
            exchanges
                .iter()
                .any(|exchange| exchange.fate == goal_sim::Fate::Open)
        };
        let log = &self.link.log;
        let is_quiet = || log.silence() >= span && !log.is_running() && !open();
        if poll(patience() + span, || is_quiet().then_some(())).is_none() {
            self.fail("waited for quiet, but something is still going on");
        }
    }

    /// Waits until nothing has been written for `span`, whatever is still open.
    pub fn silent(&self, span: Duration) {
        let is_silent = || (self.link.log.silence() >= span).then_some(());
        if poll(patience() + span, is_silent).is_none() {
            self.fail("waited for silence, but pi goes on writing");
        }
    }

    /// Waits for the `nth` request (from 1) of a model.
    pub fn wait_request(&self, model: &str, nth: usize) -> Arc<Request> {
        match self.server().wait_for_request(model, nth, patience()) {
            Ok(request) => request,
            Err(error) => self.fail(&error.to_string()),
        }
    }

    /// Waits for a notification since `mark` whose text contains `needle`.
    pub fn wait_notice(&self, mark: Mark, needle: &str) -> Notice {
        let is_it = |r: &Value| ui::notice(r).is_some_and(|notice| notice.text.contains(needle));
        let record = self.wait_for(mark, &format!("a notice with `{needle}`"), is_it);
        ui::notice(&record).unwrap()
    }

    /// Waits for a dialog of that kind since `mark`; for tests that answer by themselves.
    pub fn wait_dialog(&self, mark: Mark, method: &str) -> Value {
        let what = format!("a {method} dialog");
        self.wait_for(mark, &what, |r| ui::is_request(r, method))
    }

    /// Waits until a condition holds that announces itself by no event.
    pub fn wait_until(&self, what: &str, holds: impl Fn() -> bool) {
        if poll(patience(), || holds().then_some(())).is_none() {
            self.fail(&format!("waited for {what}"));
        }
    }

    // --- what is shown ---

    /// How dialogs are answered from now on; the default is [`Dialogs::Yes`].
    pub fn answer_dialogs(&self, dialogs: Dialogs) {
        *self
            .link
            .dialogs
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = dialogs;
    }

    /// All notifications so far.
    pub fn notices(&self) -> Vec<Notice> {
        self.notices_since(Mark::default())
    }

    /// The notifications since `mark`.
    pub fn notices_since(&self, mark: Mark) -> Vec<Notice> {
        self.link
            .log
            .since(mark)
            .iter()
            .filter_map(ui::notice)
            .collect()
    }

    /// The dialogs since `mark`.
    pub fn dialogs_since(&self, mark: Mark) -> Vec<Value> {
        let mut records = self.link.log.since(mark);
        records.retain(|r| {
            ["confirm", "select", "input", "editor"]
                .iter()
                .any(|m| ui::is_request(r, m))
        });
        records
    }

    /// The status text with that key, as last set.
    pub fn status(&self, key: &str) -> Option<String> {
        let last = self.last_request("setStatus", "statusKey", key)?;
        last["statusText"].as_str().map(str::to_owned)
    }

    /// The lines of the widget with that key, as last set.
    pub fn widget(&self, key: &str) -> Option<Vec<String>> {
        let last = self.last_request("setWidget", "widgetKey", key)?;
        let lines = last["widgetLines"].as_array()?;
        Some(
            lines
                .iter()
                .map(|line| line.as_str().unwrap_or_default().to_owned())
                .collect(),
        )
    }

    /// What was last put into the editor.
    pub fn editor_text(&self) -> Option<String> {
        let records = self.link.log.all();
        let last = records
            .iter()
            .rev()
            .find(|r| ui::is_request(r, "set_editor_text"))?;
        last["text"].as_str().map(str::to_owned)
    }

    fn last_request(&self, method: &str, key_name: &str, key: &str) -> Option<Value> {
        let is_it = |r: &&Value| ui::is_request(r, method) && r[key_name] == key;
        self.link.log.all().iter().rev().find(is_it).cloned()
    }

    // --- the session ---

    /// The current session file, read; of a pi that has ended, the one that was changed last.
    pub fn session(&self) -> Session {
        if self.link.log.ended() {
            return self.world.session();
        }
        let state = self.state();
        state["sessionFile"]
            .as_str()
            .map(|p| Session::read(p.as_ref()))
            .unwrap_or_default()
    }

    /// The session as pi has it in memory; pi writes the file only with the first message.
    pub fn session_in_memory(&self) -> Session {
        let entries = self.command(json!({ "type": "get_entries" }));
        Session {
            entries: entries["entries"].as_array().cloned().unwrap_or_default(),
            ..Session::default()
        }
    }

    // --- the process ---

    /// The sidecars of this pi; there should be exactly one.
    pub fn sidecars(&self) -> Vec<Process> {
        process::require_listing();
        let mut all = process::all();
        all.retain(|process| process.parent == self.pid() && process.is_sidecar());
        all
    }

    /// The id of the one sidecar; waits until it is there.
    pub fn sidecar(&self) -> u32 {
        let one = || self.sidecars().first().map(|process| process.pid);
        let pid = poll(patience(), one).unwrap_or_else(|| self.fail("there is no sidecar"));
        if self.sidecars().len() > 1 {
            self.fail(&format!("more than one sidecar: {:?}", self.sidecars()));
        }
        pid
    }

    /// Ends pi with SIGKILL and waits for its end.
    pub fn kill(&mut self) {
        // An error means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks pi to end with SIGTERM; returns how it ended.
    pub fn terminate(&mut self) -> ExitStatus {
        process::signal(self.pid(), Signal::TERM);
        self.wait_exit()
    }

    /// Closes pi's stdin, the orderly end; returns how it ended.
    pub fn close(&mut self) -> ExitStatus {
        self.link
            .stdin
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        self.wait_exit()
    }

    fn wait_exit(&mut self) -> ExitStatus {
        let child = &mut self.child;
        let status = poll(patience(), || child.try_wait().expect("pi is our child"));
        status.unwrap_or_else(|| self.fail("pi does not end"))
    }

    /// Fails the test; the report is printed when this pi is dropped.
    pub fn fail(&self, why: &str) -> ! {
        panic!("{why}");
    }
}

impl Drop for Pi {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "{}",
                report::of(&self.world, &self.link.log.all(), &self.stderr())
            );
        }
        self.kill();
    }
}

impl Link {
    fn write(&self, record: &Value) {
        let mut stdin = self.stdin.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stdin) = stdin.as_mut() {
            // A broken pipe means that pi has ended, which whoever waits for an answer will see.
            let _ = stdin
                .write_all(format!("{record}\n").as_bytes())
                .and_then(|()| stdin.flush());
        }
    }
}

fn spawn_reader(name: &str, link: &Arc<Link>, read: impl FnOnce(&Link) + Send + 'static) {
    let link = Arc::clone(link);
    let thread = std::thread::Builder::new().name(name.to_owned());
    thread.spawn(move || read(&link)).expect("a thread starts");
}

/// Records end at LF and nowhere else: U+2028 may stand inside a string.
fn read_records(stdout: impl Read, link: &Link) {
    let mut stdout = BufReader::new(stdout);
    let mut line = Vec::new();
    while stdout
        .read_until(b'\n', &mut line)
        .is_ok_and(|length| length > 0)
    {
        let record = serde_json::from_slice(&line).unwrap_or_else(
            |_| json!({ "type": "not_json", "text": String::from_utf8_lossy(&line) }),
        );
        line.clear();
        let dialogs = *link.dialogs.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = dialogs.answer(&record);
        link.log.push(record);
        if let Some(answer) = answer {
            link.write(&answer);
        }
    }
    link.log.end();
}

fn read_text(stderr: impl Read, link: &Link) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    while stderr
        .read_until(b'\n', &mut line)
        .is_ok_and(|length| length > 0)
    {
        let text = String::from_utf8_lossy(&line).into_owned();
        link.stderr
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_str(&text);
        line.clear();
    }
}
