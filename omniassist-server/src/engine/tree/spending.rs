use std::sync::{Arc, Mutex};

use omniassist_core::tree::{Ledger, Limit, NodeId, Reservation};
use omniassist_core::{LlmEvent, LlmPayload, Text, Usage};

use crate::engine::meter::estimate;
use crate::sync::lock;

/// The tokens by which a model may exceed the maximum output before its answer is cut.
const OVERSHOOT: u64 = 64;

/// The reserved tokens of a model call in progress. Dropping it settles them with an estimate of what was sent and seen.
#[derive(Debug)]
pub(super) struct Spending {
    ledger: Arc<Mutex<Ledger>>,
    reservation: Option<Reservation>,
    input: u64,
    most: Option<u64>,
    bytes: u64,
    usage: Usage,
}

impl Spending {
    /// Reserves the tokens of a call.
    ///
    /// # Errors
    ///
    /// Returns the limit that does not allow the call.
    pub(super) fn begin(
        ledger: &Arc<Mutex<Ledger>>,
        node: NodeId,
        payload: &LlmPayload,
    ) -> Result<Self, Limit> {
        let input = estimate::input(payload);
        let wanted = payload.options.max_output_tokens.map(u64::from);
        let reservation = lock(ledger).reserve(node, input, wanted)?;
        let most = reservation.max_output();
        let (ledger, reservation) = (Arc::clone(ledger), Some(reservation));
        Ok(Self { ledger, reservation, input, most, bytes: 0, usage: Usage::default() })
    }

    /// Returns the maximum output in tokens.
    pub(super) fn most(&self) -> Option<u64> {
        self.most
    }

    /// Returns the limit that allows no other call after this one.
    pub(super) fn last(&self) -> Option<Limit> {
        self.reservation.as_ref().and_then(Reservation::last)
    }

    /// Counts an event of the model. Returns `true` if the model writes more than it may.
    pub(super) fn take(&mut self, event: &LlmEvent) -> bool {
        let delta: &Text = match event {
            LlmEvent::TextDelta { delta, .. }
            | LlmEvent::RefusalDelta { delta, .. }
            | LlmEvent::ReasoningDelta { delta, .. }
            | LlmEvent::ToolCallDelta { delta, .. } => delta,
            LlmEvent::Usage(usage) => {
                self.usage = *usage;
                return false;
            }
            _ => return false,
        };
        self.bytes += delta.len() as u64;
        self.most.is_some_and(|most| estimate::tokens(self.bytes) > most + OVERSHOOT)
    }
}

impl Drop for Spending {
    fn drop(&mut self) {
        let Some(reservation) = self.reservation.take() else { return };
        let input = self.usage.input_tokens.unwrap_or(self.input);
        let output = self.usage.output_tokens.unwrap_or_else(|| estimate::tokens(self.bytes));
        lock(&self.ledger).settle(reservation, input.saturating_add(output));
    }
}
