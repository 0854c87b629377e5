//! A strict JSON reader (RFC 8259) that keeps the place of every value and says what it stumbled
//! over. Strings must be well-formed Unicode; numbers are kept as written.

use crate::diagnostic::printable;

/// The deepest nesting of lists and objects that is read. Settings need two levels.
pub const DEPTH_MAX: usize = 64;

/// A value with its place.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    /// The value as written.
    pub(crate) raw: &'a str,
    /// The byte at which it begins.
    pub(crate) start: usize,
    pub(crate) json: Json<'a>,
}

#[derive(Debug)]
pub(crate) enum Json<'a> {
    Null,
    Bool,
    Number,
    Text(String),
    List(Vec<Node<'a>>),
    /// In the order of the file, with repetitions.
    Object(Vec<Member<'a>>),
}

#[derive(Debug)]
pub(crate) struct Member<'a> {
    pub(crate) key: String,
    /// The byte at which the key begins.
    pub(crate) key_start: usize,
    pub(crate) value: Node<'a>,
}

/// Why a text is not JSON.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The byte at which it stops to be JSON.
    pub(crate) at: usize,
    /// What was expected and what is there.
    pub(crate) what: String,
}

/// Reads a text that holds one JSON value and nothing else.
pub(crate) fn read(text: &str) -> Result<Node<'_>, Fault> {
    let mut reader = Reader { text, at: 0 };
    reader.skip_space();
    if reader.peek().is_none() {
        return Err(reader.fault("the file is empty"));
    }
    let node = reader.value(0)?;
    reader.skip_space();
    match reader.peek() {
        None => Ok(node),
        Some(_) => Err(reader.expected("the end of the file")),
    }
}

/// The line and the column of a byte, both from 1, the column in characters. Lines end at LF, CRLF
/// or CR, as in an editor.
pub(crate) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let line_ends = before.matches(['\n', '\r']).count() - before.matches("\r\n").count();
    let line = before
        .rfind(['\n', '\r'])
        .map_or(before, |end| &before[end + 1..]);
    (line_ends + 1, line.chars().count() + 1)
}

struct Reader<'a> {
    text: &'a str,
    /// Always on a character boundary: only ASCII is stepped over byte by byte.
    at: usize,
}

