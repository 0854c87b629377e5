//! The choice of ways on, where a goal came to rest in a terminal.

use goal_engine::{Effect, Event, OpenCause, PauseReason, Phase, Stop, WayOn};

use crate::rig::{Asked, LONG_REPLY, Rig, branch_with, saved_goal};

const ALL: [WayOn; 5] = [
    WayOn::Resume,
    WayOn::Edit,
    WayOn::Accept,
    WayOn::Clear,
    WayOn::NotNow,
];

fn pursuing() -> Rig {
    let mut rig = Rig::at_terminal();
    rig.pursue("old");
    rig
}

/// A goal paused by the user, and its offer.
fn paused() -> (Rig, u64) {
    let mut rig = pursuing();
    rig.command("pause");
    let (ticket, _) = rig.settled(true, true).offered().expect("an offer");
    (rig, ticket)
}

fn opened_with(phase: Phase) -> (Rig, Asked) {
    let mut rig = Rig::at_terminal();
    let asked = rig.open(OpenCause::Start, branch_with(saved_goal(phase)));
    (rig, asked)
}

fn withdraws(asked: &Asked, offer: u64) -> bool {
    asked.contains(&Effect::Withdraw { ticket: offer })
}

// When it is made

#[test]
fn a_pause_is_offered_its_ways_on_when_the_host_is_at_rest_and_not_before() {
    let mut rig = pursuing();
    assert_eq!(rig.command("pause").offered(), None, "the run still ends");
    let (_, ways) = rig.settled(true, true).offered().expect("an offer");
    assert_eq!(ways, ALL);
}

#[test]
fn a_stop_at_the_settle_boundary_is_offered_once_the_run_rests() {
    let mut rig = pursuing();
    rig.ends_saying(LONG_REPLY);
    rig.ends_saying(LONG_REPLY);
    let asked = rig.ends_saying(LONG_REPLY);
    assert!(rig.phase().starts_with("paused"), "{}", rig.phase());
    assert!(asked.offered().is_some());
}

#[test]
fn an_aborted_run_is_offered_when_the_grace_is_over() {
    let mut rig = pursuing();
    assert_eq!(rig.settled(true, false).offered(), None);
    assert!(rig.wait(250).offered().is_some());
}

#[test]
fn a_goal_at_rest_is_offered_when_its_session_is_opened() {
    let (_, asked) = opened_with(Phase::Held);
    assert!(asked.told().contains("on hold"));
    assert_eq!(asked.offered().expect("an offer").1, ALL);
    let (_, asked) = opened_with(Phase::Paused(Stop {
        reason: PauseReason::User,
        detail: None,
    }));
    assert!(asked.offered().is_some());
}

#[test]
fn only_a_terminal_is_offered_anything() {
    let mut rig = Rig::new();
    let asked = rig.open(OpenCause::Start, branch_with(saved_goal(Phase::Held)));
    assert_eq!(asked.offered(), None);
    rig.command("resume");
    rig.run_starts();
    rig.command("pause");
    assert_eq!(rig.settled(true, true).offered(), None);
}

#[test]
fn resume_is_offered_only_where_nothing_else_must_be_done_first() {
    use goal_engine::PauseReason as P;
    for (reason, resumes) in [
        (P::User, true),
        (P::Aborted, true),
        (P::NoProgress, true),
        (P::ContinuationLimit, true),
        (P::CoreLost, true),
        (P::ToolsOff, false),
        (reason("model_errors", "transient"), true),
        (reason("model_errors", "context_overflow"), false),
        (reason("model_errors", "authentication"), false),
        (reason("model_errors", "quota"), false),
        (reason("model_errors", "unknown_model"), false),
    ] {
        let (_, asked) = opened_with(Phase::Paused(Stop {
            reason: reason.clone(),
            detail: None,
        }));
        let (_, ways) = asked.offered().expect("an offer");
        assert_eq!(ways.contains(&WayOn::Resume), resumes, "{reason:?}");
        assert!(ways.ends_with(&ALL[1..]), "{reason:?}");
    }
}

fn reason(name: &str, kind: &str) -> PauseReason {
    PauseReason::from_saved(name, Some(kind)).expect("a reason")
}

