//! Steering a goal that exists: why, limit, accept, edit.

use goal_engine::{
    Activity, Effect, Event, FileTrouble, Gate, OpenCause, PauseReason, Phase, SettingRow,
    Settings, Stop,
};

use crate::rig::{Asked, Rig, branch_with, model, saved_goal};

fn pursuing() -> Rig {
    let mut rig = Rig::new();
    rig.pursue("old");
    rig
}

fn paused() -> Rig {
    let mut rig = pursuing();
    rig.command("pause");
    rig.settled(true, true);
    rig
}

fn held() -> Rig {
    let mut rig = Rig::new();
    rig.open(OpenCause::Start, branch_with(saved_goal(Phase::Held)));
    rig
}

fn edit(rig: &mut Rig, text: &str) -> Asked {
    let ticket = rig.command("edit").ticket().expect("an editor");
    rig.saves_edit(ticket, Some(text))
}

// why

#[test]
fn why_quotes_the_last_refusal_in_full_with_the_ways_on() {
    let mut rig = pursuing();
    let long = format!("{}THE END", "a line of the report\n".repeat(150));
    rig.audited(&format!("{long}\n<disapproved/>"));
    rig.command("pause");
    let told = rig.command("why").told();
    assert!(told.contains("you paused it"), "{told}");
    assert!(told.contains("disapproved by p/executor"), "{told}");
    assert!(told.contains("THE END"), "{told}");
    assert!(
        told.contains("/goal accept") && told.contains("/goal edit"),
        "{told}"
    );
}

#[test]
fn why_quotes_the_providers_words_and_hostile_text_breaks_nothing() {
    let mut rig = Rig::new();
    rig.open(
        OpenCause::Start,
        branch_with(saved_goal(Phase::Paused(Stop {
            reason: PauseReason::AuditFailures("provider_error".to_owned()),
            detail: Some(format!("{}\u{1b}[2Jthe end", "x".repeat(3_000))),
        }))),
    );
    let told = rig.command("why").told();
    assert!(
        told.contains("the end") && !told.contains('\u{1b}'),
        "{told}"
    );
}

#[test]
fn why_of_a_goal_that_never_stopped_says_so() {
    assert!(pursuing().command("why").told().contains("did not stop"));
    assert!(Rig::new().command("why").told().contains("No goal"));
    assert!(held().command("why").told().contains("on hold"));
}

// a goal that was not set here

/// As the predecessor's goal is found: nobody has decided yet what judges it.
fn undecided() -> Rig {
    let mut goal = saved_goal(Phase::Held);
    goal.set_gate(Gate::undecided());
    let mut rig = Rig::with(Settings {
        model: Some("p/auditor".to_owned()),
        max_consecutive_audit_rejections: 2,
        ..Settings::for_tests()
    });
    rig.open(OpenCause::Start, branch_with(goal));
    rig
}

#[test]
fn an_audit_of_a_goal_that_was_not_set_here_judges_by_the_settings() {
    let mut rig = undecided();
    let told = rig.command("status").told();
    assert!(told.contains("Auditor: as the settings say"), "{told}");
    let asked = rig.command("audit");
    let audit = asked.opened().expect("an auditor");
    assert_eq!(audit.model, model("p/auditor"));
    assert!(asked.told().contains("p/auditor"), "{}", asked.told());
    rig.checks(audit.audit);
    let asked = rig.auditor_says(audit.audit, "No.\n<disapproved/>");
    assert_eq!(asked.audits(), ["disapproved"]);
    assert_eq!(asked.saved().len(), 1, "its gate is kept from now on");
    assert_eq!(rig.goal().gate().max_consecutive_audit_rejections, 2);
    assert_eq!(rig.phase(), "held");
}

