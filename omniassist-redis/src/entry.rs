//! The content of an entry in the stream: hints and pieces of text.
//!
//! ```text
//! entry = (hint | piece)*
//! hint  = kind (1 byte: 1, 2 or 3) run (16 bytes)
//! piece = 4 (1 byte) run (16 bytes) epoch from until length (4 bytes each, big-endian) data
//! ```

use bytes::{Buf, BufMut, Bytes};
use omniassist_server::store::{Hint, RunId, TailPiece};

const GROWN: u8 = 1;
const SIGNALLED: u8 = 2;
const FREE: u8 = 3;
const PIECE: u8 = 4;

/// The bytes of a piece beside its data.
pub(crate) const OVERHEAD: usize = 1 + 16 + 4 * 4;

/// Hints and pieces.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) hints: Vec<Hint>,
    pub(crate) pieces: Vec<TailPiece>,
}

impl Entry {
    pub(crate) fn is_empty(&self) -> bool {
        self.hints.is_empty() && self.pieces.is_empty()
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for hint in &self.hints {
            let (kind, run) = match hint {
                Hint::Grown(run) => (GROWN, run),
                Hint::Signalled(run) => (SIGNALLED, run),
                Hint::Free(run) => (FREE, run),
                // A hint of a later version.
                _ => continue,
            };
            out.put_u8(kind);
            out.put_slice(run.as_bytes());
        }
        for piece in &self.pieces {
            let Ok(length) = u32::try_from(piece.data.len()) else { continue };
            out.put_u8(PIECE);
            out.put_slice(piece.run.as_bytes());
            out.put_u32(piece.epoch);
            out.put_u32(piece.from);
            out.put_u32(piece.until);
            out.put_u32(length);
            out.put_slice(&piece.data);
        }
        out
    }

    /// Reads an entry, up to what this version does not know.
    pub(crate) fn read(mut bytes: Bytes) -> Self {
        let mut entry = Self::default();
        while entry.read_one(&mut bytes).is_some() {}
        entry
    }

    fn read_one(&mut self, bytes: &mut Bytes) -> Option<()> {
        let kind = bytes.try_get_u8().ok()?;
        let mut run = [0; 16];
        bytes.try_copy_to_slice(&mut run).ok()?;
        let run = RunId::from_bytes(run);
        match kind {
            GROWN => self.hints.push(Hint::Grown(run)),
            SIGNALLED => self.hints.push(Hint::Signalled(run)),
            FREE => self.hints.push(Hint::Free(run)),
            PIECE => {
                let mut number = || bytes.try_get_u32().ok();
                let (epoch, from, until) = (number()?, number()?, number()?);
                let length = usize::try_from(number()?).ok()?;
                let data = (length <= bytes.len()).then(|| bytes.split_to(length))?;
                self.pieces.push(TailPiece::new(run, epoch, from, until, data));
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use super::*;

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        let run = RunId::random();
        let entry = Entry {
            hints: vec![Hint::Grown(run), Hint::Signalled(run), Hint::Free(run)],
            pieces: vec![TailPiece::new(run, 7, 3, 9, "text"), TailPiece::new(run, 7, 9, 9, "")],
        };
        let bytes = Bytes::from(entry.to_bytes());
        assert_eq!(Entry::read(bytes.clone()), entry);
        // A part of an entry, or one of a later version, gives what comes before.
        for length in 0..bytes.len() {
            let read = Entry::read(bytes.slice(..length));
            assert!(read.hints.len() <= 3 && entry.pieces.starts_with(&read.pieces));
        }
        assert!(Entry::read(Bytes::from_static(&[9; 40])).is_empty());
        assert_eq!(TailPiece::new(run, 1, 0, 1, "x").data.len() + OVERHEAD, {
            let one = Entry { hints: Vec::new(), pieces: vec![TailPiece::new(run, 1, 0, 1, "x")] };
            one.to_bytes().len()
        });
    }
}
