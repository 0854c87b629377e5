//! Tables, in Markdown that is also readable as it is.

use unicode_width::UnicodeWidthStr as _;

/// Figures in rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// The heads of the columns; the first names the rows.
    pub columns: Vec<String>,
    /// The cells, in Markdown.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new<const COLUMNS: usize>(caption: &str, columns: [&str; COLUMNS]) -> Self {
        Self {
            caption: caption.to_owned(),
            columns: columns.map(str::to_owned).to_vec(),
            rows: Vec::new(),
        }
    }

    /// Appends a row.
    pub fn row<const COLUMNS: usize>(&mut self, cells: [String; COLUMNS]) {
        self.rows.push(Vec::from(cells));
    }

    /// The table in Markdown, its columns padded to the same width.
    #[must_use]
    pub fn markdown(&self) -> String {
        let lines: Vec<Vec<String>> = std::iter::once(&self.columns)
            .chain(&self.rows)
            .map(|cells| cells.iter().map(|cell| cell.replace('|', "\\|")).collect())
            .collect();
        let width = |column: usize| {
            let cells = lines.iter().filter_map(|line| line.get(column));
            cells.map(|cell| cell.width()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let line = |cells: &Vec<String>| {
            let padded = cells.iter().zip(&widths).map(|(cell, width)| {
                let missing = width.saturating_sub(cell.width());
                format!(" {cell}{} |", " ".repeat(missing))
            });
            format!("|{}", padded.collect::<String>())
        };
        let mut text: Vec<String> = lines.iter().map(line).collect();
        text.insert(1, format!("|{}", "---|".repeat(self.columns.len())));
        format!("**{}**\n\n{}", self.caption, text.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_each_other_and_bars_do_not_end_a_cell() {
        let mut table = Table::new("Costs", ["what", "µs"]);
        table.row(["a|b".to_owned(), "1".to_owned()]);
        table.row(["longer".to_owned(), "10,000".to_owned()]);
        let expected = "**Costs**\n\n\
                        | what   | µs     |\n\
                        |---|---|\n\
                        | a\\|b   | 1      |\n\
                        | longer | 10,000 |";
        assert_eq!(table.markdown(), expected);
    }
}
