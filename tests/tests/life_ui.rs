//! What the user sees, and what the user's keys, dialogs and other messages do beside a goal.

use std::sync::Arc;
use std::time::Duration;

use goal_tests::moment::{approval, claim, work};
use goal_tests::pi::QUIET;
use goal_tests::process;
use goal_tests::{
    AUDITOR, Dialogs, Draft, EXECUTOR, Mark, Moment, Notice, Pi, PiOptions, Reply, Script, Steps,
    Tui, World,
};
use serde_json::{Value, json};

fn stalling() -> PiOptions {
    PiOptions::new(Script::new().executor(Reply::text("Hm").stalled()))
}

fn about_resting(notices: &[Notice]) -> usize {
    notices
        .iter()
        .filter(|n| n.text.starts_with("The goal is "))
        .count()
}

// --- reminders ---

#[test]
fn a_run_of_the_users_own_reminds_once_a_stop_of_the_resting_goal() {
    let pi = Pi::start(PiOptions::new(Script::new()));
    let mut runs = 0;
    for typed in ["/goal Write a poem", "/goal resume"] {
        pi.server().set(EXECUTOR, Reply::text("Hm").stalled());
        let mark = pi.prompt(typed);
        runs += 1;
        pi.wait_request(EXECUTOR, runs);
        pi.prompt("/goal pause");
        pi.settled_quiet(mark);
        pi.server().set(EXECUTOR, Reply::text("Hello."));
        let mark = pi.mark();
        for _ in 0..3 {
            let mark = pi.prompt("Hello");
            runs += 1;
            pi.settled_quiet(mark);
        }
        let told = pi.notices_since(mark);
        assert!(
            told.iter().all(|n| n.text.contains("/goal resume")),
            "{told:?}"
        );
        assert_eq!(about_resting(&told), 1);
    }
    assert_eq!(
        pi.server().requests_of(EXECUTOR).len(),
        runs,
        "nothing continues"
    );
}

#[test]
fn a_run_of_the_users_own_reminds_once_of_a_held_goal() {
    let pi = Pi::start(PiOptions::new(
        Script::new().executor(Reply::text("Hello.")),
    ));
    let mark = pi.switch_session(
        &Draft::new(pi.world())
            .goal(json!({}))
            .write(pi.world(), "held"),
    );
    pi.wait_notice(mark, "on hold");
    let mark = pi.mark();
    for _ in 0..2 {
        let mark = pi.prompt("Hello");
        pi.settled_quiet(mark);
    }
    assert_eq!(about_resting(&pi.notices_since(mark)), 1);
    assert_eq!(
        pi.server().requests_of(EXECUTOR).len(),
        2,
        "nothing continues"
    );
}

// --- the model ---

#[test]
fn another_model_for_the_agent_leaves_the_auditor_as_it_was() {
    let script = Script::new()
        .executor([work().held("gate")])
        .model("other", [claim(), Reply::text("That was it.")]);
    let pi = Pi::start(PiOptions::new(script).no_config());
    let mark = pi.prompt("/goal Write a poem");
    let told = pi.wait_notice(mark, "Goal set").text;
    assert!(
        told.contains("sim/executor") && told.contains("own model"),
        "{told}"
    );
    pi.wait_request(EXECUTOR, 1);
    pi.command(json!({ "type": "set_model", "provider": "sim", "modelId": "other" }));
    let told = pi.wait_notice(mark, "auditor stays sim/executor").text;
    assert!(told.contains("/goal resume"), "{told}");
    let [look, approve] = approval();
    pi.server().push(EXECUTOR, look);
    pi.server().push(EXECUTOR, approve);
    pi.server().release("gate");
    pi.wait_notice(mark, "Goal complete");
    pi.settled_quiet(mark);
    assert_eq!(pi.session().audits()[0]["model"], "sim/executor");
    assert_eq!(pi.server().requests_of("other").len(), 2);
}

