//! pi, and the Node it runs on.

use serde_json::json;

use super::Finding;
use super::program::{Answer, numbers, on_path, version_of};

/// The pi this version is built for and tested with.
const PI: (u32, u32) = (1, 6);
/// pi's own demand.
const NODE: (u32, u32) = (22, 19);

const GET_PI: &str = "Install it: npm install -g @earendil-works/pi-coding-agent";
const GET_NODE: &str =
    "Install Node 22.19 or newer (https://nodejs.org), and see that it comes first on PATH";

pub(super) fn pi_and_node() -> [Finding; 2] {
    let node = node();
    [pi(), node]
}

fn pi() -> Finding {
    look("pi", |answer, finding| {
        let Some(version) = numbers(&answer.line).filter(|_| answer.ok) else {
            let why = format!("it does not run: {}", answer.line);
            return finding.problem(why, "See what is said of Node, or install pi again");
        };
        if version < PI {
            let why = "goal-auditor needs pi 1.6 or newer";
            return finding.problem(
                why,
                "Update it: npm install -g @earendil-works/pi-coding-agent",
            );
        }
        if version > PI {
            let why = "goal-auditor is tested with pi 1.6; a newer one may differ";
            return finding.warning(why, "If /goal behaves oddly, look for a newer goal-auditor");
        }
        finding
    })
    .unwrap_or_else(|| {
        Finding::fine("pi", "not on PATH").problem("without pi there is no /goal", GET_PI)
    })
}

fn node() -> Finding {
    look("node", |answer, finding| {
        let Some(version) = numbers(&answer.line).filter(|_| answer.ok) else {
            return finding.problem(format!("it does not run: {}", answer.line), GET_NODE);
        };
        if version < NODE {
            return finding.problem("pi needs Node 22.19 or newer", GET_NODE);
        }
        finding
    })
    .unwrap_or_else(|| Finding::fine("node", "not on PATH").problem("pi runs on Node", GET_NODE))
}

/// Finds a program and asks for its version; `None` if it is not there.
fn look(name: &'static str, judge: impl FnOnce(&Answer, Finding) -> Finding) -> Option<Finding> {
    let path = on_path(name)?;
    let shown = path.display().to_string();
    let answer = match version_of(&path) {
        Ok(answer) => answer,
        Err(why) => {
            let finding =
                Finding::fine(name, &*shown).with(json!({ "path": shown, "version": null }));
            return Some(finding.problem(why, "Run it yourself and see what it says"));
        }
    };
    let version = answer.line.trim_start_matches('v').to_owned();
    let found = if answer.ok {
        format!("{version} · {shown}")
    } else {
        shown.clone()
    };
    let version = answer.ok.then_some(version);
    let finding = Finding::fine(name, found).with(json!({ "path": shown, "version": version }));
    Some(judge(&answer, finding))
}
