//! Clients of AG-UI that connect to a stored thread: a snapshot of its messages, then what its run still writes.
//!
//! A replay would add the text to the text that the client has. A stream that ends before its run is broken off, so that
//! the client connects again.

use bytes::{Bytes, BytesMut};
use http::{Extensions, Request, Response};
use http_body::Body;
use omniassist_core::dialect::DialectEncoder as _;
use omniassist_core::dialect::ag_ui;
use omniassist_core::event::{FinishReason, Usage};
use omniassist_core::message::MessageCollector;
use omniassist_core::{Error, RunEvent};

use crate::engine::Connection;
use crate::http::request::receive;
use crate::http::response::{Rejection, RunName, run_headers};
use crate::http::{AssistantBody, event_stream};
use crate::store::Scope;
use crate::{Assistant, Principal};

/// Answers `POST /ag-ui/connect`. The answer for a thread that is not stored is a run without content.
pub(in crate::http) async fn answer<B: Body>(
    assistant: &Assistant,
    request: Request<B>,
) -> Result<Response<AssistantBody>, Rejection> {
    let (mut parts, body) = request.into_parts();
    let body = receive::posted(assistant, &mut parts, body).await?.bytes.clone();
    if let Some(response) = stored(assistant, body.clone(), &parts.extensions).await? {
        return Ok(response);
    }
    let mut encoder = ag_ui::read_connect(body, assistant.limits())?.encoder();
    let mut bytes = BytesMut::new();
    encoder.encode(&finish(), &mut bytes);
    Ok(event_stream::events(AssistantBody::whole(bytes.freeze()), ag_ui::HEADERS))
}

/// Streams a stored thread. Returns `None` if the sender has none of this name.
///
/// # Errors
///
/// Returns an error if the body is not a request, or the store is not available.
pub(in crate::http) async fn stored(
    assistant: &Assistant,
    body: Bytes,
    extensions: &Extensions,
) -> Result<Option<Response<AssistantBody>>, Error> {
    let posted = ag_ui::read_connect(body, assistant.limits())?;
    let scope = extensions.get().and_then(|principal: &Principal| Scope::of(principal));
    let Some(scope) = scope else { return Ok(None) };
    let Some(connection) = assistant.connect(&scope, &posted.thread_id).await? else { return Ok(None) };
    let Connection { messages, mut events, view } = connection;
    let mut shown = messages.clone();
    if view.is_none() {
        // A run that goes on sends the states of its own components.
        let mut answer = MessageCollector::new();
        events.iter().for_each(|event| answer.apply(event));
        shown.push(answer.into_message());
    }
    let (principal, chat) = (extensions.get().cloned().unwrap_or_default(), posted.thread_id.as_str().into());
    events.splice(..0, assistant.shared_states(&principal, &chat, &mut shown).await?);
    let mut encoder = posted.encoder().copying(&messages);
    let mut begun = BytesMut::new();
    encoder.catch_up(&events, &mut begun);
    // The end may be in the journal before its viewers see it.
    let view = view.filter(|_| !events.last().is_some_and(RunEvent::is_terminal));
    let Some(view) = view else {
        return Ok(Some(event_stream::events(AssistantBody::whole(begun.freeze()), ag_ui::HEADERS)));
    };
    let name = RunName { id: view.run_id(), epoch: None };
    let body = AssistantBody::view_after(begun, view, Box::new(encoder), assistant.limits().keep_alive);
    let mut response = event_stream::events(body, ag_ui::HEADERS);
    run_headers::add(&mut response, name);
    Ok(Some(response))
}

fn finish() -> RunEvent {
    RunEvent::Finish { reason: FinishReason::Stop, usage: Usage::default() }
}
