//! Compactions around and inside runs of a goal: the objective is in the very next request, and the
//! full message is sent once for each time it was taken away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use goal_tests::pi::QUIET;
use goal_tests::{EXECUTOR, Pi, PiOptions, Reply, Script, Steps};
use serde_json::json;

const OBJECTIVE: &str = "Translate the seven scrolls of Qumbrax into plain Latin";
const WINDOW: u64 = 10_000;
const FULL: u64 = 9_000;

/// Work with an output long enough to push what came before out of what a compaction keeps.
fn bash() -> Reply {
    Reply::call("bash", json!({ "command": "seq 300" }))
}

fn options(steps: impl Into<Steps>) -> PiOptions {
    PiOptions::new(Script::new().executor(steps)).context_window(EXECUTOR, WINDOW)
}

/// The last step of a script: the goal stops for good.
fn stop() -> Reply {
    Reply::status(401, "enough")
}

/// Every request of the executor names the objective, and only as often as full messages were sent.
fn assert_objective_in_every_request(pi: &Pi) {
    for request in pi.asked() {
        let copies = request.count_in("user", OBJECTIVE);
        if copies != 1 {
            pi.fail(&format!(
                "request {} has the objective {copies} times",
                request.number
            ));
        }
    }
}

#[test]
fn a_compaction_between_runs_brings_the_full_message_once() {
    let steps = [
        bash(),
        Reply::text("a full context").prompt_tokens(FULL),
        bash(),
        Reply::text("after"),
        stop(),
    ];
    let pi = Pi::start(options(steps));
    let mark = pi.goal(OBJECTIVE);
    pi.wait_paused(mark);
    assert_eq!(pi.server().compactions().len(), 1);
    assert_eq!(pi.asked().len(), 5);
    assert_objective_in_every_request(&pi);
    let session = pi.session();
    assert_eq!(
        session.full_messages(),
        2,
        "at start and after the compaction"
    );
    assert_eq!(
        session.goal_field("continuations"),
        2,
        "as many as without it"
    );
}

#[test]
fn a_compaction_inside_a_run_brings_the_full_message_into_the_next_request() {
    let steps = [
        bash(),
        bash().prompt_tokens(FULL),
        bash(),
        Reply::text("after"),
        stop(),
    ];
    let pi = Pi::start(options(steps));
    let mark = pi.goal(OBJECTIVE);
    pi.wait_paused(mark);
    assert_eq!(pi.server().compactions().len(), 1);
    assert_eq!(pi.asked().len(), 5, "and no request of its own");
    assert_objective_in_every_request(&pi);
    pi.assert_calls_and_results_adjacent();
    let session = pi.session();
    assert_eq!(session.full_messages(), 2);
    assert_eq!(session.goal_field("continuations"), 1);
}

#[test]
fn an_overflow_in_mid_run_is_compacted_and_the_run_goes_on_with_the_objective() {
    let steps = [
        bash(),
        Reply::status(400, "prompt is too long: 9 tokens > 8 maximum"),
        bash(),
        Reply::text("after"),
        stop(),
    ];
    let pi = Pi::start(options(steps));
    let mark = pi.goal(OBJECTIVE);
    let notice = pi.wait_paused(mark);
    assert!(
        notice.text.contains("enough"),
        "the overflow stopped nothing: {}",
        notice.text
    );
    assert_eq!(pi.server().compactions().len(), 1);
    assert_eq!(pi.asked().len(), 5);
    assert_objective_in_every_request(&pi);
    assert_eq!(pi.session().full_messages(), 2);
    assert_eq!(pi.session().goal_field("erroredStreak"), 0);
}

#[test]
fn an_overflow_that_compaction_does_not_mend_pauses_and_names_compact() {
    let overflow = || Reply::status(400, "prompt is too long: 9 tokens > 8 maximum");
    let pi = Pi::start(options([bash(), overflow(), overflow()]));
    let mark = pi.goal(OBJECTIVE);
    let notice = pi.wait_paused(mark);
    assert_eq!(pi.session().goal_field("pauseKind"), "context_overflow");
    assert!(
        notice.text.contains("prompt is too long"),
        "{}",
        notice.text
    );
    assert!(notice.text.contains("/compact"), "{}", notice.text);
    assert_eq!(pi.asked().len(), 3);
    assert_objective_in_every_request(&pi);
}

