//! The texts of complaints.

use serde_json::Value;

/// Bytes of a value that a complaint repeats. The model wrote it, and a longer one takes too much of its context.
const MAX_SHOWN_VALUE: usize = 80;
/// Values of an `enum` that a complaint lists.
const MAX_SHOWN_CHOICES: usize = 20;

/// One step on the way from the root to a value.
#[derive(Clone, Copy)]
pub(super) enum Step<'v> {
    Name(&'v str),
    Index(usize),
}

pub(super) fn place(path: &[Step<'_>]) -> String {
    if path.is_empty() {
        return "the root".to_owned();
    }
    let mut pointer = "`".to_owned();
    for step in path {
        pointer.push('/');
        match step {
            Step::Name(name) => pointer.push_str(&name.replace('~', "~0").replace('/', "~1")),
            Step::Index(index) => pointer.push_str(&index.to_string()),
        }
    }
    pointer.push('`');
    pointer
}

pub(super) fn show(value: &Value) -> String {
    let text = value.to_string();
    if text.len() > MAX_SHOWN_VALUE { "value".to_owned() } else { text }
}

pub(super) fn types_text(types: &Value) -> String {
    match types {
        Value::Array(names) if names.len() > 1 => {
            let names: Vec<String> = names.iter().map(Value::to_string).collect();
            format!("types {}", names.join(", "))
        }
        Value::Array(names) => format!("type {}", names.first().unwrap_or(&Value::Null)),
        name => format!("type {name}"),
    }
}

pub(super) fn choices_text<'a>(
    choices: impl IntoIterator<Item = &'a Value, IntoIter: ExactSizeIterator>,
) -> String {
    let choices = choices.into_iter();
    let count = choices.len();
    let shown: Vec<String> = choices.take(MAX_SHOWN_CHOICES).map(show).collect();
    match (count - shown.len(), shown.as_slice()) {
        (0, [first @ .., last]) if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        (0, _) => shown.join(", "),
        (more, _) => format!("{} or {more} others", shown.join(", ")),
    }
}
