//! What a run uses, against the budget of its principal.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use omniassist_core::event::RunErrorCode;
use omniassist_core::transcript::UserContent;
use omniassist_core::{Error, LlmEvent, Text, TranscriptItem, Usage};

use crate::sync::lock;
use crate::throttle::{Spent, TokenBudget, TokensLeft};
use crate::{Principal, panics};

/// Bytes of text that count as a token where the provider has not reported any.
const BYTES_PER_TOKEN: u64 = 4;

/// Tokens of a turn after which the budget is asked again at the latest: other runs may have used it up.
const LOOK_EVERY: u64 = 64;

/// A budget, and what the runs under way have used of it without having reported it yet.
pub(super) struct Budget {
    tokens: Arc<dyn TokenBudget>,
    in_flight: Mutex<HashMap<Principal, u64>>,
}

/// Why a run has to stop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stop {
    pub(super) code: RunErrorCode,
    pub(super) retry_after: Option<Duration>,
}

impl Budget {
    pub(super) fn new(tokens: Arc<dyn TokenBudget>) -> Self {
        Self { tokens, in_flight: Mutex::default() }
    }

    /// Whether a run may begin.
    ///
    /// # Errors
    ///
    /// When the principal has nothing left, or the budget panics.
    pub(super) fn admit(&self, principal: &Principal) -> Result<(), Error> {
        self.headroom(principal).map(drop).map_err(|stop| match stop.code {
            RunErrorCode::TokenBudgetExceeded => {
                Error::token_budget_exceeded(stop.retry_after.unwrap_or_default())
            }
            _ => Error::internal(),
        })
    }

    /// What is left for a call that is about to begin: at least one token.
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

    /// Changes what one turn has in flight; gives what all turns of the principal have.
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

/// Counts what one run uses. What a turn used so far is spent also when the meter is dropped.
pub(super) struct Meter {
    budget: Arc<Budget>,
    principal: Principal,
    turn: Option<Turn>,
}

/// A model call under way.
struct Turn {
    transcript: Arc<[TranscriptItem]>,
    /// Bytes of all deltas.
    bytes: u64,
    /// The budget is asked again when there are more bytes than this.
    look_at: u64,
    /// Tokens that others are told to be in flight.
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

    /// Takes note that the model is about to be called.
    ///
    /// # Errors
    ///
    /// When there is nothing left to call it with.
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
    /// When it has said more than the budget allows.
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

    /// Spends what the call used. `failed`: the provider refused it or broke off.
    ///
    /// # Errors
    ///
    /// When the call asked for tools, and there is nothing left to tell the model what came of them.
    pub(super) fn end(&mut self, failed: bool) -> Result<(), Stop> {
        let Some(turn) = self.turn.take() else { return Ok(()) };
        let failed = failed && !turn.finished;
        self.budget.fly(&self.principal, turn.in_flight, 0);
        // A call that was refused before it began used nothing.
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
    /// Tokens that the model has written, by their bytes.
    fn written(&self) -> u64 {
        self.bytes.div_ceil(BYTES_PER_TOKEN)
    }

    /// Tokens that the call has used so far: what was reported of it, and what was written.
    fn estimate(&self) -> u64 {
        let reported = self.usage.unwrap_or_default();
        let output = self.written().max(reported.output_tokens.unwrap_or(0));
        reported.input_tokens.unwrap_or(0).saturating_add(output)
    }

    /// What the call used: as reported where it came to its end, and estimated where it did not.
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

/// Bytes of what a model reads of an item, but for files: what those cost has nothing to do with their size.
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
