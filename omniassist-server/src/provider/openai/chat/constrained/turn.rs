//! Reads `{"tool": NAME, "with": …}` piece by piece.

/// The meaning of a piece of the answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// Words for the user.
    Text(String),
    /// A call begins.
    Call(String),
    /// A piece of its arguments.
    Arguments(String),
}

/// The answer is not of the form that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Broken;

/// The reader of one answer. Pieces may be cut anywhere, within an escape too.
#[derive(Debug)]
pub(super) struct TurnReader {
    /// The name that stands for words.
    reply: String,
    /// `true` if words are themselves JSON, passed on unchanged.
    json_reply: bool,
    state: State,
    string: JsonString,
    nesting: Nesting,
    key: String,
    tool: Option<String>,
    /// The value of `with`, where it came before the tool.
    early: String,
    /// All that came until it was known what it says.
    undecided: Option<String>,
    closed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    BeforeKey,
    Key,
    Colon,
    BeforeValue,
    Tool,
    Text,
    /// A value that is passed on as it stands.
    Raw(Raw),
    AfterValue,
    Closed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Raw {
    Arguments,
    Text,
    Early,
    Skipped,
}

impl TurnReader {
    pub(super) fn new(reply: String, json_reply: bool) -> Self {
        Self {
            reply,
            json_reply,
            state: State::Start,
            string: JsonString::default(),
            nesting: Nesting::default(),
            key: String::new(),
            tool: None,
            early: String::new(),
            undecided: Some(String::new()),
            closed: false,
        }
    }

    /// Takes the next piece. After an error the reader takes nothing more.
    pub(super) fn feed(&mut self, piece: &str, said: &mut Vec<Said>) -> Result<(), Broken> {
        if let Some(undecided) = &mut self.undecided {
            undecided.push_str(piece);
        }
        let mut out = String::new();
        let fed = piece.chars().try_for_each(|character| self.take(character, &mut out, said));
        self.flush(&mut out, said);
        fed
    }

    /// All that came, as long as nothing could be said of it.
    pub(super) fn undecided(&self) -> Option<&str> {
        self.undecided.as_deref()
    }

    /// `true` if the object was closed.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    fn take(&mut self, character: char, out: &mut String, said: &mut Vec<Said>) -> Result<(), Broken> {
        let space = character.is_ascii_whitespace();
        match self.state {
            State::Start | State::BeforeKey | State::Colon | State::BeforeValue | State::AfterValue
                if space => {}
            State::Start if character == '{' => self.state = State::BeforeKey,
            State::BeforeKey if character == '"' => {
                self.key.clear();
                self.string = JsonString::default();
                self.state = State::Key;
            }
            State::BeforeKey | State::AfterValue if character == '}' => self.close(out, said)?,
            State::AfterValue if character == ',' => self.state = State::BeforeKey,
            State::Key => {
                if self.string.push(character, &mut self.key)? {
                    self.state = State::Colon;
                }
            }
            State::Colon if character == ':' => self.state = State::BeforeValue,
            State::BeforeValue => self.value(character, out, said)?,
            State::Tool => {
                let tool = self.tool.get_or_insert_default();
                if self.string.push(character, tool)? {
                    self.state = State::AfterValue;
                }
            }
            State::Text => {
                if self.string.push(character, out)? {
                    self.state = State::AfterValue;
                }
            }
            State::Raw(raw) => self.raw(raw, character, out),
            State::Closed => {}
            _ => return Err(Broken),
        }
        Ok(())
    }

    /// The first character of a value.
    fn value(&mut self, character: char, out: &mut String, said: &mut Vec<Said>) -> Result<(), Broken> {
        self.string = JsonString::default();
        self.nesting = Nesting::default();
        match (self.key.as_str(), character) {
            ("tool", '"') if self.tool.is_none() => self.state = State::Tool,
            ("with", _) if self.tool.is_none() => self.raw(Raw::Early, character, out),
            ("with", '"') if self.is_reply() && !self.json_reply => {
                self.undecided = None;
                self.state = State::Text;
            }
            ("with", _) if self.is_reply() => {
                self.undecided = None;
                self.raw(Raw::Text, character, out);
            }
            ("with", '{') => {
                self.undecided = None;
                said.push(Said::Call(self.tool.clone().unwrap_or_default()));
                self.raw(Raw::Arguments, character, out);
            }
            ("tool" | "with", _) => return Err(Broken),
            // Nothing else was asked for: it is JSON of another form.
            _ if self.undecided.is_some() => return Err(Broken),
            _ => self.raw(Raw::Skipped, character, out),
        }
        Ok(())
    }

