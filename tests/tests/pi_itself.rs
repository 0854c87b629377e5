//! pi without our extension: proof that the harness and the scripted models do what they say.

use goal_tests::{Dialogs, EXECUTOR, Pi, PiOptions, Reply, Script, Steps, Tui, World};
use serde_json::json;

fn plain(steps: impl Into<Steps>) -> PiOptions {
    PiOptions::plain(Script::new().executor(steps))
}

#[test]
fn a_prompt_gets_the_scripted_reply() {
    let pi = Pi::start(plain([
        Reply::thinking("hm").and_text("Hello U+2028 \u{2028} there")
    ]));
    let mark = pi.prompt("Hi");
    pi.settled_quiet(mark);

    let answer = pi.command(json!({ "type": "get_last_assistant_text" }));
    assert_eq!(answer["text"], "Hello U+2028 \u{2028} there");
    let requests = pi.server().requests_of(EXECUTOR);
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].last_text(), "Hi");
    assert!(requests[0].tool_names().contains(&"bash"));
    assert_eq!(pi.session().messages("assistant").len(), 1);
}

#[test]
fn a_tool_call_is_executed_and_its_result_sent() {
    let pi = Pi::start(plain([
        Reply::text("I write it.").and_call("bash", json!({ "command": "printf hi > a; cat a" })),
        Reply::text("done"),
    ]));
    let mark = pi.prompt("Write a file");
    pi.settled_quiet(mark);

    assert_eq!(pi.world().file("a").as_deref(), Some("hi"));
    assert_eq!(pi.wait_request(EXECUTOR, 2).last_of("tool"), Some("hi"));
    assert_eq!(pi.session().tool_results("bash").len(), 1);
}

#[test]
fn a_500_and_a_dropped_stream_are_retried() {
    let pi = Pi::start(plain([
        Reply::status(500, "overloaded"),
        Reply::text("half an ans").dropped(),
        Reply::text("whole"),
    ]));
    let mark = pi.prompt("Hi");
    let settled = pi.wait_settled(mark);
    assert_eq!(settled["aborted"], false);
    assert_eq!(pi.server().requests_of(EXECUTOR).len(), 3);
    assert_eq!(
        pi.command(json!({ "type": "get_last_assistant_text" }))["text"],
        "whole"
    );
}

#[test]
fn an_abort_makes_the_client_leave_a_stalled_stream() {
    let pi = Pi::start(plain([Reply::text("thinking about").stalled()]));
    let mark = pi.prompt("Hi");
    let request = pi.wait_request(EXECUTOR, 1);
    pi.wait_event(mark, "message_update");
    pi.abort();
    assert_eq!(pi.wait_settled(mark)["aborted"], true);
    pi.server()
        .wait_until_left(request.number, goal_tests::patience())
        .unwrap();
}

#[test]
fn a_held_reply_waits_for_its_release_while_a_message_is_queued() {
    let pi = Pi::start(plain([
        Reply::text("one").held_before_end("gate"),
        Reply::text("two"),
    ]));
    let mark = pi.prompt("first");
    pi.wait_event(mark, "message_update");
    pi.queue("second", "followUp");
    pi.server().release("gate");
    pi.settled_quiet(mark);
    assert_eq!(pi.wait_request(EXECUTOR, 2).last_text(), "second");
}

#[test]
fn a_full_context_is_compacted_without_consuming_a_step() {
    let steps = [
        Reply::text("x".repeat(4000)).prompt_tokens(9000),
        Reply::text("after"),
    ];
    let pi = Pi::start(plain(steps).context_window(EXECUTOR, 10_000));
    let mark = pi.prompt(&"long ".repeat(400));
    pi.settled_quiet(mark);
    assert_eq!(
        pi.server().compactions().len(),
        1,
        "one summary was asked for"
    );
    let mark = pi.prompt("go on");
    pi.settled_quiet(mark);
    let request = pi.wait_request(EXECUTOR, 2);
    assert!(
        request.mentions("A summary written by goal-sim"),
        "{:?}",
        request.messages
    );
}

