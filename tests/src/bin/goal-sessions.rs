//! Records the session files that the report's unit tests read: the real pi, scripted models.
//!
//! `cargo run -p goal-tests --bin goal-sessions` writes `crates/report/tests/fixtures/*.jsonl` anew,
//! without the paths of this machine. Then accept the snapshots, and read them.
#![allow(
    clippy::expect_used,
    reason = "a tool of this repository: it fails by saying why"
)]

use std::fs;
use std::path::Path;

use goal_sim::Usage;
use goal_tests::{AUDITOR, EXECUTOR, Moment, Pi, PiOptions, Reply, Script, Steps, install};
use serde_json::{Value, json};

fn main() {
    mended();
    many_ends();
}

/// A goal that is claimed too early, refused with reasons, mended, and approved.
fn mended() {
    let script = Script::new()
        .executor([
            tokens(6_100, 212, call("bash", json!({ "command": "cat export.py" }))).after_ms(900),
            tokens(6_900, 388, call("write", json!({ "path": "export.py", "content": EXPORT }))).after_ms(1_600),
            tokens(7_400, 96, call("bash", json!({ "command": "ls test_export.py" }))).after_ms(700),
            tokens(7_600, 120, Reply::text("The export quotes its fields now. Next I will add the test.")).after_ms(500),
            tokens(8_000, 60, Reply::text("I am about to add the test.")).after_ms(800),
            tokens(8_300, 140, claim("export.py quotes every field that needs it; the README says so.")).after_ms(1_100),
            tokens(9_800, 240, Reply::text("The auditor is right: there is no test yet. I add it, and the README.")
                .and_call("write", json!({ "path": "test_export.py", "content": TEST }))
                .and_call("write", json!({ "path": "README.md", "content": "# Export\n\nFields are quoted as in RFC 4180.\n" }))).after_ms(1_400),
            tokens(10_300, 80, call("bash", json!({ "command": "python3 test_export.py && echo passed" }))).after_ms(600),
            tokens(10_500, 90, claim("Quoting, a test for commas, quotes and line breaks, and the README.")).after_ms(700),
            tokens(12_000, 75, Reply::text("Done: the export quotes its fields, and a test and the README say so.")).after_ms(300),
        ])
        .auditor([
            tokens(2_900, 90, call("read", json!({ "path": "export.py" }))).after_ms(700),
            tokens(3_300, 70, call("bash", json!({ "command": "ls; python3 test_export.py" }))).after_ms(600),
            tokens(3_600, 60, call("read", json!({ "path": "README.md" }))).after_ms(500),
            tokens(4_000, 330, Reply::text(REFUSAL)).after_ms(1_500),
            tokens(3_000, 80, call("bash", json!({ "command": "python3 test_export.py && echo passed" }))).after_ms(800),
            tokens(3_300, 66, call("read", json!({ "path": "test_export.py" }))).after_ms(500),
            tokens(3_700, 64, call("read", json!({ "path": "README.md" }))).after_ms(400),
            tokens(4_100, 290, Reply::text(APPROVAL)).after_ms(1_700),
        ]);
    let pi = Pi::start(
        PiOptions::new(script)
            .cost(prices())
            .caps(json!({ "thinkingLevel": "high" }))
            .file(
                "export.py",
                "def row(fields):\n    return ','.join(fields)\n",
            ),
    );
    let mark = pi.goal("Make the CSV export quote its fields as RFC 4180 says.\n\n- fields with commas, quotes or line breaks are quoted\n- a test covers all three\n- the README says so");
    pi.wait_notice(mark, "Goal complete");
    pi.settled_quiet(mark);
    save(&pi, "mended");
}

/// Goals that stop, go on, are replaced, cleared, and end in every other way a report may meet.
fn many_ends() {
    let pi = Pi::start(
        PiOptions::new(Script::new().executor(Reply::text("Hello.")))
            .cost(prices())
            .setting("retry.enabled", json!(false))
            .caps(json!({ "maxEmptyContinuations": 2, "maxConsecutiveAuditRejections": 4 })),
    );
    let mark = pi.prompt("Hello?");
    pi.settled_quiet(mark);
    stopped_twice_then_cleared(&pi);
    failing_model_then_replaced(&pi);
    aborted_audit(&pi);
    save(&pi, "many-ends");
}

/// Talk without work, a resume, three kinds of audits without approval, and `/goal clear`.
fn stopped_twice_then_cleared(pi: &Pi) {
    play(
        pi,
        Reply::text("Which file do you mean?").into_steps(),
        Steps::default(),
    );
    let mark = pi.goal("Write hello into out.txt");
    pi.wait_paused(mark);
    let executor = [
        call("write", json!({ "path": "out.txt", "content": "helo" })),
        call("bash", json!({ "command": "false" })),
        claim("out.txt is there"),
        claim("out.txt is there, look"),
        claim("out.txt is there, really"),
        Reply::text("I have said what I could."),
    ];
    let auditor = [
        Reply::status(401, "the auditor's key was revoked"),
        call("read", json!({ "path": "out.txt" })),
        Reply::text("It may be fine."),
        Reply::text("It is probably fine."),
        call("read", json!({ "path": "out.txt" })),
        call("read", json!({ "path": "missing.txt" })),
        Reply::text("out.txt says `helo`, not `hello`.\n\n<disapproved/>"),
    ];
    play(pi, Steps::of(executor).repeat_last(), Steps::of(auditor));
    let mark = pi.goal("resume");
    pi.wait_paused(mark);
    pi.goal("clear");
}

