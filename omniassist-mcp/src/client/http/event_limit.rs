use std::io;

use omniassist_server::BoxError;

/// A limit on the bytes between two empty lines of an event stream.
pub(super) struct EventLimit {
    max: usize,
    event: usize,
    is_line_empty: bool,
}

impl EventLimit {
    pub(super) fn new(max: usize) -> Self {
        Self { max, event: 0, is_line_empty: true }
    }

    /// Counts a piece of the stream.
    ///
    /// # Errors
    ///
    /// Returns an error if an event is too large, and that of the stream.
    pub(super) fn check<B, E>(&mut self, piece: Result<B, E>) -> Result<B, io::Error>
    where
        B: AsRef<[u8]>,
        E: Into<BoxError>,
    {
        let piece = piece.map_err(io::Error::other)?;
        for byte in piece.as_ref() {
            match byte {
                b'\n' if self.is_line_empty => self.event = 0,
                b'\n' => self.is_line_empty = true,
                b'\r' => {}
                _ => self.is_line_empty = false,
            }
            self.event += 1;
            if self.event > self.max {
                return Err(io::Error::other("an event of the server is too large"));
            }
        }
        Ok(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_an_event_are_counted_to_its_empty_line() {
        let mut limit = EventLimit::new(8);
        let mut fits = |piece: &'static str| limit.check(Ok::<_, io::Error>(piece)).is_ok();
        assert!(fits("data:1\n\n") && fits("d:2\r\n\r\n") && fits("data:12"));
        assert!(!fits("34"), "the pieces of an event count together");
    }
}