#[test]
fn a_killed_pi_leaves_no_process_and_its_session_can_be_continued() {
    let mut pi = Pi::start(plain([
        Reply::text("one"),
        Reply::call("bash", json!({ "command": "sleep 300" })),
        Reply::text("two"),
    ]));
    let mark = pi.prompt("first");
    pi.settled_quiet(mark);
    assert!(pi.close().success());
    pi.world().assert_no_process_left();

    let pi = pi.restart(&["--continue"]);
    let mark = pi.prompt("second");
    pi.wait_event(mark, "tool_execution_start");
    let mut pi = pi.restart(&["--continue"]);
    let mark = pi.prompt("third");
    pi.settled_quiet(mark);
    let last = pi.wait_request(EXECUTOR, 3);
    assert!(last.mentions("first") && last.mentions("third"));
    assert_eq!(pi.terminate().code(), Some(143));
}

#[test]
fn print_mode_prints_the_answer() {
    let world = World::new(plain([Reply::text("printed")]));
    let finished = world.headless(&["-p", "Hi"]);
    assert_eq!(
        (finished.code, finished.stdout.trim()),
        (Some(0), "printed"),
        "{finished:?}"
    );
}

#[test]
fn json_mode_writes_the_events() {
    let world = World::new(plain([Reply::text("as json")]));
    let finished = world.headless(&["--mode", "json", "Hi"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let records = finished.records();
    assert_eq!(records[0]["type"], "session");
    assert_eq!(records.last().unwrap()["type"], "agent_settled");
}

#[test]
fn the_terminal_shows_the_answer() {
    let tui = Tui::start(plain([Reply::text("Shown on the screen.")]));
    tui.wait_screen("executor");
    tui.submit("Hi there");
    tui.wait_screen("Shown on the screen.");
    assert!(goal_tests::process::lives(tui.pid()));
    tui.press("C-d");
    assert_eq!(tui.wait_exit(), 0);
    tui.world().assert_no_process_left();
}

/// An extension that shows something in every way there is, and asks a question.
const SHOWING: &str = r#"
export default function (pi) {
  pi.registerCommand("show", { handler: async (_args, ctx) => {
    ctx.ui.setStatus("probe", "running");
    ctx.ui.setWidget("probe", ["one", "two"]);
    const yes = await ctx.ui.confirm("Sure?", "It cannot be undone.");
    ctx.ui.notify(`answer: ${yes}`, "warning");
    ctx.ui.setStatus("probe", undefined);
    ctx.ui.setEditorText("typed for you");
    pi.appendEntry("goal-auditor", { v: 1, kind: "goal", goal: { phase: "paused", pauseReason: "user" } });
  } });
}"#;

#[test]
fn what_an_extension_shows_and_saves_is_collected() {
    let options = plain([Reply::text("ok")]).extra_extension("showing", SHOWING);
    let pi = Pi::start(options);
    let mark = pi.prompt("Hi");
    pi.settled_quiet(mark);

    let mark = pi.prompt("/show");
    assert_eq!(pi.wait_notice(mark, "answer").text, "answer: true");
    assert_eq!(pi.notices_since(mark)[0].level, "warning");
    assert_eq!(pi.dialogs_since(mark)[0]["title"], "Sure?");
    assert_eq!(pi.status("probe"), None);
    assert_eq!(pi.widget("probe").unwrap(), ["one", "two"]);
    pi.wait_for(mark, "the editor's text", |record| {
        record["method"] == "set_editor_text"
    });
    assert_eq!(pi.editor_text().as_deref(), Some("typed for you"));

    pi.answer_dialogs(Dialogs::No);
    let mark = pi.prompt("/show");
    pi.wait_notice(mark, "answer: false");
    let session = pi.session();
    assert_eq!(
        (session.phase(), session.pause_reason()),
        ("paused", Some("user"))
    );
}

#[test]
fn another_session_has_another_file() {
    let pi = Pi::start(plain(Reply::text("ok")));
    let mark = pi.prompt("first");
    pi.settled_quiet(mark);
    let first = pi.session();
    pi.new_session();
    let mark = pi.prompt("second");
    pi.settled_quiet(mark);
    assert_eq!(pi.world().session_files().len(), 2);
    assert_ne!(pi.session().path, first.path);
    pi.switch_session(&first.path);
    assert_eq!(pi.session().path, first.path);
}
