//! `goal-auditor config`, `--version` and `--help`.

use serde_json::Value;

use crate::{Said, file, goal_auditor, run, text};

fn config(arguments: &[&str], variables: &[(&str, &str)]) -> Said {
    let mut command = goal_auditor(&[&["config"], arguments].concat());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PI_") {
            command.env_remove(name);
        }
    }
    command
        .envs(variables.iter().copied())
        .output()
        .unwrap()
        .into()
}

#[test]
fn every_setting_is_printed_with_its_value_and_source() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(
        dir.path(),
        "goal-auditor.json",
        "{\n  \"maxAudits\": 5,\n  \"maxAudit\": 6\n}",
    );
    let dir = text(dir.path());
    let said = config(
        &["--agent-dir", &dir, "--json"],
        &[("PI_GOAL_MAX_EMPTY_CONTINUATIONS", "4")],
    );
    let report: Value = serde_json::from_str(&said.out).unwrap();
    let settings = report["settings"].as_object().unwrap();
    assert_eq!(settings.len(), 14, "{settings:?}");
    assert_eq!(settings["maxAudits"]["value"], 5);
    assert_eq!(
        settings["maxAudits"]["source"],
        format!("file:{}:2:16", path.display())
    );
    assert_eq!(
        settings["maxEmptyContinuations"]["source"],
        "env:PI_GOAL_MAX_EMPTY_CONTINUATIONS"
    );
    assert_eq!(settings["timeoutMs"]["source"], "default");
    assert_eq!(settings["model"]["value"], Value::Null);
    let diagnostics = report["diagnostics"].as_array().unwrap();
    assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
    assert!(
        diagnostics[0]["message"]
            .as_str()
            .unwrap()
            .contains("maxAudits"),
        "the nearest key is named"
    );

    let said = config(&["--agent-dir", &dir], &[]);
    let line = said
        .out
        .lines()
        .find(|line| line.starts_with("maxAudits"))
        .unwrap();
    assert!(
        line.contains('5') && line.contains("goal-auditor.json:2:16"),
        "{line}"
    );
    assert!(said.out.contains("warning: "), "{}", said.out);
}

#[test]
fn without_an_argument_the_folder_is_pis_own() {
    let dir = tempfile::tempdir().unwrap();
    file(
        dir.path(),
        ".pi/agent/goal-auditor.json",
        "{\"maxAudits\": 7}",
    );
    let home = text(dir.path());
    let agent = text(&dir.path().join(".pi/agent"));
    for variables in [
        vec![("HOME", home.as_str())],
        vec![("HOME", "/nowhere"), ("PI_CODING_AGENT_DIR", &agent)],
    ] {
        let said = config(&["--json"], &variables);
        let report: Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!(report["settings"]["maxAudits"]["value"], 7, "{variables:?}");
    }
}

#[test]
fn version_and_help_go_to_stdout_and_an_unknown_word_is_an_error() {
    let said = run(&["--version"]);
    assert_eq!(
        said.out,
        format!("goal-auditor {}\n", env!("CARGO_PKG_VERSION"))
    );
    let said = run(&["--help"]);
    for task in ["serve", "verdict", "config"] {
        assert!(said.out.contains(task), "{}", said.out);
    }
    for arguments in [vec![], vec!["dance"], vec!["verdict", "--loud"]] {
        let said = run(&arguments);
        assert_eq!(
            (said.code, said.out.as_str()),
            (Some(2), ""),
            "{arguments:?}"
        );
        assert!(!said.err.is_empty());
    }
}
