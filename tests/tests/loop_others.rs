//! The user and other extensions beside the loop: messages, pauses and handlers at the wrong moment.

use goal_tests::pi::QUIET;
use goal_tests::{EXECUTOR, Pi, PiOptions, Reply, Script, Steps, each_run};
use serde_json::json;

fn bash(command: &str) -> Reply {
    Reply::call("bash", json!({ "command": command }))
}

fn options(steps: impl Into<Steps>) -> PiOptions {
    PiOptions::new(Script::new().executor(steps)).setting("retry.enabled", json!(false))
}

fn stop() -> Reply {
    Reply::status(401, "enough")
}

/// The last message of each request, cut to its first words.
fn last_words(pi: &Pi) -> Vec<String> {
    let short = |text: &str| {
        text.split_whitespace()
            .take(3)
            .collect::<Vec<_>>()
            .join(" ")
    };
    pi.asked()
        .iter()
        .map(|request| short(request.last_text()))
        .collect()
}

#[test]
fn a_queued_message_is_handled_first_and_then_the_goal_goes_on_by_itself() {
    for behavior in ["steer", "followUp"] {
        let steps = [
            Reply::text("idle"),
            Reply::text("idle").held_before_end("gate"),
            Reply::text("README it is"),
            Reply::text("idle"),
        ];
        let pi = Pi::start(options(steps).caps(json!({ "maxEmptyContinuations": 2 })));
        let mark = pi.goal("Write the program");
        pi.wait_request(EXECUTOR, 2);
        pi.queue("also update README", behavior);
        pi.server().release("gate");
        // Not paused by the message, and what the agent left undone before it counts no more.
        pi.wait_paused(mark);
        let words = last_words(&pi);
        assert_eq!(words.len(), 4, "{behavior}: {words:?}");
        assert_eq!(words[2], "also update README", "{behavior}");
        assert!(words[3].starts_with("Goal g-"), "{behavior}: {words:?}");
        assert_eq!(pi.session().pause_reason(), Some("no_progress"));
        assert_eq!(pi.session().goal_field("continuations"), 2);
    }
}

#[test]
fn a_message_starts_the_count_of_repetitions_again() {
    let same = Reply::text("I am still waiting for the very same build to finish.");
    let steps = each_run(bash("true"), same);
    let pi = Pi::start(options(Steps::of([
        bash("true"),
        Reply::text("I am still waiting for the very same build to finish."),
        bash("true"),
        Reply::text("I am still waiting for the very same build to finish."),
        bash("true").held("gate"),
    ])));
    let mark = pi.goal("Build");
    pi.wait_request(EXECUTOR, 5);
    pi.queue("Keep at it", "steer");
    pi.server().set(EXECUTOR, steps);
    pi.server().release("gate");
    pi.wait_paused(mark);
    assert_eq!(pi.session().pause_reason(), Some("repetition"));
    // The run in which the message came, and two more.
    assert_eq!(pi.session().goal_field("continuations"), 4);
}

/// Another extension whose handler of the settle boundary is done when the workspace has a file `go`.
const GATED: &str = r#"
import { existsSync } from "node:fs";
export default function (pi) {
  pi.on("agent_before_settle", async () => {
    while (!existsSync("go")) await new Promise((done) => setTimeout(done, 5));
  });
}"#;

/// Lets that handler end.
fn open_gate(pi: &Pi) {
    std::fs::write(pi.world().workspace().join("go"), "").unwrap_or_default();
}

/// Starts pi with an extension behind ours.
fn behind(options: PiOptions, source: &str) -> PiOptions {
    options
        .file("behind.ts", source)
        .flag("-e")
        .flag("./behind.ts")
}

#[test]
fn a_message_typed_at_the_settle_boundary_is_lost_by_neither_side() {
    for (place, behavior) in [
        ("before", "steer"),
        ("before", "followUp"),
        ("behind", "steer"),
        ("behind", "followUp"),
    ] {
        let steps = [
            bash("true"),
            Reply::text("one"),
            bash("true"),
            Reply::text("two"),
            stop(),
            stop(),
        ];
        let options = options(steps);
        let options = match place {
            "before" => options.extra_extension("gated", GATED),
            _ => behind(options, GATED),
        };
        let pi = Pi::start(options);
        let mark = pi.goal("Build");
        pi.wait_event(mark, "agent_end");
        pi.queue("Mind the gap", behavior);
        open_gate(&pi);
        pi.wait_paused(mark);
        let all: Vec<_> = pi.asked();
        let last = all.last().unwrap();
        assert_eq!(
            last.count_in("user", "Mind the gap"),
            1,
            "{place} {behavior}"
        );
        assert_eq!(pi.session().full_messages(), 1, "{place} {behavior}");
        // However they were sent, there are as many continuations as were counted, and one full message.
        let counted = pi.session().goal_field("continuations").as_u64().unwrap();
        assert_eq!(
            pi.session().continuations().len() as u64,
            1 + counted,
            "{place} {behavior}"
        );
        if place == "before" {
            let words = last_words(&pi);
            assert_eq!(words[2], "Mind the gap", "it goes first: {words:?}");
        }
    }
}

