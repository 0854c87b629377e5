//! `/goal …` and plain messages while a goal is being worked on: each with the run's own end.

use std::time::Duration;

use goal_tests::moment::{approval, claim, work};
use goal_tests::pi::QUIET;
use goal_tests::{AUDITOR, Dialogs, EXECUTOR, Mark, Moment, Pi, PiOptions, Reply, Script, Steps};
use serde_json::json;

/// Longer than the first back-off.
const PAST_THE_BACK_OFF: Duration = Duration::from_millis(5_300);

/// The models from here on: a goal that is worked on once, claimed, and approved.
fn an_easy_goal(pi: &Pi) {
    pi.server()
        .set(EXECUTOR, [work(), claim(), Reply::text("That was it.")]);
    pi.server().set(AUDITOR, Steps::of(approval()));
    pi.server().set_compaction(Reply::text("A summary."));
}

/// Requests of the executor and of the auditor so far.
fn counts(pi: &Pi) -> (usize, usize) {
    let of = |model| pi.server().requests_of(model).len();
    (of(EXECUTOR), of(AUDITOR))
}

fn wait_ended(pi: &Pi, mark: Mark) {
    pi.wait_notice(mark, "Goal complete");
    pi.settled_quiet(mark);
}

#[test]
fn pause_ends_what_is_under_way_and_nothing_follows() {
    let pi = Pi::start(Moment::options());
    for moment in Moment::ALL {
        pi.new_session();
        let mark = moment.reach(&pi, "Write a poem");
        let requests = pi.server().requests().len();
        pi.prompt("/goal pause");
        let notice = pi.wait_notice(mark, "Goal paused: you paused it");
        assert!(notice.text.contains("/goal resume"), "{notice:?}");
        pi.settled_quiet(mark);

        let session = pi.session();
        let state = (session.phase(), session.pause_reason());
        assert_eq!(state, ("paused", Some("user")), "{moment:?}");
        assert_eq!(pi.server().requests().len(), requests, "{moment:?}");
        let audited = session.audit_outcomes().last() == Some(&"aborted");
        assert_eq!(audited, moment.is_audit(), "{moment:?}");
        let pauses = pi.notices_since(mark);
        let pauses = pauses.iter().filter(|n| n.text.contains("Goal paused"));
        assert_eq!(pauses.count(), 1, "{moment:?}: told once");
    }
}

#[test]
fn clear_ends_what_is_under_way_and_nothing_follows() {
    let pi = Pi::start(Moment::options());
    for moment in Moment::ALL {
        pi.new_session();
        let mark = moment.reach(&pi, "Write a poem");
        let requests = pi.server().requests().len();
        pi.prompt("/goal clear");
        pi.wait_notice(mark, "Goal cleared");
        pi.settled_quiet(mark);

        let session = pi.session();
        let state = (session.phase(), session.ended());
        assert_eq!(state, ("none", Some("cleared")), "{moment:?}");
        assert_eq!(pi.server().requests().len(), requests, "{moment:?}");
        let audited = session.audit_outcomes().last() == Some(&"aborted");
        assert_eq!(audited, moment.is_audit(), "{moment:?}");
        assert_eq!(pi.status("goal"), None, "{moment:?}");
        assert_eq!(pi.widget("goal"), None, "{moment:?}");
    }
}

#[test]
fn a_new_goal_takes_over_from_what_was_under_way() {
    let pi = Pi::start(Moment::options());
    for moment in Moment::ALL {
        pi.new_session();
        moment.reach(&pi, "Write a poem");
        let before = pi.server().requests_of(EXECUTOR).len();
        an_easy_goal(&pi);
        let mark = pi.prompt("/goal Paint a picture");
        wait_ended(&pi, mark);

        let requests = pi.server().requests_of(EXECUTOR);
        assert_eq!(requests.len(), before + 3, "{moment:?}");
        let first = &requests[before];
        assert!(first.last_text().contains("Paint a picture"), "{moment:?}");
        let session = pi.session();
        let ends: Vec<_> = session.data_of("goal");
        let ends: Vec<_> = ends
            .iter()
            .filter_map(|data| data["ended"].as_str())
            .collect();
        assert_eq!(ends, ["replaced", "approved"], "{moment:?}");
        let outcomes = session.audit_outcomes();
        let wanted = if moment.is_audit() {
            vec!["stale", "approved"]
        } else {
            vec!["approved"]
        };
        assert_eq!(outcomes, wanted, "{moment:?}");
        let told = pi.notices_since(mark);
        assert!(
            !told.iter().any(|n| n.text.contains("paused")),
            "{moment:?}: {told:?}"
        );
    }
}

