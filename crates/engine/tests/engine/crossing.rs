//! What the engine asks for and what the user does cross each other on the wire.

use goal_engine::{CompactionEnded, CoreRestart, Event, GoalTag, OpenCause, Recovered, RunSettled};

use crate::rig::Rig;

const fn ended_by_us(start_pending: bool) -> Event {
    Event::RunSettled(RunSettled {
        aborted: true,
        by_us: true,
        start_pending,
        full_message_present: true,
    })
}

fn stale() -> Event {
    Event::MessageArrived {
        tag: GoalTag {
            id: "g-another".to_owned(),
            generation: 1,
        },
    }
}

#[test]
fn a_run_of_the_users_own_that_crosses_a_start_is_not_the_goals() {
    let mut rig = Rig::new();
    rig.command("the objective");
    rig.users_run_starts();
    rig.give(Event::RunSettled(RunSettled {
        aborted: false,
        by_us: false,
        start_pending: false,
        full_message_present: false,
    }));
    assert_eq!(
        rig.phase(),
        "pursuing",
        "its end says nothing about the goal"
    );
    rig.run_starts();
    let settled = rig.settling(|_| {});
    assert!(
        settled
            .proposal()
            .is_some_and(|proposal| proposal.message.is_some()),
        "{}",
        settled.brief()
    );
}

#[test]
fn the_user_who_aborts_a_run_that_crosses_a_start_stops_the_goal_with_its_start() {
    let mut rig = Rig::new();
    rig.command("the objective");
    rig.users_run_starts();
    rig.give(Event::RunSettled(RunSettled {
        aborted: true,
        by_us: false,
        start_pending: false,
        full_message_present: false,
    }));
    let asked = rig.message_arrives();
    assert_eq!(rig.phase(), "paused(aborted)");
    assert!(asked.ends_run(), "{}", asked.brief());
}

#[test]
fn the_user_who_aborts_a_long_run_in_which_a_start_waits_stops_the_goal() {
    let mut rig = Rig::new();
    rig.command("the objective");
    rig.users_run_starts();
    rig.wait(60_000); // One long tool: the message of the start has still not arrived.
    rig.give(Event::RunSettled(RunSettled {
        aborted: true,
        by_us: false,
        start_pending: true,
        full_message_present: true,
    }));
    let asked = rig.wait(1_000);
    assert_eq!(rig.phase(), "paused(aborted)");
    assert!(asked.told().contains("/goal resume"), "{}", asked.brief());
}

#[test]
fn from_the_arrival_of_its_message_a_run_of_the_user_is_the_goals_too() {
    let mut rig = Rig::new();
    rig.command("the objective");
    rig.users_run_starts();
    rig.message_arrives();
    let settled = rig.settling(|_| {});
    let proposal = settled.proposal().expect("a proposal");
    assert!(proposal.message.is_some(), "{}", settled.brief());
}

#[test]
fn a_message_of_what_was_stopped_ends_the_run_it_begins() {
    let mut rig = Rig::new();
    rig.give(Event::RunStarted);
    assert!(rig.give(stale()).ends_run());
}

#[test]
fn a_message_of_what_was_stopped_leaves_the_users_run_alone() {
    let mut rig = Rig::new();
    rig.users_run_starts();
    assert_eq!(rig.give(stale()).brief(), "-");
}

#[test]
fn a_message_of_what_was_replaced_leaves_the_goals_run_alone() {
    let mut rig = Rig::new();
    rig.pursue("the objective");
    assert_eq!(rig.give(stale()).brief(), "-");
}

#[test]
fn a_start_that_was_left_in_a_run_we_ended_is_asked_for_again() {
    let mut rig = Rig::new();
    rig.command("the objective");
    rig.users_run_starts();
    let asked = rig.give(ended_by_us(true));
    assert!(asked.start().is_some(), "{}", asked.brief());
    let mut rig = Rig::new();
    rig.command("the objective");
    rig.users_run_starts();
    assert!(
        rig.give(ended_by_us(false)).start().is_none(),
        "it is on its way still"
    );
}

#[test]
fn nothing_starts_between_the_users_stop_and_its_pause() {
    let mut rig = Rig::new();
    rig.pursue("the objective");
    rig.prepared = None;
    rig.command("audit");
    rig.give(ended_by_us(false));
    rig.facts.activity = goal_engine::Activity::Idle;
    rig.give(Event::CompactionStarted);
    rig.give(Event::CompactionEnded(CompactionEnded {
        cancelled: true,
        run_goes_on: false,
        idle: true,
        full_message_present: true,
    }));
    let asked = rig.wait(1_000);
    assert!(asked.start().is_none(), "{}", asked.brief());
    assert_eq!(rig.phase(), "paused(aborted)");
}

#[test]
fn a_core_that_is_started_again_for_nobodys_goal_says_why_it_lets_a_script_go() {
    let mut rig = Rig::without_session(goal_engine::Settings::for_tests());
    let restart = CoreRestart {
        pursued: None,
        recent_losses: 1,
        audit_lost: false,
        running: false,
        full_message_present: false,
        headless: true,
        stopped: false,
    };
    let asked = rig.open(OpenCause::CoreRestart(restart), Recovered::default());
    let (approved, reason) = asked.released().expect("released");
    assert!(!approved && reason.is_some_and(|reason| !reason.is_empty()));
}

#[test]
fn what_the_user_stopped_just_before_the_core_was_lost_stays_stopped_in_the_next_run_of_the_user() {
    let mut rig = Rig::new();
    rig.pursue("the objective");
    let goal = rig.engine.goal().cloned().expect("a goal");
    let restart = CoreRestart {
        pursued: Some(goal.tag()),
        recent_losses: 1,
        audit_lost: false,
        running: true,
        full_message_present: true,
        headless: false,
        stopped: true,
    };
    let mut rig = Rig::without_session(goal_engine::Settings::for_tests());
    let mut held = goal;
    held.hold(goal_engine::Monotonic(0));
    let branch = Recovered {
        goal: Some(held),
        ..Recovered::default()
    };
    let asked = rig.open(OpenCause::CoreRestart(restart), branch);
    assert_eq!(rig.phase(), "paused(aborted)");
    assert!(!asked.ends_run(), "that run is the user's own");
}
