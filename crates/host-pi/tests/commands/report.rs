//! `goal-auditor report`.

use std::fs;

use serde_json::Value;

use crate::{file, run, session, text};

#[test]
fn a_report_goes_to_standard_output_as_markdown_unless_told_otherwise() {
    let mended = session("mended");
    for (format, begins) in [
        (&[][..], "<!-- goal-auditor report -->"),
        (&["--format", "md"], "<!-- goal-auditor report -->"),
        (
            &["--format", "html"],
            "<!DOCTYPE html><!-- goal-auditor report -->",
        ),
        (
            &["--format", "json"],
            "{\n  \"kind\": \"goal-auditor report\",",
        ),
    ] {
        let said = run(&[&["report", &mended][..], format].concat());
        assert_eq!((said.code, &*said.err), (Some(0), ""), "{format:?}");
        assert!(
            said.out.starts_with(begins),
            "{format:?}: {}",
            &said.out[..80]
        );
    }
}

#[test]
fn an_output_file_has_the_form_of_its_ending_and_a_later_report_replaces_it() {
    let folder = tempfile::tempdir().unwrap();
    for ending in ["md", "html", "json"] {
        let output = text(&folder.path().join("goal").with_extension(ending));
        for name in ["many-ends", "mended"] {
            let said = run(&["report", &session(name), "--output", &output]);
            assert_eq!((said.code, &*said.out), (Some(0), ""), "{}", said.err);
            assert!(
                said.err.starts_with("Report of ") && said.err.contains(&output),
                "{}",
                said.err
            );
        }
        let written = fs::read_to_string(&output).unwrap();
        let printed = run(&["report", &session("mended"), "--format", ending]).out;
        assert_eq!(written, printed);
    }
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        3,
        "nothing else is left behind"
    );
}

#[test]
fn a_file_that_is_no_report_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let notes = file(folder.path(), "notes.md", "my notes");
    let copy = folder.path().join("session.json");
    fs::copy(session("mended"), &copy).unwrap();
    let before = fs::read_to_string(&copy).unwrap();

    let said = run(&["report", &session("mended"), "--output", &text(&notes)]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("Choose another name"), "{}", said.err);
    assert_eq!(fs::read_to_string(&notes).unwrap(), "my notes");

    // The session itself, whose texts may well speak of reports.
    let said = run(&["report", &text(&copy), "--output", &text(&copy)]);
    assert_eq!(said.code, Some(1));
    assert_eq!(fs::read_to_string(&copy).unwrap(), before);

    let said = run(&[
        "report",
        &session("mended"),
        "--format",
        "md",
        "--output",
        &text(folder.path()),
    ]);
    assert_eq!(said.code, Some(1));
}

#[test]
fn what_cannot_be_done_is_said_in_one_sentence_with_the_way_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let odd = text(&file(path, "odd.txt", "hello"));
    let header = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-11-30T12:00:00.000Z","cwd":"/"}"#;
    let empty = text(&file(path, "empty.jsonl", header));
    let mended = session("mended");
    let missing = text(&path.join("missing.jsonl"));
    let nowhere = text(&path.join("no/such/folder/goal.md"));
    let folder = text(path);
    for (arguments, words) in [
        (&[&*odd][..], "no session file of pi"),
        (&[&missing], "/session in pi shows where"),
        (&[&folder], "*.jsonl"),
        (&[&empty], "/goal and a text sets one"),
        (&[&mended, "--goal", "g-none"], "Make the CSV export"),
        (&[&mended, "--output", "goal.pdf"], "--format"),
        (&[&mended, "--output", &nowhere], "cannot write"),
    ] {
        let said = run(&[&["report"][..], arguments].concat());
        assert_eq!((said.code, &*said.out), (Some(1), ""), "{arguments:?}");
        assert!(said.err.contains(words), "{arguments:?}: {}", said.err);
        assert!(said.err.starts_with("goal-auditor: "), "{}", said.err);
    }
}

#[test]
fn only_the_goal_asked_for_is_told() {
    let session = session("many-ends");
    let all: Value =
        serde_json::from_str(&run(&["report", &session, "--format", "json"]).out).unwrap();
    let replaced = all["goals"][2]["id"].as_str().unwrap();
    let said = run(&["report", &session, "--goal", &replaced[..6]]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("Count the stars"));
    assert!(!said.out.contains("Write a poem"));
}
