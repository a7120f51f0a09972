use serde_json::{Map, Number, Value};

use super::escape::Escape;
use crate::json_tokens::find_special;
use crate::{Error, Result};

/// The number of objects and arrays that may contain each other.
const DEPTH: usize = 64;

/// A parser of JSON that arrives in parts. It reads each byte once and builds the value in place.
///
/// The value does not depend on how the text is divided. It only grows: objects and arrays gain members, and strings
/// gain characters. The exception is an object that repeats a key, in which the last value counts. A member appears with
/// the first character of its value if that is a string, an object or an array. Numbers, `true`, `false` and `null`
/// appear when they are complete. A number at the root is complete after [`end`](Self::end), or after white space.
///
/// Objects and arrays may be nested 64 deep. Half a surrogate pair is an error, as in `serde_json`.
#[derive(Debug, Clone, Default)]
pub struct Growing {
    root: Option<Value>,
    /// The current member of each open object and array, from the outside in.
    path: Vec<Step>,
    state: State,
    /// The open number.
    number: String,
    escape: Escape,
    failure: Option<&'static str>,
}

/// The state of the value at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The value has not begun, or does not exist.
    Pending,
    /// The value is open.
    Streaming,
    /// The value is complete.
    Done,
}

#[derive(Debug, Clone)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// The token that the parser is in, or the tokens that it expects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Value,
    /// A value, or the end of the array.
    FirstItem,
    /// A key, or the end of the object.
    FirstKey,
    NextKey,
    Colon,
    /// A comma, or the end of the object or array.
    Next,
    /// The end of the text.
    End,
    InText,
    InKey,
    InNumber,
    InWord {
        word: &'static str,
        read: usize,
    },
}

impl Growing {
    /// Creates a parser that has read nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next part of the text.
    ///
    /// # Errors
    ///
    /// Fails if the text cannot become JSON, or is nested too deeply. The value up to the error remains, later parts are
    /// ignored, and each further call fails with the same error.
    pub fn push(&mut self, delta: &str) -> Result<()> {
        let mut rest = delta;
        while !rest.is_empty() && self.failure.is_none() {
            match self.read(rest) {
                Ok(read) => rest = rest.get(read..).unwrap_or_default(),
                Err(failure) => self.failure = Some(failure),
            }
        }
        self.error().map_or(Ok(()), Err)
    }

    /// Ends the text.
    ///
    /// # Errors
    ///
    /// Fails if the value is open, or if an earlier part was an error.
    pub fn end(&mut self) -> Result<()> {
        if self.state == State::InNumber && self.failure.is_none() {
            self.failure = self.close_number().err();
        }
        if self.state != State::End {
            self.failure = self.failure.or(Some("the text ends before the value"));
        }
        self.error().map_or(Ok(()), Err)
    }

    /// Returns the value so far, or `None` while there is none.
    #[must_use]
    pub fn value(&self) -> Option<&Value> {
        self.root.as_ref()
    }

