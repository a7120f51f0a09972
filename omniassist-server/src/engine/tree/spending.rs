use std::sync::{Arc, Mutex};

use omniassist_core::tree::{Ledger, Limit, NodeId, Reservation};
use omniassist_core::{LlmEvent, LlmPayload};

use crate::engine::meter::Tally;
use crate::sync::lock;

/// The tokens by which a model may exceed the maximum output before its answer is cut.
const OVERSHOOT: u64 = 64;

/// The reserved tokens of a model call in progress. Dropping it settles them.
#[derive(Debug)]
pub(super) struct Spending {
    ledger: Arc<Mutex<Ledger>>,
    /// `None` after the drop.
    reservation: Option<Reservation>,
    /// `None` if no budget limits the tokens.
    tally: Option<Tally>,
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
        // The estimate reads the whole conversation.
        let is_counted = lock(ledger).counts_tokens(node);
        let tally = is_counted.then(|| Tally::new(payload));
        let wanted = payload.options.max_output_tokens.map(u64::from);
        let reservation = lock(ledger).reserve(node, tally.as_ref().map_or(0, Tally::input), wanted)?;
        Ok(Self { ledger: Arc::clone(ledger), reservation: Some(reservation), tally })
    }

    /// Returns the maximum output in tokens.
    pub(super) fn most(&self) -> Option<u64> {
        self.reservation.as_ref().and_then(Reservation::max_output)
    }

    /// Returns the limit that allows no other call after this one.
    pub(super) fn last(&self) -> Option<Limit> {
        self.reservation.as_ref().and_then(Reservation::last)
    }

    /// Counts an event of the model. Returns `true` if the model writes more than it may.
    pub(super) fn take(&mut self, event: &LlmEvent) -> bool {
        let most = self.most();
        let Some(tally) = &mut self.tally else { return false };
        tally.take(event) && most.is_some_and(|most| tally.written() > most + OVERSHOOT)
    }
}

impl Drop for Spending {
    fn drop(&mut self) {
        if let Some(reservation) = self.reservation.take() {
            let spent = self.tally.as_ref().map_or(0, |tally| tally.spent().tokens());
            lock(&self.ledger).settle(reservation, spent);
        }
    }
}
