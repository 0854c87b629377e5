//! The report of a session that the real pi wrote a moment ago.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use goal_tests::moment::work;
use goal_tests::{EXECUTOR, Pi, PiOptions, Reply, Script, Steps, install};
use serde_json::{Value, json};

/// What the auditor found missing.
const OBJECTION: &str = "1. out.txt says hello: **not met**, it says `helo`.";

fn claim(summary: &str) -> Reply {
    let arguments = json!({ "status": "complete", "completionSummary": summary });
    Reply::call("update_goal", arguments)
}

/// A goal that was refused, mended, and approved.
fn played() -> Pi {
    let look = || Reply::call("bash", json!({ "command": "cat out.txt; true" }));
    let script = Script::new()
        .executor([
            work(),
            claim("first claim"),
            work(),
            claim("second claim"),
            Reply::text("That was it."),
        ])
        .auditor([
            look(),
            Reply::text(format!("{OBJECTION}\n\n<disapproved/>")),
            look(),
            Reply::text("1. out.txt says hello: **met**.\n\n<approved/>"),
        ]);
    let pi = Pi::start(
        PiOptions::new(script)
            .cost(json!({ "input": 3.0, "output": 15.0, "cacheRead": 0.3, "cacheWrite": 3.75 })),
    );
    let mark = pi.goal("Write hello into out.txt");
    pi.wait_notice(mark, "Goal complete");
    pi.settled_quiet(mark);
    pi
}

fn report(pi: &Pi, format: &str) -> String {
    let output = Command::new(install::binary())
        .arg("report")
        .arg(&pi.session().path)
        .args(["--format", format])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_goal_refused_mended_and_approved_is_told_in_every_form() {
    let pi = played();
    let data: Value = serde_json::from_str(&report(&pi, "json")).unwrap();
    let goal = &data["goals"][0];
    assert_eq!(goal["state"]["standing"], "approved");
    assert_eq!(goal["objective"], "Write hello into out.txt");
    assert_eq!(goal["runs"].as_array().unwrap().len(), 1);
    assert_eq!(goal["runs"][0]["result"], "work");
    assert_eq!(goal["runs"][0]["callsOk"], 2);
    let told = |audit: usize, field: &str| goal["audits"][audit][field].clone();
    assert_eq!(
        (told(0, "outcome"), told(1, "outcome")),
        (json!("disapproved"), json!("approved"))
    );
    assert_eq!(
        (told(0, "claim"), told(1, "claim")),
        (json!("first claim"), json!("second claim"))
    );
    assert_eq!(told(0, "checks")[0]["tool"], "bash");
    assert_eq!(told(0, "model"), "sim/auditor");
    // Five answers of the agent and four of the auditor, as the model server counts them.
    assert_eq!(goal["totals"]["executor"]["totalTokens"], 5 * 110);
    assert_eq!(goal["totals"]["auditor"]["totalTokens"], 4 * 110);
    assert!(goal["totals"]["auditor"]["cost"].as_f64().unwrap() > 0.0);
    let active = goal["activeMs"].as_u64().unwrap();
    let audited = goal["totals"]["auditsMs"].as_u64().unwrap();
    assert!(
        active >= audited,
        "{active} ms of work, {audited} ms of them audits"
    );

    let page = report(&pi, "md");
    for words in [
        "Complete: sim/auditor approved",
        OBJECTION,
        "first claim",
        "Audit 1: disapproved",
    ] {
        assert!(page.contains(words), "`{words}` is not in {page}");
    }
    let page = report(&pi, "html");
    for words in [
        "<strong>not met</strong>",
        "<code>helo</code>",
        "second claim",
        "&lt;approved/&gt;",
    ] {
        assert!(page.contains(words), "`{words}` is not in {page}");
    }
}

/// Work whose output pushes what came before out of what a compaction keeps.
fn long_work() -> Reply {
    Reply::call("bash", json!({ "command": "seq 300" }))
}

fn runs(pi: &Pi) -> Vec<String> {
    let data: Value = serde_json::from_str(&report(pi, "json")).unwrap();
    let runs = data["goals"][0]["runs"].as_array().unwrap();
    let told = |run: &Value| {
        let name = |field: &str| run[field].as_str().unwrap().to_owned();
        let (calls, compactions) = (&run["callsOk"], &run["compactions"]);
        format!(
            "{} {} {calls} {compactions}",
            name("origin"),
            name("result")
        )
    };
    runs.iter().map(told).collect()
}

#[test]
fn a_compaction_inside_a_run_an_overflow_and_a_message_of_the_user_are_told_in_their_runs() {
    let stop = || Reply::status(401, "enough");
    let tight = |steps: Steps| {
        let options =
            PiOptions::new(Script::new().executor(steps)).context_window(EXECUTOR, 10_000);
        Pi::start(options.setting("retry.enabled", json!(false)))
    };
    let full = long_work().prompt_tokens(9_000);
    let pi = tight(Steps::of([
        long_work(),
        full,
        work(),
        Reply::text("after"),
        stop(),
    ]));
    let mark = pi.goal("Count");
    pi.wait_paused(mark);
    assert_eq!(runs(&pi), ["start work 3 1", "continuation error 0 0"]);

    pi.new_session();
    let overflow = Reply::status(400, "prompt is too long: 9 tokens > 8 maximum");
    let steps = [long_work(), overflow, work(), Reply::text("after"), stop()];
    pi.server().set(EXECUTOR, steps);
    let mark = pi.goal("Count again");
    pi.wait_paused(mark);
    assert_eq!(runs(&pi), ["start work 2 1", "continuation error 0 0"]);

    pi.new_session();
    let steps = [
        work(),
        Reply::status(500, "overloaded"),
        work(),
        Reply::text("after"),
        stop(),
    ];
    pi.server().set(EXECUTOR, steps);
    let mark = pi.goal("Count once more");
    pi.wait_back_off(mark);
    let mark = pi.prompt("Go on");
    pi.wait_paused(mark);
    assert_eq!(
        runs(&pi),
        ["start error 1 0", "user work 1 0", "continuation error 0 0"]
    );
}

#[test]
fn a_run_the_user_woke_behind_a_compaction_is_one_run() {
    let works = Arc::new(AtomicBool::new(false));
    let switch = Arc::clone(&works);
    let executor = [
        long_work(),
        Reply::text("a full context").prompt_tokens(9_000),
        Reply::status(500, "overloaded"),
        work(),
        Reply::text("after"),
        Reply::status(401, "enough"),
    ];
    let summaries = Steps::choose(move |_| {
        if switch.load(Ordering::Relaxed) {
            Reply::text("A summary.")
        } else {
            Reply::status(400, "no summaries today")
        }
    });
    let script = Script::new().executor(executor).compaction(summaries);
    let options = PiOptions::new(script).context_window(EXECUTOR, 10_000);
    let pi = Pi::start(options.setting("retry.enabled", json!(false)));
    let mark = pi.goal("Count");
    pi.wait_back_off(mark);
    works.store(true, Ordering::Relaxed);
    let mark = pi.prompt("Go on");
    pi.wait_paused(mark);
    assert_eq!(pi.session().full_messages(), 2);
    let told = runs(&pi);
    let results: Vec<&str> = told
        .iter()
        .filter_map(|run| run.split(' ').nth(1))
        .collect();
    assert_eq!(results, ["work", "error", "work", "error"], "{told:?}");
    assert!(told[2].starts_with("user "), "{told:?}");
}
