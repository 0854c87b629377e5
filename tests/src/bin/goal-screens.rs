//! Makes the pictures of the documentation: the real pi in a terminal, drawn as SVG.
//!
//! `cargo run -p goal-tests --bin goal-screens` writes `docs/images/*.svg` anew. Look at them.
#![allow(
    clippy::expect_used,
    reason = "a tool of this repository: it fails by saying why"
)]

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use anstyle_svg::Term;
use goal_tests::{PiOptions, Reply, Script, Tui, World, install};
use serde_json::json;

const COLUMNS: u16 = 100;
const ROWS: u16 = 30;

fn main() {
    refused_then_approved();
    stopped();
}

/// A running audit, a refusal, and the approval.
fn refused_then_approved() {
    let script = Script::new()
        .executor([
            Reply::text("I write the file.").and_call(
                "write",
                json!({ "path": "greeting.txt", "content": "helo" }),
            ),
            Reply::call(
                "update_goal",
                json!({
                    "status": "complete", "completionSummary": "greeting.txt is there",
                }),
            ),
            Reply::text("The auditor found a typo; I mend it.").and_call(
                "write",
                json!({ "path": "greeting.txt", "content": "hello" }),
            ),
            Reply::call(
                "update_goal",
                json!({
                    "status": "complete", "completionSummary": "greeting.txt now says hello",
                }),
            ),
            Reply::text("Done: greeting.txt says hello."),
        ])
        .auditor([
            Reply::call("read", json!({ "path": "greeting.txt" })),
            Reply::text("greeting.txt says `helo`, which is not `hello`.\n\n<disapproved/>")
                .held_before_end("refuse"),
            Reply::call("read", json!({ "path": "greeting.txt" })),
            Reply::text("greeting.txt says exactly `hello`.\n\n<approved/>"),
        ]);
    let tui = start(PiOptions::new(script));
    tui.submit("/goal Create greeting.txt that contains exactly: hello");
    tui.wait_screen("1 check done");
    draw("audit-running", &tui);
    tui.world().server.release("refuse");
    tui.wait_screen("Goal complete");
    draw("approved", &tui);
}

/// A goal that stopped because nothing was done.
fn stopped() {
    let script = Script::new().executor(Reply::text("Which file should I use?"));
    let tui = start(PiOptions::new(script));
    tui.submit("/goal Tidy up the notes");
    tui.wait_screen("Goal paused");
    draw("stopped", &tui);
}

fn start(options: PiOptions) -> Tui {
    let tui = Tui::start_in(Arc::new(World::new(options)), COLUMNS, ROWS, &[]);
    tui.wait_screen("executor"); // The footer is there: pi takes input.
    tui
}

fn draw(name: &str, tui: &Tui) {
    let file = folder().join(format!("{name}.svg"));
    // Where this machine happened to run it is nobody's business.
    let workspace = tui.world().workspace().display().to_string();
    let screen = tui.coloured_screen().replace(&workspace, "~/project");
    fs::write(&file, Term::new().render_svg(screen.trim_end())).expect("docs/images is writable");
    println!("{}", file.display());
}

fn folder() -> PathBuf {
    let folder = install::root().join("docs/images");
    fs::create_dir_all(&folder).expect("docs is writable");
    folder
}
