//! A reader of `{"tool": NAME, "with": …}` in pieces.

use std::mem;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The number of bytes after which the reader no longer searches for the tool's name before the object is complete.
const HEAD: usize = 1_024;

/// A part of the answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// Text for the user.
    Text(String),
    /// A call begins.
    Call(String),
    /// A piece of the call's arguments.
    Arguments(String),
}

/// The reader of one answer. Pieces may be cut anywhere, also within an escape.
#[derive(Debug)]
pub(crate) struct Turn {
    /// The name that marks text in place of a tool's name.
    reply: String,
    /// `true` if the text itself is JSON, which is passed on unchanged.
    json_reply: bool,
    state: State,
    answer: String,
    object: Nesting,
    value: Nesting,
    string: JsonString,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Undecided,
    /// Within a string for the user.
    Words,
    /// Within JSON for the user.
    Json,
    Arguments,
    /// After the value.
    Said,
    /// The answer does not have the required form and is passed on unchanged.
    Plain,
}

#[derive(Deserialize)]
struct Whole<'a> {
    tool: String,
    #[serde(borrow)]
    with: &'a RawValue,
}

impl Turn {
    pub(super) fn new(reply: String, json_reply: bool) -> Self {
        Self {
            reply,
            json_reply,
            state: State::Undecided,
            answer: String::new(),
            object: Nesting::default(),
            value: Nesting::default(),
            string: JsonString::default(),
        }
    }

    /// Takes the next piece.
    pub(crate) fn feed(&mut self, piece: &str) -> Vec<Said> {
        let mut said = Vec::new();
        self.answer.push_str(piece);
        match self.state {
            State::Undecided => self.decide(piece, &mut said),
            State::Plain => said.push(Said::Text(mem::take(&mut self.answer))),
            _ => self.pass(piece, &mut said),
        }
        said
    }

    /// Returns the bytes that are not classified yet.
    pub(crate) fn undecided(&self) -> usize {
        if self.state == State::Undecided { self.answer.len() } else { 0 }
    }

    /// Takes the end of the answer. Returns `true` if the answer is complete.
    pub(crate) fn finish(&mut self) -> (Vec<Said>, bool) {
        let end = Whole::read(&self.answer).map(drop);
        match (self.state, end) {
            (State::Plain, _) => (Vec::new(), true),
            (State::Undecided, Err(error)) if !error.is_eof() => {
                (vec![Said::Text(mem::take(&mut self.answer))], true)
            }
            (_, end) => (Vec::new(), end.is_ok() || self.answer.is_empty()),
        }
    }

    fn decide(&mut self, piece: &str, said: &mut Vec<Said>) {
        let closed = piece.chars().any(|character| self.object.push(character));
        let head = if self.answer.len() - piece.len() <= HEAD { head(&self.answer) } else { None };
        let whole = || Whole::read(&self.answer).ok().filter(|_| closed);
        let head = head.or_else(|| whole().map(|whole| (whole.tool, whole.with.get())));
        self.state = match &head {
            Some((tool, with)) if *tool == self.reply && !self.json_reply && with.starts_with('"') => {
                State::Words
            }
            Some((tool, _)) if *tool == self.reply => State::Json,
            Some((tool, with)) if with.starts_with('{') => {
                said.push(Said::Call(tool.clone()));
                State::Arguments
            }
            None if !closed && is_begun(&self.answer) => return,
            _ => {
                said.push(Said::Text(mem::take(&mut self.answer)));
                self.state = State::Plain;
                return;
            }
        };
        let value = head.map(|(_, value)| value.to_owned()).unwrap_or_default();
        self.pass(value.strip_prefix('"').filter(|_| self.state == State::Words).unwrap_or(&value), said);
    }

    /// Passes on a piece of the value.
    fn pass(&mut self, piece: &str, said: &mut Vec<Said>) {
        let (state, mut out) = (self.state, String::new());
        for character in piece.chars() {
            let ended = match state {
                State::Words => self.string.push(character, &mut out),
                State::Said => return,
                _ => {
                    out.push(character);
                    self.value.push(character)
                }
            };
            if ended {
                self.state = State::Said;
                break;
            }
        }
        if !out.is_empty() {
            said.push(if state == State::Arguments { Said::Arguments(out) } else { Said::Text(out) });
        }
    }
}

impl<'a> Whole<'a> {
    /// Parses the object and ignores what follows it.
    fn read(answer: &'a str) -> serde_json::Result<Self> {
        Self::deserialize(&mut serde_json::Deserializer::from_str(answer))
    }
}

/// Returns the name of the tool, and the part of its value so far.
fn head(answer: &str) -> Option<(String, &str)> {
    let rest = after(after(after(answer, "{")?, "\"tool\"")?, ":")?;
    let mut names = serde_json::Deserializer::from_str(rest).into_iter::<String>();
    let name = names.next()?.ok()?;
    let rest = after(after(after(rest.get(names.byte_offset()..)?, ",")?, "\"with\"")?, ":")?;
    let value = rest.trim_ascii_start();
    (!value.is_empty()).then_some((name, value))
}

fn after<'a>(text: &'a str, token: &str) -> Option<&'a str> {
    text.trim_ascii_start().strip_prefix(token)
}

/// Returns `true` if an answer can still have the required form: it is blank, or an object with the right first key.
fn is_begun(answer: &str) -> bool {
    let key = after(answer, "{").map(str::trim_ascii_start);
    let fits = |key: &str| {
        ["\"tool\"", "\"with\""].iter().any(|name| name.starts_with(key) || key.starts_with(name))
    };
    key.map_or(answer.trim_ascii().is_empty(), fits)
}

/// The end of a JSON value. Only objects, arrays and strings have a recognisable end.
#[derive(Debug, Default)]
struct Nesting {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Nesting {
    /// Returns `true` if the value ends with this character.
    fn push(&mut self, character: char) -> bool {
        if self.in_string {
            let quote = character == '"' && !self.escaped;
            self.escaped = character == '\\' && !self.escaped;
            self.in_string = !quote;
            return quote && self.depth == 0;
        }
        match character {
            '"' => self.in_string = true,
            '{' | '[' => self.depth += 1,
            '}' | ']' => {
                self.depth = self.depth.saturating_sub(1);
                return self.depth == 0;
            }
            _ => {}
        }
        false
    }
}

/// The content of a JSON string, read character by character.
#[derive(Debug, Default)]
struct JsonString {
    /// An escape that is not complete.
    escape: String,
    /// The code units of consecutive `\u` escapes.
    units: Vec<u16>,
}

impl JsonString {
    /// Returns `true` if the string ends with this character, or if the value is no string. An unpaired surrogate
    /// becomes U+FFFD.
    fn push(&mut self, character: char, out: &mut String) -> bool {
        if !self.escape.is_empty() || character == '\\' {
            self.escape.push(character);
            return match self.escape.strip_prefix("\\u") {
                Some(digits) if digits.len() < 4 => false,
                Some(digits) => {
                    let unit = u16::from_str_radix(digits, 16).map(|unit| self.units.push(unit));
                    self.escape.clear();
                    unit.is_err()
                }
                None if self.escape.len() < 2 => false,
                None => {
                    self.flush(out);
                    let character = serde_json::from_str::<char>(&format!("\"{}\"", self.escape));
                    self.escape.clear();
                    character.map(|character| out.push(character)).is_err()
                }
            };
        }
        self.flush(out);
        if character != '"' {
            out.push(character);
        }
        character == '"'
    }

    fn flush(&mut self, out: &mut String) {
        let units = char::decode_utf16(self.units.drain(..));
        out.extend(units.map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)));
    }
}