    /// Returns `true` if the value is complete, without an error.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.state == State::End && self.failure.is_none()
    }

    /// Returns the first error.
    #[must_use]
    pub fn error(&self) -> Option<Error> {
        self.failure.map(Error::invalid_json)
    }

    /// Returns the JSON pointer of the innermost open value, or `None` if no value is open. That value does not appear
    /// yet if it is a number, `true`, `false` or `null`.
    #[must_use]
    pub fn open(&self) -> Option<String> {
        let mut pointer = String::new();
        for step in self.open_path()? {
            pointer.push('/');
            match step {
                Step::Key(key) => pointer.push_str(&key.replace('~', "~0").replace('/', "~1")),
                Step::Index(index) => pointer.push_str(itoa::Buffer::new().format(*index)),
            }
        }
        Some(pointer)
    }

    /// Returns the status of the value at a JSON pointer, such as `/rows/3`. The pointer of the whole value is empty.
    #[must_use]
    pub fn status(&self, pointer: &str) -> Status {
        let open = self.open();
        let below = open.as_ref().and_then(|open| open.strip_prefix(pointer));
        if below.is_some_and(|below| below.is_empty() || below.starts_with('/')) {
            Status::Streaming
        } else if self.value().is_some_and(|value| value.pointer(pointer).is_some()) {
            Status::Done
        } else {
            Status::Pending
        }
    }

    /// Returns the path of the innermost open value.
    pub(super) fn open_path(&self) -> Option<&[Step]> {
        match self.state {
            State::InText | State::InNumber | State::InWord { .. } => Some(&self.path),
            _ => self.path.split_last().map(|(_, path)| path),
        }
    }

    /// Reads a token, or a part of one. Returns its length, which is 0 if only the state changes.
    fn read(&mut self, rest: &str) -> Result<usize, &'static str> {
        match self.state {
            State::InText | State::InKey => self.read_string(rest),
            State::InNumber => {
                let length = rest.bytes().take_while(is_of_number).count();
                self.number.push_str(rest.get(..length).unwrap_or_default());
                if length < rest.len() {
                    self.close_number()?;
                }
                Ok(length)
            }
            State::InWord { word, read } => self.read_word(rest, word, read),
            _ => {
                let space = rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
                let space = space.count();
                match rest.as_bytes().get(space) {
                    Some(mark) => Ok(space + self.read_mark(*mark)?),
                    None => Ok(space),
                }
            }
        }
    }

    /// Reads the first byte of a token. Returns 0 if the token is not a mark.
    fn read_mark(&mut self, mark: u8) -> Result<usize, &'static str> {
        let in_object = matches!(self.path.last(), Some(Step::Key(_)));
        match (self.state, mark) {
            (State::Value | State::FirstItem, _) if mark != b']' => return self.begin(mark),
            (State::FirstItem, b']') | (State::FirstKey, b'}') => self.close(),
            (State::Next, b']') if !in_object => self.close(),
            (State::Next, b'}') if in_object => self.close(),
            (State::FirstKey | State::NextKey, b'"') => {
                if let Some(Step::Key(key)) = self.path.last_mut() {
                    key.clear();
                }
                self.state = State::InKey;
            }
            (State::Colon, b':') => self.state = State::Value,
            (State::Next, b',') => match self.path.last_mut() {
                Some(Step::Index(index)) => {
                    *index += 1;
                    self.state = State::Value;
                }
                _ => self.state = State::NextKey,
            },
            (State::End, _) => return Err("text after the end of the value"),
            _ => return Err("an unexpected character"),
        }
        Ok(1)
    }

    /// Begins a value. Returns the length of its first mark.
    fn begin(&mut self, mark: u8) -> Result<usize, &'static str> {
        let (state, length) = match mark {
            b'"' => {
                self.put(Value::String(String::new()));
                (State::InText, 1)
            }
            b'{' | b'[' if self.path.len() >= DEPTH => return Err("too many nested objects and arrays"),
            b'{' => {
                self.put(Value::Object(Map::new()));
                self.path.push(Step::Key(String::new()));
                (State::FirstKey, 1)
            }
            b'[' => {
                self.put(Value::Array(Vec::new()));
                self.path.push(Step::Index(0));
                (State::FirstItem, 1)
            }
            b'-' | b'0'..=b'9' => (State::InNumber, 0),
            b't' => (State::InWord { word: "true", read: 0 }, 0),
            b'f' => (State::InWord { word: "false", read: 0 }, 0),
            b'n' => (State::InWord { word: "null", read: 0 }, 0),
            _ => return Err("an unexpected character"),
        };
        self.state = state;
        Ok(length)
    }

    fn read_word(&mut self, rest: &str, word: &'static str, read: usize) -> Result<usize, &'static str> {
        let expected = word.get(read..).unwrap_or_default();
        let length = expected.bytes().zip(rest.bytes()).take_while(|(expected, found)| expected == found);
        let length = length.count();
        if length == expected.len() {
            self.put(match word {
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                _ => Value::Null,
            });
            self.close_scalar();
        } else if length == rest.len() {
            self.state = State::InWord { word, read: read + length };
        } else {
            return Err("an unknown word");
        }
        Ok(length)
    }

    fn read_string(&mut self, rest: &str) -> Result<usize, &'static str> {
        let target = match self.state {
            State::InText => match find(&mut self.root, &self.path) {
                Some(Value::String(text)) => Some(text),
                _ => None,
            },
            _ => match self.path.last_mut() {
                Some(Step::Key(key)) => Some(key),
                _ => None,
            },
        };
        let Some(target) = target else { return Err("a string without a place") };
        let mut at = 0;
        while let Some(byte) = rest.as_bytes().get(at) {
            if self.escape.is_open() {
                target.extend(self.escape.add(*byte)?);
                at += 1;
                continue;
            }
            let tail = rest.get(at..).unwrap_or_default();
            let length = find_special(tail.as_bytes()).unwrap_or(tail.len());
            target.push_str(tail.get(..length).unwrap_or_default());
            at += length + 1;
            match tail.as_bytes().get(length) {
                Some(b'"') if self.state == State::InKey => {
                    self.state = State::Colon;
                    return Ok(at);
                }
                Some(b'"') => {
                    self.close_scalar();
                    return Ok(at);
                }
                Some(b'\\') => self.escape.begin(),
                Some(_) => return Err("a control character in a string"),
                None => {}
            }
        }
        Ok(rest.len())
    }

    fn close_number(&mut self) -> Result<(), &'static str> {
        let number: Number = serde_json::from_str(&self.number).map_err(|_| "an invalid number")?;
        self.number.clear();
        self.put(Value::Number(number));
        self.close_scalar();
        Ok(())
    }

    fn close(&mut self) {
        self.path.pop();
        self.close_scalar();
    }

    fn close_scalar(&mut self) {
        self.state = if self.path.is_empty() { State::End } else { State::Next };
    }

    /// Adds the current member to the innermost open object or array.
    fn put(&mut self, value: Value) {
        let Some((member, path)) = self.path.split_last() else {
            self.root = Some(value);
            return;
        };
        match (find(&mut self.root, path), member) {
            (Some(Value::Object(members)), Step::Key(key)) => drop(members.insert(key.clone(), value)),
            (Some(Value::Array(items)), Step::Index(_)) => items.push(value),
            _ => {}
        }
    }
}

/// Returns the value at a path. The indices of an open path are those of the last items.
pub(super) fn find<'a>(root: &'a mut Option<Value>, path: &[Step]) -> Option<&'a mut Value> {
    path.iter().try_fold(root.as_mut()?, |value, step| match (value, step) {
        (Value::Object(members), Step::Key(key)) => members.get_mut(key),
        (Value::Array(items), Step::Index(_)) => items.last_mut(),
        _ => None,
    })
}

fn is_of_number(byte: &u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
}
