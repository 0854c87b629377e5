//! The user stops a goal: by abort over RPC, by Esc in the terminal.

use std::sync::Arc;

use goal_tests::{EXECUTOR, Moment, Pi, Tui, World};

#[test]
fn an_abort_pauses_the_goal_at_every_moment_and_no_request_follows() {
    let pi = Pi::start(Moment::options());
    for moment in Moment::ALL.into_iter().filter(|moment| moment.is_in_run()) {
        pi.new_session();
        let mark = moment.reach(&pi, "Write a poem");
        let requests = pi.server().requests().len();
        pi.abort();
        let notice = pi.wait_notice(mark, "Goal paused");
        assert!(
            notice.text.contains("/goal resume"),
            "{moment:?}: {notice:?}"
        );
        pi.settled_quiet(mark);

        let session = pi.session();
        let state = (session.phase(), session.pause_reason());
        assert_eq!(state, ("paused", Some("aborted")), "{moment:?}");
        assert_eq!(pi.server().requests().len(), requests, "{moment:?}");
        let audit = session.audit_outcomes().last() == Some(&"aborted");
        assert_eq!(audit, moment.is_audit(), "{moment:?}");
    }
}

#[test]
fn esc_pauses_the_goal_at_every_moment_and_no_request_follows() {
    let world = Arc::new(World::new(Moment::options()));
    let tui = Tui::start_in(Arc::clone(&world), 120, 150, &[]);
    tui.wait_screen("executor");
    for moment in Moment::ALL {
        let objective = format!("Write a poem about {moment:?}.");
        moment.reach_in_terminal(&tui, &objective);
        let requests = world.server.requests().len();
        tui.press("Escape");
        tui.wait_until(&format!("the pause in {moment:?}"), |screen| {
            let since = screen.rsplit_once(&format!("Goal set: {objective}"));
            since.is_some_and(|(_, since)| {
                since.contains("Goal paused: you stopped") && since.contains("/goal resume goes on")
            })
        });
        let session = world.session();
        let state = (session.phase(), session.pause_reason());
        assert_eq!(state, ("paused", Some("aborted")), "{moment:?}");
        assert_eq!(world.server.requests().len(), requests, "{moment:?}");
        tui.submit("/goal clear");
        tui.wait_screen(&format!("Goal cleared: {objective}"));
        tui.submit("/new");
        tui.wait_until("a new session", |screen| {
            screen.contains("New session started") && !screen.contains("Goal cleared")
        });
    }
}

/// pi compacts before a run's first request too, if the context was left full.
#[test]
fn a_stop_in_the_compaction_before_a_run_pauses_the_goal() {
    let pi = Pi::start(Moment::options());
    Moment::CompactionAfterRun.reach(&pi, "Write a poem");
    pi.abort();
    let mark = pi.prompt("/goal resume");
    pi.wait_event(mark, "compaction_start");
    pi.world().wait_compaction(2);
    pi.abort();
    pi.wait_notice(mark, "Goal paused: you stopped");
    pi.quiet(goal_tests::pi::QUIET);
    assert_eq!(pi.session().pause_reason(), Some("aborted"));
    assert_eq!(pi.server().requests_of(EXECUTOR).len(), 1);
}

#[test]
fn esc_in_the_compaction_before_a_run_pauses_the_goal() {
    let world = Arc::new(World::new(Moment::options()));
    let tui = Tui::start_in(Arc::clone(&world), 120, 80, &[]);
    tui.wait_screen("executor");
    Moment::CompactionAfterRun.reach_in_terminal(&tui, "Write a poem");
    tui.press("Escape");
    tui.wait_screen("goal paused");
    tui.submit("/goal resume");
    world.wait_compaction(2);
    tui.wait_screen("ompacting");
    tui.press("Escape");
    tui.wait_until("the second pause", |screen| {
        screen.matches("Goal paused: you stopped").count() == 2
    });
    assert_eq!(world.session().pause_reason(), Some("aborted"));
    assert_eq!(world.server.requests_of(EXECUTOR).len(), 1);
}

/// There pi shows an abort to nobody; `/goal pause` is the way.
#[test]
fn an_abort_over_rpc_in_a_back_off_changes_nothing() {
    let pi = Pi::start(Moment::options());
    let mark = Moment::BackOff.reach(&pi, "Write a poem");
    pi.abort();
    pi.wait_request(EXECUTOR, 2);
    assert!(
        !pi.notices_since(mark)
            .iter()
            .any(|n| n.text.contains("Goal paused"))
    );
}
