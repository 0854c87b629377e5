//! `/goal why`, `limit`, `accept`, `edit` …: the user steers a goal on the real pi.

use goal_tests::moment::{approval, claim, work};
use goal_tests::{
    AUDITOR, Dialogs, Draft, EXECUTOR, Mark, Pi, PiOptions, Reply, Script, Steps, Tui, World,
};
use serde_json::json;
use std::sync::Arc;

fn stalling() -> PiOptions {
    PiOptions::new(Script::new().executor(Reply::text("Hm").stalled()))
}

/// The models from here on: a goal that is worked on once, claimed, and approved.
fn an_easy_goal(pi: &Pi) {
    pi.server()
        .set(EXECUTOR, [work(), claim(), Reply::text("That was it.")]);
    pi.server().set(AUDITOR, Steps::of(approval()));
}

/// Answers the editor opened since `mark`.
fn save_edit(pi: &Pi, mark: Mark, text: &str) -> String {
    let opened = pi.wait_dialog(mark, "editor");
    pi.send(&json!({ "type": "extension_ui_response", "id": opened["id"], "value": text }));
    opened["prefill"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_refused_goal_is_understood_limited_and_accepted() {
    let refusal = [
        Reply::call("bash", json!({ "command": "ls" })),
        Reply::text("The rhyme of verse two is missing.\n\n<disapproved/>"),
    ];
    let script = Script::new()
        .executor([claim(), Reply::text("Hm").stalled()])
        .model(AUDITOR, Steps::of(refusal));
    let pi = Pi::start(PiOptions::new(script));
    let mark = pi.goal("Write a poem");
    pi.wait_request(EXECUTOR, 2);
    pi.prompt("/goal accept");
    pi.wait_notice(mark, "/goal pause first");
    let limited = pi.prompt("/goal limit 7");
    let told = pi.wait_notice(limited, "now 7 continuations").text;
    assert!(told.contains("before: 100"), "{told}");
    assert_eq!(pi.session().goal_field("gate")["maxContinuations"], 7);
    pi.prompt("/goal pause");
    pi.settled_quiet(mark);

    // What was refused is known in another process too.
    let pi = pi.restart(&["--continue"]);
    let asked = pi.prompt("/goal why");
    let told = pi.wait_notice(asked, "you paused it").text;
    assert!(told.contains("The rhyme of verse two is missing"), "{told}");
    pi.answer_dialogs(Dialogs::No);
    let asked = pi.prompt("/goal accept");
    let question = pi.wait_dialog(asked, "confirm");
    let message = question["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("Write a poem") && message.contains("disapproved"),
        "{message}"
    );
    pi.wait_notice(asked, "not accepted");
    pi.answer_dialogs(Dialogs::Yes);
    let asked = pi.prompt("/goal accept");
    pi.wait_notice(asked, "Goal accepted by you");
    let session = pi.session();
    assert_eq!(
        (session.phase(), session.ended()),
        ("none", Some("accepted"))
    );
}

#[test]
fn an_edit_in_a_run_starts_anew_with_the_new_words_and_the_same_goal() {
    let pi = Pi::start(stalling());
    pi.answer_dialogs(Dialogs::Ignore);
    let mark = pi.goal("Write a poem");
    pi.wait_request(EXECUTOR, 1);
    let id = pi.session_in_memory().goal_field("id").clone();
    pi.prompt("/goal edit");
    an_easy_goal(&pi);
    assert_eq!(save_edit(&pi, mark, "Write a sonnet"), "Write a poem");
    pi.wait_notice(mark, "Goal complete: Write a sonnet");
    pi.settled_quiet(mark);
    let asked = pi.asked();
    assert_eq!(asked.len(), 4);
    assert!(asked[1].last_text().contains("Write a sonnet"));
    let session = pi.session();
    assert_eq!(session.audit_outcomes(), ["approved"]);
    assert_eq!(session.audits()[0]["goalId"], id);
    assert!(
        !pi.notices_since(mark)
            .iter()
            .any(|n| n.text.contains("paused"))
    );
}

#[test]
fn an_edit_of_a_held_goal_waits_for_resume_and_a_cancelled_one_changes_nothing() {
    let pi = Pi::start(stalling());
    let held = Draft::new(pi.world()).goal(json!({ "objective": "Write a poem" }));
    let mark = pi.switch_session(&held.write(pi.world(), "held"));
    pi.wait_notice(mark, "on hold");
    let asked = pi.prompt("/goal edit"); // The harness cancels it.
    pi.wait_notice(asked, "kept as it is");
    pi.answer_dialogs(Dialogs::Ignore);
    let asked = pi.prompt("/goal edit");
    save_edit(&pi, asked, "Write a sonnet");
    let told = pi.wait_notice(asked, "Goal changed: Write a sonnet").text;
    assert!(told.contains("/goal resume"), "{told}");
    assert_eq!(pi.asked().len(), 0, "it still rests");
    an_easy_goal(&pi);
    let asked = pi.prompt("/goal resume");
    pi.wait_notice(asked, "Goal complete: Write a sonnet");
}

#[test]
fn the_objective_may_stand_in_a_file() {
    let options = stalling()
        .file("docs/TASK.md", "\u{feff}Write a poem\nof two verses\n")
        .file("docs/big.md", &"a".repeat(65_537))
        .file("docs/empty.md", " \n");
    let pi = Pi::start(options);
    for (typed, why) in [
        ("@docs", "folder"),
        ("@docs/big.md", "65537 bytes"),
        ("set @docs/empty.md", "is empty"),
    ] {
        let mark = pi.goal(typed);
        let told = pi.wait_notice(mark, "No goal was set").text;
        assert!(told.contains(why), "{told}");
        assert_eq!(pi.editor_text(), Some(format!("/goal {typed}")));
    }
    pi.goal("@docs/TASK.md");
    let first = pi.wait_request(EXECUTOR, 1);
    assert!(first.last_text().contains("Write a poem\nof two verses"));
    pi.prompt("/goal clear");
    pi.goal("@docs/missing.md");
    let second = pi.wait_request(EXECUTOR, 2);
    assert!(second.last_text().contains("@docs/missing.md"));
}

#[test]
fn the_settings_in_force_are_shown_with_their_sources() {
    let pi = Pi::start(stalling().caps(json!({ "maxContinuations": 5 })));
    let mark = pi.prompt("/goal config");
    let told = pi.wait_notice(mark, "maxContinuations").text;
    let row = told
        .lines()
        .find(|line| line.starts_with("maxContinuations "))
        .unwrap_or_default();
    assert!(
        row.contains("  5  ") && row.ends_with("file, line 1"),
        "{told}"
    );
    assert!(told.contains("goal-auditor.json"), "{told}");
    assert!(
        told.contains("idleTimeoutMs") && told.contains("default"),
        "{told}"
    );
}

#[test]
fn a_report_is_written_where_one_says_or_into_the_agent_folder() {
    let pi = Pi::start(stalling());
    let mark = pi.prompt("/goal report");
    pi.wait_notice(mark, "No report was written");
    an_easy_goal(&pi);
    let mark = pi.goal("Write a poem");
    pi.wait_notice(mark, "Goal complete");
    pi.settled_quiet(mark);
    let mark = pi.prompt("/goal report goal.md");
    pi.wait_notice(mark, "goal.md");
    let report = pi.world().file("goal.md").unwrap_or_default();
    assert!(report.contains("Write a poem"), "{report}");
    let mark = pi.prompt("/goal report");
    let told = pi.wait_notice(mark, "goal-reports").text;
    let path = told.rsplit(": ").next().unwrap_or_default().trim();
    let page = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        path.ends_with(".html") && page.contains("Write a poem"),
        "{told}"
    );
}

/// The auditor finds something missing, and approves when asked again.
fn refusal_then_approval() -> Steps {
    let [look, approve] = approval();
    let refuse = Reply::text("The rhyme of verse two is missing.\n\n<disapproved/>");
    Steps::of([look.clone(), refuse, look, approve])
}

#[test]
fn the_user_has_the_work_audited_in_a_run_and_the_agent_goes_on_with_the_objections() {
    let pi = Pi::start(stalling());
    pi.server().set(AUDITOR, refusal_then_approval());
    let mark = pi.goal("Write a poem");
    pi.wait_request(EXECUTOR, 1);
    let audited = pi.prompt("/goal audit");
    let told = pi
        .wait_notice(audited, "Audit 1 by sim/auditor: disapproved")
        .text;
    assert!(told.contains("The rhyme of verse two is missing"), "{told}");
    let next = pi.wait_request(EXECUTOR, 2);
    assert!(
        next.last_text()
            .contains("The rhyme of verse two is missing")
    );
    let audited = pi.prompt("/goal audit");
    pi.wait_notice(audited, "Goal complete: Write a poem");
    pi.settled_quiet(mark);
    let session = pi.session();
    assert_eq!(session.audit_outcomes(), ["disapproved", "approved"]);
    assert_eq!(session.ended(), Some("approved"));
    assert_eq!(pi.asked().len(), 2, "nothing follows the approval");
    assert!(
        !pi.notices_since(mark)
            .iter()
            .any(|n| n.text.contains("paused"))
    );
}

#[test]
fn an_audit_of_a_paused_goal_leaves_it_paused_and_is_stopped_by_pause() {
    let pi = Pi::start(stalling());
    pi.server().set(AUDITOR, refusal_then_approval());
    let mark = pi.goal("Write a poem");
    pi.wait_request(EXECUTOR, 1);
    pi.prompt("/goal pause");
    pi.settled_quiet(mark);
    let audited = pi.prompt("/goal audit");
    let told = pi.wait_notice(audited, "disapproved").text;
    assert!(told.contains("paused (by you), as before"), "{told}");
    pi.server().set(AUDITOR, Reply::text("Hm").stalled());
    let asked = pi.server().requests_of(AUDITOR).len();
    let audited = pi.prompt("/goal audit");
    pi.wait_request(AUDITOR, asked + 1);
    pi.prompt("/goal pause");
    pi.wait_notice(audited, "The audit was stopped");
    let session = pi.session();
    assert_eq!(session.audit_outcomes(), ["disapproved", "aborted"]);
    assert_eq!(session.pause_reason(), Some("user"));
    assert_eq!(pi.asked().len(), 1);
}

#[test]
fn in_the_terminal_esc_stops_the_users_audit_and_the_goal_stays_as_it_was() {
    let tui = Tui::start(stalling());
    tui.world().server.set(AUDITOR, Reply::text("Hm").stalled());
    tui.wait_screen("executor");
    tui.submit("/goal Write a poem");
    tui.wait_screen("● goal pursuing");
    tui.submit("/goal pause");
    tui.wait_screen("■ goal paused");
    tui.submit("/goal audit");
    tui.wait_screen("is looking at the work now");
    tui.wait_until("the auditor to be asked", |_| {
        !tui.world().server.requests_of(AUDITOR).is_empty()
    });
    tui.press("Escape");
    tui.wait_screen("The audit was stopped");
    tui.wait_screen("■ goal paused");
}

/// An audit without a call of the agent has its own place in the conversation.
fn assert_users_audit_is_shown(tui: &Tui) {
    let screen = tui.wait_screen("Goal: you asked the auditor");
    for words in [
        "✗ refused · sim/auditor",
        "│ The rhyme of verse two is missing.",
    ] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    assert!(!screen.contains("✓ bash"), "{screen}");
    tui.press("C-o");
    tui.wait_screen("✓ bash");
}

#[test]
fn in_the_terminal_the_users_audit_is_shown_with_its_checks_and_report() {
    let tui = Tui::start(stalling());
    tui.wait_screen("executor");
    tui.submit("/goal Write a poem");
    tui.wait_screen("● goal pursuing");
    tui.submit("/goal pause");
    tui.wait_screen("■ goal paused");
    tui.world().server.set(AUDITOR, refusal_then_approval());
    tui.submit("/goal audit");
    tui.wait_screen("as before");
    assert_users_audit_is_shown(&tui);
}

#[test]
fn in_the_terminal_an_earlier_audit_of_the_users_is_shown_too() {
    let world = Arc::new(World::new(stalling()));
    let held = Draft::new(&world).goal(json!({})).write(&world, "held");
    let held = held.to_str().unwrap_or_default();
    world.server.set(AUDITOR, refusal_then_approval());
    world.headless(&["-p", "--session", held, "/goal audit"]);
    let tui = Tui::start_in(Arc::clone(&world), 100, 40, &["--session", held]);
    assert_users_audit_is_shown(&tui);
}

#[test]
fn in_a_script_an_audit_is_waited_for_and_sets_the_exit_status() {
    let world = World::new(stalling());
    let held = Draft::new(&world)
        .goal(json!({ "objective": "Write a poem" }))
        .write(&world, "held");
    let held = held.to_str().unwrap_or_default();
    world.server.set(AUDITOR, refusal_then_approval());
    let ended = world.headless(&["-p", "--session", held, "/goal audit"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("The rhyme of verse two is missing"),
        "{}",
        ended.stderr
    );
    let ended = world.headless(&["-p", "--session", held, "/goal audit"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("Goal complete"), "{}", ended.stderr);
    assert_eq!(world.server.requests_of(EXECUTOR).len(), 0);
}

#[test]
fn in_a_script_the_outcome_and_the_reports_path_are_on_stderr() {
    let script = Script::new()
        .executor([work(), claim(), Reply::text("That was it.")])
        .model(AUDITOR, Steps::of(approval()));
    let world = World::new(PiOptions::new(script).file("TASK.md", "Write a poem"));
    let session = world.home().join("goal.jsonl");
    let session = session.to_str().unwrap_or_default();
    let typed = [
        "-p",
        "--session",
        session,
        "/goal @TASK.md",
        "/goal report ~/goal.md",
    ];
    let ended = world.headless(&typed);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("Goal complete: Write a poem"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("goal.md"), "{}", ended.stderr);
    assert!(world.home().join("goal.md").exists());
    let ended = world.headless(&["-p", "--session", session, "/goal accept"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
}

#[test]
fn in_the_terminal_the_objective_is_edited_where_it_is_typed() {
    let tui = Tui::start(stalling());
    tui.wait_screen("executor");
    tui.submit("/goal Write a poem");
    tui.wait_screen("● goal pursuing");
    tui.submit("/goal edit");
    tui.wait_screen("Edit the goal's objective");
    tui.type_text(" about the sea");
    tui.press("Enter");
    tui.wait_screen("Goal changed: Write a poem about the sea");
    tui.wait_screen("● goal pursuing");
}
