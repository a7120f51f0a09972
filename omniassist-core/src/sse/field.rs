/// A known field of an event stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Data,
    Event,
}

/// The bytes that suffice to determine a known field and the start of its value, without a byte order mark: those of
/// `event: `.
pub(super) const LONGEST_PREFIX: usize = 7;

/// Returns the field of a line and the start of its value, or `None` for a comment or an unknown field. The line is
/// complete or has at least [`LONGEST_PREFIX`] bytes.
pub(super) fn of_line(line: &[u8]) -> Option<(Field, usize)> {
    let (field, rest) = match line.strip_prefix(b"data") {
        Some(rest) => (Field::Data, rest),
        None => (Field::Event, line.strip_prefix(b"event")?),
    };
    let name = line.len() - rest.len();
    match rest {
        [] => Some((field, name)),
        // One space after the colon belongs to the syntax, any further one to the value.
        [b':', b' ', ..] => Some((field, name + 2)),
        [b':', ..] => Some((field, name + 1)),
        _ => None,
    }
}
