//! `goal-auditor doctor`, on machines made of a few files.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::{Said, file};

/// A machine on which all is well, to be broken.
struct Machine {
    folder: tempfile::TempDir,
    env: Vec<(&'static str, String)>,
}

impl Machine {
    fn new() -> Self {
        let machine = Self {
            folder: tempfile::tempdir().unwrap(),
            env: Vec::new(),
        };
        machine.program("pi", "echo 1.6.0");
        machine.program("node", "echo v22.19.0");
        fs::create_dir_all(machine.agent("sessions")).unwrap();
        let extension = Path::new(env!("CARGO_MANIFEST_DIR")).join("extension");
        for name in ["index.ts", "wire.ts"] {
            let text = fs::read_to_string(extension.join(name)).unwrap();
            machine.write(&format!("extensions/goal-auditor/{name}"), &text);
        }
        symlink(
            Self::binary(),
            machine.agent("extensions/goal-auditor/goal-auditor"),
        )
        .unwrap();
        machine
    }

    fn binary() -> &'static str {
        env!("CARGO_BIN_EXE_goal-auditor")
    }

    /// A path inside the agent folder.
    fn agent(&self, path: &str) -> PathBuf {
        self.folder.path().join(".pi/agent").join(path)
    }

    /// Writes a file into the agent folder.
    fn write(&self, path: &str, text: &str) {
        file(&self.folder.path().join(".pi/agent"), path, text);
    }

    fn remove(&self, path: &str) {
        let path = self.agent(path);
        fs::remove_file(&path)
            .or_else(|_| fs::remove_dir_all(&path))
            .unwrap();
    }

    /// A program on PATH that does this.
    fn program(&self, name: &str, does: &str) {
        self.script(&self.folder.path().join("bin").join(name), does);
    }

