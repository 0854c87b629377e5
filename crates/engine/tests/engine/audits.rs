//! An audit's end, and what it does to the goal (spec §5).

use goal_engine::{
    AuditOutcome, AuditorEvent, Event, Inspection, OpenCause, OpenFailure, Phase, Prepared, Rung,
    Settings, StopKind,
};

use crate::rig::{Rig, answer, branch_with, restart, saved_goal, workspace};

fn pursuing() -> Rig {
    let mut rig = Rig::new();
    rig.pursue("the objective");
    rig
}

fn opened(rig: &mut Rig) -> u64 {
    rig.claims().opened().expect("an audit").audit
}

fn outcome(asked: &crate::rig::Asked) -> String {
    let answer = asked.answer().expect("an answer");
    let outcome = &answer.audit.as_ref().expect("an audit").outcome;
    match outcome.why() {
        Some(why) => format!("{}({why})", outcome.name()),
        None => outcome.name().to_owned(),
    }
}

#[test]
fn an_approval_with_evidence_completes_and_the_run_says_its_last_words() {
    let mut rig = pursuing();
    let asked = rig.audited("All there.\n<approved/>");
    assert_eq!(
        asked.brief(),
        "close auditor, save audit approved, save gone(approved), notify info, answer"
    );
    let answer = asked.answer().expect("an answer");
    assert!(!answer.ends_run);
    assert_eq!(answer.usage.map(|usage| usage.total_tokens), Some(12.0));
    assert_eq!(rig.ends_saying("Done.").brief(), "propose rest []");
    assert_eq!(rig.phase(), "none");
}

#[test]
fn the_audit_is_told_objective_claim_and_folder() {
    let mut rig = pursuing();
    let asked = rig.claims_that("I made the door.");
    let open = asked.opened().expect("an audit");
    for part in ["the objective", "I made the door.", "/work"] {
        assert!(open.prompt.contains(part), "{part}");
    }
}

#[test]
fn an_approval_without_evidence_is_reminded_once_and_then_no_verdict() {
    let mut rig = pursuing();
    let audit = opened(&mut rig);
    assert_eq!(
        rig.auditor_says(audit, "<approved/>").brief(),
        "remind auditor"
    );
    let asked = rig.auditor_says(audit, "<approved/>");
    assert_eq!(outcome(&asked), "no_verdict(hollow_approval)");
    assert_eq!(rig.phase(), "pursuing");
    assert_eq!(rig.goal().totals.failure_streak, 1);
}

#[test]
fn evidence_after_the_reminder_counts() {
    let mut rig = pursuing();
    let audit = opened(&mut rig);
    rig.auditor_says(audit, "<approved/>");
    rig.checks(audit);
    rig.auditor_says(audit, "<approved/>");
    assert_eq!(rig.phase(), "none");
}

#[test]
fn late_events_of_an_audit_that_ended_do_nothing() {
    let mut rig = pursuing();
    let audit = opened(&mut rig);
    rig.checks(audit);
    rig.auditor_says(audit, "No.\n<disapproved/>");
    let before = rig.goal().clone();
    assert_eq!(rig.auditor_says(audit, "Yes.\n<approved/>").brief(), "-");
    rig.turn_ends();
    let second = opened(&mut rig);
    assert_eq!(rig.checks(audit).brief(), "-");
    assert_eq!(rig.auditor_says(audit, "<approved/>").brief(), "-");
    assert_eq!(rig.goal(), &before);
    // The older audit's check is no evidence for the newer one.
    assert_eq!(
        rig.auditor_says(second, "<approved/>").brief(),
        "remind auditor"
    );
}

#[test]
fn a_verdict_that_comes_with_the_deadline_comes_too_late() {
    let mut rig = Rig::with(Settings {
        timeout_ms: Some(60_000),
        ..Settings::for_tests()
    });
    rig.pursue("x");
    let audit = opened(&mut rig);
    rig.checks(audit);
    rig.auditor(
        audit,
        AuditorEvent::AnswerEnded(answer("<approved/>", StopKind::Stop)),
    );
    rig.sleep_through(60_000);
    let asked = rig.auditor(audit, AuditorEvent::Rested);
    assert_eq!(outcome(&asked), "failed(timeout)");
    assert_eq!(rig.phase(), "pursuing");
}

