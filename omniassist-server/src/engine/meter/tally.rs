use omniassist_core::{LlmEvent, LlmPayload, Text, Usage};

use super::estimate;
use crate::throttle::Spent;

/// The tokens of a model call in progress: as the provider reports them, and estimated until then.
#[derive(Debug)]
pub(in crate::engine) struct Tally {
    /// The estimated tokens of the input.
    input: u64,
    /// The bytes of all deltas.
    bytes: u64,
    usage: Option<Usage>,
    has_begun: bool,
    has_finished: bool,
}

impl Tally {
    pub(in crate::engine) fn new(payload: &LlmPayload) -> Self {
        let input = estimate::input(payload);
        Self { input, bytes: 0, usage: None, has_begun: false, has_finished: false }
    }

    /// Counts an event of the model. Returns `true` if the model wrote something.
    pub(in crate::engine) fn take(&mut self, event: &LlmEvent) -> bool {
        self.has_begun = true;
        let delta: &Text = match event {
            LlmEvent::TextDelta { delta, .. }
            | LlmEvent::RefusalDelta { delta, .. }
            | LlmEvent::ReasoningDelta { delta, .. }
            | LlmEvent::ToolCallDelta { delta, .. } => delta,
            LlmEvent::Usage(usage) => {
                self.usage = Some(*usage);
                return false;
            }
            LlmEvent::Finish { .. } => {
                self.has_finished = true;
                return false;
            }
            _ => return false,
        };
        self.bytes += delta.len() as u64;
        true
    }

    /// Returns the estimated tokens of the input.
    pub(in crate::engine) fn input(&self) -> u64 {
        self.input
    }

    /// Returns the bytes that the model has written.
    pub(in crate::engine) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns `true` after the first event.
    pub(in crate::engine) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Returns the tokens that the model has written, estimated from bytes.
    pub(in crate::engine) fn written(&self) -> u64 {
        estimate::tokens(self.bytes)
    }

    /// Returns the tokens that the call has used so far, as reported or estimated.
    pub(in crate::engine) fn used(&self) -> u64 {
        let reported = self.usage.unwrap_or_default();
        let output = self.written().max(reported.output_tokens.unwrap_or(0));
        reported.input_tokens.unwrap_or(self.input).saturating_add(output)
    }

    /// Returns the tokens of the call: as reported if it finished, and estimated otherwise.
    pub(in crate::engine) fn spent(&self) -> Spent {
        let mut usage = self.usage.unwrap_or_default();
        let is_counted =
            usage.total_tokens.is_some() || usage.input_tokens.and(usage.output_tokens).is_some();
        if self.has_finished && is_counted {
            return Spent::new(usage, false);
        }
        usage.input_tokens.get_or_insert(self.input);
        usage.output_tokens = Some(self.written().max(usage.output_tokens.unwrap_or(0)));
        usage.total_tokens = None;
        Spent::new(usage, true)
    }
}
