//! `/goal …`: every form in every situation, and what becomes of what was typed.

use std::fmt::Write as _;

use goal_engine::{
    Activity, AuditOutcome, Effect, Event, GoalTool, LastAudit, Level, OpenCause, PauseReason,
    Phase, Recovered, SavedGoal, Settings, Stop, Totals,
};

use crate::rig::{Asked, Rig, branch_with, saved_goal};

type Situation = (&'static str, fn() -> Rig);

/// Where a goal and its host may stand when a command comes.
const SITUATIONS: [Situation; 18] = [
    ("no goal, idle", Rig::new),
    ("no goal, a run of the user's", users_run),
    ("no goal, a compaction", || compacting(Rig::new())),
    ("pursuing, its run", pursuing),
    ("pursuing, its audit", auditing),
    ("pursuing, a back-off", backing_off),
    (
        "pursuing, a back-off that waits for a compaction",
        back_off_in_compaction,
    ),
    ("pursuing, waits for the user's run", waiting),
    ("pursuing, waits for a compaction", || {
        let mut rig = compacting(Rig::new());
        rig.command("old");
        rig
    }),
    ("pursuing, about to start", || {
        let mut rig = Rig::new();
        rig.command("old");
        rig
    }),
    ("pursuing, aborted just now", || {
        let mut rig = pursuing();
        rig.settled(true, false);
        rig
    }),
    ("held, idle", held),
    ("held, a run of the user's", || {
        let mut rig = held();
        rig.run_starts();
        rig
    }),
    ("held, a compaction", || compacting(held())),
    ("paused, idle", paused),
    ("paused, a run of the user's", || {
        let mut rig = paused();
        rig.run_starts();
        rig
    }),
    ("paused, its run is ending", || {
        let mut rig = pursuing();
        rig.command("pause");
        rig
    }),
    ("a newer version's branch", || {
        let mut rig = Rig::new();
        rig.open(
            OpenCause::Tree,
            Recovered {
                newer_version: true,
                ..Recovered::default()
            },
        );
        rig
    }),
];

const COMMANDS: [&str; 12] = [
    "",
    "pause",
    "resume",
    "clear",
    "help",
    "edit",
    "why",
    "limit 5",
    "accept",
    "report",
    "set",
    "the new one",
];

fn users_run() -> Rig {
    let mut rig = Rig::new();
    rig.run_starts();
    rig
}

fn compacting(mut rig: Rig) -> Rig {
    rig.give(Event::CompactionStarted);
    rig.facts.activity = Activity::Compacting;
    rig
}

fn pursuing() -> Rig {
    let mut rig = Rig::new();
    rig.pursue("old");
    rig
}

fn auditing() -> Rig {
    let mut rig = pursuing();
    rig.claims();
    rig
}

fn backing_off() -> Rig {
    let mut rig = pursuing();
    rig.ends_failing("503");
    rig
}

fn back_off_in_compaction() -> Rig {
    let mut rig = compacting(backing_off());
    rig.wait(5_000);
    rig
}

fn waiting() -> Rig {
    let mut rig = users_run();
    rig.command("old");
    rig
}

fn held() -> Rig {
    let mut rig = Rig::new();
    rig.open(OpenCause::Start, branch_with(saved_goal(Phase::Held)));
    rig
}

fn paused() -> Rig {
    let mut rig = pursuing();
    rig.command("pause");
    rig.settled(true, true);
    rig
}

/// Read the snapshot as a reviewer: each line is a decision.
#[test]
fn every_command_in_every_situation() {
    let mut table = String::new();
    for (name, situation) in SITUATIONS {
        let _ = writeln!(table, "{name}");
        for command in COMMANDS {
            let mut rig = situation();
            let asked = rig.command(command);
            let _ = writeln!(
                table,
                "  /goal {command:12} {:60} => {}",
                asked.brief(),
                rig.phase()
            );
        }
    }
    insta::assert_snapshot!(table);
}

/// The same, with every word the user reads.
#[test]
fn every_reply_is_to_the_point() {
    let mut table = String::new();
    for (name, situation) in SITUATIONS {
        for command in COMMANDS
            .iter()
            .filter(|command| !matches!(**command, "" | "help" | "edit" | "set" | "report"))
        {
            let told = situation().command(command).told();
            let _ = writeln!(table, "# {name}: /goal {command}\n{told}\n");
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn the_status_tells_phase_totals_streaks_verdict_settings_and_path() {
    let mut rig = Rig::with(Settings {
        changed: vec!["maxAudits = 5 (file:/agent/goal-auditor.json:1:2)".to_owned()],
        max_audits: Some(5),
        ..Settings::for_tests()
    });
    rig.pursue("Make the tests pass\nand\u{1b}[2J stay \u{202e}calm");
    rig.audited("Nothing is done.\n<disapproved/>");
    rig.ends_saying("");
    rig.sleep_through(125_000);
    insta::assert_snapshot!(rig.command("status").told());
}

#[test]
fn a_goal_is_saved_byte_for_byte_with_its_ends_trimmed() {
    for (typed, objective) in [
        (
            "  Fix Bob's \"x\" $(hostname); then `add` [a|b]  ",
            "Fix Bob's \"x\" $(hostname); then `add` [a|b]",
        ),
        ("\n\nImplement A\r\nand B\n", "Implement A\r\nand B"),
        ("set stop", "stop"),
        ("-- clear", "clear"),
        ("a 👩‍💻 and می‌خواهم", "a 👩‍💻 and می‌خواهم"),
    ] {
        let mut rig = Rig::new();
        let asked = rig.command(typed);
        let saved = asked.saved();
        let [SavedGoal::Present { goal, .. }] = saved.as_slice() else {
            panic!("{}", asked.brief());
        };
        assert_eq!(goal.objective(), objective);
    }
}

#[test]
fn an_objective_over_the_limit_is_refused_with_its_size_and_given_back() {
    let limit = 65_536;
    let mut rig = Rig::new();
    assert!(
        rig.command(&"a".repeat(limit)).start().is_some(),
        "the limit itself is taken"
    );
    let mut rig = Rig::new();
    let long = format!("{}é", "a".repeat(limit - 1));
    let asked = rig.command(&long);
    assert!(asked.told().contains("65537"), "{}", asked.told());
    assert!(asked.told().contains("65536"));
    assert_eq!(asked.restored(), Some(format!("/goal {long}").as_str()));
    assert_eq!(rig.phase(), "none");
}

#[test]
fn without_a_model_to_audit_nothing_starts_and_the_text_comes_back() {
    let mut rig = Rig::new();
    rig.facts.model = None;
    let asked = rig.command("x");
    assert_eq!(asked.brief(), "restore input, reply error");
    assert_eq!(rig.phase(), "none");
}

// The question before a goal is replaced

#[test]
fn a_yes_replaces_and_a_no_keeps_and_gives_the_text_back() {
    let mut rig = pursuing();
    let ticket = rig.command("new").ticket().expect("a question");
    let asked = rig.answer_question(ticket, false);
    assert_eq!(asked.restored(), Some("/goal new"));
    assert_eq!(rig.goal().objective(), "old");
    let ticket = rig.command("new").ticket().expect("a question");
    let asked = rig.answer_question(ticket, true);
    assert_eq!(
        asked.brief(),
        "save gone(replaced), save pursuing, END RUN, reply info"
    );
    assert_eq!(rig.goal().objective(), "new");
    let asked = rig.settled(true, true);
    assert_eq!(asked.brief(), "start full");
}

#[test]
fn a_question_is_answered_once_and_only_by_its_own_ticket() {
    let mut rig = pursuing();
    let ticket = rig.command("new").ticket().expect("a question");
    assert_eq!(rig.answer_question(ticket ^ 1, true).brief(), "-");
    rig.answer_question(ticket, true);
    let tag = rig.tag();
    assert_eq!(rig.answer_question(ticket, true).brief(), "-");
    assert_eq!(rig.tag(), tag);
}

#[test]
fn a_yes_stands_though_the_old_goal_paused_or_ended_meanwhile() {
    for meanwhile in ["pause", "clear"] {
        let mut rig = pursuing();
        let ticket = rig.command("new").ticket().expect("a question");
        rig.command(meanwhile);
        rig.settled(true, true);
        assert!(
            rig.answer_question(ticket, true).start().is_some(),
            "{meanwhile}"
        );
        assert_eq!(rig.goal().objective(), "new");
    }
    let mut rig = pursuing();
    let ticket = rig.command("new").ticket().expect("a question");
    rig.audited("Done.\n<approved/>");
    rig.ends_saying("");
    assert!(rig.answer_question(ticket, true).start().is_some());
}

#[test]
fn only_another_new_objective_refuses_a_yes_and_gives_the_text_back() {
    let mut rig = pursuing();
    let first = rig.command("first").ticket().expect("a question");
    let second = rig.command("second").ticket().expect("a question");
    rig.answer_question(first, true);
    let asked = rig.answer_question(second, true);
    assert_eq!(asked.restored(), Some("/goal second"));
    assert_eq!(rig.goal().objective(), "first");
}

#[test]
fn a_yes_to_a_question_of_a_session_that_was_left_does_nothing() {
    let mut rig = pursuing();
    let ticket = rig.command("new").ticket().expect("a question");
    rig.give(Event::SessionLeft);
    rig.open(OpenCause::Start, branch_with(saved_goal(Phase::Held)));
    assert_eq!(rig.answer_question(ticket, true).brief(), "-");
    assert_eq!(rig.phase(), "held");
}

#[test]
fn a_yes_to_a_question_of_a_core_that_was_lost_does_nothing() {
    let mut lost = pursuing();
    let ticket = lost.command("asked before").ticket().expect("a question");
    let mut rig = Rig::without_session(Settings::for_tests());
    rig.sleep_through(10);
    rig.open(OpenCause::Start, branch_with(saved_goal(Phase::Held)));
    let other = rig.command("asked after").ticket().expect("a question");
    assert_ne!(ticket, other, "tickets of two cores must not meet");
}

#[test]
fn nobody_to_ask_is_a_refusal_that_names_the_commands() {
    let mut rig = paused();
    rig.facts.has_ui = false;
    let asked = rig.command("new");
    assert!(asked.told().contains("/goal clear"), "{}", asked.told());
    assert_eq!(rig.goal().objective(), "old");
}

// While something is going on

#[test]
fn a_goal_typed_during_the_users_run_starts_at_that_runs_boundary_and_counts_nothing_of_it() {
    let mut rig = users_run();
    assert_eq!(
        rig.command("x").brief(),
        "save pursuing, reply info, notify info"
    );
    for _ in 0..30 {
        rig.turn_ends();
    }
    let asked = rig.settling(|settling| {
        settling.failed = true;
        settling.error = Some("401: no".to_owned());
    });
    let message = asked
        .proposal()
        .and_then(|proposal| proposal.message.clone());
    assert!(message.expect("the start").details.full);
    rig.take(&asked);
    assert_eq!(rig.goal().totals.errored_streak, 0);
    rig.ends_saying("");
    assert_eq!(
        rig.goal().totals.empty_streak,
        1,
        "from here on its runs count"
    );
}

#[test]
fn a_goal_that_waits_is_not_started_without_our_tools() {
    let mut rig = waiting();
    let asked = rig.settles(|settling| settling.tools_active = false);
    assert_eq!(rig.phase(), "paused(tools_off)", "{}", asked.brief());
}

#[test]
fn a_claim_in_the_users_run_is_stale_while_the_goal_waits() {
    let mut rig = waiting();
    let asked = rig.claims();
    assert!(asked.opened().is_none());
    assert!(asked.answer().is_some_and(|answer| answer.is_error));
}

#[test]
fn a_users_abort_of_the_run_a_goal_waits_for_pauses_the_goal() {
    let mut rig = waiting();
    rig.settled(true, false);
    let asked = rig.wait(250);
    assert_eq!(rig.phase(), "paused(aborted)");
    assert!(asked.told().contains("/goal resume"));
}

#[test]
fn a_goal_that_waits_for_a_compaction_starts_at_its_end() {
    let mut rig = compacting(Rig::new());
    rig.command("x");
    rig.facts.activity = Activity::Idle;
    let asked = rig.compaction_ends(|ended| ended.idle = true);
    assert!(asked.start().is_some_and(|message| message.details.full));
    assert_eq!(rig.wait(10_000).brief(), "-", "and once");
}

#[test]
fn a_run_that_starts_while_a_goal_waits_for_a_compaction_is_the_users_own() {
    let mut rig = compacting(Rig::new());
    rig.command("x");
    rig.run_starts();
    let asked = rig.ends_saying("");
    let message = asked
        .proposal()
        .and_then(|proposal| proposal.message.clone());
    assert!(message.is_some_and(|message| message.details.full));
    assert_eq!(rig.goal().totals.empty_streak, 0);
}

#[test]
fn a_pause_that_crosses_a_start_ends_the_run_that_is_about_to_begin() {
    let mut rig = backing_off();
    assert!(rig.wait(5_000).start().is_some());
    // The command left the host before it had seen the start: the host says it is idle.
    assert!(rig.command("pause").ends_run());
    rig.run_starts();
    rig.settled(true, true);
    assert_eq!(rig.phase(), "paused(user)");
    assert_eq!(rig.wait(1_000_000).brief(), "-");
}

#[test]
fn a_resume_that_crosses_a_start_starts_nothing_twice() {
    let mut rig = backing_off();
    assert!(rig.wait(5_000).start().is_some());
    assert!(rig.command("resume").start().is_none());
}

#[test]
fn a_resume_starts_again_what_never_started() {
    let mut rig = Rig::new();
    rig.command("x");
    rig.wait(60_000);
    assert!(rig.command("resume").start().is_some());
}

#[test]
fn pausing_an_audit_ends_it_its_call_and_the_run() {
    let mut rig = auditing();
    let asked = rig.command("pause");
    assert_eq!(
        asked.brief(),
        "close auditor, save audit aborted, save paused(user), notify warning, answer error ENDS RUN, END RUN"
    );
    assert_eq!(rig.goal().totals.audits, 0, "an aborted audit is none");
}

#[test]
fn clearing_an_audit_ends_it_its_call_the_run_and_the_goal() {
    let mut rig = auditing();
    let asked = rig.command("clear");
    assert_eq!(
        asked.brief(),
        "close auditor, save audit aborted, answer error, save gone(cleared), reply info, END RUN"
    );
    assert_eq!(rig.phase(), "none");
}

#[test]
fn a_verdict_for_a_goal_that_was_replaced_is_stale() {
    let mut rig = pursuing();
    let audit = rig.claims().opened().expect("an audit").audit;
    rig.checks(audit);
    let ticket = rig.command("new").ticket().expect("a question");
    let asked = rig.answer_question(ticket, true);
    let answer = asked.answer().expect("an answer");
    let outcome = answer.audit.as_ref().map(|audit| audit.outcome.clone());
    assert_eq!(outcome, Some(AuditOutcome::StaleGoal));
    assert_eq!(rig.auditor_says(audit, "<approved/>").brief(), "-");
    assert_eq!(rig.goal().objective(), "new");
    assert_eq!(rig.phase(), "pursuing");
}

// Tools

#[test]
fn tools_that_are_off_are_turned_on_once_and_then_the_goal_starts() {
    let mut rig = Rig::new();
    rig.facts.tools_active = false;
    let asked = rig.command("x");
    assert!(asked.contains(&Effect::ActivateTools) && asked.start().is_none());
    let asked = rig.give(Event::ToolsChecked { active: true });
    assert!(asked.start().is_some());
    assert_eq!(rig.give(Event::ToolsChecked { active: true }).brief(), "-");
}

#[test]
fn tools_that_stay_off_pause_before_any_request() {
    let mut rig = Rig::new();
    rig.facts.tools_active = false;
    rig.command("x");
    let asked = rig.give(Event::ToolsChecked { active: false });
    assert!(asked.start().is_none());
    assert_eq!(rig.phase(), "paused(tools_off)");
    assert!(asked.told().contains("--tools"), "{}", asked.told());
}

#[test]
fn tools_checked_too_late_start_nothing() {
    for command in ["pause", "clear"] {
        let mut rig = Rig::new();
        rig.facts.tools_active = false;
        rig.command("x");
        rig.command(command);
        assert_eq!(
            rig.give(Event::ToolsChecked { active: true }).brief(),
            "-",
            "{command}"
        );
        assert_eq!(
            rig.give(Event::ToolsChecked { active: false }).brief(),
            "-",
            "{command}"
        );
    }
}

#[test]
fn tools_checked_while_a_run_began_wait_for_its_end() {
    let mut rig = Rig::new();
    rig.facts.tools_active = false;
    rig.command("x");
    rig.run_starts();
    assert!(
        rig.give(Event::ToolsChecked { active: true })
            .start()
            .is_none()
    );
    let asked = rig.ends_saying("");
    assert!(
        asked
            .proposal()
            .is_some_and(|proposal| proposal.message.is_some())
    );
}

#[test]
fn tools_checked_after_what_the_goal_waited_for_has_ended_start_at_once() {
    let mut rig = compacting(Rig::new());
    rig.facts.tools_active = false;
    rig.command("x");
    rig.compaction_ends(|ended| ended.idle = true);
    let asked = rig.give(Event::ToolsChecked { active: true });
    assert!(asked.start().is_some(), "{}", asked.brief());

    let mut rig = users_run();
    rig.facts.tools_active = false;
    rig.command("x");
    rig.rests();
    let asked = rig.give(Event::ToolsChecked { active: true });
    assert!(asked.start().is_some(), "{}", asked.brief());
}

// Pause and resume

#[test]
fn pausing_keeps_every_total_and_the_time_and_resuming_resets_the_streaks() {
    let mut rig = pursuing();
    rig.ends_saying("");
    rig.audited("No.\n<disapproved/>");
    rig.sleep_through(7_000);
    let before = rig.goal().totals.clone();
    let tag = rig.tag();
    rig.command("pause");
    assert_eq!(rig.goal().totals, before);
    assert_eq!(rig.goal().generation(), tag.generation + 1);
    rig.settled(true, true);
    rig.sleep_through(100_000);
    rig.command("resume");
    let goal = rig.goal();
    assert_eq!(goal.totals, goal_engine::Totals::default());
    assert_eq!(goal.active_ms(goal_engine::Monotonic(rig.now())), 7_000);
    assert_eq!(goal.id(), tag.id);
    assert_eq!(goal.generation(), tag.generation + 2);
    assert_eq!(goal.last_objection.as_deref(), Some("No."));
}

#[test]
fn resuming_takes_the_settings_of_that_moment_and_pursuing_those_of_its_start() {
    let mut rig = pursuing();
    let changed = Settings {
        model: Some("auditor".to_owned()),
        max_audits: Some(1),
        ..Settings::for_tests()
    };
    let asked = rig.give(Event::SettingsRead(changed.clone()));
    assert!(asked.told().contains("/goal resume"), "{}", asked.told());
    assert_eq!(rig.goal().gate().max_audits, Some(20));
    assert_eq!(
        rig.give(Event::SettingsRead(changed)).brief(),
        "-",
        "told once"
    );
    rig.command("pause");
    rig.settled(true, true);
    rig.command("resume");
    assert_eq!(rig.goal().gate().max_audits, Some(1));
    assert_eq!(rig.goal().gate().model.to_string(), "p/auditor");
}

#[test]
fn a_model_chosen_in_mid_goal_does_not_audit_and_says_so() {
    let mut rig = pursuing();
    let model = Some(crate::rig::model("p/other"));
    let asked = rig.give(Event::ModelSelected { model });
    assert!(asked.told().contains("p/executor"), "{}", asked.told());
    let open = rig.claims().opened().cloned().expect("an audit");
    assert_eq!(open.model.to_string(), "p/executor");
}

#[test]
fn a_resume_without_an_auditor_leaves_the_goal_as_it_was() {
    let mut rig = paused();
    let tag = rig.tag();
    rig.facts.model = None;
    let asked = rig.command("resume");
    assert_eq!(asked.brief(), "reply error");
    assert_eq!(rig.tag(), tag);
}

// Headless

#[test]
fn a_headless_goal_holds_the_command_until_it_is_approved() {
    let mut rig = Rig::headless();
    assert_eq!(rig.pursue("x").released(), None);
    rig.ends_failing("503");
    assert_eq!(rig.wait(5_000).released(), None, "a back-off is no rest");
    rig.run_starts();
    assert_eq!(
        rig.audited("Done.\n<approved/>").released(),
        None,
        "the last words come first"
    );
    assert_eq!(rig.ends_saying("Done.").released(), Some((true, None)));
}

#[test]
fn a_headless_goal_that_stops_releases_with_the_reason() {
    let mut rig = Rig::headless();
    rig.pursue("x");
    rig.ends_saying("");
    rig.ends_saying("");
    let asked = rig.ends_saying("Which file?");
    let (approved, reason) = asked.released().expect("a release");
    assert!(!approved);
    assert!(
        reason.is_some_and(|text| text.contains("Which file?")),
        "{reason:?}"
    );
    assert_eq!(asked.told(), "", "said once, on stderr");
}

#[test]
fn a_headless_goal_paused_by_an_audit_releases_after_its_run() {
    let mut rig = Rig::headless();
    rig.pursue("x");
    for round in 1..=3 {
        let asked = rig.audited("No.\n<disapproved/>");
        assert_eq!(asked.released(), None, "round {round}");
        rig.turn_ends();
    }
    assert_eq!(rig.phase(), "paused(rejections)");
    let asked = rig.ends_saying("");
    let (approved, reason) = asked.released().expect("a release");
    assert!(!approved && reason.is_some());
}

#[test]
fn headless_refusals_release_at_once_with_failure_and_questions_with_success() {
    for (command, approved) in [
        ("", true),
        ("help", true),
        ("pause", true),
        ("clear", true),
        ("why", true),
        ("limit 5", true),
        ("edit", false),
        ("accept", false),
        ("resume", false),
        ("set", false),
    ] {
        let mut rig = Rig::headless();
        let asked = rig.command(command);
        let released = asked.released();
        assert_eq!(
            released.map(|release| release.0),
            Some(approved),
            "{command}"
        );
        let reason = released.and_then(|release| release.1);
        assert_eq!(reason.is_some(), !approved, "{command}");
    }
    let mut rig = Rig::headless();
    rig.open(OpenCause::Start, branch_with(saved_goal(Phase::Held)));
    assert_eq!(
        rig.command("new").released().map(|release| release.0),
        Some(false)
    );
}

#[test]
fn a_headless_goal_whose_tools_are_off_is_released_with_the_reason() {
    let mut rig = Rig::headless();
    rig.facts.tools_active = false;
    assert_eq!(rig.command("x").released(), None);
    let asked = rig.give(Event::ToolsChecked { active: false });
    assert!(
        asked
            .released()
            .is_some_and(|(approved, reason)| !approved && reason.is_some())
    );
}

// Texts

/// Totals such a stop comes with.
fn stopped_totals(reason: &PauseReason, quoted: bool) -> Totals {
    let failed = matches!(reason, PauseReason::AuditFailures(_));
    Totals {
        continuations: 100,
        audits: 20,
        empty_streak: if quoted { 3 } else { 0 },
        errored_streak: 5,
        repeat_streak: 3,
        rejection_streak: if failed { u32::from(quoted) } else { 3 },
        failure_streak: if failed { 3 - u32::from(quoted) } else { 0 },
        ..Totals::default()
    }
}

/// Read the snapshot as the user would: what happened, what to do, and a command that works.
#[test]
fn every_stop_says_what_happened_and_the_way_on() {
    use PauseReason as P;
    let kinds = [
        "context_overflow",
        "authentication",
        "quota",
        "unknown_model",
        "transient",
    ];
    let model_errors =
        kinds.map(|kind| P::from_saved("model_errors", Some(kind)).expect("a reason"));
    let failures = [
        "provider_error",
        "missing_credentials",
        "missing_model",
        "idle_timeout",
        "timeout",
        "core_lost",
        "session_error",
        "hollow_approval",
        "no_tag",
    ];
    let failures = failures.map(|kind| P::AuditFailures(kind.to_owned()));
    let plain = [
        P::User,
        P::Aborted,
        P::NoProgress,
        P::Repetition,
        P::Rejections,
        P::ContinuationLimit,
        P::AuditLimit,
        P::ToolsOff,
        P::CoreLost,
    ];
    let mut table = String::new();
    for reason in plain.into_iter().chain(model_errors).chain(failures) {
        for detail in [None, Some("the very words\nof somebody else\u{1b}[2J")] {
            let stop = Stop {
                reason: reason.clone(),
                detail: detail.map(str::to_owned),
            };
            let mut goal = saved_goal(Phase::Paused(stop));
            goal.totals = stopped_totals(&reason, detail.is_some());
            let branch = Recovered {
                last_audit: Some(LastAudit {
                    outcome: "disapproved".to_owned(),
                    why: None,
                    model: "p/auditor".to_owned(),
                    successes: 4,
                    failure: None,
                    report: String::new(),
                }),
                ..branch_with(goal)
            };
            let mut rig = Rig::new();
            rig.open(OpenCause::Start, branch);
            let status = rig.command("status").told();
            let text = status
                .split_once("Goal paused")
                .map_or("(none)", |(_, text)| text);
            let text = text.split("\nSettings file").next().unwrap_or_default();
            let _ = writeln!(table, "# {reason}\nGoal paused{text}\n");
            let asked = rig.command("resume");
            assert!(asked.start().is_some(), "{reason}: the way on must work");
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn warnings_are_loud_and_answers_are_not() {
    let mut rig = pursuing();
    let asked = rig.command("pause");
    let levels: Vec<Level> = asked
        .iter()
        .filter_map(|effect| {
            if let Effect::Notify(notice) = effect {
                Some(notice.level)
            } else {
                None
            }
        })
        .collect();
    assert_eq!(levels, [Level::Warning]);
    assert_eq!(
        rig.calls(GoalTool::GetGoal, |_| {})
            .answer()
            .map(|answer| answer.is_error),
        Some(true)
    );
}

#[test]
fn a_headless_goal_wants_a_report_and_a_question_does_not() {
    let wants = |asked: &Asked| {
        asked.iter().find_map(|effect| {
            if let Effect::Release { report, .. } = effect {
                Some(*report)
            } else {
                None
            }
        })
    };
    let mut rig = Rig::headless();
    assert_eq!(wants(&rig.command("status")), Some(false));
    assert_eq!(wants(&rig.command("resume")), Some(false), "refused");
    rig.pursue("a goal");
    rig.ends_saying("");
    rig.ends_saying("");
    assert_eq!(wants(&rig.ends_saying("")), Some(true));
    rig.command("audit");
    rig.command("clear");
    let asked = rig.command("audit");
    assert_eq!(wants(&asked), Some(false), "there is nothing to audit");
}
