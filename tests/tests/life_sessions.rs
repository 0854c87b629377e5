//! Sessions that are left, forked, moved about in, and opened again: a goal is held, never paused
//! by that, and never started by anybody but its user.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use goal_tests::moment::{approval, claim, work};
use goal_tests::pi::QUIET;
use goal_tests::{
    AUDITOR, EXECUTOR, Mark, Moment, Pi, PiOptions, Reply, Script, Session, Steps, Tui, World,
    process,
};
use serde_json::json;

/// Commands for what RPC has no command of its own for.
const MOVES: &str = r#"
export default function (pi) {
  pi.registerCommand("jump", { handler: async (args, ctx) => { await ctx.navigateTree(args.trim(), {}); } });
  pi.registerCommand("renew", { handler: async (_args, ctx) => { await ctx.reload(); } });
}"#;

/// Longer than the first back-off.
const PAST_THE_BACK_OFF: Duration = Duration::from_millis(5_300);

const OBJECTIVE: &str = "Write a poem";

/// Moments of every kind: a model that talks, a tool, an audit, and the three waits.
const MOMENTS: [Moment; 6] = [
    Moment::Streaming,
    Moment::Tool,
    Moment::AuditTool,
    Moment::RetryWait,
    Moment::CompactionInRun,
    Moment::BackOff,
];

fn options() -> PiOptions {
    Moment::options().extra_extension("moves", MOVES)
}

/// A message and its answer: only with the first does pi write the session file.
fn hello(pi: &Pi) {
    pi.server().set(EXECUTOR, [Reply::text("Hello.")]);
    let mark = pi.prompt("Hello");
    pi.settled_quiet(mark);
}

fn an_easy_goal(world: &World) {
    let steps = [work(), claim(), Reply::text("That was it.")];
    world.server.set(EXECUTOR, steps);
    world.server.set(AUDITOR, Steps::of(approval()));
    world.server.set_compaction(Reply::text("A summary."));
}

/// The goal of this session file was left as it was: pursued, and never paused.
fn assert_left_alone(session: &Session, moment: Moment) {
    let phases = session.goals();
    assert!(!phases.is_empty(), "{moment:?}");
    let pursued = phases.iter().all(|goal| goal["phase"] == "pursuing");
    assert!(pursued, "{moment:?}: no entry says otherwise");
    let torn = session.audit_outcomes();
    assert!(
        torn.iter().all(|outcome| *outcome == "aborted"),
        "{moment:?}: {torn:?}"
    );
}

/// What an opened session with a goal says and does: a notice, nothing else, and it can be resumed.
fn assert_held_and_resumable(pi: &Pi, mark: Mark, moment: Moment) {
    let requests = pi.server().requests().len();
    let told = pi.wait_notice(mark, "on hold").text;
    assert!(
        told.contains(OBJECTIVE) && told.contains("/goal resume"),
        "{told}"
    );
    pi.quiet(QUIET);
    assert_eq!(
        pi.server().requests().len(),
        requests,
        "{moment:?}: nothing runs"
    );
    assert_eq!(pi.status("goal").as_deref(), Some("goal: on hold"));
    an_easy_goal(pi.world());
    let mark = pi.prompt("/goal resume");
    pi.wait_notice(mark, "Goal complete");
    pi.settled_quiet(mark);
    let first = &pi.server().requests()[requests];
    assert!(
        first.is_compaction() || first.last_text().contains(OBJECTIVE),
        "{moment:?}"
    );
}

#[test]
fn another_session_holds_the_goal_and_has_none_itself() {
    let pi = Pi::start(options());
    for moment in MOMENTS {
        moment.reach(&pi, OBJECTIVE);
        let old = pi.session().path;
        let requests = pi.server().requests().len();
        let mark = pi.new_session();
        assert_eq!(
            (pi.status("goal"), pi.widget("goal")),
            (None, None),
            "{moment:?}"
        );
        pi.quiet(QUIET);
        assert_eq!(
            pi.server().requests().len(),
            requests,
            "{moment:?}: nothing goes on"
        );
        assert_left_alone(&Session::read(&old), moment);

        // A run of the new session neither continues nor writes anything.
        hello(&pi);
        assert!(pi.session().data_of("goal").is_empty(), "{moment:?}");
        let told = pi.notices_since(mark);
        assert!(
            told.iter().all(|n| !n.text.to_lowercase().contains("goal")),
            "{told:?}"
        );
        let mark = pi.switch_session(&old);
        assert_held_and_resumable(&pi, mark, moment);
        pi.new_session();
    }
}

