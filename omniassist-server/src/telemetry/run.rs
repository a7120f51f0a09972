use std::borrow::Cow;

use omniassist_core::context::ContextReceipt;
use omniassist_core::transcript::ToolCall;
use omniassist_core::{LlmEvent, LlmPayload, RunEvent, Usage};
use tracing::field::Empty;
use tracing::{Span, info_span};

use super::call::{CANCELLED, CallUsage, ModelCall};
use super::finish_reason::finish_reasons;
use super::names;
use super::provider::provider_name;
use super::tool::ToolTrace;
use super::usage::record_usage;
use crate::RunContext;
use crate::cost::{Cost, Prices};
use crate::observe::{Observers, RunEnd, RunReport, Watch};
use crate::store::ModelUsage;

/// The spans of one run, its usage and cost, and its observers.
pub(crate) struct RunTrace {
    run: Span,
    step: Span,
    steps: u32,
    call: Option<Box<ModelCall>>,
    records_content: bool,
    usage: Usage,
    /// The part of the usage that is not in the run's own turns: that of asked agents, and of calls that were cut off.
    beside_turns: Usage,
    cost: RunCost,
    watch: Option<Box<Watch>>,
    /// The model calls that have ended and are not in the journal yet; `None` if the run is not stored.
    used: Option<Vec<ModelUsage>>,
    /// `true` if another process goes on with the run.
    is_released: bool,
    ended: bool,
}

/// The cost of the model calls of a run.
#[derive(Clone, Copy)]
enum RunCost {
    /// No call has ended yet.
    Nothing,
    Known(Cost),
    /// One call had no price, or did not report all of its tokens.
    Unknown,
}

impl RunTrace {
    /// Returns the trace of a run that has not begun. It records nothing.
    pub(crate) fn none() -> Self {
        Self {
            run: Span::none(),
            step: Span::none(),
            steps: 0,
            call: None,
            records_content: false,
            usage: Usage::default(),
            beside_turns: Usage::default(),
            cost: RunCost::Nothing,
            watch: None,
            used: None,
            is_released: false,
            ended: true,
        }
    }

    /// Returns the trace of a call that a tool makes in the name of another one. Spans of tools are children of the current
    /// one.
    pub(crate) fn within_call() -> Self {
        let mut trace = Self::none();
        (trace.step, trace.steps) = (Span::current(), 1);
        trace
    }

    /// Opens the span of the run, as a child of the current span.
    pub(crate) fn begin(
        run: &RunContext,
        provider: &str,
        model: Option<&str>,
        records_content: bool,
        observers: &Observers,
        keeps_report: bool,
    ) -> Self {
        let name =
            run.agent().map_or(Cow::Borrowed("invoke_agent"), |agent| format!("invoke_agent {agent}").into());
        let span = info_span!(
            "invoke_agent",
            { names::SPAN_NAME } = &*name,
            { names::SPAN_STATUS } = Empty,
            { names::ERROR_TYPE } = Empty,
            { names::OPERATION_NAME } = "invoke_agent",
            { names::PROVIDER_NAME } = &*provider_name(provider),
            { names::AGENT_NAME } = run.agent().map(|agent| agent.as_str()),
            { names::CONVERSATION_ID } = run.chat_id().map(|id| id.as_str()),
            { names::REQUEST_MODEL } = model,
            { names::FINISH_REASONS } = Empty,
            { names::INPUT_TOKENS } = Empty,
            { names::OUTPUT_TOKENS } = Empty,
            { names::CACHED_INPUT_TOKENS } = Empty,
            { names::CACHE_WRITE_INPUT_TOKENS } = Empty,
            { names::REASONING_TOKENS } = Empty,
            { names::RUN_ID } = run.run_id().as_str(),
            { names::RUN_OUTCOME } = Empty,
            { names::RUN_COST } = Empty,
        );
        let watch = Watch::begin(observers, keeps_report, run, provider, model);
        let mut trace = Self::none();
        (trace.run, trace.watch, trace.records_content, trace.ended) = (span, watch, records_content, false);
        trace
    }

