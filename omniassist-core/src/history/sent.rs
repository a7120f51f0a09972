use serde::{Deserialize, Serialize};

use super::cut::{self, Exchange};
use super::{TokenRate, tokens};
use crate::{Text, TranscriptItem};

/// The part of a conversation that is sent to a model during a run. The run appends to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sent {
    budget: u64,
    fixed: u64,
    stride: u64,
    rate: TokenRate,
    is_measured: bool,
    /// The items before the first exchange: a summary and pinned messages.
    head: usize,
    /// The exchanges before the last turn.
    exchanges: Vec<Kept>,
    /// The estimated tokens of the last model call.
    asked: u64,
}

/// An exchange in the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// The number of its items.
    pub(super) items: usize,
    /// The estimated tokens of the conversation before it.
    pub(super) at: u64,
    /// `true` if it contains a pinned message.
    pub(super) stays: bool,
}

impl Sent {
    pub(super) fn new(
        budget: u64,
        fixed: u64,
        stride: u64,
        rate: TokenRate,
        head: usize,
        exchanges: Vec<Kept>,
    ) -> Self {
        Self { budget, fixed, stride, rate, is_measured: false, head, exchanges, asked: 0 }
    }

    /// Returns the same part without its exchanges, so that no further exchange is removed from a changed transcript.
    pub(crate) fn without_exchanges(mut self) -> Self {
        self.exchanges.clear();
        self
    }

    /// Removes the oldest exchanges of a transcript that has become too long, and returns their calls.
    pub(crate) fn fit(&mut self, transcript: &mut Vec<TranscriptItem>) -> Vec<Text> {
        self.asked = self.fixed + tokens::estimate(transcript);
        let excess = self.asked.saturating_sub(self.rate.estimate_of(self.budget));
        if excess == 0 || self.exchanges.is_empty() {
            return Vec::new();
        }
        let mut from = self.head;
        let mut measured = Vec::with_capacity(self.exchanges.len());
        for kept in &self.exchanges {
            let items = transcript.get(from..from + kept.items).unwrap_or_default();
            let saved = if kept.stays { 0 } else { tokens::estimate(items) };
            measured.push(Measured { at: kept.at, saved });
            from += kept.items;
        }
        let gone = cut::cut(&measured, self.stride, excess);
        let mut calls = Vec::new();
        let mut at = self.head;
        for kept in self.exchanges.drain(..gone).collect::<Vec<_>>() {
            if kept.stays {
                // The exchange is part of the head from now on.
                at += kept.items;
                self.head += kept.items;
                continue;
            }
            let end = (at + kept.items).min(transcript.len());
            let left_out = transcript.drain(at.min(end)..end);
            calls.extend(left_out.filter_map(|item| Some(item.as_call()?.id.clone())));
        }
        self.asked = self.fixed + tokens::estimate(transcript);
        calls
    }

    /// Applies the provider's count of input tokens of the last model call.
    pub(crate) fn measure(&mut self, reported: Option<u64>) {
        if let Some(rate) = reported.and_then(|reported| TokenRate::measured(reported, self.asked)) {
            (self.rate, self.is_measured) = (rate, true);
        }
    }

    /// Returns the rate derived from the provider's count.
    pub(crate) fn measured_rate(&self) -> Option<TokenRate> {
        self.is_measured.then_some(self.rate)
    }
}

struct Measured {
    at: u64,
    saved: u64,
}

impl Exchange for Measured {
    fn at(&self) -> u64 {
        self.at
    }

    fn saved(&self) -> u64 {
        self.saved
    }
}
