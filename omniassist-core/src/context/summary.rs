use std::error::Error as StdError;
use std::future::Future;
use std::pin::Pin;

use super::{Compressed, ContextBlock, ContextDigest};
use crate::Text;

/// What a [`ContextSummariser`] returns: the summary, or why there is none. Dropping it gives up the summary.
pub type SummaryFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Text, Box<dyn StdError + Send + Sync>>> + Send + 'a>>;

/// Shortens a block that the rules alone could not make short enough, usually by asking a small model.
///
/// It is asked only for blocks above [`ContextCompressor::max_bytes`](super::ContextCompressor::max_bytes). What it
/// returns is escaped and delimited as the block is. Where it fails, or returns nothing or more than it was given,
/// the block of the rules is used, so a failure costs length and not the run.
///
/// ```
/// use omniassist_core::Text;
/// use omniassist_core::context::{ContextSummariser, SummaryFuture, SummaryRequest};
///
/// struct FirstLines;
///
/// impl ContextSummariser for FirstLines {
///     fn summarise<'a>(&'a self, request: SummaryRequest<'a>) -> SummaryFuture<'a> {
///         Box::pin(async move {
///             let lines: Vec<_> = request.block().as_str().lines().skip(2).take(5).collect();
///             Ok(Text::from(lines.join("\n")))
///         })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a context summariser",
    note = "implement `ContextSummariser`; its method returns `Box::pin(async move {{ … }})`"
)]
pub trait ContextSummariser: Send + Sync {
    /// A shorter text that says what the block says.
    fn summarise<'a>(&'a self, request: SummaryRequest<'a>) -> SummaryFuture<'a>;
}

/// What a summariser is asked to shorten.
#[derive(Debug, Clone, Copy)]
pub struct SummaryRequest<'a> {
    pub(super) compressed: &'a Compressed,
    pub(super) block: &'a ContextBlock,
}

impl<'a> SummaryRequest<'a> {
    /// The block that the rules made: already redacted, escaped and delimited.
    #[must_use]
    pub fn block(&self) -> &'a ContextBlock {
        self.block
    }

    /// The key under which a summary of this block can be cached.
    #[must_use]
    pub fn digest(&self) -> ContextDigest {
        self.compressed.digest()
    }

    /// The length in bytes that the block should have stayed within; what to aim at.
    #[must_use]
    pub fn max_bytes(&self) -> usize {
        self.compressed.max_bytes()
    }
}
