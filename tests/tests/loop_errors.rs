//! Model errors: what pauses at once, what backs off and starts again, and what is counted.

use std::time::Duration;

use goal_tests::{EXECUTOR, Pi, PiOptions, Reply, Script, Steps};
use serde_json::json;

fn bash(command: &str) -> Reply {
    Reply::call("bash", json!({ "command": command }))
}

/// pi's own retries are off, so that every refusal is an errored run.
fn options(steps: impl Into<Steps>) -> PiOptions {
    PiOptions::new(Script::new().executor(steps)).setting("retry.enabled", json!(false))
}

#[test]
fn errors_that_no_retry_mends_pause_at_once_and_quote_the_provider() {
    // pi would compact and retry an overflow; that is another test.
    let pi = Pi::start(options(Steps::default()).setting("compaction.enabled", json!(false)));
    let overflow = "prompt is too long: 210000 tokens > 200000 maximum";
    for (status, body, kind, way_on) in [
        (400, overflow, "context_overflow", "/compact"),
        (401, "the key was revoked", "authentication", "/login"),
        (403, "not for you", "authentication", "/login"),
        (402, "please pay", "quota", "/model"),
        (
            429,
            "insufficient_quota: you exceeded your current quota",
            "quota",
            "/model",
        ),
        (
            404,
            "The model `executor` does not exist",
            "unknown_model",
            "/model",
        ),
    ] {
        pi.server().set(EXECUTOR, [Reply::status(status, body)]);
        let before = pi.asked().len();
        let mark = pi.goal("Anything");
        let notice = pi.wait_paused(mark);
        let session = pi.session();
        assert_eq!(
            session.pause_reason(),
            Some("model_errors"),
            "{status} {body}"
        );
        assert_eq!(session.goal_field("pauseKind"), kind, "{status} {body}");
        assert!(notice.text.contains(body), "{}", notice.text);
        assert!(
            notice.text.contains(way_on) && notice.text.contains("/goal resume"),
            "{}",
            notice.text
        );
        assert_eq!(
            pi.asked().len() - before,
            1,
            "no request after {status} {body}"
        );
        pi.goal("clear");
    }
}

