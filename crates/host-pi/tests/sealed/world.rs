//! A small world to attack: a workspace, a home, a folder that is neither, a process and servers.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write as _;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// What only an attempt that got through can say.
pub(crate) const REACHED: &str = "REACHED";
/// A user without a name or any right.
const NOBODY_IN_PARTICULAR: u32 = 54_321;
const PATIENCE: Duration = Duration::from_secs(20);

/// Who attacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    Root,
    Unprivileged { uid: u32, switch: bool },
}

impl User {
    /// Root and a user without rights if this is root, else only this user.
    pub(crate) fn all() -> Vec<Self> {
        let uid = fs::metadata("/proc/self").unwrap().uid();
        if uid == 0 {
            let other = Self::Unprivileged {
                uid: NOBODY_IN_PARTICULAR,
                switch: true,
            };
            vec![Self::Root, other]
        } else {
            vec![Self::Unprivileged { uid, switch: false }]
        }
    }

    pub(crate) fn is_root(self) -> bool {
        self == Self::Root
    }

    /// A command that this user runs.
    pub(crate) fn command(self, program: &Path) -> Command {
        match self {
            Self::Unprivileged { uid, switch: true } => {
                let mut command = Command::new("setpriv");
                command
                    .arg(format!("--reuid={uid}"))
                    .arg(format!("--regid={uid}"))
                    .args(["--clear-groups", "--"])
                    .arg(program);
                command
            }
            Self::Root | Self::Unprivileged { .. } => Command::new(program),
        }
    }

    /// Gives a folder and all in it to this user.
    pub(crate) fn own(self, path: &Path) {
        if let Self::Unprivileged { uid, switch: true } = self {
            let given = Command::new("chown")
                .args(["-hR", &format!("{uid}:{uid}")])
                .arg(path)
                .status();
            assert!(given.unwrap().success());
        }
    }
}

/// Where worlds are: not below a folder that is private in a seal, so that what a seal shows
/// read-only is attacked, too.
fn base() -> &'static Path {
    static BASE: OnceLock<PathBuf> = OnceLock::new();
    BASE.get_or_init(|| {
        let root = fs::metadata("/proc/self").unwrap().uid() == 0;
        PathBuf::from(if root {
            "/var/lib"
        } else {
            env!("CARGO_TARGET_TMPDIR")
        })
    })
}

fn temp_dir() -> TempDir {
    let folder = tempfile::Builder::new()
        .prefix("goal-hostile-")
        .tempdir_in(base())
        .unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// The program, in a folder where every user may run it.
pub(crate) fn link_program(folder: &Path) -> PathBuf {
    let built = env!("CARGO_BIN_EXE_goal-auditor");
    let path = folder.join("goal-auditor");
    if fs::hard_link(built, &path).is_err() {
        fs::copy(built, &path).unwrap();
    }
    path
}

/// Whether seals can be made; if not, asserts that then nothing runs, and says why.
pub(crate) fn seals_work(user: User) -> bool {
    let folder = temp_dir();
    user.own(folder.path());
    let mark = folder.path().join("ran");
    let output = user
        .command(&link_program(folder.path()))
        .arg("audit-exec")
        .arg("--workspace")
        .arg(folder.path())
        .args(["--", "touch"])
        .arg(&mark)
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(!mark.exists());
    if output.status.success() {
        return true;
    }
    let why = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{why}");
    assert!(
        why.starts_with("goal-auditor: no seal: ") && why.lines().count() == 1,
        "{why}"
    );
    eprintln!("SEALS DO NOT WORK HERE for {user:?}; the fallback was tested instead: {why}");
    false
}

/// See the head of the file. Dropping it ends all its processes.
pub(crate) struct World {
    pub(crate) user: User,
    folder: TempDir,
    _programs: TempDir,
    program: PathBuf,
    victim: Child,
    tcp: TcpListener,
    unix: Vec<UnixListener>,
    pub(crate) mark: String,
}

/// How a script is run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Run<'a> {
    /// Options of `audit-exec`; not sealed at all if absent.
    pub(crate) seal: Option<&'a [&'a str]>,
}

