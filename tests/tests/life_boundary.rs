//! What comes between the end of an answer and what follows it: the narrowest place of the loop.

use std::fs;
use std::time::Duration;

use goal_tests::moment::{approval, claim, work};
use goal_tests::{AUDITOR, EXECUTOR, Mark, Pi, PiOptions, Reply, Script, Steps, Tui};
use serde_json::json;

/// An extension that holds pi at the first event of that kind until the file `go` is there.
fn holder(event: &str) -> String {
    format!(
        r#"
import {{ existsSync }} from "node:fs";
export default function (pi) {{
  let held = false;
  pi.on("{event}", async (_event, ctx) => {{
    if (held) return;
    held = true;
    ctx.ui.notify("held at {event}");
    while (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 10));
  }});
}}"#
    )
}

/// Before our decision, after it, and before the boundary is reached at all.
fn places() -> [(&'static str, PiOptions); 3] {
    let plain = || PiOptions::new(Script::new());
    let later = plain().file("later.ts", &holder("agent_before_settle"));
    [
        (
            "before the decision",
            plain().extra_extension("holder", &holder("agent_before_settle")),
        ),
        ("after the decision", later.flag("-e").flag("later.ts")),
        (
            "at agent_end",
            plain().extra_extension("holder", &holder("agent_end")),
        ),
    ]
}

/// A goal whose first run has ended its answer and is held there.
fn hold(pi: &Pi) -> Mark {
    let _ = fs::remove_file(pi.world().workspace().join("go"));
    pi.new_session();
    pi.server()
        .set(EXECUTOR, [Reply::text("One line is written.")]);
    let mark = pi.prompt("/goal Write a poem");
    pi.wait_notice(mark, "held at");
    // What may follow: work, a claim, last words.
    pi.server()
        .set(EXECUTOR, [work(), claim(), Reply::text("That was it.")]);
    pi.server().set(AUDITOR, Steps::of(approval()));
    mark
}

fn go(pi: &Pi) {
    pi.world().put("go", "");
}

#[test]
fn a_stop_at_the_boundary_lets_nothing_follow() {
    for (place, options) in places() {
        let pi = Pi::start(options);
        for (typed, told, state) in [
            (
                "/goal pause",
                "Goal paused: you paused it",
                ("paused", Some("user")),
            ),
            ("/goal clear", "Goal cleared", ("none", None)),
            (
                "abort",
                "Goal paused: you stopped",
                ("paused", Some("aborted")),
            ),
        ] {
            let mark = hold(&pi);
            let requests = pi.server().requests().len();
            if typed == "abort" {
                pi.send(&json!({ "type": "abort" }));
                // The answer to the next command says that the abort has been taken.
                pi.state();
            } else {
                pi.prompt(typed);
                pi.wait_notice(mark, told);
            }
            go(&pi);
            pi.wait_notice(mark, told);
            pi.settled_quiet(mark);
            let session = pi.session();
            assert_eq!(
                (session.phase(), session.pause_reason()),
                state,
                "{typed} {place}"
            );
            assert_eq!(pi.server().requests().len(), requests, "{typed} {place}");
        }
    }
}

#[test]
fn a_new_goal_at_the_boundary_takes_over() {
    for (place, options) in places() {
        let pi = Pi::start(options);
        let mark = hold(&pi);
        pi.prompt("/goal Paint a picture");
        pi.wait_notice(mark, "Goal set: Paint a picture");
        go(&pi);
        pi.wait_notice(mark, "Goal complete: Paint a picture");
        pi.settled_quiet(mark);
        let requests = pi.server().requests_of(EXECUTOR);
        assert_eq!(requests.len(), 4, "{place}");
        assert!(
            requests[1].last_text().contains("Paint a picture"),
            "{place}: {}",
            requests[1].last_text()
        );
    }
}

#[test]
fn a_message_at_the_boundary_goes_first_and_the_goal_goes_on() {
    for (place, options) in places() {
        let pi = Pi::start(options);
        for behavior in ["steer", "followUp"] {
            let mark = hold(&pi);
            let before = pi.server().requests_of(EXECUTOR).len();
            let steps = [
                Reply::text("It will rhyme."),
                work(),
                claim(),
                Reply::text("That was it."),
            ];
            pi.server().set(EXECUTOR, Steps::of(steps));
            pi.queue("Make it rhyme", behavior);
            go(&pi);
            pi.wait_notice(mark, "Goal complete");
            pi.settled_quiet(mark);
            let requests = &pi.server().requests_of(EXECUTOR)[before..];
            let said = requests.iter().filter(|r| r.last_text() == "Make it rhyme");
            // Queued after our decision, it may share a request with the continuation.
            let shared = requests
                .iter()
                .filter(|r| r.count_in("user", "Make it rhyme") > 0);
            assert!(
                said.count() <= 1 && shared.count() > 0,
                "{behavior} {place}"
            );
            assert_eq!(
                pi.session().audit_outcomes(),
                ["approved"],
                "{behavior} {place}"
            );
        }
    }
}

#[test]
fn pause_and_resume_at_the_boundary_go_on_with_the_goal() {
    for (place, options) in places() {
        let pi = Pi::start(options);
        let mark = hold(&pi);
        pi.prompt("/goal pause");
        pi.wait_notice(mark, "Goal paused");
        pi.prompt("/goal resume");
        pi.wait_notice(mark, "Goal resumed");
        go(&pi);
        pi.wait_notice(mark, "Goal complete");
        pi.settled_quiet(mark);
        assert_eq!(pi.server().requests_of(EXECUTOR).len(), 4, "{place}");
    }
}

#[test]
fn leaving_at_the_boundary_holds_the_goal() {
    for (place, options) in places() {
        let pi = Pi::start(options);
        let mark = hold(&pi);
        let old = pi.state()["sessionFile"].as_str().unwrap().to_owned();
        let requests = pi.server().requests().len();
        pi.send(&json!({ "type": "new_session" }));
        pi.state();
        go(&pi);
        pi.wait_settled(mark);
        pi.wait_until("the new session", || {
            pi.state()["sessionFile"] != old.as_str()
        });
        pi.quiet(goal_tests::pi::QUIET);
        assert_eq!(pi.server().requests().len(), requests, "{place}");
        let mark = pi.switch_session(old.as_ref());
        let told = pi.wait_notice(mark, "Write a poem").text;
        assert!(told.contains("on hold"), "{place}: {told}");
    }
}

#[test]
fn clear_and_another_goal_in_one_breath_both_act() {
    let pi = Pi::start(PiOptions::new(
        Script::new().executor(Reply::text("Hm").stalled()),
    ));
    let mark = pi.prompt("/goal Write a poem");
    pi.wait_request(EXECUTOR, 1);
    pi.server()
        .set(EXECUTOR, [work(), claim(), Reply::text("That was it.")]);
    pi.server().set(AUDITOR, Steps::of(approval()));
    for typed in ["/goal clear", "/goal Paint a picture"] {
        pi.send(&json!({ "type": "prompt", "message": typed }));
    }
    pi.wait_notice(mark, "Goal complete: Paint a picture");
    pi.settled_quiet(mark);
    assert!(
        pi.dialogs_since(mark).is_empty(),
        "{:?}",
        pi.dialogs_since(mark)
    );
    let session = pi.session();
    let ended: Vec<_> = session
        .data_of("goal")
        .iter()
        .filter_map(|data| data["ended"].as_str())
        .collect();
    assert_eq!(ended, ["cleared", "approved"]);
    assert_eq!(pi.server().requests_of(EXECUTOR).len(), 4);
}

#[test]
fn esc_at_the_boundary_pauses_the_goal() {
    for (place, options) in places() {
        let tui = Tui::start(options);
        tui.wait_screen("executor");
        let server = &tui.world().server;
        server.set(EXECUTOR, [Reply::text("One line is written.")]);
        tui.submit("/goal Write a poem");
        tui.wait_screen("held at");
        tui.press("Escape");
        // pi takes a letter right behind it for Alt and that letter.
        goal_tests::poll(Duration::from_millis(150), || None::<()>);
        tui.type_text("x");
        tui.wait_screen("x\n");
        tui.world().put("go", "");
        tui.wait_screen("■ goal paused");
        assert_eq!(
            tui.world().session().pause_reason(),
            Some("aborted"),
            "{place}"
        );
        assert_eq!(server.requests_of(EXECUTOR).len(), 1, "{place}");
    }
}
