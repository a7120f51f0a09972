/// A known field of an event stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Data,
    Event,
    Id,
    Retry,
}

/// The bytes that suffice to determine a known field and the start of its value: those of `event: `.
pub(super) const LONGEST_PREFIX: usize = 7;

/// Returns the field of a complete line and the start of its value. `None` for a comment or an unknown field.
pub(super) fn of_line(line: &[u8]) -> Option<(Field, usize)> {
    match line {
        b"data" | b"event" | b"id" | b"retry" => {
            let field = match line {
                b"data" => Field::Data,
                b"event" => Field::Event,
                b"id" => Field::Id,
                _ => Field::Retry,
            };
            Some((field, line.len()))
        }
        _ => of_prefix(line),
    }
}

/// Returns the same for an incomplete line of at least [`LONGEST_PREFIX`] bytes.
pub(super) fn of_prefix(line: &[u8]) -> Option<(Field, usize)> {
    let (field, name) = match line {
        [b'd', b'a', b't', b'a', b':', ..] => (Field::Data, 5),
        [b'e', b'v', b'e', b'n', b't', b':', ..] => (Field::Event, 6),
        [b'i', b'd', b':', ..] => (Field::Id, 3),
        [b'r', b'e', b't', b'r', b'y', b':', ..] => (Field::Retry, 6),
        _ => return None,
    };
    // One space after the colon belongs to the syntax, any further one to the value.
    Some((field, name + usize::from(line.get(name) == Some(&b' '))))
}
