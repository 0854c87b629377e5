//! What must hold for every text.

use proptest::prelude::*;

use crate::answer;

/// Pieces that matter to the grammar: texts made of them reach its corners, plain noise does not.
const PIECES: &[&str] = &[
    "<think>",
    "</think>",
    "<thinking>",
    "</thinking>",
    "<THINK>",
    "<thin",
    "<approved/>",
    "<disapproved/>",
    "< approved >",
    "<approved",
    "approved",
    "/",
    "<",
    ">",
    "*",
    "**",
    "***",
    "`",
    "``",
    "_",
    "~",
    "~~",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "\u{a0}",
    "\u{feff}",
    "\u{2028}",
    "\u{200b}",
    "é",
    "x",
];

fn pieces() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..24).prop_map(|pieces| pieces.concat())
}

fn approval() -> impl Strategy<Value = String> {
    let around = prop::sample::select(vec!["", "*", "**", "`", "_", "~~"]);
    (prose(), around).prop_map(|(prose, around)| format!("{prose}\n{around}<approved/>{around}\n"))
}

/// Text without reasoning: no `<`.
fn prose() -> impl Strategy<Value = String> {
    "[^<]{0,40}"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn agrees_with_the_reference(text in pieces()) {
        answer(&text);
    }

    #[test]
    fn never_panics(text in any::<String>()) {
        answer(&text);
        let shown = goal_parser::without_verdict_line(&text);
        prop_assert!(text.contains(shown));
    }

    #[test]
    fn emphasis_agrees_with_the_reference(
        head in "[*_`~ ]{0,8}",
        tag in prop::sample::select(vec!["<approved/>", "<disapproved>", "x", ""]),
        tail in "[*_`~ ]{0,8}",
    ) {
        answer(&format!("{head}{tag}{tail}"));
    }

    #[test]
    fn a_line_after_an_approval_takes_it_back(text in approval(), line in "[^<\r\n]{1,20}") {
        prop_assert_eq!(answer(&text), "approved");
        prop_assume!(!line.chars().all(|c| c.is_whitespace() || c == '\u{feff}'));
        prop_assert_ne!(answer(&format!("{text}{line}")), "approved");
    }

    #[test]
    fn prose_before_the_last_line_changes_nothing(prose in prose(), rest in pieces()) {
        let alone = answer(&rest);
        let expected = if alone == "empty" { answer(&prose) } else { alone };
        prop_assert_eq!(answer(&format!("{prose}\n{rest}")), expected);
    }

    #[test]
    fn finished_reasoning_before_changes_nothing(inside in prose(), rest in pieces()) {
        prop_assert_eq!(answer(&format!("<think>{inside}</think>{rest}")), answer(&rest));
    }

    #[test]
    fn a_cut_tag_is_never_a_verdict(prose in prose(), kept in 0_usize..11) {
        let cut = &"<approved/>"[..kept];
        let answer = answer(&format!("{prose}\n{cut}"));
        prop_assert!(answer != "approved" && answer != "disapproved");
    }

    #[test]
    fn what_is_shown_holds_no_verdict_line(text in pieces()) {
        let shown = goal_parser::without_verdict_line(&text);
        let verdict = answer(&text);
        if verdict == "approved" || verdict == "disapproved" {
            prop_assert!(shown.len() < text.len());
        } else {
            prop_assert_eq!(shown, text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}'));
        }
    }
}