#[test]
fn another_model_is_no_news_where_the_auditor_is_set() {
    let script = Script::new()
        .executor([work().held("gate")])
        .model("other", Reply::text("Hm").stalled());
    let pi = Pi::start(PiOptions::new(script));
    let mark = pi.prompt("/goal Write a poem");
    pi.wait_request(EXECUTOR, 1);
    pi.command(json!({ "type": "set_model", "provider": "sim", "modelId": "other" }));
    pi.server().release("gate");
    pi.wait_request("other", 1);
    let told = pi.notices_since(mark);
    assert!(
        !told.iter().any(|n| n.text.contains("auditor stays")),
        "{told:?}"
    );
}

// --- dialogs ---

#[test]
fn a_dialog_left_open_hinders_nothing() {
    let pi = Pi::start(PiOptions::new(Script::new()));
    pi.answer_dialogs(Dialogs::Ignore);
    pi.server().set(
        EXECUTOR,
        [work().held("gate"), claim(), Reply::text("That was it.")],
    );
    pi.server().set(AUDITOR, Steps::of(approval()));
    let mark = pi.prompt("/goal Write a poem");
    pi.wait_request(EXECUTOR, 1);
    pi.prompt("/goal Paint a picture");
    let question = pi.wait_dialog(mark, "confirm");
    pi.server().release("gate");
    pi.wait_notice(mark, "Goal complete: Write a poem");
    pi.settled_quiet(mark);

    // An answer to a question of another session is nobody's.
    pi.new_session();
    pi.send(&json!({ "type": "extension_ui_response", "id": question["id"], "confirmed": true }));
    let asked = pi.prompt("/goal");
    pi.wait_notice(asked, "No goal is set");
    pi.quiet(QUIET);
    assert_eq!(pi.server().requests_of(EXECUTOR).len(), 3);
}

#[test]
fn a_question_open_when_pi_ends_leaves_no_process() {
    let mut pi = Pi::start(stalling());
    pi.answer_dialogs(Dialogs::Ignore);
    let mark = pi.prompt("/goal Write a poem");
    pi.wait_request(EXECUTOR, 1);
    pi.prompt("/goal Paint a picture");
    pi.wait_dialog(mark, "confirm");
    assert!(pi.close().success());
    pi.world().assert_no_process_left();
}

#[test]
fn esc_in_a_question_answers_it_and_stops_nothing() {
    let tui = Tui::start(stalling());
    tui.wait_screen("executor");
    tui.submit("/goal Write a poem");
    tui.wait_screen("● goal pursuing");
    tui.submit("/goal Paint a picture");
    tui.wait_screen("Replace the goal?");
    tui.press("Escape");
    tui.wait_until("the question to be gone", |screen| {
        !screen.contains("Replace the goal?")
    });
    tui.wait_screen("kept as it is");
    tui.wait_screen("/goal Paint a picture");
    tui.wait_screen("● goal pursuing");
    tui.press("Escape");
    tui.wait_screen("■ goal paused");
    tui.wait_screen("/goal Paint a picture");
}

// --- keys ---

#[test]
fn esc_always_reaches_pi() {
    let tui = Tui::start(Moment::options());
    tui.wait_screen("executor");
    // pi aborts a run, cancels a retry, and closes a menu, whatever the goal makes of the key.
    Moment::Streaming.reach_in_terminal(&tui, "Write a poem");
    tui.press("Escape");
    tui.wait_screen("Operation aborted");
    tui.wait_screen("■ goal paused");
    esc_closes_a_menu(&tui);
    tui.submit("/goal clear");
    tui.wait_screen("Goal cleared");
    esc_closes_a_menu(&tui);
    Moment::RetryWait.reach_in_terminal(&tui, "Paint a picture");
    tui.press("Escape");
    tui.wait_screen("Retry cancelled");
    tui.wait_screen("■ goal paused");
    tui.submit("/goal clear");
    tui.wait_screen("Goal cleared: Paint");
    Moment::BackOff.reach_in_terminal(&tui, "Sing a song");
    esc_closes_a_menu(&tui);
    tui.wait_screen("■ goal paused");
}

fn esc_closes_a_menu(tui: &Tui) {
    tui.type_text("/goal st");
    tui.wait_screen("→ status");
    tui.press("Escape");
    tui.wait_until("the menu to be gone", |screen| !screen.contains("→ status"));
    tui.press("C-u");
    tui.wait_until("an empty editor", |screen| !screen.contains("/goal st\n"));
}

