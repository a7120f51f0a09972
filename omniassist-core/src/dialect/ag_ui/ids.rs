//! Ids of the messages that form one answer.
//!
//! The first assistant message of an answer has the answer's id. The ids of all others are `<answer>.<step>.<number>`.
//! Numbers never repeat within an answer.

use crate::message::read::check_id;
use crate::{Limits, Result, Text};

/// Returns the id of a further message of an answer.
pub(super) fn further(answer: &str, step: u32, number: u32) -> Text {
    format!("{answer}.{step}.{number}").into()
}

/// Parses an id in the form of [`further`] into answer, step and number. Ids from other sources can have the same form.
pub(super) fn parse(id: &str) -> Option<(&str, u32, u32)> {
    let (rest, number) = id.rsplit_once('.')?;
    let (answer, step) = rest.rsplit_once('.')?;
    if answer.is_empty() {
        return None;
    }
    Some((answer, count(step)?, count(number)?))
}

/// Parses a number without sign and leading zeros.
fn count(digits: &str) -> Option<u32> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    if plain || digits == "0" { digits.parse().ok() } else { None }
}

/// Checks the id of a posted message. The suffix that [`further`] appends does not count towards its length.
pub(super) fn check(id: &str, path: &str, limits: &Limits) -> Result<()> {
    check_id(parse(id).map_or(id, |(answer, ..)| answer), path, limits)
}
