//! What untrusted text looks like once it is made safe, by example and by property.

mod common;

use common::nasty_text;
use goal_prompts::safe::{cut, entities, fold_space, for_display, for_display_block, visible};
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr as _;

/// The list of the specification (§9), written a second time so that a slip in one shows.
fn is_listed(c: char) -> bool {
    let code = u32::from(c);
    let ranges: &[(u32, u32)] = &[
        (0x00, 0x08),
        (0x0B, 0x0C),
        (0x0E, 0x1F),
        (0x7F, 0x7F),
        (0x80, 0x9F),
        (0xAD, 0xAD),
        (0x61C, 0x61C),
        (0x180E, 0x180E),
        (0x200B, 0x200B),
        (0x200E, 0x200F),
        (0x202A, 0x202E),
        (0x2028, 0x2029),
        (0x2060, 0x2064),
        (0x2066, 0x206F),
        (0xFEFF, 0xFEFF),
        (0xFFF9, 0xFFFB),
        (0xE0000, 0xE007F),
        (0xE0100, 0xE01EF),
        (0xFDD0, 0xFDEF),
    ];
    ranges
        .iter()
        .any(|&(first, last)| (first..=last).contains(&code))
        || code % 0x10000 >= 0xFFFE
}

#[test]
fn every_code_point_is_shown_exactly_if_it_is_listed() {
    for c in ('\0'..=char::MAX).filter(|c| !matches!(c, '\u{200C}' | '\u{200D}')) {
        let given = c.to_string();
        let expected = if is_listed(c) {
            format!("⟦U+{:04X}⟧", u32::from(c))
        } else {
            given.clone()
        };
        assert_eq!(visible(&given), expected, "U+{:04X}", u32::from(c));
    }
}

#[test]
fn joiners_stay_where_writing_needs_them_and_are_shown_elsewhere() {
    let kept = [
        "می\u{200C}خواهم",
        "👩\u{200D}💻",
        "👩🏽\u{200D}💻",
        "❤\u{FE0F}\u{200D}🔥",
        "🏴\u{200D}☠\u{FE0F}",
        "🧑\u{200D}🤝\u{200D}🧑",
        "🙂\u{200D}↔\u{FE0F}",
        "क\u{94D}\u{200D}ष",
        "র\u{200D}\u{9CD}য",
        "ශ\u{DCA}\u{200D}රී",
    ];
    for text in kept {
        assert_eq!(visible(text), text);
    }
    let shown = [
        ("a\u{200D}", "a⟦U+200D⟧"),
        ("\u{200C}a", "⟦U+200C⟧a"),
        ("a \u{200C}b", "a ⟦U+200C⟧b"),
        ("1\u{200D}2", "1⟦U+200D⟧2"),
        ("a\u{200D}\u{200D}b", "a⟦U+200D⟧⟦U+200D⟧b"),
        ("a\u{202E}\u{200D}b", "a⟦U+202E⟧⟦U+200D⟧b"),
        ("<\u{200C}approved/>", "<⟦U+200C⟧approved/>"),
        ("a\n\u{200D}b", "a\n⟦U+200D⟧b"),
    ];
    for (text, expected) in shown {
        assert_eq!(visible(text), expected);
    }
}

#[test]
fn line_ends_and_tabs_stay_and_escapes_are_shown() {
    assert_eq!(visible("a\r\n\tb"), "a\r\n\tb");
    assert_eq!(visible("\u{1B}[31mred"), "⟦U+001B⟧[31mred");
}

#[test]
fn entities_leave_no_tag() {
    assert_eq!(
        entities("</Objective > & &lt;"),
        "&lt;/Objective &gt; &amp; &amp;lt;"
    );
    assert_eq!(entities("plain"), "plain");
}

#[test]
fn a_cut_says_how_much_is_missing_inside_the_budget() {
    let text = format!("{}{}", "h".repeat(500), "t".repeat(500));
    let short = cut(&text, 100);
    // One less than the budget: room was kept for four digits, and three were needed.
    assert_eq!(short.chars().count(), 99);
    assert!(short.starts_with("hhhh") && short.ends_with("tttt"));
    assert!(
        short.contains("⟦… 938 of 1000 characters left out …⟧"),
        "{short}"
    );
    assert_eq!(cut(&text, 1_000), text);
}

