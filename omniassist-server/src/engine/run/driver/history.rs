//! The part of a long conversation that is sent to the model.

use std::future::pending;

use omniassist_core::history::TokenRate;
use serde_json::{Map, Value};

use super::{Driver, Stage};
use crate::engine::history::{Used, metadata};

impl Driver {
    /// Ends the preparation of the run, and counts the tokens of its summaries, also of one that is cut off now. Tokens that
    /// were not reported are estimated from the bytes read and written.
    pub(super) fn end_preparation(&mut self) {
        let Stage::Preparing(beginning) = &mut self.stage else { return };
        let Some(calls) = beginning.summaries.take() else { return };
        beginning.preparation = Box::pin(pending());
        for Used { call, read, written } in calls.take() {
            self.summary_usage.add(&call.usage);
            self.trace.count(&call, self.setup.config.prices.as_ref());
            if let Some(meter) = &self.meter {
                meter.count_summary(call.usage, read, written);
            }
        }
    }

    /// Adds the sealed facts that later runs need to the metadata of an answer.
    pub(super) fn carry(&self, rate: Option<TokenRate>, into: &mut Map<String, Value>) {
        if rate.is_none() && self.summary.is_none() {
            return;
        }
        let Some(sealer) = &self.sealer else { return };
        into.extend(metadata(rate.unwrap_or_default(), self.summary.as_deref(), sealer));
    }
}