/// pi in a terminal, with another interrupt key than Esc.
fn interrupted_by_control_g() -> Tui {
    let world = Arc::new(World::new(Moment::options()));
    let bindings = json!({ "app.interrupt": "ctrl+g" }).to_string();
    let written = std::fs::write(world.agent_dir().join("keybindings.json"), bindings);
    assert!(written.is_ok(), "{written:?}");
    let tui = Tui::start_in(world, 120, 40, &[]);
    tui.wait_screen("executor");
    tui
}

#[test]
fn the_key_named_beside_an_audit_is_the_users_own() {
    let tui = interrupted_by_control_g();
    Moment::Audit.reach_in_terminal(&tui, "Write a poem");
    let screen = tui.wait_screen("ctrl+g stops it");
    assert!(!screen.contains("Esc"), "{screen}");
    tui.press("C-g");
    tui.wait_screen("■ goal paused");
}

#[test]
fn the_key_the_user_has_bound_stops_a_back_off_and_no_other() {
    let tui = interrupted_by_control_g();
    Moment::BackOff.reach_in_terminal(&tui, "Write a poem");
    esc_closes_a_menu(&tui);
    assert!(tui.screen().contains("waiting after a model error"));
    tui.press("C-g");
    tui.wait_screen("■ goal paused");
}

#[test]
fn an_escape_of_the_kitty_protocol_stops_a_back_off() {
    let tui = Tui::start(Moment::options());
    tui.wait_screen("executor");
    Moment::BackOff.reach_in_terminal(&tui, "Write a poem");
    tui.type_text("\u{1b}[27u");
    tui.wait_screen("■ goal paused");
}

// --- widget, status, notices ---

fn ui_records(pi: &Pi, mark: Mark) -> Vec<Value> {
    let mut records = pi.log().since(mark);
    records.retain(|r| {
        r["method"] == "setWidget" || r["method"] == "setStatus" || r["method"] == "notify"
    });
    records
}

#[test]
fn nothing_is_redrawn_while_nothing_happens() {
    let pi = Pi::start(Moment::options());
    for moment in [
        Moment::Streaming,
        Moment::Audit,
        Moment::AuditTool,
        Moment::BackOff,
    ] {
        pi.new_session();
        moment.reach(&pi, "Write a poem");
        pi.wait_until("silence", || pi.log().silence() > QUIET);
        let mark = pi.mark();
        pi.wait_until("two seconds", || {
            pi.log().silence() > Duration::from_secs(2)
        });
        assert_eq!(ui_records(&pi, mark), Vec::<Value>::new(), "{moment:?}");
        pi.prompt("/goal pause");
        pi.quiet(QUIET);
    }
    let mark = pi.mark();
    pi.quiet(Duration::from_secs(2));
    assert_eq!(ui_records(&pi, mark), Vec::<Value>::new(), "paused");
}

#[test]
fn a_goal_at_rest_says_nothing_and_wakes_nobody() {
    let pi = Pi::start(stalling());
    let mark = pi.prompt("/goal Write a poem");
    pi.wait_request(EXECUTOR, 1);
    pi.prompt("/goal pause");
    pi.settled_quiet(mark);
    let sidecar = pi.sidecar();
    let (mark, wakings) = (pi.mark(), process::wakings(sidecar));
    assert!(wakings > 0);
    pi.quiet(Duration::from_millis(2_500));
    assert_eq!(process::wakings(sidecar), wakings);
    assert_eq!(pi.log().since(mark), Vec::<Value>::new());
}

#[test]
fn a_goal_of_a_hundred_steps_shows_a_bounded_number_of_times() {
    let pi = Pi::start(PiOptions::new(Script::new()));
    let commands: Vec<_> = (0..100).map(|_| work()).collect();
    pi.server().set(
        EXECUTOR,
        Steps::of(commands).then_repeat(Reply::text("Hm").stalled()),
    );
    let mark = pi.prompt("/goal Write a poem");
    pi.wait_request(EXECUTOR, 101);
    let shown = ui_records(&pi, mark).len();
    assert!(shown <= 6, "{shown} for one start");
}

