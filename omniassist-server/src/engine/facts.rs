use omniassist_core::{LlmEvent, Text};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::history::now_ms;
use crate::Cost;

/// Which facts about a run its client is told, in the metadata of the message.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reports {
    pub(super) model: bool,
    pub(super) timing: bool,
}

/// What is noted of a run while it goes on.
pub(super) struct Facts {
    started: Instant,
    started_at_ms: u64,
    first_text: Option<Instant>,
    model: Option<Text>,
}

impl Facts {
    pub(super) fn begin() -> Self {
        Self { started: Instant::now(), started_at_ms: now_ms(), first_text: None, model: None }
    }

    pub(super) fn take(&mut self, event: &LlmEvent) {
        match event {
            LlmEvent::TextDelta { .. } if self.first_text.is_none() => self.first_text = Some(Instant::now()),
            LlmEvent::Start { model: Some(model), .. } => self.model = Some(model.clone()),
            _ => {}
        }
    }

    /// The metadata for the end of the run.
    pub(super) fn told(&self, reports: Reports, cost: Option<Cost>) -> Map<String, Value> {
        let mut told = Map::new();
        if let Some(cost) = cost {
            told.insert("cost".to_owned(), cost.to_string().into());
        }
        if let (true, Some(model)) = (reports.model, &self.model) {
            told.insert("model".to_owned(), model.as_str().into());
        }
        if reports.timing {
            let mut timing = Map::new();
            timing.insert("startedAt".to_owned(), self.started_at_ms.into());
            if let Some(first) = self.first_text {
                timing.insert("firstTextMs".to_owned(), whole_ms(first.duration_since(self.started)).into());
            }
            timing.insert("totalMs".to_owned(), whole_ms(self.started.elapsed()).into());
            told.insert("timing".to_owned(), timing.into());
        }
        told
    }
}

fn whole_ms(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
