//! Runs without work, repeated words and the cap on continuations: where the loop stops by itself.

use goal_tests::{EXECUTOR, Pi, PiOptions, Reply, Script, Steps, each_run};
use serde_json::json;

fn options(steps: impl Into<Steps>) -> PiOptions {
    PiOptions::new(Script::new().executor(steps))
}

/// An executor that never gets anywhere.
struct Idler {
    what: &'static str,
    steps: Steps,
    requests_a_run: usize,
    /// What each nudge must say, besides the way on.
    nudge: &'static [&'static str],
    reason: &'static str,
    /// What the pause must quote.
    quote: &'static str,
}

const CAP: usize = 3;

fn idlers() -> Vec<Idler> {
    let bash = |command: &str| Reply::call("bash", json!({ "command": command }));
    let question = "Which file should I use?";
    vec![
        Idler {
            what: "only looks at the goal",
            steps: each_run(Reply::call("get_goal", json!({})), Reply::text("I looked.")),
            requests_a_run: 2,
            nudge: &["did no work"],
            reason: "no_progress",
            quote: "I looked.",
        },
        Idler {
            what: "only asks",
            steps: Reply::text(question).into(),
            requests_a_run: 1,
            nudge: &["ask plainly", "do not assume approval"],
            reason: "no_progress",
            quote: question,
        },
        Idler {
            what: "says ok, then nothing",
            steps: Steps::of([Reply::text("ok")]).then_repeat(Reply::text("")),
            requests_a_run: 1,
            nudge: &["did no work"],
            reason: "no_progress",
            quote: "3 runs in a row did no work",
        },
        Idler {
            what: "says that all is done, but does not claim it",
            steps: Reply::text("All done, goal complete.").into(),
            requests_a_run: 1,
            nudge: &["Take one concrete step", "call update_goal"],
            reason: "no_progress",
            quote: "All done, goal complete.",
        },
        Idler {
            what: "gets an error in the guise of an answer",
            steps: Reply::text("API Error: all 3 accounts exhausted. Retry in 300s.").into(),
            requests_a_run: 1,
            nudge: &["did no work"],
            // Long enough to be recognised as the same words; both rules stop at three.
            reason: "repetition",
            quote: "all 3 accounts exhausted",
        },
        Idler {
            what: "only thinks",
            steps: Reply::thinking("Which of the two is it? Let me think about it once more.")
                .into(),
            requests_a_run: 1,
            nudge: &["did no work"],
            reason: "no_progress",
            quote: "3 runs in a row did no work",
        },
        Idler {
            what: "only fails",
            steps: each_run(bash("exit 3"), Reply::text("It failed.")),
            requests_a_run: 2,
            nudge: &["did no work"],
            reason: "no_progress",
            quote: "It failed.",
        },
        Idler {
            what: "invents complete_goal",
            steps: each_run(
                Reply::call("complete_goal", json!({})),
                Reply::text("Done."),
            ),
            requests_a_run: 2,
            nudge: &["complete_goal"],
            reason: "no_progress",
            quote: "Done.",
        },
        Idler {
            what: "invents goal_complete",
            steps: each_run(
                Reply::call("goal_complete", json!({ "status": "done" })),
                Reply::text("Done."),
            ),
            requests_a_run: 2,
            nudge: &["goal_complete"],
            reason: "no_progress",
            quote: "Done.",
        },
        Idler {
            what: "claims in cut JSON",
            steps: each_run(
                Reply::raw_call("update_goal", r#"{"status": "compl"#),
                Reply::text("Claimed."),
            ),
            requests_a_run: 2,
            nudge: &["update_goal"],
            reason: "no_progress",
            quote: "Claimed.",
        },
        Idler {
            what: "claims another status",
            steps: each_run(
                Reply::call("update_goal", json!({ "status": "in_progress" })),
                Reply::text("Going on."),
            ),
            requests_a_run: 2,
            nudge: &["in_progress"],
            reason: "no_progress",
            quote: "Going on.",
        },
    ]
}

#[test]
fn runs_without_work_are_nudged_and_paused_at_the_exact_cap() {
    let pi = Pi::start(options(Steps::default()).caps(json!({ "maxEmptyContinuations": CAP })));
    for Idler {
        what,
        steps,
        requests_a_run,
        nudge,
        reason,
        quote,
    } in idlers()
    {
        pi.server().set(EXECUTOR, steps);
        let before = pi.asked().len();
        let mark = pi.goal(&format!("An executor that {what}"));
        let notice = pi.wait_paused(mark);

        let session = pi.session();
        assert_eq!(session.pause_reason(), Some(reason), "{what}");
        assert_eq!(session.goal_field("continuations"), CAP - 1, "{what}");
        let asked = &pi.asked()[before..];
        assert_eq!(asked.len(), CAP * requests_a_run, "{what}");
        for run in 1..CAP {
            let marker = asked[run * requests_a_run].last_text();
            for words in nudge
                .iter()
                .chain(&[r#"update_goal {"status":"complete"}"#])
            {
                assert!(
                    marker.contains(words),
                    "{what}: `{words}` is not in {marker}"
                );
            }
        }
        assert!(notice.text.contains(quote), "{what}: {}", notice.text);
        assert!(
            notice.text.contains("/goal resume"),
            "{what}: {}",
            notice.text
        );
        pi.goal("clear");
    }
}

#[test]
fn work_and_resume_reset_the_count_of_runs_without_work() {
    let work = Reply::call("bash", json!({ "command": "true" }));
    let steps = Steps::of([
        Reply::text("thinking"),
        work,
        Reply::text("worked"),
        Reply::text("thinking"),
    ])
    .then_repeat(Reply::text("idle"));
    let pi = Pi::start(options(steps).caps(json!({ "maxEmptyContinuations": 2 })));
    let mark = pi.goal("Work now and then");
    pi.wait_paused(mark);
    assert_eq!(pi.asked().len(), 5, "idle, worked (2), idle, idle");

    let mark = pi.goal("resume");
    pi.wait_paused(mark);
    assert_eq!(pi.asked().len(), 7, "the cap counts from the resume");
    assert_eq!(pi.session().goal_field("continuations"), 1);
}

#[test]
fn answers_cut_by_their_output_limit_are_runs_without_work() {
    // With compaction on, pi itself would compact and ask again, once.
    let steps = Reply::text("First I will").truncated();
    let pi = Pi::start(options(steps).setting("compaction.enabled", json!(false)));
    let mark = pi.goal("Begin");
    let notice = pi.wait_paused(mark);
    assert_eq!(pi.session().pause_reason(), Some("no_progress"));
    assert_eq!(pi.asked().len(), CAP);
    assert!(notice.text.contains("First I will"), "{}", notice.text);
}

const SAME: &str = "Still waiting for the build to come to its end.";

#[test]
fn the_same_words_after_work_pause_at_three_and_after_writes_at_six() {
    let pi = Pi::start(options(Steps::default()));
    let write = json!({ "path": "a.txt", "content": "a" });
    for (call, runs) in [
        (Reply::call("bash", json!({ "command": "sleep 0.01" })), 3),
        (Reply::call("write", write), 6),
    ] {
        // White space is folded, so that a reworded line break is no new text.
        let mut replies = 0;
        let steps = Steps::choose(move |request| {
            if request
                .messages
                .last()
                .is_none_or(|message| message.role != "tool")
            {
                return call.clone();
            }
            replies += 1;
            let gap = if replies % 2 == 0 { " " } else { "\n  " };
            Reply::text(SAME.replacen(' ', gap, 3))
        });
        pi.server().set(EXECUTOR, steps);
        let before = pi.asked().len();
        let mark = pi.goal("Wait for the build");
        let notice = pi.wait_paused(mark);
        assert_eq!(pi.session().pause_reason(), Some("repetition"));
        assert_eq!(pi.asked().len() - before, runs * 2);
        assert!(
            notice.text.contains("build to come to its end"),
            "{}",
            notice.text
        );
        assert!(
            notice.text.contains(&format!("{runs} runs")),
            "{}",
            notice.text
        );
        pi.goal("clear");
    }
}

#[test]
fn another_text_in_between_starts_the_count_of_repetitions_again() {
    let mut replies = 0;
    let steps = Steps::choose(move |request| {
        if request
            .messages
            .last()
            .is_none_or(|message| message.role != "tool")
        {
            return Reply::call("bash", json!({ "command": "true" }));
        }
        replies += 1;
        Reply::text(if replies == 3 {
            "Something else has happened now, so the count is off."
        } else {
            SAME
        })
    });
    let pi = Pi::start(options(steps));
    let mark = pi.goal("Wait for the build");
    pi.wait_paused(mark);
    assert_eq!(pi.session().pause_reason(), Some("repetition"));
    assert_eq!(pi.asked().len(), 6 * 2);
}

#[test]
fn short_waiting_turns_with_trivial_work_end_at_the_cap_on_continuations() {
    let poll = Reply::call("bash", json!({ "command": "sleep 0.01" }));
    let caps = json!({ "maxContinuations": 4 });
    let pi = Pi::start(options(each_run(poll, Reply::text("waiting"))).caps(caps));
    let mark = pi.goal("Wait for the job");
    let notice = pi.wait_paused(mark);
    let session = pi.session();
    assert_eq!(session.pause_reason(), Some("continuation_limit"));
    assert_eq!(session.goal_field("continuations"), 4);
    assert_eq!(
        pi.asked().len(),
        5 * 2,
        "the first run and four continuations"
    );
    assert!(notice.text.contains("maxContinuations"), "{}", notice.text);
}
