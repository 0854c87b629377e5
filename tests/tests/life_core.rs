//! The core is killed or hangs: pi goes on, the goal goes on once, and nothing completes by itself.

use std::time::Duration;

use goal_tests::moment::{approval, claim, work};
use goal_tests::pi::QUIET;
use goal_tests::process::{self, Signal};
use goal_tests::{AUDITOR, EXECUTOR, Mark, Moment, Pi, PiOptions, Reply, Script, Steps};
use serde_json::json;

const OBJECTIVE: &str = "Write a poem";
const RESTARTED: &str = "was lost and has been started again";

/// What comes after the moment of the loss: a claim that is approved.
fn a_good_end(pi: &Pi) {
    pi.server()
        .set(EXECUTOR, [work(), claim(), Reply::text("That was it.")]);
    pi.server().set(AUDITOR, Steps::of(approval()));
    pi.server().set_compaction(Reply::text("A summary."));
}

fn strike(pi: &Pi, signal: Signal) -> u32 {
    let sidecar = pi.sidecar();
    process::signal(sidecar, signal);
    sidecar
}

/// One notice of the loss, a new core, and no trace of the old one.
fn assert_replaced(pi: &Pi, mark: Mark, old: u32) {
    let told = pi.notices_since(mark);
    let restarts = told.iter().filter(|n| n.text.contains(RESTARTED)).count();
    assert_eq!(restarts, 1, "{told:?}");
    assert_ne!(pi.sidecar(), old);
    assert!(!process::lives(old));
}

#[test]
fn a_core_killed_in_a_streaming_answer_is_replaced_and_the_goal_goes_on() {
    let pi = Pi::start(Moment::options());
    let answer = Reply::text("Let me think.").held_before_end("answer");
    pi.server().set(
        EXECUTOR,
        [answer, work(), claim(), Reply::text("That was it.")],
    );
    pi.server().set(AUDITOR, Steps::of(approval()));
    let mark = pi.prompt("/goal Write a poem");
    pi.wait_event(mark, "message_update");
    let old = strike(&pi, Signal::KILL);
    pi.wait_notice(mark, RESTARTED);
    pi.server().release("answer");
    pi.wait_notice(mark, "Goal complete");
    pi.settled_quiet(mark);
    assert_replaced(&pi, mark, old);
    assert_eq!(pi.session().audit_outcomes(), ["approved"]);
    assert_eq!(pi.server().requests_of(EXECUTOR).len(), 4);
}

#[test]
fn a_core_killed_during_a_tool_is_replaced_and_the_goal_goes_on() {
    let pi = Pi::start(Moment::options());
    pi.server().set(
        EXECUTOR,
        [
            Reply::call(
                "bash",
                json!({ "command": "touch started; until [ -e go ]; do sleep 0.05; done" }),
            ),
            claim(),
            Reply::text("That was it."),
        ],
    );
    pi.server().set(AUDITOR, Steps::of(approval()));
    let mark = pi.prompt("/goal Write a poem");
    pi.wait_until("the tool", || pi.world().file("started").is_some());
    let old = strike(&pi, Signal::KILL);
    pi.wait_notice(mark, RESTARTED);
    pi.world().put("go", "");
    pi.wait_notice(mark, "Goal complete");
    pi.settled_quiet(mark);
    assert_replaced(&pi, mark, old);
    assert_eq!(pi.server().requests_of(EXECUTOR).len(), 3);
}

#[test]
fn an_audit_whose_core_is_killed_has_failed_and_the_goal_goes_on() {
    for moment in [Moment::Audit, Moment::AuditTool] {
        let pi = Pi::start(Moment::options());
        let mark = moment.reach(&pi, OBJECTIVE);
        a_good_end(&pi);
        let old = strike(&pi, Signal::KILL);
        pi.wait_notice(mark, "Goal complete");
        pi.settled_quiet(mark);
        assert_replaced(&pi, mark, old);
        let session = pi.session();
        assert_eq!(
            session.audit_outcomes(),
            ["failed", "approved"],
            "{moment:?}"
        );
        assert_eq!(session.audits()[0]["why"], "core_lost", "{moment:?}");
        let results = session.tool_results("update_goal");
        assert_eq!(results[0]["isError"], true, "{moment:?}");
        assert_eq!(results[1]["isError"], false, "{moment:?}");
    }
}

/// `/goal audit`, and an auditor that is at it.
fn an_audit_the_user_asked_for(pi: &Pi) -> Mark {
    let [look, approve] = approval();
    pi.server().set(
        AUDITOR,
        Steps::of([look, approve.held_before_end("verdict")]),
    );
    let mark = pi.prompt("/goal audit");
    pi.wait_request(AUDITOR, 2);
    mark
}

