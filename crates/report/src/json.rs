//! A report as JSON.

use std::io;

use goal_prompts::safe::visible;
use serde::Serialize as _;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

use crate::Report;

/// The report as indented JSON. Characters that hide, reorder or command are written as `\u` escapes:
/// the same data, but safe to print.
#[must_use]
pub fn json(report: &Report) -> String {
    let mut out = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut out, Escaping(PrettyFormatter::new()));
    // Writing to a Vec cannot fail, and the report has no map with keys that are no strings.
    let written = report.serialize(&mut serializer);
    debug_assert!(written.is_ok());
    out.push(b'\n');
    String::from_utf8_lossy(&out).into_owned()
}

/// [`PrettyFormatter`], with more characters escaped inside strings.
struct Escaping(PrettyFormatter<'static>);

impl Formatter for Escaping {
    fn write_string_fragment<W: io::Write + ?Sized>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut one = [0; 4];
        for c in fragment.chars() {
            let text: &str = c.encode_utf8(&mut one);
            if c.is_ascii_graphic() || c == ' ' || visible(text) == text {
                out.write_all(text.as_bytes())?;
            } else {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}")?;
                }
            }
        }
        Ok(())
    }

    fn begin_array<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_array(out)
    }

    fn end_array<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array(out)
    }

    fn begin_array_value<W: io::Write + ?Sized>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.0.begin_array_value(out, first)
    }

    fn end_array_value<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array_value(out)
    }

    fn begin_object<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object(out)
    }

    fn end_object<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object(out)
    }

    fn begin_object_key<W: io::Write + ?Sized>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.0.begin_object_key(out, first)
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object_value(out)
    }

    fn end_object_value<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object_value(out)
    }
}
