/// The fate of a stored run whose server stopped.
///
/// A run that waits for an answer has no server, so nothing happens to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Recovery {
    /// The run goes on: the model is asked again for the turn that it did not complete. Tools that had begun run again if
    /// they are [read-only](crate::Tool::read_only) or [idempotent](crate::Tool::idempotent) only.
    #[default]
    Resume,
    /// The run ends as [`Interrupted`](crate::store::RunState::Interrupted). What it wrote is kept. The user can ask again.
    Interrupt,
}
