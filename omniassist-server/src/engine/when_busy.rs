/// The treatment of a post to a chat that has a run in progress.
///
/// Each process considers only its own runs. With several instances, send the requests of a chat to the same instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum WhenBusy {
    /// Stops the run in progress. The new one begins when it has ended, or after
    /// [`Limits::supersede_grace`](omniassist_core::Limits::supersede_grace).
    #[default]
    Supersede,
    /// Refuses the post with 409 `chat_busy`.
    Reject,
}