    /// Calls `poll` within the innermost open span.
    pub(crate) fn enter_scope<T>(&self, poll: impl FnOnce() -> T) -> T {
        let span = match &self.call {
            Some(call) => call.span(),
            None if self.steps == 0 => &self.run,
            None => &self.step,
        };
        // Entering a disabled span would still cost two lookups for each poll.
        if span.is_disabled() { poll() } else { span.in_scope(poll) }
    }

    /// Opens the spans of the next step and of its model call.
    pub(crate) fn call_model(&mut self, payload: &LlmPayload, provider: &str, model: Option<&str>) {
        self.steps = self.steps.saturating_add(1);
        self.step = info_span!(parent: &self.run, "step", { names::STEP } = i64::from(self.steps));
        self.call = Some(Box::new(ModelCall::begin(
            &self.step,
            payload,
            &provider_name(provider),
            model,
            self.records_content,
        )));
    }

    /// Records an event of the model.
    pub(crate) fn model_said(&mut self, event: &LlmEvent) {
        if let Some(call) = &mut self.call {
            call.take(event);
        }
        if let Some(watch) = &mut self.watch {
            watch.model_said(event);
        }
    }

    /// Closes the span of the model call.
    pub(crate) fn call_ended(&mut self, error_type: Option<&str>, prices: Option<&Prices>) {
        let Some(call) = self.call.take() else { return };
        if let Some(used) = call.end(error_type) {
            if !used.is_complete {
                self.beside_turns.add(&used.usage);
            }
            self.count(&used, prices);
        }
    }

    /// Records the provider and the model that the host's plan chose.
    pub(crate) fn planned(&mut self, provider: &str, model: Option<&str>) {
        if let Some(watch) = &mut self.watch {
            watch.report.run.provider = provider.into();
            watch.report.run.model = model.map(Into::into);
        }
    }

    /// Returns the tokens that the run has used so far.
    pub(crate) fn usage(&self) -> Usage {
        self.usage
    }

    /// Records the numbers of the context.
    pub(crate) fn context_prepared(&mut self, receipt: ContextReceipt) {
        if let Some(watch) = &mut self.watch {
            watch.report.context = receipt;
        }
    }

    /// Adds the tokens of one model call to the usage and the cost of the run.
    pub(crate) fn count(&mut self, call: &CallUsage, prices: Option<&Prices>) {
        self.usage.add(&call.usage);
        let cost = prices.and_then(|prices| call.cost(prices));
        if let Some(used) = &mut self.used {
            let model = call.model.as_deref().unwrap_or_default();
            used.push(ModelUsage::new(short(model)).call(&call.usage, cost));
        }
        self.cost = match (self.cost, cost) {
            (RunCost::Nothing, Some(cost)) => RunCost::Known(cost),
            (RunCost::Known(sum), Some(cost)) => RunCost::Known(sum + cost),
            (RunCost::Unknown, _) | (_, None) => RunCost::Unknown,
        };
    }

    /// Keeps the model calls for the journal of the run.
    pub(crate) fn keep_used(&mut self) {
        self.used.get_or_insert_default();
    }

