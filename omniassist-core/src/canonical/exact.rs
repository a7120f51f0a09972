//! Numbers that JavaScript changes.
//!
//! JSON has decimal numbers of any length. A JavaScript client parses each as a double and posts a different number if
//! no double has exactly that value, such as an integer beyond 2⁵³.

use super::number;
use crate::JsonText;
use crate::json_tokens::{Token, Tokens, path_to};

/// A number that no double represents exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InexactNumber {
    /// The path of the number, such as `items[2].id`. Empty if the whole value is the number.
    pub path: String,
    /// The number as text.
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
    Some(InexactNumber { path: path_to(text.as_bytes(), at), number: number.to_owned() })
}

/// Returns the first number of a value from a JavaScript client that the client may have rounded: an integer from 2⁵³
/// on, or a number that no double represents exactly.
#[must_use]
pub fn rounded_number(json: &JsonText) -> Option<InexactNumber> {
    const FIRST: f64 = 9_007_199_254_740_992.0;
    let text = json.as_str();
    let is_large = |number: &str| number.parse::<f64>().is_ok_and(|number| number.abs() >= FIRST);
    let (at, number) = numbers(text).find(|(_, number)| is_large(number) || !number::survives(number))?;
    Some(InexactNumber { path: path_to(text.as_bytes(), at), number: number.to_owned() })
}

/// Returns the value with every number that JavaScript would change as a string, or `None` if there is none.
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

/// Returns `true` if JavaScript would write a number of the value differently, such as `1.0` as `1`.
#[must_use]
pub fn has_other_numbers(json: &JsonText) -> bool {
    let mut buffer = Vec::new();
    numbers(json.as_str()).any(|(_, number)| {
        buffer.clear();
        number::write(number, &mut buffer).is_none() || buffer != number.as_bytes()
    })
}

/// Returns `true` if the arrays and objects of a value are nested in more than `max` levels.
#[must_use]
pub fn is_deeper_than(json: &JsonText, max: usize) -> bool {
    let mut depth = 0_usize;
    Tokens::of(json.as_str().as_bytes()).any(|(_, token)| {
        match token {
            Token::Mark(b'{' | b'[') => depth += 1,
            Token::Mark(b'}' | b']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > max
    })
}

/// Returns the numbers of a JSON text with their offsets.
fn numbers(text: &str) -> impl Iterator<Item = (usize, &str)> {
    Tokens::of(text.as_bytes()).filter_map(|(at, token)| Some((at, token.number()?)))
}