    fn script(&self, path: &Path, does: &str) {
        let _ = fs::remove_file(path);
        let path = file(
            path.parent().unwrap(),
            path.file_name().unwrap().to_str().unwrap(),
            &format!("#!/bin/sh\n{does}\n"),
        );
        fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn env(&mut self, name: &'static str, value: &str) {
        self.env.push((name, value.to_owned()));
    }

    fn doctor(&self, arguments: &[&str]) -> Said {
        let mut command = Command::new(Self::binary());
        command.arg("doctor").args(arguments).env_clear();
        command
            .env("PATH", self.folder.path().join("bin"))
            .env("HOME", self.folder.path());
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
            .current_dir(self.folder.path())
            .output()
            .unwrap()
            .into()
    }

    /// What it says of one thing: status, what was found, why and remedy.
    fn finding(&self, name: &str) -> (String, String, String) {
        let said: Value = serde_json::from_str(&self.doctor(&["--json"]).out).unwrap();
        let check = said["checks"]
            .as_array()
            .unwrap()
            .iter()
            .find(|check| check["name"] == name);
        let check = check.unwrap();
        let status = check["status"].as_str().unwrap().to_owned();
        let found = check["found"].as_str().unwrap().to_owned();
        (
            status,
            found,
            format!("{}{}", check["why"], check["remedy"]),
        )
    }
}

/// How a machine is broken.
type Break = fn(&mut Machine);

#[test]
fn where_all_is_well_every_check_says_so_and_the_exit_status_is_0() {
    let machine = Machine::new();
    let said = machine.doctor(&[]);
    assert_eq!((said.code, &*said.err), (Some(0), ""), "{}", said.out);
    // Whether a seal can be made depends on the machine of the test.
    let fine = said
        .out
        .lines()
        .filter(|line| line.starts_with('✓'))
        .count();
    assert!(fine >= 8, "{}", said.out);
    assert!(!said.out.contains('✗'), "{}", said.out);
    assert!(
        !said.out.contains('\u{1b}'),
        "no colours where there is no terminal"
    );
    for words in [
        "1.6.0 · ",
        "22.19.0 · ",
        "installed · ",
        "writable · ",
        "all at their defaults",
    ] {
        assert!(said.out.contains(words), "`{words}` is not in {}", said.out);
    }
    assert_eq!(
        fs::read_dir(machine.agent("sessions")).unwrap().count(),
        0,
        "nothing is left behind"
    );
}

#[test]
fn every_problem_is_named_with_its_remedy_and_makes_the_exit_status_1() {
    let problems: [(&str, &str, &str, Break); 14] = [
        ("node", "needs Node 22.19", "Install Node", |m| {
            m.program("node", "echo v20.20.2")
        }),
        ("node", "pi runs on Node", "Install Node", |m| {
            fs::remove_file(m.folder.path().join("bin/node")).unwrap()
        }),
        ("pi", "no /goal", "npm install", |m| {
            fs::remove_file(m.folder.path().join("bin/pi")).unwrap()
        }),
        ("pi", "SyntaxError: old Node", "what is said of Node", |m| {
            m.program("pi", "echo 'SyntaxError: old Node' >&2; exit 1");
        }),
        ("pi", "needs pi 1.6", "Update it", |m| {
            m.program("pi", "echo 1.5.9")
        }),
        ("shim", "has no /goal", "cargo xtask install", |m| {
            m.remove("extensions/goal-auditor")
        }),
        ("shim", "speaks protocol 999", "Install it anew", |m| {
            m.write(
                "extensions/goal-auditor/wire.ts",
                "export const PROTOCOL_VERSION = 999;\n",
            );
        }),
        ("shim", "wire.ts is missing", "Install it anew", |m| {
            m.remove("extensions/goal-auditor/wire.ts")
        }),
        ("shim", "no binary beside it", "Install it anew", |m| {
            m.remove("extensions/goal-auditor/goal-auditor")
        }),
        (
            "shim",
            "speaks protocol 999",
            "pi update --extensions",
            |m| {
                m.remove("extensions/goal-auditor");
                m.write("settings.json", r#"{"packages": ["npm:pi-goal-auditor"]}"#);
                let package = "npm/node_modules/pi-goal-auditor";
                m.write(&format!("{package}/index.ts"), "");
                m.write(
                    &format!("{package}/wire.ts"),
                    "export const PROTOCOL_VERSION = 999;\n",
                );
            },
        ),
        (
            "shim",
            "the binary beside it fails",
            "Install it anew",
            |m| {
                m.script(
                    &m.agent("extensions/goal-auditor/goal-auditor"),
                    "echo broken >&2; exit 1",
                );
            },
        ),
        ("agent-dir", "a file, not a folder", "--agent-dir", |m| {
            let file = m.folder.path().join("bin/pi").display().to_string();
            m.env("PI_CODING_AGENT_DIR", &file);
        }),
        (
            "sessions",
            "nothing can be written there",
            "permissions",
            |m| {
                m.remove("sessions");
                m.write("sessions", "a file");
            },
        ),
        ("sessions", "cannot be made", "permissions", |m| {
            m.env("PI_CODING_AGENT_SESSION_DIR", "/proc/self/no/such/folder");
        }),
    ];
    for (name, why, remedy, breaks) in problems {
        let mut machine = Machine::new();
        breaks(&mut machine);
        let (status, found, words) = machine.finding(name);
        assert_eq!(status, "problem", "{name}: {found} {words}");
        assert!(
            words.contains(why) && words.contains(remedy),
            "{name}: {words}"
        );
        let said = machine.doctor(&[]);
        assert_eq!(said.code, Some(1), "{name}");
        assert!(
            said.out.contains('✗') && said.out.contains("to solve, see above"),
            "{}",
            said.out
        );
    }
}

#[test]
fn what_is_odd_but_works_is_a_remark_and_the_exit_status_stays_0() {
    let remarks: [(&str, &str, Break); 7] = [
        ("pi", "tested with pi 1.6", |m| {
            m.program("pi", "echo 1.7.2")
        }),
        ("shim", "loads it twice", |m| {
            m.write("settings.json", r#"{"packages": ["npm:goal-auditor@1"]}"#);
        }),
        ("shim", "goal-auditor 0.0.1", |m| {
            m.script(
                &m.agent("extensions/goal-auditor/goal-auditor"),
                "echo goal-auditor 0.0.1",
            );
        }),
        ("shim", "GOAL_AUDITOR_BIN", |m| {
            m.env("GOAL_AUDITOR_BIN", "/opt/goal-auditor")
        }),
        ("settings", "maxAudits", |m| {
            m.write("goal-auditor.json", r#"{"maxAudits": -1}"#)
        }),
        ("sandbox", "docs/limits.md", |m| {
            m.write("goal-auditor.json", r#"{"sandbox": "off"}"#)
        }),
        ("trace", "folder that you may write to", |m| {
            m.write(
                "goal-auditor.json",
                r#"{"trace": "goal-auditor.json/traces"}"#,
            )
        }),
    ];
    for (name, words, breaks) in remarks {
        let mut machine = Machine::new();
        breaks(&mut machine);
        let (status, found, why) = machine.finding(name);
        assert_eq!(status, "warning", "{name}: {found} {why}");
        assert!(why.contains(words), "{name}: {why}");
        let said = machine.doctor(&[]);
        assert_eq!(said.code, Some(0), "{}", said.out);
        assert!(said.out.contains("Goals work."), "{}", said.out);
    }
}

#[test]
fn a_shim_that_pis_settings_name_needs_no_installed_one() {
    for settings in [
        r#"{"packages": ["git:example.org/goal-auditor"]}"#,
        r#"{"packages": [{"source": "npm:pi-goal-auditor"}]}"#,
        r#"{"extensions": ["/opt/goal-auditor/extension/index.ts"]}"#,
    ] {
        let machine = Machine::new();
        machine.remove("extensions/goal-auditor");
        machine.write("settings.json", settings);
        let (status, found, _) = machine.finding("shim");
        assert_eq!(status, "ok", "{settings}");
        assert!(found.contains("goal-auditor"), "{found}");
    }
}

#[test]
fn folders_that_pi_makes_later_are_no_problem() {
    let machine = Machine::new();
    machine.remove("sessions");
    let (status, found, _) = machine.finding("sessions");
    assert_eq!(status, "ok");
    assert!(found.starts_with("made with the first session"), "{found}");

    assert_eq!(machine.finding("trace").1, "off");
    machine.write("goal-auditor.json", r#"{"trace": "new/traces"}"#);
    let (status, found, _) = machine.finding("trace");
    assert_eq!(status, "ok");
    assert!(found.ends_with(".pi/agent/new/traces"), "{found}");
    assert!(!machine.agent("new").exists(), "it changes nothing");

    machine.write(
        "settings.json",
        &format!("{{\"sessionDir\": {:?}}}", machine.folder.path()),
    );
    let (status, found, _) = machine.finding("sessions");
    assert_eq!(
        (&*status, found.starts_with("writable")),
        ("ok", true),
        "{found}"
    );
}

#[test]
fn the_auditor_is_told_as_far_as_the_settings_tell() {
    for (settings, words) in [
        ("{}", "the model of your session"),
        (
            r#"{"provider": "acme", "model": "judge/1"}"#,
            "acme/judge/1 (file:",
        ),
        (r#"{"provider": "acme"}"#, "a model of acme (file:"),
        (r#"{"model": "judge"}"#, "the model judge, wherever"),
    ] {
        let machine = Machine::new();
        machine.write("goal-auditor.json", settings);
        let (status, found, _) = machine.finding("auditor");
        assert_eq!(status, "ok", "{settings}");
        assert!(found.contains(words), "{settings}: {found}");
    }
}

#[test]
fn json_has_every_check_by_name_and_every_setting_with_its_source() {
    let machine = Machine::new();
    machine.write("goal-auditor.json", r#"{"maxAudits": 7}"#);
    let said: Value = serde_json::from_str(&machine.doctor(&["--json"]).out).unwrap();
    assert_eq!((&said["v"], &said["ok"]), (&1.into(), &true.into()));
    let names: Vec<_> = said["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|check| check["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "binary",
            "shim",
            "pi",
            "node",
            "agent-dir",
            "sessions",
            "settings",
            "auditor",
            "sandbox",
            "trace"
        ]
    );
    let max_audits = &said["settings"]["settings"]["maxAudits"];
    assert_eq!(max_audits["value"], 7);
    assert!(
        max_audits["source"]
            .as_str()
            .unwrap()
            .ends_with("goal-auditor.json:1:15"),
        "{max_audits}"
    );
    assert_eq!(
        said["checks"][0]["details"]["protocol"],
        goal_protocol::PROTOCOL_VERSION
    );
}

#[test]
fn words_of_other_programs_stay_on_their_line_and_command_nothing() {
    let machine = Machine::new();
    machine.program(
        "node",
        r"printf 'v22.19.0 \033[2J\033]0;evil\007 \342\200\256txet\n'",
    );
    let said = machine.doctor(&[]);
    let line = said
        .out
        .lines()
        .find(|line| line.contains("22.19.0"))
        .unwrap();
    assert!(
        line.contains("⟦U+001B⟧[2J") && line.contains("⟦U+202E⟧"),
        "{line}"
    );
    assert!(!said.out.contains('\u{1b}') && !said.out.contains('\u{202e}'));
}
