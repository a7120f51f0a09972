use std::error::Error as StdError;
use std::future::Future;
use std::pin::Pin;

use super::ContextBlock;
use crate::{Text, Usage};

/// The result of a [`ContextSummariser`]. Dropping the future cancels the summary.
pub type SummaryFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Summary, Box<dyn StdError + Send + Sync>>> + Send + 'a>>;

/// Shortens a block that is still too long after the compressor's rules, usually with a small model.
///
/// It is called only for blocks longer than [`ContextCompressor::max_bytes`](super::ContextCompressor::max_bytes). The
/// summary is escaped and delimited like the block. If the summariser fails, or its summary is empty or longer than the
/// block, the block is used unchanged, so a failure never fails the run.
///
/// ```
/// use omniassist_core::context::{ContextSummariser, Summary, SummaryFuture, SummaryRequest};
///
/// struct FirstLines;
///
/// impl ContextSummariser for FirstLines {
///     fn summarise<'a>(&'a self, request: SummaryRequest<'a>) -> SummaryFuture<'a> {
///         Box::pin(async move {
///             let lines: Vec<_> = request.block().as_str().lines().skip(2).take(5).collect();
///             Ok(Summary::new(lines.join("\n")))
///         })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a context summariser",
    note = "implement `ContextSummariser`; its method returns `Box::pin(async move {{ … }})`"
)]
pub trait ContextSummariser: Send + Sync {
    /// Returns a shorter text with the content of the block.
    fn summarise<'a>(&'a self, request: SummaryRequest<'a>) -> SummaryFuture<'a>;
}

/// A block to summarise.
#[derive(Debug, Clone, Copy)]
pub struct SummaryRequest<'a> {
    pub(super) block: &'a ContextBlock,
    pub(super) max_bytes: usize,
}

impl<'a> SummaryRequest<'a> {
    /// Returns the block: redacted, escaped and delimited. It does not contain the context of the host. Equal blocks
    /// can share a summary.
    #[must_use]
    pub fn block(&self) -> &'a ContextBlock {
        self.block
    }

    /// Returns the size limit of the block in bytes, which the summary should meet.
    #[must_use]
    pub fn max_bytes(&self) -> usize {
        self.max_bytes
    }
}

/// A summary of a context block.
#[derive(Debug, Clone)]
#[must_use]
pub struct Summary {
    pub(super) text: Text,
    pub(super) used: Option<SummaryUsage>,
}

/// The tokens that a summary used.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SummaryUsage {
    /// The model that wrote the summary, if it is known.
    pub model: Option<Text>,
    /// The tokens of the model call.
    pub usage: Usage,
}

impl Summary {
    /// Creates a summary that used no tokens.
    pub fn new(text: impl Into<Text>) -> Self {
        Self { text: text.into(), used: None }
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// Returns the tokens that the summary used, if they were reported.
    #[must_use]
    pub fn used(&self) -> Option<&SummaryUsage> {
        self.used.as_ref()
    }

    /// Adds the tokens that the summary used. A run counts them in its usage, its cost and its token budget.
    pub fn with_usage(mut self, model: Option<Text>, usage: Usage) -> Self {
        self.used = Some(SummaryUsage { model, usage });
        self
    }
}

impl<T: Into<Text>> From<T> for Summary {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}