#[test]
fn an_audit_of_such_a_goal_is_refused_where_the_settings_name_no_auditor() {
    let mut rig = undecided();
    rig.give(Event::SettingsRead(Settings {
        model: Some("p/nobody".to_owned()),
        ..Settings::for_tests()
    }));
    let asked = rig.command("audit");
    assert!(asked.told().contains("nobody"), "{}", asked.told());
    assert!(asked.opened().is_none() && rig.goal().gate().is_undecided());
}

#[test]
fn a_limit_of_such_a_goal_outlives_the_decision() {
    let mut rig = undecided();
    rig.command("limit 7");
    rig.command("resume");
    let gate = rig.goal().gate();
    assert_eq!((gate.max_continuations, gate.own_limit), (Some(7), true));
    assert_eq!(gate.model, model("p/auditor"));
}

// limit

#[test]
fn a_limit_counts_for_this_goal_is_saved_and_survives_a_resume() {
    let mut rig = pursuing();
    let asked = rig.command("limit 2");
    assert_eq!(asked.brief(), "save pursuing, reply info");
    let told = asked.told();
    assert!(
        told.contains("2 continuations") && told.contains("100"),
        "{told}"
    );
    for _ in 0..2 {
        rig.work();
        rig.ends_saying("on it");
    }
    assert_eq!(rig.phase(), "pursuing");
    rig.work();
    let told = rig.ends_saying("on it").told();
    assert_eq!(rig.phase(), "paused(continuation_limit)");
    assert!(told.contains("/goal limit"), "{told}");
    rig.command("resume");
    assert_eq!(rig.goal().gate().max_continuations, Some(2));
    rig.command("limit 0");
    assert_eq!(rig.goal().gate().max_continuations, None);
}

#[test]
fn a_new_goal_does_not_inherit_the_limit() {
    let mut rig = pursuing();
    rig.command("limit 2");
    let ticket = rig.command("new").ticket().expect("a question");
    rig.answer_question(ticket, true);
    assert_eq!(rig.goal().gate().max_continuations, Some(100));
}

#[test]
fn a_limit_typed_between_decision_and_its_taking_is_not_undone() {
    let mut rig = pursuing();
    rig.work();
    let asked = rig.settling(|_| {});
    rig.command("limit 7");
    rig.take(&asked);
    assert_eq!(rig.goal().gate().max_continuations, Some(7));
    assert_eq!(rig.goal().totals.continuations, 1);
}

#[test]
fn a_limit_typed_while_a_pause_is_taken_is_saved() {
    let mut rig = pursuing();
    rig.command("limit 0");
    let asked = rig.settling(|settling| settling.tools_active = false);
    rig.command("limit 7");
    let taken = rig.take(&asked);
    assert_eq!(taken.saved().len(), 1, "{}", taken.brief());
    assert_eq!(rig.phase(), "paused(tools_off)");
}

#[test]
fn a_limit_beyond_the_settings_range_changes_nothing() {
    for number in ["1000001", "99999999999999999999"] {
        let mut rig = pursuing();
        let asked = rig.command(&format!("limit {number}"));
        assert_eq!(asked.brief(), "reply error");
        assert_eq!(rig.goal().gate().max_continuations, Some(100));
    }
    let told = pursuing().command("limit").told();
    assert!(told.contains("100 continuations; 0 used"), "{told}");
}

// accept

#[test]
fn a_stopped_goal_is_accepted_on_a_yes_and_never_counts_as_approved() {
    for mut rig in [paused(), held()] {
        let ticket = rig.command("accept").ticket().expect("a question");
        let asked = rig.answer_question(ticket, true);
        assert_eq!(asked.brief(), "save gone(accepted), reply info");
        assert_eq!(rig.phase(), "none");
    }
}

#[test]
fn the_question_names_the_objective_and_the_last_verdict() {
    let mut rig = pursuing();
    rig.audited("Nothing is done.\n<disapproved/>");
    rig.command("pause");
    let asked = rig.command("accept");
    let message = asked.iter().find_map(|effect| {
        if let Effect::Confirm { message, .. } = effect {
            Some(message.clone())
        } else {
            None
        }
    });
    let message = message.expect("a question");
    assert!(
        message.contains("old") && message.contains("disapproved"),
        "{message}"
    );
}

