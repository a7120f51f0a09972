use std::error::Error as StdError;
use std::sync::Arc;

use super::{ContextBlock, ContextReceipt, ContextSummariser, Summary, SummaryRequest, SummaryUsage, write};
use crate::Text;

const SUMMARY: &str = "Summary:\n";

/// The result of [`ContextCompressor::compress`](super::ContextCompressor::compress).
#[derive(Debug, Clone)]
#[must_use]
pub struct Compressed {
    /// The bullets of the host's context, each a line. A summary does not replace them.
    host: Text,
    /// The block of the client's context alone.
    client: Option<ContextBlock>,
    block: Option<ContextBlock>,
    receipt: ContextReceipt,
    max_bytes: usize,
    used: Option<SummaryUsage>,
    error: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Compressed {
    pub(super) fn new(host: String, client: &str, receipt: ContextReceipt, max_bytes: usize) -> Self {
        let own = (!client.is_empty()).then(|| ContextBlock::of(&[client]));
        let block = match &own {
            _ if !host.is_empty() => Some(ContextBlock::of(&[&host, client])),
            own => own.clone(),
        };
        let bytes_after = block.as_ref().map_or(0, |block| block.as_str().len());
        Self {
            host: host.into(),
            client: own,
            block,
            receipt: ContextReceipt { bytes_after, ..receipt },
            max_bytes,
            used: None,
            error: None,
        }
    }

    /// Returns the block, or `None` if there is no context.
    #[must_use]
    pub fn block(&self) -> Option<&ContextBlock> {
        self.block.as_ref()
    }

    /// Converts the result into its block, or `None` if there is no context.
    #[must_use]
    pub fn into_block(self) -> Option<ContextBlock> {
        self.block
    }

    /// Returns the numbers of the compression.
    #[must_use]
    pub fn receipt(&self) -> &ContextReceipt {
        &self.receipt
    }

    /// Returns `true` if the client's context is over the size limit and no summary was tried yet.
    #[must_use]
    pub fn needs_summary(&self) -> bool {
        let bytes = self.client.as_ref().map_or(0, |block| block.as_str().len());
        bytes > self.max_bytes && !self.receipt.summarised && !self.receipt.summary_failed
    }

    /// Returns the request for a summariser, if the block [needs a summary](Self::needs_summary).
    #[must_use]
    pub fn summary_request(&self) -> Option<SummaryRequest<'_>> {
        let block = self.client.as_ref().filter(|_| self.needs_summary())?;
        Some(SummaryRequest { block, max_bytes: self.max_bytes })
    }

    /// Calls the summariser if the block [needs a summary](Self::needs_summary).
    ///
    /// If the summariser fails, the block stays unchanged; [`summary_error`](Self::summary_error) returns the error.
    /// Dropping the future cancels the summary.
    pub async fn summarise_with(self, summariser: &dyn ContextSummariser) -> Self {
        let Some(request) = self.summary_request() else { return self };
        match summariser.summarise(request).await {
            Ok(summary) => self.with_summary(summary),
            Err(error) => self.with_failed_summary(error),
        }
    }

    /// Replaces the bullets of the client's context by a summary, which is escaped and delimited in the same way. Its
    /// lines stay lines.
    ///
    /// Does nothing if the block [needs no summary](Self::needs_summary). A summary that is blank, or that would make
    /// the block longer, counts as failed.
    pub fn with_summary(mut self, summary: impl Into<Summary>) -> Self {
        if !self.needs_summary() {
            return self;
        }
        let Summary { text, used } = summary.into();
        self.used = used;
        let mut lines = String::new();
        // Escaping never makes a text shorter, so a text over the limit need not be read.
        if text.trim().len() <= self.receipt.bytes_after {
            for line in text.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
                write::line(&mut lines, line);
                lines.push('\n');
            }
        }
        let block = ContextBlock::of(&[&self.host, SUMMARY, &lines]);
        if lines.is_empty() || block.as_str().len() > self.receipt.bytes_after {
            self.receipt.summary_failed = true;
            return self;
        }
        self.receipt.bytes_after = block.as_str().len();
        self.receipt.summarised = true;
        self.block = Some(block);
        self
    }

    /// Records that there is no summary. The block stays unchanged.
    pub fn with_failed_summary(mut self, error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        if self.needs_summary() {
            self.receipt.summary_failed = true;
            self.error = Some(Arc::from(error.into()));
        }
        self
    }

    /// Returns the error of the summariser, if it failed.
    #[must_use]
    pub fn summary_error(&self) -> Option<&(dyn StdError + 'static)> {
        self.error.as_deref().map(|error| error as &(dyn StdError + 'static))
    }

    /// Returns the tokens that the summary used, if its summariser reported them.
    #[must_use]
    pub fn summary_usage(&self) -> Option<&SummaryUsage> {
        self.used.as_ref()
    }
}