impl World {
    pub(crate) fn new(user: User) -> Self {
        let (folder, programs) = (temp_dir(), temp_dir());
        let path = folder.path();
        fill(path);
        user.own(path);
        let program = link_program(programs.path());
        let victim = user
            .command(Path::new("sleep"))
            .arg("600")
            .env("VICTIM_VALUE", REACHED)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        // Until it is the user's own, nobody could harm it.
        let command_line = format!("/proc/{}/cmdline", victim.id());
        let is_sleeping = || fs::read(&command_line).is_ok_and(|line| line.starts_with(b"sleep"));
        assert!(eventually(is_sleeping));
        // Not the folder's name: that is on the command line of seals, too.
        let name = path.file_name().unwrap().to_string_lossy();
        let mark = name.replace("goal-hostile-", "mark-of-");
        let places = ["work/socket", "home/socket"].map(|name| path.join(name));
        let outside = Path::new("/tmp").join(format!("{mark}-socket"));
        let abstract_name = SocketAddr::from_abstract_name(mark.as_bytes()).unwrap();
        let mut unix: Vec<_> = places
            .iter()
            .chain([&outside])
            .map(|place| {
                let listener = UnixListener::bind(place).unwrap();
                fs::set_permissions(place, fs::Permissions::from_mode(0o777)).unwrap();
                listener
            })
            .collect();
        unix.push(UnixListener::bind_addr(&abstract_name).unwrap());
        for listener in &unix {
            listener.set_nonblocking(true).unwrap();
        }
        let tcp = TcpListener::bind("0.0.0.0:0").unwrap();
        tcp.set_nonblocking(true).unwrap();
        Self {
            user,
            folder,
            _programs: programs,
            program,
            victim,
            tcp,
            unix,
            mark,
        }
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a script, with two descriptors open that lead outside: 8 (a file) and 9 (a folder), and a
    /// file as its standard input.
    pub(crate) fn run(&self, script: &str, run: &Run<'_>) -> Output {
        let opened = "exec 8<>\"$OUT/file\" 9<\"$OUT\"; exec \"$@\"";
        let mut command = self.user.command(Path::new("timeout"));
        command.args(["-k", "1", "60", "/bin/sh", "-c", opened, "sh"]);
        if let Some(options) = run.seal {
            command
                .arg(self.program())
                .arg("audit-exec")
                .arg("--workspace");
            command.arg(self.path("work")).args(options).arg("--");
        }
        command.args(["/bin/bash", "-c", script]);
        self.surround(&mut command);
        command.stdin(File::open(self.path("out/file")).unwrap());
        command.output().unwrap()
    }

    /// Working folder and environment of a command.
    pub(crate) fn surround(&self, command: &mut Command) {
        let set = [
            ("HOME", self.path("home").into_os_string()),
            ("WS", self.path("work").into_os_string()),
            ("OUT", self.path("out").into_os_string()),
            ("AGENT", self.path("home/.pi/agent").into_os_string()),
            ("PI_CODING_AGENT_DIR", self.path("home/.pi/agent").into()),
            ("MARK", OsString::from(&self.mark)),
            ("VICTIM", self.victim.id().to_string().into()),
            (
                "PORT",
                self.tcp.local_addr().unwrap().port().to_string().into(),
            ),
            ("HOSTIP", host_address().into()),
            ("MY_API_KEY", REACHED.into()),
            ("CACHE_URL", format!("redis://:{REACHED}@localhost").into()),
        ];
        command
            .current_dir(self.path("work"))
            .env_remove("GIT_DIR")
            .envs(set);
    }

    /// Everything that must be as it was: all files of this world, and what of the machine the
    /// attempts aim at.
    pub(crate) fn state(&self) -> BTreeMap<PathBuf, String> {
        let mut state = BTreeMap::new();
        describe(self.folder.path(), &mut state);
        for place in ["/tmp", "/var/tmp", "/dev/shm", "/etc/cron.d", "/run"] {
            let path = Path::new(place).join(&self.mark);
            state.insert(path.clone(), format!("exists: {}", path.exists()));
        }
        for file in [
            "/proc/sys/kernel/hostname",
            "/proc/sys/kernel/core_pattern",
            "/proc/sys/kernel/pid_max",
            "/proc/sys/user/max_user_namespaces",
            "/proc/self/mountinfo",
            "/proc/self/oom_score_adj",
        ] {
            state.insert(file.into(), fs::read_to_string(file).unwrap_or_default());
        }
        state
    }

    pub(crate) fn victim_lives(&mut self) -> bool {
        self.victim.try_wait().unwrap().is_none()
    }

    /// Whether anybody called one of the servers outside.
    pub(crate) fn was_called(&self) -> bool {
        self.tcp.accept().is_ok() || self.unix.iter().any(|one| one.accept().is_ok())
    }

    /// Processes that carry the mark in their command line.
    pub(crate) fn marked_processes(&self) -> Vec<u32> {
        processes_with(&self.mark)
    }

    /// Waits until no marked process is left.
    pub(crate) fn no_marked_process(&self) -> bool {
        eventually(|| self.marked_processes().is_empty())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        for pid in self.marked_processes() {
            let _ = Command::new("kill").args(["-9", &pid.to_string()]).output();
        }
        for place in ["/tmp", "/var/tmp", "/dev/shm", "/etc/cron.d"] {
            let _ = fs::remove_file(Path::new(place).join(&self.mark));
        }
        let _ = fs::remove_file(Path::new("/tmp").join(format!("{}-socket", self.mark)));
    }
}

pub(crate) fn processes_with(text: &str) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        // A kernel that is slow to bury a process shows it without a command line.
        String::from_utf8_lossy(&line).contains(text) && *pid != std::process::id()
    })
    .collect()
}

