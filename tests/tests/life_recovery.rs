//! Session files that were cut, torn, damaged, or written by somebody else.

use std::fs;

use goal_tests::draft::{self, Draft, goal_entry};
use goal_tests::moment::{approval, claim, work};
use goal_tests::pi::QUIET;
use goal_tests::{AUDITOR, Dialogs, EXECUTOR, Mark, Pi, PiOptions, Reply, Script, Session, Steps};
use serde_json::{Value, json};

fn idle_pi() -> Pi {
    Pi::start(PiOptions::new(Script::new()))
}

/// The answer to `/goal`, and what was told of the session's own accord since it was opened.
fn opened(pi: &Pi, mark: Mark) -> (String, Vec<String>) {
    pi.prompt("/goal");
    let status = pi.wait_notice(mark, "Settings file:").text;
    let told = pi.notices_since(mark).into_iter().map(|n| n.text);
    let told = told.filter(|text| *text != status).collect();
    let records = pi.log().since(mark);
    let failed = records
        .iter()
        .find(|record| record["type"] == "extension_error");
    assert_eq!(failed, None);
    (status, told)
}

#[test]
fn a_session_file_cut_anywhere_gives_the_goal_as_it_was_last_saved() {
    // A whole life: refused, worked on, paused, resumed, approved.
    let mut pi = idle_pi();
    pi.server().set(
        EXECUTOR,
        [
            Reply::text("Hello."),
            claim(),
            work(),
            Reply::text("Hm, a stop.").stalled(),
        ],
    );
    let [look, approve] = approval();
    pi.server().set(
        AUDITOR,
        [Reply::text("No poem.\n<disapproved/>"), look, approve],
    );
    let mark = pi.prompt("Hello");
    pi.settled_quiet(mark);
    let mark = pi.prompt("/goal Write a poem");
    pi.wait_request(EXECUTOR, 4);
    pi.prompt("/goal pause");
    pi.settled_quiet(mark);
    pi.server()
        .set(EXECUTOR, [claim(), Reply::text("That was it.")]);
    let mark = pi.prompt("/goal resume");
    pi.wait_notice(mark, "Goal complete");
    pi.settled_quiet(mark);
    pi.close();

    let text = fs::read_to_string(pi.session().path).unwrap();
    let lines: Vec<_> = text.lines().collect();
    let pi = pi.restart(&[]);
    let requests = pi.server().requests().len();
    let mut seen = Vec::new();
    for cut in 2..=lines.len() {
        let whole = lines[..cut].join("\n") + "\n";
        let next = lines.get(cut).copied().unwrap_or_default();
        for torn in ["", &next[..next.len() / 2]] {
            let path = draft::write(
                pi.world(),
                &format!("cut-{cut}-{}", torn.len()),
                &format!("{whole}{torn}"),
            );
            let wanted = match saved_phase(&whole) {
                "nothing saved" | "none" => "No goal is set",
                "pursuing" => "on hold",
                _ => "paused (by you)",
            };
            let mark = pi.switch_session(&path);
            let (status, told) = opened(&pi, mark);
            assert!(
                status.contains(wanted),
                "cut {cut}: {status} is not {wanted}"
            );
            assert!(
                !told.iter().any(|text| text.contains("could not be read")),
                "{told:?}"
            );
            seen.push(wanted);
        }
    }
    seen.dedup();
    assert_eq!(
        seen,
        [
            "No goal is set",
            "on hold",
            "paused (by you)",
            "on hold",
            "No goal is set"
        ]
    );
    assert_eq!(
        pi.server().requests().len(),
        requests,
        "nothing was started"
    );
}

fn saved_phase(text: &str) -> &'static str {
    let mut phase = "nothing saved";
    for line in text.lines() {
        let entry: Value = serde_json::from_str(line).unwrap_or_default();
        if entry["data"]["outcome"] == "approved" {
            phase = "none"; // The goal's own entry follows, but the approval is what ends it.
        } else if entry["customType"] == "goal-auditor" && entry["data"]["kind"] == "goal" {
            phase = match entry["data"]["goal"]["phase"].as_str() {
                None => "none",
                Some("pursuing") => "pursuing",
                Some(_) => "paused",
            };
        }
    }
    phase
}

