//! The stream of a model's answer and its decoder, which providers and the transport share.

use std::pin::Pin;

use bytes::Bytes;
use futures_core::Stream;
use omniassist_core::{EventBuf, LlmEvent};

use crate::Result;

/// The events of a model's answer, while the model writes it. Dropping the stream closes the connection to the
/// provider.
pub type LlmStream = Pin<Box<dyn Stream<Item = Result<LlmEvent>> + Send>>;

/// Reads one provider answer: bytes in, events out, no I/O. Any chunking of the same bytes gives the same events.
pub trait WireDecoder: Send {
    /// Reads the next bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes violate the protocol or carry a provider's error. Events pushed before it are
    /// valid. A decoder that has failed stays failed.
    fn feed(&mut self, chunk: Bytes, events: &mut EventBuf<LlmEvent>) -> Result<()>;

    /// Ends the body.
    ///
    /// # Errors
    ///
    /// Returns an error if the answer was incomplete ([`Interrupted`](crate::ProviderErrorKind::Interrupted)).
    fn finish(&mut self, events: &mut EventBuf<LlmEvent>) -> Result<()>;

    /// Returns `true` if the answer is complete before the body has ended. A connection that breaks or goes silent is then
    /// the end of the body, and not a failure. Default: `false`.
    fn is_complete(&self) -> bool {
        false
    }

    /// Returns `true` if the answer is complete and only token counts can follow. A silence of 2 s is then the end of the body.
    /// Otherwise a complete answer ends after [`Limits::idle_timeout`](omniassist_core::Limits::idle_timeout).
    ///
    /// Default: the value of [`is_complete`](Self::is_complete).
    fn has_ended(&self) -> bool {
        self.is_complete()
    }
}
