//! A workspace without a disk and a shell that knows a handful of commands.
//!
//! In the simulator no process runs, so what the scripted models do to files must be computable.
//! [`ShellCommand`] is all the shell there is; a scenario with any other command is refused when
//! it is loaded. pi's own `read`, `write`, `edit` and `ls` work on the same files by path.
//!
//! | command | what it does |
//! |---|---|
//! | `true`, `false`, `exit N` | succeed or fail |
//! | `printf 'TEXT' > FILE`, `printf 'TEXT' >> FILE` | write or append; `\n`, `\t`, `\\` and `%%` as in a shell |
//! | `cat FILE`, `test -f FILE`, `rm FILE` | fail where there is no such file |
//! | `ls` | list the workspace |
//! | `sleep SECONDS` | take time, silently |

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde_json::Value;

/// The longest `sleep` of a scenario: longer ones would hold up the real pi for nothing.
const SLEEP_MAX_MS: u64 = 600_000;

/// Files by their relative path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Workspace {
    files: BTreeMap<String, String>,
    /// Folders that are there, the files' own and those whose files were removed.
    folders: BTreeSet<String>,
}

/// What a tool call came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What the model reads.
    pub output: String,
    /// The result is an error.
    pub is_error: bool,
    /// How long it ran, in milliseconds of the workspace's own time.
    pub ms: u64,
}

/// A command the fake shell knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellCommand {
    /// `true`, `false` and `exit N`, by the status.
    Exit(u8),
    /// `printf 'TEXT' > FILE`, or `>>`.
    Print {
        /// What is written, escapes resolved.
        text: String,
        /// Where.
        file: FilePath,
        /// Behind what is there.
        append: bool,
    },
    /// `cat FILE`
    Show(FilePath),
    /// `test -f FILE`
    Exists(FilePath),
    /// `rm FILE`
    Remove(FilePath),
    /// `ls`
    List,
    /// `sleep SECONDS`, in milliseconds.
    Sleep(u64),
}

/// A relative path of plain names: it cannot lead out of the workspace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct FilePath(String);

/// A call that the fake workspace cannot play, and what it can.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotPlayable {
    /// The shell does not know the command.
    #[error(
        "the shell of scenarios does not know `{0}`; it knows true, false, exit N, \
         printf 'TEXT' > FILE (or >>), cat FILE, test -f FILE, rm FILE, ls and sleep SECONDS"
    )]
    Command(String),
    /// The path is no plain relative one.
    #[error("`{0}` is no relative path of plain names")]
    Path(String),
    /// The tool exists in pi, but its answer cannot be computed here.
    #[error("scenarios have no `{0}`: use bash, read or ls")]
    Tool(String),
}

/// Tools of pi's that look into files in ways this module does not know.
const TOOLS_NOT_PLAYED: [&str; 2] = ["grep", "find"];

