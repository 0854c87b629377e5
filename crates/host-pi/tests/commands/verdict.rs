//! `goal-auditor verdict`.

use std::io::Write as _;
use std::process::Stdio;

use crate::{Said, goal_auditor};

fn given(arguments: &[&str], input: &[u8]) -> Said {
    let mut command = goal_auditor(arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap().into()
}

#[test]
fn a_text_is_read_as_an_audit_would_read_it() {
    for (text, verdict) in [
        ("All there.\n<approved/>", "approved"),
        ("**<disapproved/>**\n\n", "disapproved"),
        ("", "none (empty)"),
        ("approved", "none (no_tag)"),
        ("Verdict: <approved/>", "none (extra_text)"),
        ("<think>\n<approved/>", "none (unfinished_reasoning)"),
    ] {
        let said = given(&["verdict"], text.as_bytes());
        assert_eq!(
            (said.out.trim_end(), said.code),
            (verdict, Some(0)),
            "{text:?}"
        );
    }
}

#[test]
fn bytes_that_are_no_text_are_no_verdict_and_no_crash() {
    let said = given(&["verdict"], b"\xff\xfe\n<approved/>\xff");
    assert_eq!(said.out.trim_end(), "none (extra_text)");
    let said = given(&["verdict"], b"\xff\n<approved/>");
    assert_eq!(said.out.trim_end(), "approved");
}

#[test]
fn a_text_over_the_limit_is_oversized_and_one_at_the_limit_is_not() {
    let limit = 4 * 1024 * 1024;
    let tag = b"\n<approved/>";
    let mut text = vec![b'x'; limit - tag.len()];
    text.extend_from_slice(tag);
    assert_eq!(given(&["verdict"], &text).out.trim_end(), "approved");
    text.insert(0, b'x');
    assert_eq!(
        given(&["verdict"], &text).out.trim_end(),
        "none (oversized)"
    );
}

#[test]
fn lines_of_json_strings_are_answered_line_by_line() {
    let input = "\"a\\n<approved/>\"\n\n  \n\"<disapproved/>\"\n\"\\u0000\"\n\"<approved/> but\"\n";
    let said = given(&["verdict", "--jsonl"], input.as_bytes());
    let expected = "{\"verdict\":\"approved\"}\n{\"verdict\":\"disapproved\"}\n\
                    {\"verdict\":\"none\",\"why\":\"no_tag\"}\n{\"verdict\":\"none\",\"why\":\"extra_text\"}\n";
    assert_eq!((said.out.as_str(), said.code), (expected, Some(0)));
}

#[test]
fn a_line_that_is_no_json_string_is_an_error_that_names_it() {
    for input in [
        "\"ok\"\nnot json\n",
        "\"ok\"\n{\"text\":1}\n",
        "\"ok\"\n\"torn\n",
    ] {
        let said = given(&["verdict", "--jsonl"], input.as_bytes());
        assert_ne!(said.code, Some(0));
        assert!(said.err.contains("line 2"), "{}", said.err);
    }
}