#[test]
fn a_no_and_a_goal_that_changed_meanwhile_accept_nothing() {
    let mut rig = paused();
    let ticket = rig.command("accept").ticket().expect("a question");
    rig.answer_question(ticket, false);
    assert_eq!(rig.phase(), "paused(user)");
    let ticket = rig.command("accept").ticket().expect("a question");
    rig.command("resume");
    let told = rig.answer_question(ticket, true).told();
    assert!(told.contains("nothing was accepted"), "{told}");
    assert_eq!(rig.phase(), "pursuing");
}

#[test]
fn a_pursued_goal_and_a_host_without_a_person_refuse_accepting_with_the_way() {
    let told = pursuing().command("accept").told();
    assert!(told.contains("/goal pause"), "{told}");
    let mut rig = paused();
    rig.facts.has_ui = false;
    let asked = rig.command("accept");
    assert!(
        asked.ticket().is_none() && asked.told().contains("person"),
        "{}",
        asked.told()
    );
}

// edit

#[test]
fn an_edit_in_a_run_ends_it_and_starts_anew_with_the_full_message() {
    let mut rig = pursuing();
    rig.audited("Nothing is done.\n<disapproved/>");
    rig.work();
    rig.ends_saying("a text of its own that is long enough to be a repetition");
    let before = rig.goal().clone();
    rig.sleep_through(60_000);
    let asked = edit(&mut rig, " new\n");
    assert_eq!(asked.brief(), "save pursuing, END RUN, reply info");
    let goal = rig.goal().clone();
    assert_eq!(goal.objective(), "new");
    assert_eq!(
        (goal.id(), goal.created_at()),
        (before.id(), before.created_at())
    );
    assert_eq!(goal.generation(), before.generation() + 1);
    assert_eq!(goal.totals.continuations, before.totals.continuations);
    assert_eq!(goal.totals.audits, 1);
    assert_eq!(goal.totals.repeat_streak, 0);
    assert_eq!(
        (goal.totals.last_text, goal.totals.last_refusal),
        (None, None)
    );
    assert_eq!(goal.last_objection, None);
    let asked = rig.settled(true, true);
    let message = asked.start().expect("a start");
    assert!(message.details.full && message.text.contains("new"));
    assert!(!message.text.contains("Nothing is done"));
    assert_eq!(rig.wait(10_000).brief(), "-", "that ending pauses nobody");
}

#[test]
fn an_edit_of_a_resting_goal_leaves_it_at_rest() {
    for (mut rig, phase) in [(paused(), "paused(user)"), (held(), "held")] {
        let asked = edit(&mut rig, "new");
        assert_eq!(asked.brief(), format!("save {phase}, reply info"));
        assert_eq!(rig.phase(), phase);
        assert_eq!(rig.goal().objective(), "new");
        assert!(rig.command("resume").start().is_some());
    }
}

#[test]
fn an_edit_while_the_goal_is_idle_or_backs_off_starts_at_once() {
    let mut rig = pursuing();
    rig.ends_failing("503");
    assert!(edit(&mut rig, "new").start().is_some());
    assert_eq!(rig.wait(100_000).brief(), "-", "the back-off is off");
}

#[test]
fn an_audit_of_the_old_words_is_stale() {
    let mut rig = pursuing();
    let audit = rig.claims().opened().expect("an audit").audit;
    let asked = edit(&mut rig, "new");
    assert_eq!(asked.audits(), ["stale"]);
    assert!(asked.answer().is_some_and(|answer| answer.is_error));
    assert!(asked.ends_run());
    rig.checks(audit);
    assert_eq!(rig.auditor_says(audit, "<approved/>").brief(), "-");
    assert_eq!(rig.goal().objective(), "new");
}

