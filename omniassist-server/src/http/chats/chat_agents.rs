//! The agents that work for the run of a chat: the list, and the stop of one.

use http::request::Parts;
use http::{Response, StatusCode};
use omniassist_core::Error;
use serde_json::json;

use super::resume::scope_of;
use super::stored_run::refuse_forms;
use crate::http::AssistantBody;
use crate::http::response::{Rejection, reply};
use crate::store::Which;
use crate::{Assistant, Principal};

/// Answers `GET /{chat_id}/agents`.
pub(in crate::http) async fn list(
    assistant: &Assistant,
    chat: &str,
    parts: &Parts,
) -> Result<Response<AssistantBody>, Rejection> {
    let scope = scope_of(parts).ok_or_else(Rejection::not_found)?;
    let head = assistant.find_run(&scope, Which::Chat(chat)).await?.ok_or_else(Rejection::not_found)?;
    // A run that has not begun has no events either.
    if head.head == 0 && head.epoch > 0 {
        return Err(Error::events_expired().into());
    }
    let agents = assistant.agents_of(&head).await?;
    Ok(reply::json(StatusCode::OK, &json!({ "agents": agents })))
}

/// Answers `POST /{chat_id}/agents/{agent}/stop`.
pub(in crate::http) async fn stop(
    assistant: &Assistant,
    chat: &str,
    agent: &str,
    parts: &Parts,
) -> Result<Response<AssistantBody>, Rejection> {
    refuse_forms(parts)?;
    let stopped = match scope_of(parts).filter(|_| assistant.stores().is_some()) {
        Some(scope) => match assistant.find_run(&scope, Which::Chat(chat)).await? {
            Some(head) => Some(assistant.stop_agent_of(&head, agent).await?),
            None => None,
        },
        None => {
            let principal = parts.extensions.get::<Principal>().cloned().unwrap_or_default();
            assistant.stop_agent(&principal, chat, agent)
        }
    };
    let stopped = stopped.ok_or_else(Rejection::not_found)?;
    Ok(reply::json(StatusCode::OK, &json!({ "stopped": stopped })))
}
