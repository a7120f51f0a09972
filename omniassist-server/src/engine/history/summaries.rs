use std::collections::VecDeque;
use std::sync::Mutex;

use omniassist_core::characters::prefix;
use omniassist_core::history::{View, describe, statements};
use omniassist_core::{Message, Text};
use sha2::{Digest as _, Sha256};

use super::llm_summariser::LlmSummariser;
use super::summary_calls::{self, MAX_TIME, Used};
use super::window_summary::{Viewed, WindowSummary};
use crate::provider::LlmProvider;
use crate::sync::lock;
use crate::{one_line, panics};

/// The number of summaries that are kept; a new one replaces the oldest.
const KEPT: usize = 256;

/// The maximum number of strides of the window that one call summarises.
const STRIDES: usize = 4;

/// The maximum number of calls in one run.
const MAX_CALLS: usize = 8;

/// Makes and keeps the summaries of the omitted parts of conversations.
pub(super) struct Summaries {
    model: LlmSummariser,
    max_bytes: usize,
    kept: Mutex<VecDeque<WindowSummary>>,
}

impl Summaries {
    pub(super) fn new(provider: impl LlmProvider, tokens: u64) -> Self {
        let max_bytes = usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(4);
        Self { model: LlmSummariser::new(provider), max_bytes, kept: Mutex::default() }
    }

    /// Adds the summary of the omitted messages to a view, if it is known or can be made.
    pub(super) async fn add_to(
        &self,
        view: View,
        messages: &[Message],
        known: Option<&WindowSummary>,
    ) -> Viewed {
        let from = view.compacted().unwrap_or(0);
        let digests = digests(messages, from, view.cuts());
        let mut progress = self.newest(&digests, known);
        let done_before = progress.done;
        let work = self.go_on(messages, from, view.cuts(), &digests, &mut progress);
        let work = panics::catch_async("the summariser of a conversation", work);
        if tokio::time::timeout(MAX_TIME, work).await.is_err() {
            tracing::warn!("the summary of a conversation took too long");
        }
        let made = progress.summary.clone().filter(|_| progress.done > done_before);
        let said = statements(messages.get(from..view.left_out()).unwrap_or_default(), self.max_bytes / 2);
        let view = match text(&said, progress.summary.as_ref()) {
            Some(text) => view.with_summary(&text),
            None => view,
        };
        Viewed { view, summary: made }
    }

    /// Finds the known summary that covers the most messages.
    fn newest(&self, digests: &[[u8; 32]], known: Option<&WindowSummary>) -> Progress {
        let kept = lock(&self.kept);
        let summary = digests.iter().enumerate().rev().find_map(|(at, digest)| {
            let found = known.into_iter().chain(&*kept).find(|made| made.covers == *digest);
            found.map(|made| (at + 1, made.clone()))
        });
        let (done, summary) = summary.map_or((0, None), |(done, made)| (done, Some(made)));
        Progress { done, summary }
    }

    async fn go_on(
        &self,
        messages: &[Message],
        first: usize,
        cuts: &[usize],
        digests: &[[u8; 32]],
        progress: &mut Progress,
    ) {
        for _ in 0..MAX_CALLS {
            let next = (progress.done + STRIDES).min(cuts.len());
            let from = progress.done.checked_sub(1).and_then(|at| cuts.get(at)).copied().unwrap_or(first);
            let (Some(to), Some(covers)) = (cuts.get(next - 1), digests.get(next - 1)) else { return };
            if next == progress.done {
                return;
            }
            let mut lines = String::new();
            messages
                .get(from..*to)
                .unwrap_or_default()
                .iter()
                .for_each(|message| describe(message, &mut lines));
            let before = progress.summary.as_ref().map(|made| made.text.as_str());
            let summary = match self.model.continue_summary(before, &lines, self.max_bytes).await {
                Ok(summary) => summary,
                Err(error) => {
                    let error = one_line::chain(&error);
                    tracing::warn!(%error, "the summary of a conversation failed");
                    return;
                }
            };
            let text = prefix(summary.text().trim(), self.max_bytes);
            if let Some(used) = summary.used() {
                summary_calls::add(Used::of(used, lines.len(), text.len()));
            }
            if text.is_empty() {
                tracing::warn!("the summary of a conversation failed: the model wrote nothing");
                return;
            }
            let made = WindowSummary { covers: *covers, text: Text::from(text) };
            self.keep(made.clone());
            (progress.done, progress.summary) = (next, Some(made));
        }
    }

    fn keep(&self, made: WindowSummary) {
        let mut kept = lock(&self.kept);
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(made);
    }
}

/// The state of a summary that is being made.
struct Progress {
    /// The number of cuts that it covers.
    done: usize,
    summary: Option<WindowSummary>,
}

/// Returns, for each cut, the digest of the summariser's input: the messages from `from` up to the cut.
fn digests(messages: &[Message], mut from: usize, cuts: &[usize]) -> Vec<[u8; 32]> {
    let (mut hash, mut lines) = (Sha256::new(), String::new());
    let digest = |cut: &usize| {
        for message in messages.get(from..*cut).unwrap_or_default() {
            lines.clear();
            describe(message, &mut lines);
            hash.update((lines.len() as u64).to_be_bytes());
            hash.update(&lines);
        }
        from = *cut;
        hash.clone().finalize().into()
    };
    cuts.iter().map(digest).collect()
}

/// Returns the text that replaces the omitted messages: statements of the user, and the model's summary.
fn text(said: &[&str], summary: Option<&WindowSummary>) -> Option<String> {
    let mut text = String::new();
    if !said.is_empty() {
        text.push_str("What the user said, word for word:\n");
        said.iter().for_each(|statement| text.extend(["- ", statement, "\n"]));
        if summary.is_some() {
            text.push_str("\nSummary:\n");
        }
    }
    if let Some(summary) = summary {
        text.push_str(&summary.text);
    }
    (!text.is_empty()).then_some(text)
}
