//! Texts of any size: auditors' answers, and what others wrote.

/// A family of texts: one for every size.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// A short name.
    pub name: &'static str,
    /// What it is, and what is hard in it.
    pub what: &'static str,
    /// Makes one of about so many bytes.
    pub make: fn(usize) -> String,
}

/// Answers of an auditor that end in a verdict, or nearly: what a report looks like, and what would be
/// slow in a parser that looks at any stretch of text more than a fixed number of times.
pub const ANSWERS: [Family; 7] = [
    Family {
        name: "report",
        what: "a report in Markdown with reasoning before it and emphasis around the tag",
        make: report,
    },
    Family {
        name: "brackets",
        what: "`<` alone, so that each byte may begin a tag",
        make: |bytes| "<".repeat(bytes) + "\n<approved/>",
    },
    Family {
        name: "near tags",
        what: "`</thinkin` again and again, which is a tag but for its end",
        make: |bytes| repeat("</thinkin", bytes) + "\n<approved/>",
    },
    Family {
        name: "many blocks",
        what: "short reasoning blocks, each at the start of a line",
        make: |bytes| repeat("<think>a</think>\n", bytes) + "<approved/>",
    },
    Family {
        name: "blocks in mid-line",
        what: "reasoning blocks that are none, because text stands before them",
        make: |bytes| format!("a{}\n<approved/>", repeat("<think></think> ", bytes)),
    },
    Family {
        name: "emphasis",
        what: "one line with the tag inside as many layers of emphasis as fit",
        make: emphasis,
    },
    Family {
        name: "white space",
        what: "the tag and then nothing but no-break spaces and line ends",
        make: |bytes| format!("<approved/>{}", repeat("\u{a0}\n\u{feff}\r", bytes)),
    },
];

/// What others wrote, and an auditor or a person is shown.
pub const FOREIGN: [Family; 4] = [
    Family {
        name: "prose",
        what: "an objective in plain English",
        make: |bytes| {
            repeat(
                "Make the tests of the parser pass, and say why they failed. ",
                bytes,
            )
        },
    },
    Family {
        name: "markup",
        what: "text that is full of `<`, `>` and `&`",
        make: |bytes| repeat("if (a < b && c > d) { <b>&amp;</b> } ", bytes),
    },
    Family {
        name: "scripts",
        what: "Persian, Hindi, and emoji, which need joiners that are kept",
        make: |bytes| repeat("می‌خواهم क्‍ष 👩‍💻 ", bytes),
    },
    Family {
        name: "hostile",
        what: "controls, bidi marks and joiners where none belong, each of which is shown as a code",
        make: |bytes| repeat("\u{202e}a\u{200d}\u{301}\u{301}\u{7}\u{e0041}<", bytes),
    },
];

/// A text again and again, up to about so many bytes and at least once.
#[must_use]
pub fn repeat(text: &str, bytes: usize) -> String {
    text.repeat((bytes / text.len()).max(1))
}

fn report(bytes: usize) -> String {
    let line = "* requirement checked with `cargo test`: <b>fine</b>, see **src/lib.rs**\n";
    let body = repeat(line, bytes);
    format!("<think>first I look around</think>\n{body}\n**<approved/>**\n")
}

fn emphasis(bytes: usize) -> String {
    const LAYER: &str = "*_~`";
    let outside = repeat(LAYER, bytes / 2);
    let inside: String = outside.chars().rev().collect();
    format!("{outside}<approved/>{inside}")
}

#[cfg(test)]
mod tests {
    use goal_parser::{Verdict, parse_verdict};

    use super::*;

    #[test]
    fn every_answer_is_an_approval_at_every_size() {
        for family in ANSWERS {
            for bytes in [0, 100, 10_000] {
                let text = (family.make)(bytes);
                assert_eq!(
                    parse_verdict(&text),
                    Ok(Verdict::Approved),
                    "{}",
                    family.name
                );
            }
        }
    }

    #[test]
    fn texts_have_about_the_size_that_was_asked_for() {
        for family in ANSWERS.iter().chain(&FOREIGN) {
            let bytes = (family.make)(100_000).len();
            assert!(
                (99_000..101_000).contains(&bytes),
                "{}: {bytes}",
                family.name
            );
        }
    }
}
