//! The choice of ways on in pi's terminal: where it appears, what it does, and when it keeps away.

use std::sync::Arc;

use goal_tests::process::{self, Signal};
use goal_tests::{Draft, EXECUTOR, Moment, Pi, PiOptions, Reply, Script, Tui, World};
use serde_json::json;

const TITLE: &str = "What next?";

fn stalling() -> PiOptions {
    PiOptions::new(Script::new().executor(Reply::text("Hm").stalled()))
}

/// pi with a goal that is worked on.
fn pursuing(options: PiOptions) -> Tui {
    let tui = Tui::start(options);
    tui.wait_screen("executor");
    tui.submit("/goal Write a poem");
    tui.wait_screen("● goal pursuing");
    tui
}

/// A goal that its user paused, and its choice on the screen.
fn offered() -> Tui {
    let tui = pursuing(stalling());
    tui.submit("/goal pause");
    tui.wait_screen(TITLE);
    tui
}

fn wait_gone(tui: &Tui) {
    tui.wait_until("the choice to be gone", |screen| !screen.contains(TITLE));
}

/// Goes down to a line of the choice and takes it.
fn choose(tui: &Tui, words: &str) {
    let at = format!("→ {words}");
    while !tui.screen().contains(&at) {
        let before = tui.screen();
        tui.press("Down");
        tui.wait_until("the choice to move", |screen| screen != before);
    }
    tui.press("Enter");
}

/// The goal answers what is typed: nothing that was about to appear can still be on its way.
fn assert_stays_away(tui: &Tui, mark: &str) {
    tui.submit("/goal config");
    tui.wait_screen("maxContinuations");
    let screen = tui.screen();
    assert!(!screen.contains(TITLE), "{mark}: {screen}");
}

// What a choice does

#[test]
fn a_pause_offers_its_ways_on_and_resume_goes_on() {
    let tui = offered();
    let screen = tui.screen();
    for words in [
        "The goal is paused (by you). What next?",
        "→ Resume the goal",
        "Edit the objective",
        "Accept the work as it is",
        "Clear the goal",
        "Not now",
    ] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    choose(&tui, "Resume the goal");
    tui.wait_screen("● goal pursuing");
    assert!(!tui.screen().contains(TITLE));
}

#[test]
fn edit_opens_the_objective_and_what_was_changed_is_offered_again() {
    let tui = offered();
    choose(&tui, "Edit the objective");
    tui.wait_screen("Edit the goal's objective");
    tui.type_text(" about the sea");
    tui.press("Enter");
    tui.wait_screen("Goal changed: Write a poem about the sea");
    tui.wait_screen(TITLE);
    choose(&tui, "Resume the goal");
    tui.wait_screen("● goal pursuing");
}

#[test]
fn accept_asks_and_a_yes_ends_the_goal() {
    let tui = offered();
    choose(&tui, "Accept the work as it is");
    tui.wait_screen("Accept the goal as it is?");
    tui.press("Enter");
    tui.wait_screen("Goal accepted by you");
    assert!(!tui.screen().contains("goal paused"));
}

#[test]
fn clear_drops_the_goal() {
    let tui = offered();
    choose(&tui, "Clear the goal");
    tui.wait_screen("Goal cleared: Write a poem");
    assert!(!tui.screen().contains("goal paused"));
}

#[test]
fn not_now_and_esc_leave_everything_as_it_is() {
    let tui = offered();
    choose(&tui, "Not now");
    wait_gone(&tui);
    assert_stays_away(&tui, "after not now");
    tui.wait_screen("■ goal paused");
    tui.submit("/goal resume");
    tui.wait_screen("● goal pursuing");
    tui.submit("/goal pause");
    tui.wait_screen(TITLE);
    tui.press("Escape");
    wait_gone(&tui);
    assert_stays_away(&tui, "after Esc");
    tui.wait_screen("■ goal paused");
}

// Where it appears

#[test]
fn a_goal_on_hold_is_offered_when_its_session_is_opened() {
    let world = Arc::new(World::new(stalling()));
    let held = Draft::new(&world).goal(json!({ "objective": "Write a poem" }));
    let held = held.write(&world, "held");
    let flags = ["--session", held.to_str().unwrap()];
    let tui = Tui::start_in(Arc::clone(&world), 120, 40, &flags);
    tui.wait_screen("The goal is on hold. What next?");
    choose(&tui, "Resume the goal");
    tui.wait_screen("● goal pursuing");
    tui.wait_until("the agent to be asked", |_| {
        world.server.requests_of(EXECUTOR).len() == 1
    });
}

#[test]
fn esc_in_an_audit_cancels_it_pauses_the_goal_and_offers_the_ways_on() {
    let tui = Tui::start(Moment::options());
    tui.wait_screen("executor");
    Moment::Audit.reach_in_terminal(&tui, "Write a poem");
    tui.press("Escape");
    tui.wait_screen("– broken off");
    tui.wait_screen("The goal is paused (stopped by you). What next?");
    choose(&tui, "Clear the goal");
    tui.wait_screen("Goal cleared");
}

#[test]
fn a_stop_by_itself_names_its_ways_on_and_offers_them() {
    let script = Script::new().executor(Reply::text("Which file should I use?"));
    let tui = pursuing(PiOptions::new(script));
    let screen = tui.wait_screen("The goal is paused (no progress). What next?");
    for command in ["/goal resume", "/goal edit", "/goal accept", "/goal clear"] {
        assert!(screen.contains(command), "{command}: {screen}");
    }
}

