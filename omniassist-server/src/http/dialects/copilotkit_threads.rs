//! The stored conversations of a principal for CopilotKit's list of threads: the routes below `/copilotkit/threads`.

use bytes::Bytes;
use http::{Extensions, Method, Response, StatusCode, Uri};
use omniassist_core::Error;
use omniassist_core::dialect::ag_ui::timestamp;
use serde_json::{Map, Value, json};

use crate::Assistant;
use crate::http::chats::threads::{ThreadsRequest, failed, title};
use crate::http::request::receive;
use crate::http::response::{Rejection, reply};
use crate::http::{AssistantBody, agents};
use crate::store::ConversationInfo;

/// The body of a change.
const CHANGE: &str = "an object with the text `name`, or with `archived`";

/// Returns the threads of the page that the query names: none without a store, and for anonymous principals.
pub(in crate::http) async fn list(
    assistant: &Assistant,
    extensions: &Extensions,
    uri: &Uri,
) -> Result<Response<AssistantBody>, Rejection> {
    let (mut threads, mut next) = (Vec::new(), None);
    if let Ok(asked) = ThreadsRequest::new(assistant, extensions, uri) {
        let listing = asked.page().await?;
        threads.extend(listing.conversations.iter().map(described));
        next = listing.next;
    }
    Ok(reply::json(StatusCode::OK, &json!({ "threads": threads, "nextCursor": next })))
}

/// Changes or deletes a thread.
pub(in crate::http) async fn one(
    assistant: &Assistant,
    thread: &str,
    method: &Method,
    extensions: &Extensions,
    body: &Bytes,
) -> Result<Response<AssistantBody>, Rejection> {
    let nowhere = Uri::default();
    let asked = ThreadsRequest::new(assistant, extensions, &nowhere)?;
    if *method == Method::DELETE {
        return match asked.conversations.delete(&asked.principal, thread).await.map_err(failed)? {
            true => Ok(reply::json(StatusCode::OK, &json!({ "threadId": thread, "deleted": true }))),
            false => Err(Rejection::not_found()),
        };
    }
    let change: Map<String, Value> = receive::object(body, assistant.limits(), CHANGE)?;
    match (change.get("name"), change.get("archived")) {
        (Some(Value::String(name)), None) => {
            let name = title(name, "name")?;
            if !asked.conversations.rename(&asked.principal, thread, name).await.map_err(failed)? {
                return Err(Rejection::not_found());
            }
        }
        // No thread is archived.
        (None, Some(Value::Bool(false))) => {}
        (None, Some(Value::Bool(true))) => return Err(no_archive()),
        _ => return Err(Error::invalid_field("body", CHANGE, "something else").into()),
    }
    Ok(reply::json(StatusCode::OK, &described(&asked.info(thread).await?)))
}

/// Returns the answer to a request to archive a thread.
pub(super) fn no_archive() -> Rejection {
    let message = "Threads cannot be archived here. Delete them instead.";
    Rejection::new(StatusCode::UNPROCESSABLE_ENTITY, "not_supported", message)
}

/// Describes a thread. It belongs to no agent, so it has the name that a page without agents uses.
fn described(info: &ConversationInfo) -> Value {
    json!({
        "id": info.chat,
        "name": info.title,
        "agentId": agents::DEFAULT,
        "organizationId": "",
        "createdById": "",
        "archived": false,
        "createdAt": timestamp(info.created_ms),
        "updatedAt": timestamp(info.updated_ms),
    })
}