/// Asks again until it is so, for as long as a slow machine may need.
pub(crate) fn eventually(mut is_so: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if is_so() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    is_so()
}

/// This machine's own address as others would call it.
fn host_address() -> String {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    // Sends nothing: the system only chooses a way.
    match socket.connect("192.0.2.1:9") {
        Ok(()) => socket.local_addr().unwrap().ip().to_string(),
        Err(_) => "127.0.0.1".to_owned(),
    }
}

fn fill(path: &Path) {
    for (name, text) in [
        ("work/tracked.txt", "tracked\n"),
        ("work/src/main.c", "int main(void) { return 0; }\n"),
        ("work/.env", REACHED),
        ("home/.bashrc", "# mine\n"),
        ("home/.ssh/id_rsa", REACHED),
        ("home/.aws/credentials", REACHED),
        ("home/.npmrc", REACHED),
        (
            "home/.gitconfig",
            "[user]\n\tname = me\n\temail = me@example.org\n",
        ),
        ("home/.pi/agent/auth.json", REACHED),
        ("home/.pi/agent/settings.json", "{}"),
        ("home/.pi/agent/sessions/one.jsonl", "{}\n"),
        ("out/file", "outside\n"),
    ] {
        let file = path.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        File::create(file)
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
    }
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .args(["-c", "safe.directory=*"])
            .args(arguments)
            .current_dir(path.join("work"))
            .env("HOME", path.join("home"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "tracked.txt", "src"]);
    git(&["commit", "-qm", "first"]);
    fs::write(path.join("work/tracked.txt"), "tracked and edited\n").unwrap();
}

/// One line about everything below a folder, times included.
fn describe(path: &Path, into: &mut BTreeMap<PathBuf, String>) {
    let Ok(data) = fs::symlink_metadata(path) else {
        return;
    };
    let kind = data.file_type();
    let content = if kind.is_file() {
        format!(
            "{:?}",
            String::from_utf8_lossy(&fs::read(path).unwrap_or_default())
        )
    } else if kind.is_symlink() {
        format!("{:?}", fs::read_link(path).ok())
    } else {
        String::new()
    };
    let line = format!(
        "mode {:o} owner {}:{} links {} changed {}.{} modified {}.{} {content}",
        data.mode(),
        data.uid(),
        data.gid(),
        data.nlink(),
        data.ctime(),
        data.ctime_nsec(),
        data.mtime(),
        data.mtime_nsec(),
    );
    into.insert(path.to_owned(), line);
    if kind.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            describe(&entry.path(), into);
        }
    }
}
