use std::future::Future;
use std::time::Duration;

/// The source of the stores that the functions of this module check.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not create stores to check",
    note = "implement `Factory` for a type of the test"
)]
pub trait Factory: Send + Sync {
    /// The store.
    type Store: Send + Sync;

    /// Creates an empty store. The suite calls it for each behaviour.
    fn create(&self) -> impl Future<Output = Self::Store> + Send;

    /// Lets time pass for a store.
    ///
    /// A store that uses tokio's clock calls `tokio::time::advance` in a test with a paused clock. A store that uses the
    /// clock of its database moves the times back by which it decides: the last change and the deletion of conversations,
    /// and for a store of runs the ends of leases, questions, watches and runs. The days of usage move by whole days. The
    /// times of messages stay.
    fn advance(&self, store: &Self::Store, by: Duration) -> impl Future<Output = ()> + Send;
}