impl Workspace {
    /// A workspace with these files.
    pub fn with<'a>(files: impl IntoIterator<Item = (&'a FilePath, &'a String)>) -> Self {
        let mut workspace = Self::default();
        for (path, text) in files {
            workspace.put(path, text.clone());
        }
        workspace
    }

    /// The text of a file.
    pub fn file(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// All files with their texts.
    pub const fn files(&self) -> &BTreeMap<String, String> {
        &self.files
    }

    /// Writes a file, and the folders above it.
    pub fn put(&mut self, path: &FilePath, text: String) {
        self.folders.extend(path.folders().map(str::to_owned));
        self.files.insert(path.0.clone(), text);
    }

    /// Plays a call of a tool of pi's. `None`: there is no such tool here.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Option<Outcome> {
        let word = |name: &str| arguments[name].as_str().unwrap_or_default();
        let path = word("path").parse::<FilePath>();
        let outcome = match (tool, path) {
            ("bash", _) => match word("command").parse() {
                Ok(command) => self.run(&command),
                Err(error) => Outcome::failed(format!("{error}")),
            },
            ("ls", _) if matches!(word("path"), "" | ".") => self.list(""),
            ("ls", Ok(path)) => self.list(&path.0),
            ("read", Ok(path)) => self.show(&path),
            ("write", Ok(path)) => self.write(&path, word("content")),
            ("edit", Ok(path)) => self.edit(&path, &arguments["edits"]),
            ("ls" | "read" | "write" | "edit", Err(error)) => Outcome::failed(error.to_string()),
            _ => return None,
        };
        Some(outcome)
    }

    /// Runs a command of the shell.
    pub fn run(&mut self, command: &ShellCommand) -> Outcome {
        match command {
            ShellCommand::Exit(0) => Outcome::done("(no output)"),
            ShellCommand::Exit(status) => {
                Outcome::failed(format!("Command exited with code {status}"))
            }
            ShellCommand::Print { text, file, append } => self.print(text, file, *append),
            ShellCommand::Show(file) => self.show(file),
            ShellCommand::Exists(file) if self.files.contains_key(&file.0) => {
                Outcome::done("(no output)")
            }
            ShellCommand::Exists(_) => Outcome::failed("Command exited with code 1"),
            ShellCommand::Remove(file) => match self.files.remove(&file.0) {
                Some(_) => Outcome::done("(no output)"),
                None => missing(file),
            },
            ShellCommand::List => self.list(""),
            ShellCommand::Sleep(ms) => Outcome {
                ms: *ms,
                ..Outcome::done("(no output)")
            },
        }
    }

    /// The shell makes no folders.
    fn print(&mut self, text: &str, file: &FilePath, append: bool) -> Outcome {
        let folder = file.folders().next();
        if self.folders.contains(&file.0) || folder.is_some_and(|it| !self.folders.contains(it)) {
            return Outcome::failed(format!("cannot create {file}"));
        }
        let before = self.files.get(&file.0).filter(|_| append);
        let text = before.cloned().unwrap_or_default() + text;
        self.files.insert(file.0.clone(), text);
        Outcome::done("(no output)")
    }

    fn show(&self, file: &FilePath) -> Outcome {
        match self.files.get(&file.0) {
            Some(text) => Outcome::done(text),
            None => missing(file),
        }
    }

    /// pi's `write` makes the folders above a file.
    fn write(&mut self, file: &FilePath, text: &str) -> Outcome {
        let blocked = file.folders().any(|folder| self.files.contains_key(folder));
        if blocked || self.folders.contains(&file.0) {
            return Outcome::failed(format!("cannot write {file}"));
        }
        self.put(file, text.to_owned());
        Outcome::done(&format!("Wrote {} bytes to {file}", text.len()))
    }

    /// pi's `edit`: every old text stands in the file exactly once.
    fn edit(&mut self, file: &FilePath, edits: &Value) -> Outcome {
        let Some(text) = self.files.get_mut(&file.0) else {
            return missing(file);
        };
        let original = text.clone();
        let mut edited = original.clone();
        for edit in edits.as_array().into_iter().flatten() {
            let word = |name: &str| edit[name].as_str().unwrap_or_default();
            let (old, new) = (word("oldText"), word("newText"));
            if old.is_empty() || original.matches(old).count() != 1 {
                return Outcome::failed(format!("the text is not in {file} exactly once"));
            }
            edited = edited.replacen(old, new, 1);
        }
        if edited == original {
            return Outcome::failed(format!("No changes made to {file}"));
        }
        *text = edited;
        Outcome::done(&format!("Edited {file}"))
    }

    fn list(&self, folder: &str) -> Outcome {
        if !folder.is_empty() && !self.folders.contains(folder) {
            return Outcome::failed(format!("Path not found: {folder}"));
        }
        let within = |path: &str| {
            let rest = match folder {
                "" => path,
                _ => path.strip_prefix(folder)?.strip_prefix('/')?,
            };
            (!rest.contains('/')).then(|| rest.to_owned())
        };
        let files = self.files.keys().filter_map(|path| within(path));
        let folders = self.folders.iter().filter_map(|path| within(path));
        let names: BTreeSet<_> = files.chain(folders.map(|name| name + "/")).collect();
        Outcome::done(&names.into_iter().collect::<Vec<_>>().join("\n"))
    }
}

impl Outcome {
    fn done(output: &str) -> Self {
        Self {
            output: output.to_owned(),
            is_error: false,
            ms: 0,
        }
    }

    fn failed(output: impl Into<String>) -> Self {
        Self {
            output: output.into(),
            is_error: true,
            ms: 0,
        }
    }
}

fn missing(file: &FilePath) -> Outcome {
    Outcome::failed(format!("{file}: No such file or directory"))
}

