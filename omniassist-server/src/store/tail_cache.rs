use std::pin::Pin;

use bytes::Bytes;
use futures_core::Stream;

use super::RunId;

/// The pieces that an instance receives. The stream does not end.
pub type TailStream = Pin<Box<dyn Stream<Item = Vec<TailPiece>> + Send>>;

/// A way for the latest text of runs to the other instances of a store that is faster than the store.
///
/// The instance of a run sends what its own viewers see, if the run is [watched](super::SignalKind::Watch) on another
/// instance. The journal stays the truth: a piece may be lost, repeated, late, out of order, or sent by an instance that has
/// lost its run. Viewers then get the text from the journal, at the latest one second later.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not carry the text of runs between instances",
    note = "implement `TailCache`"
)]
pub trait TailCache: Send + Sync + 'static {
    /// Sends pieces to all instances. It does not wait.
    ///
    /// Returns `false` if the cache does not work now and the pieces were dropped. Until it returns `true` again, the text
    /// is written to the store more often.
    fn push(&self, pieces: &[TailPiece]) -> bool;

    /// Returns the pieces that arrive from now on. Those of this instance may be among them.
    fn listen(&self) -> TailStream;
}

/// Successive events of a run, as its instance has shown them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TailPiece {
    /// The run.
    pub run: RunId,
    /// The number of the claim in which the events were shown. Events of one claim and number are the same everywhere.
    pub epoch: u32,
    /// The number of the first event.
    pub from: u32,
    /// The number of the event after the last one.
    pub until: u32,
    /// The events, in the format of `omniassist_core::journal`. The cache does not read them.
    pub data: Bytes,
}

impl TailPiece {
    /// Creates a piece.
    #[must_use]
    pub fn new(run: RunId, epoch: u32, from: u32, until: u32, data: impl Into<Bytes>) -> Self {
        Self { run, epoch, from, until, data: data.into() }
    }
}
