//! What a user sees in pi's terminal, at every width.

use std::sync::Arc;
use std::time::Duration;

use goal_tests::{PiOptions, Reply, Script, Tui, World, poll};
use serde_json::json;

const WIDTHS: [u16; 3] = [50, 80, 140];

/// Work, a claim, a refusal that is held until it is released, the fix, and an approval.
fn refused_then_approved() -> Script {
    let write = |text: &str| json!({ "path": "a.txt", "content": text });
    let claim = |summary: &str| json!({ "status": "complete", "completionSummary": summary });
    Script::new()
        .executor([
            Reply::call("write", write("helo")),
            Reply::call("update_goal", claim("a.txt is there")),
            Reply::call("write", write("hello")),
            Reply::call("update_goal", claim("a.txt says hello")),
            Reply::text("Done.").held_before_end("rest"),
        ])
        .auditor([
            Reply::call("read", json!({ "path": "a.txt" })),
            Reply::text("a.txt says `helo`.\n\n<disapproved/>").held_before_end("refuse"),
            Reply::call("read", json!({ "path": "a.txt" })),
            Reply::text("a.txt says `hello`.\n\n<approved/>"),
        ])
}

fn terminal(script: Script, columns: u16) -> Tui {
    let world = Arc::new(World::new(PiOptions::new(script)));
    let tui = Tui::start_in(world, columns, 40, &[]);
    tui.wait_screen("executor");
    tui
}

/// The goal's lines above the editor.
fn widget(screen: &str) -> Vec<&str> {
    let below = screen
        .lines()
        .skip_while(|line| !line.contains("◆ goal audit"));
    below.take_while(|line| !line.starts_with("──")).collect()
}

#[test]
fn an_audit_is_followed_live_and_its_verdict_understood_at_every_width() {
    for columns in WIDTHS {
        let tui = terminal(refused_then_approved(), columns);
        tui.submit("/goal Say hello in a.txt, and nothing else in there at all");
        let screen = tui.wait_screen("│ a.txt says");
        assert!(screen.contains("✓ read a.txt"), "{screen}");
        let shown = widget(&screen);
        assert_eq!(shown.len(), 2, "{shown:?} in {screen}");
        assert!(shown[0].contains("◆ goal audit · checking"), "{screen}");
        let later = tui.wait_until("the clock of the audit", |later| {
            later.contains("checking · 2 s of 15 min")
        });
        assert!(later.contains("✓ read a.txt"), "{later}");
        tui.world().server.release("refuse");
        let screen = tui.wait_screen("✓ approved");
        assert!(screen.contains("✗ refused · sim/auditor"), "{screen}");
        assert!(screen.contains("│ a.txt says `helo`."), "{screen}");
        tui.world().server.release("rest");
        let screen = tui.wait_screen("Goal complete");
        assert!(!screen.contains("● goal"), "{screen}");
    }
}

#[test]
fn a_goal_at_rest_draws_nothing() {
    let tui = terminal(Script::new().executor(Reply::text("Hm?")), 80);
    tui.submit("/goal Write a poem");
    tui.wait_screen("■ goal paused (no progress)");
    let before = tui.wait_screen("What next?");
    let changed = || Some(tui.screen()).filter(|screen| *screen != before);
    assert_eq!(poll(Duration::from_millis(2_500), changed), None);
}

#[test]
fn a_continuation_is_one_line_that_opens() {
    let script = Script::new().executor(Reply::text("Hm?"));
    let tui = terminal(script, 80);
    tui.submit("/goal Write a poem");
    let screen = tui.wait_screen("■ goal paused");
    let lines: Vec<&str> = screen
        .lines()
        .filter(|line| line.contains("[goal]"))
        .collect();
    assert!(lines[0].contains("[goal] starting · ctrl+o"), "{screen}");
    assert!(
        lines[1].contains("[goal] continuation 1 · ctrl+o"),
        "{screen}"
    );
    assert!(!screen.contains("get_goal"), "{screen}");
    tui.press("C-o");
    tui.wait_screen("update_goal");
}

#[test]
fn the_terminal_rings_when_a_goal_ends_or_stops_by_itself_and_not_for_the_user() {
    let quiet = Script::new().executor(Reply::text("Hm").stalled());
    let tui = terminal(quiet, 80);
    tui.submit("/goal Write a poem");
    tui.wait_screen("● goal pursuing");
    tui.submit("/goal pause");
    tui.wait_screen("■ goal paused (by you)");
    assert!(!tui.rang());
    let tui = terminal(Script::new().executor(Reply::text("Hm?")), 80);
    tui.submit("/goal Write a poem");
    tui.wait_screen("■ goal paused (no progress)");
    tui.wait_until("the bell", |_| tui.rang());
}
