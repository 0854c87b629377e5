//! The settle boundary: every row of the table (spec §4), what is taken and what is not.

use goal_engine::{Command, Event, SavedGoal, Settings};

use crate::rig::{Asked, LONG_REPLY, Rig, phase_name};

fn paused(asked: &Asked, rig: &Rig, phase: &str) {
    assert_eq!(rig.phase(), phase);
    let saved = asked.saved();
    assert_eq!(saved.len(), 1, "{}", asked.brief());
    assert!(asked.told().contains("Goal paused"), "{}", asked.told());
    assert!(asked.start().is_none(), "{}", asked.brief());
}

#[test]
fn a_yielded_boundary_counts_nothing_and_comes_again() {
    let mut rig = Rig::new();
    rig.pursue("x");
    let before = rig.goal().clone();
    for _ in 0..5 {
        let asked = rig.settling(|_| {});
        let proposal = asked.proposal().expect("a proposal").number;
        assert_eq!(rig.goal(), &before);
        assert_eq!(rig.give(Event::ProposalYielded { proposal }).brief(), "-");
        assert_eq!(rig.goal(), &before);
    }
    rig.ends_saying("");
    assert_eq!(
        rig.goal().totals.empty_streak,
        1,
        "taken once, counted once"
    );
    assert_eq!(rig.goal().totals.continuations, 1);
}

#[test]
fn a_proposal_is_taken_once_and_only_by_its_own_number() {
    let mut rig = Rig::new();
    rig.pursue("x");
    let first = rig.settling(|_| {});
    let second = rig.settling(|_| {});
    rig.take(&first);
    assert_eq!(rig.goal().totals.empty_streak, 0, "an older proposal");
    rig.take(&second);
    rig.take(&second);
    assert_eq!(rig.goal().totals.empty_streak, 1);
}

#[test]
fn our_tools_off_pauses_before_anything_is_counted() {
    let mut rig = Rig::new();
    rig.pursue("x");
    let asked = rig.settles(|settling| settling.tools_active = false);
    paused(&asked, &rig, "paused(tools_off)");
    assert_eq!(rig.goal().totals.empty_streak, 0);
}

#[test]
fn an_error_no_retry_mends_pauses_at_once_with_the_providers_words() {
    for (error, kind) in [
        (
            "prompt is too long: 210000 tokens > 200000",
            "context_overflow",
        ),
        ("401: {\"error\":\"bad key\"}", "authentication"),
        (
            "429: {\"error\":{\"code\":\"insufficient_quota\"}}",
            "quota",
        ),
        (
            "404: {\"error\":{\"code\":\"model_not_found\"}}",
            "unknown_model",
        ),
    ] {
        let mut rig = Rig::new();
        rig.pursue("x");
        let asked = rig.ends_failing(error);
        paused(&asked, &rig, &format!("paused(model_errors({kind}))"));
        assert!(asked.told().contains(error), "{}", asked.told());
        assert_eq!(rig.wait(1_000_000).brief(), "-", "nothing is left armed");
    }
}

#[test]
fn other_errors_rest_longer_and_longer_and_the_fifth_pauses() {
    let mut rig = Rig::new();
    rig.pursue("x");
    for seconds in [5_u64, 15, 45, 135] {
        let asked = rig.ends_failing("503: overloaded");
        assert!(
            asked.told().contains(&format!("in {seconds} s")),
            "{}",
            asked.told()
        );
        assert_eq!(rig.wait(seconds * 1_000 - 1).brief(), "-");
        let asked = rig.wait(1);
        let start = asked.start().expect("a restart");
        assert!(!start.details.full, "plain");
        rig.run_starts();
    }
    let asked = rig.ends_failing("503: overloaded");
    paused(&asked, &rig, "paused(model_errors(transient))");
    assert!(asked.told().contains("503: overloaded"));
    assert_eq!(
        rig.goal().totals.continuations,
        4,
        "each restart was a continuation"
    );
}

#[test]
fn work_in_an_errored_run_starts_the_errors_from_zero() {
    let mut rig = Rig::new();
    rig.pursue("x");
    for _ in 0..9 {
        rig.work();
        rig.ends_failing("503: overloaded");
        assert_eq!(rig.goal().totals.errored_streak, 1);
        rig.wait(5_000);
        rig.run_starts();
    }
}

#[test]
fn a_run_that_ends_well_sets_the_errors_back_even_without_work() {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.ends_failing("503: overloaded");
    rig.wait(5_000);
    rig.run_starts();
    rig.ends_saying("hm");
    assert_eq!(rig.goal().totals.errored_streak, 0);
    assert_eq!(rig.goal().totals.empty_streak, 1);
}