/// Says whether both hosts can play a call with these raw arguments. A tool that pi does not have is
/// playable (pi refuses it), and so are arguments that are no JSON (pi refuses them too).
///
/// # Errors
/// What cannot be played, and what can.
pub fn check_call(tool: &str, raw_arguments: &str) -> Result<(), NotPlayable> {
    if TOOLS_NOT_PLAYED.contains(&tool) {
        return Err(NotPlayable::Tool(tool.to_owned()));
    }
    let arguments: Value = serde_json::from_str(raw_arguments).unwrap_or_default();
    let word = |name: &str| arguments[name].as_str();
    match tool {
        "bash" => word("command").map_or(Ok(()), |it| it.parse::<ShellCommand>().map(drop)),
        "ls" if word("path") == Some(".") => Ok(()),
        "read" | "write" | "edit" | "ls" => {
            word("path").map_or(Ok(()), |it| it.parse::<FilePath>().map(drop))
        }
        _ => Ok(()),
    }
}

impl FromStr for ShellCommand {
    type Err = NotPlayable;

    fn from_str(text: &str) -> Result<Self, NotPlayable> {
        let unknown = || NotPlayable::Command(text.to_owned());
        if let Some(rest) = text.strip_prefix("printf ") {
            return print(rest).ok_or_else(unknown);
        }
        let words: Vec<_> = text.split(' ').collect();
        match words[..] {
            ["true"] => Ok(Self::Exit(0)),
            ["false"] => Ok(Self::Exit(1)),
            ["exit", status] => status.parse().map(Self::Exit).map_err(|_| unknown()),
            ["cat", file] => file.parse().map(Self::Show),
            ["test", "-f", file] => file.parse().map(Self::Exists),
            ["rm", file] => file.parse().map(Self::Remove),
            ["ls"] => Ok(Self::List),
            ["sleep", seconds] => sleep_ms(seconds).map(Self::Sleep).ok_or_else(unknown),
            _ => Err(unknown()),
        }
    }
}

/// `'TEXT' > FILE`
fn print(rest: &str) -> Option<ShellCommand> {
    let (text, target) = rest.strip_prefix('\'')?.split_once('\'')?;
    let target = target.strip_prefix(" >")?;
    let (append, file) = match target.strip_prefix("> ") {
        Some(file) => (true, file),
        None => (false, target.strip_prefix(' ')?),
    };
    Some(ShellCommand::Print {
        text: printed(text)?,
        file: file.parse().ok()?,
        append,
    })
}

/// What `printf` makes of its format, if it is one without surprises.
fn printed(format: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = format.chars();
    while let Some(c) = rest.next() {
        text.push(match c {
            '\\' => match rest.next()? {
                'n' => '\n',
                't' => '\t',
                '\\' => '\\',
                _ => return None,
            },
            '%' => (rest.next()? == '%').then_some('%')?,
            plain => plain,
        });
    }
    Some(text)
}

/// Whole seconds, or with one decimal.
fn sleep_ms(seconds: &str) -> Option<u64> {
    let (whole, tenth) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !is_number(whole) || !is_number(tenth) || tenth.len() != 1 {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let tenth: u64 = tenth.parse().ok()?;
    let ms = whole.checked_mul(1_000)?.checked_add(tenth * 100)?;
    (ms <= SLEEP_MAX_MS).then_some(ms)
}

impl FilePath {
    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The folders above it, the nearest first.
    fn folders(&self) -> impl Iterator<Item = &str> {
        std::iter::successors(parent(&self.0), |folder| parent(folder))
    }
}

fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(folder, _)| folder)
}

impl FromStr for FilePath {
    type Err = NotPlayable;

    fn from_str(text: &str) -> Result<Self, NotPlayable> {
        let plain = |name: &str| {
            let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
            !matches!(name, "" | "." | "..") && !name.starts_with('-') && name.chars().all(fits)
        };
        if text.split('/').all(plain) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotPlayable::Path(text.to_owned()))
        }
    }
}

impl TryFrom<String> for FilePath {
    type Error = NotPlayable;

