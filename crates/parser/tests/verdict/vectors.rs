//! Texts with the answers they must get.

use goal_parser::{NoVerdict, TEXT_MAX_BYTES, Verdict, parse_verdict, without_verdict_line};
use serde_json::Value;

use crate::check;

#[test]
fn every_vector_of_the_specification() {
    let vectors: Vec<Value> = serde_json::from_str(include_str!("../verdict.json")).unwrap();
    assert!(vectors.len() > 70);
    for vector in &vectors {
        let text = vector["text"].as_str().unwrap();
        let verdict = vector["verdict"].as_str().unwrap();
        check(
            text,
            if verdict == "none" {
                vector["why"].as_str().unwrap()
            } else {
                verdict
            },
        );
    }
}

#[test]
fn blocks_that_nest_or_mix_names() {
    // A block ends at its first closer, however many openers it holds.
    check("<think>a<think>b</think>\n<approved/>", "approved");
    check("<think>a<think>b</think><approved/>", "approved");
    check("<think>a<think>b</think>c</think>\n<approved/>", "approved");
    check("<think>a<think>b</think><approved/></think>", "extra_text");
    // The closer of another name closes nothing.
    check("<think>a</thinking>b</think><approved/>", "approved");
    check("<thinking>a</think>b</thinking><approved/>", "approved");
    check("<thinking>a</think><approved/>", "unfinished_reasoning");
    // "Anywhere": also inside a block that is dropped, and after a block that is kept.
    check(
        "<think>a<thinking>b</think>\n<approved/>",
        "unfinished_reasoning",
    );
    check(
        "<think>a<thinking>b</think>\n</thinking>\n<approved/>",
        "approved",
    );
    check(
        "ok <think>a<thinking>b</think>\n<approved/>",
        "unfinished_reasoning",
    );
    check(
        "ok <think>a</think> <think>\n<approved/>",
        "unfinished_reasoning",
    );
    check("<approved/>\n<think>", "unfinished_reasoning");
    check("<think>", "unfinished_reasoning");
}

#[test]
fn what_follows_a_dropped_block_starts_a_line() {
    check("<think>a</think> <think>b</think>\t<approved/>", "approved");
    check(
        "  <think>a</think><thinking>b</thinking>**<approved/>**",
        "approved",
    );
    check("\u{feff}<think>a</think><approved/>", "approved");
    check("Done.\r<think>a</think><approved/>", "approved");
    check("Done.\u{2028}<think>a</think><approved/>", "extra_text");
    check(
        "<think>a</think>b <think>c</think><approved/>",
        "extra_text",
    );
    check("<think>a</think>-<think>c</think><approved/>", "extra_text");
    check(
        "<approved/>\n<think>was that right? yes</think>\n",
        "approved",
    );
    check("<approved/><think>no</think>", "extra_text");
    check("<think>a\n<approved/>\n</think>", "empty");
    check("Done.\n<think>a\n<approved/>\n</think>", "no_tag");
}

#[test]
fn openers_in_mid_line_and_lone_closers_are_text() {
    check(
        "Mind <think> tags.\n<think>a\n<disapproved/></think><approved/>",
        "approved",
    );
    check("a <think>\n<approved/>\n</think>", "no_tag");
    check("</think><approved/>", "extra_text");
    check("</think>\n<approved/>", "approved");
    check("</think> <think>a</think><approved/>", "extra_text");
    check("<think>a</think></think>\n<approved/>", "approved");
}

#[test]
fn only_the_exact_spellings_are_reasoning() {
    for near in [
        "< think>",
        "<think >",
        "<think/>",
        "<thinks>",
        "<think\n>",
        "<thin>",
        "<think",
    ] {
        check(&format!("{near}\n<approved/>"), "approved");
    }
    for opener in [
        "<ThInK>",
        "<THINKING>",
        "<<think>",
        "<think<think>",
        "x<thinking>",
    ] {
        check(&format!("{opener}\n<approved/>"), "unfinished_reasoning");
    }
    // U+212A, the Kelvin sign, folds to `k` in Unicode but not in ASCII.
    check("<thin\u{212a}>\n<approved/>", "approved");
}

#[test]
fn emphasis_is_peeled_by_equal_runs_only() {
    for (mark, run_max) in [("`", 2), ("*", 3), ("_", 3), ("~", 2)] {
        for run in 1..=5 {
            let around = mark.repeat(run);
            let expected = if run <= run_max {
                "approved"
            } else {
                "extra_text"
            };
            check(&format!("{around}<approved/>{around}"), expected);
            check(&format!("{around} <approved/>\u{a0}{around}"), expected);
            check(&format!("{around}<approved/>{around}{mark}"), "extra_text");
            check(&format!("{around}<approved/>"), "extra_text");
        }
    }
    check("* ** *** <disapproved/> *** ** *", "disapproved");
    check("*_~`<approved/>`~_*", "approved");
    check("*_<approved/>*_", "extra_text");
    check("*\u{feff}<approved/>\u{feff}*", "approved");
    check("\\*<approved/>\\*", "extra_text");
    check("\"*<approved/>*\"", "extra_text");
}

#[test]
fn lines_of_marks_alone_are_no_tag() {
    for line in [
        "*", "**", "****", "* *", "*_*", "``", "```", "~~~~~", "_ * _", "*é*",
    ] {
        check(&format!("<approved/>\n{line}"), "no_tag");
    }
}