#[test]
fn a_pi_that_is_ended_holds_the_goal() {
    for (moment, by_signal) in [
        (Moment::Streaming, false),
        (Moment::Tool, true),
        (Moment::AuditTool, true),
        (Moment::Audit, false),
        (Moment::BackOff, true),
    ] {
        let mut pi = Pi::start(options());
        moment.reach(&pi, OBJECTIVE);
        // An auditor whose shell pi kills on SIGTERM may ask once more before it is aborted.
        let requests = pi.server().requests_of(EXECUTOR).len();
        if by_signal {
            assert_eq!(pi.terminate().code(), Some(143), "{moment:?}");
        } else {
            assert_eq!(pi.close().code(), Some(0), "{moment:?}");
        }
        pi.world().assert_no_process_left();
        assert_eq!(
            pi.server().requests_of(EXECUTOR).len(),
            requests,
            "{moment:?}"
        );
        assert_left_alone(&pi.session(), moment);
        if moment.is_audit() {
            let pi = pi.restart(&["--continue"]);
            assert_held_and_resumable(&pi, Mark::default(), moment);
            let told = pi.notices();
            assert!(!told.iter().any(|n| n.text.contains("cut off")), "{told:?}");
        }
    }
}

#[test]
fn a_killed_pi_holds_the_goal_and_a_lost_audit_is_told() {
    for moment in [Moment::Streaming, Moment::Audit, Moment::BackOff] {
        let mut pi = Pi::start(options());
        hello(&pi);
        moment.reach(&pi, OBJECTIVE);
        let sidecar = pi.sidecar();
        pi.kill();
        pi.wait_until("the sidecar's end", || !process::lives(sidecar));
        let pi = pi.restart(&["--continue"]);
        assert_held_and_resumable(&pi, Mark::default(), moment);
        let told = pi.notices();
        let lost = told.iter().filter(|n| n.text.contains("cut off"));
        assert_eq!(
            lost.count(),
            usize::from(moment.is_audit()),
            "{moment:?}: {told:?}"
        );
        assert_eq!(pi.session().audit_outcomes(), ["approved"], "{moment:?}");
    }
}

#[test]
fn a_paused_goal_stays_paused_and_an_ended_one_stays_away() {
    let mut pi = Pi::start(options());
    let mark = Moment::Streaming.reach(&pi, OBJECTIVE);
    pi.prompt("/goal pause");
    pi.settled_quiet(mark);
    pi.close();
    let mut pi = pi.restart(&["--continue"]);
    let told = pi.wait_notice(Mark::default(), "/goal resume").text;
    assert!(told.contains("paused (by you)"), "{told}");
    pi.prompt("/goal clear");
    pi.close();
    let pi = pi.restart(&["--continue"]);
    let mark = pi.prompt("/goal");
    pi.wait_notice(mark, "No goal is set");
    assert_eq!(pi.notices().len(), 1, "{:?}", pi.notices());
    let mark = pi.prompt("/goal resume");
    pi.wait_notice(mark, "no goal to resume");
    assert_eq!(pi.server().requests().len(), 1);
}

#[test]
fn from_session_to_session_and_back_the_goal_stays_where_it_was() {
    let pi = Pi::start(options());
    hello(&pi);
    let b = pi.session().path;
    pi.new_session();
    Moment::Streaming.reach(&pi, OBJECTIVE);
    let a = pi.session().path;
    let before = std::fs::read(&b).unwrap();
    pi.switch_session(&b);
    pi.quiet(QUIET);
    assert_eq!(pi.status("goal"), None);
    assert_eq!(
        std::fs::read(&b).unwrap(),
        before,
        "nothing is written into it"
    );
    let mark = pi.switch_session(&a);
    pi.wait_notice(mark, "on hold");
    pi.switch_session(&b);
    let mark = pi.switch_session(&a);
    pi.sidecar();
    assert_held_and_resumable(&pi, mark, Moment::Streaming);
}

#[test]
fn a_fork_from_before_the_goal_has_none_and_a_clone_holds_it() {
    let pi = Pi::start(options());
    for moment in [Moment::Streaming, Moment::Audit, Moment::BackOff] {
        pi.new_session();
        hello(&pi);
        let user = pi.session_in_memory().user_ids()[0].clone();
        moment.reach(&pi, OBJECTIVE);
        let old = pi.session().path;
        let requests = pi.server().requests().len();
        pi.fork(&user);
        pi.quiet(QUIET);
        assert_eq!(pi.status("goal"), None);
        assert!(pi.session_in_memory().goals().is_empty());
        assert_eq!(pi.server().requests().len(), requests, "{moment:?}");
        assert_left_alone(&Session::read(&old), moment);
        pi.switch_session(&old);
        let mark = pi.mark();
        pi.command(json!({ "type": "clone" }));
        assert_ne!(pi.session().path, old);
        pi.sidecar();
        assert_held_and_resumable(&pi, mark, moment);
        assert_left_alone(&Session::read(&old), moment);
    }
}

