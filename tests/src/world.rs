//! The throw-away surroundings of a test's pi processes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use goal_sim::ModelServer;
use tempfile::TempDir;

use crate::options::Binary;
use crate::{Loading, PiOptions, Session, install, process};

/// The variable by which a process of a world is found again, whatever its parent is by then.
pub(crate) const WORLD_VARIABLE: &str = "GOAL_TEST_WORLD";

/// A home, an agent folder, a workspace and a model server, all gone when it is dropped.
pub struct World {
    /// The models.
    pub server: ModelServer,
    folder: Option<TempDir>,
    home: PathBuf,
    workspace: PathBuf,
    /// Where the cores of this world write down what they are told and answer.
    traces: PathBuf,
    id: String,
    env: Vec<(OsString, OsString)>,
    flags: Vec<OsString>,
}

impl World {
    /// Builds the surroundings; starts the model server, but no pi.
    pub fn new(mut options: PiOptions) -> Self {
        let script = std::mem::take(&mut options.script);
        let ids: Vec<_> = script.model_ids().map(str::to_owned).collect();
        for id in ids {
            options
                .windows
                .entry(id)
                .or_insert(crate::options::CONTEXT_WINDOW);
        }
        let server = ModelServer::start(script).expect("a port of the loopback address is free");
        let folder = tempfile::Builder::new()
            .prefix("goal-test-")
            .tempdir()
            .expect("a temp dir");
        // The real path: pi names sessions by it, and macOS reaches its temp dir through a link.
        let base = folder.path().canonicalize().expect("the temp dir exists");
        let mut world = Self {
            server,
            home: base.join("home"),
            workspace: base.join("work"),
            traces: base.join("traces"),
            id: fresh_id(),
            env: Vec::new(),
            flags: Vec::new(),
            folder: Some(folder),
        };
        world.write_files(&options);
        world.env = world.environment(&options);
        world.flags = world.command_line(&options);
        world
    }

    /// Leaves the folders in place when the world ends, for a person to look at.
    pub fn keep(&mut self) {
        if let Some(folder) = self.folder.take() {
            let _ = folder.keep();
        }
    }

    /// The workspace, pi's working directory.
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// The home folder.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// pi's agent folder.
    pub fn agent_dir(&self) -> PathBuf {
        self.home.join(".pi/agent")
    }

