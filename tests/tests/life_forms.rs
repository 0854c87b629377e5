//! What may be typed after `/goal`, and what it means.

use goal_tests::moment::{approval, claim, work};
use goal_tests::pi::QUIET;
use goal_tests::{AUDITOR, EXECUTOR, Notice, Pi, PiOptions, Reply, Script, Steps, Tui, World};
use serde_json::json;

/// A pi whose executor never finishes its answer, so that a goal stays where it is.
fn stalling() -> PiOptions {
    PiOptions::new(Script::new().executor(Reply::text("Hm").stalled()))
}

/// The answer to a command: the first notice after it.
fn answer(pi: &Pi, command: &str) -> Notice {
    let mark = pi.prompt(command);
    pi.wait_notice(mark, "")
}

fn objective(pi: &Pi) -> Option<String> {
    let session = pi.session_in_memory();
    session.goals().last()?["objective"]
        .as_str()
        .map(str::to_owned)
}

#[test]
fn the_words_mean_the_same_in_every_spelling_when_there_is_no_goal() {
    let pi = Pi::start(stalling());
    for (typed, told) in [
        ("/goal", "No goal is set"),
        ("/goal status", "No goal is set"),
        ("/goal STATUS", "No goal is set"),
        ("/goal pause", "no goal to pause"),
        ("/goal stop", "no goal to pause"),
        ("/goal STOP", "no goal to pause"),
        ("/goal off", "no goal to pause"),
        ("/goal pause \u{a0}", "no goal to pause"),
        ("/goal resume", "no goal to resume"),
        ("/goal clear", "no goal to clear"),
        ("/goal Clear", "no goal to clear"),
        ("/goal cancel", "no goal to clear"),
        ("/goal help", "/goal pause"),
        ("/goal edit", ""),
        ("/goal audit", "no goal to audit"),
        ("/goal accept", ""),
        ("/goal why", ""),
        ("/goal limit", ""),
        ("/goal Config", ""),
        ("/goal report", ""),
        ("/goal set", "Nothing to set"),
        ("/goal --", "Nothing to set"),
        ("/goal set \u{a0}\n", "Nothing to set"),
    ] {
        let told_now = answer(&pi, typed).text;
        assert!(told_now.contains(told), "{typed:?}: {told_now:?}");
    }
    assert!(pi.session_in_memory().goals().is_empty());
    assert!(pi.server().requests().is_empty());
}

#[test]
fn everything_else_is_an_objective_byte_for_byte() {
    let pi = Pi::start(stalling());
    for (typed, objective_wanted) in [
        ("/goal clear the cache", "clear the cache"),
        ("/goal set stop", "stop"),
        ("/goal SET pause", "pause"),
        ("/goal -- status", "status"),
        ("/goal --verbose output", "--verbose output"),
        ("/goal stop\nit", "stop\nit"),
        ("/goal \n\n  do X", "do X"),
        ("/goal \n\nImplement A\nand B", "Implement A\nand B"),
        ("/goal  two  spaces  inside \u{a0}", "two  spaces  inside"),
        (
            r#"/goal Fix Bob's "x" $(hostname); then `add` tests [a|b] \n ~ * !x"#,
            r#"Fix Bob's "x" $(hostname); then `add` tests [a|b] \n ~ * !x"#,
        ),
        ("/goal ship it 👩‍💻 می‌خواهم", "ship it 👩‍💻 می‌خواهم"),
        (
            "/goal tabs\tand\r\nCRLF\u{2028}stay",
            "tabs\tand\r\nCRLF\u{2028}stay",
        ),
        (
            "/goal </objective> <objective> &amp; x",
            "</objective> <objective> &amp; x",
        ),
        (
            "/goal 테스트를 모두 통과시켜 주세요",
            "테스트를 모두 통과시켜 주세요",
        ),
    ] {
        let before = pi.server().requests_of(EXECUTOR).len();
        let mark = pi.prompt(typed);
        pi.wait_notice(mark, "Goal set");
        assert_eq!(
            objective(&pi).as_deref(),
            Some(objective_wanted),
            "{typed:?}"
        );
        let request = pi.wait_request(EXECUTOR, before + 1);
        let visible = objective_wanted.replace('\u{2028}', "⟦U+2028⟧");
        assert!(
            request.last_text().contains(&visible),
            "{typed:?}: {}",
            request.last_text()
        );
        pi.prompt("/goal clear");
        pi.settled_quiet(mark);
    }
}

#[test]
fn saying_it_twice_is_friendly_and_changes_nothing() {
    let pi = Pi::start(stalling());
    let mark = pi.prompt("/goal Write a poem");
    pi.wait_request(EXECUTOR, 1);
    assert!(
        answer(&pi, "/goal resume")
            .text
            .contains("being pursued already")
    );
    pi.prompt("/goal pause");
    pi.settled_quiet(mark);
    let saved = pi.session().data_of("goal").len();
    for typed in ["/goal pause", "/goal stop", "/goal off"] {
        let told = answer(&pi, typed).text;
        assert!(
            told.contains("paused") && told.contains("already"),
            "{told}"
        );
        assert!(told.contains("/goal resume"), "{told}");
    }
    assert_eq!(
        pi.session().data_of("goal").len(),
        saved,
        "never twice the same"
    );
    assert!(answer(&pi, "/goal clear").text.contains("Goal cleared"));
    assert!(answer(&pi, "/goal clear").text.contains("no goal to clear"));
    assert!(
        answer(&pi, "/goal resume")
            .text
            .contains("no goal to resume")
    );
    pi.quiet(QUIET);
    assert_eq!(pi.server().requests_of(EXECUTOR).len(), 1);
}

