//! Audits that cannot be made: the auditor's provider fails, or its model is gone.

use goal_tests::{Reply, Steps};
use serde_json::json;

use crate::court::{Court, Trial, always, approve, claim, claims_once, look, options, work};

/// The one audit failed, and everybody is told in the words of whoever failed.
fn assert_failed(trial: &Trial, kind: &str, words: &str) {
    assert_eq!(trial.outcomes(), [format!("failed({kind})")]);
    let told = trial.told(0);
    for word in [words, "sim/auditor", "not a judgement of the work"] {
        assert!(told.contains(word), "`{word}` is not in {told}");
    }
    assert_eq!(trial.results[0]["isError"], true);
    let failure = trial.audits[0]["failure"].as_str().unwrap();
    assert!(failure.contains(words), "{failure}");
    let counted = |saved: &serde_json::Value| saved["goal"]["failureStreak"] == 1;
    assert!(trial.saved.iter().any(counted), "{:?}", trial.saved);
    assert_ne!(trial.stands(), "approved");
}

#[test]
fn a_provider_that_fails_is_quoted_and_nothing_is_judged() {
    let court = Court::with(json!({}));
    let overflow = r#"{"error":{"message":"prompt is too long: 210000 tokens > 200000","code":"context_length_exceeded"}}"#;
    for (what, answers, words, requests) in [
        (
            "401",
            Steps::of([Reply::status(401, "the key is not known here")]),
            "the key is not known here",
            1,
        ),
        // pi's retries, as the user has set them, and then the failure.
        (
            "500",
            always(Reply::status(500, "the cluster is on fire")),
            "the cluster is on fire",
            4,
        ),
        (
            "dropped stream",
            always(Reply::text("Fine.\n<approved/>").dropped()),
            "",
            4,
        ),
        (
            "closed stream",
            always(Reply::text("Fine.\n<approved/>").ending(goal_sim::End::Close)),
            "finish_reason",
            4,
        ),
        (
            "content filter",
            Steps::of([
                look(),
                Reply::text("<approved/>").ending(goal_sim::End::ContentFilter),
            ]),
            "content_filter",
            2,
        ),
        // pi compacts and tries once more.
        (
            "context overflow",
            always(Reply::status(400, overflow)),
            "prompt is too long",
            2,
        ),
    ] {
        let trial = court.judge(claims_once(), answers);
        assert_eq!(trial.auditor.len(), requests, "{what}");
        assert_failed(&trial, "provider_error", words);
        assert_eq!(trial.stands(), "paused(no_progress)", "{what}");
    }
}

#[test]
fn a_provider_that_recovers_within_pis_retries_is_no_failure() {
    let court = Court::with(json!({}));
    let trial = court.judge(
        [claim("done"), Reply::text("Done.")],
        [
            Reply::status(500, "not now"),
            look(),
            Reply::text("Fi").dropped(),
            approve(),
        ],
    );
    assert_eq!(trial.outcomes(), ["approved"]);
    assert_eq!(trial.audits[0]["attempts"], 1);
}

/// A provider whose models and key go away in mid-goal, as after a logout or with another extension.
const VANISHING: &str = r#"
export default function (pi) {
  const provider = (apiKey) => pi.registerProvider("borrowed", {
    baseUrl: process.env.SIM_URL, api: "openai-completions", apiKey,
    models: [{ id: "auditor", name: "Auditor", reasoning: false, input: ["text"],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 128000, maxTokens: 4096 }],
  });
  provider("a-key");
  pi.registerCommand("model-gone", { handler: async () => pi.unregisterProvider("borrowed") });
  pi.registerCommand("key-gone", { handler: async () => provider("$NO_SUCH_VARIABLE") });
}"#;

#[test]
fn a_model_or_key_that_is_gone_by_the_time_of_the_audit_fails_it_without_a_session() {
    for (command, kind, words) in [
        ("/model-gone", "missing_model", "borrowed/auditor"),
        ("/key-gone", "missing_credentials", "borrowed"),
    ] {
        let court = Court::of(
            options(json!({ "provider": "borrowed", "maxConsecutiveAuditRejections": 2 }))
                .extra_extension("vanishing", VANISHING)
                .env("SIM_URL", "http://127.0.0.1:9/v1"),
        );
        let trial = court.judge_meanwhile(
            "Write hello into out.txt",
            [work().held("gone"), claim("done"), work(), claim("done")],
            Steps::default(),
            |pi, _| {
                pi.prompt(command);
                pi.server().release("gone");
            },
        );
        let outcome = format!("failed({kind})");
        assert_eq!(trial.outcomes(), [outcome.as_str(); 2]);
        assert_eq!(trial.auditor.len(), 0, "{command}: no session");
        assert_eq!(trial.audits[0]["attempts"], 0);
        assert!(trial.told(0).contains(words), "{}", trial.told(0));
        // They count like any other failure.
        assert_eq!(trial.stands(), "paused(audit_failures)");
        assert!(trial.notice("Goal paused").contains("borrowed/auditor"));
        assert_eq!(trial.executor.len(), 4);
    }
}
