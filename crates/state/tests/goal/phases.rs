//! The record: objective, phases, generations, active time.

use goal_state::{
    Goal, Monotonic, OBJECTIVE_MAX_BYTES, Objective, ObjectiveError, PauseReason, Phase, Stop,
    Totals, WallClock,
};

use crate::{gate, goal, run};

fn stop() -> Stop {
    Stop::plain(PauseReason::User)
}

#[test]
fn an_objective_is_trimmed_at_its_ends_and_otherwise_byte_exact() {
    for (given, taken) in [
        ("x", "x"),
        ("  x  y\r\n z \n", "x  y\r\n z"),
        ("\u{a0}\u{3000}x\u{2028}", "x"),
        ("a\u{200b}b\u{202e}", "a\u{200b}b\u{202e}"),
    ] {
        assert_eq!(
            Objective::new(given).map(|objective| objective.as_str().to_owned()),
            Ok(taken.to_owned())
        );
    }
}

#[test]
fn an_objective_has_one_byte_to_the_limit_after_trimming() {
    for blank in ["", "   ", "\n\t\u{a0}"] {
        assert_eq!(Objective::new(blank), Err(ObjectiveError::Blank));
    }
    let limit = "x".repeat(OBJECTIVE_MAX_BYTES);
    assert!(Objective::new(&limit).is_ok());
    assert!(Objective::new(&format!("  {limit}  ")).is_ok());
    assert_eq!(
        Objective::new(&format!("{limit}x")),
        Err(ObjectiveError::TooLong(OBJECTIVE_MAX_BYTES + 1))
    );
    let emoji = "👩".repeat(OBJECTIVE_MAX_BYTES / 4 + 1);
    assert_eq!(
        Objective::new(&emoji),
        Err(ObjectiveError::TooLong(OBJECTIVE_MAX_BYTES + 4))
    );
}

#[test]
fn pause_and_resume_raise_the_generation_and_a_hold_does_not() {
    let mut goal = goal();
    let first = goal.tag();
    goal.pause(stop(), Monotonic(1));
    assert!(!goal.is(&first));
    assert_eq!(goal.generation(), 2);
    goal.resume(gate(), Monotonic(2));
    assert_eq!(goal.generation(), 3);
    let held = goal.tag();
    goal.hold(Monotonic(3));
    assert!(goal.is(&held));
    goal.rearm(Monotonic(4));
    assert!(goal.is(&held) && goal.is_pursuing());
}

#[test]
fn only_a_held_goal_is_armed_again() {
    let mut goal = goal();
    goal.pause(stop(), Monotonic(1));
    goal.rearm(Monotonic(2));
    assert_eq!(*goal.phase(), Phase::Paused(stop()));
}

#[test]
fn time_counts_while_pursuing_and_survives_pause_and_hold() {
    let mut goal = goal();
    assert_eq!(goal.active_ms(Monotonic(500)), 500);
    goal.pause(stop(), Monotonic(1_000));
    assert_eq!(goal.active_ms(Monotonic(9_000)), 1_000);
    goal.resume(gate(), Monotonic(10_000));
    assert_eq!(goal.active_ms(Monotonic(10_250)), 1_250);
    goal.hold(Monotonic(11_000));
    assert_eq!(goal.active_ms(Monotonic(99_000)), 2_000);
    goal.rearm(Monotonic(100_000));
    assert_eq!(goal.active_ms(Monotonic(100_001)), 2_001);
}

#[test]
fn a_clock_that_jumps_back_takes_no_time_away() {
    let mut goal = goal();
    goal.pause(stop(), Monotonic(1_000));
    goal.resume(gate(), Monotonic(5_000));
    assert_eq!(goal.active_ms(Monotonic(4_000)), 1_000);
}

#[test]
fn resuming_a_goal_that_is_pursued_keeps_its_time() {
    let mut goal = goal();
    goal.resume(gate(), Monotonic(700));
    assert_eq!(goal.active_ms(Monotonic(1_000)), 1_000);
}

#[test]
fn pausing_keeps_every_total_and_resuming_resets_all_but_the_objection() {
    let mut goal = goal();
    goal.settle(&run(false, crate::LONG));
    goal.last_objection = Some("the door is missing".to_owned());
    let totals = goal.totals.clone();
    assert_ne!(totals, Totals::default());
    goal.pause(stop(), Monotonic(1));
    assert_eq!(goal.totals, totals);
    let mut other = gate();
    other.max_audits = Some(1);
    goal.resume(other.clone(), Monotonic(2));
    assert_eq!(goal.totals, Totals::default());
    assert_eq!(goal.gate(), &other);
    assert_eq!(goal.last_objection.as_deref(), Some("the door is missing"));
    assert_eq!((goal.id(), goal.created_at()), ("g-1", WallClock(1_000)));
}

#[test]
fn a_restored_goal_is_never_pursued() {
    for (saved, restored) in [
        (Phase::Pursuing, Phase::Held),
        (Phase::Held, Phase::Held),
        (Phase::Paused(stop()), Phase::Paused(stop())),
    ] {
        let goal = Goal::restore(
            "g".to_owned(),
            4,
            Objective::new("x").expect("an objective"),
            saved,
            WallClock(1),
            77,
            Totals::default(),
            None,
            gate(),
        );
        assert_eq!(*goal.phase(), restored);
        assert_eq!(goal.active_ms(Monotonic(1_000_000)), 77);
    }
}

#[test]
fn every_pause_reason_comes_back_from_its_saved_name() {
    let names = [
        "user",
        "aborted",
        "no_progress",
        "repetition",
        "model_errors",
        "rejections",
        "audit_failures",
        "continuation_limit",
        "audit_limit",
        "tools_off",
        "core_lost",
    ];
    for name in names {
        let reason = PauseReason::from_saved(name, Some("quota")).expect("a reason");
        assert_eq!(reason.name(), name);
        let again = PauseReason::from_saved(reason.name(), reason.kind());
        assert_eq!(again, Some(reason));
    }
    assert_eq!(PauseReason::from_saved("boredom", None), None);
}

#[test]
fn an_edit_makes_stale_what_was_judged_under_the_old_words_and_keeps_the_rest() {
    let mut goal = goal();
    goal.settle(&run(false, crate::LONG));
    goal.last_objection = Some("the door is missing".to_owned());
    let (tag, before) = (goal.tag(), goal.totals.clone());
    goal.edit(Objective::new("in other words").expect("an objective"));
    assert!(!goal.is(&tag) && goal.is_pursuing());
    assert_eq!(goal.objective(), "in other words");
    assert_eq!(goal.last_objection, None);
    assert_eq!(
        (goal.totals.repeat_streak, goal.totals.last_text),
        (0, None)
    );
    assert_eq!(
        (goal.totals.continuations, goal.totals.empty_streak),
        (before.continuations, before.empty_streak)
    );
}

#[test]
fn a_limit_of_the_users_own_outlives_a_resume() {
    let mut goal = goal();
    goal.set_limit(Some(1));
    let tag = goal.tag();
    assert!(goal.is(&tag), "what is under way goes on");
    goal.pause(stop(), Monotonic(1));
    goal.resume(gate(), Monotonic(2));
    assert_eq!(goal.gate().max_continuations, Some(1));
    goal.set_limit(None);
    goal.resume(gate(), Monotonic(3));
    assert_eq!(goal.gate().max_continuations, None);
}
