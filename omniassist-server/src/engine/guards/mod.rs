//! Guards of a model's answer: filters of its text, and checks of the input beside it. Both are streams around the stream of
//! the provider, so all later stages see the filtered answer.

mod filtered;
mod input;

use std::sync::Arc;

use filtered::FilteredStream;
use input::GuardedStream;
pub(super) use input::InputGuard;
use omniassist_core::filter::OutputFilter;

use crate::RunContext;
use crate::provider::LlmStream;

/// The guards of an assistant.
#[derive(Default)]
pub(super) struct Guards {
    pub(super) output: Vec<Arc<dyn OutputFilter>>,
    pub(super) input: Vec<InputGuard>,
}

impl Guards {
    /// Puts the guards around an answer. The input is checked at the first model call of a run.
    pub(super) fn around(&self, answer: LlmStream, run: &RunContext, is_first: bool) -> LlmStream {
        let answer = match self.input.is_empty() || !is_first {
            true => answer,
            false => Box::pin(GuardedStream::new(answer, &self.input, run)),
        };
        match self.output.is_empty() {
            true => answer,
            false => Box::pin(FilteredStream::new(answer, self.output.clone())),
        }
    }
}
