use std::pin::Pin;

use futures_core::Stream;

use super::RunId;

/// The hints that an instance receives. The stream does not end.
pub type WakeStream = Pin<Box<dyn Stream<Item = Woken> + Send>>;

/// Hints between the instances that share a store, so that they need not wait for their next look at it.
///
/// A hint may be lost, repeated or late: everything that it leads to also happens without it, up to two seconds later.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not pass hints between instances",
    note = "implement `Wake`"
)]
pub trait Wake: Send + Sync + 'static {
    /// Sends hints to all instances. It does not wait, and reports no failure.
    ///
    /// An implementation joins the hints of some milliseconds. It is called after the write that a hint is about.
    fn wake(&self, hints: &[Hint]);

    /// Returns the hints that arrive from now on. Those of this instance may be among them.
    fn listen(&self) -> WakeStream;

    /// Returns `false` if hints are known not to arrive here, so that the instance looks at the store as often as one
    /// without hints. Default: `true`.
    fn arrives(&self) -> bool {
        true
    }
}

/// A change that other instances may wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hint {
    /// The journal of a run that is [watched](super::SignalKind::Watch) has grown.
    Grown(RunId),
    /// A run has received a signal, or was deleted.
    Signalled(RunId),
    /// The instance of a run has left it, so that a claim may get it.
    Free(RunId),
}

/// An item of the hints that an instance receives.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Woken {
    /// Hints of an instance.
    Hints(Vec<Hint>),
    /// Hints may have been lost, for example because the connection was.
    Missed,
}
