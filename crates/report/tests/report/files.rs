//! Files that are torn, foreign, or not there.

use std::path::Path;

use goal_report::{ReportError, html, json, markdown};

use crate::tape::Tape;
use crate::{fixture, read, report};

#[test]
fn a_file_torn_at_any_place_is_told_as_far_as_it_goes() {
    let text = fixture("many-ends");
    let whole = report(&text);
    for cut in (0..text.len())
        .step_by(307)
        .filter(|&cut| text.is_char_boundary(cut))
    {
        match read(&text[..cut]) {
            Ok(report) => {
                assert!(report.goals.len() <= whole.goals.len());
                let _ = (markdown(&report), json(&report), html(&report));
            }
            Err(ReportError::NotASession { .. } | ReportError::NoGoal { .. }) => {}
            Err(other) => panic!("cut at {cut}: {other}"),
        }
    }
}

#[test]
fn a_torn_last_line_is_left_out_and_said_so() {
    let text = fixture("mended");
    let report = report(&text[..text.len() - 20]);
    assert_eq!(report.goals[0].audits.len(), 2);
    assert_eq!(report.notes.len(), 1);
    assert!(
        report.notes[0].starts_with("1 line of the session file"),
        "{:?}",
        report.notes
    );
}

#[test]
fn any_one_line_may_be_torn_and_the_rest_of_the_branch_is_still_told() {
    let text = fixture("many-ends");
    let lines: Vec<&str> = text.lines().collect();
    // From the entry of the first goal on; the goals themselves are not told if their only entry is torn.
    for torn in 1..lines.len() {
        let mut copy = lines.clone();
        copy[torn] = &copy[torn][..copy[torn].len() / 2];
        let report = report(&copy.join("\n"));
        assert!(report.goals.len() >= 3, "line {torn}");
        assert!(
            report.notes[0].starts_with("1 line "),
            "line {torn}: {:?}",
            report.notes
        );
        let gap = report
            .notes
            .iter()
            .any(|note| note.contains("an entry is missing"));
        assert_eq!(gap, torn + 1 < lines.len(), "line {torn}");
    }
}

#[test]
fn a_parent_that_comes_later_or_never_makes_no_circle() {
    let mut tape = Tape::new();
    tape.go_to(Some("e2".to_owned()));
    tape.save();
    tape.go_to(Some("nowhere".to_owned()));
    tape.message(0, true);
    let report = report(&tape.text());
    assert_eq!(report.goals[0].runs.len(), 1);
    assert!(report.notes[0].contains("2 places"), "{:?}", report.notes);
}

#[test]
fn foreign_lines_between_entries_are_left_out() {
    let mut tape = Tape::new();
    tape.line("not JSON");
    tape.line("[1, 2]");
    tape.line(r#"{"type": 7}"#);
    tape.line("\u{feff}");
    tape.save();
    tape.message(0, true);
    let report = report(&tape.text());
    assert_eq!(report.goals[0].runs.len(), 1);
    assert!(report.notes[0].starts_with("4 lines"), "{:?}", report.notes);
}

#[test]
fn carriage_returns_and_bytes_that_are_no_utf8_are_no_obstacle() {
    let text = fixture("mended").replace('\n', "\r\n");
    assert_eq!(report(&text).goals[0].audits.len(), 2);

    let mut bytes = fixture("mended").into_bytes();
    bytes.extend(b"\xff\xfe\n");
    let report = goal_report::read_lines(Path::new("x"), &*bytes, None).unwrap();
    assert_eq!(report.notes.len(), 1);
}

#[test]
fn what_is_no_session_is_refused_with_the_way_to_one() {
    for text in [
        "",
        "\n\n",
        "hello",
        "{}",
        "[]",
        "{\"type\":\"note\"}",
        "\0\u{1}binary",
    ] {
        let error = read(text).unwrap_err();
        assert!(
            matches!(error, ReportError::NotASession { .. }),
            "{text}: {error}"
        );
        let error = error.to_string();
        assert!(
            error.contains("no session file of pi") && error.contains("/session"),
            "{error}"
        );
    }
}

#[test]
fn a_session_without_a_goal_is_refused_with_the_way_to_one() {
    let error = read(&Tape::new().text()).unwrap_err().to_string();
    assert!(
        error.contains("there is no goal") && error.contains("/goal"),
        "{error}"
    );
}

#[test]
fn a_folder_and_a_missing_file_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let error = goal_report::read(folder.path(), None)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("is a folder") && error.contains("*.jsonl"),
        "{error}"
    );
    let error = goal_report::read(&folder.path().join("none.jsonl"), None).unwrap_err();
    assert!(matches!(error, ReportError::Unreadable { .. }));
    assert!(error.to_string().contains("none.jsonl"), "{error}");
}

#[test]
fn one_goal_can_be_chosen_by_its_id_or_how_it_begins() {
    let text = fixture("many-ends");
    let chosen = |id| goal_report::read_lines(Path::new("x"), text.as_bytes(), Some(id));
    let ids: Vec<String> = report(&text)
        .goals
        .into_iter()
        .map(|goal| goal.id)
        .collect();
    for id in &ids {
        assert_eq!(chosen(id).unwrap().goals[0].id, *id);
        assert_eq!(chosen(&id[..5]).unwrap().goals.len(), 1, "{id}");
    }
    for wrong in ["g-", "", "nothing\u{1b}[2J"] {
        let error = chosen(wrong).unwrap_err().to_string();
        for id in &ids {
            assert!(error.contains(id.as_str()), "{error}");
        }
        assert!(error.contains("Write a poem"), "{error}");
        assert!(!error.contains('\u{1b}'), "{error}");
    }
}
