//! Token budgets: what a run uses, against the budget of its principal.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use omniassist_core::context::ContextReceipt;
use omniassist_core::event::RunErrorCode;
use omniassist_core::transcript::UserContent;
use omniassist_core::{Error, LlmEvent, Text, TranscriptItem, Usage};

use crate::sync::lock;
use crate::throttle::{Spent, TokenBudget, TokensLeft};
use crate::{Principal, panics};

/// The bytes of text that count as one token until the provider reports its count.
const BYTES_PER_TOKEN: u64 = 4;

/// The number of tokens after which the budget is checked again, because other runs may have used it up.
const LOOK_EVERY: u64 = 64;

/// A budget, and the tokens that runs in progress have used but not yet spent.
pub(super) struct Budget {
    tokens: Arc<dyn TokenBudget>,
    in_flight: Mutex<HashMap<Principal, u64>>,
}

/// The reason for stopping a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stop {
    pub(super) code: RunErrorCode,
    pub(super) retry_after: Option<Duration>,
}

impl Budget {
    pub(super) fn new(tokens: Arc<dyn TokenBudget>) -> Self {
        Self { tokens, in_flight: Mutex::default() }
    }

    /// Checks that a run may begin.
    ///
    /// # Errors
    ///
    /// Returns an error if the principal has nothing left, or the budget panics.
    pub(super) fn admit(&self, principal: &Principal) -> Result<(), Error> {
        self.headroom(principal).map(drop).map_err(|stop| match stop.code {
            RunErrorCode::TokenBudgetExceeded => {
                Error::token_budget_exceeded(stop.retry_after.unwrap_or_default())
            }
            _ => Error::internal(),
        })
    }

    /// Returns the tokens that are left for a new call: at least one.
    fn headroom(&self, principal: &Principal) -> Result<u64, Stop> {
        let in_flight = self.fly(principal, 0, 0);
        let left = self.left(principal)?;
        match left.tokens.saturating_sub(in_flight) {
            0 => Err(exceeded(left)),
            headroom => Ok(headroom),
        }
    }

    fn left(&self, principal: &Principal) -> Result<TokensLeft, Stop> {
        panics::catch("the token budget", || self.tokens.left(principal))
            .ok_or(Stop { code: RunErrorCode::Internal, retry_after: None })
    }

    fn spend(&self, principal: &Principal, spent: &Spent) {
        if panics::catch("the token budget", || self.tokens.spend(principal, spent)).is_none() {
            tracing::error!(tokens = spent.tokens(), "the tokens of a call were not counted");
        }
    }

    /// Changes the tokens that one turn has in flight. Returns those of all turns of the principal.
    fn fly(&self, principal: &Principal, before: u64, now: u64) -> u64 {
        let mut in_flight = lock(&self.in_flight);
        match in_flight.entry(principal.clone()) {
            Entry::Vacant(_) if now == 0 => 0,
            Entry::Vacant(none) => *none.insert(now),
            Entry::Occupied(mut tokens) => {
                let sum = tokens.get().saturating_sub(before).saturating_add(now);
                if sum == 0 {
                    tokens.remove();
                } else {
                    tokens.insert(sum);
                }
                sum
            }
        }
    }
}

fn exceeded(left: TokensLeft) -> Stop {
    Stop { code: RunErrorCode::TokenBudgetExceeded, retry_after: Some(left.resets_in) }
}

/// Counts the tokens of one run. Dropping it spends those of the turn in progress.
pub(super) struct Meter {
    budget: Arc<Budget>,
    principal: Principal,
    turn: Option<Turn>,
}

/// A model call in progress.
struct Turn {
    transcript: Arc<[TranscriptItem]>,
    /// The bytes of all deltas.
    bytes: u64,
    /// The number of bytes after which the budget is checked again.
    look_at: u64,
    /// The tokens in flight that other runs see.
    in_flight: u64,
    usage: Option<Usage>,
    begun: bool,
    finished: bool,
    calls_tools: bool,
}

impl Meter {
    pub(super) fn new(budget: Arc<Budget>, principal: Principal) -> Self {
        Self { budget, principal, turn: None }
    }

    /// Begins a model call.
    ///
    /// # Errors
    ///
    /// Returns an error if no tokens are left for the call.
    pub(super) fn begin(&mut self, transcript: &Arc<[TranscriptItem]>) -> Result<(), Stop> {
        let headroom = self.budget.headroom(&self.principal)?;
        self.turn = Some(Turn {
            transcript: Arc::clone(transcript),
            bytes: 0,
            look_at: headroom.min(LOOK_EVERY) * BYTES_PER_TOKEN,
            in_flight: 0,
            usage: None,
            begun: false,
            finished: false,
            calls_tools: false,
        });
        Ok(())
    }

