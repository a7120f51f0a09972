use http::request::Parts;
use omniassist_core::Error;
use omniassist_core::dialect::Cursor;

use crate::http::request::query_value;

/// The header with which an `EventSource` names the last event that it has.
const LAST_EVENT_ID: &str = "last-event-id";

/// The position from which a client wants the events of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// The client has nothing that counts: it takes the whole message, with one delta for each block.
    Message,
    /// The client has the events up to this one.
    After {
        cursor: Cursor,
        /// The field of the request that has the cursor.
        field: &'static str,
    },
    /// The client is a `WorkflowChatTransport` of the AI SDK, which counts the chunks that it has. A negative number
    /// counts from the end.
    Index(i64),
}

impl Position {
    /// Reads the header `Last-Event-ID`, and the parameters `after` and `startIndex` of the query, in this order: a client
    /// that connects again sends the header beside the query of its first request.
    ///
    /// # Errors
    ///
    /// Returns an error that names the field if its value is not a position.
    pub(in crate::http) fn of(parts: &Parts) -> Result<Self, Error> {
        let cursor = |field, text: &str| match text.parse() {
            Ok(cursor) => Ok(Self::After { cursor, field }),
            Err(_) => Err(not_a_cursor(field)),
        };
        if let Some(value) = parts.headers.get(LAST_EVENT_ID) {
            return cursor("Last-Event-ID", value.to_str().unwrap_or_default());
        }
        if let Some(value) = query_value(&parts.uri, "after") {
            return cursor("?after", value);
        }
        match query_value(&parts.uri, "startIndex") {
            None => Ok(Self::Message),
            Some(value) => value
                .parse()
                .map(Self::Index)
                .map_err(|_| Error::invalid_field("?startIndex", "an integer", "another value")),
        }
    }
}

/// Returns the error of a field without a cursor that the run has sent.
pub(super) fn not_a_cursor(field: &'static str) -> Error {
    Error::invalid_field(field, "a cursor of the run, as in the `id:` of its events", "another value")
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn position(uri: &str, header: Option<&str>) -> Result<Position, String> {
        let mut request = Request::get(uri);
        if let Some(value) = header {
            request = request.header(LAST_EVENT_ID, value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        Position::of(&parts).map_err(|error| error.path().unwrap_or_default().to_owned())
    }

    #[test]
    fn the_latest_position_counts() {
        let after = |epoch, chunk, field| Ok(Position::After { cursor: Cursor { epoch, chunk }, field });
        assert_eq!(position("/c/stream", None), Ok(Position::Message));
        assert_eq!(position("/c/stream?after=1.7", None), after(1, 7, "?after"));
        assert_eq!(position("/c/stream?after=1.7", Some("2.9")), after(2, 9, "Last-Event-ID"));
        assert_eq!(position("/c/stream?startIndex=7", None), Ok(Position::Index(7)));
        assert_eq!(position("/c/stream?startIndex=-10", None), Ok(Position::Index(-10)));
        assert_eq!(position("/c/stream?startIndex=7", Some("1.8")), after(1, 8, "Last-Event-ID"));
    }

    /// A position that is not understood must never give everything, since the client would show its text twice.
    #[test]
    fn a_malformed_position_is_an_error_that_names_its_field() {
        for value in ["", "-1", "7", "1.", "1.-1", "x"] {
            assert_eq!(position("/c/stream", Some(value)), Err("Last-Event-ID".to_owned()), "{value}");
            assert_eq!(
                position(&format!("/c/stream?after={value}"), None),
                Err("?after".to_owned()),
                "{value}"
            );
        }
        for value in ["", "x", "1.5", "9223372036854775808"] {
            let uri = format!("/c/stream?startIndex={value}");
            assert_eq!(position(&uri, None), Err("?startIndex".to_owned()), "{value}");
        }
        let (parts, ()) =
            Request::get("/").header(LAST_EVENT_ID, &b"\xff"[..]).body(()).unwrap().into_parts();
        assert!(Position::of(&parts).is_err());
    }
}