#[test]
fn moving_in_the_tree_takes_the_goal_of_the_place_one_lands_at() {
    let pi = Pi::start(options());
    hello(&pi);
    let before = pi.session_in_memory().last_id();
    let mark = Moment::BackOff.reach(&pi, OBJECTIVE);
    pi.settled_quiet(mark);
    let with = pi.session_in_memory().last_id();
    let requests = pi.server().requests_of(EXECUTOR).len();

    let mark = pi.prompt(&format!("/jump {before}"));
    pi.wait_until("no goal is shown", || pi.status("goal").is_none());
    let none = pi.prompt("/goal resume");
    pi.wait_notice(none, "no goal to resume");
    assert!(
        !pi.notices_since(mark)
            .iter()
            .any(|n| n.text.contains("on hold"))
    );

    let mark = pi.prompt(&format!("/jump {with}"));
    pi.wait_notice(mark, "on hold");
    pi.quiet(PAST_THE_BACK_OFF);
    assert_eq!(
        pi.server().requests_of(EXECUTOR).len(),
        requests,
        "holding cancels the back-off"
    );
    assert_held_and_resumable(&pi, mark, Moment::BackOff);
}

/// pi leaves the place of a run alone; whatever it answers, the goal goes on.
#[test]
fn moving_in_the_tree_in_a_run_changes_nothing() {
    let pi = Pi::start(options());
    hello(&pi);
    let before = pi.session_in_memory().last_id();
    for moment in [Moment::Streaming, Moment::AuditTool, Moment::RetryWait] {
        moment.reach(&pi, OBJECTIVE);
        let mark = pi.prompt(&format!("/jump {before}"));
        pi.wait_event(mark, "extension_error");
        let asked = pi.prompt("/goal");
        let told = pi.wait_notice(asked, "Settings file:").text;
        assert!(
            told.contains("pursuing") || told.contains("audit running"),
            "{told}"
        );
        pi.prompt("/goal clear");
        pi.quiet(QUIET);
    }
}

#[test]
fn a_reload_holds_the_goal_and_leaves_one_sidecar() {
    let pi = Pi::start(options());
    Moment::BackOff.reach(&pi, OBJECTIVE);
    let old = pi.sidecar();
    let mark = pi.prompt("/renew");
    pi.wait_notice(mark, "on hold");
    pi.wait_until("the old sidecar's end", || !process::lives(old));
    assert_ne!(pi.sidecar(), old);
    assert_left_alone(&pi.session(), Moment::BackOff);
    pi.quiet(PAST_THE_BACK_OFF);
    assert_held_and_resumable(&pi, mark, Moment::BackOff);
}

/// pi refuses to reload in a run.
#[test]
fn a_reload_in_a_run_changes_nothing() {
    let pi = Pi::start(options());
    for moment in [Moment::Streaming, Moment::AuditTool] {
        pi.new_session();
        moment.reach(&pi, OBJECTIVE);
        let sidecar = pi.sidecar();
        let mark = pi.prompt("/renew");
        pi.wait_event(mark, "extension_error");
        assert_eq!(pi.sidecar(), sidecar);
        let told = pi.prompt("/goal");
        let told = pi.wait_notice(told, "").text;
        assert!(
            told.contains("pursuing") || told.contains("audit running"),
            "{told}"
        );
    }
}

#[test]
fn a_reload_in_the_terminal_holds_the_goal() {
    let tui = Tui::start(options());
    tui.wait_screen("executor");
    Moment::BackOff.reach_in_terminal(&tui, OBJECTIVE);
    tui.submit("/reload");
    tui.wait_screen("goal on hold");
    tui.wait_screen("/goal resume");
    an_easy_goal(tui.world());
    tui.submit("/goal resume");
    tui.wait_screen("Goal complete");
    let sidecars = || {
        let all = tui.world().processes();
        all.iter().filter(|process| process.is_sidecar()).count()
    };
    assert_eq!(sidecars(), 1);
}

#[test]
fn a_child_that_inherits_the_session_file_does_not_start_the_goal() {
    let pi = Pi::start(options());
    hello(&pi);
    Moment::Streaming.reach(&pi, OBJECTIVE);
    let file: PathBuf = pi.session().path;
    pi.server().set(EXECUTOR, [Reply::text("I am the child.")]);
    let child = Pi::start_in(
        Arc::clone(pi.world()),
        &["--session", file.to_str().unwrap()],
    );
    let mark = child.prompt("Who are you?");
    child.wait_notice(mark, "The goal is on hold");
    child.wait_settled(mark);
    // The parent's own request stays open, so only the child's silence tells.
    child.wait_until("silence", || child.log().silence() > QUIET);
    assert_eq!(
        pi.server().requests_of(EXECUTOR).len(),
        3,
        "its own request and no more"
    );
    assert_eq!(child.status("goal").as_deref(), Some("goal: on hold"));
    let reminded = child
        .notices()
        .iter()
        .filter(|n| n.text.contains("/goal resume"))
        .count();
    assert!((1..=2).contains(&reminded), "{:?}", child.notices());
}

#[test]
fn nothing_of_ours_is_written_into_a_session_without_a_goal() {
    let pi = Pi::start(PiOptions::new(
        Script::new().executor(Reply::text("Hello.")),
    ));
    let mark = pi.prompt("Hello");
    pi.settled_quiet(mark);
    let session = pi.session();
    assert!(
        !session
            .entries
            .iter()
            .any(|entry| entry["customType"] == "goal-auditor")
    );
    assert!(pi.notices().is_empty(), "{:?}", pi.notices());
}