#[test]
fn nothing_saved_nothing_changed_and_nothing_lost() {
    for text in [None, Some("  \n"), Some("old"), Some("\nold ")] {
        let mut rig = pursuing();
        let ticket = rig.command("edit").ticket().expect("an editor");
        let tag = rig.tag();
        assert_eq!(
            rig.saves_edit(ticket, text).brief(),
            "reply info",
            "{text:?}"
        );
        assert_eq!(rig.tag(), tag);
    }
    let mut rig = pursuing();
    let long = "a".repeat(65_537);
    let asked = edit(&mut rig, &long);
    assert!(asked.told().contains("65537"));
    assert_eq!(asked.restored(), Some(format!("/goal set {long}").as_str()));
    assert_eq!(rig.goal().objective(), "old");
}

#[test]
fn an_edit_of_a_goal_that_ended_meanwhile_gives_the_text_back() {
    let mut rig = pursuing();
    let ticket = rig.command("edit").ticket().expect("an editor");
    rig.command("clear");
    let asked = rig.saves_edit(ticket, Some("new"));
    assert_eq!(asked.restored(), Some("/goal set new"));
    assert_eq!(rig.phase(), "none");
}

#[test]
fn an_edit_is_answered_once_by_its_own_editor_and_in_its_own_session() {
    let mut rig = paused();
    let ticket = rig.command("edit").ticket().expect("an editor");
    assert_eq!(
        rig.answer_question(ticket, true).brief(),
        "-",
        "no yes or no"
    );
    rig.saves_edit(ticket, Some("new"));
    assert_eq!(rig.saves_edit(ticket, Some("newer")).brief(), "-");
    let ticket = rig.command("accept").ticket().expect("a question");
    assert_eq!(
        rig.saves_edit(ticket, Some("newer")).brief(),
        "-",
        "no text"
    );
    let ticket = rig.command("edit").ticket().expect("an editor");
    rig.give(Event::SessionLeft);
    rig.open(OpenCause::Start, branch_with(saved_goal(Phase::Held)));
    assert_eq!(rig.saves_edit(ticket, Some("newest")).brief(), "-");
}

#[test]
fn an_edit_during_the_users_own_run_waits_for_its_end() {
    let mut rig = pursuing();
    rig.ends_failing("503");
    let ticket = rig.command("edit").ticket().expect("an editor");
    rig.command("pause");
    rig.run_starts();
    rig.saves_edit(ticket, Some("new"));
    assert_eq!(rig.facts.activity, Activity::Running);
    assert_eq!(rig.phase(), "paused(user)");
}

#[test]
fn without_an_editor_an_edit_is_refused_with_the_way() {
    let mut rig = paused();
    rig.facts.has_ui = false;
    let asked = rig.command("edit");
    assert!(asked.told().contains("/goal @TASK.md"), "{}", asked.told());
    assert!(asked.ticket().is_none());
    assert!(
        Rig::new()
            .command("edit")
            .told()
            .contains("no goal to edit")
    );
}

// @file, config, report

#[test]
fn a_file_gives_the_objective_and_a_text_that_names_none_is_one_itself() {
    for typed in ["@TASK.md", "set @TASK.md"] {
        let mut rig = Rig::new();
        let asked = rig.command_with(typed, Ok("\nDo this.\nAnd that.\n"));
        assert!(asked.start().is_some());
        assert_eq!(rig.goal().objective(), "Do this.\nAnd that.");
        let mut rig = Rig::new();
        assert!(rig.command(typed).start().is_some());
        assert_eq!(rig.goal().objective(), "@TASK.md");
    }
}

