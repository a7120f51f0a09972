use super::request::ProviderRequest;
use crate::Error;

/// An answer that the provider goes on with when the connection to it is lost.
pub(crate) trait Lasting: Send + Sync {
    /// Returns the number of the next event, from 0. `None` until the provider has named the answer, and after its end.
    fn position(&self) -> Option<u64>;

    /// Returns the request to send: `first`, or one for the rest of the answer. `None` if nobody reads the answer.
    fn next(&self, first: &ProviderRequest) -> Option<ProviderRequest>;

    /// Forgets the answer, because the provider refused to send its rest. The next request is then the first one again.
    fn forget(&self, refusal: &Error);
}
