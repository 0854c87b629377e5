//! Compactions: the full message comes back as soon as one took it, and cancelling one is a stop.

use goal_engine::Event;

use crate::rig::Rig;

#[test]
fn a_compaction_inside_a_run_of_the_goal_sends_the_full_message_at_once() {
    let mut rig = Rig::new();
    rig.pursue("the very objective");
    rig.give(Event::CompactionStarted);
    let asked = rig.compaction_ends(|ended| {
        ended.run_goes_on = true;
        ended.full_message_present = false;
    });
    let message = asked.sent_in_run().expect("the full message");
    assert!(message.details.full && message.text.contains("the very objective"));
}

#[test]
fn a_compaction_that_kept_the_full_message_sends_nothing() {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.give(Event::CompactionStarted);
    assert_eq!(
        rig.compaction_ends(|ended| ended.run_goes_on = true)
            .brief(),
        "-"
    );
}

#[test]
fn a_compaction_inside_another_run_sends_nothing_of_the_goal() {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.command("pause");
    rig.settled(true, true);
    rig.run_starts();
    rig.give(Event::CompactionStarted);
    let asked = rig.compaction_ends(|ended| {
        ended.run_goes_on = true;
        ended.full_message_present = false;
    });
    assert_eq!(asked.brief(), "-");
}

#[test]
fn cancelling_a_compaction_in_a_run_ends_the_run_and_pauses() {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.give(Event::CompactionStarted);
    let asked = rig.compaction_ends(|ended| ended.cancelled = true);
    assert!(asked.ends_run());
    rig.settled(true, true);
    rig.wait(250);
    assert_eq!(rig.phase(), "paused(aborted)");
}

#[test]
fn cancelling_a_compaction_while_leaving_is_a_hold() {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.give(Event::CompactionStarted);
    rig.compaction_ends(|ended| ended.cancelled = true);
    rig.settled(true, true);
    rig.give(Event::SessionLeft);
    assert_eq!(rig.phase(), "held");
}

#[test]
fn cancelling_a_compaction_in_a_back_off_stops_the_back_off() {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.ends_failing("503");
    rig.give(Event::CompactionStarted);
    rig.compaction_ends(|ended| {
        ended.cancelled = true;
        ended.idle = true;
    });
    assert!(rig.wait(1_000_000).start().is_none());
    assert_eq!(rig.phase(), "paused(aborted)");
}

#[test]
fn cancelling_a_compaction_of_the_users_own_leaves_the_goal_alone() {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.command("pause");
    rig.settled(true, true);
    rig.give(Event::CompactionStarted);
    assert_eq!(
        rig.compaction_ends(|ended| ended.cancelled = true).brief(),
        "-"
    );
    assert_eq!(rig.phase(), "paused(user)");
}

#[test]
fn a_boundary_right_after_a_cancelled_compaction_rests() {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.give(Event::CompactionStarted);
    rig.compaction_ends(|ended| ended.cancelled = true);
    let asked = rig.settling(|_| {});
    assert_eq!(asked.brief(), "propose rest []");
}

#[test]
fn what_still_runs_when_the_grace_of_a_cancelled_compaction_ends_is_ended() {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.give(Event::CompactionStarted);
    rig.compaction_ends(|ended| ended.cancelled = true);
    // The host is slow to end the run, and the model claims completion meanwhile.
    let audit = rig.claims().opened().expect("an audit").audit;
    rig.checks(audit);
    let asked = rig.wait(250);
    assert_eq!(rig.phase(), "paused(aborted)");
    assert!(
        asked.answer().is_some() && asked.ends_run(),
        "{}",
        asked.brief()
    );
    assert_eq!(rig.auditor_says(audit, "<approved/>").brief(), "-");
}

#[test]
fn an_audit_of_a_resting_goal_that_waits_for_a_compaction_is_dropped_with_a_word_when_that_is_cancelled()
 {
    let mut rig = resting_in_a_compaction();
    let asked = rig.compaction_ends(|ended| {
        ended.cancelled = true;
        ended.idle = true;
    });
    assert!(
        asked.told().contains("The audit was stopped"),
        "{}",
        asked.told()
    );
    assert!(
        rig.command("resume").start().is_some(),
        "nothing waits any more"
    );
}

#[test]
fn an_audit_of_a_resting_goal_that_waits_for_a_run_is_dropped_with_a_word_when_that_is_aborted() {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.command("pause");
    rig.settled(true, true);
    rig.run_starts();
    rig.command("audit");
    rig.settled(true, false);
    let asked = rig.wait(250);
    assert!(
        asked.told().contains("The audit was stopped"),
        "{}",
        asked.told()
    );
    assert_eq!(rig.phase(), "paused(user)");
    assert!(
        rig.command("resume").start().is_some(),
        "nothing waits any more"
    );
}

/// A paused goal whose audit waits for a compaction of the user's.
fn resting_in_a_compaction() -> Rig {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.command("pause");
    rig.settled(true, true);
    rig.give(Event::CompactionStarted);
    rig.facts.activity = goal_engine::Activity::Compacting;
    rig.command("audit");
    rig.facts.activity = goal_engine::Activity::Idle;
    rig
}
