//! Numbers that JavaScript changes.
//!
//! JSON has decimal numbers of any length. A client in JavaScript reads each as a double, and posts another number
//! where no double has the value: an integer beyond 2⁵³, for example.

use super::number;
use crate::JsonText;

/// A number that no double holds exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InexactNumber {
    /// The place of the number: `items[2].id`. Empty where the whole value is the number.
    pub path: String,
    /// The number as it is written.
    pub number: String,
}

/// Returns the first number of a value that JavaScript would change.
///
/// ```
/// use omniassist_core::{JsonText, canonical};
///
/// let json = JsonText::parse(r#"{"cents": 5.0, "ids": [1, 9007199254740993]}"#)?;
/// let found = canonical::inexact_number(&json).expect("no double holds it");
/// assert_eq!((found.path.as_str(), found.number.as_str()), ("ids[1]", "9007199254740993"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn inexact_number(json: &JsonText) -> Option<InexactNumber> {
    let text = json.as_str();
    let (at, number) = numbers(text).find(|(_, number)| !number::survives(number))?;
    Some(InexactNumber { path: path_to(text, at), number: number.to_owned() })
}

/// Returns the first number of a value that came from a client in JavaScript and that the client may have rounded: an
/// integer from 2⁵³ on, or a number that no double holds.
#[must_use]
pub fn rounded_number(json: &JsonText) -> Option<InexactNumber> {
    const FIRST: f64 = 9_007_199_254_740_992.0;
    let text = json.as_str();
    let is_large = |number: &str| number.parse::<f64>().is_ok_and(|number| number.abs() >= FIRST);
    let (at, number) = numbers(text).find(|(_, number)| is_large(number) || !number::survives(number))?;
    Some(InexactNumber { path: path_to(text, at), number: number.to_owned() })
}

/// Returns the value with every number that JavaScript would change as a string. `None` where there is none.
#[must_use]
pub fn with_exact_numbers(json: &JsonText) -> Option<JsonText> {
    let text = json.as_str();
    let mut changed = String::new();
    let mut copied = 0;
    for (at, number) in numbers(text).filter(|(_, number)| !number::survives(number)) {
        changed.push_str(text.get(copied..at)?);
        changed.extend(["\"", number, "\""]);
        copied = at.saturating_add(number.len());
    }
    if copied == 0 {
        return None;
    }
    changed.push_str(text.get(copied..)?);
    Some(JsonText::from_raw(changed.into()))
}

/// Returns `true` where JavaScript would write a number of the value in another way: `1.0` as `1`.
#[must_use]
pub fn has_other_numbers(json: &JsonText) -> bool {
    let mut buffer = Vec::new();
    numbers(json.as_str()).any(|(_, number)| {
        buffer.clear();
        number::write(number, &mut buffer).is_none() || buffer != number.as_bytes()
    })
}

/// Returns `true` for a value whose arrays and objects are nested in more than `max` levels.
#[must_use]
pub fn is_deeper_than(json: &JsonText, max: usize) -> bool {
    let bytes = json.as_str().as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = after_string(bytes, at);
                continue;
            }
            b'{' | b'[' => depth = depth.saturating_add(1),
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > max {
            return true;
        }
        at += 1;
    }
    false
}

/// The numbers of a JSON text, with their places.
fn numbers(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => at = after_string(bytes, at),
                b'-' | b'0'..=b'9' => {
                    let start = at;
                    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                    at += bytes.iter().skip(start).take_while(|byte| is_part(byte)).count();
                    return Some((start, text.get(start..at)?));
                }
                _ => at += 1,
            }
        }
        None
    })
}

/// The place behind the string that begins at `start`.
fn after_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// The path of the value that begins at `offset`.
fn path_to(text: &str, offset: usize) -> String {
    let bytes = text.as_bytes();
    let mut steps = Vec::new();
    let (mut at, mut string) = (0, "");
    while at < offset {
        match bytes.get(at) {
            Some(b'"') => {
                let end = after_string(bytes, at);
                string = text.get(at + 1..end.saturating_sub(1)).unwrap_or_default();
                at = end;
                continue;
            }
            Some(b'{') => steps.push(Step::Key("")),
            Some(b'[') => steps.push(Step::Index(0)),
            Some(b'}' | b']') => drop(steps.pop()),
            Some(b':') => {
                if let Some(Step::Key(key)) = steps.last_mut() {
                    *key = string;
                }
            }
            Some(b',') => {
                if let Some(Step::Index(index)) = steps.last_mut() {
                    *index += 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Key(key) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(key);
            }
            Step::Index(index) => path.push_str(&format!("[{index}]")),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> JsonText {
        JsonText::parse(text.to_owned()).unwrap()
    }

    #[test]
    fn numbers_that_a_double_holds_are_left_alone() {
        for text in [
            "0",
            "-0",
            "1.0",
            "1e2",
            "100",
            "1E+2",
            "0.1",
            "-12.50",
            "9007199254740992",
            "-9007199254740991",
            "965.9130143999365",
            "1e21",
            "5e-324",
            "0.000001",
            "123456789012345.6",
        ] {
            assert_eq!(inexact_number(&json(text)), None, "{text}");
            assert_eq!(with_exact_numbers(&json(text)), None, "{text}");
        }
    }

    #[test]
    fn numbers_that_a_double_changes_are_found_and_become_strings() {
        for text in [
            "9007199254740993",
            "-9007199254740993",
            "1152921504606846976",
            "18446744073709551615",
            "0.10000000000000000001",
            "1.00000000000000000000001",
            "1e400",
            "1e-400",
            "123456789.123456789123",
        ] {
            assert_eq!(inexact_number(&json(text)).unwrap().number, text);
            assert_eq!(with_exact_numbers(&json(text)).unwrap().as_str(), format!("\"{text}\""));
        }
        let nested =
            json(r#"{"a": ["9007199254740993", {"b\"c": {"d": 1}, "id": 9007199254740993}], "z": 1e999}"#);
        assert_eq!(inexact_number(&nested).unwrap().path, "a[1].id");
        let exact =
            r#"{"a": ["9007199254740993", {"b\"c": {"d": 1}, "id": "9007199254740993"}], "z": "1e999"}"#;
        assert_eq!(with_exact_numbers(&nested).unwrap().as_str(), exact);
    }

    #[test]
    fn other_spellings_of_numbers_are_seen() {
        for (text, other) in
            [("1", false), ("1.0", true), ("1e2", true), ("0.1", false), (r#""1.0""#, false), ("-0", true)]
        {
            assert_eq!(has_other_numbers(&json(text)), other, "{text}");
        }
    }

    #[test]
    fn depth_counts_arrays_and_objects() {
        let value = json(r#"{"a": [["[[[["]]}"#);
        assert!(!is_deeper_than(&value, 3));
        assert!(is_deeper_than(&value, 2));
    }
}