#[test]
fn a_pause_typed_at_the_settle_boundary_lets_no_request_follow() {
    for place in ["before", "behind"] {
        let options = options(Steps::of([bash("true"), Reply::text("one")]));
        let pi = Pi::start(match place {
            "before" => options.extra_extension("gated", GATED),
            _ => behind(options, GATED),
        });
        let mark = pi.goal("Build");
        pi.wait_event(mark, "agent_end");
        pi.goal("pause");
        open_gate(&pi);
        pi.wait_settled(mark);
        pi.quiet(QUIET);
        assert_eq!(pi.session().pause_reason(), Some("user"), "{place}");
        assert_eq!(pi.asked().len(), 2, "{place}");
        let paused = pi
            .notices_since(mark)
            .iter()
            .filter(|n| n.text.contains("Goal paused"))
            .count();
        assert_eq!(paused, 1, "{place}: {:?}", pi.notices_since(mark));
    }
}

/// A goal that is worked on twice and approved.
fn whole_goal() -> Script {
    Script::new()
        .executor([
            bash("echo 1 > a"),
            Reply::text("half"),
            bash("echo 2 > b"),
            Reply::call("update_goal", json!({ "status": "complete" })),
            Reply::text("Done."),
        ])
        .auditor([bash("ls"), Reply::text("<approved/>")])
}

#[test]
fn slow_handlers_of_another_extension_change_nothing() {
    let source = "export default function (pi) {
        const slow = () => new Promise((done) => setTimeout(done, 150));
        for (const event of ['agent_end', 'agent_before_settle', 'tool_call', 'turn_end', 'agent_settled'])
          pi.on(event, async () => { await slow(); });
      }";
    for behind_ours in [false, true] {
        let options = PiOptions::new(whole_goal());
        let pi = Pi::start(if behind_ours {
            behind(options, source)
        } else {
            options.extra_extension("slow", source)
        });
        let mark = pi.goal("Build");
        pi.wait_notice(mark, "Goal complete");
        pi.settled_quiet(mark);
        assert_eq!(pi.session().ended(), Some("approved"));
        assert_eq!(pi.asked().len(), 5);
        assert_eq!(pi.session().continuations().len(), 2);
    }
}

#[test]
fn throwing_handlers_of_another_extension_change_nothing() {
    let source = "export default function (pi) {
        for (const event of ['agent_start', 'turn_start', 'message_end', 'tool_execution_end', 'turn_end', 'agent_end',
          'agent_before_settle', 'agent_settled', 'before_agent_start', 'context'])
          pi.on(event, () => { throw new Error('boom in ' + event); });
      }";
    let pi = Pi::start(PiOptions::new(whole_goal()).extra_extension("throwing", source));
    let mark = pi.goal("Build");
    pi.wait_notice(mark, "Goal complete");
    pi.settled_quiet(mark);
    assert_eq!(pi.session().ended(), Some("approved"));
    assert_eq!(pi.asked().len(), 5);
}

#[test]
fn tools_blocked_by_another_extension_are_no_work_and_the_nudge_says_why() {
    let source = "export default function (pi) {
        pi.on('tool_call', (event) => event.toolName === 'bash' ? { block: true, reason: 'bash is forbidden' } : undefined);
      }";
    let steps = each_run(bash("true"), Reply::text("Hm."));
    let pi = Pi::start(
        options(steps)
            .caps(json!({ "maxEmptyContinuations": 2 }))
            .extra_extension("blocking", source),
    );
    let mark = pi.goal("Build");
    pi.wait_paused(mark);
    assert_eq!(pi.session().pause_reason(), Some("no_progress"));
    assert_eq!(pi.asked().len(), 4);
    let nudge = pi.asked()[2].last_text().to_owned();
    assert!(nudge.contains("bash is forbidden"), "{nudge}");
}