#[test]
fn a_file_that_gives_no_objective_is_refused_and_the_command_comes_back() {
    for (trouble, word) in [
        (FileTrouble::NotAFile, "folder"),
        (FileTrouble::TooLarge(70_000), "70000 bytes"),
        (FileTrouble::NotText, "UTF-8"),
        (FileTrouble::Blank, "empty"),
        (FileTrouble::Unreadable("denied".to_owned()), "denied"),
    ] {
        let mut rig = Rig::new();
        let asked = rig.command_with("@TASK.md", Err(trouble));
        let told = asked.told();
        assert!(told.contains("TASK.md") && told.contains(word), "{told}");
        assert_eq!(asked.restored(), Some("/goal @TASK.md"));
        assert_eq!(rig.phase(), "none");
    }
}

#[test]
fn a_file_over_a_goal_asks_first_as_any_objective_does() {
    let mut rig = paused();
    let asked = rig.command_with("@TASK.md", Ok("from the file"));
    rig.answer_question(asked.ticket().expect("a question"), true);
    assert_eq!(rig.goal().objective(), "from the file");
}

#[test]
fn the_settings_stand_in_a_table_with_the_way_to_change_them() {
    let row = |name: &str, value: &str, source: &str| SettingRow {
        name: name.to_owned(),
        value: value.to_owned(),
        source: source.to_owned(),
    };
    let mut rig = Rig::with(Settings {
        rows: vec![
            row("provider", "anthropic", "env:PI_GOAL_AUDITOR_PROVIDER"),
            row("maxContinuations", "5", "default"),
            row("maxAudits", "7", "file:/agent/goal-auditor.json:12:3"),
        ],
        ..Settings::for_tests()
    });
    let told = rig.command("config").told();
    let rows = "provider          anthropic  PI_GOAL_AUDITOR_PROVIDER\n\
                maxContinuations  5          default\n\
                maxAudits         7          file, line 12\n";
    assert!(told.starts_with(rows), "{told}");
    assert!(told.contains("/agent/goal-auditor.json"), "{told}");
}

#[test]
fn a_report_is_the_drivers_work_and_its_end_is_told() {
    let mut rig = paused();
    let id = rig.goal().id().to_owned();
    let asked = rig.command("report out/goal.md");
    assert_eq!(
        asked.first(),
        Some(&Effect::WriteReport {
            path: Some("out/goal.md".to_owned()),
            goal: Some(id),
        })
    );
    let told = rig.give(Event::ReportWritten(
        Ok("1 goal: /w/out/goal.md".to_owned()),
    ));
    assert!(told.told().contains("/w/out/goal.md"));
    let told = rig.give(Event::ReportWritten(Err("the disk is full".to_owned())));
    assert!(
        told.told()
            .contains("No report was written: the disk is full")
    );
}

// audit

const REFUSAL: &str = "The rhyme is missing.\n<disapproved/>";
const APPROVAL: &str = "All there.\n<approved/>";

/// The user's audit, from its opening to its answer.
fn judged(rig: &mut Rig, asked: &Asked, answer: &str) -> Asked {
    let open = asked.opened().expect("an audit");
    assert_eq!(open.call_id, None);
    rig.checks(open.audit);
    rig.auditor_says(open.audit, answer)
}

#[test]
fn the_footer_shows_the_users_audit_of_a_goal_at_rest() {
    for (make, at_rest) in [
        (paused as fn() -> Rig, "paused (by you)"),
        (held, "on hold"),
    ] {
        let mut rig = make();
        let asked = rig.command("audit");
        let shown = asked.footer().expect("something to show");
        assert!(
            shown.contains(at_rest) && shown.contains("audit running"),
            "{shown}"
        );
        let ended = judged(&mut rig, &asked, REFUSAL);
        let shown = ended.footer().expect("something to show");
        assert!(shown.ends_with(at_rest), "{shown}");
    }
}