#[test]
fn a_providers_abort_without_a_users_is_an_error_like_any_other() {
    let mut rig = Rig::new();
    rig.pursue("x");
    let asked = rig.settles(|settling| settling.provider_aborted = true);
    assert!(asked.told().contains("in 5 s"), "{}", asked.told());
    assert_eq!(rig.phase(), "pursuing");
}

#[test]
fn the_same_long_words_pause_at_the_third_time_whatever_ran() {
    let mut rig = Rig::new();
    rig.pursue("x");
    for round in 1..=3 {
        rig.work();
        let asked = rig.ends_saying(&LONG_REPLY.replace(' ', "\n "));
        if round < 3 {
            assert_eq!(rig.phase(), "pursuing", "round {round}");
        } else {
            paused(&asked, &rig, "paused(repetition)");
            assert!(
                asked.told().contains("still\n thinking"),
                "{}",
                asked.told()
            );
        }
    }
}

#[test]
fn a_run_that_wrote_lets_the_same_words_pass_up_to_the_sixth_time() {
    let mut rig = Rig::new();
    rig.pursue("x");
    for round in 1..=6 {
        rig.tool(|tool| {
            tool.tool = "edit".to_owned();
            tool.writes = true;
        });
        rig.ends_saying(LONG_REPLY);
        let expected = if round < 6 {
            "pursuing"
        } else {
            "paused(repetition)"
        };
        assert_eq!(rig.phase(), expected, "round {round}");
    }
}

#[test]
fn a_users_message_lets_the_agent_repeat_itself_anew() {
    let mut rig = Rig::new();
    rig.pursue("x");
    for _ in 0..10 {
        rig.ends_saying(LONG_REPLY);
        rig.ends_saying(LONG_REPLY);
        rig.give(Event::UserMessage);
        assert_eq!(rig.goal().totals.empty_streak, 0);
    }
    assert_eq!(rig.phase(), "pursuing");
}

#[test]
fn work_continues_plain_and_its_absence_continues_with_a_nudge() {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.work();
    let plain = rig.ends_saying("a");
    let nudged = rig.ends_saying("b");
    let text = |asked: &Asked| {
        let message = asked
            .proposal()
            .and_then(|proposal| proposal.message.clone());
        message.expect("a continuation").text
    };
    assert_ne!(text(&plain), text(&nudged));
    assert!(text(&nudged).len() > text(&plain).len());
}

#[test]
fn only_what_really_ran_without_error_is_work() {
    type Change = fn(&mut goal_engine::ToolFinished);
    let cases: [(&str, Change); 5] = [
        ("an error", |tool| tool.is_error = true),
        ("never ran", |tool| {
            tool.ran = false;
            tool.is_error = true;
        }),
        ("aborted", |tool| tool.aborted = true),
        ("ours", |tool| tool.ours = true),
        ("ran false alone", |tool| tool.ran = false),
    ];
    for (name, change) in cases {
        let mut rig = Rig::new();
        rig.pursue("x");
        rig.tool(change);
        rig.ends_saying("");
        assert_eq!(rig.goal().totals.empty_streak, 1, "{name}");
    }
}

#[test]
fn the_nudge_quotes_the_call_that_never_ran() {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.tool(|tool| {
        tool.tool = "goal_complete".to_owned();
        tool.is_error = true;
        tool.ran = false;
        tool.error = Some("Tool goal_complete not found".to_owned());
    });
    let asked = rig.ends_saying("done");
    let message = asked
        .proposal()
        .and_then(|proposal| proposal.message.clone());
    let text = message.expect("a continuation").text;
    assert!(text.contains("goal_complete"), "{text}");
}

#[test]
fn the_last_allowed_run_without_work_pauses_and_quotes_its_words() {
    let mut rig = Rig::with(Settings {
        max_empty_continuations: 2,
        ..Settings::for_tests()
    });
    rig.pursue("x");
    rig.ends_saying("Which file?");
    let asked = rig.ends_saying("Which file, please?");
    paused(&asked, &rig, "paused(no_progress)");
    assert!(
        asked.told().contains("Which file, please?"),
        "{}",
        asked.told()
    );
}

#[test]
fn the_continuation_that_would_pass_the_limit_pauses_instead() {
    let mut rig = Rig::with(Settings {
        max_continuations: Some(2),
        ..Settings::for_tests()
    });
    rig.pursue("x");
    for _ in 0..2 {
        rig.work();
        assert!(
            rig.ends_saying("")
                .proposal()
                .is_some_and(|p| p.message.is_some())
        );
    }
    rig.work();
    let asked = rig.ends_saying("");
    paused(&asked, &rig, "paused(continuation_limit)");
    assert!(asked.told().contains('2'), "{}", asked.told());
}