#[test]
fn a_damaged_entry_is_skipped_with_one_diagnostic_and_the_older_one_counts() {
    let pi = idle_pi();
    let bad_goal = |changes: Value| goal_entry(&changes);
    let mut without_gate = goal_entry(&json!({}));
    without_gate["goal"].as_object_mut().unwrap().remove("gate");
    let damaged = [
        Value::Null,
        json!({}),
        json!([]),
        json!("goal"),
        json!(5),
        json!({ "v": 1 }),
        json!({ "v": "1", "kind": "goal" }),
        json!({ "v": 1, "kind": "goal" }),
        json!({ "v": 1, "kind": "goal", "goal": 5 }),
        json!({ "v": 1, "kind": "goal", "goal": "null" }),
        json!({ "v": 1, "kind": "goal", "goal": {} }),
        json!({ "v": 1, "kind": "audit", "goalId": 7 }),
        json!({ "phase": "ready", "objective": "of somebody else" }),
        bad_goal(json!({ "phase": "sleeping" })),
        bad_goal(json!({ "phase": "paused" })),
        bad_goal(json!({ "phase": "paused", "pauseReason": "tired" })),
        bad_goal(json!({ "id": null })),
        bad_goal(json!({ "id": "" })),
        bad_goal(json!({ "objective": "  " })),
        bad_goal(json!({ "objective": "x".repeat(70_000) })),
        bad_goal(json!({ "objective": ["x"] })),
        bad_goal(json!({ "generation": -1 })),
        bad_goal(json!({ "audits": "many" })),
        without_gate,
    ];
    for (index, data) in damaged.iter().enumerate() {
        let file = Draft::new(pi.world())
            .goal(json!({}))
            .ours(data.clone())
            .ours(data.clone());
        let path = file.write(pi.world(), &format!("damaged-{index}"));
        let mark = pi.switch_session(&path);
        let (status, told) = opened(&pi, mark);
        assert!(status.contains("on hold"), "{data}: {status}");
        let diagnostics = told
            .iter()
            .filter(|text| text.contains("could not be read"))
            .count();
        assert_eq!(diagnostics, 1, "{data}: {told:?}");
        assert!(
            told.iter().any(|text| text.contains("/goal resume")),
            "{data}: {told:?}"
        );
        let ours = |entry: &&Value| entry["customType"] == "goal-auditor";
        let count = Session::read(&path).entries.iter().filter(ours).count();
        assert_eq!(count, 3, "{data}: reading writes nothing");
    }
    assert!(pi.server().requests().is_empty());
}

#[test]
fn what_a_newer_version_wrote_is_left_alone() {
    let pi = idle_pi();
    pi.server().set(EXECUTOR, [Reply::text("Hello.")]);
    let mut newer = goal_entry(&json!({}));
    newer["v"] = 99.into();
    let path = Draft::new(pi.world())
        .goal(json!({}))
        .ours(newer)
        .write(pi.world(), "newer");
    let mark = pi.switch_session(&path);
    let (status, told) = opened(&pi, mark);
    assert_eq!(
        told.iter()
            .filter(|text| text.contains("newer version"))
            .count(),
        1,
        "{told:?}"
    );
    assert!(status.contains("newer version"), "{status}");
    for typed in [
        "/goal Paint a picture",
        "/goal resume",
        "/goal pause",
        "/goal clear",
    ] {
        pi.answer_dialogs(Dialogs::Yes);
        let mark = pi.prompt(typed);
        let told = pi.wait_notice(mark, "").text;
        assert!(told.contains("newer version"), "{typed}: {told}");
    }
    let mark = pi.prompt("Hello");
    pi.settled_quiet(mark);
    let session = Session::read(&path);
    assert_eq!(
        session.data_of("goal").len(),
        2,
        "nothing of ours is written"
    );
    assert_eq!(session.data_of("goal")[1]["v"], 99);
    assert_eq!(pi.server().requests().len(), 1, "only the user's own");
}

#[test]
fn a_goal_of_the_predecessor_is_audited_as_the_settings_say() {
    let pi = idle_pi();
    pi.server().set(AUDITOR, Steps::of(approval()));
    let theirs = json!({ "phase": "ready", "objective": "Sing a song" });
    let file = Draft::new(pi.world()).custom("pi-goal", theirs);
    let mark = pi.switch_session(&file.write(pi.world(), "predecessor"));
    pi.wait_notice(mark, "on hold");
    let asked = pi.prompt("/goal audit");
    pi.wait_notice(asked, "Goal complete: Sing a song");
    assert_eq!(pi.session().audits()[0]["model"], "sim/auditor");
    assert_eq!(pi.server().requests_of(EXECUTOR).len(), 0);
}

