//! The back-off after a model error: one deadline, and everything that cancels it.

use goal_engine::{Deadline, Event, OpenCause, Phase, Settings};

use crate::rig::{Rig, branch_with, saved_goal};

fn backing_off() -> Rig {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.ends_failing("503: overloaded");
    assert!(matches!(
        rig.engine.deadline(),
        Some((_, Deadline::BackOff))
    ));
    rig
}

#[test]
fn whatever_starts_stops_or_replaces_cancels_a_back_off() {
    type Change = fn(&mut Rig);
    let changes: [(&str, Change); 7] = [
        ("a run", |rig| {
            rig.run_starts();
        }),
        ("pause", |rig| {
            rig.command("pause");
        }),
        ("clear", |rig| {
            rig.command("clear");
        }),
        ("resume", |rig| {
            assert!(rig.command("resume").start().is_some(), "starts now");
            rig.run_starts();
        }),
        ("the interrupt key", |rig| {
            assert!(rig.give(Event::Interrupt).told().contains("/goal resume"));
            assert_eq!(rig.phase(), "paused(aborted)");
        }),
        ("leaving", |rig| {
            rig.give(Event::SessionLeft);
        }),
        ("another place of the tree", |rig| {
            rig.open(OpenCause::Tree, branch_with(saved_goal(Phase::Held)));
        }),
    ];
    for (name, change) in changes {
        let mut rig = backing_off();
        change(&mut rig);
        assert_eq!(rig.engine.deadline(), None, "{name}");
        assert_eq!(rig.wait(1_000_000).brief(), "-", "{name}");
    }
}

#[test]
fn a_back_off_that_ends_late_still_starts_once() {
    let mut rig = backing_off();
    rig.sleep_through(60_000);
    let asked = rig.give(Event::Tick);
    assert!(asked.start().is_some());
    assert_eq!(rig.give(Event::Tick).brief(), "-");
}

#[test]
fn a_back_off_that_ends_in_a_compaction_starts_at_its_end_as_the_continuation_it_is() {
    let mut rig = backing_off();
    rig.give(Event::CompactionStarted);
    assert_eq!(rig.wait(5_000).brief(), "-");
    let asked = rig.compaction_ends(|ended| {
        ended.idle = true;
        ended.full_message_present = false;
    });
    let start = asked.start().expect("the restart");
    assert!(start.details.full, "the compaction took the full message");
    assert_eq!(rig.goal().totals.continuations, 1);

    let mut rig = backing_off();
    rig.give(Event::CompactionStarted);
    rig.wait(5_000);
    let asked = rig.compaction_ends(|ended| ended.idle = true);
    assert!(
        !asked.start().expect("the restart").details.full,
        "nothing was lost"
    );
}

#[test]
fn a_back_off_over_the_limit_that_ends_in_a_compaction_pauses_at_its_end() {
    let mut rig = Rig::with(Settings {
        max_continuations: Some(1),
        ..Settings::for_tests()
    });
    rig.pursue("x");
    rig.work();
    rig.ends_saying("");
    rig.ends_failing("503");
    rig.give(Event::CompactionStarted);
    rig.wait(5_000);
    let asked = rig.compaction_ends(|ended| ended.idle = true);
    assert!(asked.start().is_none(), "{}", asked.brief());
    assert_eq!(rig.phase(), "paused(continuation_limit)");
}

#[test]
fn a_run_that_starts_while_a_back_off_waits_for_a_compaction_is_the_goals() {
    let mut rig = backing_off();
    rig.give(Event::CompactionStarted);
    rig.wait(5_000);
    rig.run_starts();
    rig.ends_saying("");
    assert_eq!(rig.goal().totals.empty_streak, 1);
    assert_eq!(rig.goal().totals.continuations, 1);
}

#[test]
fn a_compaction_that_ends_before_the_back_off_starts_nothing() {
    let mut rig = backing_off();
    rig.give(Event::CompactionStarted);
    assert!(
        rig.compaction_ends(|ended| ended.idle = true)
            .start()
            .is_none()
    );
    assert!(rig.wait(5_000).start().is_some());
}

#[test]
fn the_interrupt_key_means_nothing_without_something_to_stop() {
    let mut rig = Rig::new();
    assert_eq!(rig.give(Event::Interrupt).brief(), "-");
    rig.pursue("x");
    assert_eq!(
        rig.give(Event::Interrupt).brief(),
        "-",
        "pi itself aborts a run"
    );
    assert_eq!(rig.phase(), "pursuing");
}

#[test]
fn an_abort_at_the_boundary_that_chose_to_wait_cancels_the_wait() {
    let mut rig = Rig::new();
    rig.pursue("x");
    let asked = rig.settling(|settling| {
        settling.failed = true;
        settling.error = Some("503".to_owned());
    });
    rig.take(&asked);
    rig.settled(true, false);
    rig.wait(1_000_000);
    assert_eq!(rig.phase(), "paused(aborted)");
}

#[test]
fn another_extension_that_goes_on_after_our_rest_is_judged_at_the_next_boundary() {
    let mut rig = Rig::new();
    rig.pursue("x");
    let asked = rig.settling(|settling| {
        settling.failed = true;
        settling.error = Some("503".to_owned());
    });
    rig.take(&asked);
    rig.work();
    let asked = rig.settling(|_| {});
    rig.take(&asked);
    assert_eq!(rig.engine.deadline(), None, "the run goes on");
    assert_eq!(rig.wait(1_000_000).brief(), "-");
}

#[test]
fn a_back_off_that_ends_before_the_run_has_come_to_rest_starts_at_its_rest() {
    let mut rig = Rig::new();
    rig.pursue("x");
    let asked = rig.settling(|settling| {
        settling.failed = true;
        settling.error = Some("503".to_owned());
    });
    rig.take(&asked);
    // Another extension takes its time at the end of the run.
    assert_eq!(rig.wait(6_000).brief(), "-");
    assert!(rig.rests().start().is_some());
    assert_eq!(rig.goal().totals.continuations, 1);
}
