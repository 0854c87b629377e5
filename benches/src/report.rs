//! What was measured, as tables and plots: on the terminal, and in `docs/performance.md`.

mod circumstances;
mod page;
mod plot;
mod table;

use std::fs;

use anyhow::{Context as _, Result};

pub use circumstances::Circumstances;
pub use page::{Page, replace_block};
pub use plot::{Plot, Series};
pub use table::Table;

/// What one module found: a block of the page.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The name of its block, between the page's marks.
    pub name: &'static str,
    /// Programs that took part, each with its version.
    pub versions: Vec<(String, String)>,
    /// What was found.
    pub sections: Vec<Section>,
}

/// One question, and its answer in figures.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// What was measured, and how, in Markdown.
    pub intro: String,
    /// The figures.
    pub tables: Vec<Table>,
    /// The pictures.
    pub plots: Vec<Plot>,
    /// What the figures say, each a sentence computed from them: never a figure that no table shows.
    pub findings: Vec<String>,
}

impl Section {
    /// The section in Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut blocks = vec![format!("### {}", self.title)];
        blocks.extend((!self.intro.is_empty()).then(|| self.intro.clone()));
        blocks.extend(self.tables.iter().map(Table::markdown));
        blocks.extend(self.plots.iter().map(Plot::markdown));
        let findings: Vec<String> = self
            .findings
            .iter()
            .map(|finding| format!("* {finding}"))
            .collect();
        blocks.extend((!findings.is_empty()).then(|| findings.join("\n")));
        blocks.join("\n\n")
    }
}

/// Prints a part on the terminal and, if there is a page, writes it into that, with its pictures.
///
/// # Errors
///
/// The page has no marks for the part, or a file cannot be written.
pub fn publish(part: &Part, circumstances: &Circumstances, page: Option<&Page>) -> Result<()> {
    let sections: Vec<String> = part.sections.iter().map(Section::markdown).collect();
    let text = format!(
        "{}\n\n{}",
        circumstances.markdown(&part.versions),
        sections.join("\n\n")
    );
    println!("{text}\n");
    let Some(page) = page else { return Ok(()) };
    fs::create_dir_all(&page.pictures).context("the folder of the pictures")?;
    for plot in part.sections.iter().flat_map(|section| &section.plots) {
        plot.write(&page.pictures)?;
    }
    page.replace(part.name, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_heading_words_tables_pictures_and_findings() {
        let section = Section {
            title: "Speed".to_owned(),
            intro: "How fast.".to_owned(),
            tables: vec![Table::new("Times", ["what", "time"])],
            plots: vec![Plot::log_log("speed.svg", "Speed", "bytes", "seconds")],
            findings: vec!["One.".to_owned(), "Two.".to_owned()],
        };
        let expected = "### Speed\n\nHow fast.\n\n**Times**\n\n| what | time |\n|---|---|\n\n\
                        ![Speed](images/performance/speed.svg)\n\n* One.\n* Two.";
        assert_eq!(section.markdown(), expected);
    }
}
