//! The named agents of an assistant: `GET /agents`, and the answer to names of no agent.

use http::{Extensions, Response, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};

use super::AssistantBody;
use super::response::{Rejection, reply};
use crate::Assistant;
use crate::agent_config::AgentSummary;

/// The name of the assistant itself for clients that name an agent: the one that CopilotKit's hooks use by default.
pub(super) const DEFAULT: &str = "default";

/// An agent in a list.
#[derive(Serialize)]
struct AgentEntry<'a> {
    id: &'a str,
    /// The title for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    description: &'a str,
}

/// Returns the agents that the caller sees, as they are listed.
pub(super) async fn entries(assistant: &Assistant, extensions: &Extensions) -> Value {
    let agents = assistant.reachable_agents(extensions).await;
    let entry = |agent: &AgentSummary| {
        let AgentSummary { id, name, description } = agent;
        json!(AgentEntry { id, name: name.as_deref(), description })
    };
    agents.iter().map(entry).collect()
}

/// Answers `GET /agents`.
pub(super) async fn list(assistant: &Assistant, extensions: &Extensions) -> Response<AssistantBody> {
    let agents = entries(assistant, extensions).await;
    reply::json(StatusCode::OK, &json!({ "agents": agents }))
}

/// Returns an agent that the caller sees.
///
/// # Errors
///
/// Returns the same error for a name of no agent and for an agent that the caller does not see, and another one for an agent
/// that cannot be loaded.
pub(super) async fn visible(
    assistant: &Assistant,
    name: &str,
    extensions: &Extensions,
) -> Result<Assistant, Rejection> {
    assistant.reachable_agent(name, extensions).await?.ok_or_else(|| {
        let message = "There is no such agent here; GET /agents lists those that there are.";
        Rejection::new(StatusCode::NOT_FOUND, "agent_not_found", message)
    })
}
