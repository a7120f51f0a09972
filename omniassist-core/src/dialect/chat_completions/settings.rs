use serde_json::Value;

use super::request::RequestFields;
use crate::message::body::Body;
use crate::message::raw::{self, Raw, present};
use crate::{Error, ReasoningEffort, Result, Text};

/// The settings requested by a caller. The host decides which of them apply.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ClientSettings {
    /// `temperature`, from 0 to 2.
    pub temperature: Option<f64>,
    /// `top_p`, from 0 to 1.
    pub top_p: Option<f64>,
    /// `max_completion_tokens`, or `max_tokens` in its absence; at least 1.
    pub max_tokens: Option<u32>,
    /// `reasoning_effort`.
    pub reasoning_effort: Option<ReasoningEffort>,
    /// `parallel_tool_calls`.
    pub parallel_tool_calls: Option<bool>,
    /// The JSON Schema of `response_format`, of type `object`, and its name.
    pub response_schema: Option<(Text, Value)>,
}

pub(super) fn read(
    body: Body<'_>,
    fields: &RequestFields<'_>,
    response_schema: Option<(Text, Value)>,
) -> Result<ClientSettings> {
    let max_tokens = tokens(fields.max_tokens, "max_tokens")?;
    Ok(ClientSettings {
        temperature: number(fields.temperature, "temperature", 2.0, "a number from 0 to 2")?,
        top_p: number(fields.top_p, "top_p", 1.0, "a number from 0 to 1")?,
        max_tokens: tokens(fields.max_completion_tokens, "max_completion_tokens")?.or(max_tokens),
        reasoning_effort: effort(body, fields.reasoning_effort)?,
        parallel_tool_calls: match present(fields.parallel_tool_calls) {
            Some(raw) => Some(raw::flag(Some(raw), "parallel_tool_calls")?),
            None => None,
        },
        response_schema,
    })
}

fn found(raw: Raw<'_>) -> &'static str {
    if raw::kind(raw) == "a number" { "another number" } else { raw::kind(raw) }
}

fn number(raw: Option<Raw<'_>>, key: &'static str, most: f64, expected: &'static str) -> Result<Option<f64>> {
    let Some(raw) = present(raw) else { return Ok(None) };
    match serde_json::from_str::<f64>(raw.get()) {
        Ok(number) if (0.0..=most).contains(&number) => Ok(Some(number)),
        _ => Err(Error::invalid_field(key, expected, found(raw))),
    }
}

fn tokens(raw: Option<Raw<'_>>, key: &'static str) -> Result<Option<u32>> {
    let Some(raw) = present(raw) else { return Ok(None) };
    match serde_json::from_str::<u32>(raw.get()) {
        Ok(tokens @ 1..) => Ok(Some(tokens)),
        _ => Err(Error::invalid_field(key, "a whole number of at least 1", found(raw))),
    }
}

fn effort(body: Body<'_>, raw: Option<Raw<'_>>) -> Result<Option<ReasoningEffort>> {
    let Some(word) = body.optional_text(raw, "reasoning_effort")? else { return Ok(None) };
    Ok(Some(match word.as_str() {
        "minimal" => ReasoningEffort::Minimal,
        "low" => ReasoningEffort::Low,
        "medium" => ReasoningEffort::Medium,
        "high" => ReasoningEffort::High,
        other if (1..=16).contains(&other.len()) && other.bytes().all(|byte| byte.is_ascii_lowercase()) => {
            ReasoningEffort::Other(word)
        }
        _ => {
            return Err(Error::invalid_field(
                "reasoning_effort",
                "a value such as \"low\", \"medium\" or \"high\"",
                "another string",
            ));
        }
    }))
}