#[test]
fn a_full_message_that_a_compaction_kept_is_not_sent_again() {
    let steps = [
        bash(),
        Reply::text("a full context").prompt_tokens(FULL),
        bash(),
        Reply::text("after"),
        stop(),
    ];
    // Enough is kept for the goal's message, but not for the talk before it.
    let pi = Pi::start(
        options(Reply::text("hello ".repeat(600)))
            .setting("compaction.keepRecentTokens", json!(3_000)),
    );
    for _ in 0..3 {
        let mark = pi.prompt("Chat with me");
        pi.settled_quiet(mark);
    }
    let chats = pi.asked().len();
    pi.server().set(EXECUTOR, steps);
    let mark = pi.goal(OBJECTIVE);
    pi.wait_paused(mark);
    assert_eq!(pi.server().compactions().len(), 1);
    assert_eq!(pi.session().full_messages(), 1);
    for request in &pi.asked()[chats..] {
        assert_eq!(request.count_in("user", OBJECTIVE), 1);
    }
}

#[test]
fn a_compaction_that_fails_stops_nothing() {
    let steps = [
        bash().prompt_tokens(FULL),
        Reply::text("a full context").prompt_tokens(FULL),
        bash().prompt_tokens(FULL),
        Reply::text("still full").prompt_tokens(FULL),
        stop(),
    ];
    let script = Script::new()
        .executor(steps)
        .compaction(Reply::status(400, "no summaries today"));
    let pi = Pi::start(PiOptions::new(script).context_window(EXECUTOR, WINDOW));
    let mark = pi.goal(OBJECTIVE);
    let notice = pi.wait_paused(mark);
    assert!(notice.text.contains("enough"), "{}", notice.text);
    assert!(!pi.server().compactions().is_empty());
    assert_eq!(pi.asked().len(), 5);
    assert_objective_in_every_request(&pi);
    assert_eq!(pi.session().full_messages(), 1);
    assert_eq!(pi.session().goal_field("continuations"), 2);
}

#[test]
fn an_overflow_whose_compaction_fails_pauses_with_the_overflow() {
    let steps = [
        bash(),
        Reply::status(400, "prompt is too long: 9 tokens > 8 maximum"),
    ];
    let script = Script::new()
        .executor(steps)
        .compaction(Reply::status(400, "no summaries today"));
    let pi = Pi::start(PiOptions::new(script).context_window(EXECUTOR, WINDOW));
    let mark = pi.goal(OBJECTIVE);
    let notice = pi.wait_paused(mark);
    assert_eq!(pi.session().goal_field("pauseKind"), "context_overflow");
    assert!(
        notice.text.contains("prompt is too long"),
        "{}",
        notice.text
    );
    assert_eq!(pi.asked().len(), 2);
}

#[test]
fn a_compaction_of_a_resting_goal_sends_nothing() {
    let pi =
        Pi::start(options(Reply::text("Which one?")).caps(json!({ "maxEmptyContinuations": 1 })));
    let mark = pi.goal(OBJECTIVE);
    pi.wait_paused(mark);
    pi.server().set(
        EXECUTOR,
        [
            bash().prompt_tokens(FULL),
            Reply::text("yours").prompt_tokens(FULL),
        ],
    );
    let mark = pi.prompt("Something of my own");
    pi.settled_quiet(mark);
    assert!(!pi.server().compactions().is_empty());
    assert_eq!(pi.asked().len(), 3);
    assert_eq!(pi.session().full_messages(), 1);
    assert_eq!(pi.session().continuations().len(), 1);
}

#[test]
fn a_back_off_that_ends_during_a_manual_compaction_starts_the_goal_after_it() {
    let script = Script::new()
        .executor([
            bash(),
            Reply::text("x ".repeat(900)),
            Reply::status(500, "overloaded"),
        ])
        .compaction(Reply::text("## Goal\nA summary.").held("summary"));
    let options = PiOptions::new(script).setting("retry.enabled", json!(false));
    let pi = Pi::start(options.context_window(EXECUTOR, WINDOW));
    let mark = pi.goal(OBJECTIVE);
    pi.wait_back_off(mark);
    pi.server()
        .set(EXECUTOR, [bash(), Reply::text("after"), stop()]);
    pi.send(&json!({ "type": "compact" }));
    pi.wait_event(mark, "compaction_start");
    pi.wait_for(mark, "the end of the back-off", |record| {
        record["method"] == "setStatus" && record["statusText"] == "goal: waiting for pi"
    });
    pi.silent(QUIET);
    assert_eq!(pi.asked().len(), 3, "nothing is asked while pi compacts");

    pi.server().release("summary");
    pi.wait_paused(mark);
    assert_eq!(pi.asked().len(), 6);
    assert_objective_in_every_request(&pi);
    assert_eq!(pi.session().full_messages(), 2);
    assert_eq!(
        pi.session().goal_field("continuations"),
        3,
        "two runs and the restart"
    );
}

