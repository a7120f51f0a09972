//! Pieces of the text of a run that another instance drives, and that wait for those before them.

use std::collections::BTreeMap;

use omniassist_core::RunEvent;
use omniassist_core::journal;

use crate::store::TailPiece;

/// The number of pieces that wait. Later ones are dropped, since the journal has their text soon.
const MAX: usize = 64;

/// Pieces in the order of their epochs and events.
#[derive(Default)]
pub(in crate::engine) struct Pieces(BTreeMap<(u32, u32), TailPiece>);

impl Pieces {
    pub(in crate::engine) fn insert(&mut self, piece: TailPiece) {
        if self.0.len() < MAX {
            self.0.insert((piece.epoch, piece.from), piece);
        }
    }

    pub(in crate::engine) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the next piece of an epoch, of which this many events were shown. Drops those that show nothing new.
    pub(in crate::engine) fn next(&mut self, epoch: u32, published: u64) -> Option<TailPiece> {
        self.0.retain(|_, piece| {
            piece.epoch > epoch || (piece.epoch == epoch && u64::from(piece.until) > published)
        });
        let first = self.0.first_entry()?;
        let is_next = first.get().epoch == epoch && u64::from(first.get().from) <= published;
        is_next.then(|| first.remove())
    }
}

/// Returns the events of a piece, or `None` if this version cannot read all of them.
pub(in crate::engine) fn events_of(piece: &TailPiece) -> Option<Vec<RunEvent>> {
    let events = journal::exact(&journal::read(&piece.data).ok()?);
    let count = usize::try_from(piece.until.checked_sub(piece.from)?).ok()?;
    (events.len() == count).then_some(events)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::store::RunId;

    #[test]
    fn pieces_are_shown_in_their_epoch_and_order() {
        let (mut pieces, run) = (Pieces::default(), RunId::random());
        let piece = |epoch, from, until| TailPiece::new(run, epoch, from, until, "");
        for (epoch, from, until) in [(3, 0, 9), (2, 8, 9), (2, 4, 6), (1, 4, 8), (2, 2, 4), (2, 5, 8)] {
            pieces.insert(piece(epoch, from, until));
        }
        assert_eq!(pieces.next(2, 3), Some(piece(2, 2, 4)));
        assert_eq!(pieces.next(2, 4), Some(piece(2, 4, 6)));
        // Nothing is skipped, and a later claim comes with its journal.
        assert_eq!(pieces.next(2, 4), None);
        assert_eq!(pieces.next(2, 6), Some(piece(2, 5, 8)));
        assert_eq!(pieces.next(2, 9), None);
        assert_eq!(pieces.next(3, 9), None);
        assert!(pieces.is_empty());
    }

    #[test]
    fn a_piece_with_another_number_of_events_is_not_shown() {
        let mut writer = journal::SegmentWriter::new();
        writer.event(&RunEvent::StepStart).unwrap();
        let data = writer.take().unwrap().bytes;
        let piece = |until| TailPiece::new(RunId::random(), 1, 4, until, data.clone());
        assert_eq!(events_of(&piece(5)), Some(vec![RunEvent::StepStart]));
        assert!(events_of(&piece(6)).is_none() && events_of(&piece(3)).is_none());
    }
}
