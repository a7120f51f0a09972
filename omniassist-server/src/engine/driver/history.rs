//! The part of a long conversation that is sent to the model.

use omniassist_core::context::SummaryUsage;
use omniassist_core::history::TokenRate;
use omniassist_core::run::RunConfig;
use serde_json::{Map, Value};

use super::Driver;
use crate::engine::history::{Viewed, metadata};

impl Driver {
    /// Counts the tokens of a summary, estimated from the bytes read and written where they were not reported.
    pub(super) fn count_summary(&mut self, used: &SummaryUsage, read: usize, written: usize) {
        self.summary_usage.add(&used.usage);
        self.trace.count(used.model.as_deref(), &used.usage, self.setup.config.prices.as_ref());
        if let Some(meter) = &self.meter {
            meter.count_summary(used.usage, read, written);
        }
    }

    /// Counts the cost of the window and passes the window to the run.
    pub(super) fn take_view(&mut self, viewed: Viewed, config: &mut RunConfig) {
        for call in &viewed.used {
            self.count_summary(&call.used, call.read, call.written);
        }
        self.summary = viewed.made.map(Box::new);
        config.view = Some(viewed.view);
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
