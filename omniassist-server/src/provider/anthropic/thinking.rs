//! The thinking that a request asks for, and the related settings.

use omniassist_core::{LlmPayload, ReasoningEffort, ToolChoice};
use serde::Serialize;

use super::messages::Messages;

/// The smallest budget that the API accepts.
const MIN_BUDGET: u32 = 1_024;
/// The largest budget: together with the default limit of an answer it is the maximum of Claude Opus 4.
const MAX_BUDGET: u32 = 16_000;

/// Claude models before 4.6, which receive a budget. Later ones decide themselves; since 4.7 they refuse budgets and
/// sampling parameters. <https://platform.claude.com/docs/en/build-with-claude/extended-thinking#supported-models>
const BY_BUDGET: &[&str] = &[
    "claude-2",
    "claude-3",
    "claude-instant",
    "claude-opus-4-0",
    "claude-opus-4-1",
    "claude-opus-4-20",
    "claude-opus-4-5",
    "claude-sonnet-4-0",
    "claude-sonnet-4-20",
    "claude-sonnet-4-5",
    "claude-haiku-4-5",
];

/// The thinking of a request, and its consequences.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) thinking: Option<Thinking>,
    pub(super) effort: Option<&'a str>,
    pub(super) max_tokens: u32,
    pub(super) temperature: Option<f64>,
    pub(super) top_p: Option<f64>,
    /// `true` if the model continues after an assistant message at the end of the conversation.
    pub(super) takes_prefill: bool,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Thinking {
    Adaptive {
        /// Some models send their thinking only on request.
        display: &'static str,
    },
    Enabled {
        budget_tokens: u32,
    },
    Disabled,
}

impl<'a> Plan<'a> {
    /// `adaptive` is `None` if the model's name decides.
    pub(super) fn new(
        payload: &'a LlmPayload,
        max_tokens: u32,
        adaptive: Option<bool>,
        model: &str,
        messages: &Messages<'_>,
    ) -> Self {
        let wanted = &*payload.options;
        let family = Family::of(model);
        let adaptive = adaptive.unwrap_or(family != Family::Budget);
        let max_tokens = wanted.max_output_tokens.unwrap_or(max_tokens);
        // The API allows thinking only if the model may also decide against a tool call.
        let is_forced = !payload.tools.is_empty()
            && matches!(payload.tool_choice, ToolChoice::Required | ToolChoice::Tool(_));
        let mut plan = Self {
            thinking: None,
            effort: None,
            max_tokens,
            temperature: None,
            top_p: None,
            takes_prefill: !adaptive,
        };
        match wanted.reasoning_effort.as_ref() {
            None => {}
            Some(ReasoningEffort::Other(word)) if *word == "none" => plan.thinking = Some(Thinking::Disabled),
            Some(effort) if adaptive => {
                plan.effort = Some(match effort {
                    ReasoningEffort::Minimal => "low",
                    effort => effort.as_str(),
                });
                if !is_forced {
                    plan.thinking = Some(Thinking::Adaptive { display: "summarized" });
                }
            }
            Some(effort) if !is_forced && max_tokens > MIN_BUDGET && messages.may_think_by_budget() => {
                let mut budget = match effort {
                    ReasoningEffort::Minimal => MIN_BUDGET,
                    ReasoningEffort::Low => 2_048,
                    ReasoningEffort::Medium => 8_000,
                    _ => MAX_BUDGET,
                };
                if wanted.max_output_tokens.is_some() {
                    budget = budget.min(max_tokens / 4 * 3).max(MIN_BUDGET);
                } else {
                    plan.max_tokens = max_tokens.saturating_add(budget);
                }
                plan.thinking = Some(Thinking::Enabled { budget_tokens: budget });
                plan.takes_prefill = false;
            }
            Some(_) => {}
        }
        let thinks = matches!(plan.thinking, Some(Thinking::Adaptive { .. } | Thinking::Enabled { .. }));
        if !thinks && family != Family::Settled {
            plan.temperature = wanted.temperature;
            plan.top_p = wanted.top_p.filter(|_| wanted.temperature.is_none());
        } else if wanted.temperature.is_some() || wanted.top_p.is_some() {
            tracing::debug!(model, thinks, "left out the sampling parameters, which the API would refuse");
        }
        plan
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    /// The model thinks with a budget and accepts sampling parameters.
    Budget,
    /// The model decides how much it thinks and accepts sampling parameters.
    Adaptive,
    /// The model decides both.
    Settled,
}

impl Family {
    fn of(model: &str) -> Self {
        // Gateways write `anthropic/claude-sonnet-4.5`, Bedrock `eu.anthropic.claude-…`, Vertex `claude-…@2025…`.
        let name = model.replace(['.', '@'], "-");
        let Some(at) = name.find("claude-") else { return Self::Budget };
        let name = name.get(at..).unwrap_or_default();
        if matches!(name, "claude-opus-4" | "claude-sonnet-4")
            || BY_BUDGET.iter().any(|old| name.starts_with(old))
        {
            Self::Budget
        } else if name.starts_with("claude-opus-4-6") || name.starts_with("claude-sonnet-4-6") {
            Self::Adaptive
        } else {
            Self::Settled
        }
    }
}