    /// The text of a file of the workspace, or `None` if there is none.
    pub fn file(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.workspace.join(path)).ok()
    }

    /// The texts of all files of the workspace, by relative path.
    pub fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.workspace.clone()];
        while let Some(folder) = folders.pop() {
            for path in read_dir(&folder) {
                if path.is_dir() {
                    folders.push(path);
                } else if let Ok(text) = fs::read_to_string(&path) {
                    let name = path.strip_prefix(&self.workspace).unwrap_or(&path);
                    files.insert(name.display().to_string(), text);
                }
            }
        }
        files
    }

    /// The session files, oldest change first.
    pub fn session_files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for folder in read_dir(&self.agent_dir().join("sessions")) {
            files.extend(
                read_dir(&folder)
                    .into_iter()
                    .filter(|f| has_extension(f, "jsonl")),
            );
        }
        files.sort_by_key(|file| {
            (
                fs::metadata(file).and_then(|m| m.modified()).ok(),
                file.clone(),
            )
        });
        files
    }

    /// The session file that was changed last, read.
    pub fn session(&self) -> Session {
        self.session_files()
            .last()
            .map(|file| Session::read(file))
            .unwrap_or_default()
    }

    /// Writes a file of the workspace, for what waits for it there.
    pub fn put(&self, path: &str, text: &str) {
        fs::write(self.workspace.join(path), text).unwrap();
    }

    /// Waits for pi's `nth` request (from 1) for a summary.
    pub fn wait_compaction(&self, nth: usize) {
        let there = || (self.server.compactions().len() >= nth).then_some(());
        let seen = crate::poll(crate::patience(), there);
        assert!(seen.is_some(), "pi does not ask for summary {nth}");
    }

    /// The traces of the cores that ran in this world, in any order.
    pub fn traces(&self) -> Vec<PathBuf> {
        read_dir(&self.traces)
    }

    /// The processes that were started in this world and still live, pi included, but not the
    /// terminal around it.
    pub fn processes(&self) -> Vec<process::Process> {
        let mut all = process::of_world(&self.id);
        all.retain(|process| !process.command.starts_with("tmux "));
        all
    }

    /// Fails unless every process of this world ends within a short while.
    pub fn assert_no_process_left(&self) {
        process::require_listing();
        let gone = crate::poll(crate::patience(), || {
            self.processes().is_empty().then_some(())
        });
        assert!(
            gone.is_some(),
            "processes are left: {:#?}",
            self.processes()
        );
    }

    /// A command that runs pi in this world with `arguments` after the common flags.
    pub(crate) fn command<S: AsRef<str>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(install::pi_node());
        command.arg(install::pi_cli());
        command.args(&self.flags);
        command.args(arguments.iter().map(AsRef::as_ref));
        self.surround(&mut command);
        command
    }

    /// Gives any command the environment and working directory of this world.
    pub(crate) fn surround(&self, command: &mut Command) {
        command
            .env_clear()
            .envs(self.env.iter().cloned())
            .current_dir(&self.workspace);
    }

    /// Replays what the cores of this world did; says which of them would do something else now.
    fn replays(&self) -> Vec<String> {
        let replay = |trace: PathBuf| {
            let mut replay = Command::new(install::binary());
            replay.arg("replay").arg(&trace).env_clear();
            let output = replay.output().expect("the binary");
            let told = [output.stdout, output.stderr].concat();
            let told = String::from_utf8_lossy(&told).into_owned();
            (!output.status.success()).then(|| format!("{}\n{told}", trace.display()))
        };
        self.traces().into_iter().filter_map(replay).collect()
    }

    pub(crate) fn temp(&self) -> PathBuf {
        self.home.join("tmp")
    }

    fn write_files(&self, options: &PiOptions) {
        let agent = self.agent_dir();
        for folder in [
            &agent,
            &self.workspace,
            &self.temp(),
            &self.home.join("extensions"),
        ] {
            fs::create_dir_all(folder).unwrap();
        }
        self.share_compiled_extensions();
        let models = options.models_json(&self.server.base_url());
        fs::write(agent.join("models.json"), models.to_string()).unwrap();
        fs::write(agent.join("settings.json"), options.settings.to_string()).unwrap();
        if let Some(config) = &options.config {
            fs::write(agent.join("goal-auditor.json"), config).unwrap();
        }
        for (path, text) in &options.files {
            let path = self.workspace.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        for (name, source) in &options.extensions {
            fs::write(self.extension_file(name), source).unwrap();
        }
        if options.loading == Loading::Installed {
            install::install_into(&agent);
        }
    }

    /// pi compiles extensions into its temp folder. One place for all worlds spares every test but
    /// the first the half second; a compiled file carries the hash of its source.
    #[cfg(unix)]
    fn share_compiled_extensions(&self) {
        let shared = install::profile_folder().join("compiled-extensions");
        fs::create_dir_all(&shared).unwrap();
        std::os::unix::fs::symlink(shared, self.temp().join("jiti")).unwrap();
    }

    #[cfg(not(unix))]
    fn share_compiled_extensions(&self) {}

    fn extension_file(&self, name: &str) -> PathBuf {
        self.home.join("extensions").join(format!("{name}.ts"))
    }

    fn environment(&self, options: &PiOptions) -> Vec<(OsString, OsString)> {
        let mut env: Vec<(OsString, OsString)> = Vec::new();
        let mut set = |name: &str, value: OsString| env.push((name.into(), value));
        set("PATH", std::env::var_os("PATH").unwrap_or_default());
        set("HOME", self.home.clone().into());
        set("TMPDIR", self.temp().into());
        set("LANG", "C.UTF-8".into());
        set("TERM", "xterm-256color".into());
        set("PI_CODING_AGENT_DIR", self.agent_dir().into());
        set("PI_OFFLINE", "1".into());
        set("PI_SKIP_VERSION_CHECK", "1".into());
        set("PI_TELEMETRY", "0".into());
        // pi compiles its bundle once per cache; one for all tests halves the time to start.
        set(
            "NODE_COMPILE_CACHE",
            install::profile_folder().join("node-cache").into(),
        );
        set(WORLD_VARIABLE, self.id.clone().into());
        // What a test sets itself comes later and counts.
        set("PI_GOAL_TRACE", self.traces.clone().into());
        if options.loading == Loading::Flag {
            set("GOAL_AUDITOR_BIN", self.binary(&options.binary));
        }
        env.extend(
            options
                .env
                .iter()
                .map(|(name, value)| (name.into(), value.into())),
        );
        env
    }

    fn binary(&self, binary: &Binary) -> OsString {
        match binary {
            Binary::Built => install::binary().into(),
            Binary::Named(name) => name.into(),
            Binary::Written(text, mode) => {
                let file = self.home.join("goal-auditor");
                write_program(&file, text, *mode);
                file.into()
            }
        }
    }

    fn command_line(&self, options: &PiOptions) -> Vec<OsString> {
        let mut flags: Vec<OsString> = Vec::new();
        for (name, _) in &options.extensions {
            flags.extend(["-e".into(), self.extension_file(name).into()]);
        }
        if options.loading == Loading::Flag {
            flags.extend(["-e".into(), install::extension().into()]);
        }
        flags.extend(options.flags.iter().map(Into::into));
        flags
    }
}

impl Drop for World {
    fn drop(&mut self) {
        process::kill_world(&self.id);
        let differences = self.replays();
        if std::env::var_os("GOAL_TEST_KEEP").is_some()
            && let Some(folder) = self.folder.take()
        {
            eprintln!("kept: {}", folder.keep().display());
        }
        // A test that fails for another reason keeps it.
        if !differences.is_empty() && !std::thread::panicking() {
            panic!(
                "other effects come of the same events:\n{}",
                differences.join("\n")
            );
        }
    }
}

/// Writes a file with a mode, and the folders above it.
pub fn write_program(file: &Path, text: &str, mode: u32) {
    fs::create_dir_all(file.parent().expect("a file is in a folder")).unwrap();
    fs::write(file, text).unwrap();
    #[cfg(unix)]
    fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
}

fn fresh_id() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!(
        "{}-{}",
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    )
}

fn read_dir(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect()
}

fn has_extension(file: &Path, extension: &str) -> bool {
    file.extension().is_some_and(|found| found == extension)
}