#[test]
fn five_errored_runs_in_a_row_pause_with_ever_longer_waits_between() {
    let errors = [
        Reply::status(500, "overloaded"),
        Reply::status(429, "rate-limited upstream"),
        Reply::text("half an ans").dropped(),
        Reply::status(503, r#"{"type":"server_error"}"#),
        Reply::status(500, "the last straw"),
    ];
    let pi = Pi::start(options(errors));
    let mut mark = pi.goal("Anything");
    for (run, wait) in [5, 15, 45, 135].into_iter().enumerate() {
        assert_eq!(pi.wait_back_off(mark), wait);
        pi.quiet(goal_tests::pi::QUIET);
        assert_eq!(pi.asked().len(), run + 1, "a back-off is silent");
        assert!(
            pi.status("goal")
                .unwrap()
                .contains("waiting after a model error")
        );
        assert_eq!(pi.session().phase(), "pursuing");
        // A message of the user cancels the wait; its run is the goal's and counts.
        mark = pi.prompt("Go on");
    }
    let notice = pi.wait_paused(mark);
    assert_eq!(pi.session().pause_reason(), Some("model_errors"));
    assert!(notice.text.contains("the last straw"), "{}", notice.text);
    assert!(notice.text.contains("/goal resume"), "{}", notice.text);
    assert_eq!(pi.asked().len(), 5);

    pi.server().push(EXECUTOR, Reply::status(500, "again"));
    let mark = pi.goal("resume");
    assert_eq!(
        pi.wait_back_off(mark),
        5,
        "a resume counts from the beginning"
    );
}

#[test]
fn pis_own_retries_come_first_and_a_run_they_mend_is_no_error() {
    let steps = [
        Reply::status(500, "overloaded"),
        Reply::status(429, "slow down"),
        Reply::text("half an ans").dropped(),
        bash("true"),
        Reply::text("worked"),
        Reply::status(401, "the end"),
    ];
    let pi = Pi::start(PiOptions::new(Script::new().executor(steps)));
    let mark = pi.goal("Get through");
    pi.wait_paused(mark);
    let asked = pi.asked();
    assert_eq!(asked.len(), 6);
    // One full message, and one continuation for one settled run, whatever pi tried in between.
    assert_eq!(pi.session().full_messages(), 1);
    assert_eq!(pi.session().continuations().len(), 2);
    assert_eq!(pi.session().goal_field("erroredStreak"), 0);
    assert!(
        pi.notices_since(mark)
            .iter()
            .all(|n| !n.text.contains("goes on in"))
    );
}

#[test]
fn many_retries_of_pi_are_no_turns_without_work() {
    let errors = std::iter::repeat_with(|| Reply::status(500, "overloaded")).take(25);
    let rest = [
        bash("true"),
        Reply::text("worked"),
        Reply::status(401, "the end"),
    ];
    let options = PiOptions::new(Script::new().executor(Steps::of(errors.chain(rest))))
        .setting("retry.maxRetries", json!(30))
        .setting("retry.baseDelayMs", json!(1))
        .setting("retry.maxAgentDelayMs", json!(5));
    let pi = Pi::start(options);
    let mark = pi.goal("Get through");
    let notice = pi.wait_paused(mark);
    assert!(notice.text.contains("the end"), "{}", notice.text);
    assert_eq!(pi.asked().len(), 28);
}

#[test]
fn a_back_off_ends_by_itself_after_five_seconds_with_a_plain_marker_and_is_no_empty_run() {
    let steps = [
        Reply::text("thinking"),
        Reply::status(500, "overloaded"),
        Reply::text("thinking"),
    ];
    let pi = Pi::start(options(steps).caps(json!({ "maxEmptyContinuations": 2 })));
    let mark = pi.goal("Anything");
    assert_eq!(pi.wait_back_off(mark), 5);
    let failed_at = pi.wait_request(EXECUTOR, 2).arrived;
    let marker = pi.wait_request(EXECUTOR, 3);
    let waited = marker.arrived - failed_at;
    assert!(waited >= Duration::from_millis(4_900), "{waited:?}");
    assert!(
        marker.last_text().contains("is still open"),
        "{}",
        marker.last_text()
    );
    assert!(
        !marker.last_text().contains("no work"),
        "{}",
        marker.last_text()
    );

    pi.wait_paused(mark);
    let session = pi.session();
    assert_eq!(
        session.pause_reason(),
        Some("no_progress"),
        "two empty runs, the error apart"
    );
    assert_eq!(
        session.goal_field("continuations"),
        2,
        "the restart is one of them"
    );
    assert_eq!(
        session.goal_field("erroredStreak"),
        0,
        "a run without an error ended it"
    );
    assert_eq!(session.full_messages(), 1);
}

#[test]
fn an_errored_run_that_did_work_counts_from_zero() {
    let error = || Reply::status(500, "overloaded");
    let steps = [error(), error(), bash("true"), error(), error()];
    let pi = Pi::start(options(steps));
    let mut mark = pi.goal("Anything");
    for wait in [5, 15, 5] {
        assert_eq!(pi.wait_back_off(mark), wait);
        mark = pi.prompt("Go on");
    }
    assert_eq!(pi.wait_back_off(mark), 15);
}

#[test]
fn resume_in_a_back_off_starts_now_and_pause_and_clear_end_it() {
    let pi = Pi::start(options(Reply::status(500, "overloaded")));
    let mark = pi.goal("Anything");
    pi.wait_back_off(mark);
    let mark = pi.goal("resume");
    assert_eq!(pi.wait_back_off(mark), 5);
    assert_eq!(pi.asked().len(), 2);
    assert_eq!(
        pi.session().full_messages(),
        2,
        "once at start, once at resume"
    );

    let mark = pi.goal("pause");
    pi.wait_notice(mark, "Goal paused");
    assert_eq!(pi.session().pause_reason(), Some("user"));
    let mark = pi.goal("resume");
    pi.wait_back_off(mark);
    pi.goal("clear");
    pi.quiet(goal_tests::pi::QUIET);
    assert_eq!(pi.status("goal"), None);
    assert_eq!(pi.asked().len(), 3);
}

/// Turns an answer with this text into one that the provider broke off by itself.
const PROVIDER_ABORTS: &str = r#"
export default function (pi) {
  pi.on("message_end", ({ message }) => {
    if (message.role !== "assistant") return;
    if (!JSON.stringify(message.content).includes("broken off")) return;
    return { message: { ...message, stopReason: "aborted", errorMessage: "provider broke off" } };
  });
}"#;

#[test]
fn an_abort_by_the_provider_is_a_model_error_and_no_stop_by_the_user() {
    let pi =
        Pi::start(options(Reply::text("broken off")).extra_extension("aborts", PROVIDER_ABORTS));
    let mark = pi.goal("Anything");
    assert_eq!(pi.wait_back_off(mark), 5);
    pi.quiet(goal_tests::pi::QUIET);
    assert_eq!(pi.session().phase(), "pursuing");
    assert!(
        pi.notices_since(mark)
            .iter()
            .all(|n| !n.text.contains("Goal paused"))
    );
    let mark = pi.prompt("Go on");
    assert_eq!(pi.wait_back_off(mark), 15);
}

#[test]
fn an_abort_pauses_the_goal_for_good() {
    let pi = Pi::start(options(Reply::text("talking on").stalled()));
    let mark = pi.goal("Anything");
    pi.wait_event(mark, "message_update");
    pi.abort();
    let notice = pi.wait_paused(mark);
    assert!(notice.text.contains("you stopped"), "{}", notice.text);
    assert_eq!(pi.session().pause_reason(), Some("aborted"));
    assert_eq!(pi.asked().len(), 1);
    let pi = pi.restart(&["--continue"]);
    pi.quiet(goal_tests::pi::QUIET);
    assert_eq!(pi.session().pause_reason(), Some("aborted"));
    assert_eq!(pi.asked().len(), 1);
}

#[test]
fn an_executor_without_credentials_stops_the_goal_with_a_reason() {
    let pi = Pi::start(options(Reply::text("never")).flag("--model").flag("keyless/one").extra_extension(
        "keyless",
        r#"
export default function (pi) {
  pi.registerProvider("keyless", {
    name: "Keyless", baseUrl: "http://127.0.0.1:9/v1", apiKey: "$NO_SUCH_KEY", api: "openai-completions",
    models: [{ type: "chat", id: "one", name: "One", reasoning: false, input: ["text"],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 128000, maxTokens: 4096 }],
  });
}"#,
    ));
    let mark = pi.goal("Anything");
    let notice = pi.wait_paused(mark);
    assert_eq!(pi.session().pause_reason(), Some("model_errors"));
    assert_eq!(pi.session().goal_field("pauseKind"), "authentication");
    assert!(notice.text.contains("NO_SUCH_KEY"), "{}", notice.text);
}
