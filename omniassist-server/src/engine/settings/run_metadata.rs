use omniassist_core::context::ContextReceipt;
use omniassist_core::{LlmEvent, Text};
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::Cost;
use crate::clock::{millis, now_ms};

/// The optional keys of a message's metadata that a run reports.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::engine) struct Reports {
    pub(in crate::engine) model: bool,
    pub(in crate::engine) timing: bool,
    pub(in crate::engine) context: bool,
}

/// The keys of a message's metadata that belong to the SDK.
const RESERVED: [&str; 8] =
    ["context", "cost", "error", "finishReason", "model", "omniassist", "timing", "usage"];

/// Returns the host's metadata of a message without the keys of the SDK.
pub(in crate::engine) fn of_host(metadata: Value) -> Map<String, Value> {
    let Value::Object(mut metadata) = metadata else {
        tracing::warn!("the metadata of a message was dropped: it is not a JSON object");
        return Map::new();
    };
    for key in RESERVED {
        if metadata.remove(key).is_some() {
            tracing::warn!(key, "metadata of a message was dropped: the key belongs to the SDK");
        }
    }
    metadata
}

/// Collects the properties of a run that the metadata of its message reports.
pub(in crate::engine) struct RunMetadata {
    started: Instant,
    started_at_ms: u64,
    first_text: Option<Instant>,
    model: Option<Text>,
    receipt: ContextReceipt,
}

impl RunMetadata {
    pub(in crate::engine) fn begin() -> Self {
        Self {
            started: Instant::now(),
            started_at_ms: now_ms(),
            first_text: None,
            model: None,
            receipt: ContextReceipt::default(),
        }
    }

    pub(in crate::engine) fn observe(&mut self, event: &LlmEvent) {
        match event {
            LlmEvent::TextDelta { .. } if self.first_text.is_none() => self.first_text = Some(Instant::now()),
            LlmEvent::Start { model: Some(model), .. } => self.model = Some(model.clone()),
            _ => {}
        }
    }

    pub(in crate::engine) fn context(&mut self, receipt: ContextReceipt) {
        self.receipt = receipt;
    }

    /// Returns the metadata to send at the end of the run.
    pub(in crate::engine) fn to_map(&self, reports: Reports, cost: Option<Cost>) -> Map<String, Value> {
        let mut metadata = Map::new();
        if let Some(cost) = cost {
            metadata.insert("cost".to_owned(), cost.to_string().into());
        }
        if let (true, Some(model)) = (reports.model, &self.model) {
            metadata.insert("model".to_owned(), model.as_str().into());
        }
        if reports.context
            && let Ok(receipt) = serde_json::to_value(self.receipt)
        {
            metadata.insert("context".to_owned(), receipt);
        }
        if reports.timing {
            let mut timing = Map::new();
            timing.insert("startedAt".to_owned(), self.started_at_ms.into());
            if let Some(first) = self.first_text {
                timing.insert("firstTextMs".to_owned(), millis(first.duration_since(self.started)).into());
            }
            timing.insert("totalMs".to_owned(), millis(self.started.elapsed()).into());
            metadata.insert("timing".to_owned(), timing.into());
        }
        metadata
    }
}
