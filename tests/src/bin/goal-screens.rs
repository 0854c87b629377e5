//! Makes the pictures of the documentation: the real pi in a terminal, drawn as SVG.
//!
//! `cargo xtask screens` writes `docs/images/*.svg` anew with it. Look at them.
#![allow(
    clippy::expect_used,
    reason = "a tool of this repository: it fails by saying why"
)]

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use anstyle::{Color, RgbColor};
use anstyle_svg::Term;
use goal_tests::{Draft, PiOptions, Reply, Script, Tui, World, install};
use serde_json::json;

/// In the title of every choice of ways on.
const CHOICE: &str = "What next?";
const ROWS: u16 = 30;
/// High enough for the refusal and the approval on one screen.
const ROWS_WITH_REFUSAL: u16 = 40;

/// How wide the terminal is, and pi's theme.
#[derive(Clone, Copy)]
struct Look {
    columns: u16,
    theme: Theme,
    /// What tells its pictures' names from those of the usual look.
    suffix: &'static str,
}

#[derive(Clone, Copy)]
enum Theme {
    Dark,
    Light,
}

const USUAL: Look = Look {
    columns: 100,
    theme: Theme::Dark,
    suffix: "",
};
const OTHERS: [Look; 3] = [
    Look {
        columns: 60,
        suffix: "-60",
        ..USUAL
    },
    Look {
        columns: 140,
        suffix: "-140",
        ..USUAL
    },
    Look {
        theme: Theme::Light,
        suffix: "-light",
        ..USUAL
    },
];

fn main() {
    for look in [USUAL].into_iter().chain(OTHERS) {
        worked_and_audited(look);
        stopped(look);
    }
    asked_for(USUAL);
    held(USUAL);
}

/// The start, a run, an audit as it goes, a refusal, and the approval.
fn worked_and_audited(look: Look) {
    let tui = start(look, PiOptions::new(greeting()));
    tui.submit("/goal Create greeting.txt that contains exactly: hello");
    tui.wait_screen("● goal pursuing");
    tui.wait_screen("I write the file");
    draw("started", look, &tui);
    tui.world().server.release("start");
    tui.wait_screen("holds 4 bytes");
    tui.wait_screen("3 s of");
    draw("audit-running", look, &tui);
    tui.world().server.release("refuse");
    tui.wait_screen("I mend it");
    draw("refused", look, &tui);
    tui.world().server.release("mend");
    tui.wait_screen("Goal complete");
    tui.wait_until("rest", |screen| !screen.contains("Working"));
    tui.resize(look.columns, ROWS_WITH_REFUSAL);
    tui.wait_until("the refusal", |screen| {
        screen.contains("✗ refused") && screen.trim_end().lines().count() > usize::from(ROWS)
    });
    draw("approved", look, &tui);
}

fn greeting() -> Script {
    let write = |text: &str| json!({ "path": "greeting.txt", "content": text });
    let claim = |summary: &str| json!({ "status": "complete", "completionSummary": summary });
    let executor = [
        Reply::text("I write the file.")
            .and_call("write", write("helo"))
            .held_before_end("start"),
        Reply::call("update_goal", claim("greeting.txt is there")),
        Reply::text("The auditor found a typo; I mend it.")
            .and_call("write", write("hello"))
            .held_before_end("mend"),
        Reply::call("update_goal", claim("greeting.txt now says hello")),
        Reply::text("Done: greeting.txt says hello."),
    ];
    let refusal = "greeting.txt holds 4 bytes: `helo`, which is not `hello`.\n\n\
                   Missing: one `l`. Nothing else is wrong.\n\n<disapproved/>";
    let auditor = [
        Reply::call("read", json!({ "path": "greeting.txt" })),
        Reply::call("bash", json!({ "command": "wc -c greeting.txt" })),
        Reply::call("bash", json!({ "command": "grep -qx hello greeting.txt" })),
        Reply::text(refusal).held_before_end("refuse"),
        Reply::call("read", json!({ "path": "greeting.txt" })),
        Reply::text("greeting.txt says exactly `hello`.\n\n<approved/>"),
    ];
    Script::new().executor(executor).auditor(auditor)
}

