//! One endless run: what ends it while the goal is pursued, and while our tools can do nothing.

use goal_tests::{EXECUTOR, Pi, PiOptions, Reply, Script, Steps};
use serde_json::json;

/// `IDLE_TURNS_MAX`: model turns in a row without work.
const IDLE_TURNS_MAX: usize = 20;

fn bash(command: &str) -> Reply {
    Reply::call("bash", json!({ "command": command }))
}

fn get_goal() -> Reply {
    Reply::call("get_goal", json!({}))
}

fn claim() -> Reply {
    Reply::call("update_goal", json!({ "status": "complete" }))
}

fn start(steps: impl Into<Steps>) -> Pi {
    Pi::start(PiOptions::new(Script::new().executor(steps)))
}

#[test]
fn twenty_turns_without_work_end_the_run_and_pause_the_goal() {
    let pi = start(Steps::default());
    let both = get_goal().and_call("no_such_tool", json!({}));
    for (what, call) in [
        ("get_goal", get_goal()),
        ("an unknown tool", Reply::call("no_such_tool", json!({}))),
        ("a command that fails", bash("exit 1")),
        ("get_goal and an unknown tool", both),
        ("cut JSON", Reply::raw_call("update_goal", r#"{"sta"#)),
        (
            "a call cut by its output limit",
            Reply::raw_call("bash", r#"{"comm"#).truncated(),
        ),
    ] {
        pi.server().set(EXECUTOR, Steps::from(call));
        let before = pi.asked().len();
        let mark = pi.goal(&format!("Only {what}"));
        let notice = pi.wait_paused(mark);
        assert_eq!(pi.asked().len() - before, IDLE_TURNS_MAX, "{what}");
        assert_eq!(pi.session().pause_reason(), Some("no_progress"), "{what}");
        assert!(notice.text.contains("20 turns"), "{what}: {}", notice.text);
        assert!(
            notice.text.contains("/goal resume"),
            "{what}: {}",
            notice.text
        );
        assert_eq!(
            pi.session().continuations().last().unwrap()["details"]["seq"],
            0,
            "{what}"
        );
        pi.goal("clear");
    }
    pi.assert_calls_and_results_adjacent();
}

#[test]
fn a_turn_that_works_starts_the_count_of_idle_turns_again() {
    let mut turns = 0;
    let steps = Steps::choose(move |_| {
        turns += 1;
        if turns == IDLE_TURNS_MAX {
            bash("true")
        } else {
            get_goal()
        }
    });
    let pi = start(steps);
    let mark = pi.goal("Work once in a while");
    pi.wait_paused(mark);
    assert_eq!(pi.asked().len(), 2 * IDLE_TURNS_MAX);
}

/// Three calls of a tool that can do nothing end the run; each of them says what to do.
fn assert_dead_calls(pi: &Pi, what: &str, says: &str) {
    pi.quiet(goal_tests::pi::QUIET);
    for (tool, call) in [("get_goal", get_goal()), ("update_goal", claim())] {
        pi.server().set(EXECUTOR, Steps::from(call));
        let (before, results) = (pi.asked().len(), pi.session().tool_results(tool).len());
        let mark = pi.prompt("What now?");
        pi.settled_quiet(mark);
        assert_eq!(pi.asked().len() - before, 3, "{what}, {tool}");
        let session = pi.session();
        let results = &session.tool_results(tool)[results..];
        assert_eq!(results.len(), 3, "{what}, {tool}");
        for result in results {
            let text = goal_tests::session::text_of(result);
            assert_eq!(result["isError"], true, "{what}, {tool}: {text}");
            assert!(text.contains(says), "{what}, {tool}: {text}");
        }
        let notice = pi.wait_notice(mark, "The run was ended");
        assert!(notice.text.contains("/goal"), "{}", notice.text);
        // It was our end, not the user's: nothing is paused by it a second time.
        assert!(
            pi.notices_since(mark)
                .iter()
                .all(|notice| !notice.text.contains("Goal paused"))
        );
    }
}

#[test]
fn three_dead_calls_end_a_run_without_a_goal_and_while_it_is_paused_held_or_over() {
    // Without settings there is no core yet: the first call starts it, in mid-run.
    let pi = Pi::start(PiOptions::new(Script::new()).no_config());
    assert_dead_calls(&pi, "no goal", "/goal and a text");

    pi.server().set(EXECUTOR, Reply::text("Which one?"));
    let mark = pi.goal("Something");
    pi.wait_paused(mark);
    assert_dead_calls(&pi, "paused", "/goal resume");
    assert_eq!(
        pi.session().pause_reason(),
        Some("no_progress"),
        "the reason stays"
    );

    let pi = {
        pi.server()
            .set(EXECUTOR, Reply::text("at work").held("gate"));
        let mark = pi.goal("resume");
        pi.wait_event(mark, "agent_start");
        pi.restart(&["--continue"])
    };
    assert_dead_calls(&pi, "held", "/goal resume");

    pi.goal("clear");
    assert_dead_calls(&pi, "cleared", "/goal and a text");
}

#[test]
fn three_dead_calls_end_a_run_of_the_users_own_in_which_a_goal_was_set_and_the_goal_starts() {
    let steps = Steps::of([bash("true").held("gate"), claim(), claim(), claim()])
        .then_repeat(Reply::text("On it?"));
    let pi = Pi::start(PiOptions::new(Script::new().executor(steps)).no_config());
    let mark = pi.prompt("Do something of mine");
    pi.wait_request(EXECUTOR, 1);
    pi.goal("Finish what was begun");
    pi.server().release("gate");
    pi.wait_paused(mark);

    let session = pi.session();
    for result in session.tool_results("update_goal") {
        let text = goal_tests::session::text_of(result);
        assert!(
            text.contains("was set or changed while this run was going"),
            "{text}"
        );
    }
    assert_eq!(session.tool_results("update_goal").len(), 3);
    assert!(session.audits().is_empty());
    let asked = pi.asked();
    assert!(
        asked[4].mentions("Finish what was begun"),
        "the goal starts after the ended run"
    );
    assert_eq!(session.full_messages(), 1);
    let notice = pi.wait_notice(mark, "The run was ended");
    assert!(notice.text.contains("starts by itself"), "{}", notice.text);
}

#[test]
fn other_calls_of_the_batch_do_not_keep_a_run_of_dead_calls_alive() {
    let pi = start(Steps::default());
    // Work between dead calls is work; failures between them are not.
    let failing = get_goal().and_call("bash", json!({ "command": "exit 1" }));
    pi.server().set(EXECUTOR, Steps::from(failing));
    let mark = pi.prompt("Go");
    pi.settled_quiet(mark);
    assert_eq!(pi.asked().len(), 3);

    let before = pi.asked().len();
    let leading = bash("exit 1").and_call("get_goal", json!({}));
    pi.server().set(EXECUTOR, Steps::from(leading));
    let mark = pi.prompt("Go on");
    pi.settled_quiet(mark);
    assert_eq!(pi.asked().len() - before, 3);
    pi.assert_calls_and_results_adjacent();
}

#[test]
fn dead_calls_of_one_batch_are_three_and_the_rest_of_it_is_blocked() {
    let pi = Pi::start(PiOptions::new(Script::new()).no_config());
    let batch = (1..5).fold(get_goal(), |reply, _| reply.and_call("get_goal", json!({})));
    let batch = batch.and_call("write", json!({ "path": "late.txt", "content": "x" }));
    pi.server().set(EXECUTOR, Steps::from(batch));
    let mark = pi.prompt("Go");
    pi.settled_quiet(mark);
    assert_eq!(pi.asked().len(), 1);
    assert_eq!(
        pi.world().file("late.txt"),
        None,
        "what comes after the end of a run is not done"
    );
    let results = pi.session().tool_results("get_goal").len();
    assert_eq!(results, 5, "every call has its result");
}

#[test]
fn a_pause_ends_an_endless_run_of_calls_that_do_nothing() {
    let mut turns = 0;
    let steps = Steps::choose(move |_| {
        turns += 1;
        let call = Reply::call("no_such_tool", json!({}));
        if turns == 5 { call.held("gate") } else { call }
    });
    let pi = start(steps);
    let mark = pi.goal("Turn in circles");
    pi.wait_request(EXECUTOR, 5);
    pi.goal("pause");
    pi.server().release("gate");
    pi.wait_settled(mark);
    pi.quiet(goal_tests::pi::QUIET);
    assert_eq!(pi.session().pause_reason(), Some("user"));
    assert_eq!(pi.asked().len(), 5);
}

#[test]
fn absent_summaries_and_extra_keys_are_a_claim_like_any_other() {
    let claims = [
        json!({ "status": "complete", "completionSummary": null }),
        json!({ "status": "complete", "completionSummary": "" }),
        json!({ "status": "Completed", "extra": 1 }),
        json!({ "completionSummary": "it is there" }),
        json!({}),
    ];
    let script = Script::new().auditor(Steps::choose(|request| {
        if request
            .messages
            .last()
            .is_some_and(|message| message.role == "tool")
        {
            Reply::text("<approved/>")
        } else {
            Reply::call("bash", json!({ "command": "true" }))
        }
    }));
    let pi = Pi::start(PiOptions::new(script));
    for arguments in claims {
        let calls = [
            Reply::call("update_goal", arguments.clone()),
            Reply::text("Bye."),
        ];
        pi.server().set(EXECUTOR, calls);
        let mark = pi.goal("A goal");
        pi.settled_quiet(mark);
        assert_eq!(pi.session().ended(), Some("approved"), "{arguments}");
    }

    // After the approval nothing is left to pause, resume or complete, and it is said kindly.
    let mark = pi.goal("pause");
    assert!(
        pi.wait_notice(mark, "no goal to pause")
            .text
            .contains("/goal")
    );
    let mark = pi.goal("resume");
    assert!(
        pi.wait_notice(mark, "no goal to resume")
            .text
            .contains("/goal")
    );
    pi.server().set(EXECUTOR, [claim(), Reply::text("Well.")]);
    let mark = pi.prompt("Again");
    pi.settled_quiet(mark);
    let session = pi.session();
    assert_eq!(
        session.tool_results("update_goal").last().unwrap()["isError"],
        true
    );
}
