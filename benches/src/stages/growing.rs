//! The parser of arguments that are still arriving.

use std::hint::black_box;

use omniassist_core::partial_json::Growing;

use super::Outcome;

/// A row of a table, in deltas of 4 bytes as tokens are. Its numbers and words begin and end within deltas.
const ROW: &[&str] = &[
    "{\"id", "\":17", ",\"na", "me\":", "\"Wan", "da \\", "u00e", "4\",\"", "paid", "\":fa", "lse}", ", \n ",
];

/// A text that grows.
pub(super) fn text(events: usize) -> Outcome<usize> {
    grow(r#"{"title": "Sales", "text": ""#, events, &[" tok"])
}

/// The rows of a table.
pub(super) fn rows(events: usize) -> Outcome<usize> {
    grow(r#"{"title": "Sales", "rows": ["#, events, ROW)
}

fn grow(opening: &str, events: usize, deltas: &[&str]) -> Outcome<usize> {
    let mut growing = Growing::new();
    growing.push(opening)?;
    let mut count = 0;
    for delta in deltas.iter().cycle().take(events) {
        growing.push(black_box(delta))?;
        count += usize::from(black_box(growing.value()).is_some());
    }
    Ok(count)
}