/// A goal that stopped because nothing was done, and its ways on.
fn stopped(look: Look) {
    let script = Script::new().executor(Reply::text("Which file should I use?"));
    let tui = start(look, PiOptions::new(script));
    tui.submit("/goal Tidy up the notes");
    tui.wait_screen(CHOICE);
    draw("stopped", look, &tui);
}

/// An audit that the user asked for, of a goal at rest.
fn asked_for(look: Look) {
    let script = Script::new()
        .executor(Reply::text("I look at the notes first.").held_before_end("never"))
        .auditor([
            Reply::call("ls", json!({})),
            Reply::call(
                "bash",
                json!({ "command": "cat notes/*.md | sort | uniq -d" }),
            ),
            Reply::text(
                "Two notes still say the same: `a.md` and `b.md`.\n\n\
                 Missing: one of them has to go.\n\n<disapproved/>",
            ),
        ]);
    let options = PiOptions::new(script)
        .file("notes/a.md", "Buy milk\n")
        .file("notes/b.md", "Buy milk\n");
    let tui = start(look, options);
    tui.submit("/goal Tidy up the notes: no line twice");
    tui.wait_screen("I look at the notes first");
    tui.submit("/goal pause");
    tui.wait_screen(CHOICE);
    tui.submit("/goal audit");
    tui.wait_screen("you asked the auditor");
    tui.wait_screen(CHOICE);
    draw("asked", look, &tui);
}

/// A session with a goal, opened again.
fn held(look: Look) {
    let world = Arc::new(World::new(themed(look, PiOptions::new(Script::new()))));
    let objective = "Make the login tests pass without changing them";
    let goal =
        json!({ "objective": objective, "continuations": 7, "audits": 1, "activeMs": 754_000 });
    let session = Draft::new(&world).goal(goal).write(&world, "held");
    let flags = ["--session", session.to_str().expect("a path in UTF-8")];
    let tui = Tui::start_in(world, look.columns, ROWS, &flags);
    tui.wait_screen("○ goal on hold");
    tui.wait_screen("This session has a goal on hold");
    tui.wait_screen(CHOICE);
    draw("held", look, &tui);
}

fn start(look: Look, options: PiOptions) -> Tui {
    let world = Arc::new(World::new(themed(look, options)));
    let tui = Tui::start_in(world, look.columns, ROWS, &[]);
    tui.wait_screen("executor"); // The footer is there: pi takes input.
    tui
}

fn themed(look: Look, options: PiOptions) -> PiOptions {
    let name = match look.theme {
        Theme::Dark => "dark",
        Theme::Light => "light",
    };
    options
        .setting("theme", json!(name))
        .env("PI_TRUE_COLOR", "1") // tmux does not say that it can.
}

fn draw(name: &str, look: Look, tui: &Tui) {
    let file = folder().join(format!("{name}{}.svg", look.suffix));
    // Where this machine happened to run it is nobody's business.
    wait_whole(tui);
    let workspace = tui.world().workspace().display().to_string();
    let screen = tui.coloured_screen().replace(&workspace, "~/project");
    let picture = terminal(look.theme).render_svg(screen.trim_end());
    fs::write(&file, picture).expect("docs/images is writable");
    println!("{}", file.display());
}

/// Waits until two looks in a row find the same: pi may be in the middle of drawing.
fn wait_whole(tui: &Tui) {
    let last = RefCell::new(String::new());
    tui.wait_until("a whole screen", |screen| {
        last.replace(screen.to_owned()) == screen
    });
}

fn terminal(theme: Theme) -> Term {
    let grey = |value| Color::Rgb(RgbColor(value, value, value));
    match theme {
        Theme::Dark => Term::new().fg_color(grey(0xd4)).bg_color(grey(0x1e)),
        Theme::Light => Term::new().fg_color(grey(0x24)).bg_color(grey(0xff)),
    }
    .min_width_px(0) // A narrow terminal makes a narrow picture.
}

fn folder() -> PathBuf {
    let folder = install::root().join("docs/images");
    fs::create_dir_all(&folder).expect("docs is writable");
    folder
}
