use omniassist_core::event::FinishReason;
use omniassist_core::{LlmEvent, LlmPayload, Text, Usage};
use tracing::field::Empty;
use tracing::{Span, info_span};

use super::content::{self, Said};
use super::finish_reason::finish_reasons;
use super::names;
use super::usage::record_usage;
use crate::cost::{Cost, Prices};

/// The `error.type` of work that was cancelled.
pub(super) const CANCELLED: &str = "cancelled";

/// The span of a model call, with the model's report about the call.
pub(crate) struct ModelCall {
    span: Span,
    requested: Option<Text>,
    answered: Option<Text>,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    begun: bool,
    said: Option<Said>,
}

/// The model and the tokens of a call.
pub(crate) struct CallUsage {
    /// The name in the model's answer, or else the requested one.
    pub(crate) model: Option<Text>,
    pub(crate) usage: Usage,
    /// `false` if the call ended before its finish. It used more tokens than were reported until then.
    pub(crate) is_complete: bool,
}

impl CallUsage {
    /// Returns the cost; `None` if the model has no price, or not all tokens were reported.
    pub(crate) fn cost(&self, prices: &Prices) -> Option<Cost> {
        let price = prices.price(self.model.as_ref()?)?;
        price.cost(&self.usage).filter(|_| self.is_complete)
    }
}

impl ModelCall {
    pub(crate) fn begin(
        step: &Span,
        payload: &LlmPayload,
        provider: &str,
        model: Option<&str>,
        records_content: bool,
    ) -> Self {
        let options = &payload.options;
        let span = info_span!(
            parent: step,
            "chat",
            { names::SPAN_NAME } = Empty,
            { names::SPAN_KIND } = "client",
            { names::SPAN_STATUS } = Empty,
            { names::ERROR_TYPE } = Empty,
            { names::OPERATION_NAME } = "chat",
            { names::PROVIDER_NAME } = provider,
            { names::REQUEST_MODEL } = model,
            { names::REQUEST_TEMPERATURE } = options.temperature,
            { names::REQUEST_TOP_P } = options.top_p,
            { names::REQUEST_MAX_TOKENS } = options.max_output_tokens.map(i64::from),
            { names::RESPONSE_ID } = Empty,
            { names::RESPONSE_MODEL } = Empty,
            { names::FINISH_REASONS } = Empty,
            { names::INPUT_TOKENS } = Empty,
            { names::OUTPUT_TOKENS } = Empty,
            { names::CACHED_INPUT_TOKENS } = Empty,
            { names::CACHE_WRITE_INPUT_TOKENS } = Empty,
            { names::REASONING_TOKENS } = Empty,
            { names::SYSTEM_INSTRUCTIONS } = Empty,
            { names::INPUT_MESSAGES } = Empty,
            { names::OUTPUT_MESSAGES } = Empty,
        );
        let records_content = records_content && !span.is_disabled();
        if !span.is_disabled() {
            match model {
                Some(model) => span.record(names::SPAN_NAME, format!("chat {model}")),
                None => span.record(names::SPAN_NAME, "chat"),
            };
        }
        if records_content {
            if let Some(system) = &payload.system {
                span.record(names::SYSTEM_INSTRUCTIONS, content::system(system));
            }
            span.record(names::INPUT_MESSAGES, content::input(&payload.transcript));
        }
        Self {
            span,
            requested: model.map(Text::from),
            answered: None,
            usage: None,
            finish: None,
            begun: false,
            said: records_content.then(Said::default),
        }
    }

    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    pub(crate) fn take(&mut self, event: &LlmEvent) {
        self.begun = true;
        match event {
            LlmEvent::Start { id, model, .. } => {
                if let Some(id) = id {
                    self.span.record(names::RESPONSE_ID, id.as_str());
                }
                if let Some(model) = model {
                    self.span.record(names::RESPONSE_MODEL, model.as_str());
                    self.answered = Some(model.clone());
                }
            }
            LlmEvent::Usage(usage) => self.usage = Some(*usage),
            LlmEvent::Finish { reason, .. } => self.finish = Some(reason.clone()),
            _ => {}
        }
        if let Some(said) = &mut self.said {
            said.take(event);
        }
    }

    /// Closes the span. Returns `None` if the call was refused before its first event, because it used nothing.
    pub(crate) fn end(self, error_type: Option<&str>) -> Option<CallUsage> {
        let usage = self.usage.unwrap_or_default();
        if !self.span.is_disabled() {
            record_usage(&self.span, &usage);
            if let Some(reason) = &self.finish {
                self.span.record(names::FINISH_REASONS, finish_reasons(reason));
            }
            if let Some(said) = &self.said {
                self.span.record(names::OUTPUT_MESSAGES, said.to_json(self.finish.as_ref()));
            }
            // An error after a complete answer does not count.
            if let Some(error_type) = error_type.filter(|_| self.finish.is_none()) {
                self.span.record(names::ERROR_TYPE, error_type);
                self.span.record(names::SPAN_STATUS, "ERROR");
            }
        }
        let is_complete = self.finish.is_some();
        self.begun.then(|| CallUsage { model: self.answered.or(self.requested), usage, is_complete })
    }

    /// Closes the span of a call that is cut off. It can have used tokens before its first event.
    pub(crate) fn cut_off(mut self) -> CallUsage {
        let model = self.answered.take().or_else(|| self.requested.take());
        let usage = self.usage.unwrap_or_default();
        self.end(Some(CANCELLED));
        CallUsage { model, usage, is_complete: false }
    }
}
