//! Our tools switched off, by a flag or by another extension, at the start and in mid-run.

use goal_tests::pi::QUIET;
use goal_tests::{EXECUTOR, Pi, PiOptions, Reply, Script, Steps};
use serde_json::json;

fn bash() -> Reply {
    Reply::call("bash", json!({ "command": "true" }))
}

fn options(steps: impl Into<Steps>) -> PiOptions {
    PiOptions::new(Script::new().executor(steps))
}

fn assert_tools_off(pi: &Pi, text: &str) {
    assert_eq!(pi.session().pause_reason(), Some("tools_off"));
    assert!(text.contains("get_goal and update_goal"), "{text}");
    assert!(
        text.contains("--tools") && text.contains("/goal resume"),
        "{text}"
    );
}

#[test]
fn a_tool_list_without_ours_stops_the_goal_before_any_request() {
    let pi = Pi::start(options(Reply::text("hi")).flag("--tools").flag("read,bash"));
    let mark = pi.goal("Build");
    let notice = pi.wait_paused(mark);
    // pi writes its session file with the first message of somebody.
    let mark = pi.prompt("hi");
    pi.settled_quiet(mark);
    assert_tools_off(&pi, &notice.text);
    assert_eq!(pi.asked().len(), 1, "only the user's own");
    let mark = pi.goal("resume");
    let notice = pi.wait_paused(mark);
    assert_tools_off(&pi, &notice.text);
    assert_eq!(pi.asked().len(), 1);
}

/// Takes our tools away when told so: at the session's start, or when a command is run.
const TAKES_AWAY: &str = r#"
export default function (pi) {
  const off = () => pi.setActiveTools(pi.getActiveTools().filter((name) => !name.endsWith("_goal")));
  if (process.env.OFF === "start") pi.on("session_start", off);
  if (process.env.OFF === "call") pi.on("tool_execution_end", off);
}"#;

#[test]
fn tools_that_are_only_inactive_are_made_active_once_at_the_start() {
    let steps = [
        Reply::call("update_goal", json!({ "status": "complete" })),
        Reply::text("Done."),
    ];
    let script = Script::new()
        .executor(steps)
        .auditor([bash(), Reply::text("<approved/>")]);
    let pi = Pi::start(
        PiOptions::new(script)
            .extra_extension("off", TAKES_AWAY)
            .env("OFF", "start"),
    );
    let mark = pi.goal("Build");
    pi.wait_notice(mark, "Goal complete");
    pi.settled_quiet(mark);
    assert_eq!(pi.session().ended(), Some("approved"));
    let names = pi.asked()[0].tool_names().join(" ");
    assert!(
        names.contains("get_goal") && names.contains("update_goal"),
        "{names}"
    );
}

#[test]
fn tools_taken_away_in_mid_run_stop_the_goal_at_its_boundary() {
    let steps = [
        bash(),
        Reply::text("I go on."),
        bash(),
        Reply::text("And on."),
    ];
    let pi = Pi::start(
        options(steps)
            .extra_extension("off", TAKES_AWAY)
            .env("OFF", "call"),
    );
    let mark = pi.goal("Build");
    let notice = pi.wait_paused(mark);
    assert_tools_off(&pi, &notice.text);
    assert_eq!(pi.asked().len(), 2);
    // A resume switches them on again; they are taken away again, and it stops again.
    let mark = pi.goal("resume");
    pi.wait_paused(mark);
    assert_tools_off(&pi, &notice.text);
    assert_eq!(pi.asked().len(), 4);
    pi.quiet(QUIET);
}

#[test]
fn our_tools_are_offered_in_schema_and_system_prompt_after_restart_reload_and_change_of_model() {
    let script = Script::new()
        .executor(Steps::from(Reply::text("Which one?")))
        .model("other", Reply::text("Which one?"));
    let pi = Pi::start(PiOptions::new(script).caps(json!({ "maxEmptyContinuations": 1 })));
    let assert_offered = |pi: &Pi, model: &str| {
        let requests = pi.server().requests_of(model);
        let request = requests.last().unwrap();
        let names = request.tool_names();
        let system = request.system_text();
        for tool in ["get_goal", "update_goal"] {
            assert!(names.contains(&tool), "{tool} is not in {names:?}");
            assert!(
                system.contains(&format!("- {tool}: ")),
                "{tool} has no line in {system}"
            );
        }
    };
    let mark = pi.goal("Build");
    pi.wait_paused(mark);
    assert_offered(&pi, EXECUTOR);

    let pi = pi.restart(&["--continue"]);
    let mark = pi.goal("resume");
    pi.wait_paused(mark);
    assert_offered(&pi, EXECUTOR);

    pi.command(json!({ "type": "set_model", "provider": "sim", "modelId": "other" }));
    let mark = pi.goal("resume");
    pi.wait_paused(mark);
    assert_offered(&pi, "other");
}
