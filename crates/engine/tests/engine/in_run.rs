//! Inside a run: its bounds, and calls of our tools that can do nothing.

use goal_engine::{Event, OpenCause, Phase};

use crate::rig::{Rig, branch_with, restart, saved_goal};

#[test]
fn the_twentieth_turn_without_work_ends_a_run_of_the_goal() {
    let mut rig = Rig::new();
    rig.pursue("x");
    for turn in 1..20 {
        assert_eq!(rig.turn_ends().brief(), "-", "turn {turn}");
    }
    let asked = rig.turn_ends();
    assert_eq!(
        asked.brief(),
        "save paused(no_progress), notify warning, END RUN"
    );
    assert!(asked.told().contains("20 turns"), "{}", asked.told());
    assert_eq!(rig.settled(true, true).brief(), "-");
}

#[test]
fn work_starts_the_turns_from_zero_and_a_failing_command_does_not() {
    let mut rig = Rig::new();
    rig.pursue("x");
    for turn in 1..=60 {
        if turn % 19 == 0 {
            rig.work();
        } else {
            rig.tool(|tool| tool.is_error = true);
        }
        assert_eq!(rig.turn_ends().brief(), "-", "turn {turn}");
    }
}

#[test]
fn an_endless_run_of_get_goal_while_pursuing_is_ended() {
    let mut rig = Rig::new();
    rig.pursue("x");
    for turn in 1..=20 {
        let asked = rig.gets_goal();
        assert!(
            asked
                .answer()
                .is_some_and(|answer| !answer.is_error && !answer.ends_run)
        );
        rig.tool(|tool| {
            tool.tool = "get_goal".to_owned();
            tool.ours = true;
        });
        assert_eq!(rig.turn_ends().ends_run(), turn == 20, "turn {turn}");
    }
}

#[test]
fn a_run_of_the_users_own_has_no_bound() {
    let mut rig = Rig::new();
    rig.run_starts();
    for _ in 0..100 {
        assert_eq!(rig.turn_ends().brief(), "-");
    }
}

#[test]
fn the_third_dead_call_in_a_row_ends_the_run_whatever_the_phase() {
    type Situation = fn() -> Rig;
    let situations: [(&str, Situation); 6] = [
        ("no goal", || {
            let mut rig = Rig::new();
            rig.run_starts();
            rig
        }),
        ("held", || {
            let mut rig = Rig::new();
            rig.open(OpenCause::Start, branch_with(saved_goal(Phase::Held)));
            rig.run_starts();
            rig
        }),
        ("paused", || {
            let mut rig = Rig::new();
            rig.pursue("x");
            rig.command("pause");
            rig.settled(true, true);
            rig.run_starts();
            rig
        }),
        ("a goal that waits for the run's end", || {
            let mut rig = Rig::new();
            rig.run_starts();
            rig.command("x");
            rig
        }),
        ("a core that was started in mid-run", || {
            let mut rig = Rig::new();
            rig.open(OpenCause::Start, branch_with(saved_goal(Phase::Held)));
            rig
        }),
        ("a core that was lost in a run of the user's own", || {
            let mut rig = Rig::new();
            let mut lost = restart(None);
            lost.running = true;
            rig.open(
                OpenCause::CoreRestart(lost),
                branch_with(saved_goal(Phase::Held)),
            );
            rig
        }),
    ];
    for (name, situation) in situations {
        for update in [false, true] {
            let mut rig = situation();
            for call in 1..=3 {
                let asked = if update {
                    rig.claims()
                } else {
                    rig.gets_goal()
                };
                let answer = asked.answer().expect("an answer");
                assert!(answer.is_error, "{name}");
                assert_eq!(answer.ends_run, call == 3, "{name}, call {call}");
                rig.turn_ends();
            }
        }
    }
}

#[test]
fn work_between_two_dead_calls_starts_them_from_zero() {
    let mut rig = Rig::new();
    rig.run_starts();
    for _ in 0..10 {
        rig.gets_goal();
        let asked = rig.gets_goal();
        assert!(asked.answer().is_some_and(|answer| !answer.ends_run));
        rig.work();
    }
}

#[test]
fn dead_calls_of_one_run_are_not_those_of_the_next() {
    let mut rig = Rig::new();
    for _ in 0..5 {
        rig.run_starts();
        rig.gets_goal();
        rig.gets_goal();
        rig.ends_saying("");
    }
}

#[test]
fn each_dead_call_says_what_to_do() {
    let mut rig = Rig::new();
    rig.run_starts();
    let asked = rig.claims();
    assert!(
        asked
            .answer()
            .is_some_and(|answer| answer.text.contains("/goal"))
    );
    rig.rests();
    rig.pursue("x");
    rig.command("pause");
    let asked = rig.claims();
    assert!(
        asked
            .answer()
            .is_some_and(|answer| answer.text.contains("/goal resume"))
    );
}

#[test]
fn a_status_we_do_not_know_is_refused_with_what_is_allowed_and_audits_nothing() {
    for status in ["blocked", "in_progress", "0", "completely"] {
        let mut rig = Rig::new();
        rig.pursue("x");
        let asked = rig.calls(goal_engine::GoalTool::UpdateGoal, |call| {
            call.status = Some(status.to_owned());
        });
        let answer = asked.answer().expect("an answer");
        assert!(
            answer.is_error && answer.text.contains("complete"),
            "{}",
            answer.text
        );
        assert!(asked.opened().is_none());
    }
}

#[test]
fn complete_in_other_words_any_case_or_none_is_complete() {
    for status in [
        None,
        Some("complete"),
        Some("COMPLETED"),
        Some(" Done "),
        Some(""),
    ] {
        let mut rig = Rig::new();
        rig.pursue("x");
        let asked = rig.calls(goal_engine::GoalTool::UpdateGoal, |call| {
            call.status = status.map(str::to_owned);
        });
        assert!(asked.opened().is_some(), "{status:?}");
    }
}

#[test]
fn get_goal_tells_the_objective_in_full_and_the_last_objection() {
    let mut rig = Rig::new();
    let objective = format!("begin {} end", "long ".repeat(3_000));
    rig.pursue(&objective);
    rig.audited("The door is missing.\n<disapproved/>");
    let asked = rig.gets_goal();
    let text = &asked.answer().expect("an answer").text;
    assert!(text.contains(&objective));
    assert!(text.contains("The door is missing."));
}

#[test]
fn a_message_of_the_users_in_mid_run_changes_no_run() {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.ends_saying("");
    rig.give(Event::UserMessage);
    rig.ends_saying("");
    assert_eq!(rig.goal().totals.empty_streak, 1);
}
