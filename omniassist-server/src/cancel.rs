use std::future::Future;

/// Tells work that it is no longer wanted. Cloning gives another handle to the same token.
#[derive(Debug, Clone, Default)]
pub struct CancellationToken(tokio_util::sync::CancellationToken);

impl CancellationToken {
    /// A token that nothing has fired.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the work is no longer wanted.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Waits until the work is no longer wanted. Dropping the future just stops waiting.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + 'static {
        self.0.clone().cancelled_owned()
    }

    /// Fires the token, and every token made from it with [`child`](Self::child).
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// A token that fires with this one, and can be fired alone.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(self.0.child_token())
    }
}
