use crate::message::body::Body;
use crate::message::raw::{Raw, present};
use crate::{Error, Limits, Result, Text};

/// Checks the id of a chat or a run that a client chose: 1 to [`Limits::max_id_bytes`] bytes of printable ASCII,
/// without quotes, `/` and `\`, and neither `.` nor `..`. Such an id is safe in a path, a header, a log line and an
/// event stream. `stop` and `stream` are the names of routes, and are refused too.
///
/// `path` is the path of the id for the error.
///
/// # Errors
///
/// Returns an error for any other id.
pub fn check_chat_id(id: &str, path: &str, limits: &Limits) -> Result<()> {
    check_length(id, path, limits)?;
    let refused =
        |byte: u8| !matches!(byte, b' '..=b'~') || matches!(byte, b'"' | b'\'' | b'`' | b'/' | b'\\');
    let found = match id {
        "" => "an empty string",
        "." | ".." => "dots only",
        "stop" | "stream" => "the name of a route",
        _ if id.bytes().any(refused) => "a string with invalid characters",
        _ => return Ok(()),
    };
    Err(Error::invalid_field(path, "an id of printable ASCII without quotes, '/' and '\\'", found))
}

/// Checks the id of a message, a context entry or a tool call: 1 to [`Limits::max_id_bytes`] bytes without control
/// characters.
///
/// `path` is the path of the id for the error.
///
/// # Errors
///
/// Returns an error for any other id.
pub fn check_id(id: &str, path: &str, limits: &Limits) -> Result<()> {
    check_length(id, path, limits)?;
    let found = match id {
        "" => "an empty string",
        _ if id.chars().any(char::is_control) => "a string with control characters",
        _ => return Ok(()),
    };
    Err(Error::invalid_field(path, "an id without control characters", found))
}

/// Reads the optional id of a message or a context entry. Null and empty count as absent.
pub(crate) fn optional_id(
    body: Body<'_>,
    raw: Option<Raw<'_>>,
    key: &str,
    limits: &Limits,
) -> Result<Option<Text>> {
    optional(body, raw, key, |id| check_id(id, key, limits))
}

/// Reads the optional id of a chat. Null and empty count as absent.
pub(crate) fn optional_chat_id(
    body: Body<'_>,
    raw: Option<Raw<'_>>,
    key: &str,
    limits: &Limits,
) -> Result<Option<Text>> {
    optional(body, raw, key, |id| check_chat_id(id, key, limits))
}

fn optional(
    body: Body<'_>,
    raw: Option<Raw<'_>>,
    key: &str,
    check: impl FnOnce(&str) -> Result<()>,
) -> Result<Option<Text>> {
    let Some(raw) = present(raw) else { return Ok(None) };
    let id = body.text(Some(raw), key)?;
    if id.is_empty() {
        return Ok(None);
    }
    check(&id)?;
    Ok(Some(id))
}

fn check_length(id: &str, path: &str, limits: &Limits) -> Result<()> {
    if id.len() > limits.max_id_bytes {
        return Err(Error::limit_exceeded("max_id_bytes", limits.max_id_bytes, path.to_owned()));
    }
    Ok(())
}
