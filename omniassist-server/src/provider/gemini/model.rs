//! The properties of a model that its name tells: its endpoint, and its setting for thinking.

use omniassist_core::ReasoningEffort;
use serde::Serialize;

use crate::{Error, Result};

/// Longest name that is put into a URL.
const MAX_NAME: usize = 128;

/// The path of a model's stream, below the version of the API.
///
/// # Errors
///
/// Returns an error if the name could change the URL: only letters, digits, `.`, `_` and `-` may stand in it, behind
/// `models/` or `tunedModels/` if it is written with its collection.
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

/// The generation of a model, as far as requests differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Generation {
    /// 1.x and 2.0: they do not think, and refuse to be told about it.
    Plain,
    /// 2.5: thinks within a budget of tokens.
    Budget,
    /// 3 and later: thinks at a level, and wants the signatures of its calls back.
    Level,
}

impl Generation {
    /// By the model's name; one that says nothing (`gemini-flash-latest`) is taken for a current one.
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
    /// <https://ai.google.dev/gemini-api/docs/openai#thinking>. `None` if nothing.
    pub(super) fn of(model: &str, effort: Option<&'a ReasoningEffort>, include: bool) -> Option<Self> {
        let (thinking_budget, thinking_level) = match Generation::of(model) {
            Generation::Plain => return None,
            Generation::Budget => (effort.and_then(budget), None),
            Generation::Level => (None, effort.map(|effort| level(model, effort))),
        };
        if thinking_budget.is_none() && thinking_level.is_none() && !include {
            return None;
        }
        Some(Self { thinking_budget, thinking_level, include_thoughts: include.then_some(true) })
    }
}

/// A word of the provider's own may be a number of tokens; `none` is 0, and `dynamic` leaves it to the model.
fn budget(effort: &ReasoningEffort) -> Option<i32> {
    match effort {
        ReasoningEffort::Minimal | ReasoningEffort::Low => Some(1_024),
        ReasoningEffort::Medium => Some(8_192),
        ReasoningEffort::High => Some(24_576),
        other => match other.as_str() {
            "none" => Some(0),
            "dynamic" => Some(-1),
            number => number.parse().ok(),
        },
    }
}

fn level<'a>(model: &str, effort: &'a ReasoningEffort) -> &'a str {
    match effort.as_str() {
        // The Pro models know no lower level.
        "minimal" | "none" if model.contains("-pro") => "low",
        "none" => "minimal",
        word => word,
    }
}
