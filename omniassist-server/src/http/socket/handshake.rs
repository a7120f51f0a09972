use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, Version, header};
use omniassist_core::message::read::check_chat_id;
use omniassist_core::run::ClientAbilities;
use omniassist_core::{Error, Limits};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::super::{AssistantBody, agents};
use super::bearer::choose;
use super::connection;
use super::upgrade::Upgrade;
use crate::agents::AgentSession;
use crate::http::chats::threads::parameter;
use crate::http::request::query_value;
use crate::http::request::receive::{RETRY_ANY, RETRY_OWN};
use crate::http::response::Rejection;
use crate::quota::{QuotaFull, Share};
use crate::{Assistant, Principal};

/// Upgrades the connection of a request that was authenticated.
///
/// # Errors
///
/// Returns an error if the request is not that of a WebSocket, its server cannot upgrade it, there is no such agent, no chat
/// can have this name, the assistant is draining, or a limit of connections is reached.
pub(in crate::http) async fn accept(
    assistant: &Assistant,
    mut parts: Parts,
) -> Result<Response<AssistantBody>, Rejection> {
    let key = key(&parts)?;
    assistant.check_open()?;
    let agent = match query_value(&parts.uri, "agent") {
        Some(name) => Some(agents::visible(assistant, name, &parts.extensions).await?),
        None => None,
    };
    let assistant = agent.as_ref().unwrap_or(assistant);
    let chat = parameter(&parts.uri, "chat")?;
    if let Some(chat) = &chat {
        check_chat_id(chat, "?chat", assistant.limits())?;
    }
    let place = place(assistant, &parts)?;
    let upgrade = Upgrade::take(&mut parts.extensions).ok_or_else(upgrade_required)?;
    let mut response = Response::new(AssistantBody::whole(""));
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    if let Ok(accepted) = HeaderValue::from_str(&derive_accept_key(key.as_bytes())) {
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, accepted);
    }
    let (protocol, is_extended) = choose(&parts.headers);
    if let Some(protocol) = protocol {
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, protocol);
    }
    let session = AgentSession::new(assistant.clone()).extensions(parts.extensions);
    let session = if is_extended { session.abilities(abilities()) } else { session };
    let session = match chat {
        Some(chat) => session.chat(chat),
        None => session,
    };
    let (closing, open) = assistant.closing();
    let limits = assistant.limits().clone();
    // The connection belongs to no response, so a task of its own drives it.
    tokio::spawn(async move {
        let Some(socket) = upgrade.socket().await else { return };
        connection::serve(socket, session, is_extended, closing, &limits).await;
        drop((place, open));
    });
    Ok(response)
}

/// Returns what a client of the extended protocol shows.
fn abilities() -> ClientAbilities {
    let mut abilities = ClientAbilities::none();
    (abilities.approvals, abilities.forms) = (true, true);
    abilities
}

/// Takes the place of a connection among those of its principal and of all clients.
///
/// # Errors
///
/// Returns 429 or 503 if one of both has as many connections as the limits allow.
fn place(assistant: &Assistant, parts: &Parts) -> Result<Share, Rejection> {
    let principal = parts.extensions.get::<Principal>().cloned().unwrap_or_default();
    let mut place = assistant.access().sockets.begin(principal);
    let Limits { max_sockets_per_principal: of_principal, max_sockets: of_all, .. } = *assistant.limits();
    match place.grow_to(1, of_principal, of_all) {
        Ok(()) => Ok(place),
        Err(QuotaFull::OfPrincipal) => {
            let message = format!("{of_principal} WebSockets are already open; close one of them.");
            Err(Rejection::new(StatusCode::TOO_MANY_REQUESTS, "too_many_sockets", message)
                .with_limit("max_sockets_per_principal", of_principal)
                .with_retry_after(RETRY_OWN))
        }
        Err(QuotaFull::OfAll) => Err(Error::overloaded(RETRY_ANY).into()),
    }
}

/// Returns the key of a request for a WebSocket.
///
/// # Errors
///
/// Returns 426 for a request that is none, or for another version of HTTP or of the protocol.
fn key(parts: &Parts) -> Result<HeaderValue, Rejection> {
    let headers = &parts.headers;
    let is_socket = parts.version == Version::HTTP_11
        && has_token(headers, &header::CONNECTION, "upgrade")
        && has_token(headers, &header::UPGRADE, "websocket")
        && headers.get(header::SEC_WEBSOCKET_VERSION).is_some_and(|version| version == "13");
    let key = headers.get(header::SEC_WEBSOCKET_KEY).filter(|key| key.len() == 24);
    key.filter(|_| is_socket).cloned().ok_or_else(upgrade_required)
}

fn upgrade_required() -> Rejection {
    let message = "This path takes WebSockets only: HTTP/1.1, Upgrade: websocket, and version 13.";
    Rejection::new(StatusCode::UPGRADE_REQUIRED, "upgrade_required", message)
        .with_header(header::UPGRADE, Some(HeaderValue::from_static("websocket")))
        .with_header(header::SEC_WEBSOCKET_VERSION, Some(HeaderValue::from_static("13")))
}

/// Returns `true` if one of the words of a header is this one.
fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|word| word.trim().eq_ignore_ascii_case(token))
}
