//! The settings of one agent, and the keys of a configuration.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use omniassist_core::Text;
use omniassist_core::tree::AgentBudget;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::{AgentConfigError, Kind};

/// The settings of an agent: the `data` of its node, or the keys of a short configuration.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Settings {
    pub(crate) name: Option<Text>,
    pub(crate) description: Option<Text>,
    pub(crate) prompt: Option<Text>,
    pub(crate) model: Option<Text>,
    pub(crate) provider: Option<Text>,
    pub(crate) max_steps: Option<NonZeroU32>,
    pub(crate) budget: Option<Budget>,
    pub(crate) tools: Vec<Text>,
    pub(crate) delegates: Vec<Text>,
    pub(crate) handoffs: Vec<Text>,
    /// The agent that a node of a graph stands for.
    #[serde(rename = "ref")]
    pub(crate) stands_for: Option<Text>,
}

impl Settings {
    pub(super) const KEYS: [&'static str; 11] = [
        "name",
        "description",
        "prompt",
        "model",
        "provider",
        "maxSteps",
        "budget",
        "tools",
        "delegates",
        "handoffs",
        "ref",
    ];
}

/// The budget of an agent that others ask. A key that is missing has the default of [`AgentBudget`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Budget {
    tokens: Option<NonZeroU64>,
    model_calls: Option<NonZeroU32>,
    seconds: Option<NonZeroU32>,
}

impl From<&Budget> for AgentBudget {
    fn from(Budget { tokens, model_calls, seconds }: &Budget) -> Self {
        let mut budget = Self::new();
        if let Some(tokens) = tokens {
            budget = budget.tokens(tokens.get());
        }
        if let Some(calls) = model_calls {
            budget = budget.model_calls(calls.get());
        }
        match seconds {
            Some(seconds) => budget.time(Duration::from_secs(seconds.get().into())),
            None => budget,
        }
    }
}

/// Reads a value, and names the path of what does not fit.
pub(super) fn read<T: DeserializeOwned>(value: Value, at: &str) -> Result<T, AgentConfigError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let inner = error.path().to_string();
        let path = if inner == "." { at.to_owned() } else { join(at, &inner) };
        AgentConfigError::new(path, Kind::Shape).with_source(error.into_inner())
    })
}

/// Returns the path of something below a path.
pub(super) fn join(path: &str, below: &str) -> String {
    if path.is_empty() { below.to_owned() } else { format!("{path}.{below}") }
}

/// Refuses keys that nobody would notice otherwise: each one that is not known, or in the `data` of an editor, which has keys
/// of its own, those that differ from a known one in case and separators only.
pub(super) fn check_keys(
    value: &Value,
    known: &[&'static str],
    at: &str,
    is_strict: bool,
) -> Result<(), AgentConfigError> {
    let Value::Object(map) = value else { return Ok(()) };
    let plain = |key: &str| key.replace(['_', '-'], "").to_ascii_lowercase();
    for key in map.keys().filter(|key| !known.contains(&key.as_str())) {
        let meant = known.iter().find(|known| plain(known) == plain(key)).copied();
        if is_strict || meant.is_some() {
            let known = known.to_vec();
            return Err(AgentConfigError::new(join(at, key), Kind::UnknownKey { meant, known }));
        }
    }
    Ok(())
}
