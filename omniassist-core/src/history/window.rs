use std::fmt;
use std::sync::Arc;

use super::cut::{self, Exchange};
use super::{TokenRate, View, tokens};
use crate::message::Message;

/// The size of the input of a model call. See the [module](super).
#[derive(Clone)]
pub struct Window {
    budget: u64,
    reserve: u64,
    pin: Option<Arc<Pin>>,
}

type Pin = dyn Fn(&Message) -> bool + Send + Sync;

impl Window {
    /// Creates a window for model calls of at most this number of input tokens.
    #[must_use]
    pub fn fit(tokens: u64) -> Self {
        Self { budget: tokens, reserve: 0, pin: None }
    }

    /// Sets which messages are kept in any position. The newest of them are kept, up to half of the budget. Default:
    /// none.
    #[must_use]
    pub fn pin(mut self, pin: impl Fn(&Message) -> bool + Send + Sync + 'static) -> Self {
        self.pin = Some(Arc::new(pin));
        self
    }

    /// Sets the tokens reserved for a [summary](View::with_summary) of the removed messages. Default: 0.
    #[must_use]
    pub fn reserve(mut self, tokens: u64) -> Self {
        self.reserve = tokens;
        self
    }

    /// Returns the budget in tokens.
    #[must_use]
    pub fn budget(&self) -> u64 {
        self.budget
    }

    /// Selects the part of a conversation that fits. `fixed` is the [estimate](super::estimate_text) of the rest of the
    /// request: the system prompt, the context and the tools.
    ///
    /// This reads the length of each part and copies nothing.
    #[must_use]
    pub fn view(&self, messages: &[Message], fixed: u64, rate: TokenRate) -> View {
        self.select(messages, None, fixed, rate)
    }

    /// Selects like [`view`](Self::view) in a conversation whose message at `compacted` contains the provider's
    /// compaction of all messages before it. Those messages are left out. The message itself is always kept.
    #[must_use]
    pub fn view_compacted(
        &self,
        messages: &[Message],
        compacted: usize,
        fixed: u64,
        rate: TokenRate,
    ) -> View {
        self.select(messages, Some(compacted), fixed, rate)
    }

    fn select(&self, messages: &[Message], compacted: Option<usize>, fixed: u64, rate: TokenRate) -> View {
        let room = rate.estimate_of(self.budget);
        let stride = stride(self.budget, fixed);
        let mut pinned = self.pinned(messages, compacted.map_or(0, |at| at + 1), room / 2);
        if let Some(at) = compacted {
            pinned.insert(0, at);
        }
        let from = compacted.unwrap_or(0);
        let is_pinned = |at: usize| pinned.binary_search(&at).is_ok();
        let mut posted = vec![Posted { from, at: 0, saved: 0 }];
        let mut total = 0;
        for (at, message) in messages.iter().enumerate().skip(from) {
            if tokens::is_question(message) && at > from {
                posted.push(Posted { from: at, at: total, saved: 0 });
            }
            let tokens = tokens::message(message);
            total += tokens;
            if let (Some(exchange), false) = (posted.last_mut(), is_pinned(at)) {
                exchange.saved += tokens;
            }
        }
        let last = posted.len() - 1;
        let older = posted.get(..last).unwrap_or_default();
        let begin = match (fixed + total).saturating_sub(room) {
            0 => 0,
            excess => cut::cut(older, stride, excess + self.reserve),
        };
        let lines = (1..=begin).filter(|at| cut::crosses(&posted, *at, stride) || *at == begin);
        let cuts = lines.filter_map(|at| Some(posted.get(at)?.from)).collect();
        let exchanges = posted.split_off(begin);
        let first = exchanges.first().map_or(0, |exchange| exchange.from);
        let early = pinned.partition_point(|at| *at < first);
        View {
            compacted,
            pinned,
            early,
            cuts,
            summary: None,
            exchanges: exchanges.iter().map(|exchange| (exchange.from, exchange.at)).collect(),
            budget: self.budget,
            fixed,
            stride,
            rate,
        }
    }

    /// Returns the positions of the pinned messages that fit, of those from `from` on.
    fn pinned(&self, messages: &[Message], from: usize, room: u64) -> Vec<usize> {
        let Some(pin) = &self.pin else { return Vec::new() };
        let mut left = room;
        let mut pinned = Vec::new();
        for (at, message) in messages.iter().enumerate().skip(from).rev().filter(|(_, message)| pin(message))
        {
            let Some(rest) = left.checked_sub(tokens::message(message)) else { break };
            left = rest;
            pinned.push(at);
        }
        pinned.reverse();
        pinned
    }
}

/// Returns the stride of a window: a power of two, so that a change of `fixed` rarely changes it, and at most a quarter
/// of the room for messages. If more than half of the budget is `fixed`, it is at most half of the room.
fn stride(budget: u64, fixed: u64) -> u64 {
    let room = budget.saturating_sub(fixed);
    let most = (budget.min(2 * room) / 4).max(1);
    1 << most.ilog2()
}

/// An exchange of the posted conversation.
struct Posted {
    from: usize,
    at: u64,
    saved: u64,
}

impl Exchange for Posted {
    fn at(&self) -> u64 {
        self.at
    }

    fn saved(&self) -> u64 {
        self.saved
    }
}

impl fmt::Debug for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Window").field("budget", &self.budget).finish_non_exhaustive()
    }
}