    /// Counts what the model said.
    ///
    /// # Errors
    ///
    /// Returns an error if the model has written more than the budget allows.
    pub(super) fn take(&mut self, event: &LlmEvent) -> Result<(), Stop> {
        let Some(turn) = &mut self.turn else { return Ok(()) };
        turn.begun = true;
        let delta: &Text = match event {
            LlmEvent::TextDelta { delta, .. }
            | LlmEvent::RefusalDelta { delta, .. }
            | LlmEvent::ReasoningDelta { delta, .. }
            | LlmEvent::ToolCallDelta { delta, .. } => delta,
            LlmEvent::Usage(usage) => {
                turn.usage = Some(*usage);
                // What is said after this counts with it.
                turn.look_at = 0;
                return Ok(());
            }
            LlmEvent::ToolCallStart { .. } => {
                turn.calls_tools = true;
                return Ok(());
            }
            LlmEvent::Finish { .. } => {
                turn.finished = true;
                return Ok(());
            }
            _ => return Ok(()),
        };
        turn.bytes += delta.len() as u64;
        if turn.bytes > turn.look_at { self.look() } else { Ok(()) }
    }

    fn look(&mut self) -> Result<(), Stop> {
        let Some(turn) = &mut self.turn else { return Ok(()) };
        let tokens = turn.estimate();
        let all = self.budget.fly(&self.principal, turn.in_flight, tokens);
        turn.in_flight = tokens;
        let left = self.budget.left(&self.principal)?;
        let headroom = left.tokens.checked_sub(all).ok_or_else(|| exceeded(left))?;
        turn.look_at = (turn.written() + headroom.min(LOOK_EVERY)) * BYTES_PER_TOKEN;
        Ok(())
    }

    /// Spends the tokens that a summary of the context used. They are estimated if its provider did not report them.
    pub(super) fn count_summary(&self, mut usage: Usage, receipt: &ContextReceipt) {
        let is_estimated = usage.input_tokens.is_none() || usage.output_tokens.is_none();
        let tokens = |bytes: usize| (bytes as u64).div_ceil(BYTES_PER_TOKEN);
        usage.input_tokens.get_or_insert(tokens(receipt.bytes_before));
        usage.output_tokens.get_or_insert(tokens(receipt.bytes_after));
        self.budget.spend(&self.principal, &Spent::new(usage, is_estimated));
    }

    /// Spends the tokens of the call. `failed` is `true` if the provider refused the call or its stream broke.
    ///
    /// # Errors
    ///
    /// Returns an error if the model called tools, and no tokens are left to send it their results.
    pub(super) fn end(&mut self, failed: bool) -> Result<(), Stop> {
        let Some(turn) = self.turn.take() else { return Ok(()) };
        let failed = failed && !turn.finished;
        self.budget.fly(&self.principal, turn.in_flight, 0);
        // A call that was refused before its first event used nothing.
        if turn.begun || !failed {
            self.budget.spend(&self.principal, &turn.spent());
        }
        if turn.calls_tools && !failed {
            self.budget.headroom(&self.principal)?;
        }
        Ok(())
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        let _ = self.end(false);
    }
}

impl Turn {
    /// Returns the tokens that the model has written, estimated from bytes.
    fn written(&self) -> u64 {
        self.bytes.div_ceil(BYTES_PER_TOKEN)
    }

    /// Returns the tokens that the call has used so far: those reported, and those written.
    fn estimate(&self) -> u64 {
        let reported = self.usage.unwrap_or_default();
        let output = self.written().max(reported.output_tokens.unwrap_or(0));
        reported.input_tokens.unwrap_or(0).saturating_add(output)
    }

    /// Returns the tokens of the call: as reported if it finished, and estimated otherwise.
    fn spent(&self) -> Spent {
        let mut usage = self.usage.unwrap_or_default();
        let is_counted =
            usage.total_tokens.is_some() || usage.input_tokens.and(usage.output_tokens).is_some();
        if self.finished && is_counted {
            return Spent::new(usage, false);
        }
        let read = || self.transcript.iter().map(text_size).sum::<u64>().div_ceil(BYTES_PER_TOKEN);
        usage.input_tokens = Some(usage.input_tokens.unwrap_or_else(read));
        usage.output_tokens = Some(self.written().max(usage.output_tokens.unwrap_or(0)));
        usage.total_tokens = None;
        Spent::new(usage, true)
    }
}

/// Returns the bytes of text in an item. Files do not count, because their cost does not depend on their size.
fn text_size(item: &TranscriptItem) -> u64 {
    let bytes = match item {
        TranscriptItem::User { content } => {
            let text = content.iter().filter_map(|content| match content {
                UserContent::Text { text } => Some(text.len()),
                _ => None,
            });
            text.sum()
        }
        TranscriptItem::Text { text, .. } | TranscriptItem::Reasoning { text, .. } => text.len(),
        TranscriptItem::Call(call) => call.name.len() + call.arguments.as_str().len(),
        TranscriptItem::Result(result) => result.output.as_str().len(),
        TranscriptItem::ProviderItem { item, .. } => item.as_str().len(),
        _ => 0,
    };
    bytes as u64
}
