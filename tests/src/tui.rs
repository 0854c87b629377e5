//! pi in a real terminal: a detached tmux session with a server of its own.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use crate::{PiOptions, World, patience, poll, process, report};

/// One pi in a terminal, ended when dropped.
pub struct Tui {
    world: Arc<World>,
}

impl Tui {
    /// Builds a world and starts pi in a terminal of 120 by 40.
    pub fn start(options: PiOptions) -> Self {
        Self::start_in(Arc::new(World::new(options)), 120, 40, &[])
    }

    /// Starts pi in a world that exists, with the given size and more flags.
    pub fn start_in(world: Arc<World>, columns: u16, rows: u16, flags: &[&str]) -> Self {
        require_tmux();
        let tui = Self { world };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let pi = tui.world.command(flags);
        let mut command = tui.tmux();
        // With remain-on-exit the screen of a pi that crashed can still be looked at.
        command.args([
            "start-server",
            ";",
            "set-option",
            "-g",
            "remain-on-exit",
            "on",
            ";",
        ]);
        command.args(["set-option", "-s", "extended-keys", "on", ";"]);
        command.args(["new-session", "-d", "-x", &columns, "-y", &rows, "--"]);
        // A shell notes pi's exit status: tmux 3.3a now and then misses the end of its child.
        command
            .args(["sh", "-c", r#""$@"; echo $? > "$0""#])
            .arg(tui.status_file());
        command.arg(pi.get_program()).args(pi.get_args());
        run(command);
        tui
    }

    /// The surroundings.
    pub fn world(&self) -> &Arc<World> {
        &self.world
    }

    /// The screen as text, one line a row.
    pub fn screen(&self) -> String {
        self.ask(&["capture-pane", "-p"])
    }

    /// The screen with its escape sequences, for colours, and coloured blanks at its lines' ends.
    pub fn coloured_screen(&self) -> String {
        self.ask(&["capture-pane", "-p", "-e", "-N"])
    }

    /// Waits until the screen contains `needle`; returns the screen.
    pub fn wait_screen(&self, needle: &str) -> String {
        self.wait_until(&format!("`{needle}` on the screen"), |screen| {
            screen.contains(needle)
        })
    }

    /// Waits until the screen fulfils a condition; returns the screen.
    pub fn wait_until(&self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        let find = || Some(self.screen()).filter(|screen| wanted(screen));
        poll(patience(), find).unwrap_or_else(|| panic!("waited for {what}"))
    }

    /// Types text as it is.
    pub fn type_text(&self, text: &str) {
        self.ask(&["send-keys", "-l", "--", text]);
    }

    /// Pastes text, bracketed, as a terminal does.
    pub fn paste(&self, text: &str) {
        let file = self.world.temp().join("paste");
        fs::write(&file, text).expect("the temp folder can be written");
        self.ask(&["load-buffer", &file.to_string_lossy()]);
        self.ask(&["paste-buffer", "-p", "-r"]);
    }

    /// Presses a key by tmux's name for it: `Enter`, `Escape`, `C-c`, `Up`.
    pub fn press(&self, key: &str) {
        self.ask(&["send-keys", key]);
    }

    /// Types text once the editor shows it, then presses Enter. pi takes what comes in one burst
    /// for a paste, and an Enter in a paste for a new line.
    pub fn submit(&self, text: &str) {
        self.type_text(text);
        let first_line: String = text
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(40)
            .collect();
        self.wait_screen(&first_line);
        self.press("Enter");
    }

    /// Whether pi rang the terminal's bell.
    pub fn rang(&self) -> bool {
        self.ask(&["display-message", "-p", "#{window_bell_flag}"])
            .trim()
            == "1"
    }

    /// Changes the size of the terminal.
    pub fn resize(&self, columns: u16, rows: u16) {
        self.ask(&[
            "resize-window",
            "-x",
            &columns.to_string(),
            "-y",
            &rows.to_string(),
        ]);
    }

    /// pi's process id: the child of the shell in the terminal.
    pub fn pid(&self) -> u32 {
        process::require_listing();
        let shell = self.ask(&["display-message", "-p", "#{pane_pid}"]);
        let shell: u32 = shell.trim().parse().expect("a process id");
        let child = || {
            process::all()
                .into_iter()
                .find(|process| process.parent == shell)
        };
        poll(patience(), child)
            .unwrap_or_else(|| panic!("pi does not start"))
            .pid
    }

    /// The process id of the core.
    pub fn sidecar(&self) -> u32 {
        let pi = self.pid();
        let child = || {
            process::all()
                .into_iter()
                .find(|process| process.parent == pi && process.is_sidecar())
        };
        poll(patience(), child)
            .unwrap_or_else(|| panic!("there is no sidecar"))
            .pid
    }

    /// Waits for pi's end; returns its exit status (a signal counts as 128 and its number).
    pub fn wait_exit(&self) -> i32 {
        let status = || {
            fs::read_to_string(self.status_file())
                .ok()?
                .trim()
                .parse()
                .ok()
        };
        poll(patience(), status).unwrap_or_else(|| panic!("pi does not end"))
    }

    fn status_file(&self) -> PathBuf {
        self.world.temp().join("pi-exit-status")
    }

    fn tmux(&self) -> Command {
        let mut command = Command::new("tmux");
        self.world.surround(&mut command);
        command.env("TMUX_TMPDIR", self.world.temp());
        command.args(["-L", "pi", "-f", "/dev/null"]);
        command
    }

    fn ask(&self, arguments: &[&str]) -> String {
        let mut command = self.tmux();
        command.args(arguments);
        run(command)
    }
}

impl Drop for Tui {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let screen = self.tmux().args(["capture-pane", "-p"]).output();
            let screen = screen.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
            eprintln!("--- screen ---\n{}", screen.unwrap_or_default().trim_end());
            eprintln!("{}", report::of(&self.world, &[], ""));
        }
        let _ = self.tmux().arg("kill-server").output();
    }
}

fn require_tmux() {
    let found = Command::new("tmux").arg("-V").output().is_ok();
    assert!(
        found,
        "the terminal tests need tmux: `apt-get install tmux`, `brew install tmux`, or the like"
    );
}

fn run(mut command: Command) -> String {
    let output = command.output().expect("tmux starts");
    assert!(
        output.status.success(),
        "{command:?} failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}