#[test]
fn an_audit_of_a_goal_at_rest_approves_or_leaves_it_at_rest() {
    for (make, phase) in [(paused as fn() -> Rig, "paused(user)"), (held, "held")] {
        let mut rig = make();
        let asked = rig.command("audit");
        let ended = judged(&mut rig, &asked, REFUSAL);
        assert_eq!(ended.audits(), ["disapproved"]);
        assert!(
            ended.told().contains("The rhyme is missing"),
            "{}",
            ended.told()
        );
        assert!(ended.start().is_none() && ended.answer().is_none());
        assert_eq!(rig.phase(), phase);
        assert_eq!(rig.goal().totals.rejection_streak, 1);
        assert!(rig.command("why").told().contains("The rhyme is missing"));
        let asked = rig.command("audit");
        let ended = judged(&mut rig, &asked, APPROVAL);
        assert!(ended.told().contains("Goal complete"), "{}", ended.told());
        assert_eq!(rig.phase(), "none");
    }
}

#[test]
fn an_audit_in_a_run_ends_it_first_and_the_goal_goes_on_with_the_objections() {
    let mut rig = pursuing();
    let asked = rig.command("audit");
    assert_eq!(asked.brief(), "reply info, END RUN");
    let asked = rig.settled(true, true);
    assert!(asked.start().is_none(), "{}", asked.brief());
    let ended = judged(&mut rig, &asked, REFUSAL);
    let message = ended.start().expect("it goes on");
    assert!(message.text.contains("The rhyme is missing") && !message.details.full);
    assert_eq!(rig.goal().totals.continuations, 1);
    assert_eq!(rig.phase(), "pursuing");
}

#[test]
fn a_users_audit_that_stops_the_goal_ends_the_run_that_began_meanwhile() {
    let mut rig = Rig::with(Settings {
        max_consecutive_audit_rejections: 1,
        ..Settings::for_tests()
    });
    rig.pursue("write a poem");
    rig.command("audit");
    let asked = rig.settled(true, true);
    let audit = asked.opened().expect("an audit").audit;
    rig.users_run_starts();
    rig.checks(audit);
    let ended = rig.auditor_says(audit, REFUSAL);
    assert_eq!(rig.phase(), "paused(rejections)");
    assert!(ended.ends_run(), "{}", ended.brief());
}

#[test]
fn an_audit_that_comes_at_the_settle_boundary_is_not_forgotten() {
    let mut rig = pursuing();
    rig.work();
    let asked = rig.settling(|_| {});
    rig.command("audit");
    rig.take(&asked);
    rig.work();
    let asked = rig.settles(|_| {});
    assert!(asked.opened().is_some(), "{}", asked.brief());
}

#[test]
fn an_audit_in_a_back_off_takes_its_place() {
    let mut rig = pursuing();
    rig.ends_failing("503");
    let asked = rig.command("audit");
    let audit = asked.opened().expect("an audit").audit;
    assert!(
        rig.wait(60_000).start().is_none(),
        "the goal rests meanwhile"
    );
    rig.checks(audit);
    assert!(rig.auditor_says(audit, REFUSAL).start().is_some());
}

#[test]
fn an_audit_waits_for_the_users_own_run_and_for_a_compaction() {
    let mut rig = paused();
    rig.run_starts();
    assert!(rig.command("audit").opened().is_none());
    let asked = rig.settles(|_| {});
    assert!(asked.opened().is_some(), "{}", asked.brief());
    let mut rig = paused();
    rig.give(Event::CompactionStarted);
    rig.facts.activity = Activity::Compacting;
    assert!(rig.command("audit").opened().is_none());
    rig.facts.activity = Activity::Idle;
    assert!(
        rig.compaction_ends(|ended| ended.idle = true)
            .opened()
            .is_some()
    );
}