    /// Returns the model calls that have ended since the last time.
    pub(crate) fn take_used(&mut self) -> Vec<ModelUsage> {
        self.used.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Adds the usage and the cost of a run that another one has made.
    pub(crate) fn adopt(&mut self, other: &mut Self) {
        self.usage.add(&other.usage);
        self.beside_turns.add(&other.usage);
        if let (Some(used), Some(others)) = (&mut self.used, &mut other.used) {
            used.append(others);
        }
        self.cost = match (self.cost, other.cost) {
            (sum, RunCost::Nothing) => sum,
            (RunCost::Nothing, cost) => cost,
            (RunCost::Known(sum), RunCost::Known(cost)) => RunCost::Known(sum + cost),
            _ => RunCost::Unknown,
        };
    }

    /// Adds the usage of model calls, and of runs of asked agents, that another server has counted.
    pub(crate) fn count_earlier(&mut self, own: &Usage, adopted: &Usage) {
        self.usage.add(own);
        self.usage.add(adopted);
        self.beside_turns.add(adopted);
    }

    /// Returns the usage that is not in the run's own turns.
    pub(crate) fn beside_turns(&self) -> Usage {
        self.beside_turns
    }

    /// Opens the span of a tool call, as a child of the step.
    pub(crate) fn tool(&mut self, call: &ToolCall) -> ToolTrace {
        if let Some(watch) = &mut self.watch {
            watch.report.tool_calls = watch.report.tool_calls.saturating_add(1);
        }
        ToolTrace::begin(&self.step, call, self.records_content)
    }

    /// Returns the cost of the run so far. `None` without prices, or if the cost of a model call is not known.
    pub(crate) fn cost(&self) -> Option<Cost> {
        match self.cost {
            RunCost::Known(cost) => Some(cost),
            RunCost::Nothing | RunCost::Unknown => None,
        }
    }

    /// Returns `true` if the cost of a model call is not known.
    pub(crate) fn lacks_cost(&self) -> bool {
        matches!(self.cost, RunCost::Unknown)
    }

    /// Closes the spans with the outcome of the terminal event.
    pub(crate) fn end(&mut self, event: &RunEvent, prices: Option<&Prices>) {
        if self.ended {
            return;
        }
        match event {
            RunEvent::Finish { reason, .. } => {
                self.call_ended(None, prices);
                self.run.record(names::FINISH_REASONS, finish_reasons(reason));
                self.close("finish", RunEnd::Finished(reason.clone()));
            }
            RunEvent::Error { code, .. } => {
                self.call_ended(Some(code.as_str()), prices);
                self.run.record(names::ERROR_TYPE, code.as_str());
                self.run.record(names::SPAN_STATUS, "ERROR");
                self.close("error", RunEnd::Failed(*code));
            }
            RunEvent::Abort { .. } => {
                self.call_ended(Some(CANCELLED), prices);
                let end = if self.is_released { RunEnd::Released } else { RunEnd::Stopped };
                self.close(end.as_str(), end);
            }
            _ => {}
        }
    }

    /// Closes the spans of a run that was dropped before its terminal event, and returns the report of a run that is
    /// watched.
    pub(crate) fn take_report(&mut self, prices: Option<&Prices>) -> Option<RunReport> {
        self.leave(prices);
        self.watch.take().map(|watch| watch.report)
    }

    /// Marks the run as one that another process goes on with.
    pub(crate) fn release(&mut self) {
        self.is_released = true;
    }

    /// Closes the spans of a run that is about to be dropped, unless it has ended.
    pub(crate) fn leave(&mut self, prices: Option<&Prices>) {
        if !self.ended {
            self.call_ended(Some(CANCELLED), prices);
            let end = if self.is_released { RunEnd::Released } else { RunEnd::Dropped };
            self.close(end.as_str(), end);
        }
    }

    fn close(&mut self, outcome: &'static str, end: RunEnd) {
        self.ended = true;
        let cost = self.cost();
        if let Some(watch) = &mut self.watch {
            let report = &mut watch.report;
            (report.outcome, report.steps, report.usage, report.cost) = (end, self.steps, self.usage, cost);
            watch.end();
        }
        self.step = Span::none();
        let run = std::mem::replace(&mut self.run, Span::none());
        if run.is_disabled() {
            return;
        }
        run.record(names::RUN_OUTCOME, outcome);
        record_usage(&run, &self.usage);
        if let Some(cost) = cost {
            run.record(names::RUN_COST, cost.to_string());
        }
    }
}

/// Closes the spans of a dropped run as cancelled.
impl Drop for RunTrace {
    fn drop(&mut self) {
        self.leave(None);
    }
}

/// Returns the beginning of a model's name. A server sends the name, and databases limit the length of a key.
fn short(model: &str) -> &str {
    let ends = model.char_indices().map(|(start, char)| start + char.len_utf8());
    let end = ends.take_while(|end| *end <= MODEL_NAME).last();
    model.get(..end.unwrap_or_default()).unwrap_or_default()
}

/// The longest name of a model in the usage, in bytes.
const MODEL_NAME: usize = 256;
