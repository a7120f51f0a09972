use std::cmp::Reverse;
use std::collections::HashSet;

use crate::message::{Message, Part, Role};

/// The maximum number of bytes of a text with statements. Longer texts are documents.
const MAX_TEXT: usize = 512;

/// The maximum number of bytes of one statement.
const MAX_STATEMENT: usize = 160;

/// The number of bytes that a list adds to a statement.
const LIST_ITEM: usize = 3;

/// Selects short statements of the user, word for word and in their order, with at most `max_bytes` in all.
///
/// A statement is the part of a line without questions. Statements with a name or a number are selected first, then the
/// shortest. The selection needs no model, so it complements a summary.
///
/// ```
/// use omniassist_core::Message;
/// use omniassist_core::history::statements;
///
/// let messages = [
///     Message::user("1", "Hello! My order is 4711. Where is it?"),
///     Message::assistant("2", "In Kiel."),
///     Message::user("3", "Who is the carrier?"),
/// ];
/// assert_eq!(statements(&messages, 500), ["Hello! My order is 4711."]);
/// ```
#[must_use]
pub fn statements(messages: &[Message], max_bytes: usize) -> Vec<&str> {
    let mut seen = HashSet::new();
    let mut found: Vec<_> = texts(messages)
        .flat_map(str::lines)
        .flat_map(unasked)
        .filter(|statement| seen.insert(*statement))
        .enumerate()
        .map(|(at, statement)| (is_specific(statement), statement, at))
        .collect();
    found.sort_by_key(|(is_specific, statement, at)| (!is_specific, statement.len(), Reverse(*at)));
    let mut left = max_bytes;
    found.retain(|(_, statement, _)| match left.checked_sub(statement.len() + LIST_ITEM) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    });
    found.sort_by_key(|(_, _, at)| *at);
    found.into_iter().map(|(_, statement, _)| statement).collect()
}

fn texts(messages: &[Message]) -> impl Iterator<Item = &str> {
    let parts =
        messages.iter().filter(|message| message.role == Role::User).flat_map(|message| &message.parts);
    parts.filter_map(|part| match part {
        Part::Text(part) if part.text.len() <= MAX_TEXT => Some(part.text.as_str()),
        _ => None,
    })
}

/// Returns the parts of a line without its questions.
fn unasked(line: &str) -> impl Iterator<Item = &str> {
    const ASKS: [char; 3] = ['?', '？', '؟'];
    let pieces = line.split_inclusive(ASKS).map(|piece| {
        if !piece.ends_with(ASKS) {
            return piece;
        }
        let ends = [". ", "! ", "。", "！"].into_iter().filter_map(|end| Some(piece.rfind(end)? + end.len()));
        piece.get(..ends.max().unwrap_or(0)).unwrap_or_default()
    });
    pieces
        .map(str::trim)
        .filter(|piece| piece.len() <= MAX_STATEMENT && piece.contains(|c: char| c.is_alphanumeric()))
}

/// Returns `true` for a number, and for a word with a capital letter inside a statement.
fn is_specific(statement: &str) -> bool {
    let is_name = |word: &str| word.starts_with(char::is_uppercase) && word.chars().nth(1).is_some();
    statement.contains(|c: char| c.is_numeric()) || statement.split_whitespace().skip(1).any(is_name)
}
