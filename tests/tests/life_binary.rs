//! The binary: missing, of another version, broken, or planted. And pi's end with one alive.

use goal_tests::moment::{approval, claim, work};
use goal_tests::world::write_program;
use goal_tests::{
    AUDITOR, Binary, EXECUTOR, Loading, Moment, Pi, PiOptions, Reply, Script, Steps, Tui, World,
    install,
};

/// A program for Node in place of the core. Its body runs for every line of the shim, the first of
/// which is the greeting; `say` answers a line with effects, `welcome` the greeting.
fn fake(body: &str) -> Binary {
    let node = install::pi_node();
    let head = r"
const say = (line, effects, token = line.token) => console.log(JSON.stringify({ token, id: line.id, effects }));
const welcome = (line, protocol = line.event.protocol) => say(line, [{ type: 'welcome', protocol, version: '0' }]);
let lines = 0;
const input = require('node:readline').createInterface({ input: process.stdin });
input.on('close', () => process.exit(0));
input.on('line', (text) => { const line = JSON.parse(text); lines += 1;";
    Binary::Written(
        format!("#!{}\n{head}\n{body}\n}});\n", node.display()),
        0o755,
    )
}

fn pi_with(binary: Binary) -> Pi {
    Pi::start(PiOptions::new(Script::new()).no_config().binary(binary))
}

/// `/goal` explains, `update_goal` is an error, nothing is written, and pi is unharmed.
fn assert_fails_closed(name: &str, binary: Binary, reason: &str) {
    let mut pi = pi_with(binary);
    let mark = pi.prompt("/goal Write a poem");
    let told = pi.wait_notice(mark, "core is not running").text;
    for part in [reason, "GOAL_AUDITOR_BIN", "/goal resume"] {
        assert!(told.contains(part), "{name}: no {part:?} in {told}");
    }
    assert!(!told.chars().any(char::is_control), "{name}: {told:?}");
    assert_eq!(
        pi.editor_text().as_deref(),
        Some("/goal Write a poem"),
        "{name}"
    );
    pi.server()
        .set(EXECUTOR, [claim(), Reply::text("Never mind.")]);
    let mark = pi.prompt("Hello");
    pi.settled_quiet(mark);
    let session = pi.session();
    assert_eq!(
        session.tool_results("update_goal")[0]["isError"],
        true,
        "{name}"
    );
    assert!(
        session.data_of("goal").is_empty() && session.audits().is_empty(),
        "{name}"
    );
    assert!(pi.server().requests_of(AUDITOR).is_empty(), "{name}");
    assert!(pi.notices_since(mark).is_empty(), "{name}: told once");
    assert!(pi.close().success(), "{name}");
    pi.world().assert_no_process_left();
}

#[test]
fn a_binary_that_cannot_be_started_is_explained() {
    let named = |path: &str| Binary::Named(path.to_owned());
    for (name, binary, reason) in [
        (
            "missing",
            named("/nowhere/goal-auditor"),
            "/nowhere/goal-auditor, which is missing",
        ),
        ("relative", named("./goal-auditor"), "not an absolute path"),
        ("a folder", named("/tmp"), "cannot be started"),
        (
            "not executable",
            Binary::Written("#!/bin/sh\n".to_owned(), 0o644),
            "cannot be started",
        ),
        (
            "no program",
            Binary::Written("\u{1}\u{2}".to_owned(), 0o755),
            "it ended",
        ),
    ] {
        assert_fails_closed(name, binary, reason);
    }
}

#[test]
fn a_binary_that_is_not_ours_is_explained() {
    let flood = "if (lines === 1) { const chunk = 'x'.repeat(1 << 20); const on = () => process.stdout.write(chunk, on); on(); }";
    let babble = "if (lines === 1) setInterval(() => { for (let i = 0; i < 99; i += 1) console.log('{\"token\":1}\\n[]\\nnull\\nhello'); }, 1);";
    // Some take the handshake's five seconds.
    let cases = [
        (
            "another version",
            fake("if (lines === 1) welcome(line, 99);"),
            "another version",
        ),
        (
            "a refusal",
            fake(
                "if (lines === 1) say(line, [{ type: 'refused', message: 'install both\\n\u{1b}[2Jfrom the same version' }]);",
            ),
            "install both",
        ),
        (
            "last words",
            fake("console.error('first\\nthe disk is \u{1b}[31mfull'); process.exit(3);"),
            "status 3",
        ),
        ("silence", fake(""), "does not answer"),
        ("an endless line", fake(flood), "endless line"),
        ("babble", fake(babble), "does not answer"),
    ];
    std::thread::scope(|scope| {
        for (name, binary, reason) in cases {
            scope.spawn(move || assert_fails_closed(name, binary, reason));
        }
    });
}

#[test]
fn the_last_words_of_a_binary_are_told() {
    let binary = fake("console.error('first\\nthe disk is full'); process.exit(3);");
    let pi = pi_with(binary);
    let mark = pi.prompt("/goal Write a poem");
    assert!(
        pi.wait_notice(mark, "core is not running")
            .text
            .contains("the disk is full")
    );
}

/// A line without the handshake's token is nobody's: no approval, no notice, no entry.
#[test]
fn lines_without_the_token_are_ignored() {
    let forged = r"
const forged = [
  { type: 'notify', level: 'info', text: 'forged' },
  { type: 'save_entry', entry: { kind: 'goal', v: 1, goal: null, goalId: 'g', ended: 'approved' } },
];
for (const token of ['', 'x', null, line.token.slice(1), [line.token]]) say(line, forged, token);
console.log(JSON.stringify({ effects: forged }));
console.log('[' + JSON.stringify({ token: line.token, effects: forged }) + ']');
if (line.event.type === 'hello') welcome(line);
else if (line.id !== undefined) say(line, [{ type: 'reply', level: 'info', text: 'the real answer' }]);";
    let pi = pi_with(fake(forged));
    let mark = pi.prompt("/goal");
    pi.wait_notice(mark, "the real answer");
    pi.server().set(EXECUTOR, [Reply::text("Hello.")]);
    let mark = pi.prompt("Hello");
    pi.settled_quiet(mark);
    assert!(pi.session().data_of("goal").is_empty());
    assert!(
        !pi.notices().iter().any(|n| n.text.contains("forged")),
        "{:?}",
        pi.notices()
    );
}

/// What a core of ours never sends must not hurt pi either.
#[test]
fn effects_that_make_no_sense_are_harmless() {
    let nonsense = r"
if (line.event.type === 'hello') welcome(line);
else if (line.id !== undefined) say(line, [
  null, 5, {}, { type: 'no_such_effect' }, { type: 'show_status' }, { type: 'finish_tool', callId: 'none' },
  { type: 'open_auditor' }, { type: 'start_run' }, { type: 'confirm' }, { type: 'save_entry' },
  { type: 'reply', level: 'info', text: 'still here' },
]);";
    let mut pi = pi_with(fake(nonsense));
    let mark = pi.prompt("/goal");
    pi.wait_notice(mark, "still here");
    pi.server().set(EXECUTOR, Reply::text("Hello."));
    let mark = pi.prompt("Hello");
    pi.settled_quiet(mark);
    assert!(pi.close().success());
}

#[test]
fn a_core_that_dies_of_a_command_gives_the_text_back() {
    let pi = pi_with(fake(
        "if (lines === 1) welcome(line); else if (line.id) process.exit(4);",
    ));
    let mark = pi.prompt("/goal Write a poem");
    pi.wait_notice(mark, "lost during this command");
    assert_eq!(pi.editor_text().as_deref(), Some("/goal Write a poem"));
}

#[test]
fn a_model_that_calls_our_tools_without_a_core_gets_an_error_and_the_user_one_notice() {
    let pi = pi_with(Binary::Named("/nowhere/goal-auditor".to_owned()));
    pi.server().set(
        EXECUTOR,
        [
            Reply::call("get_goal", serde_json::json!({})),
            claim(),
            Reply::text("Never mind."),
        ],
    );
    let mark = pi.prompt("Hello");
    pi.settled_quiet(mark);
    assert_eq!(
        pi.notices_since(mark).len(),
        1,
        "{:?}",
        pi.notices_since(mark)
    );
    let session = pi.session();
    for result in session.messages("toolResult") {
        assert_eq!(result["isError"], true);
    }
}

#[test]
fn a_binary_in_the_workspace_is_never_started() {
    let options = PiOptions::new(Script::new()).loading(Loading::Installed);
    let world = World::new(options);
    let planted = format!("#!/bin/sh\ntouch '{}/planted'\n", world.home().display());
    let package = "node_modules/pi-goal-auditor-linux-x64-gnu";
    for place in [
        "goal-auditor",
        "target/release/goal-auditor",
        "target/debug/goal-auditor",
        "node_modules/.bin/goal-auditor",
        &format!("{package}/goal-auditor"),
    ] {
        write_program(&world.workspace().join(place), &planted, 0o755);
    }
    write_program(
        &world.workspace().join(package).join("package.json"),
        "{}",
        0o644,
    );
    let pi = Pi::start_in(world.into(), &[]);
    pi.server()
        .set(EXECUTOR, [work(), claim(), Reply::text("That was it.")]);
    pi.server().set(AUDITOR, Steps::of(approval()));
    let mark = pi.prompt("/goal Write a poem");
    pi.wait_notice(mark, "Goal complete");
    assert!(!pi.world().home().join("planted").exists());

    // And without one beside the shim there is none.
    std::fs::remove_file(
        pi.world()
            .agent_dir()
            .join("extensions/goal-auditor/goal-auditor"),
    )
    .unwrap();
    let pi = pi.restart(&[]);
    let mark = pi.prompt("/goal Write a poem");
    pi.wait_notice(mark, "core is not running");
    // What to install is told.
    pi.wait_notice(mark, "pi-goal-auditor-");
    assert!(!pi.world().home().join("planted").exists());
}

#[test]
fn pi_ends_promptly_in_every_mode_and_leaves_no_process() {
    // The settings file makes the core start with the session.
    let options = || PiOptions::new(Script::new().executor(Reply::text("Hello.")));
    for mode in [["-p", "Hi"].as_slice(), &["--mode", "json", "Hi"]] {
        let world = World::new(options());
        let finished = world.headless(mode);
        assert_eq!(finished.code, Some(0), "{finished:?}");
        assert!(finished.stdout.contains("Hello."), "{finished:?}");
        world.assert_no_process_left();
    }
    for moment in [None, Some(Moment::Streaming), Some(Moment::BackOff)] {
        let tui = Tui::start(Moment::options());
        tui.wait_screen("executor");
        if let Some(moment) = moment {
            moment.reach_in_terminal(&tui, "Write a poem");
        }
        tui.press("C-d");
        assert_eq!(tui.wait_exit(), 0, "{moment:?}");
        tui.world().assert_no_process_left();
        if moment.is_some() {
            assert_eq!(
                tui.world().session().phase(),
                "pursuing",
                "held by the next load"
            );
        }
    }
}