#[test]
fn white_space_inside_the_tag() {
    for (tag, expected) in [
        ("<approved  />", "approved"),
        ("<\u{3000}\u{2003}disapproved\u{2028}>", "disapproved"),
        ("<\u{85}approved\u{b}/>", "approved"),
        ("<\u{feff}approved/>", "no_tag"),
        ("<approved\u{feff}/>", "extra_text"),
        ("<approved\u{200b}/>", "extra_text"),
        ("<approved/ >", "extra_text"),
        ("< / approved>", "no_tag"),
        ("<app roved/>", "no_tag"),
        ("<approved\n/>", "no_tag"),
        ("<approved", "extra_text"),
        ("<approvedd/>", "extra_text"),
        ("<unapproved/>", "no_tag"),
        ("<>", "no_tag"),
        ("<", "no_tag"),
        ("</>", "no_tag"),
        ("<approved>>", "extra_text"),
        ("<<approved>", "extra_text"),
        ("\u{e0020}<approved/>", "extra_text"),
    ] {
        check(&format!("Done.\n{tag}"), expected);
    }
}

#[test]
fn situations_of_the_wild() {
    check("All checked.\n\n```\n<approved/>\n```\n", "no_tag");
    check("Summary ...\n<appro", "no_tag");
    check("<approved/>\nOn reflection: not sure.", "no_tag");
    check("<approved/>\n### <disapproved/>", "extra_text");
    check("{\"report\":\"...\\n<disapproved/>\"}", "extra_text");
    check("Error: connection reset", "no_tag");
    check(
        "README ends with\n<approved/>\nbut nothing works.\n<disapproved/>",
        "disapproved",
    );
    check(
        "The final line is <approved/> or <disapproved/>.",
        "extra_text",
    );
}

#[test]
fn texts_up_to_the_limit_are_read_and_longer_ones_are_not() {
    let tag = "\n<approved/>";
    let full = format!("{}{tag}", "x".repeat(TEXT_MAX_BYTES - tag.len()));
    assert_eq!(parse_verdict(&full), Ok(Verdict::Approved));
    assert_eq!(
        parse_verdict(&format!("x{full}")),
        Err(NoVerdict::Oversized)
    );
}

/// Enough that a parser which looks back, or starts over, at each mark would need some 10^11 steps:
/// it would hang here, not merely be slow. The whole limit would only make this test slow.
const ADVERSARIAL_BYTES: usize = TEXT_MAX_BYTES / 8;

#[test]
fn adversarial_texts_are_linear() {
    let fill = |unit: &str| unit.repeat(ADVERSARIAL_BYTES / unit.len());
    for unit in [
        "*", "* ", "`", "_*", "<", "<think", "</think>", "\n", "\r\n", "\u{feff}", " ", "\u{3000}",
    ] {
        let _ = parse_verdict(&fill(unit));
        assert!(parse_verdict(&format!("<approved/>\n{}x", fill(unit))).is_err());
    }
    assert_eq!(
        parse_verdict(&fill("<think>")),
        Err(NoVerdict::UnfinishedReasoning)
    );
    for openers in [
        "<think>",
        "<thinking> ",
        "x<think>",
        "x\n<think>",
        "<think></thinking>",
    ] {
        let text = format!("{}</think></thinking>\n<approved/>", fill(openers));
        assert_eq!(parse_verdict(&text), Ok(Verdict::Approved), "{openers}");
    }
    for blocks in [
        "<think></think>",
        "<think>\n</think>\n",
        " <thinking></thinking>x",
    ] {
        let text = format!("{}\n<disapproved/>", fill(blocks));
        assert_eq!(parse_verdict(&text), Ok(Verdict::Disapproved), "{blocks}");
    }
    let half = ADVERSARIAL_BYTES / 4;
    let nested = format!("{}<approved/>{}", "* ".repeat(half), " *".repeat(half));
    assert_eq!(parse_verdict(&nested), Ok(Verdict::Approved));
}

#[test]
fn the_report_is_shown_without_its_tag() {
    for (text, report) in [
        ("Fine.\n\n**<approved/>**\n", "Fine."),
        ("\n  Fine.\r\n<disapproved/>", "Fine."),
        ("<approved/>", ""),
        ("<think>x</think><approved/>", "<think>x</think>"),
        (
            "A <approved/> quoted.\n<approved/>\n<think>z</think>",
            "A <approved/> quoted.",
        ),
        (" No verdict here. \n", "No verdict here."),
        ("Verdict: <approved/>", "Verdict: <approved/>"),
        ("", ""),
    ] {
        assert_eq!(without_verdict_line(text), report, "for {text:?}");
    }
}

#[test]
fn names_and_words() {
    assert_eq!(Verdict::Approved.name(), "approved");
    assert_eq!(Verdict::Disapproved.name(), "disapproved");
    for (why, name) in [
        (NoVerdict::Empty, "empty"),
        (NoVerdict::NoTag, "no_tag"),
        (NoVerdict::ExtraText, "extra_text"),
        (NoVerdict::UnfinishedReasoning, "unfinished_reasoning"),
        (NoVerdict::Oversized, "oversized"),
    ] {
        assert_eq!(why.name(), name);
        assert!(why.to_string().starts_with(char::is_lowercase));
    }
}