impl<'a> Reader<'a> {
    /// Recursion is bounded by [`DEPTH_MAX`].
    fn value(&mut self, depth: usize) -> Result<Node<'a>, Fault> {
        let start = self.at;
        let json = match self.peek() {
            Some('{') => self.object(depth)?,
            Some('[') => self.list(depth)?,
            Some('"') => Json::Text(self.string()?),
            Some('-' | '0'..='9') => self.number()?,
            Some('a'..='z') => self.word()?,
            _ => return Err(self.expected("a value")),
        };
        Ok(Node {
            raw: &self.text[start..self.at],
            start,
            json,
        })
    }

    fn object(&mut self, depth: usize) -> Result<Json<'a>, Fault> {
        let mut members = Vec::new();
        self.enter(depth)?;
        if self.close('}') {
            return Ok(Json::Object(members));
        }
        loop {
            if self.peek() != Some('"') {
                return Err(self.expected("a key in double quotes"));
            }
            let key_start = self.at;
            let key = self.string()?;
            self.skip_space();
            if !self.eat(':') {
                return Err(self.expected("`:` after the key"));
            }
            self.skip_space();
            let value = self.value(depth + 1)?;
            members.push(Member {
                key,
                key_start,
                value,
            });
            if self.close('}') {
                return Ok(Json::Object(members));
            }
            self.comma("`,` or `}`")?;
        }
    }

    fn list(&mut self, depth: usize) -> Result<Json<'a>, Fault> {
        let mut items = Vec::new();
        self.enter(depth)?;
        if self.close(']') {
            return Ok(Json::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.close(']') {
                return Ok(Json::List(items));
            }
            self.comma("`,` or `]`")?;
        }
    }

    /// Steps over the opening bracket.
    fn enter(&mut self, depth: usize) -> Result<(), Fault> {
        if depth == DEPTH_MAX {
            return Err(self.fault(&format!("nested deeper than {DEPTH_MAX} levels")));
        }
        self.at += 1;
        Ok(())
    }

    fn close(&mut self, bracket: char) -> bool {
        self.skip_space();
        self.eat(bracket)
    }

    fn comma(&mut self, expected: &str) -> Result<(), Fault> {
        if !self.eat(',') {
            return Err(self.expected(expected));
        }
        self.skip_space();
        match self.peek() {
            Some('}' | ']') => {
                Err(self.expected("more after the comma (JSON has no trailing comma)"))
            }
            _ => Ok(()),
        }
    }

    fn string(&mut self) -> Result<String, Fault> {
        let mut out = String::new();
        self.at += 1;
        loop {
            match self.peek() {
                Some('"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some('\\') => out.push(self.escape()?),
                Some(c) if c >= ' ' => {
                    out.push(c);
                    self.at += c.len_utf8();
                }
                _ => return Err(self.expected("the rest of the string, or its closing quote")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let start = self.at;
        self.at += 1;
        let plain = match self.peek() {
            Some(c @ ('"' | '\\' | '/')) => c,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => return self.unicode_escape(start),
            _ => return Err(self.expected("an escape: one of \" \\ / b f n r t u")),
        };
        self.at += 1;
        Ok(plain)
    }

    /// `\uXXXX`, or two of them for a character beyond U+FFFF.
    fn unicode_escape(&mut self, start: usize) -> Result<char, Fault> {
        let mut units = vec![self.code_unit()?];
        if (0xD800..0xDC00).contains(&units[0]) && self.text[self.at..].starts_with("\\u") {
            self.at += 1;
            units.push(self.code_unit()?);
        }
        let mut decoded = char::decode_utf16(units);
        match (decoded.next(), decoded.next()) {
            (Some(Ok(c)), None) => Ok(c),
            _ => {
                self.at = start;
                Err(self.fault("half of a surrogate pair in a string"))
            }
        }
    }

    fn code_unit(&mut self) -> Result<u16, Fault> {
        self.at += 1;
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self
                .peek()
                .and_then(|c| c.to_digit(16))
                .and_then(|d| u16::try_from(d).ok());
            let Some(digit) = digit else {
                return Err(self.expected("four hexadecimal digits after \\u"));
            };
            unit = unit * 16 + digit;
            self.at += 1;
        }
        Ok(unit)
    }

    fn number(&mut self) -> Result<Json<'a>, Fault> {
        self.eat('-');
        if !self.eat('0') {
            self.digits()?;
        } else if self.peek().is_some_and(|c| c.is_ascii_digit()) {
            return Err(self.expected("no digit after a leading zero"));
        }
        if self.eat('.') {
            self.digits()?;
        }
        if self.eat('e') || self.eat('E') {
            let _signed = self.eat('+') || self.eat('-');
            self.digits()?;
        }
        Ok(Json::Number)
    }

    /// At least one.
    fn digits(&mut self) -> Result<(), Fault> {
        let rest = &self.text[self.at..];
        let count = rest.bytes().take_while(u8::is_ascii_digit).count();
        if count == 0 {
            return Err(self.expected("a digit"));
        }
        self.at += count;
        Ok(())
    }

    fn word(&mut self) -> Result<Json<'a>, Fault> {
        let rest = &self.text[self.at..];
        let word = &rest[..rest.bytes().take_while(u8::is_ascii_alphanumeric).count()];
        let json = match word {
            "null" => Json::Null,
            "true" | "false" => Json::Bool,
            _ => return Err(self.expected("a value (text needs double quotes)")),
        };
        self.at += word.len();
        Ok(json)
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// Steps over this ASCII character if it is next.
    fn eat(&mut self, c: char) -> bool {
        let is_next = self.peek() == Some(c);
        self.at += usize::from(is_next);
        is_next
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    fn fault(&self, what: &str) -> Fault {
        Fault {
            at: self.at,
            what: what.to_owned(),
        }
    }

    fn expected(&self, expected: &str) -> Fault {
        let rest = &self.text[self.at..];
        let found = match rest.chars().next() {
            None => "the file ends".to_owned(),
            Some('/') if rest.starts_with("//") || rest.starts_with("/*") => {
                "found a comment, which JSON does not have".to_owned()
            }
            Some('\'') => "found `'` (strings take double quotes)".to_owned(),
            Some(c) => format!("found `{}`", printable(c.encode_utf8(&mut [0; 4]))),
        };
        self.fault(&format!("expected {expected}, {found}"))
    }
}

#[cfg(test)]
mod tests;
