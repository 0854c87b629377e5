//! The time an audit may take: what runs it out, what does not, and what is said of it.

use std::time::Duration;

use goal_tests::{Pi, Reply, Steps, patience, poll};
use serde_json::json;

use crate::court::{Court, OBJECTIVE, Trial, approve, claim, claims_once, look};

/// The claim and what is said after the approval.
fn claims_and_ends() -> [Reply; 2] {
    [claim("done"), Reply::text("Done.")]
}

/// The audit's one failure, with all of these words in the text for the executor and the entry.
fn assert_timed_out(trial: &Trial, kind: &str, words: &[&str]) {
    assert_eq!(trial.outcomes(), [format!("failed({kind})")]);
    assert_eq!(trial.results[0]["isError"], true);
    let told = trial.told(0);
    let failure = trial.audits[0]["failure"].as_str().unwrap();
    for word in words {
        assert!(told.contains(word), "`{word}` is not in {told}");
        assert!(failure.contains(word), "`{word}` is not in {failure}");
    }
}

/// The auditor's last request was left by pi, so its session is gone.
fn assert_left(pi: &Pi, trial: &Trial) {
    let number = trial.auditor.last().unwrap().number;
    pi.server().wait_until_left(number, patience()).unwrap();
}

#[test]
fn silence_in_mid_answer_ends_the_audit_and_what_comes_later_is_ignored() {
    let court = Court::with(json!({ "idleTimeoutMs": 1000 }));
    let trial = court.judge(
        claims_once(),
        [
            look().and_text("The file is there."),
            Reply::text("It looks like").stalled(),
        ],
    );
    assert!(trial.audits[0]["durationMs"].as_u64() >= Some(1_000));
    assert_timed_out(
        &trial,
        "idle_timeout",
        &["1000 ms", "idleTimeoutMs", "silent"],
    );
    assert_left(&court.pi, &trial);
    assert_eq!(trial.auditor.len(), 2, "no second try by itself");
    assert!(
        trial.told(0).contains("The file is there."),
        "what it found is kept"
    );

    // Reasoning and the arguments of a call are output as well.
    let thinking = court.judge(claims_once(), [Reply::thinking("Hm,").stalled()]);
    assert_timed_out(&thinking, "idle_timeout", &["1000 ms"]);
    let calling = court.judge(
        claims_once(),
        [Reply::raw_call("read", "{\"path\": \"ou").stalled()],
    );
    assert_timed_out(&calling, "idle_timeout", &["1000 ms"]);
}

#[test]
fn a_slow_first_token_and_a_slow_steady_answer_are_fine() {
    let court = Court::with(json!({ "idleTimeoutMs": 1000 }));
    let trial = court.judge(
        claims_and_ends(),
        [
            look().after_ms(1_600),
            // Never silent for a second, and longer than that in all.
            approve().drip(4, 500),
        ],
    );
    assert_eq!(trial.outcomes(), ["approved"]);
    assert!(trial.audits[0]["durationMs"].as_u64() >= Some(3_000));
}

#[test]
fn a_silent_five_second_tool_is_fine_with_an_idle_limit_of_two() {
    let court = Court::with(json!({ "idleTimeoutMs": 2000 }));
    let trial = court.judge(
        claims_and_ends(),
        [
            Reply::call("bash", json!({ "command": "sleep 5; cat out.txt" })),
            approve(),
        ],
    );
    assert_eq!(trial.outcomes(), ["approved"]);
    assert!(trial.audits[0]["checks"][0]["ms"].as_u64() >= Some(5_000));
}

#[test]
fn a_wait_before_a_retry_is_no_silence() {
    let court = Court::of(
        crate::court::options(json!({ "idleTimeoutMs": 1000 }))
            .setting("retry.baseDelayMs", json!(1_500)),
    );
    let trial = court.judge(
        claims_and_ends(),
        [look(), Reply::text("It lo").dropped(), approve()],
    );
    assert_eq!(trial.outcomes(), ["approved"]);
    assert!(trial.audits[0]["durationMs"].as_u64() >= Some(1_500));
}

#[test]
fn endless_talk_ends_at_the_absolute_limit() {
    let court = Court::with(json!({ "timeoutMs": 1500, "idleTimeoutMs": 1000 }));
    let trial = court.judge(
        claims_once(),
        [look(), Reply::text("and so on ").endless(50)],
    );
    assert_timed_out(&trial, "timeout", &["1500 ms", "timeoutMs"]);
    assert_left(&court.pi, &trial);
    assert_eq!(trial.results[0]["details"]["outcome"], "failed");
}

#[test]
fn a_tool_in_flight_is_named_at_the_limit_and_ended() {
    let court = Court::with(json!({ "timeoutMs": 1500, "idleTimeoutMs": 1000 }));
    let trial = court.judge(
        claims_once(),
        [Reply::call("bash", json!({ "command": "sleep 987" }))],
    );
    assert_timed_out(
        &trial,
        "timeout",
        &["1500 ms", "timeoutMs", "bash", "sleep 987"],
    );
    let sleeping = || {
        let all = court.pi.world().processes();
        all.iter()
            .all(|p| !p.command.contains("sleep 987"))
            .then_some(())
    };
    assert!(poll(patience(), sleeping).is_some(), "the command goes on");
}

#[test]
fn reminders_share_the_limit_of_the_audit() {
    let court = Court::with(json!({ "timeoutMs": 2000 }));
    let trial = court.judge(
        claims_once(),
        [
            Reply::text("Hm.").after_ms(1_200),
            Reply::text("Hm.").after_ms(5_000),
        ],
    );
    assert_timed_out(&trial, "timeout", &["2000 ms"]);
    assert_eq!(trial.audits[0]["attempts"], 2);
    let took = trial.audits[0]["durationMs"].as_u64().unwrap();
    assert!((2_000..3_200).contains(&took), "{took}");
}

#[test]
fn with_both_limits_off_only_an_abort_ends_a_stalled_audit() {
    let court = Court::with(json!({ "timeoutMs": 0, "idleTimeoutMs": 0 }));
    let trial = court.judge_meanwhile(
        OBJECTIVE,
        Steps::from([claim("done")]),
        [look(), Reply::text("It looks like").stalled()],
        |pi, hearing| {
            hearing.wait_auditor(pi, 2);
            // Longer than the shortest limit there is.
            let settled = |record: &serde_json::Value| record["type"] == "agent_settled";
            let ended = pi
                .log()
                .wait(hearing.mark, Duration::from_millis(1_300), settled);
            assert!(ended.is_err(), "{ended:?}");
            pi.abort();
        },
    );
    assert_eq!(trial.outcomes(), ["aborted(user)"]);
    assert_left(&court.pi, &trial);
    assert_eq!(trial.executor.len(), 1);
    assert_eq!(trial.stands(), "paused(aborted)");
    let prompt = trial.auditor[0].last_text();
    assert!(prompt.contains("There is no time limit"), "{prompt}");
}
