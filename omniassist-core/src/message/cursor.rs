//! One walk over JSON, from the front to the end.
//!
//! What it passes over is checked on the way, so that a value may be kept as the slice that it is and looked into later.
//! `None` is all that it says of a fault; [`raw::read`](super::raw::read) has others tell which one it is.

use std::borrow::Cow;

use super::raw::{Found, Raw, Record};
use crate::json_guard::{Key, has_twice};
use crate::json_scan::{first_special, plain_length, unescape};

/// Reads a value at a cursor.
pub(crate) trait Seed<'a> {
    /// What it makes of the value.
    type Value;

    /// Reads the value that comes next. `None` for what is not JSON, or not what was checked for.
    fn read(self, cursor: &mut Cursor<'a>) -> Option<Self::Value>;
}

/// What is looked at on the way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Checks {
    /// Nothing: the text has been walked before.
    Known,
    /// Whether it is JSON.
    Json,
    /// Likewise, and what [`json_guard::check`](crate::json_guard::check) looks for: nesting, and keys that stand twice.
    /// A key with escapes is left to that.
    Guard {
        /// How deep arrays and objects may be nested.
        max_depth: usize,
    },
}

/// A place in a JSON text.
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    checks: Checks,
    /// What closes the arrays and objects that are open.
    open: Vec<u8>,
    /// The keys of all objects that are open, those of the innermost last. For the guard only.
    keys: Vec<Key<'a>>,
    /// For each object that is open, where its keys begin.
    first_keys: Vec<usize>,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, checks: Checks) -> Self {
        Self { text, at: 0, checks, open: Vec::new(), keys: Vec::new(), first_keys: Vec::new() }
    }

    /// Whether nothing follows.
    pub(super) fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.text.as_bytes().get(self.at)? {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// Takes a byte that may have white space before it.
    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then_some(())?;
        self.at += 1;
        Some(())
    }

    /// Opens an array or an object, whose first byte comes next. `false` where it is empty, and closed already.
    fn open(&mut self, closing: u8) -> Option<bool> {
        self.at += 1;
        if let Checks::Guard { max_depth } = self.checks
            && self.open.len() >= max_depth
        {
            return None;
        }
        if self.peek()? == closing {
            self.at += 1;
            return Some(false);
        }
        self.open.push(closing);
        if closing == b'}' {
            self.first_keys.push(self.keys.len());
        }
        Some(true)
    }

    /// Goes on behind a value of the innermost array or object. `false` where that ends here.
    fn next(&mut self) -> Option<bool> {
        let closing = *self.open.last()?;
        let byte = self.peek()?;
        self.at += 1;
        if byte == b',' {
            return Some(true);
        }
        (byte == closing).then_some(())?;
        self.open.pop();
        if closing == b'}' {
            let first = self.first_keys.pop()?;
            if has_twice(self.keys.get_mut(first..)?) {
                return None;
            }
            self.keys.truncate(first);
        }
        Some(false)
    }

    /// The content of the key that comes next, as it is written, and whether that has escapes.
    fn written_key(&mut self) -> Option<(&'a str, bool)> {
        (self.peek()? == b'"').then_some(())?;
        let from = self.at + 1;
        let escapes = self.string()?;
        let key = self.text.get(from..self.at - 1)?;
        self.take(b':')?;
        if matches!(self.checks, Checks::Guard { .. }) {
            if escapes {
                return None;
            }
            self.keys.push(Key::new(key.as_bytes()));
        }
        Some((key, escapes))
    }

    /// The key that comes next. `None` for one that is no text, too.
    fn key(&mut self) -> Option<Cow<'a, str>> {
        match self.written_key()? {
            (key, false) => Some(Cow::Borrowed(key)),
            (key, true) => unescape(key).map(Cow::Owned),
        }
    }

    /// Passes over a string, and says whether it has escapes. Halves of surrogate pairs are let pass.
    fn string(&mut self) -> Option<bool> {
        let bytes = self.text.as_bytes();
        let (mut at, mut escapes) = (self.at + 1, false);
        loop {
            let rest = bytes.get(at..)?;
            at += match rest.first_chunk() {
                Some(word) => match first_special(word) {
                    Some(length) => length,
                    None => {
                        at += word.len();
                        continue;
                    }
                },
                None => plain_length(rest),
            };
            match bytes.get(at)? {
                b'"' => {
                    self.at = at + 1;
                    return Some(escapes);
                }
                b'\\' => {}
                _ => return None,
            }
            escapes = true;
            match bytes.get(at + 1)? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => at += 2,
                b'u' => {
                    let digits = bytes.get(at + 2..at + 6)?;
                    digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
                    at += 6;
                }
                _ => return None,
            }
        }
    }

    fn digits(&mut self) -> usize {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        count
    }

    fn number(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        if bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        let starts_with_zero = bytes.get(self.at) == Some(&b'0');
        let whole = self.digits();
        if whole == 0 || (starts_with_zero && whole > 1) {
            return None;
        }
        if bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            (self.digits() > 0).then_some(())?;
        }
        if matches!(bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(bytes.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            (self.digits() > 0).then_some(())?;
        }
        Some(())
    }

    fn literal(&mut self, word: &str) -> Option<()> {
        self.text.get(self.at..)?.starts_with(word).then_some(())?;
        self.at += word.len();
        Some(())
    }

    /// Passes over a value. Nesting takes no stack.
    pub(crate) fn skip(&mut self) -> Option<()> {
        if self.checks == Checks::Known {
            self.peek()?;
            self.at += super::members::length(self.text.as_bytes().get(self.at..)?)?;
            return Some(());
        }
        let outside = self.open.len();
        loop {
            let opened = match self.peek()? {
                b'"' => self.string().map(|_| false),
                b'{' => self.open(b'}'),
                b'[' => self.open(b']'),
                b't' => self.literal("true").map(|()| false),
                b'f' => self.literal("false").map(|()| false),
                b'n' => self.literal("null").map(|()| false),
                _ => self.number().map(|()| false),
            };
            if !opened? {
                // The value has ended, and perhaps what it stands in.
                loop {
                    if self.open.len() == outside {
                        return Some(());
                    }
                    if self.next()? {
                        break;
                    }
                }
            }
            if self.open.last() == Some(&b'}') {
                self.written_key()?;
            }
        }
    }

    /// The value that comes next, as it is written.
    pub(crate) fn raw(&mut self) -> Option<Raw<'a>> {
        self.peek()?;
        let from = self.at;
        self.skip()?;
        self.text.get(from..self.at).map(Raw::known)
    }

    /// Reads the value that comes next, and gives it as it is written besides.
    pub(crate) fn with_raw<S: Seed<'a>>(&mut self, seed: S) -> Option<(Raw<'a>, S::Value)> {
        self.peek()?;
        let from = self.at;
        let value = seed.read(self)?;
        Some((self.text.get(from..self.at).map(Raw::known)?, value))
    }

    /// Reads an object into a record.
    pub(super) fn object<R: Record<'a>>(&mut self, mut record: R) -> Option<Found<R>> {
        if self.peek()? != b'{' {
            return self.other();
        }
        let mut duplicate = None;
        if self.open(b'}')? {
            loop {
                let key = self.key()?;
                if !record.set(&key, self)? {
                    self.skip()?;
                    duplicate = Some(key.into_owned());
                }
                if !self.next()? {
                    break;
                }
            }
        }
        Some(match duplicate {
            Some(key) => Found::Duplicate(key),
            None => Found::Value(record),
        })
    }

    /// Reads an array of at most `limit` elements. Elements beyond the limit are skipped, so they cost no memory.
    pub(super) fn array<S: Seed<'a>>(
        &mut self,
        limit: usize,
        item: impl Fn() -> S,
    ) -> Option<Found<Vec<S::Value>>> {
        if self.peek()? != b'[' {
            return self.other();
        }
        let (mut items, mut more) = (Vec::new(), false);
        if self.open(b']')? {
            loop {
                if items.len() < limit {
                    items.push(item().read(self)?);
                } else {
                    more = true;
                    self.skip()?;
                }
                if !self.next()? {
                    break;
                }
            }
        }
        Some(if more { Found::TooMany } else { Found::Value(items) })
    }

    /// Passes over a value of another kind than the one that is wanted.
    fn other<T>(&mut self) -> Option<Found<T>> {
        self.raw().map(|raw| Found::Other(super::raw::kind(raw)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    use super::*;

    fn is_json(text: &str, checks: Checks) -> bool {
        let mut cursor = Cursor::new(text, checks);
        let raw = cursor.raw();
        let whole = raw.is_some() && cursor.is_at_end();
        if let Some(raw) = raw.filter(|_| whole) {
            assert_eq!(raw.get(), text.trim_matches([' ', '\n', '\r', '\t']));
        }
        whole
    }

    fn is_json_to_serde(text: &str) -> bool {
        serde_json::from_str::<IgnoredAny>(text).is_ok()
    }

    #[test]
    fn what_is_json_is_what_serde_says() {
        for text in [
            "",
            " ",
            "1",
            "-",
            "-1",
            "01",
            "-0",
            "0.",
            "0.5",
            ".5",
            "1e",
            "1e5",
            "1E+05",
            "1e-",
            "+1",
            "1.5e-7",
            "--1",
            "1 2",
            "true",
            "tru",
            "truely",
            "nul",
            "null",
            "false ",
            "\"",
            "\"a",
            "\"a\"",
            "\"\\\"",
            "\"\\u12",
            "\"\\u12G4\"",
            "\"\\u12a4\"",
            "\"\\ud800\"",
            "\"\\x\"",
            "\"a\nb\"",
            "\"\u{7f}\"",
            "\"\u{1}\"",
            "[",
            "]",
            "[]",
            "[ ]",
            "[1",
            "[1,",
            "[1,]",
            "[,]",
            "[1 1]",
            "[1]]",
            "[[],[[]]]",
            "[}",
            "{]",
            "{",
            "{}",
            "{ }",
            "}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1",
            "{\"a\":1,",
            "{\"a\":1,}",
            "{\"a\":1}",
            "{a:1}",
            "{1:1}",
            "{\"a\" : 1 }",
            "{\"a\":[{\"b\":{}}, 1.5, \"\\\\\"]}",
            "{\"a\":1 \"b\":2}",
            "{\"a\",1}",
            "{\"a\":1:2}",
            "[\"a\":1]",
            "\u{feff}1",
            " \t\r\n[1]\n",
            "\u{a0}1",
            "{\"\\ud800\":1}",
            "[1]x",
        ] {
            assert_eq!(is_json(text, Checks::Json), is_json_to_serde(text), "{text:?}");
        }
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(is_json(&deep, Checks::Json) && !is_json(&deep, Checks::Guard { max_depth: 64 }));
    }

    /// Text that is JSON, nearly JSON, or was.
    fn text() -> impl Strategy<Value = String> {
        prop::collection::vec(
            prop_oneof![
                "[\\[\\]{},: 0-9.eE+-]{0,3}",
                prop::sample::select(vec![
                    "\"a\":",
                    "\"b\":1",
                    "\"\\u0061\":",
                    "[1,2]",
                    "{}",
                    "[]",
                    "true",
                    "null",
                    "\"x\\n\"",
                    "\"ü\"",
                    ",",
                ])
                .prop_map(str::to_owned),
            ],
            0..8,
        )
        .prop_map(|pieces| pieces.concat())
    }

    fn value() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![any::<String>().prop_map(|text| format!("{text:?}")), text()];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
                prop::collection::vec(("(a|b|c|\\\\u0061|[a-c]{9}){1,2}", inner), 0..4).prop_map(|entries| {
                    let entries: Vec<_> =
                        entries.into_iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
                    format!("{{{}}}", entries.join(","))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_text_is_json_where_serde_says_so(text in prop_oneof![text(), value()]) {
            prop_assert_eq!(is_json(&text, Checks::Json), is_json_to_serde(&text));
        }

        /// What the guard refuses is not let pass here; what it lets pass is, but for keys with escapes.
        #[test]
        fn the_guard_is_kept(text in value(), max_depth in 0_usize..5) {
            let guarded = crate::json_guard::check(text.as_bytes(), max_depth).is_ok() && is_json_to_serde(&text);
            let passed = is_json(&text, Checks::Guard { max_depth });
            prop_assert!(guarded || !passed);
            prop_assert!(passed || !guarded || text.contains('\\'));
        }
    }
}