#[test]
fn a_goal_of_the_predecessor_is_held_unless_there_is_one_of_ours() {
    let pi = idle_pi();
    let theirs = |phase: &str| json!({ "phase": phase, "objective": "Sing a song" });
    let draft = || Draft::new(pi.world());
    let old = |data: Value| draft().custom("pi-goal", data);
    let gone =
        json!({ "v": 1, "kind": "goal", "goal": null, "goalId": "g-draft", "ended": "cleared" });
    for (name, file, wanted) in [
        ("ready", old(theirs("ready")), "Sing a song"),
        ("paused", old(theirs("paused")), "Sing a song"),
        ("idle", old(theirs("idle")), "No goal"),
        ("unknown", old(theirs("dreaming")), "No goal"),
        ("empty", old(json!({})), "No goal"),
        ("null", old(Value::Null), "No goal"),
        (
            "blank",
            old(json!({ "phase": "ready", "objective": " " })),
            "No goal",
        ),
        (
            "then-idle",
            old(theirs("ready")).custom("pi-goal", theirs("idle")),
            "No goal",
        ),
        (
            "ours-older",
            draft().goal(json!({})).custom("pi-goal", theirs("ready")),
            "Write a poem",
        ),
        (
            "ours-newer",
            old(theirs("ready")).goal(json!({})),
            "Write a poem",
        ),
        ("ours-gone", old(theirs("ready")).ours(gone), "No goal"),
    ] {
        let mark = pi.switch_session(&file.write(pi.world(), name));
        let asked = pi.prompt("/goal");
        let status = pi.wait_notice(asked, "").text;
        assert!(status.contains(wanted), "{name}: {status}");
        assert_eq!(
            status.contains("on hold"),
            wanted != "No goal",
            "{name}: {status}"
        );
        let notices = pi.notices_since(mark);
        let held = notices
            .iter()
            .any(|n| n.text.contains("/goal resume goes on"));
        assert_eq!(held, wanted != "No goal", "{name}: {notices:?}");
    }
    assert!(pi.server().requests().is_empty());

    // And it can be taken up.
    pi.server()
        .set(EXECUTOR, [work(), claim(), Reply::text("That was it.")]);
    pi.server().set(AUDITOR, Steps::of(approval()));
    pi.switch_session(&old(theirs("ready")).write(pi.world(), "taken-up"));
    let mark = pi.prompt("/goal resume");
    pi.wait_notice(mark, "Goal complete: Sing a song");
    pi.settled_quiet(mark);
    assert!(
        pi.wait_request(EXECUTOR, 1)
            .last_text()
            .contains("Sing a song")
    );
    assert_eq!(pi.session().ended(), Some("approved"));
}

#[test]
fn a_torn_last_line_costs_nothing_but_itself() {
    let pi = idle_pi();
    pi.server().set(EXECUTOR, Reply::text("Hm").stalled());
    let torn = r#"{"type":"custom","customType":"goal-auditor","data":{"pha"#;
    let file = Draft::new(pi.world()).goal(json!({})).torn(torn);
    let path = file.write(pi.world(), "torn");
    let mark = pi.switch_session(&path);
    let (status, told) = opened(&pi, mark);
    assert!(status.contains("on hold"), "{status}");
    assert!(
        !told.iter().any(|text| text.contains("could not be read")),
        "{told:?}"
    );
    let mark = pi.prompt("/goal Paint a picture");
    pi.wait_notice(mark, "Goal set");
    pi.wait_request(EXECUTOR, 1);
    pi.abort();
    pi.wait_notice(mark, "Goal paused");

    let pi = pi.restart(&["--session", path.to_str().unwrap()]);
    let (status, _) = opened(&pi, Mark::default());
    assert!(status.contains("paused (stopped by you)"), "{status}");
    let told = pi.wait_notice(Mark::default(), "/goal resume").text;
    assert!(told.contains("Paint a picture"), "{told}");
}

