use std::future::Future;

/// A token that cancels work. Cloning gives another handle to the same token.
#[derive(Debug, Clone, Default)]
pub struct CancellationToken(tokio_util::sync::CancellationToken);

impl CancellationToken {
    /// Creates a token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns `true` if the token is cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Waits until the token is cancelled. Dropping the future only stops the waiting.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + 'static {
        self.0.clone().cancelled_owned()
    }

    /// Cancels the token, and every token made from it with [`child`](Self::child).
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Returns a token that is cancelled with this one, and that can be cancelled alone.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(self.0.child_token())
    }
}