#[test]
fn a_huge_objective_takes_two_lines_of_the_screen() {
    let objective = (1..=200)
        .map(|n| format!("{n}. Write line {n} of the poem."))
        .collect::<Vec<_>>()
        .join("\n");
    let pi = Pi::start(stalling());
    let mark = pi.prompt(&format!("/goal {objective}"));
    pi.wait_request(EXECUTOR, 1);
    let widget = pi.widget("goal").unwrap();
    assert_eq!(widget.len(), 2, "{widget:?}");
    assert!(
        widget
            .iter()
            .all(|line| line.chars().count() <= 80 && !line.contains('\n')),
        "{widget:?}"
    );
    assert!(pi.status("goal").unwrap().chars().count() <= 80);
    let told = pi.wait_notice(mark, "Goal set").text;
    assert!(told.lines().count() <= 3 && told.len() < 400, "{told}");

    let tui = Tui::start_in(Arc::new(World::new(stalling())), 60, 10, &[]);
    tui.wait_screen("executor");
    tui.paste(&format!("/goal {objective}"));
    tui.wait_screen("paste #1");
    tui.press("Enter");
    tui.wait_screen("● goal pursuing");
    tui.wait_screen("Write line 1 of the poem");
    let screen = tui.wait_until("the editor", |screen| screen.contains("────"));
    let widget = screen
        .lines()
        .skip_while(|line| !line.contains("● goal"))
        .take_while(|line| !line.contains("────"));
    assert!(widget.count() <= 2, "{screen}");
}

/// Colours, cursor movement, a title, bells, right-to-left overrides, zero-width characters.
const HOSTILE: &str = "Write \u{1b}[31;5mred\u{1b}[2J\u{1b}[H \u{1b}]0;owned\u{7} \u{9b}2J a\u{202e}cba\u{2066}x \u{200b}poem\u{feff}";

#[test]
fn a_hostile_objective_is_shown_safely_and_stored_as_it_is() {
    let pi = Pi::start(stalling());
    pi.answer_dialogs(Dialogs::No);
    let mark = pi.prompt(&format!("/goal {HOSTILE}"));
    pi.wait_request(EXECUTOR, 1);
    pi.prompt("/goal");
    pi.prompt("/goal Paint a \u{1b}[2J\u{202e}picture");
    pi.wait_dialog(mark, "confirm");
    pi.prompt("/goal pause");
    pi.quiet(QUIET);
    let records = pi.log().since(mark);
    let shown = records
        .iter()
        .filter(|r| r["type"] == "extension_ui_request" && r["method"] != "set_editor_text");
    for record in shown {
        for key in ["message", "title", "statusText", "widgetLines"] {
            let text = record[key].to_string();
            let raw: Vec<_> = [
                "\\u001b", "\\u0007", "\u{9b}", "\u{202e}", "\u{2066}", "\u{200b}", "\u{feff}",
            ]
            .into_iter()
            .filter(|code| text.contains(code))
            .collect();
            assert!(raw.is_empty(), "{raw:?} in {text}");
        }
    }
    let told = pi.wait_notice(mark, "Settings file:").text;
    let visible = ["⟦U+001B⟧[31;5mred", "a⟦U+202E⟧cba⟦U+2066⟧x"];
    assert!(visible.iter().all(|part| told.contains(part)), "{told}");
    let objectives = pi.session();
    assert_eq!(objectives.goals()[0]["objective"], HOSTILE);
}

#[test]
fn a_hostile_objective_does_no_harm_to_the_terminal() {
    let world = Arc::new(World::new(stalling()));
    let changes = json!({ "objective": HOSTILE });
    let path = Draft::new(&world).goal(changes).write(&world, "hostile");
    let tui = Tui::start_in(
        Arc::clone(&world),
        120,
        40,
        &["--session", path.to_str().unwrap()],
    );
    tui.wait_screen("○ goal on hold");
    tui.submit("/goal");
    let screen = tui.wait_screen("Settings file:");
    assert!(screen.contains("⟦U+001B⟧[31;5mred⟦U+001B⟧[2J"), "{screen}");
    assert!(
        screen.contains("Hello"),
        "the screen was not cleared: {screen}"
    );
    tui.submit("/goal resume");
    tui.wait_screen("● goal pursuing");
    assert!(tui.screen().contains("Hello"), "nor now: {}", tui.screen());
}

