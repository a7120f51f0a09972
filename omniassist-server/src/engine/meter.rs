//! Token budgets: the tokens that a run reserves and spends, against the budget of its principal.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use omniassist_core::event::RunErrorCode;
use omniassist_core::transcript::UserContent;
use omniassist_core::{Error, LlmEvent, Text, TranscriptItem, Usage};

use crate::sync::lock;
use crate::throttle::{RunAttempt, Spent, TokenBudget, TokensLeft};
use crate::{Principal, panics};

/// The bytes of text that count as one token until the provider reports its count.
const BYTES_PER_TOKEN: u64 = 4;

/// The number of output tokens that a model call reserves at a time.
const RESERVATION: u64 = 64;

/// The delay after which another run may have released its reservation.
const RETRY_OWN: Duration = Duration::from_secs(1);

/// A budget, and the tokens that runs in progress have used or reserved, but not yet spent.
pub(super) struct Budget {
    tokens: Arc<dyn TokenBudget>,
    reserved: Mutex<HashMap<Principal, u64>>,
}

/// The reason for stopping a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stop {
    pub(super) code: RunErrorCode,
    pub(super) retry_after: Option<Duration>,
}

impl Budget {
    pub(super) fn new(tokens: Arc<dyn TokenBudget>) -> Self {
        Self { tokens, reserved: Mutex::default() }
    }

    /// Checks that a run may begin, and returns the account of its tokens.
    fn admit(&self, attempt: &RunAttempt<'_>) -> Result<Principal, Error> {
        let account = panics::catch("the token budget", || self.tokens.account(attempt));
        let account = account.ok_or_else(Error::internal)?;
        self.check(&account).map_err(|stop| match stop.code {
            RunErrorCode::TokenBudgetExceeded => {
                Error::token_budget_exceeded(stop.retry_after.unwrap_or_default())
            }
            _ => Error::internal(),
        })?;
        Ok(account)
    }

    /// Checks that at least one token is left that no call has reserved.
    fn check(&self, principal: &Principal) -> Result<(), Stop> {
        let left = self.left(principal)?;
        let reserved = lock(&self.reserved).get(principal).copied().unwrap_or(0);
        if left.tokens > reserved { Ok(()) } else { Err(exceeded(left, reserved)) }
    }

    /// Changes the reservation of a call from `before` to its used tokens and some more, as far as they are left. Returns
    /// the new reservation, which is below `used` if the budget is exceeded.
    fn reserve(&self, principal: &Principal, before: u64, used: u64) -> Result<u64, Stop> {
        let left = self.left(principal)?;
        let mut reserved = lock(&self.reserved);
        let others = reserved.get(principal).copied().unwrap_or(0).saturating_sub(before);
        let room = left.tokens.saturating_sub(others);
        if room < used.max(1) {
            set(&mut reserved, principal, others.saturating_add(used));
            return Err(exceeded(left, others));
        }
        let now = used.saturating_add(RESERVATION).min(room);
        set(&mut reserved, principal, others.saturating_add(now));
        Ok(now)
    }

    /// Releases the reservation of a call.
    fn release(&self, principal: &Principal, reservation: u64) {
        let mut reserved = lock(&self.reserved);
        let all = reserved.get(principal).copied().unwrap_or(0);
        set(&mut reserved, principal, all.saturating_sub(reservation));
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
}

/// Returns the error of a budget that has no tokens left, but for those that other calls have reserved.
fn exceeded(left: TokensLeft, reserved: u64) -> Stop {
    let is_lent = left.tokens > 0 && reserved > 0;
    let retry_after = if is_lent { left.resets_in.min(RETRY_OWN) } else { left.resets_in };
    Stop { code: RunErrorCode::TokenBudgetExceeded, retry_after: Some(retry_after) }
}

fn set(reserved: &mut HashMap<Principal, u64>, principal: &Principal, tokens: u64) {
    if tokens == 0 {
        reserved.remove(principal);
    } else {
        reserved.insert(principal.clone(), tokens);
    }
}

/// Counts the tokens of one run. Dropping it spends those of the turn in progress.
pub(super) struct Meter {
    budget: Arc<Budget>,
    account: Principal,
    turn: Option<Turn>,
}

/// A model call in progress.
struct Turn {
    transcript: Arc<[TranscriptItem]>,
    /// The bytes of all deltas.
    bytes: u64,
    /// The number of bytes after which more tokens are reserved.
    reserve_at: u64,
    /// The tokens that the call has reserved.
    reservation: u64,
    usage: Option<Usage>,
    begun: bool,
    finished: bool,
    calls_tools: bool,
}

impl Meter {
    /// Creates the meter of a run that a client wants.
    ///
    /// # Errors
    ///
    /// Returns an error if nothing is left for the run, or the budget panics.
    pub(super) fn admit(budget: &Arc<Budget>, attempt: &RunAttempt<'_>) -> Result<Self, Error> {
        let account = budget.admit(attempt)?;
        Ok(Self { budget: Arc::clone(budget), account, turn: None })
    }

    /// Begins a model call with a reservation.
    ///
    /// # Errors
    ///
    /// Returns an error if no tokens are left for the call.
    pub(super) fn begin(&mut self, transcript: &Arc<[TranscriptItem]>) -> Result<(), Stop> {
        let reservation = self.budget.reserve(&self.account, 0, 0)?;
        self.turn = Some(Turn {
            transcript: Arc::clone(transcript),
            bytes: 0,
            reserve_at: reservation * BYTES_PER_TOKEN,
            reservation,
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
                turn.reserve_at = 0;
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
        if turn.bytes > turn.reserve_at { self.reserve() } else { Ok(()) }
    }

    fn reserve(&mut self) -> Result<(), Stop> {
        let Some(turn) = &mut self.turn else { return Ok(()) };
        let used = turn.estimate();
        let reserved = self.budget.reserve(&self.account, turn.reservation, used);
        turn.reservation = reserved.unwrap_or(used);
        let more = reserved?.saturating_sub(used);
        turn.reserve_at = (turn.written() + more) * BYTES_PER_TOKEN;
        Ok(())
    }

    /// Spends the tokens that a summary used. They are estimated if its provider did not report them.
    pub(super) fn count_summary(&self, mut usage: Usage, read: usize, written: usize) {
        let is_estimated = usage.input_tokens.is_none() || usage.output_tokens.is_none();
        let tokens = |bytes: usize| (bytes as u64).div_ceil(BYTES_PER_TOKEN);
        usage.input_tokens.get_or_insert(tokens(read));
        usage.output_tokens.get_or_insert(tokens(written));
        self.budget.spend(&self.account, &Spent::new(usage, is_estimated));
    }

    /// Spends the tokens of the call. `failed` is `true` if the provider refused the call or its stream broke.
    ///
    /// # Errors
    ///
    /// Returns an error if the model called tools, and no tokens are left to send it their results.
    pub(super) fn end(&mut self, failed: bool) -> Result<(), Stop> {
        let Some(turn) = self.turn.take() else { return Ok(()) };
        let failed = failed && !turn.finished;
        // A call that was refused before its first event used nothing.
        if turn.begun || !failed {
            self.budget.spend(&self.account, &turn.spent());
        }
        // After spending, so that no other run gets these tokens in between.
        self.budget.release(&self.account, turn.reservation);
        if turn.calls_tools && !failed {
            self.budget.check(&self.account)?;
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