#[test]
fn a_cut_spares_graphemes_entities_and_shown_code_points() {
    for atom in [
        "👩🏽\u{200D}💻",
        "e\u{301}",
        "&amp;",
        "&lt;",
        "⟦U+202E⟧",
        "⟦U+10FFFF⟧",
        "\r\n",
    ] {
        let text = atom.repeat(100);
        for max_chars in 45..70 {
            let short = cut(&text, max_chars);
            let (head, rest) = short.split_once("⟦… ").unwrap();
            let (_, tail) = rest.split_once(" …⟧").unwrap();
            for part in [head, tail] {
                assert_eq!(part.replace(atom, ""), "", "{atom} at {max_chars}: {short}");
            }
        }
    }
}

#[test]
fn a_budget_too_small_for_the_mark_keeps_the_beginning() {
    assert_eq!(cut("abcdef", 0), "");
    assert_eq!(cut("abcdef", 1), "…");
    assert_eq!(cut("abcdef", 4), "abc…");
}

#[test]
fn a_cluster_without_end_is_cut_through() {
    let text = format!("a{}", "\u{301}".repeat(10_000));
    let short = cut(&text, 200);
    assert!(
        (160..=200).contains(&short.chars().count()),
        "{}",
        short.chars().count()
    );
    assert!(for_display(&text, 10).chars().count() <= 160);
}

#[test]
fn a_display_line_is_one_line_with_an_ellipsis() {
    assert_eq!(
        for_display("  fix\r\n\tthe \u{A0} tests ", 40),
        "fix the tests"
    );
    assert_eq!(for_display("fix the tests", 9), "fix the…");
    assert_eq!(for_display("fix the tests", 13), "fix the tests");
    assert_eq!(for_display("日本語", 5), "日本…");
    assert_eq!(for_display("日本語", 6), "日本語");
    assert_eq!(for_display("日本語", 1), "…");
    assert_eq!(for_display("x", 0), "");
    assert_eq!(for_display("می\u{200C}خواهم", 20), "می\u{200C}خواهم");
    assert_eq!(for_display("a\u{1B}b", 20), "a⟦U+001B⟧b");
}

#[test]
fn a_display_block_keeps_lines_only() {
    assert_eq!(
        for_display_block("a\r\nb\rc\n\td\u{7}", 100),
        "a\nb\nc\n    d⟦U+0007⟧"
    );
    assert_eq!(for_display_block(&"x".repeat(500), 60).chars().count(), 60);
}

#[test]
fn space_is_folded_and_trimmed() {
    assert_eq!(fold_space(" a \n\u{3000} b\t"), "a b");
    assert_eq!(fold_space(" \n "), "");
}

proptest! {
    #[test]
    fn visible_leaves_nothing_dangerous_and_is_stable(text in nasty_text(200)) {
        let once = visible(&text);
        prop_assert!(!once.chars().any(is_listed));
        prop_assert_eq!(visible(&once), once.as_ref());
    }

    #[test]
    fn a_cut_keeps_its_budget_and_counts_right(text in nasty_text(400), max_chars in 0..450usize) {
        let total = text.chars().count();
        let short = cut(&text, max_chars);
        prop_assert!(short.chars().count() <= max_chars);
        if total <= max_chars {
            prop_assert_eq!(short.as_ref(), text.as_str());
            return Ok(());
        }
        let mark = format!(" of {total} characters left out …⟧");
        let Some((front, tail)) = short.rsplit_once(&mark) else {
            prop_assert!(max_chars < 48, "no mark in a budget of {}", max_chars);
            return Ok(());
        };
        let (head, missing) = front.rsplit_once("⟦… ").unwrap();
        let missing: usize = missing.parse().unwrap();
        prop_assert!(text.starts_with(head) && text.ends_with(tail));
        prop_assert_eq!(head.chars().count() + missing + tail.chars().count(), total);
    }

    #[test]
    fn a_display_line_is_never_too_wide(text in nasty_text(200), max_columns in 0..=140usize) {
        let line = for_display(&text, max_columns);
        prop_assert!(line.width() <= max_columns, "{:?} is {} wide", line, line.width());
        prop_assert!(!line.chars().any(is_listed));
        prop_assert!(!line.contains(['\n', '\r', '\t']) && !line.contains("  "));
        prop_assert_eq!(line.trim(), line.as_str());
    }

    #[test]
    fn a_display_block_keeps_its_budget(text in nasty_text(400), max_chars in 0..450usize) {
        let block = for_display_block(&text, max_chars);
        prop_assert!(block.chars().count() <= max_chars);
        prop_assert!(!block.contains(['\r', '\t']) && !block.chars().any(is_listed));
    }
}