#[test]
fn a_restart_after_a_back_off_that_would_pass_the_limit_pauses_instead() {
    let mut rig = Rig::with(Settings {
        max_continuations: Some(1),
        ..Settings::for_tests()
    });
    rig.pursue("x");
    rig.work();
    rig.ends_saying("");
    rig.ends_failing("503");
    let asked = rig.wait(5_000);
    paused(&asked, &rig, "paused(continuation_limit)");
}

#[test]
fn no_limit_of_continuations_is_no_limit() {
    let mut rig = Rig::with(Settings {
        max_continuations: None,
        ..Settings::for_tests()
    });
    rig.pursue("x");
    for _ in 0..500 {
        rig.work();
        rig.ends_saying("");
    }
    assert_eq!(rig.phase(), "pursuing");
}

#[test]
fn a_continuation_carries_the_totals_as_they_are_after_it() {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.sleep_through(5_000);
    let asked = rig.ends_saying("");
    let message = asked
        .proposal()
        .and_then(|proposal| proposal.message.clone());
    let details = message.expect("a continuation").details;
    assert_eq!(details.totals, rig.goal().totals);
    assert_eq!(details.totals.empty_streak, 1);
    assert_eq!(
        (details.seq, details.full, details.active_ms),
        (1, false, 5_000)
    );
    assert_eq!(details.tag, rig.tag());
}

#[test]
fn the_full_message_goes_out_again_where_a_compaction_took_it() {
    let mut rig = Rig::new();
    rig.pursue("the very objective");
    rig.work();
    let asked = rig.settles(|settling| settling.full_message_present = false);
    let message = asked
        .proposal()
        .and_then(|proposal| proposal.message.clone());
    let message = message.expect("a continuation");
    assert!(message.details.full);
    assert!(message.text.contains("the very objective"));
    let asked = rig.ends_saying("");
    let message = asked
        .proposal()
        .and_then(|proposal| proposal.message.clone());
    assert!(!message.expect("a continuation").details.full, "once");
}

#[test]
fn a_run_of_the_users_own_is_not_counted_and_reminds_once_of_a_goal_at_rest() {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.command("pause");
    rig.settled(true, true);
    for round in 0..3 {
        rig.run_starts();
        let asked = rig.ends_saying(LONG_REPLY);
        let reminded = asked.told().contains("/goal resume");
        assert_eq!(reminded, round == 0, "round {round}: {}", asked.told());
        assert!(asked.saved().is_empty());
    }
    assert_eq!(rig.goal().totals.empty_streak, 0);
}

#[test]
fn a_reminder_that_was_not_taken_comes_again() {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.command("pause");
    rig.settled(true, true);
    rig.run_starts();
    let asked = rig.settling(|_| {});
    let proposal = asked.proposal().expect("a proposal").number;
    rig.give(Event::ProposalYielded { proposal });
    assert!(rig.ends_saying("").told().contains("/goal resume"));
}

/// Everything the user can do to a goal between question and answer of a boundary.
#[test]
fn what_a_command_changed_meanwhile_stands_whatever_was_taken() {
    for (command, phase) in [
        ("pause", "paused(user)"),
        ("clear", "none"),
        ("stop", "paused(user)"),
    ] {
        let mut rig = Rig::new();
        rig.pursue("x");
        rig.ends_saying("");
        rig.ends_saying("");
        let asked = rig.settling(|_| {}); // Would pause for want of progress.
        let did = rig.command(command);
        let taken = rig.take(&asked);
        assert_eq!(rig.phase(), phase, "{command}");
        assert!(did.ends_run(), "{command}");
        // The host has saved the stale pause by now, after the newer entry; the truth comes last.
        assert_eq!(taken.saved(), did.saved(), "{command}: {}", taken.brief());
        assert_eq!(rig.settled(true, true).brief(), "-");
        assert_eq!(rig.wait(1_000_000).brief(), "-");
    }
}

#[test]
fn a_continuation_taken_after_the_goal_stopped_is_ended() {
    let mut rig = Rig::new();
    rig.run_starts(); // The user's own run.
    rig.command("first");
    let asked = rig.settling(|_| {});
    assert!(
        asked.proposal().is_some_and(|p| p.message.is_some()),
        "the goal starts here"
    );
    assert!(
        !rig.command("pause").ends_run(),
        "the run is not the goal's"
    );
    assert!(rig.take(&asked).ends_run(), "but now it would be");
    rig.settled(true, true);
    assert_eq!(rig.phase(), "paused(user)");
}

#[test]
fn a_run_that_rests_without_a_boundary_goes_on_all_the_same() {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.work();
    let asked = rig.rests();
    assert!(
        asked.start().is_some_and(|message| !message.details.full),
        "{}",
        asked.brief()
    );
    assert_eq!(rig.goal().totals.continuations, 1);
}