#[test]
fn joined_emoji_and_persian_are_shown_unchanged() {
    let objective = "Greet 👩‍💻 in می‌خواهم";
    let pi = Pi::start(stalling());
    let mark = pi.prompt(&format!("/goal {objective}"));
    let told = pi.wait_notice(mark, "Goal set").text;
    assert!(told.contains(objective), "{told}");
    assert!(pi.wait_request(EXECUTOR, 1).last_text().contains(objective));
    assert_eq!(pi.widget("goal").unwrap()[1].trim(), objective);
}

/// Half a character in what the model claims must not stay half in anything of ours.
#[test]
fn what_is_saved_is_well_formed_whatever_the_model_writes() {
    let pi = Pi::start(PiOptions::new(Script::new()));
    let half = r#"{"status":"complete","completionSummary":"half \ud83d a character"}"#;
    let long = format!("{}😀 and more", "a".repeat(7_999));
    let long = json!({ "status": "complete", "completionSummary": long }).to_string();
    pi.server().set(
        EXECUTOR,
        [
            Reply::raw_call("update_goal", half),
            Reply::raw_call("update_goal", long),
            Reply::text("That was it."),
        ],
    );
    let [look, approve] = approval();
    pi.server().set(
        AUDITOR,
        [Reply::text("Half. 😀\n<disapproved/>"), look, approve],
    );
    let mark = pi.prompt("/goal Write a poem");
    pi.wait_notice(mark, "Goal complete");
    pi.settled_quiet(mark);
    // pi keeps the model's own message as it was; what is ours can be read.
    let path = pi.state()["sessionFile"].as_str().unwrap().to_owned();
    let text = std::fs::read_to_string(path).unwrap();
    let ours = |line: &&str| line.contains("\"goal-auditor\"") || line.contains("\"toolResult\"");
    let ours: Vec<Value> = text
        .lines()
        .filter(ours)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let outcomes: Vec<_> = ours
        .iter()
        .filter_map(|entry| entry["data"]["outcome"].as_str())
        .collect();
    assert_eq!(outcomes, ["disapproved", "approved"]);
    for request in pi.server().requests_of(AUDITOR) {
        let raw = String::from_utf8(request.raw.clone()).unwrap();
        assert!(!raw.contains("\\ud83d a"), "half a character was sent");
    }
}

// --- the tools when there is nothing to do ---

#[test]
fn our_tools_after_an_approval_say_so_as_an_error() {
    let pi = Pi::start(PiOptions::new(Script::new()));
    pi.server().set(
        EXECUTOR,
        [
            claim(),
            claim(),
            Reply::call("get_goal", json!({})),
            Reply::text("That was it."),
        ],
    );
    pi.server().set(AUDITOR, Steps::of(approval()));
    let mark = pi.prompt("/goal Write a poem");
    pi.wait_notice(mark, "Goal complete");
    pi.settled_quiet(mark);
    let session = pi.session();
    assert_eq!(session.audit_outcomes(), ["approved"]);
    let errors: Vec<_> = session
        .messages("toolResult")
        .iter()
        .map(|result| result["isError"].clone())
        .collect();
    assert_eq!(errors, [json!(false), json!(true), json!(true)]);
    for typed in ["/goal pause", "/goal resume", "/goal clear"] {
        let mark = pi.prompt(typed);
        pi.wait_notice(mark, "There is no goal");
    }
}

/// pi's signal, not a word in a message, tells a stop by the user.
#[test]
fn an_answer_that_calls_itself_aborted_is_a_model_error() {
    let liar = r#"
export default function (pi) {
  pi.on("message_end", ({ message }) => {
    if (message.role === "assistant") return { message: { ...message, stopReason: "aborted" } };
  });
}"#;
    let pi = Pi::start(
        PiOptions::new(Script::new().executor(Reply::text("Hm."))).extra_extension("liar", liar),
    );
    let mark = pi.prompt("/goal Write a poem");
    let told = pi.wait_notice(mark, "The model failed").text;
    assert!(told.contains("goes on in 5 s"), "{told}");
    pi.settled_quiet(mark);
    assert_eq!(pi.session().phase(), "pursuing");
}
