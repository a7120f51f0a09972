use std::fmt;
use std::str::FromStr;

/// A position in the stream of a stored run: everything up to the n-th chunk of a client's format.
///
/// Its text form, `epoch.chunk`, is the `id:` of server-sent events, and clients return it as `Last-Event-ID`. The epoch
/// is that of the run when the chunk was sent. After a restart of the server, text that was shown and not yet stored is
/// missing, so a position counts only together with its epoch.
///
/// ```
/// use omniassist_core::dialect::Cursor;
///
/// let cursor: Cursor = "1.42".parse()?;
/// assert_eq!(cursor, Cursor { epoch: 1, chunk: 42 });
/// assert_eq!(cursor.to_string(), "1.42");
/// assert!("-1".parse::<Cursor>().is_err());
/// # Ok::<(), omniassist_core::dialect::InvalidCursor>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// The number of the claim that drove the run; 1 for the first.
    pub epoch: u32,
    /// The number of the chunk. The first chunk has the number 1, and 0 is the beginning.
    pub chunk: u64,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.epoch, self.chunk)
    }
}

impl FromStr for Cursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        let (epoch, chunk) = text.split_once('.').ok_or(InvalidCursor(()))?;
        let (Ok(epoch), Ok(chunk)) = (epoch.parse(), chunk.parse()) else { return Err(InvalidCursor(())) };
        let cursor = Self { epoch, chunk };
        // Numbers with a sign or leading zeros are not positions that a server sent.
        if cursor.to_string() == text { Ok(cursor) } else { Err(InvalidCursor(())) }
    }
}

/// The error of a text that is not a [`Cursor`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidCursor(());

impl fmt::Display for InvalidCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the cursor is not of the form `epoch.chunk`")
    }
}

impl std::error::Error for InvalidCursor {}
