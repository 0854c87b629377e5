//! What a run means, rows 3 to 7 of the table (spec §4), caps exactly at their limits.

use goal_state::{
    BACK_OFF_MS, Decision, ERRORED_RUNS_MAX, Gate, ModelErrorKind, PauseReason, REPEAT_MIN_CHARS,
    REPEATS_MAX, REPEATS_WITH_WRITES_MAX, RunSummary, Stop,
};

use crate::{LONG, failed, gate, goal, goal_with, run};

fn reason(decision: &Decision) -> Option<String> {
    if let Decision::Pause(stop) = decision {
        Some(stop.reason.to_string())
    } else {
        None
    }
}

#[test]
fn errors_that_time_does_not_mend_pause_at_once_with_the_providers_words() {
    for kind in [
        ModelErrorKind::ContextOverflow,
        ModelErrorKind::Authentication,
        ModelErrorKind::Quota,
        ModelErrorKind::UnknownModel,
    ] {
        for did_work in [false, true] {
            let decision = goal().settle(&failed(kind, did_work));
            let stop = Stop {
                reason: PauseReason::ModelErrors(kind),
                detail: Some("the provider's words".to_owned()),
            };
            assert_eq!(decision, Decision::Pause(stop));
        }
    }
}

#[test]
fn the_fifth_error_in_a_row_pauses_and_each_before_waits_longer() {
    let mut goal = goal();
    for wait in BACK_OFF_MS {
        assert_eq!(
            goal.settle(&failed(ModelErrorKind::Transient, false)),
            Decision::BackOff(wait)
        );
    }
    let last = goal.settle(&failed(ModelErrorKind::Transient, false));
    assert_eq!(reason(&last).as_deref(), Some("model_errors(transient)"));
    assert_eq!(goal.totals.errored_streak, ERRORED_RUNS_MAX);
    assert_eq!(BACK_OFF_MS, [5_000, 15_000, 45_000, 135_000]);
}

#[test]
fn work_in_an_errored_run_counts_it_as_the_first_and_ends_the_empty_ones() {
    let mut goal = goal();
    goal.settle(&run(false, ""));
    goal.settle(&failed(ModelErrorKind::Transient, false));
    assert_eq!(
        (goal.totals.empty_streak, goal.totals.errored_streak),
        (1, 1)
    );
    let decision = goal.settle(&failed(ModelErrorKind::Transient, true));
    assert_eq!(decision, Decision::BackOff(5_000));
    assert_eq!(
        (goal.totals.empty_streak, goal.totals.errored_streak),
        (0, 1)
    );
}

#[test]
fn a_back_off_is_no_continuation_until_it_restarts() {
    let mut goal = goal();
    goal.settle(&failed(ModelErrorKind::Transient, false));
    assert_eq!(goal.totals.continuations, 0);
    assert_eq!(goal.count_continuation(), Ok(()));
    assert_eq!(goal.totals.continuations, 1);
}

#[test]
fn a_run_without_error_ends_the_errors() {
    for did_work in [false, true] {
        let mut goal = goal();
        goal.settle(&failed(ModelErrorKind::Transient, false));
        goal.settle(&run(did_work, ""));
        assert_eq!(goal.totals.errored_streak, 0);
    }
}

#[test]
fn equal_texts_are_equal_up_to_white_space_and_long_enough_at_forty_characters() {
    let just = LONG.chars().count();
    assert_eq!(just, REPEAT_MIN_CHARS);
    for (text, same, pauses) in [
        (LONG.to_owned(), LONG.replace(' ', " \n\t "), true),
        (LONG[1..].to_owned(), LONG[1..].to_owned(), false),
        (LONG.to_owned(), format!("{LONG}!"), false),
        (LONG.to_owned(), LONG.replace(' ', ""), false),
        (
            "👩".repeat(REPEAT_MIN_CHARS),
            "👩".repeat(REPEAT_MIN_CHARS),
            true,
        ),
    ] {
        let mut goal = goal();
        goal.settle(&run(true, &text));
        goal.settle(&run(true, &same));
        let decision = goal.settle(&run(true, &text));
        assert_eq!(
            reason(&decision).as_deref() == Some("repetition"),
            pauses,
            "{text:?} {same:?}"
        );
    }
}

#[test]
fn the_third_equal_text_pauses_or_the_sixth_if_one_of_the_runs_wrote() {
    for (wrote_at, max) in [
        (None, REPEATS_MAX),
        (Some(1), REPEATS_WITH_WRITES_MAX),
        (Some(2), REPEATS_WITH_WRITES_MAX),
    ] {
        let mut goal = goal();
        for round in 1..=max {
            let summary = RunSummary {
                wrote: wrote_at == Some(round),
                ..run(true, LONG)
            };
            let decision = goal.settle(&summary);
            assert_eq!(
                reason(&decision).is_some(),
                round == max,
                "{wrote_at:?}, round {round}"
            );
        }
    }
}