#[test]
fn timeouts_say_which_limit_its_value_and_the_tool_in_flight() {
    let mut rig = pursuing();
    let audit = opened(&mut rig);
    rig.auditor(
        audit,
        AuditorEvent::ToolStarted {
            call_id: "1".to_owned(),
            tool: "bash".to_owned(),
            args: "sleep 9999".to_owned(),
        },
    );
    let asked = rig.wait(900_000);
    let text = &asked.answer().expect("an answer").text;
    for part in ["timeoutMs", "900000", "bash sleep 9999"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let mut rig = pursuing();
    let audit = opened(&mut rig);
    rig.wait(500_000);
    rig.auditor(audit, AuditorEvent::Output);
    let asked = rig.wait(120_000);
    assert_eq!(outcome(&asked), "failed(idle_timeout)");
    let text = &asked.answer().expect("an answer").text;
    assert!(
        text.contains("idleTimeoutMs") && text.contains("120000"),
        "{text}"
    );
}

#[test]
fn a_slow_first_token_is_not_idle() {
    let mut rig = pursuing();
    opened(&mut rig);
    assert_eq!(rig.wait(899_999).brief(), "-");
}

#[test]
fn failures_are_error_results_and_verdicts_are_not() {
    let mut rig = pursuing();
    let asked = rig.audited("No.\n<disapproved/>");
    assert!(asked.answer().is_some_and(|answer| !answer.is_error));
    let mut rig = pursuing();
    let audit = opened(&mut rig);
    let asked = rig.auditor(
        audit,
        AuditorEvent::OpenFailed {
            kind: OpenFailure::MissingCredentials,
            message: "no key".to_owned(),
        },
    );
    assert_eq!(outcome(&asked), "failed(missing_credentials)");
    assert!(
        asked
            .answer()
            .is_some_and(|answer| answer.is_error && answer.text.contains("no key"))
    );
}

#[test]
fn an_answer_that_ended_in_an_error_is_a_failure_without_a_reminder() {
    let mut rig = pursuing();
    let audit = opened(&mut rig);
    rig.checks(audit);
    let mut failed = answer("<approved/>", StopKind::Error);
    failed.error = Some("401: bad key".to_owned());
    let asked = rig.auditor_answers(audit, failed);
    assert_eq!(outcome(&asked), "failed(provider_error)");
    assert!(
        asked
            .answer()
            .is_some_and(|answer| answer.text.contains("401: bad key"))
    );
}

#[test]
fn the_cap_of_refusals_is_exact_and_its_audit_ends_the_run() {
    let mut rig = pursuing();
    for round in 1..=3 {
        let asked = rig.audited(&format!("No {round}.\n<disapproved/>"));
        let ends = asked.answer().is_some_and(|answer| answer.ends_run);
        assert_eq!(ends, round == 3, "round {round}");
        rig.turn_ends();
    }
    assert_eq!(rig.phase(), "paused(rejections)");
    assert!(rig.claims().opened().is_none());
}

#[test]
fn work_between_two_audits_resets_refusals_but_not_failures() {
    let mut rig = pursuing();
    for round in 1..=4 {
        rig.audited(&format!("No {round}.\n<disapproved/>"));
        rig.work();
        rig.turn_ends();
    }
    assert_eq!(rig.phase(), "pursuing");
    for round in 1..=3 {
        rig.audited("no tag");
        let audit = opened_again(&mut rig);
        rig.auditor_says(audit, "still no tag");
        rig.work();
        rig.turn_ends();
        let expected = if round < 3 {
            "pursuing"
        } else {
            "paused(audit_failures(no_tag))"
        };
        assert_eq!(rig.phase(), expected, "round {round}");
    }
}

/// The audit that `audited` left open for its second answer.
fn opened_again(rig: &mut Rig) -> u64 {
    let last = rig.given.iter().rev().find_map(|(_, event)| {
        if let Event::Auditor { audit, .. } = event {
            Some(*audit)
        } else {
            None
        }
    });
    last.expect("an audit")
}

#[test]
fn a_mixture_of_refusals_and_failures_reaches_the_cap_as_failures() {
    let mut rig = pursuing();
    rig.audited("No.\n<disapproved/>");
    for _ in 0..2 {
        rig.turn_ends();
        let audit = opened(&mut rig);
        rig.auditor(
            audit,
            AuditorEvent::Broke {
                message: "socket hang up".to_owned(),
            },
        );
    }
    assert_eq!(rig.phase(), "paused(audit_failures(session_error))");
}

#[test]
fn the_same_claim_met_by_the_same_objection_pauses_whatever_happened_between() {
    let mut rig = pursuing();
    for round in 1..=3 {
        let asked = rig.claims_that("It is all done.");
        let audit = asked.opened().expect("an audit").audit;
        rig.checks(audit);
        let asked = rig.auditor_says(audit, "The door is missing.\n<disapproved/>");
        if round == 3 {
            assert_eq!(rig.phase(), "paused(rejections)");
            assert!(asked.told().contains("It is all done."), "{}", asked.told());
            assert!(
                asked.told().contains("The door is missing."),
                "{}",
                asked.told()
            );
        } else {
            assert_eq!(rig.phase(), "pursuing");
        }
        rig.work();
        rig.turn_ends();
    }
}

#[test]
fn the_last_allowed_audit_pauses_and_a_refusal_cap_of_the_same_audit_goes_first() {
    for (rejections, phase) in [(9, "paused(audit_limit)"), (2, "paused(rejections)")] {
        let mut rig = Rig::with(Settings {
            max_audits: Some(2),
            max_consecutive_audit_rejections: rejections,
            ..Settings::for_tests()
        });
        rig.pursue("x");
        rig.audited("No 1.\n<disapproved/>");
        rig.turn_ends();
        let asked = rig.audited("No 2.\n<disapproved/>");
        assert_eq!(rig.phase(), phase);
        assert!(asked.answer().is_some_and(|answer| answer.ends_run));
    }
}

#[test]
fn an_approval_by_the_last_allowed_audit_completes() {
    let mut rig = Rig::with(Settings {
        max_audits: Some(1),
        ..Settings::for_tests()
    });
    rig.pursue("x");
    rig.audited("<approved/>");
    assert_eq!(rig.phase(), "none");
}

#[test]
fn several_claims_of_one_message_are_one_audit_and_charged_once() {
    let mut rig = pursuing();
    let first = rig.audited("No.\n<disapproved/>");
    let second = rig.claims();
    assert!(second.opened().is_none());
    let answer = second.answer().expect("an answer");
    assert!(answer.usage.is_none());
    assert_eq!(
        answer.audit.as_ref().map(|audit| audit.outcome.clone()),
        first
            .answer()
            .and_then(|answer| answer.audit.as_ref())
            .map(|audit| audit.outcome.clone())
    );
    rig.turn_ends();
    assert!(
        rig.claims().opened().is_some(),
        "the next message may claim again"
    );
}

#[test]
fn the_objections_go_with_the_next_continuation_once() {
    let mut rig = pursuing();
    rig.audited("The door is missing.\n<disapproved/>");
    rig.work();
    let text = |asked: &crate::rig::Asked| {
        let message = asked
            .proposal()
            .and_then(|proposal| proposal.message.clone());
        message.expect("a continuation").text
    };
    let yielded = rig.settling(|_| {});
    let proposal = yielded.proposal().expect("a proposal").number;
    rig.give(Event::ProposalYielded { proposal });
    assert!(text(&yielded).contains("The door is missing."));
    assert!(
        text(&rig.ends_saying("a")).contains("The door is missing."),
        "still owed"
    );
    assert!(!text(&rig.ends_saying("b")).contains("The door is missing."));
}

#[test]
fn a_cancelled_call_aborts_the_audit_and_pauses_when_its_run_ends() {
    let mut rig = pursuing();
    let claim = rig.claims();
    let audit = claim.opened().expect("an audit").audit;
    rig.checks(audit);
    let call_id = claim
        .opened()
        .and_then(|open| open.call_id.clone())
        .expect("a call");
    let asked = rig.give(Event::ToolCancelled {
        call_id: call_id.clone(),
    });
    assert_eq!(
        asked.brief(),
        "close auditor, save audit aborted, answer error"
    );
    assert_eq!(rig.auditor_says(audit, "<approved/>").brief(), "-");
    assert_eq!(rig.give(Event::ToolCancelled { call_id }).brief(), "-");
    rig.settled(true, false);
    rig.wait(250);
    assert_eq!(rig.phase(), "paused(aborted)");
    assert_eq!(rig.goal().totals.audits, 0);
}

#[test]
fn a_cancelled_call_in_a_run_that_settles_all_the_same_pauses_at_the_boundary() {
    let mut rig = pursuing();
    let claim = rig.claims();
    let call_id = claim
        .opened()
        .and_then(|open| open.call_id.clone())
        .expect("a call");
    rig.give(Event::ToolCancelled { call_id });
    rig.ends_saying("");
    assert_eq!(rig.phase(), "paused(aborted)");
}

#[test]
fn a_cancelled_call_while_leaving_is_a_hold() {
    let mut rig = pursuing();
    let claim = rig.claims();
    let call_id = claim
        .opened()
        .and_then(|open| open.call_id.clone())
        .expect("a call");
    rig.give(Event::ToolCancelled { call_id });
    rig.settled(true, false);
    rig.give(Event::SessionLeft);
    assert_eq!(rig.phase(), "held");
}

#[test]
fn an_audit_of_a_branch_that_was_left_writes_nothing_there() {
    let mut rig = pursuing();
    let audit = opened(&mut rig);
    rig.checks(audit);
    let asked = rig.open(OpenCause::Tree, branch_with(saved_goal(Phase::Held)));
    assert_eq!(outcome(&asked), "stale(goal)");
    assert!(
        asked.audits().is_empty() && asked.saved().is_empty(),
        "{}",
        asked.brief()
    );
    assert_eq!(rig.auditor_says(audit, "<approved/>").brief(), "-");
    assert_eq!(rig.phase(), "held");
}

#[test]
fn a_verdict_after_leaving_the_session_completes_nothing() {
    let mut rig = pursuing();
    let audit = opened(&mut rig);
    rig.checks(audit);
    rig.give(Event::SessionLeft);
    assert_eq!(rig.auditor_says(audit, "<approved/>").brief(), "-");
    assert_eq!(rig.phase(), "held");
}

// The core is lost

#[test]
fn a_restarted_core_goes_on_with_one_notice_and_counts_the_lost_audit() {
    let mut rig = Rig::new();
    let goal = saved_goal(Phase::Held);
    let mut lost = restart(Some(goal.tag()));
    lost.audit_lost = true;
    lost.running = true;
    let asked = rig.open(OpenCause::CoreRestart(lost), branch_with(goal));
    assert_eq!(asked.audits(), ["failed"]);
    assert_eq!(rig.phase(), "pursuing");
    assert_eq!(rig.goal().totals.failure_streak, 1);
    assert_eq!(
        asked.told().matches("started again").count(),
        1,
        "{}",
        asked.told()
    );
    rig.ends_saying("");
    assert_eq!(rig.goal().totals.empty_streak, 1, "the run is the goal's");
}

#[test]
fn a_restarted_core_whose_goal_was_idle_starts_it_again() {
    let mut rig = Rig::new();
    let goal = saved_goal(Phase::Held);
    let asked = rig.open(
        OpenCause::CoreRestart(restart(Some(goal.tag()))),
        branch_with(goal),
    );
    assert!(asked.start().is_some());
}

#[test]
fn a_second_loss_pauses_and_its_lost_audit_is_recorded_all_the_same() {
    let mut rig = Rig::new();
    let goal = saved_goal(Phase::Held);
    let mut lost = restart(Some(goal.tag()));
    lost.audit_lost = true;
    lost.running = true;
    lost.recent_losses = 2;
    let asked = rig.open(OpenCause::CoreRestart(lost), branch_with(goal));
    assert_eq!(rig.phase(), "paused(core_lost)");
    assert_eq!(asked.audits(), ["failed"]);
    assert!(asked.ends_run());
    assert!(!asked.told().contains("goes on;"));
    assert_eq!(
        asked.told().matches("Goal paused").count(),
        1,
        "{}",
        asked.told()
    );
}

#[test]
fn a_restarted_core_does_not_arm_what_was_not_pursued_or_is_another_goal() {
    let other = goal_engine::GoalTag {
        id: "g-other".to_owned(),
        generation: 7,
    };
    let older = goal_engine::GoalTag {
        id: "g-saved".to_owned(),
        generation: 6,
    };
    for pursued in [None, Some(other), Some(older)] {
        let mut rig = Rig::new();
        let asked = rig.open(
            OpenCause::CoreRestart(restart(pursued)),
            branch_with(saved_goal(Phase::Held)),
        );
        assert!(asked.start().is_none());
        assert_eq!(rig.phase(), "held");
    }
}

#[test]
fn a_stale_outcome_is_not_the_auditors_judgement() {
    assert_eq!(AuditOutcome::StaleGoal.name(), "stale");
    let mut rig = pursuing();
    let audit = opened(&mut rig);
    rig.checks(audit);
    rig.command("clear");
    assert_eq!(rig.auditor_says(audit, "<approved/>").brief(), "-");
    assert_eq!(rig.phase(), "none");
}

// What is kept

#[test]
fn earlier_answers_are_part_of_the_report_and_tags_no_part_of_the_objection() {
    let mut rig = pursuing();
    let audit = opened(&mut rig);
    rig.checks(audit);
    rig.auditor_says(audit, "The window is missing, <think> and");
    let asked = rig.auditor_says(audit, "The door is missing.\n<disapproved/>");
    let report = &asked
        .answer()
        .and_then(|answer| answer.audit.as_ref())
        .expect("an audit")
        .report;
    assert!(
        report.contains("window") && report.contains("door"),
        "{report}"
    );
    let objection = rig.goal().last_objection.clone().expect("an objection");
    assert!(
        objection.contains("window") && objection.contains("door"),
        "{objection}"
    );
    assert!(!objection.contains("<disapproved/>"), "{objection}");
}

#[test]
fn what_a_pause_keeps_of_others_words_is_bounded() {
    let mut rig = pursuing();
    for _ in 0..3 {
        let asked = rig.claims_that(&"claim ".repeat(40_000));
        let audit = asked.opened().expect("an audit").audit;
        rig.checks(audit);
        rig.auditor_says(
            audit,
            &format!("{}\n<disapproved/>", "objection ".repeat(40_000)),
        );
        rig.turn_ends();
    }
    let Phase::Paused(stop) = rig.goal().phase() else {
        panic!("{}", rig.phase());
    };
    let detail = stop.detail.clone().expect("a detail");
    assert!(detail.chars().count() < 6_000, "{}", detail.chars().count());
    assert!(detail.contains("claim") && detail.contains("objection"));

    let mut rig = pursuing();
    for _ in 0..3 {
        rig.ends_saying(&"word ".repeat(10_000));
    }
    let Phase::Paused(stop) = rig.goal().phase() else {
        panic!("{}", rig.phase());
    };
    let detail = stop.detail.clone().expect("a detail");
    assert!(detail.chars().count() <= 4_000 && detail.contains("left out"));
}

// The workspace

fn watched(rung: Rung, changed: &[&str], forgiven: &[&str]) -> Rig {
    let mut rig = pursuing();
    rig.prepared = Some(Ok(Prepared {
        rung,
        seal: None,
        before: Some(workspace("before")),
    }));
    rig.inspection = Some(Ok(Inspection {
        after: workspace("after"),
        changed: changed.iter().map(|path| (*path).to_owned()).collect(),
        forgiven: forgiven.iter().map(|path| (*path).to_owned()).collect(),
    }));
    rig
}

#[test]
fn an_approval_counts_only_on_a_workspace_that_stayed_as_it_was() {
    for (rung, changed, forgiven, expected) in [
        (Rung::Fingerprint, vec![], vec![], "approved"),
        (Rung::Fingerprint, vec![], vec!["target/x"], "approved"),
        (
            Rung::Fingerprint,
            vec!["a.rs"],
            vec![],
            "failed(workspace_changed)",
        ),
        (Rung::Overlay, vec![], vec![], "approved"),
        (Rung::Overlay, vec![], vec!["target/x"], "stale(workspace)"),
        (Rung::Overlay, vec!["a.rs"], vec![], "stale(workspace)"),
    ] {
        let mut rig = watched(rung, &changed, &forgiven);
        let asked = rig.audited("All there.\n<approved/>");
        assert_eq!(
            outcome(&asked),
            expected,
            "{rung:?} {changed:?} {forgiven:?}"
        );
        let approved = expected == "approved";
        assert_eq!(rig.phase() == "none", approved);
        for path in changed {
            assert!(asked.told().contains(path), "{}", asked.told());
        }
    }
}

#[test]
fn a_refusal_of_a_workspace_that_changed_is_a_refusal_all_the_same() {
    let mut rig = watched(Rung::Fingerprint, &["a.rs"], &[]);
    assert_eq!(outcome(&rig.audited("No.\n<disapproved/>")), "disapproved");
    assert_eq!(rig.goal().totals.rejection_streak, 1);
}

#[test]
fn an_approval_whose_workspace_cannot_be_looked_at_is_a_failure() {
    let mut rig = watched(Rung::Fingerprint, &[], &[]);
    rig.inspection = Some(Err("no such folder".to_owned()));
    let asked = rig.audited("<approved/>");
    assert_eq!(outcome(&asked), "failed(sandbox_unavailable)");

    let mut rig = watched(Rung::Fingerprint, &[], &[]);
    rig.inspection = None;
    assert!(rig.audited("<approved/>").answer().is_none(), "not yet");
    assert_eq!(outcome(&rig.wait(120_000)), "failed(sandbox_unavailable)");
    assert_eq!(rig.phase(), "pursuing");
}

#[test]
fn an_audit_that_cannot_be_prepared_opens_no_session() {
    for prepared in [
        Some(Err("no overlay".to_owned())),
        Some(Ok(Prepared {
            rung: Rung::Overlay,
            seal: Some("/seal".to_owned()),
            before: None,
        })),
    ] {
        let mut rig = pursuing();
        rig.prepared = prepared;
        let asked = rig.claims();
        assert_eq!(outcome(&asked), "failed(sandbox_unavailable)");
        assert!(!asked.brief().contains("auditor"), "{}", asked.brief());
    }
    let mut rig = pursuing();
    rig.prepared = None;
    assert!(rig.claims().answer().is_none());
    assert_eq!(outcome(&rig.wait(120_000)), "failed(sandbox_unavailable)");
}

#[test]
fn what_stops_an_audit_stops_it_while_the_workspace_is_looked_at_too() {
    for inspecting in [false, true] {
        for command in ["pause", "clear"] {
            let mut rig = watched(Rung::Fingerprint, &[], &[]);
            if inspecting {
                rig.inspection = None;
                rig.audited("<approved/>");
            } else {
                rig.prepared = None;
                rig.claims();
            }
            let asked = rig.command(command);
            assert_eq!(outcome(&asked), "aborted(command)");
            assert!(
                !asked.brief().contains("close auditor"),
                "{}",
                asked.brief()
            );
            assert_ne!(rig.phase(), "pursuing");
        }
    }
}

#[test]
fn a_look_that_comes_too_late_or_for_another_audit_is_ignored() {
    let mut rig = watched(Rung::Fingerprint, &[], &[]);
    rig.inspection = None;
    rig.audited("<approved/>");
    let audit = opened_again(&mut rig);
    let found = Inspection {
        after: workspace("after"),
        changed: Vec::new(),
        forgiven: Vec::new(),
    };
    let late = |audit| Event::WorkspaceInspected {
        audit,
        inspection: Ok(Box::new(found.clone())),
    };
    assert_eq!(rig.give(late(audit ^ 1)).brief(), "-");
    rig.command("pause");
    assert_eq!(rig.give(late(audit)).brief(), "-");
    assert_eq!(rig.phase(), "paused(user)");
}