    fn try_from(text: String) -> Result<Self, NotPlayable> {
        text.parse()
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(workspace: &mut Workspace, command: &str) -> Outcome {
        workspace.run(&command.parse().unwrap())
    }

    /// What the fake shell says, the real one says too: each line is run in a fresh folder by `sh`,
    /// and both must succeed or fail alike and leave the same files.
    #[test]
    fn commands_do_what_a_real_shell_does() {
        for script in [
            &["true"][..],
            &["false"],
            &["exit 0"],
            &["exit 3"],
            &["printf 'a\\tb\\n100%%\\\\' > f", "cat f", "test -f f"],
            &["printf 'a' > f", "printf 'b' >> f", "printf 'c' >> g", "ls"],
            &["printf 'a' > f", "printf 'b' > f", "rm f", "cat f"],
            &["cat none"],
            &["test -f none"],
            &["rm none"],
            &["printf 'x' > none/f"],
            &["printf '' > f", "printf 'x' > f/g"],
            &["ls"],
            &["sleep 0.1"],
            &["sleep 0"],
        ] {
            let folder = tempfile::tempdir().unwrap();
            let mut fake = Workspace::default();
            for command in script {
                let real = std::process::Command::new("sh")
                    .args(["-c", command])
                    .current_dir(folder.path())
                    .output()
                    .unwrap();
                let told = run(&mut fake, command);
                assert_eq!(told.is_error, !real.status.success(), "{command}");
                if command.starts_with("cat") && !told.is_error {
                    assert_eq!(told.output.as_bytes(), real.stdout, "{command}");
                }
            }
            let real: BTreeMap<_, _> = std::fs::read_dir(folder.path())
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .map(|path| {
                    (
                        path.file_name().unwrap().to_owned(),
                        std::fs::read_to_string(path).unwrap(),
                    )
                })
                .map(|(name, text)| (name.into_string().unwrap(), text))
                .collect();
            assert_eq!(fake.files, real, "{script:?}");
        }
    }

    #[test]
    fn other_commands_are_refused_with_those_that_exist() {
        for command in [
            "npm test",
            "true && false",
            "printf hello > f",
            "printf '%s' > f",
            "printf '\\x41' > f",
            "printf 'a' > ../f",
            "cat /etc/passwd",
            "cat a b",
            "sleep forever",
            "sleep 601",
            "exit 256",
            "ls -la",
            "",
        ] {
            let error = check_call("bash", &json!({ "command": command }).to_string()).unwrap_err();
            let text = error.to_string();
            assert!(text.contains('`'), "{command}: {text}");
        }
        let told = "npm test".parse::<ShellCommand>().unwrap_err().to_string();
        assert!(
            told.contains("`npm test`") && told.contains("printf 'TEXT' > FILE"),
            "{told}"
        );
    }

    #[test]
    fn calls_that_pi_refuses_by_itself_are_playable() {
        for (tool, arguments) in [
            ("complete_goal", "{}"),
            ("update_goal", r#"{"status": "compl"#),
            ("bash", r#"{"command": "npm"#),
            ("bash", "{}"),
            ("read", "{}"),
            ("ls", r#"{"path": "."}"#),
        ] {
            assert_eq!(check_call(tool, arguments), Ok(()), "{tool} {arguments}");
        }
        assert!(check_call("grep", "{}").is_err());
        assert!(check_call("read", r#"{"path": "/etc/passwd"}"#).is_err());
    }

    #[test]
    fn tools_read_write_list_and_edit_by_path() {
        let mut workspace = Workspace::default();
        let mut call = |tool: &str, arguments: Value| {
            let outcome = workspace.call(tool, &arguments).unwrap();
            (outcome.is_error, outcome.output)
        };
        assert!(call("read", json!({ "path": "docs/a.md" })).0);
        assert!(
            !call(
                "write",
                json!({ "path": "docs/a.md", "content": "one two" })
            )
            .0
        );
        assert_eq!(
            call("read", json!({ "path": "docs/a.md" })),
            (false, "one two".to_owned())
        );
        assert_eq!(call("ls", json!({})), (false, "docs/".to_owned()));
        assert_eq!(
            call("ls", json!({ "path": "docs" })),
            (false, "a.md".to_owned())
        );
        assert!(call("ls", json!({ "path": "none" })).0);
        let edit = |old: &str, new: &str| json!({ "path": "docs/a.md", "edits": [{ "oldText": old, "newText": new }] });
        assert!(call("edit", edit("three", "four")).0);
        assert!(call("edit", edit("o", "0")).0, "twice in the file");
        assert!(!call("edit", edit("one", "1")).0);
        assert_eq!(
            call("read", json!({ "path": "docs/a.md" })),
            (false, "1 two".to_owned())
        );
        assert!(call("write", json!({ "path": "docs", "content": "x" })).0);
        assert_eq!(workspace.call("complete_goal", &json!({})), None);
    }
}