#[test]
fn the_users_audit_of_a_resting_goal_is_lost_with_its_core_and_nothing_else_is() {
    let pi = Pi::start(Moment::options());
    let mark = Moment::Streaming.reach(&pi, OBJECTIVE);
    pi.prompt("/goal pause");
    pi.settled_quiet(mark);
    let mark = an_audit_the_user_asked_for(&pi);
    let asked = pi.mark();
    strike(&pi, Signal::KILL);
    let told = pi.wait_notice(mark, "was lost during the audit").text;
    assert!(told.contains("/goal audit asks"), "{told}");
    pi.server().release("verdict");
    pi.quiet(QUIET);
    let told = pi.notices_since(asked);
    assert_eq!(told.len(), 1, "{told:?}");
    let session = pi.session();
    assert_eq!(session.pause_reason(), Some("user"));
    assert!(!session.audit_outcomes().contains(&"approved"));
    assert_eq!(pi.server().requests_of(EXECUTOR).len(), 1);

    // And the way on works.
    a_good_end(&pi);
    let mark = pi.prompt("/goal audit");
    pi.wait_notice(mark, "Goal complete");
}

#[test]
fn the_users_audit_of_a_pursued_goal_has_failed_with_its_core_and_the_goal_goes_on() {
    let pi = Pi::start(Moment::options());
    let mark = Moment::Streaming.reach(&pi, OBJECTIVE);
    an_audit_the_user_asked_for(&pi);
    pi.server()
        .set(EXECUTOR, [work(), claim(), Reply::text("That was it.")]);
    pi.server().set(AUDITOR, Steps::of(approval()));
    let old = strike(&pi, Signal::KILL);
    pi.wait_notice(mark, RESTARTED);
    pi.server().release("verdict");
    pi.wait_notice(mark, "Goal complete");
    pi.settled_quiet(mark);
    assert_replaced(&pi, mark, old);
    let session = pi.session();
    assert_eq!(session.audit_outcomes(), ["failed", "approved"]);
    assert_eq!(session.audits()[0]["why"], "core_lost");
    assert_eq!(pi.server().requests_of(EXECUTOR).len(), 4);
}

#[test]
fn a_back_off_whose_core_is_killed_is_over() {
    let pi = Pi::start(Moment::options());
    let mark = Moment::BackOff.reach(&pi, OBJECTIVE);
    a_good_end(&pi);
    let old = strike(&pi, Signal::KILL);
    pi.wait_notice(mark, "Goal complete");
    pi.quiet(Duration::from_millis(5_300));
    assert_replaced(&pi, mark, old);
    assert_eq!(pi.server().requests_of(EXECUTOR).len(), 4);
}

#[test]
fn a_goal_at_rest_stays_at_rest_when_its_core_is_killed() {
    let pi = Pi::start(Moment::options());
    let mark = Moment::Streaming.reach(&pi, OBJECTIVE);
    pi.prompt("/goal pause");
    pi.settled_quiet(mark);
    let mark = pi.mark();
    let old = strike(&pi, Signal::KILL);
    pi.wait_until("a new core", || {
        pi.sidecars().iter().any(|sidecar| sidecar.pid != old)
    });
    let asked = pi.prompt("/goal");
    pi.wait_notice(asked, "paused (by you)");
    pi.quiet(QUIET);
    assert_eq!(
        pi.notices_since(mark).len(),
        1,
        "{:?}",
        pi.notices_since(mark)
    );
    assert_eq!(pi.server().requests().len(), 1);
    a_good_end(&pi);
    let mark = pi.prompt("/goal resume");
    pi.wait_notice(mark, "Goal complete");
}

#[test]
fn a_second_loss_pauses_the_goal_and_ends_its_run() {
    for moment in [
        Moment::Streaming,
        Moment::Tool,
        Moment::AuditTool,
        Moment::BackOff,
    ] {
        let pi = Pi::start(Moment::options());
        pi.server().set(EXECUTOR, [Reply::text("Hello.")]);
        let mark = pi.prompt("/goal");
        pi.wait_notice(mark, "");
        let first = strike(&pi, Signal::KILL);
        pi.wait_until("a new core", || {
            pi.sidecars().iter().any(|sidecar| sidecar.pid != first)
        });
        let mark = moment.reach(&pi, OBJECTIVE);
        let requests = pi.server().requests().len();
        strike(&pi, Signal::KILL);
        let told = pi.wait_notice(mark, "Goal paused").text;
        assert!(
            told.contains("twice") && told.contains("/goal resume"),
            "{told}"
        );
        pi.settled_quiet(mark);
        let session = pi.session();
        assert_eq!(
            (session.phase(), session.pause_reason()),
            ("paused", Some("core_lost")),
            "{moment:?}"
        );
        assert_eq!(
            pi.server().requests().len(),
            requests,
            "{moment:?}: no request follows a pause"
        );

        // And the way on works.
        a_good_end(&pi);
        let mark = pi.prompt("/goal resume");
        pi.wait_notice(mark, "Goal complete");
    }
}