#[test]
fn resume_after_a_stop_goes_on() {
    let pi = Pi::start(Moment::options());
    for moment in [
        Moment::Tool,
        Moment::Audit,
        Moment::RetryWait,
        Moment::CompactionInRun,
    ] {
        pi.new_session();
        moment.reach(&pi, "Write a poem");
        let mark = pi.prompt("/goal pause");
        pi.wait_notice(mark, "Goal paused");
        an_easy_goal(&pi);
        let before = pi.server().requests_of(EXECUTOR).len();
        let mark = pi.prompt("/goal resume");
        wait_ended(&pi, mark);
        let requests = pi.server().requests_of(EXECUTOR);
        assert_eq!(requests.len(), before + 3, "{moment:?}");
        assert!(
            requests[before].last_text().contains("Write a poem"),
            "{moment:?}"
        );
    }
}

/// Each in a pi of its own, so that all of them wait at the same time.
#[test]
fn whatever_comes_in_a_back_off_it_starts_nothing_when_it_would_have_been_over() {
    let met_by = |typed: &str, told: &str| {
        let pi = Pi::start(Moment::options());
        let mark = Moment::BackOff.reach(&pi, "Write a poem");
        an_easy_goal(&pi);
        if typed == "Make it rhyme" {
            let steps = [
                Reply::text("I see."),
                work(),
                claim(),
                Reply::text("That was it."),
            ];
            pi.server().set(EXECUTOR, steps);
        }
        pi.prompt(typed);
        pi.wait_notice(mark, told);
        pi
    };
    let pis = [
        (met_by("/goal pause", "Goal paused"), 1),
        (met_by("/goal clear", "Goal cleared"), 1),
        (met_by("/goal Paint a picture", "Goal complete"), 4),
        (met_by("/goal resume", "Goal complete"), 4),
        (met_by("Make it rhyme", "Goal complete"), 5),
    ];
    for (pi, requests) in &pis {
        pi.quiet(PAST_THE_BACK_OFF);
        assert_eq!(pi.server().requests_of(EXECUTOR).len(), *requests);
    }
    let requests = pis[4].0.server().requests_of(EXECUTOR);
    assert_eq!(requests[1].last_text(), "Make it rhyme");
    assert!(
        requests[2].last_text().contains("update_goal"),
        "the goal goes on by itself"
    );
}

#[test]
fn a_message_during_a_run_is_handled_first_and_the_goal_goes_on() {
    let pi = Pi::start(PiOptions::new(Script::new()));
    for behavior in ["steer", "followUp"] {
        pi.new_session();
        let (asked, _) = counts(&pi);
        pi.server().set(
            EXECUTOR,
            [
                Reply::text("On it.").held_before_end(behavior),
                Reply::text("README too, sure."),
                work(),
                claim(),
                Reply::text("That was it."),
            ],
        );
        pi.server().set(AUDITOR, Steps::of(approval()));
        let mark = pi.prompt("/goal Write a poem");
        pi.wait_event(mark, "message_update");
        pi.queue("also update README", behavior);
        pi.server().release(behavior);
        wait_ended(&pi, mark);
        let requests = &pi.server().requests_of(EXECUTOR)[asked..];
        assert_eq!(requests.len(), 5, "{behavior}");
        assert_eq!(requests[1].last_text(), "also update README", "{behavior}");
        assert!(
            requests[2].last_text().contains("update_goal"),
            "{behavior}"
        );
    }
}

