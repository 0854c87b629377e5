//! `pi -p` and `--mode json`: what comes out, and the exit status.

use goal_tests::{EXECUTOR, Finished, PiOptions, Reply, Script, Steps, World};
use serde_json::json;

fn bash() -> Reply {
    Reply::call("bash", json!({ "command": "true" }))
}

fn claim() -> Reply {
    Reply::call("update_goal", json!({ "status": "complete" }))
}

/// A goal that is worked on in two runs and approved.
fn whole_goal() -> Script {
    Script::new()
        .executor([
            bash(),
            Reply::text("half"),
            bash(),
            claim(),
            Reply::text("All of it is done."),
        ])
        .auditor([bash(), Reply::text("<approved/>")])
}

fn options(steps: impl Into<Steps>) -> PiOptions {
    PiOptions::new(Script::new().executor(steps)).setting("retry.enabled", json!(false))
}

fn assert_failed(finished: &Finished, reason: &str) {
    assert_eq!(finished.code, Some(2), "{finished:?}");
    assert!(finished.stderr.contains(reason), "{finished:?}");
    assert!(
        !finished.stdout.contains(reason),
        "stdout stays pi's: {finished:?}"
    );
}

#[test]
fn an_approved_goal_prints_the_last_words_and_gives_0() {
    let world = World::new(PiOptions::new(whole_goal()));
    let finished = world.headless(&["-p", "/goal Do all of it"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(finished.stdout.trim(), "All of it is done.", "{finished:?}");
    assert_eq!(world.server.requests_of(EXECUTOR).len(), 5);
    assert!(world.server.requests_of(EXECUTOR)[0].mentions("Do all of it"));
    assert_eq!(world.session().ended(), Some("approved"));
    world.assert_no_process_left();
}

#[test]
fn json_mode_writes_the_events_of_the_whole_goal_and_gives_0() {
    let world = World::new(PiOptions::new(whole_goal()));
    let finished = world.headless(&["--mode", "json", "/goal Do all of it"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let records = finished.records();
    let words = records
        .iter()
        .rev()
        .find(|record| record["type"] == "message_end")
        .unwrap();
    assert!(words.to_string().contains("All of it is done."));
    assert_eq!(records.last().unwrap()["type"], "agent_settled");
    world.assert_no_process_left();
}

#[test]
fn a_goal_that_pauses_gives_2_and_its_reason_on_stderr_in_both_modes() {
    for mode in [&["-p"][..], &["--mode", "json"]] {
        let world = World::new(options(Reply::text("Which one?")));
        let finished = world.headless(&[mode, &["/goal Choose"]].concat());
        assert_failed(&finished, "runs in a row did no work");
        assert!(finished.stderr.contains("/goal resume"), "{finished:?}");
        assert_eq!(world.server.requests_of(EXECUTOR).len(), 3);
        assert_eq!(world.session().pause_reason(), Some("no_progress"));
        world.assert_no_process_left();
    }
}

#[test]
fn a_goal_that_ends_in_a_model_error_gives_2_and_the_providers_words() {
    let world = World::new(options([Reply::status(401, "the key was revoked")]));
    let finished = world.headless(&["-p", "/goal Try"]);
    assert_eq!(finished.code, Some(2), "{finished:?}");
    assert!(finished.stderr.contains("Goal paused"), "{finished:?}");
    assert!(
        finished.stderr.contains("the key was revoked"),
        "{finished:?}"
    );
}

#[test]
fn an_endless_run_is_ended_and_gives_2() {
    let world = World::new(options(Reply::call("get_goal", json!({}))));
    let finished = world.headless(&["-p", "/goal Turn in circles"]);
    assert_failed(&finished, "20 turns");
    assert_eq!(world.server.requests_of(EXECUTOR).len(), 20);
}

#[test]
fn a_back_off_counts_as_running() {
    let steps = [
        Reply::status(500, "overloaded"),
        claim(),
        Reply::text("Done after all."),
    ];
    let script = Script::new()
        .executor(steps)
        .auditor([bash(), Reply::text("<approved/>")]);
    let options = PiOptions::new(script).setting("retry.enabled", json!(false));
    let world = World::new(options);
    let finished = world.headless(&["-p", "/goal Get through"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(finished.stdout.trim(), "Done after all.");
    assert!(
        finished.stderr.contains("overloaded"),
        "the wait is told: {finished:?}"
    );
}

#[test]
fn refused_starts_and_resumes_give_2_and_the_other_forms_0() {
    let pi = options(Steps::of([bash(), Reply::text("Which one?")]).repeat_last())
        .caps(json!({ "maxEmptyContinuations": 1 }));
    let world = World::new(pi);
    assert_failed(
        &world.headless(&["-p", "/goal resume"]),
        "no goal to resume",
    );
    assert_failed(&world.headless(&["-p", "/goal set"]), "Nothing to set");
    for (form, says) in [
        ("/goal status", "No goal is set"),
        ("/goal pause", "no goal to pause"),
        ("/goal help", "/goal resume"),
    ] {
        let finished = world.headless(&["-p", form]);
        assert_eq!(finished.code, Some(0), "{form}: {finished:?}");
        assert!(finished.stderr.contains(says), "{form}: {finished:?}");
        assert_eq!(finished.stdout.trim(), "", "{form}");
    }
    assert!(
        world.server.requests().is_empty(),
        "none of these asks a model"
    );

    // A session with a goal: held in the next process, which starts nothing by itself.
    assert_failed(&world.headless(&["-p", "/goal First"]), "Goal paused");
    let asked = world.server.requests().len();
    assert_failed(
        &world.headless(&["-p", "--continue", "/goal Second"]),
        "There is a goal already",
    );
    let status = world.headless(&["-p", "--continue", "/goal status"]);
    assert_eq!(status.code, Some(0), "{status:?}");
    assert!(
        status.stderr.contains("First") && status.stderr.contains("no progress"),
        "{status:?}"
    );
    assert_eq!(world.server.requests().len(), asked);
    assert_failed(
        &world.headless(&["-p", "--continue", "/goal resume"]),
        "Goal paused",
    );
    assert!(world.server.requests().len() > asked);
}

#[test]
fn an_auditor_that_cannot_be_had_refuses_the_start() {
    let world = World::new(options(Reply::text("hi")).caps(json!({ "model": "nobody" })));
    assert_failed(&world.headless(&["-p", "/goal Anything"]), "nobody");
    assert!(world.server.requests().is_empty());
}

#[test]
fn a_process_without_a_goal_keeps_pis_own_status() {
    let world = World::new(options([Reply::text("Hello."), Reply::status(401, "no")]));
    let finished = world.headless(&["-p", "Hi"]);
    assert_eq!(
        (finished.code, finished.stdout.trim()),
        (Some(0), "Hello."),
        "{finished:?}"
    );
    assert_eq!(finished.stderr, "");
    assert_eq!(world.server.requests_of(EXECUTOR).len(), 1);
    let finished = world.headless(&["-p", "Hi"]);
    assert_eq!(finished.code, Some(1), "pi's own failure: {finished:?}");
    world.assert_no_process_left();
}

#[test]
fn two_goals_in_one_process_give_2_if_one_of_them_failed() {
    let steps = Steps::of([
        claim(),
        Reply::text("First done."),
        Reply::text("Which one?"),
    ])
    .repeat_last();
    let script = Script::new()
        .executor(steps)
        .auditor([bash(), Reply::text("<approved/>")]);
    let world = World::new(PiOptions::new(script).caps(json!({ "maxEmptyContinuations": 1 })));
    let finished = world.headless(&["-p", "/goal First", "/goal Second"]);
    assert_failed(&finished, "did no work");
    assert_eq!(world.session().pause_reason(), Some("no_progress"));
}

/// The page whose path is the last word on stderr.
fn page_of(finished: &Finished) -> String {
    let path = finished.stderr.trim_end().rsplit(": ").next();
    let path = path.unwrap_or_default();
    assert!(path.contains("goal-reports"), "{finished:?}");
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn a_goal_that_was_worked_on_leaves_a_report_and_says_where() {
    let world = World::new(PiOptions::new(whole_goal()));
    let finished = world.headless(&["-p", "/goal Do all of it"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let page = page_of(&finished);
    assert!(
        page.contains("Do all of it") && page.contains("approved"),
        "{page}"
    );

    let world = World::new(options(Reply::text("Which one?")));
    let finished = world.headless(&["--mode", "json", "/goal Choose"]);
    assert_failed(&finished, "Goal paused");
    let page = page_of(&finished);
    assert!(
        page.contains("Paused: several runs in a row did no work"),
        "{page}"
    );
    let told = world.headless(&["-p", "--continue", "/goal"]);
    assert!(!told.stderr.contains("goal-reports"), "{told:?}");
}

#[test]
fn a_goal_needs_no_session_file() {
    let world = World::new(PiOptions::new(whole_goal()));
    let finished = world.headless(&["-p", "--no-session", "/goal Do all of it"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(finished.stdout.trim(), "All of it is done.");
    assert!(!finished.stderr.contains("eport"), "{finished:?}");
    assert!(world.session_files().is_empty());
}

#[test]
fn a_plain_prompt_whose_agent_turns_in_circles_ends() {
    let world = World::new(options(Reply::call("get_goal", json!({}))));
    world.headless(&["-p", "Hi"]);
    assert_eq!(world.server.requests_of(EXECUTOR).len(), 3);
    world.assert_no_process_left();
}