#[test]
fn a_manual_compaction_inside_a_back_off_leaves_it_armed_and_resume_during_one_waits_for_its_end() {
    let script = Script::new()
        .executor([
            bash(),
            Reply::text("x ".repeat(900)),
            Reply::status(500, "overloaded"),
        ])
        .compaction(
            Steps::of([Reply::text("## Goal\nA.")])
                .then_repeat(Reply::text("## Goal\nB.").held("b")),
        );
    let options = PiOptions::new(script).setting("retry.enabled", json!(false));
    let pi = Pi::start(options.context_window(EXECUTOR, WINDOW));
    let mark = pi.goal(OBJECTIVE);
    pi.wait_back_off(mark);
    assert_eq!(pi.compact()["success"], true);
    pi.quiet(QUIET);
    assert_eq!(pi.asked().len(), 3);
    assert!(
        pi.status("goal")
            .unwrap()
            .contains("waiting after a model error")
    );

    pi.server().set(
        EXECUTOR,
        [
            Reply::text("y ".repeat(900)),
            Reply::status(500, "overloaded"),
        ],
    );
    let mark = pi.goal("resume");
    pi.wait_back_off(mark);
    pi.goal("pause");
    pi.send(&json!({ "type": "compact" }));
    pi.wait_event(mark, "compaction_start");
    pi.server().set(EXECUTOR, [stop()]);
    let mark = pi.goal("resume");
    pi.wait_notice(mark, "as soon as pi has finished");
    pi.server().release("b");
    pi.wait_paused(mark);
    assert_eq!(pi.asked().len(), 6);
    assert_eq!(pi.asked().last().unwrap().count_in("user", OBJECTIVE), 1);
    assert_eq!(
        pi.session().full_messages(),
        3,
        "at start and at each resume"
    );
}

#[test]
fn a_manual_compaction_in_mid_run_is_an_abort_and_pauses() {
    let pi = Pi::start(options([
        bash(),
        Reply::text("x ".repeat(900)),
        Reply::text("talking on").stalled(),
    ]));
    let mark = pi.goal(OBJECTIVE);
    pi.wait_request(EXECUTOR, 3);
    assert_eq!(pi.compact()["success"], true);
    pi.wait_paused(mark);
    assert_eq!(pi.session().pause_reason(), Some("aborted"));
    pi.server().set(EXECUTOR, [stop()]);
    let mark = pi.goal("resume");
    pi.wait_paused(mark);
    assert_eq!(pi.asked().last().unwrap().count_in("user", OBJECTIVE), 1);
}

/// A goal in a back-off whose context is full, because no summary could be had so far; the switch
/// makes them succeed.
fn full_and_backing_off() -> (Pi, goal_tests::Mark, Arc<AtomicBool>) {
    let works = Arc::new(AtomicBool::new(false));
    let switch = Arc::clone(&works);
    let script = Script::new()
        .executor([
            bash(),
            Reply::text("a full context").prompt_tokens(FULL),
            Reply::status(500, "overloaded"),
        ])
        .compaction(Steps::choose(move |_| {
            if switch.load(Ordering::Relaxed) {
                Reply::text("## Goal\nA summary.")
            } else {
                Reply::status(400, "no summaries today")
            }
        }));
    let options = PiOptions::new(script).setting("retry.enabled", json!(false));
    let pi = Pi::start(options.context_window(EXECUTOR, WINDOW));
    let mark = pi.goal(OBJECTIVE);
    pi.wait_back_off(mark);
    pi.server()
        .set(EXECUTOR, [bash(), Reply::text("after"), stop()]);
    (pi, mark, works)
}

/// pi makes up for a compaction that failed before the next run starts.
fn assert_compacted_before_the_run(pi: &Pi, mark: goal_tests::Mark, full_messages: usize) {
    pi.wait_paused(mark);
    assert_eq!(pi.asked().len(), 6);
    assert_objective_in_every_request(pi);
    assert_eq!(pi.session().full_messages(), full_messages);
}

#[test]
fn a_compaction_before_a_run_of_the_user_brings_the_full_message_into_its_first_request() {
    let (pi, mark, works) = full_and_backing_off();
    works.store(true, Ordering::Relaxed);
    pi.prompt("Go on");
    assert_compacted_before_the_run(&pi, mark, 2);
}

#[test]
fn a_compaction_before_the_restart_brings_the_full_message_into_its_first_request() {
    let (pi, mark, works) = full_and_backing_off();
    works.store(true, Ordering::Relaxed);
    assert_compacted_before_the_run(&pi, mark, 2);
}

#[test]
fn a_compaction_before_a_resumed_run_leaves_it_at_the_message_of_the_resume() {
    let (pi, mark, works) = full_and_backing_off();
    works.store(true, Ordering::Relaxed);
    pi.goal("resume");
    assert_compacted_before_the_run(&pi, mark, 2);
}