#[test]
fn a_first_goal_typed_during_the_users_own_run_starts_at_its_end_and_that_run_counts_for_nothing() {
    let steps = [
        Reply::text("on my own").held_before_end("gate"),
        Reply::text("idle"),
        stop(),
    ];
    let pi = Pi::start(options(steps).caps(json!({ "maxEmptyContinuations": 2 })));
    let mark = pi.prompt("Something of mine");
    pi.wait_event(mark, "message_update");
    pi.goal("Write the program");
    pi.wait_notice(mark, "as soon as pi has finished");
    assert_eq!(pi.session().phase(), "pursuing", "it is recorded at once");
    pi.server().release("gate");
    pi.wait_paused(mark);

    let asked = pi.asked();
    assert!(
        asked[1].last_text().contains("Write the program"),
        "the full message"
    );
    assert!(!asked[0].mentions("Write the program"));
    let session = pi.session();
    let first = &session.continuations()[0]["details"];
    assert_eq!((&first["seq"], &first["full"]), (&json!(0), &json!(true)));
    assert_eq!(first["totals"]["emptyStreak"], 0);
    // The stop was the error's, so the run of the user's own was not the second empty one.
    assert_eq!(session.pause_reason(), Some("model_errors"));
    assert_eq!(session.full_messages(), 1);
    let settled = pi.log().since(mark);
    let settled = settled
        .iter()
        .filter(|r| r["type"] == "agent_settled")
        .count();
    assert_eq!(settled, 1, "it started at the boundary, not after rest");
}

#[test]
fn a_goal_that_waits_for_a_run_starts_after_its_error() {
    let pi = Pi::start(options([
        Reply::status(500, "overloaded").held("gate"),
        stop(),
    ]));
    let mark = pi.prompt("Something of mine");
    pi.wait_request(EXECUTOR, 1);
    pi.goal("Write the program");
    pi.server().release("gate");
    let notice = pi.wait_paused(mark);
    assert!(
        notice.text.contains("enough"),
        "its own error, not that of the run before: {}",
        notice.text
    );
    assert_eq!(pi.asked().len(), 2);
    assert_eq!(pi.session().goal_field("erroredStreak"), 0);
}

#[test]
fn a_run_of_the_users_own_beside_a_resting_goal_reminds_once_and_continues_nothing() {
    let pi =
        Pi::start(options(Reply::text("Which one?")).caps(json!({ "maxEmptyContinuations": 1 })));
    let mark = pi.goal("Build");
    pi.wait_paused(mark);
    let reminders = |pi: &Pi, mark| {
        let notices = pi.notices_since(mark);
        notices
            .iter()
            .filter(|notice| notice.text.contains("/goal resume"))
            .count()
    };
    for expected in [1, 0] {
        let mark = pi.prompt("Something of mine");
        pi.settled_quiet(mark);
        assert_eq!(reminders(&pi, mark), expected);
    }
    assert_eq!(pi.asked().len(), 3);
    let mark = pi.goal("resume");
    pi.wait_paused(mark);
    let mark = pi.prompt("Something of mine");
    pi.settled_quiet(mark);
    assert_eq!(reminders(&pi, mark), 1, "a new stop, a new reminder");
}

#[test]
fn a_message_queued_during_an_audit_comes_after_its_result() {
    let script = Script::new()
        .executor([
            Reply::call("update_goal", json!({ "status": "complete" })),
            Reply::text("I see."),
            stop(),
        ])
        .auditor([
            bash("true").held("audit"),
            Reply::text("No.\n<disapproved/>"),
        ]);
    let source = "export default function (pi) {
        pi.on('tool_execution_start', () => {
          pi.sendMessage({ customType: 'other', content: 'beside the audit', display: true }, { triggerTurn: false });
        });
      }";
    let pi = Pi::start(PiOptions::new(script).extra_extension("talking", source));
    let mark = pi.goal("Build");
    pi.wait_request(goal_tests::AUDITOR, 1);
    pi.queue("Mind the gap", "steer");
    pi.server().release("audit");
    pi.wait_paused(mark);
    assert_eq!(pi.session().audit_outcomes(), ["disapproved"]);
    pi.assert_calls_and_results_adjacent();
    assert_eq!(pi.asked()[1].count_in("user", "Mind the gap"), 1);
    assert_eq!(pi.asked().len(), 3);
}
