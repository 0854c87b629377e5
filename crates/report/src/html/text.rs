//! Text that others wrote, on its way into a page.

use maud::{Markup, PreEscaped, Render, html as markup};

/// Several lines of text, in their own direction of writing.
pub(super) fn block(text: &str) -> Markup {
    markup! { div.text dir="auto" { (lines(text)) } }
}

/// Several lines in which `**strong**` and `` `code` `` inside a line look so; nothing else of
/// Markdown means anything.
pub(super) fn account(text: &str) -> Markup {
    let text = lines(text);
    markup! {
        div.text dir="auto" {
            @for line in text.split_inclusive('\n') { (emphasised(line)) }
        }
    }
}

/// Line ends as LF; a lone CR would be swallowed by the page.
fn lines(text: &str) -> String {
    text.trim().replace("\r\n", "\n").replace('\r', "\n")
}

fn emphasised(line: &str) -> Markup {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, mark, inside, after)) = next_mark(rest) {
        before.render_to(&mut out);
        let piece = if mark == "`" {
            markup! { code { (inside) } }
        } else {
            markup! { strong { (inside) } }
        };
        piece.render_to(&mut out);
        rest = after;
    }
    rest.render_to(&mut out);
    PreEscaped(out)
}

/// The first marked piece of a line: what is before, the mark, what it marks, what is after.
fn next_mark(line: &str) -> Option<(&str, &'static str, &str, &str)> {
    let code = line.find('`').map(|at| (at, "`"));
    let strong = line.find("**").map(|at| (at, "**"));
    let (at, mark) = [code, strong].into_iter().flatten().min()?;
    let behind = &line[at + mark.len()..];
    // An opener without its closer is text, and so is what follows it.
    let end = behind.find(mark).filter(|&end| end > 0)?;
    Some((
        &line[..at],
        mark,
        &behind[..end],
        &behind[end + mark.len()..],
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_strong_and_code_inside_a_line_are_marked_and_everything_is_escaped() {
        for (text, html) in [
            (
                "1. quoted: **met**, see `row()`",
                "1. quoted: <strong>met</strong>, see <code>row()</code>",
            ),
            ("`**a**`", "<code>**a**</code>"),
            ("**open\nclosed** here", "**open\nclosed** here"),
            ("****", "****"),
            ("<b onclick=\"x\">&", "&lt;b onclick=&quot;x&quot;&gt;&amp;"),
            ("`<script>`", "<code>&lt;script&gt;</code>"),
            ("a\r\nb\rc", "a\nb\nc"),
        ] {
            let shown = account(text).into_string();
            assert_eq!(
                shown,
                format!("<div class=\"text\" dir=\"auto\">{html}</div>"),
                "{text}"
            );
        }
    }
}