/// An error of the model, a pause in the back-off, and another goal in its place, which is approved.
fn failing_model_then_replaced(pi: &Pi) {
    play(
        pi,
        Steps::of([Reply::status(500, "overloaded")]),
        Steps::default(),
    );
    let mark = pi.goal("Count the stars");
    pi.wait_back_off(mark);
    pi.goal("pause");
    let executor = [
        call("write", json!({ "path": "out.txt", "content": "hello" })),
        claim("out.txt says hello"),
        Reply::text("Done."),
    ];
    let auditor = [
        Reply::text("<approved/>"),
        call("read", json!({ "path": "out.txt" })),
        Reply::text("out.txt says hello.\n\n<approved/>"),
    ];
    play(pi, Steps::of(executor), Steps::of(auditor));
    let mark = pi.goal("Write hello into out.txt, this time without a typo");
    pi.wait_notice(mark, "Goal complete");
    pi.settled_quiet(mark);
}

/// A goal that still stands, paused by an abort in its audit.
fn aborted_audit(pi: &Pi) {
    let mark = Moment::Audit.reach(pi, "Write a poem");
    pi.abort();
    pi.wait_paused(mark);
}

/// In dollars per million tokens.
fn prices() -> Value {
    json!({ "input": 3.0, "output": 15.0, "cacheRead": 0.3, "cacheWrite": 3.75 })
}

fn play(pi: &Pi, executor: Steps, auditor: Steps) {
    pi.server().set(EXECUTOR, executor);
    pi.server().set(AUDITOR, auditor);
}

fn call(tool: &str, arguments: Value) -> Reply {
    Reply::call(tool, arguments)
}

fn claim(summary: &str) -> Reply {
    let arguments = json!({ "status": "complete", "completionSummary": summary });
    Reply::call("update_goal", arguments)
}

fn tokens(prompt: u64, completion: u64, reply: Reply) -> Reply {
    let cached = prompt / 2;
    reply.usage(Usage {
        prompt,
        completion,
        cached,
    })
}

/// A reply that is given again and again.
trait IntoSteps {
    fn into_steps(self) -> Steps;
}

impl IntoSteps for Reply {
    fn into_steps(self) -> Steps {
        Steps::default().then_repeat(self)
    }
}

/// Copies the session file of this pi, with the paths of this machine replaced.
fn save(pi: &Pi, name: &str) {
    let session = pi.session();
    let text = fs::read_to_string(&session.path).expect("the session file can be read");
    let world = pi.world();
    let base = world.home().parent().expect("a home is in a folder");
    let text = without(&text, base, "/home/you");
    let text = without(&text, install::root(), "/opt/goal-auditor");
    let folder = install::root().join("crates/report/tests/fixtures");
    fs::create_dir_all(&folder).expect("the folder of the fixtures can be made");
    let file = folder.join(name).with_extension("jsonl");
    fs::write(&file, text).expect("the fixture can be written");
    println!("{}", file.display());
}

fn without(text: &str, path: &Path, instead: &str) -> String {
    text.replace(&path.display().to_string(), instead)
}

const EXPORT: &str = "\
def field(text):
    if any(c in text for c in ',\"\\n'):
        return '\"' + text.replace('\"', '\"\"') + '\"'
    return text


def row(fields):
    return ','.join(field(f) for f in fields)
";

const TEST: &str = "\
from export import row

assert row(['a,b']) == '\"a,b\"'
assert row(['say \"hi\"']) == '\"say \"\"hi\"\"\"'
assert row(['two\\nlines']) == '\"two\\nlines\"'
";

const REFUSAL: &str = "\
I read export.py and ran what there is.

1. Fields with commas, quotes or line breaks are quoted: **met**. Direct evidence: `field()` in export.py covers all three.
2. A test covers all three: **not met**. There is no test file; `python3 test_export.py` fails because it does not exist.
3. The README says so: **not met**. README.md does not exist.

The claim says that the README mentions it. That is false.

<disapproved/>";

const APPROVAL: &str = "\
I ran the test myself and read it, the code and the README.

1. Fields are quoted: **met**. Direct evidence: `field()` in export.py.
2. A test covers commas, quotes and line breaks: **met**. I ran test_export.py; it passed, and each of the three has an assertion.
3. The README says so: **met**. README.md names RFC 4180.

Nothing else was changed.

<approved/>";
