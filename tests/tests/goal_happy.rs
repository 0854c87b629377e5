//! The whole path on the real pi: a goal is set, worked on, audited and completed.

use goal_tests::{AUDITOR, EXECUTOR, Pi, PiOptions, Reply, Script};
use serde_json::json;

#[test]
fn a_goal_is_worked_on_audited_and_completed() {
    let script = Script::new()
        .executor([
            Reply::call("write", json!({ "path": "out.txt", "content": "hello" })),
            Reply::call(
                "update_goal",
                json!({ "status": "complete", "completionSummary": "out.txt is there" }),
            ),
            Reply::text("All done."),
        ])
        .auditor([
            Reply::call("read", json!({ "path": "out.txt" })),
            Reply::text("out.txt holds hello.\n<approved/>"),
        ]);
    let pi = Pi::start(PiOptions::new(script));
    let mark = pi.prompt("/goal Write hello into out.txt");
    pi.settled_quiet(mark);

    let session = pi.session();
    assert_eq!(session.audit_outcomes(), ["approved"]);
    assert_eq!(session.ended(), Some("approved"));
    assert_eq!(pi.server().requests_of(EXECUTOR).len(), 3);
    assert_eq!(pi.server().requests_of(AUDITOR).len(), 2);
    pi.wait_notice(mark, "Goal complete");
}
