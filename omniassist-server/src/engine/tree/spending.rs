use std::sync::{Arc, Mutex};

use omniassist_core::tree::{Ledger, Limit, NodeId, Reservation};
use omniassist_core::{LlmEvent, LlmPayload};

use crate::cost::{Price, Prices};
use crate::engine::meter::Tally;
use crate::sync::lock;
use crate::throttle::Spent;

/// The tokens by which a model may exceed the maximum output before its answer is cut.
const OVERSHOOT: u64 = 64;

/// The reserved tokens and cost of a model call in progress. Dropping it settles them.
#[derive(Debug)]
pub(super) struct Spending {
    ledger: Arc<Mutex<Ledger>>,
    /// `None` after the drop.
    reservation: Option<Reservation>,
    /// `None` if no budget limits the tokens or the cost.
    tally: Option<Tally>,
    /// The price of the requested model, and then of the one that answers.
    price: Option<Price>,
}

impl Spending {
    /// Reserves the tokens and the cost of a call.
    ///
    /// # Errors
    ///
    /// Returns the limit that does not allow the call.
    pub(super) fn begin(
        ledger: &Arc<Mutex<Ledger>>,
        node: NodeId,
        payload: &LlmPayload,
        price: Option<Price>,
    ) -> Result<Self, Limit> {
        // The estimate reads the whole conversation.
        let is_counted = lock(ledger).counts_tokens(node);
        let tally = is_counted.then(|| Tally::new(payload));
        let wanted = payload.options.max_output_tokens.map(u64::from);
        let input = tally.as_ref().map_or(0, Tally::input);
        let highest = price.and_then(|price| price.highest());
        let reservation = lock(ledger).reserve(node, input, wanted, highest)?;
        Ok(Self { ledger: Arc::clone(ledger), reservation: Some(reservation), tally, price })
    }

    /// Returns the maximum output in tokens.
    pub(super) fn most(&self) -> Option<u64> {
        self.reservation.as_ref().and_then(Reservation::max_output)
    }

    /// Returns the limit that allows no other call after this one.
    pub(super) fn last(&self) -> Option<Limit> {
        self.reservation.as_ref().and_then(Reservation::last)
    }

    /// Counts an event of the model. Returns the limit if the model writes more than it may.
    pub(super) fn take(&mut self, event: &LlmEvent, prices: Option<&Prices>) -> Option<Limit> {
        let tally = self.tally.as_mut()?;
        if let LlmEvent::Start { model: Some(model), .. } = event
            && let Some(price) = prices.and_then(|prices| prices.price(model))
        {
            self.price = Some(*price);
        }
        let is_text = tally.take(event);
        let reservation = self.reservation.as_ref().filter(|_| is_text)?;
        let is_over = tally.written() > reservation.max_output()? + OVERSHOOT;
        is_over.then_some(reservation.bound())
    }
}

impl Drop for Spending {
    fn drop(&mut self) {
        if let Some(reservation) = self.reservation.take() {
            let spent = self.tally.as_ref().map_or_else(Spent::nothing, Tally::spent);
            let cost = self.price.map_or(0, |price| price.cost_of(&spent));
            lock(&self.ledger).settle(reservation, spent.tokens(), cost);
        }
    }
}
