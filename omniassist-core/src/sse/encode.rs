//! Writes server-sent events into a buffer.
//!
//! The functions append to a `BytesMut` that the caller reuses or splits off, and allocate nothing beyond its growth.
//! No content can forge a field or end its event early: a line break in data starts a further `data` line, which a
//! reader joins again by line feeds; one in an event name or id is refused.
//!
//! For one JSON value per event use [`event`] or [`event_with`]; for free text or named events [`text_event`].
//!
//! ```
//! use bytes::BytesMut;
//! use omniassist_core::sse::encode;
//!
//! let mut out = BytesMut::new();
//! encode::event(&mut out, Some(1), br#"{"type":"start"}"#);
//! encode::text_event(&mut out, Some("note"), None, "two\nlines")?;
//! encode::keep_alive(&mut out);
//! assert_eq!(
//!     out,
//!     "id: 1\ndata: {\"type\":\"start\"}\n\nevent: note\ndata: two\ndata: lines\n\n: keep-alive\n\n",
//! );
//! # Ok::<(), omniassist_core::Error>(())
//! ```

use std::convert::Infallible;

use bytes::{BufMut, BytesMut};

use crate::{Error, Result};

/// The comment that [`keep_alive`] writes.
pub const KEEP_ALIVE: &[u8] = b": keep-alive\n\n";

/// The event that [`done`] writes.
pub const DONE: &[u8] = b"data: [DONE]\n\n";

/// Appends an event of one data value, which should be JSON on one line.
///
/// A carriage return or line feed in `data` splits it into several `data` lines; for JSON, where those occur only
/// between tokens, the value stays the same. The bytes should be UTF-8: that is not checked.
pub fn event(out: &mut BytesMut, id: Option<u64>, data: &[u8]) {
    let written = event_with(out, id, |out| {
        out.put_slice(data);
        Ok::<(), Infallible>(())
    });
    match written {
        Ok(()) => {}
        Err(never) => match never {},
    }
}

/// Appends an event whose data `write` appends, so that it is serialised straight into the buffer. `write` must leave
/// alone what the buffer holds already. As for [`event`], line breaks split the data.
///
/// # Errors
///
/// When `write` fails; the buffer is then as it was.
pub fn event_with<E>(
    out: &mut BytesMut,
    id: Option<u64>,
    write: impl FnOnce(&mut BytesMut) -> Result<(), E>,
) -> Result<(), E> {
    let start = out.len();
    if let Some(id) = id {
        out.put_slice(b"id: ");
        out.put_slice(itoa::Buffer::new().format(id).as_bytes());
        out.put_slice(b"\n");
    }
    out.put_slice(b"data: ");
    let from = out.len();
    if let Err(error) = write(out) {
        out.truncate(start);
        return Err(error);
    }
    let data = out.get(from..).unwrap_or_default();
    if memchr::memchr2(b'\n', b'\r', data).is_some() {
        let data = out.split_off(from);
        put_lines(out, b"data: ", &data);
    }
    out.put_slice(b"\n\n");
    Ok(())
}

/// Appends an event of any text, with an optional name and id.
///
/// Each line of `data` becomes a `data` line; CRLF and lone CR reach the reader as line feeds, as the format has no
/// other way. An empty name is left out. An empty id resets the reader's last id.
///
/// # Errors
///
/// When the name or id holds a line break, or the id a NUL, which would make readers ignore it. Nothing is written.
pub fn text_event(out: &mut BytesMut, name: Option<&str>, id: Option<&str>, data: &str) -> Result<()> {
    let (name, id) = (name.filter(|name| !name.is_empty()), id);
    if name.is_some_and(|name| memchr::memchr2(b'\n', b'\r', name.as_bytes()).is_some()) {
        return Err(Error::invalid_stream("an event name must not hold a line break"));
    }
    if id.is_some_and(|id| memchr::memchr3(b'\n', b'\r', 0, id.as_bytes()).is_some()) {
        return Err(Error::invalid_stream("an event id must hold neither a line break nor NUL"));
    }
    for (field, value) in [("event: ", name), ("id: ", id)] {
        if let Some(value) = value {
            out.put_slice(field.as_bytes());
            out.put_slice(value.as_bytes());
            out.put_slice(b"\n");
        }
    }
    out.put_slice(b"data: ");
    put_lines(out, b"data: ", data.as_bytes());
    out.put_slice(b"\n\n");
    Ok(())
}

/// Appends a comment, which readers ignore. Each line of `text` becomes a comment line.
pub fn comment(out: &mut BytesMut, text: &str) {
    out.put_slice(b": ");
    put_lines(out, b": ", text.as_bytes());
    out.put_slice(b"\n\n");
}

/// Appends the comment that keeps an idle connection open.
pub fn keep_alive(out: &mut BytesMut) {
    out.put_slice(KEEP_ALIVE);
}

/// Appends the event `[DONE]`, by which OpenAI's streams and the AI SDK's end.
pub fn done(out: &mut BytesMut) {
    out.put_slice(DONE);
}

/// Appends text whose first line stands after a prefix already written, with `prefix` before each further line.
fn put_lines(out: &mut BytesMut, prefix: &[u8], text: &[u8]) {
    let mut rest = text;
    while let Some(end) = memchr::memchr2(b'\n', b'\r', rest) {
        let (line, tail) = rest.split_at(end);
        out.put_slice(line);
        out.put_slice(b"\n");
        out.put_slice(prefix);
        rest = match tail {
            [b'\r', b'\n', rest @ ..] | [_, rest @ ..] => rest,
            [] => tail,
        };
    }
    out.put_slice(rest);
}