#[test]
fn refused_too_often_a_pursued_goal_pauses_and_one_at_rest_stays_as_it_was() {
    let mut rig = pursuing();
    let mut asked = rig.command("audit");
    asked.0.extend(rig.settled(true, true).0);
    for _ in 0..2 {
        judged(&mut rig, &asked, REFUSAL);
        rig.run_starts();
        rig.command("audit");
        asked = rig.settled(true, true);
    }
    let ended = judged(&mut rig, &asked, REFUSAL);
    assert_eq!(rig.phase(), "paused(rejections)");
    assert_eq!(
        ended.told().matches("The rhyme is missing").count(),
        1,
        "{}",
        ended.told()
    );
    let asked = rig.command("audit");
    judged(&mut rig, &asked, REFUSAL);
    assert_eq!(rig.phase(), "paused(rejections)");
    assert_eq!(rig.goal().totals.audits, 4);
}

#[test]
fn pause_esc_and_clear_stop_the_users_audit() {
    for (stop, pursued_after) in [
        ("pause", "paused(user)"),
        ("esc", "paused(aborted)"),
        ("clear", "none"),
    ] {
        let stop_it = |rig: &mut Rig| match stop {
            "esc" => rig.give(Event::Interrupt),
            word => rig.command(word),
        };
        let mut rig = pursuing();
        rig.command("audit");
        rig.settled(true, true);
        let ended = stop_it(&mut rig);
        assert_eq!(ended.audits(), ["aborted"], "{stop}");
        assert!(
            ended.contains(&Effect::CloseAuditor {
                audit: audit_of(&ended)
            }),
            "{stop}"
        );
        assert_eq!(rig.phase(), pursued_after, "{stop}");
        assert_eq!(rig.wait(60_000).brief(), "-", "{stop}");

        let mut rig = paused();
        rig.command("audit");
        let ended = stop_it(&mut rig);
        assert_eq!(ended.audits(), ["aborted"], "{stop}");
        assert!(!ended.told().is_empty(), "{stop}");
        let after = if stop == "clear" {
            "none"
        } else {
            "paused(user)"
        };
        assert_eq!(rig.phase(), after, "{stop}");
    }
}

fn audit_of(asked: &Asked) -> u64 {
    let closed = asked.iter().find_map(|effect| {
        if let Effect::CloseAuditor { audit } = effect {
            Some(*audit)
        } else {
            None
        }
    });
    closed.expect("the session is closed")
}

#[test]
fn one_audit_at_a_time_and_nothing_starts_beside_it() {
    let mut rig = paused();
    rig.command("audit");
    for command in ["audit", "resume"] {
        let told = rig.command(command).told();
        assert!(told.contains("An audit is running"), "{command}: {told}");
    }
    let mut rig = pursuing();
    rig.claims();
    assert!(rig.command("audit").told().contains("An audit is running"));
    assert!(
        Rig::new()
            .command("audit")
            .told()
            .contains("no goal to audit")
    );
}

#[test]
fn an_edit_makes_the_users_audit_stale_too() {
    let mut rig = paused();
    rig.command("audit");
    let asked = edit(&mut rig, "new");
    assert_eq!(asked.audits(), ["stale"]);
    assert!(asked.told().contains("does not count"), "{}", asked.told());
    assert_eq!(rig.phase(), "paused(user)");
}

#[test]
fn leaving_the_session_in_the_users_audit_is_a_hold_and_no_pause() {
    let mut rig = pursuing();
    rig.command("audit");
    rig.settled(true, true);
    let asked = rig.give(Event::SessionLeft);
    assert_eq!(asked.brief(), "close auditor, save audit aborted");
    assert_eq!(rig.phase(), "held");
}

#[test]
fn a_headless_audit_holds_the_command_and_sets_its_status() {
    for (answer, approved) in [(APPROVAL, true), (REFUSAL, false)] {
        let mut rig = Rig::headless();
        rig.open(OpenCause::Start, branch_with(saved_goal(Phase::Held)));
        let asked = rig.command("audit");
        assert_eq!(asked.released(), None);
        let ended = judged(&mut rig, &asked, answer);
        let (status, reason) = ended.released().expect("a release");
        assert_eq!(status, approved);
        assert_eq!(reason.is_some_and(|why| why.contains("rhyme")), !approved);
    }
}