/// Colours, a cleared screen, a title, a reversal, wide characters, joined emoji, and much of it.
fn hostile() -> String {
    let text = "Write \u{1b}[31mred\u{1b}[2J\u{1b}]0;owned\u{7} a\u{202e}cba\u{2066}x\n東京特許許可局 👩‍💻🏳️‍🌈 ";
    text.repeat(100)
}

#[test]
fn a_hostile_objective_breaks_no_frame_at_any_width() {
    for columns in [20, 50, 80, 140] {
        let world = Arc::new(World::new(stalling()));
        let held = Draft::new(&world).goal(json!({ "objective": hostile() }));
        let held = held.write(&world, "held");
        let flags = ["--session", held.to_str().unwrap()];
        let tui = Tui::start_in(Arc::clone(&world), columns, 50, &flags);
        tui.wait_screen("→ Resume the goal");
        assert_widget_fits(&tui, "○ goal", columns);
        choose(&tui, "Resume the goal");
        tui.wait_screen("● goal");
        assert_widget_fits(&tui, "● goal", columns);
    }
}

/// Two lines above the editor, and nothing of them on a third.
fn assert_widget_fits(tui: &Tui, head: &str, columns: u16) {
    let screen = tui.wait_until("the editor's place", |screen| screen.contains("────"));
    let widget: Vec<_> = screen
        .lines()
        .skip_while(|line| !line.contains(head))
        .take_while(|line| !line.contains("────") && !line.contains("Working"))
        .filter(|line| !line.trim().is_empty())
        .collect();
    assert_eq!(widget.len(), 2, "{columns}: {screen}");
    assert!(widget[1].contains("Write"), "{columns}: {screen}");
}

// The user's keys

#[test]
fn typing_closes_the_choice_and_every_key_reaches_the_editor() {
    let tui = offered();
    tui.type_text("just do it"); // The list would take j and k for its own.
    wait_gone(&tui);
    tui.wait_screen("just do it");
    tui.press("C-u");
    assert_stays_away(&tui, "after typing");
}

#[test]
fn a_paste_closes_the_choice_and_reaches_the_editor() {
    let tui = offered();
    tui.paste("a few words");
    wait_gone(&tui);
    tui.wait_screen("a few words");
}

#[test]
fn a_key_that_ends_pi_ends_pi() {
    let tui = offered();
    tui.press("C-d");
    assert_eq!(tui.wait_exit(), 0);
}

#[test]
fn whoever_has_text_in_the_editor_is_not_interrupted() {
    let script = Script::new().executor(Reply::text("Which one?").held_before_end("gate"));
    let tui = pursuing(PiOptions::new(script));
    tui.wait_screen("Which one?");
    tui.type_text("half a sentence");
    tui.wait_screen("half a sentence");
    tui.world().server.release("gate");
    tui.wait_screen("Goal paused");
    tui.type_text(", and the rest");
    let screen = tui.wait_screen("half a sentence, and the rest");
    assert!(!screen.contains(TITLE), "{screen}");
    tui.press("C-u");
    assert_stays_away(&tui, "after the editor was emptied");
}

#[test]
fn a_menu_of_pis_own_stays_open() {
    let script = Script::new().executor(Reply::text("Which one?").held_before_end("gate"));
    let tui = pursuing(PiOptions::new(script));
    tui.wait_screen("Which one?");
    tui.submit("/settings");
    tui.wait_screen("Auto-compact");
    tui.world().server.release("gate");
    tui.wait_screen("■ goal paused");
    tui.press("Down");
    let screen = tui.wait_screen("Auto-compact");
    assert!(!screen.contains(TITLE), "{screen}");
    tui.press("Escape");
    tui.wait_until("the menu to be gone", |screen| {
        !screen.contains("Auto-compact")
    });
    assert_stays_away(&tui, "after the menu");
}

// When it is taken back

/// A message of somebody else's, a while after a run has come to rest.
const KICKER: &str = r#"
import { existsSync, rmSync } from "node:fs";
export default function (pi) {
  const timer = setInterval(() => {
    if (!existsSync("kick")) return;
    rmSync("kick");
    pi.sendUserMessage("Hello");
  }, 50);
  pi.on("session_shutdown", () => clearInterval(timer));
}"#;

#[test]
fn a_run_that_starts_takes_the_choice_back_until_it_is_over() {
    let tui = pursuing(stalling().extra_extension("kicker", KICKER));
    tui.submit("/goal pause");
    tui.wait_screen(TITLE);
    let answer = Reply::text("Good day.").held_before_end("answer");
    tui.world().server.set(EXECUTOR, answer);
    tui.world().put("kick", "");
    tui.wait_screen("Good day.");
    wait_gone(&tui);
    tui.world().server.release("answer");
    tui.wait_screen(TITLE);
}

#[test]
fn a_core_that_is_lost_takes_its_choice_along_and_nothing_is_decided() {
    let tui = offered();
    process::signal(tui.sidecar(), Signal::KILL);
    wait_gone(&tui);
    tui.press("Enter"); // Whatever was about to be chosen.
    assert_stays_away(&tui, "with a new core");
    tui.wait_screen("■ goal paused (by you)");
}

// Where there is no terminal

#[test]
fn rpc_is_never_asked_to_choose() {
    let pi = Pi::start(stalling());
    let mark = pi.goal("Write a poem");
    pi.wait_request(EXECUTOR, 1);
    pi.prompt("/goal pause");
    pi.settled_quiet(mark);
    let held = Draft::new(pi.world()).goal(json!({}));
    pi.switch_session(&held.write(pi.world(), "held"));
    pi.wait_notice(mark, "on hold");
    let asked = pi.prompt("/goal");
    pi.wait_notice(asked, "Settings file");
    let records = pi.log().since(mark);
    assert!(
        records.iter().all(|record| record["method"] != "select"),
        "{records:?}"
    );
}
