//! The decoder of chunked HTTP bodies.

/// Decodes the chunked transfer coding (RFC 9112, 7.1). Extensions and trailers are skipped.
#[derive(Debug, Default)]
pub(super) struct Chunked {
    state: State,
}

#[derive(Debug, Default, Clone, Copy)]
enum State {
    /// Before the size of a chunk.
    #[default]
    Start,
    /// Within the size, with its value so far.
    Size(usize),
    /// After the size, in the same line.
    Extension(usize),
    Data(usize),
    /// Between the data and the next line.
    DataEnd,
    /// In the empty line after the last chunk.
    Trailer,
    Done,
    Broken,
}

impl Chunked {
    /// Decodes `bytes` and appends their part of the body. Bytes that are not chunks end the body.
    pub(super) fn feed(&mut self, mut bytes: &[u8], body: &mut Vec<u8>) {
        while let [first, rest @ ..] = bytes {
            if let State::Data(left) = self.state {
                let (now, later) = bytes.split_at(left.min(bytes.len()));
                body.extend_from_slice(now);
                bytes = later;
                self.state = match left - now.len() {
                    0 => State::DataEnd,
                    left => State::Data(left),
                };
                continue;
            }
            bytes = rest;
            self.state = match (self.state, *first) {
                (State::Start, digit) => hex(digit).map_or(State::Broken, State::Size),
                (State::Size(size) | State::Extension(size), b'\n') => match size {
                    0 => State::Trailer,
                    size => State::Data(size),
                },
                (State::Size(size), b';' | b' ' | b'\r') => State::Extension(size),
                (State::Size(size), digit) => {
                    let size = hex(digit).and_then(|digit| size.checked_mul(16)?.checked_add(digit));
                    size.map_or(State::Broken, State::Size)
                }
                (State::DataEnd, b'\n') => State::Start,
                (State::Trailer, b'\n') => State::Done,
                (state @ (State::Extension(_) | State::Trailer | State::DataEnd), _) => state,
                (State::Data(_) | State::Done | State::Broken, _) => State::Broken,
            };
        }
    }

    /// Returns `true` if the last chunk has arrived, and nothing after it.
    pub(super) fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Returns `true` if the bytes were not chunks.
    pub(super) fn is_broken(&self) -> bool {
        matches!(self.state, State::Broken)
    }
}

fn hex(digit: u8) -> Option<usize> {
    char::from(digit).to_digit(16).and_then(|digit| usize::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cut_anywhere_give_the_same_body() {
        let bytes = b"5\r\nhello\r\n1A;x=1\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n";
        for cut in 0..=bytes.len() {
            let (mut chunked, mut body) = (Chunked::default(), Vec::new());
            let (head, tail) = bytes.split_at(cut);
            chunked.feed(head, &mut body);
            assert_eq!(chunked.is_done(), cut == bytes.len());
            chunked.feed(tail, &mut body);
            assert!(chunked.is_done() && body == b"helloabcdefghijklmnopqrstuvwxyz", "{cut}");
        }
    }

    #[test]
    fn bytes_that_are_not_chunks_are_an_error() {
        for bytes in [&b"x"[..], b"0\r\n\r\nmore", b"5g\r\n"] {
            let mut chunked = Chunked::default();
            chunked.feed(bytes, &mut Vec::new());
            assert!(chunked.is_broken(), "{bytes:?}");
        }
    }
}