#[test]
fn a_write_before_the_repetition_began_is_none_of_its_writes() {
    let mut goal = goal();
    goal.settle(&RunSummary {
        wrote: true,
        ..run(
            true,
            "another long text, also of more than forty characters",
        )
    });
    goal.settle(&run(true, LONG));
    goal.settle(&run(true, LONG));
    assert!(reason(&goal.settle(&run(true, LONG))).is_some());
}

#[test]
fn another_text_a_short_one_or_a_users_message_sets_a_repetition_back() {
    let changes: [fn(&mut goal_state::Goal); 3] = [
        |goal| {
            goal.settle(&run(
                true,
                "another long text, also of more than forty characters",
            ));
        },
        |goal| {
            goal.settle(&run(true, "short"));
        },
        goal_state::Goal::note_user_message,
    ];
    for change in changes {
        let mut goal = goal();
        for _ in 0..4 {
            goal.settle(&run(true, LONG));
            goal.settle(&run(true, LONG));
            change(&mut goal);
        }
        assert!(reason(&goal.settle(&run(true, LONG))).is_none());
    }
}

#[test]
fn an_errored_run_between_two_equal_texts_changes_nothing() {
    let mut goal = goal();
    goal.settle(&run(true, LONG));
    goal.settle(&run(true, LONG));
    goal.settle(&failed(ModelErrorKind::Transient, false));
    assert!(reason(&goal.settle(&run(true, LONG))).is_some());
}

#[test]
fn runs_without_work_nudge_until_the_last_allowed_one_pauses() {
    for max in 1..=4 {
        let mut goal = goal_with(Gate {
            max_empty_continuations: max,
            ..gate()
        });
        for round in 1..=max {
            let decision = goal.settle(&run(false, "Which file?"));
            if round < max {
                assert_eq!(decision, Decision::Continue { nudge: true });
            } else {
                assert_eq!(reason(&decision).as_deref(), Some("no_progress"));
            }
        }
    }
}

#[test]
fn the_text_of_a_run_without_work_is_quoted_unless_it_is_blank() {
    for (text, detail) in [("Which file?", Some("Which file?")), (" \n ", None)] {
        let mut goal = goal_with(Gate {
            max_empty_continuations: 1,
            ..gate()
        });
        let Decision::Pause(stop) = goal.settle(&run(false, text)) else {
            unreachable!("one run without work is one too many here");
        };
        assert_eq!(stop.detail.as_deref(), detail);
    }
}

#[test]
fn work_or_a_users_message_ends_the_empty_runs() {
    let mut goal = goal();
    for _ in 0..5 {
        goal.settle(&run(false, ""));
        goal.settle(&run(false, ""));
        assert_eq!(
            goal.settle(&run(true, "")),
            Decision::Continue { nudge: false }
        );
    }
    goal.settle(&run(false, ""));
    goal.settle(&run(false, ""));
    goal.note_user_message();
    assert_eq!(
        goal.settle(&run(false, "")),
        Decision::Continue { nudge: true }
    );
}

#[test]
fn the_continuation_limit_is_exact_and_none_is_no_limit() {
    for limit in [1, 2, 5] {
        let mut goal = goal_with(Gate {
            max_continuations: Some(limit),
            ..gate()
        });
        for _ in 0..limit {
            assert_eq!(
                goal.settle(&run(true, "")),
                Decision::Continue { nudge: false }
            );
        }
        assert_eq!(
            reason(&goal.settle(&run(true, ""))).as_deref(),
            Some("continuation_limit")
        );
        assert_eq!(
            goal.totals.continuations, limit,
            "what did not happen is not counted"
        );
        assert_eq!(
            goal.count_continuation(),
            Err(Stop::plain(PauseReason::ContinuationLimit))
        );
    }
    let mut goal = goal_with(Gate {
        max_continuations: None,
        ..gate()
    });
    for _ in 0..1_000 {
        assert_eq!(
            goal.settle(&run(true, "")),
            Decision::Continue { nudge: false }
        );
    }
}

#[test]
fn no_progress_goes_before_the_continuation_limit() {
    let mut goal = goal_with(Gate {
        max_continuations: Some(2),
        max_empty_continuations: 3,
        ..gate()
    });
    goal.settle(&run(false, ""));
    goal.settle(&run(false, ""));
    assert_eq!(
        reason(&goal.settle(&run(false, ""))).as_deref(),
        Some("no_progress")
    );
}

#[test]
fn counts_that_were_read_at_their_limit_do_not_overflow() {
    let mut goal = goal_with(Gate {
        max_continuations: None,
        ..gate()
    });
    goal.totals.continuations = u32::MAX;
    goal.totals.empty_streak = u32::MAX;
    goal.totals.errored_streak = u32::MAX;
    goal.totals.repeat_streak = u32::MAX;
    goal.settle(&run(false, LONG));
    goal.settle(&failed(ModelErrorKind::Transient, false));
    assert_eq!(goal.count_continuation(), Ok(()));
}