#[test]
fn a_message_during_an_audit_waits_for_its_result() {
    let pi = Pi::start(PiOptions::new(Script::new()));
    for behavior in ["steer", "followUp"] {
        pi.new_session();
        let (asked, judged) = counts(&pi);
        pi.server().set(
            EXECUTOR,
            [
                claim(),
                Reply::text("I see, and README too."),
                Reply::text("Nothing more."),
                work(),
                claim(),
                Reply::text("That was it."),
            ],
        );
        let [look, approve] = approval();
        let refuse = Reply::text("There is no poem.\n<disapproved/>").held(behavior);
        pi.server().set(AUDITOR, [refuse, look, approve]);
        let mark = pi.prompt("/goal Write a poem");
        pi.wait_request(AUDITOR, judged + 1);
        pi.queue("also update README", behavior);
        pi.server().release(behavior);
        wait_ended(&pi, mark);
        assert_eq!(
            pi.session().audit_outcomes(),
            ["disapproved", "approved"],
            "{behavior}"
        );
        let requests = &pi.server().requests_of(EXECUTOR)[asked..];
        let asked = requests
            .iter()
            .filter(|r| r.last_text() == "also update README");
        assert_eq!(asked.count(), 1, "{behavior}");
        assert_eq!(requests.len(), 6, "{behavior}");
    }
}

#[test]
fn a_first_goal_typed_during_the_users_own_run_starts_at_its_end() {
    let pi = Pi::start(PiOptions::new(Script::new()));
    pi.server().set(
        EXECUTOR,
        [
            claim().and_text("Good morning."),
            Reply::text("No goal, I see.").held_before_end("gate"),
            work(),
            claim(),
            Reply::text("That was it."),
        ],
    );
    pi.server().set(AUDITOR, Steps::of(approval()));
    let mark = pi.prompt("Good morning");
    pi.wait_request(EXECUTOR, 2);
    pi.prompt("/goal Write a poem");
    assert_eq!(pi.session().phase(), "pursuing", "recorded at once");
    pi.server().release("gate");
    wait_ended(&pi, mark);
    let requests = pi.server().requests_of(EXECUTOR);
    assert_eq!(requests.len(), 5);
    assert!(
        requests[2].last_text().contains("Write a poem"),
        "with the full message"
    );
    let session = pi.session();
    assert_eq!(session.audit_outcomes(), ["approved"]);
    assert_eq!(
        session.continuations().len(),
        1,
        "the user's run counts for nothing"
    );
}

#[test]
fn aborting_the_run_a_goal_waits_for_pauses_the_goal() {
    let pi = Pi::start(PiOptions::new(Script::new()));
    pi.server()
        .set(EXECUTOR, [Reply::text("Good morning").stalled()]);
    let mark = pi.prompt("Good morning");
    pi.wait_event(mark, "message_update");
    pi.prompt("/goal Write a poem");
    pi.abort();
    pi.wait_notice(mark, "Goal paused: you stopped");
    pi.settled_quiet(mark);
    assert_eq!(pi.session().pause_reason(), Some("aborted"));
    assert_eq!(pi.server().requests_of(EXECUTOR).len(), 1);
}

#[test]
fn a_question_that_is_not_answered_with_yes_changes_nothing() {
    let pi = Pi::start(PiOptions::new(Script::new()));
    pi.server().set(
        EXECUTOR,
        [work().held("gate"), claim(), Reply::text("That was it.")],
    );
    pi.server().set(AUDITOR, Steps::of(approval()));
    let start = pi.prompt("/goal Write a poem");
    pi.wait_request(EXECUTOR, 1);
    for dialogs in [Dialogs::No, Dialogs::Cancel] {
        pi.answer_dialogs(dialogs);
        let mark = pi.prompt("/goal Paint a picture");
        pi.wait_notice(mark, "kept");
        assert!(
            pi.dialogs_since(mark)[0]["message"]
                .as_str()
                .unwrap()
                .contains("Write a poem")
        );
        assert_eq!(pi.editor_text().as_deref(), Some("/goal Paint a picture"));
    }
    pi.server().release("gate");
    wait_ended(&pi, start);
    assert_eq!(pi.session().audit_outcomes(), ["approved"]);
    assert_eq!(
        pi.server().requests_of(EXECUTOR).len(),
        3,
        "the run went on as if never asked"
    );
}

#[test]
fn an_answer_without_a_value_is_a_no() {
    let pi = Pi::start(PiOptions::new(Script::new()));
    pi.server().set(EXECUTOR, [Reply::text("Hm").stalled()]);
    let mark = pi.prompt("/goal Write a poem");
    pi.wait_event(mark, "message_update");
    pi.answer_dialogs(Dialogs::Ignore);
    pi.prompt("/goal Paint a picture");
    let question = pi.wait_dialog(mark, "confirm");
    pi.send(&json!({ "type": "extension_ui_response", "id": question["id"] }));
    pi.wait_notice(mark, "kept");
    assert_eq!(
        pi.session_in_memory().goals().last().unwrap()["objective"],
        "Write a poem"
    );
}