#[test]
fn a_run_without_boundary_or_work_again_and_again_pauses() {
    let mut rig = Rig::new();
    rig.pursue("x");
    for round in 1..=3 {
        let asked = rig.rests();
        if round < 3 {
            assert!(asked.start().is_some());
            rig.run_starts();
        } else {
            paused(&asked, &rig, "paused(no_progress)");
        }
    }
}

#[test]
fn an_aborted_run_pauses_when_the_session_lives_on() {
    let mut rig = Rig::new();
    rig.pursue("x");
    assert_eq!(rig.settled(true, false).brief(), "-");
    assert_eq!(
        rig.phase(),
        "pursuing",
        "the session may be about to be left"
    );
    let asked = rig.wait(250);
    paused(&asked, &rig, "paused(aborted)");
}

#[test]
fn an_aborted_run_of_a_session_that_is_left_is_a_hold() {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.settled(true, false);
    rig.sleep_through(240);
    let asked = rig.give(Event::SessionLeft);
    assert!(asked.saved().is_empty(), "{}", asked.brief());
    assert_eq!(rig.phase(), "held");
    assert_eq!(rig.wait(10_000).brief(), "-");
}

#[test]
fn life_in_the_session_after_an_abort_settles_whose_abort_it_was() {
    let events: [fn(&Rig) -> Event; 4] = [
        |_| Event::RunStarted,
        |_| Event::UserMessage,
        |_| Event::Interrupt,
        |rig| {
            Event::Command(Command {
                file: None,
                text: "status".to_owned(),
                host: rig.facts.clone(),
            })
        },
    ];
    for event in events {
        let mut rig = Rig::new();
        rig.pursue("x");
        rig.settled(true, false);
        let event = event(&rig);
        let name = format!("{event:?}");
        let asked = rig.give(event);
        assert_eq!(rig.phase(), "paused(aborted)", "{name}");
        assert_eq!(asked.saved().len(), 1);
        assert_eq!(rig.wait(10_000).saved().len(), 0, "{name}");
    }
}

#[test]
fn an_abort_of_ours_pauses_nobody() {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.command("clear");
    assert_eq!(rig.settled(true, true).brief(), "-");
    assert_eq!(rig.wait(10_000).brief(), "-");
}

#[test]
fn an_abort_of_the_users_own_run_leaves_a_goal_at_rest_as_it_is() {
    let mut rig = Rig::new();
    rig.pursue("x");
    rig.command("pause");
    rig.settled(true, true);
    rig.run_starts();
    rig.settled(true, false);
    assert_eq!(rig.wait(10_000).brief(), "-");
    assert_eq!(phase_name(rig.goal().phase()), "paused(user)");
}

#[test]
fn a_limit_set_between_question_and_answer_is_what_the_branch_holds_in_the_end() {
    let mut rig = Rig::new();
    rig.pursue("x");
    let asked = rig.settling(|settling| {
        settling.failed = true;
        settling.error = Some("401: no".to_owned());
    });
    rig.command("limit 7");
    let taken = rig.take(&asked);
    let saved = taken.saved();
    let [SavedGoal::Present { goal, .. }] = saved.as_slice() else {
        panic!("{}", taken.brief());
    };
    assert_eq!(goal.gate().max_continuations, Some(7));
    assert_eq!(
        phase_name(goal.phase()),
        "paused(model_errors(authentication))"
    );
}

/// A pause that the host has taken must stay the newest entry, should the core be lost just then.
#[test]
fn a_limit_set_while_a_pause_is_proposed_is_saved_only_with_what_becomes_of_the_pause() {
    let pause_is_proposed = |rig: &mut Rig| {
        rig.pursue("x");
        rig.settling(|settling| {
            settling.failed = true;
            settling.error = Some("401: no".to_owned());
        })
    };
    let mut rig = Rig::new();
    pause_is_proposed(&mut rig);
    assert_eq!(rig.command("limit 7").saved().len(), 0);

    let endings: [fn(&mut Rig, u64) -> Asked; 2] = [
        |rig, proposal| rig.give(Event::ProposalYielded { proposal }),
        |rig, _| rig.settled(false, false),
    ];
    for ending in endings {
        let mut rig = Rig::new();
        let asked = pause_is_proposed(&mut rig);
        rig.command("limit 7");
        let proposal = asked.proposal().unwrap().number;
        let ended = ending(&mut rig, proposal);
        let limits: Vec<_> = ended
            .saved()
            .iter()
            .filter_map(|saved| match saved {
                SavedGoal::Present { goal, .. } => Some(goal.gate().max_continuations),
                SavedGoal::Gone { .. } => None,
            })
            .collect();
        assert_eq!(limits.first(), Some(&Some(7)), "{}", ended.brief());
    }
}
