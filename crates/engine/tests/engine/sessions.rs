//! Sessions: opened, left, moved, and whose goal acts where.

use goal_engine::{Effect, Event, OpenCause, PauseReason, Phase, Recovered, Stop};

use crate::rig::{Rig, branch_with, saved_goal};

#[test]
fn a_goal_found_is_held_nothing_runs_or_is_written_and_a_notice_names_resume() {
    for cause in [OpenCause::Start, OpenCause::Tree] {
        let mut rig = Rig::new();
        let asked = rig.open(cause, branch_with(saved_goal(Phase::Pursuing)));
        assert_eq!(asked.brief(), "notify info");
        assert!(asked.told().contains("/goal resume"));
        assert_eq!(rig.phase(), "held");
        assert_eq!(rig.wait(1_000_000).brief(), "-");
        rig.run_starts();
        assert_eq!(rig.ends_saying("").saved().len(), 0);
        assert_eq!(rig.phase(), "held");
        assert!(
            rig.command("resume")
                .start()
                .is_some_and(|message| message.details.full)
        );
    }
}

#[test]
fn an_audit_lost_with_the_session_is_said_once() {
    let mut rig = Rig::new();
    let asked = rig.open(
        OpenCause::Start,
        Recovered {
            audit_lost: true,
            ..branch_with(saved_goal(Phase::Held))
        },
    );
    assert_eq!(asked.told().matches("audit").count(), 1, "{}", asked.told());
}

#[test]
fn a_paused_goal_keeps_its_reason_over_a_reload() {
    let mut rig = Rig::new();
    let stop = Stop {
        reason: PauseReason::NoProgress,
        detail: None,
    };
    let asked = rig.open(
        OpenCause::Start,
        branch_with(saved_goal(Phase::Paused(stop))),
    );
    assert!(asked.told().contains("no progress"), "{}", asked.told());
}

#[test]
fn an_empty_session_says_and_shows_nothing() {
    let mut rig = Rig::new();
    assert_eq!(
        rig.open(OpenCause::Start, Recovered::default()).brief(),
        "-"
    );
    rig.run_starts();
    for _ in 0..5 {
        rig.work();
        assert_eq!(rig.turn_ends().len(), 0);
    }
    assert_eq!(rig.ends_saying("").brief(), "propose rest []");
}

#[test]
fn a_goal_of_one_session_is_none_of_the_next() {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.ends_failing("503");
    rig.give(Event::SessionLeft);
    rig.open(OpenCause::Start, Recovered::default());
    assert_eq!(rig.phase(), "none");
    rig.run_starts();
    assert_eq!(rig.ends_saying("").brief(), "propose rest []");
    assert_eq!(rig.wait(1_000_000).brief(), "-");
}

#[test]
fn a_proposal_of_a_session_that_was_left_commits_nothing() {
    let mut rig = Rig::new();
    rig.pursue("x");
    let asked = rig.settling(|_| {});
    rig.open(OpenCause::Tree, branch_with(saved_goal(Phase::Held)));
    rig.take(&asked);
    assert_eq!(rig.phase(), "held");
    assert_eq!(rig.goal().totals.empty_streak, 0);
}

#[test]
fn what_fell_due_in_another_branch_is_not_written_into_this_one() {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.settled(true, false);
    rig.sleep_through(60_000); // The core is woken long after the grace of the abort.
    let asked = rig.open(OpenCause::Tree, Recovered::default());
    assert!(asked.saved().is_empty(), "{}", asked.brief());
    assert_eq!(rig.engine.goal(), None);
}

#[test]
fn a_newer_versions_goal_is_not_shown_and_nothing_is_written_over_it() {
    let mut rig = Rig::new();
    let asked = rig.open(
        OpenCause::Start,
        Recovered {
            newer_version: true,
            diagnostics: vec!["newer".to_owned()],
            ..Recovered::default()
        },
    );
    assert_eq!(asked.told(), "newer");
    for command in ["x", "resume", "pause", "clear", "status"] {
        let asked = rig.command(command);
        assert!(
            asked.saved().is_empty() && asked.start().is_none(),
            "{command}: {}",
            asked.brief()
        );
    }
}

#[test]
fn the_status_is_shown_when_it_changed_and_not_otherwise() {
    let mut rig = Rig::new();
    let shown = |asked: &crate::rig::Asked| {
        asked
            .iter()
            .filter(|effect| matches!(effect, Effect::ShowStatus(_)))
            .count()
    };
    assert_eq!(shown(&rig.command("x")), 1);
    assert_eq!(shown(&rig.run_starts()), 0);
    for _ in 0..10 {
        assert_eq!(shown(&rig.work()), 0);
        assert_eq!(shown(&rig.turn_ends()), 0);
    }
    assert_eq!(shown(&rig.wait(600_000)), 0);
    assert_eq!(shown(&rig.command("status")), 0);
    assert_eq!(shown(&rig.ends_saying("")), 1, "another continuation");
}

#[test]
fn the_status_is_shown_again_in_a_session_opened_anew() {
    let mut rig = Rig::new();
    rig.open(OpenCause::Start, branch_with(saved_goal(Phase::Held)));
    let asked = rig.open(OpenCause::Start, branch_with(saved_goal(Phase::Held)));
    assert!(
        asked
            .iter()
            .any(|effect| matches!(effect, Effect::ShowStatus(_)))
    );
}

#[test]
fn ten_thousand_calls_in_a_run_ask_for_nothing() {
    let mut rig = Rig::new();
    rig.pursue("x");
    for _ in 0..10_000 {
        assert_eq!(rig.work().len(), 0);
        assert_eq!(rig.turn_ends().len(), 0);
    }
}

#[test]
fn the_same_events_and_clocks_give_the_same_effects() {
    let play = || {
        let mut rig = Rig::new();
        let mut all = Vec::new();
        all.extend(rig.pursue("x").0);
        all.extend(rig.ends_failing("503").0);
        all.extend(rig.wait(5_000).0);
        all.extend(rig.run_starts().0);
        all.extend(rig.audited("No.\n<disapproved/>").0);
        all.extend(rig.ends_saying("").0);
        all
    };
    assert_eq!(play(), play());
}
