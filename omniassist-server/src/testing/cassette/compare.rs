//! Comparison of a request with the recorded one.

use serde_json::Value;

use super::file::RequestLine;
use super::scrub::REDACTED;

/// The maximum number of listed differences.
const MAX_LISTED: usize = 8;
/// The maximum number of characters of a value that are shown.
const SHOWN: usize = 100;

/// Returns the differences, one per line; empty if the requests are equal. Places in the body whose JSON
/// pointer is in `ignored` are not compared.
pub(super) fn differences(recorded: &RequestLine, asked: &RequestLine, ignored: &[String]) -> Vec<String> {
    let mut found = Found { lines: Vec::new(), ignored };
    found.text("method", &recorded.method, &asked.method);
    found.text("path", &recorded.path, &asked.path);
    match (recorded, asked) {
        (RequestLine { json: None, text: None, base64: None, .. }, _) => {}
        (RequestLine { json: Some(recorded), .. }, RequestLine { json: Some(asked), .. }) => {
            found.json("", recorded, asked);
        }
        (RequestLine { text: Some(recorded), .. }, RequestLine { text: Some(asked), .. }) => {
            found.text("body", recorded, asked);
        }
        _ if recorded.base64.is_some() && recorded.base64 == asked.base64 => {}
        _ => found.lines.push("body: other bytes than recorded".to_owned()),
    }
    let more = found.lines.len().saturating_sub(MAX_LISTED);
    found.lines.truncate(MAX_LISTED);
    if more > 0 {
        found.lines.push(format!("and {more} more"));
    }
    found.lines
}

struct Found<'a> {
    lines: Vec<String>,
    ignored: &'a [String],
}

impl Found<'_> {
    fn is_ignored(&self, at: &str) -> bool {
        self.ignored.iter().any(|pointer| pointer == at)
    }

    fn text(&mut self, place: &str, recorded: &str, asked: &str) {
        if !matches(recorded, asked) {
            self.lines.push(format!("{place}: recorded `{}`, asked `{}`", clip(recorded), clip(asked)));
        }
    }

    fn json(&mut self, at: &str, recorded: &Value, asked: &Value) {
        if self.is_ignored(at) {
            return;
        }
        match (recorded, asked) {
            (Value::Object(recorded), Value::Object(asked)) => {
                for (name, value) in recorded {
                    self.pair(&below(at, name), Some(value), asked.get(name));
                }
                for (name, value) in asked.iter().filter(|(name, _)| !recorded.contains_key(*name)) {
                    self.pair(&below(at, name), None, Some(value));
                }
            }
            (Value::Array(recorded), Value::Array(asked)) => {
                for index in 0..recorded.len().max(asked.len()) {
                    self.pair(&format!("{at}/{index}"), recorded.get(index), asked.get(index));
                }
            }
            (Value::String(recorded), Value::String(asked)) if matches(recorded, asked) => {}
            (recorded, asked) if recorded == asked => {}
            (recorded, asked) => {
                let (recorded, asked) = (clip(&recorded.to_string()), clip(&asked.to_string()));
                self.lines.push(format!("body {at}: recorded {recorded}, asked {asked}"));
            }
        }
    }

    fn pair(&mut self, at: &str, recorded: Option<&Value>, asked: Option<&Value>) {
        match (recorded, asked) {
            (Some(recorded), Some(asked)) => self.json(at, recorded, asked),
            _ if self.is_ignored(at) => {}
            (Some(value), None) => {
                self.lines.push(format!("body {at}: recorded {}, not asked", clip(&value.to_string())));
            }
            (None, Some(value)) => {
                self.lines.push(format!("body {at}: not recorded, asked {}", clip(&value.to_string())));
            }
            (None, None) => {}
        }
    }
}

/// A JSON pointer (RFC 6901).
fn below(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Returns `true` if a text equals the recorded one, where a redacted secret matches anything.
fn matches(recorded: &str, asked: &str) -> bool {
    let mut literals = recorded.split(REDACTED);
    let Some(mut rest) = literals.next().and_then(|first| asked.strip_prefix(first)) else { return false };
    let mut literals = literals.peekable();
    if literals.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(literal) = literals.next() {
        if literals.peek().is_none() {
            return rest.ends_with(literal);
        }
        match rest.split_once(literal) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    true
}

fn clip(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
