//! The properties of a model that follow from its name: its endpoint, and its setting for thinking.

use omniassist_core::ReasoningEffort;
use serde::Serialize;

use crate::{Error, Result};

/// The longest name that becomes part of a URL.
const MAX_NAME: usize = 128;

/// Returns the path of a model's stream, below the version of the API.
///
/// # Errors
///
/// Returns an error if the name could change the URL. It may contain only letters, digits, `.`, `_` and `-`, after
/// `models/` or `tunedModels/` if it includes its collection.
pub(super) fn stream_path(model: &str) -> Result<String> {
    let (collection, name) = match model.split_once('/') {
        Some((collection @ ("models" | "tunedModels"), name)) => (collection, name),
        Some(_) => return Err(bad_name()),
        None => ("models", model),
    };
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    // A name that begins with a letter or digit is neither `.` nor `..`.
    let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    if !begins || name.len() > MAX_NAME || !name.bytes().all(allowed) {
        return Err(bad_name());
    }
    Ok(format!("/{collection}/{name}:streamGenerateContent?alt=sse"))
}

fn bad_name() -> Error {
    Error::configuration("`model`: not the name of a Gemini model")
}

/// The generation of a model, which determines the form of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Generation {
    /// 1.x and 2.0: no thinking; settings for it are refused.
    Plain,
    /// 2.5: thinking within a budget of tokens.
    Budget,
    /// 3 and later: thinking at a level; the signatures of calls must be sent back.
    Level,
}

impl Generation {
    /// Returns the generation by the model's name. A name without a version (`gemini-flash-latest`) is a current model.
    pub(super) fn of(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model);
        let is = |prefix: &str| name.starts_with(prefix);
        if is("gemini-2.5") || is("gemini-robotics-er-1") {
            Self::Budget
        } else if is("gemini-1") || is("gemini-2") || is("gemma") || is("learnlm") {
            Self::Plain
        } else {
            Self::Level
        }
    }
}

/// `generationConfig.thinkingConfig`.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Thinking<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    include_thoughts: Option<bool>,
}

impl<'a> Thinking<'a> {
    /// Returns the setting for `model`, after the table of Google's OpenAI compatibility:
    /// <https://ai.google.dev/gemini-api/docs/openai#thinking>. Returns `None` if the request needs none.
    pub(super) fn of(model: &str, effort: Option<&'a ReasoningEffort>, include: bool) -> Option<Self> {
        let (thinking_budget, thinking_level) = match Generation::of(model) {
            Generation::Plain => return None,
            Generation::Budget => (effort.and_then(|effort| budget(model, effort)), None),
            Generation::Level => (None, effort.map(|effort| level(model, effort))),
        };
        if thinking_budget.is_none() && thinking_level.is_none() && !include {
            return None;
        }
        Some(Self { thinking_budget, thinking_level, include_thoughts: include.then_some(true) })
    }
}

/// The effort may also be a number of tokens. `none` is the least that the model accepts, and with `dynamic` the model decides.
fn budget(model: &str, effort: &ReasoningEffort) -> Option<i32> {
    match effort {
        ReasoningEffort::Minimal | ReasoningEffort::Low => Some(1_024),
        ReasoningEffort::Medium => Some(8_192),
        ReasoningEffort::High => Some(24_576),
        other => match other.as_str() {
            // The Pro models always think. <https://ai.google.dev/gemini-api/docs/thinking#set-budget>
            "none" if model.contains("-pro") => Some(128),
            "none" => Some(0),
            "dynamic" => Some(-1),
            number => number.parse().ok(),
        },
    }
}

fn level<'a>(model: &str, effort: &'a ReasoningEffort) -> &'a str {
    match effort.as_str() {
        // The Pro models support no lower level.
        "minimal" | "none" if model.contains("-pro") => "low",
        "none" => "minimal",
        word => word,
    }
}