#[test]
fn a_yes_stands_even_if_the_old_goal_ended_meanwhile() {
    let pi = Pi::start(PiOptions::new(Script::new()));
    for before_the_answer in ["pause", "clear"] {
        pi.new_session();
        pi.answer_dialogs(Dialogs::Ignore);
        pi.server().set(EXECUTOR, [Reply::text("Hm").stalled()]);
        let mark = pi.prompt("/goal Write a poem");
        pi.wait_event(mark, "message_update");
        pi.prompt("/goal Paint a picture");
        let question = pi.wait_dialog(mark, "confirm");
        pi.prompt(&format!("/goal {before_the_answer}"));
        pi.settled_quiet(mark);
        an_easy_goal(&pi);
        pi.send(
            &json!({ "type": "extension_ui_response", "id": question["id"], "confirmed": true }),
        );
        wait_ended(&pi, mark);
        let asked = pi.server().requests_of(EXECUTOR);
        assert!(
            asked
                .iter()
                .any(|r| r.last_text().contains("Paint a picture"))
        );
    }
}

#[test]
fn only_another_new_goal_refuses_a_yes_and_the_text_goes_back() {
    let pi = Pi::start(PiOptions::new(Script::new()));
    pi.server().set(EXECUTOR, Reply::text("Hm").stalled());
    let mark = pi.prompt("/goal Write a poem");
    pi.wait_event(mark, "message_update");
    pi.answer_dialogs(Dialogs::Ignore);
    pi.prompt("/goal Paint a picture");
    let first = pi.wait_dialog(mark, "confirm");
    let second_mark = pi.prompt("/goal Sing a song");
    let second = pi.wait_dialog(second_mark, "confirm");
    let yes = |id: &serde_json::Value| json!({ "type": "extension_ui_response", "id": id, "confirmed": true });
    pi.send(&yes(&second["id"]));
    pi.wait_notice(second_mark, "Goal set: Sing a song");
    pi.send(&yes(&first["id"]));
    pi.wait_notice(second_mark, "Another goal was set meanwhile");
    assert_eq!(pi.editor_text().as_deref(), Some("/goal Paint a picture"));
    assert_eq!(
        pi.session_in_memory().goals().last().unwrap()["objective"],
        "Sing a song"
    );
    pi.prompt("/goal pause");
    pi.quiet(QUIET);
}

#[test]
fn a_goal_typed_during_a_compaction_by_hand_starts_once_at_its_end() {
    let pi = Pi::start(Moment::options());
    pi.server()
        .set(EXECUTOR, [Reply::text("word ".repeat(800))]);
    let mark = pi.prompt(&"long ".repeat(400));
    pi.settled_quiet(mark);
    for cancelled in [false, true] {
        let before = pi.server().requests_of(EXECUTOR).len();
        an_easy_goal(&pi);
        let gate = if cancelled { "never" } else { "summary" };
        pi.server()
            .set_compaction(Reply::text("A summary.").held(gate));
        let mark = pi.mark();
        let nth = pi.server().compactions().len() + 1;
        pi.send(&json!({ "type": "compact" }));
        pi.world().wait_compaction(nth);
        pi.prompt("/goal Write a poem");
        pi.wait_notice(mark, "Goal set");
        assert_eq!(
            pi.server().requests_of(EXECUTOR).len(),
            before,
            "not into the compaction"
        );
        if cancelled {
            pi.abort();
            pi.wait_notice(mark, "Goal paused: you stopped");
            pi.quiet(QUIET);
            assert_eq!(pi.server().requests_of(EXECUTOR).len(), before);
        } else {
            pi.server().release(gate);
            wait_ended(&pi, mark);
            let requests = pi.server().requests_of(EXECUTOR);
            assert_eq!(requests.len(), before + 3);
            assert!(requests[before].last_text().contains("Write a poem"));
            // Something to compact again.
            pi.server()
                .set(EXECUTOR, [Reply::text("word ".repeat(800))]);
            let mark = pi.prompt(&"long ".repeat(400));
            pi.settled_quiet(mark);
        }
    }
}