#[test]
fn totals_streaks_and_the_objection_survive() {
    let pi = idle_pi();
    let file = Draft::new(pi.world()).goal(json!({ "lastObjection": "It does not rhyme." }));
    let totals = json!({
        "activeMs": 65_000, "continuations": 5, "audits": 2, "emptyStreak": 1, "erroredStreak": 0,
        "repeatStreak": 0, "rejectionStreak": 1, "failureStreak": 0, "refusalStreak": 1, "repeatWrote": false,
    });
    let details = json!({
        "v": 1, "kind": "continuation", "goalId": "g-draft", "generation": 3, "seq": 5, "full": false,
        "totals": totals,
    });
    let file = file.entry(json!({
        "type": "custom_message", "customType": "goal-auditor", "content": "go on", "display": true,
        "details": details,
    }));
    let file = file.ours(json!({
        "v": 1, "kind": "audit", "goalId": "g-draft", "generation": 3, "number": 9,
        "outcome": "failed", "why": "timeout", "model": "sim/auditor", "checks": [],
    }));
    let mark = pi.switch_session(&file.write(pi.world(), "totals"));
    pi.wait_notice(mark, "on hold");
    let asked = pi.prompt("/goal");
    let status = pi.wait_notice(asked, "").text;
    for part in [
        "1 min 5 s",
        "continuations 5 of 100",
        "audits 3 of 20",
        "runs without work 1",
        "failed audits 1",
        "Last audit: failed (timeout) by sim/auditor",
    ] {
        assert!(status.contains(part), "no {part:?} in {status}");
    }
    pi.server()
        .set(EXECUTOR, [claim(), Reply::text("That was it.")]);
    pi.server().set(AUDITOR, Steps::of(approval()));
    let mark = pi.prompt("/goal resume");
    pi.wait_notice(mark, "Goal complete");
    pi.quiet(QUIET);
    assert!(
        pi.wait_request(EXECUTOR, 1)
            .last_text()
            .contains("It does not rhyme.")
    );
    let session = pi.session();
    assert_eq!(
        session.audits().last().unwrap()["number"],
        10,
        "numbers count over the whole life"
    );
}

/// Every stop there is: it survives, is shown with its reason, and can be left by the way it names.
#[test]
fn every_saved_stop_is_shown_with_its_reason_and_can_be_resumed() {
    let pi = idle_pi();
    let documented = fs::read_to_string(goal_tests::install::root().join("docs/stops.md")).unwrap();
    for (reason, kind, detail, told) in [
        ("user", None, None, "you paused it"),
        ("aborted", None, None, "you stopped the run"),
        ("no_progress", None, Some("Which file?"), "did no work"),
        ("repetition", None, Some("I am done."), "the same words"),
        (
            "model_errors",
            Some("context_overflow"),
            Some("too long"),
            "/compact",
        ),
        (
            "model_errors",
            Some("authentication"),
            Some("401"),
            "/login",
        ),
        ("model_errors", Some("quota"), Some("no credit"), "/model"),
        ("model_errors", Some("unknown_model"), Some("404"), "/model"),
        (
            "model_errors",
            Some("transient"),
            Some("503"),
            "in a row ended in an error",
        ),
        ("model_errors", None, None, "in a row ended in an error"),
        (
            "rejections",
            None,
            Some("It does not rhyme."),
            "the auditor refused",
        ),
        (
            "audit_failures",
            Some("timeout"),
            Some("too slow"),
            "timeoutMs",
        ),
        (
            "audit_failures",
            Some("not_yet_known"),
            None,
            "ended without approval",
        ),
        ("audit_failures", None, None, "ended without approval"),
        ("continuation_limit", None, None, "maxContinuations"),
        ("audit_limit", None, Some("It does not rhyme."), "maxAudits"),
        (
            "tools_off",
            None,
            None,
            "get_goal and update_goal are not active",
        ),
        ("core_lost", None, None, "core was lost"),
    ] {
        let name = format!("stop-{reason}-{}", kind.unwrap_or("plain"));
        assert!(
            documented.contains(&format!("`{reason}`")),
            "docs/stops.md has no {reason}"
        );
        let mut stop = json!({ "phase": "paused", "pauseReason": reason });
        stop["pauseKind"] = kind.into();
        stop["pauseDetail"] = detail.into();
        let path = Draft::new(pi.world()).goal(stop).write(pi.world(), &name);
        let mark = pi.switch_session(&path);
        let (status, opening) = opened(&pi, mark);
        for part in [
            "Goal paused: ",
            told,
            "/goal resume",
            "/goal clear",
            detail.unwrap_or_default(),
        ] {
            assert!(status.contains(part), "{name}: no {part:?} in {status}");
        }
        assert!(
            opening[0].contains("paused (") && opening[0].contains("/goal resume"),
            "{name}: {opening:?}"
        );
        assert!(
            pi.status("goal")
                .is_some_and(|line| line.contains("paused (")),
            "{name}"
        );

        let before = pi.server().requests_of(EXECUTOR).len();
        pi.server().set(EXECUTOR, Reply::text("Hm").stalled());
        let mark = pi.prompt("/goal resume");
        pi.wait_request(EXECUTOR, before + 1);
        pi.prompt("/goal clear");
        pi.settled_quiet(mark);
    }
}