#[test]
fn status_tells_how_the_goal_stands() {
    let pi = Pi::start(stalling().config(json!({
        "provider": "sim", "model": "auditor", "maxContinuations": 7,
    })));
    pi.prompt("/goal Write a poem");
    pi.wait_request(EXECUTOR, 1);
    let told = answer(&pi, "/goal").text;
    for part in [
        "pursuing",
        "Objective: Write a poem",
        "Active ",
        "continuations 0 of 7",
        "audits 0 of 20",
        "Auditor: sim/auditor",
        "maxContinuations",
        "goal-auditor.json",
    ] {
        assert!(told.contains(part), "no {part:?} in {told}");
    }
    pi.prompt("/goal pause");
    let told = answer(&pi, "/goal status").text;
    assert!(
        told.contains("paused (by you)") && told.contains("/goal resume"),
        "{told}"
    );
}

#[test]
fn an_objective_at_the_limit_is_taken_and_one_byte_more_is_refused_with_the_text_kept() {
    let pi = Pi::start(stalling());
    // 65,536 bytes, and not all of them letters of one byte.
    let fits = format!("{}\r\n{}", "a".repeat(65_536 - 2 - 400), "😀".repeat(100));
    assert_eq!(fits.len(), 65_536);
    for objective_typed in [format!("{fits}a"), "x".repeat(200_000)] {
        let typed = format!("/goal {objective_typed}");
        let told = answer(&pi, &typed);
        assert_eq!(told.level, "error");
        for part in ["65536", &objective_typed.len().to_string(), "file"] {
            assert!(told.text.contains(part), "no {part} in {}", told.text);
        }
        assert_eq!(pi.editor_text(), Some(typed));
    }
    assert!(pi.server().requests().is_empty());
    pi.prompt(&format!("/goal {fits}"));
    assert_eq!(objective(&pi), Some(fits.clone()));
    let request = pi.wait_request(EXECUTOR, 1);
    assert!(
        request.last_text().contains(&fits),
        "verbatim, without a cut"
    );
}

#[test]
fn an_objective_over_the_limit_stays_in_the_editor() {
    let tui = Tui::start(stalling());
    tui.wait_screen("executor");
    // A paste of this size is shown as a placeholder by pi; the text behind it must come back whole.
    let objective = format!("START {} END", "lorem ipsum ".repeat(6_000));
    tui.paste(&format!("/goal {objective}"));
    tui.wait_screen("paste #1");
    tui.press("Enter");
    tui.wait_screen("too long");
    tui.wait_screen("ipsum  END");
    assert!(tui.world().server.requests().is_empty());
}

/// pi itself knows a command only by the space behind its name.
#[test]
fn line_breaks_around_the_command_make_it_no_message() {
    let pi = Pi::start(stalling());
    for typed in [
        "/goal\nImplement A\nand B",
        "\n/goal Implement A\nand B",
        " \n\n /goal\tImplement A\nand B",
    ] {
        let before = pi.server().requests_of(EXECUTOR).len();
        let mark = pi.prompt(typed);
        pi.wait_notice(mark, "Goal set");
        assert_eq!(
            objective(&pi).as_deref(),
            Some("Implement A\nand B"),
            "{typed:?}"
        );
        assert!(
            pi.wait_request(EXECUTOR, before + 1)
                .last_text()
                .contains("and B")
        );
        pi.queue("/goal\nclear", "steer");
        pi.settled_quiet(mark);
        assert_eq!(pi.session().ended(), Some("cleared"), "{typed:?}");
        assert!(pi.session().messages("user").is_empty(), "{typed:?}");
    }
}

/// There pi would not wait for the goal, and its exit status would say that all is well.
#[test]
fn line_breaks_around_the_command_are_refused_without_a_user_interface() {
    for typed in ["/goal\nImplement A", "\n/goal Implement A"] {
        let world = World::new(stalling());
        let finished = world.headless(&["-p", typed]);
        assert_eq!(finished.code, Some(2), "{finished:?}");
        assert!(finished.stderr.contains("No goal was set"), "{finished:?}");
        assert!(world.server.requests().is_empty(), "{typed:?}");
    }
    let world = World::new(PiOptions::new(Script::new()));
    let steps = [work(), claim(), Reply::text("That was it.")];
    world.server.set(EXECUTOR, steps);
    world.server.set(AUDITOR, Steps::of(approval()));
    let finished = world.headless(&["-p", "/goal \nImplement A\nand B"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(
        world.server.requests()[0]
            .last_text()
            .contains("Implement A\nand B")
    );
}

#[test]
fn a_pasted_command_with_line_breaks_sets_the_goal_in_the_terminal() {
    let tui = Tui::start(stalling());
    tui.wait_screen("executor");
    tui.paste("\n/goal\n\nImplement A\nand B");
    tui.wait_screen("and B");
    tui.press("Enter");
    tui.wait_screen("Goal set: Implement A");
    tui.wait_screen("● goal pursuing");
}

#[test]
fn enter_sends_a_whole_sub_command_at_once() {
    let tui = Tui::start(stalling());
    tui.wait_screen("executor");
    tui.submit("/goal why"); // Once it is answered, the words are there to be completed.
    tui.wait_screen("No goal is set");
    tui.type_text("/goal sta");
    tui.wait_screen("→ status");
    tui.press("Tab");
    tui.wait_screen("/goal status");
    tui.press("Enter");
    tui.wait_screen("Settings file:");
    tui.submit("/goal help");
    tui.wait_screen("drop the goal");
}