#[test]
fn after_a_third_loss_there_is_no_core_until_the_user_asks() {
    let pi = Pi::start(Moment::options());
    let mark = pi.prompt("/goal");
    pi.wait_notice(mark, "");
    for _ in 0..2 {
        let old = strike(&pi, Signal::KILL);
        pi.wait_until("a new core", || {
            pi.sidecars().iter().any(|sidecar| sidecar.pid != old)
        });
        // A core that dies before it has answered is another story: it is not started again.
        let mark = pi.prompt("/goal");
        pi.wait_notice(mark, "No goal is set");
    }
    let mark = Moment::Streaming.reach(&pi, OBJECTIVE);
    let requests = pi.server().requests().len();
    strike(&pi, Signal::KILL);
    let told = pi.wait_notice(mark, "core is not running").text;
    assert!(told.contains("/goal resume"), "{told}");
    let phase = pi.session_in_memory();
    assert_eq!(phase.phase(), "pursuing", "so that the next load holds it");
    pi.abort();
    pi.settled_quiet(mark);
    assert_eq!(pi.server().requests().len(), requests);
    assert_eq!(pi.status("goal"), None);
    a_good_end(&pi);
    let mark = pi.prompt("/goal resume");
    pi.wait_notice(mark, "Goal complete");
}

#[test]
fn a_core_that_hangs_at_the_settle_boundary_is_replaced_and_the_goal_goes_on() {
    let pi = Pi::start(Moment::options());
    pi.server().set(
        EXECUTOR,
        [
            work().held_before_end("answer"),
            Reply::text("So far."),
            claim(),
            Reply::text("That was it."),
        ],
    );
    pi.server().set(AUDITOR, Steps::of(approval()));
    let mark = pi.prompt("/goal Write a poem");
    pi.wait_event(mark, "message_update");
    let old = strike(&pi, Signal::STOP);
    pi.server().release("answer");
    pi.wait_notice(mark, "Goal complete");
    pi.settled_quiet(mark);
    assert_replaced(&pi, mark, old);
    assert_eq!(pi.server().requests_of(EXECUTOR).len(), 4);
}

/// The heartbeat takes seconds to miss it, so all of them wait at the same time.
#[test]
fn a_core_that_hangs_while_somebody_waits_for_it_is_noticed_and_the_goal_goes_on() {
    let struck = |moment: Moment| {
        let pi = Pi::start(Moment::options());
        let mark = moment.reach(&pi, OBJECTIVE);
        a_good_end(&pi);
        let old = strike(&pi, Signal::STOP);
        (pi, mark, old)
    };
    let [in_audit, in_back_off] = [Moment::Audit, Moment::BackOff].map(struck);
    for (pi, mark, old) in [&in_audit, &in_back_off] {
        pi.wait_notice(*mark, "Goal complete");
        pi.settled_quiet(*mark);
        assert_replaced(pi, *mark, *old);
        assert_eq!(pi.server().requests_of(EXECUTOR).len(), 4);
    }
    assert_eq!(
        in_audit.0.session().audit_outcomes(),
        ["failed", "approved"]
    );
    assert_eq!(in_back_off.0.session().audit_outcomes(), ["approved"]);
}

#[test]
fn a_command_that_meets_a_hanging_core_is_asked_again() {
    let resting = Pi::start(PiOptions::new(Script::new()));
    let mark = resting.prompt("/goal");
    resting.wait_notice(mark, "");
    let old = strike(&resting, Signal::STOP);
    a_good_end(&resting);
    let set = resting.mark();
    resting.send(&json!({ "type": "prompt", "message": "/goal Write a poem" }));

    let backing_off = Pi::start(Moment::options());
    let mark = Moment::BackOff.reach(&backing_off, OBJECTIVE);
    strike(&backing_off, Signal::STOP);
    backing_off.prompt("/goal pause");
    backing_off.wait_notice(mark, "Goal paused: you paused it");
    backing_off.quiet(QUIET);
    assert_eq!(backing_off.session().pause_reason(), Some("user"));

    resting.wait_notice(set, "Goal complete");
    assert!(!process::lives(old));
    assert_eq!(resting.editor_text(), None);
}

/// What the user stopped stays stopped, although the core that was told does not hear it.
#[test]
fn an_abort_is_not_lost_with_a_core_that_hangs() {
    let aborted = |moment: Moment| {
        let pi = Pi::start(Moment::options());
        let mark = moment.reach(&pi, OBJECTIVE);
        strike(&pi, Signal::STOP);
        pi.abort();
        assert_eq!(pi.wait_settled(mark)["aborted"], true, "{moment:?}");
        pi.send(&json!({ "type": "prompt", "message": "/goal" }));
        (pi, mark, moment)
    };
    for (mut pi, mark, moment) in [Moment::Streaming, Moment::AuditTool].map(aborted) {
        pi.wait_notice(mark, "Goal paused: you stopped");
        pi.quiet(QUIET);
        assert_eq!(pi.session().pause_reason(), Some("aborted"), "{moment:?}");
        assert_eq!(pi.server().requests_of(EXECUTOR).len(), 1, "{moment:?}");
        assert!(pi.close().success());
        pi.world().assert_no_process_left();
    }
}

#[test]
fn pi_ends_promptly_although_its_core_hangs() {
    for moment in [Moment::Streaming, Moment::AuditTool, Moment::BackOff] {
        let mut pi = Pi::start(Moment::options());
        moment.reach(&pi, OBJECTIVE);
        strike(&pi, Signal::STOP);
        assert!(pi.close().success());
        pi.world().assert_no_process_left();
        assert_eq!(pi.session().phase(), "pursuing", "{moment:?}");
    }
}
