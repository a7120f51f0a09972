//! The named agents of an assistant: `GET /agents`, and the answer to names of no agent.

use http::{Extensions, Response, StatusCode};
use serde::Serialize;
use serde_json::json;

use super::{AssistantBody, Rejection, reply};
use crate::Assistant;

/// The name of the assistant itself for clients that name an agent: the one that CopilotKit's hooks use by default.
pub(super) const DEFAULT: &str = "default";

/// An agent in a list.
#[derive(Debug, Serialize)]
pub(super) struct AgentEntry {
    pub(super) id: String,
    pub(super) description: String,
}

/// Returns the agents that the caller sees.
pub(super) fn entries(assistant: &Assistant, extensions: &Extensions) -> Vec<AgentEntry> {
    let described = |agent: &Assistant| {
        let (name, description) = agent.as_agent()?;
        Some(AgentEntry { id: name.to_string(), description: description.to_string() })
    };
    assistant.visible_agents(extensions).filter_map(|agent| described(&agent)).collect()
}

/// Answers `GET /agents`.
pub(super) fn list(assistant: &Assistant, extensions: &Extensions) -> Response<AssistantBody> {
    reply::json(StatusCode::OK, &json!({ "agents": entries(assistant, extensions) }))
}

/// Returns an agent that the caller sees.
///
/// # Errors
///
/// Returns the same error for a name of no agent and for an agent that the caller does not see.
pub(super) fn visible(
    assistant: &Assistant,
    name: &str,
    extensions: &Extensions,
) -> Result<Assistant, Rejection> {
    assistant.visible_agent(name, extensions).ok_or_else(|| {
        let message = "There is no such agent here; GET /agents lists those that there are.";
        Rejection::new(StatusCode::NOT_FOUND, "agent_not_found", message)
    })
}