    fn raw(&mut self, raw: Raw, character: char, out: &mut String) {
        self.state = State::Raw(raw);
        let ended = self.nesting.push(character);
        match raw {
            Raw::Arguments | Raw::Text => out.push(character),
            Raw::Early => self.early.push(character),
            Raw::Skipped => {}
        }
        if ended {
            self.state = State::AfterValue;
        }
    }

    fn close(&mut self, out: &mut String, said: &mut Vec<Said>) -> Result<(), Broken> {
        self.state = State::Closed;
        if self.undecided.is_some() {
            let tool = self.tool.clone().ok_or(Broken)?;
            let with = std::mem::take(&mut self.early);
            if !self.is_reply() {
                if !with.starts_with('{') {
                    return Err(Broken);
                }
                said.push(Said::Call(tool));
                *out = with;
            } else if self.json_reply {
                *out = with;
            } else {
                *out = serde_json::from_str(&with).map_err(|_| Broken)?;
            }
            self.undecided = None;
        }
        self.flush(out, said);
        self.closed = true;
        Ok(())
    }

    fn flush(&self, out: &mut String, said: &mut Vec<Said>) {
        if !out.is_empty() {
            let out = std::mem::take(out);
            said.push(if self.is_reply() { Said::Text(out) } else { Said::Arguments(out) });
        }
    }

    fn is_reply(&self) -> bool {
        self.tool.as_ref() == Some(&self.reply)
    }
}

/// Where a JSON value ends. Only objects, arrays and strings are known to have ended by themselves.
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
    escape: Escape,
    /// The first half of a pair of `\u` escapes.
    high: Option<u32>,
}

#[derive(Debug, Default, Clone, Copy)]
enum Escape {
    #[default]
    No,
    Begun,
    Unicode {
        digits: u8,
        value: u32,
    },
}

impl JsonString {
    /// Returns `true` if the string ends with this character. Half of a surrogate pair becomes U+FFFD.
    fn push(&mut self, character: char, out: &mut String) -> Result<bool, Broken> {
        match (self.escape, character) {
            (Escape::No, '"') => {
                self.lone(out);
                return Ok(true);
            }
            (Escape::No, '\\') => self.escape = Escape::Begun,
            (Escape::Begun, 'u') => self.escape = Escape::Unicode { digits: 0, value: 0 },
            (Escape::Unicode { digits, value }, _) => {
                let value = value * 16 + character.to_digit(16).ok_or(Broken)?;
                self.escape = Escape::Unicode { digits: digits + 1, value };
                if digits == 3 {
                    self.escape = Escape::No;
                    self.unit(value, out);
                }
            }
            (Escape::No, _) => {
                self.lone(out);
                out.push(character);
            }
            (Escape::Begun, _) => {
                self.escape = Escape::No;
                self.lone(out);
                out.push(match character {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    '"' | '\\' | '/' => character,
                    _ => return Err(Broken),
                });
            }
        }
        Ok(false)
    }

    /// A UTF-16 code unit.
    fn unit(&mut self, unit: u32, out: &mut String) {
        match (self.high.take(), unit) {
            (Some(high), 0xDC00..=0xDFFF) => {
                let pair = 0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00);
                out.push(char::from_u32(pair).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            (high, _) => {
                out.extend(high.map(|_| char::REPLACEMENT_CHARACTER));
                if (0xD800..0xDC00).contains(&unit) {
                    self.high = Some(unit);
                } else {
                    out.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
            }
        }
    }

    fn lone(&mut self, out: &mut String) {
        if self.high.take().is_some() {
            out.push(char::REPLACEMENT_CHARACTER);
        }
    }
}