#[test]
fn nothing_is_offered_twice_for_one_stop() {
    let (mut rig, ticket) = paused();
    assert_eq!(rig.choose(ticket, WayOn::NotNow).brief(), "-");
    rig.give(Event::UserMessage);
    rig.run_starts();
    assert_eq!(rig.ends_saying("hello").offered(), None);
    assert_eq!(rig.command("status").offered(), None);
}

#[test]
fn an_open_question_goes_first() {
    let mut rig = pursuing();
    let question = rig.command("another goal").ticket().expect("a question");
    rig.command("pause");
    assert_eq!(rig.settled(true, true).offered(), None);
    assert!(rig.answer_question(question, false).offered().is_some());
}

#[test]
fn a_resting_goal_that_was_edited_is_offered_again() {
    let (mut rig, ticket) = paused();
    let editor = rig.choose(ticket, WayOn::Edit).ticket().expect("an editor");
    let asked = rig.saves_edit(editor, Some("new"));
    assert!(asked.told().contains("still rests"), "{}", asked.told());
    assert!(asked.offered().is_some());
}

#[test]
fn the_users_audit_of_a_resting_goal_is_followed_by_its_ways_on() {
    let (mut rig, ticket) = paused();
    let asked = rig.command("audit");
    assert!(withdraws(&asked, ticket));
    let audit = asked.opened().expect("an auditor").audit;
    let asked = rig.auditor_says(audit, "No.\n<disapproved/>");
    assert!(asked.told().contains("as before"), "{}", asked.told());
    assert!(asked.offered().is_some());
}

#[test]
fn an_audit_stopped_by_the_user_is_followed_by_its_ways_on() {
    let (mut rig, _) = paused();
    rig.command("audit");
    let asked = rig.give(Event::Interrupt);
    assert!(asked.told().contains("The audit was stopped"));
    assert!(asked.offered().is_some());
}

// When it is taken back

#[test]
fn a_run_takes_the_offer_back_and_leaves_it_due() {
    let (mut rig, ticket) = paused();
    assert!(withdraws(&rig.run_starts(), ticket));
    assert!(
        rig.ends_saying("hello").offered().is_some(),
        "nobody answered it"
    );
}

#[test]
fn whatever_ends_the_stop_takes_the_offer_back() {
    for typed in ["resume", "clear"] {
        let (mut rig, ticket) = paused();
        let asked = rig.command(typed);
        assert!(withdraws(&asked, ticket), "{typed}");
        assert_eq!(asked.offered(), None, "{typed}");
    }
}

#[test]
fn a_compaction_takes_the_offer_back_until_it_ends() {
    let (mut rig, ticket) = paused();
    assert!(withdraws(&rig.give(Event::CompactionStarted), ticket));
    assert!(
        rig.compaction_ends(|ended| ended.idle = true)
            .offered()
            .is_some()
    );
}

#[test]
fn a_session_that_is_left_is_offered_nothing() {
    let (mut rig, _) = paused();
    let asked = rig.give(Event::SessionLeft);
    assert_eq!(asked.brief(), "-");
    let mut rig = pursuing();
    assert_eq!(rig.give(Event::SessionLeft).offered(), None);
}

// What an answer does

#[test]
fn a_choice_does_what_the_typed_command_does() {
    for (way, command) in [
        (WayOn::Resume, "resume"),
        (WayOn::Edit, "edit"),
        (WayOn::Accept, "accept"),
        (WayOn::Clear, "clear"),
    ] {
        let (mut rig, ticket) = paused();
        let chosen = rig.choose(ticket, way);
        let (mut rig, _) = paused();
        let typed = rig.command(command);
        let without = |asked: &Asked| asked.brief().replace(", withdraw", "");
        assert_eq!(without(&chosen), without(&typed), "{command}");
    }
}

#[test]
fn an_answer_to_an_offer_that_was_taken_back_is_nobodys() {
    let (mut rig, ticket) = paused();
    rig.run_starts();
    assert_eq!(rig.choose(ticket, WayOn::Clear).brief(), "-");
    rig.ends_saying("hello");
    assert_eq!(rig.choose(ticket, WayOn::Clear).brief(), "-");
    assert!(rig.engine.goal().is_some());
}
