//! Summaries of a run, and the tokens that they use. The tokens count also if the run ends before its first model call.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use omniassist_core::context::{Compressed, ContextSummariser, SummaryUsage};
use tokio::task::futures::TaskLocalFuture;
use tokio::time::timeout;

use crate::panics;
use crate::sync::lock;
use crate::telemetry::CallUsage;

/// The time that all summaries of one kind may take in one run.
pub(super) const MAX_TIME: Duration = Duration::from_secs(30);

/// One call of a summariser, and the bytes that it read and wrote.
pub(in crate::engine) struct Used {
    pub(in crate::engine) call: CallUsage,
    pub(in crate::engine) read: usize,
    pub(in crate::engine) written: usize,
}

/// The calls of summarisers that a run has not counted yet. A clone belongs to the same run.
#[derive(Clone, Default)]
pub(in crate::engine) struct SummaryCalls(Arc<Mutex<Vec<Used>>>);

tokio::task_local! {
    /// The calls of the run whose preparation is polled or dropped.
    static OF_RUN: SummaryCalls;
}

impl SummaryCalls {
    /// Collects the calls that a preparation makes, also those that end with it.
    pub(in crate::engine) fn of<F: Future>(&self, preparation: F) -> TaskLocalFuture<Self, F> {
        OF_RUN.scope(self.clone(), preparation)
    }

    pub(in crate::engine) fn take(&self) -> Vec<Used> {
        std::mem::take(&mut lock(&self.0))
    }
}

impl Used {
    /// Creates the use of a summary that has been written.
    pub(in crate::engine) fn of(summary: &SummaryUsage, read: usize, written: usize) -> Self {
        let call = CallUsage { model: summary.model.clone(), usage: summary.usage, is_complete: true };
        Self { call, read, written }
    }
}

/// Adds a call to those of the current run, if there is one.
pub(in crate::engine) fn add(used: Used) {
    let _ = OF_RUN.try_with(|calls| lock(&calls.0).push(used));
}

/// Summarises a context that is too long. It stays as it is if the summariser fails, panics or takes too long.
pub(in crate::engine) async fn summarise(
    context: Compressed,
    summariser: &dyn ContextSummariser,
) -> Compressed {
    if !context.needs_summary() {
        return context;
    }
    let unchanged = context.clone();
    let work =
        panics::catch_async("the context summariser", async { context.summarise_with(summariser).await });
    let compressed = match timeout(MAX_TIME, work).await {
        Ok(Some(compressed)) => compressed,
        Ok(None) => unchanged.with_failed_summary("it panicked"),
        Err(elapsed) => unchanged.with_failed_summary(elapsed),
    };
    if let Some(used) = compressed.summary_usage() {
        let receipt = compressed.receipt();
        add(Used::of(used, receipt.bytes_before, receipt.bytes_after));
    }
    compressed
}
