//! `POST /mcp`, for clients of the Model Context Protocol, and the description of that resource.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body::Body;
use omniassist_core::json_guard;

use crate::Assistant;
use crate::access::AuthError;
use crate::endpoint::{McpEndpoint, challenge};
use crate::http::AssistantBody;
use crate::http::request::receive;
use crate::http::response::{Rejection, reply};

/// Passes a request to the endpoint.
pub(in crate::http) async fn answer<B: Body>(
    assistant: &Assistant,
    endpoint: Arc<dyn McpEndpoint>,
    request: Request<B>,
) -> Result<Response<AssistantBody>, Rejection> {
    let (mut parts, body) = request.into_parts();
    let body = receive::posted(assistant, &mut parts, body).await?;
    json_guard::check(&body.bytes, assistant.limits().max_json_depth)?;
    parts.extensions.insert(assistant.clone());
    let request: Request<Bytes> = Request::from_parts(parts, body.bytes.clone());
    let mut response = endpoint.answer(request).await.map(AssistantBody::mounted);
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// Answers with the description of the resource, which needs no authentication.
pub(in crate::http) fn describe(assistant: &Assistant) -> Result<Response<AssistantBody>, Rejection> {
    let endpoint = assistant.mcp().ok_or_else(Rejection::not_found)?;
    let resource = endpoint.protected_resource().ok_or_else(Rejection::not_found)?;
    Ok(reply::json(StatusCode::OK, &resource.to_json()))
}

/// Returns the rejection of a sender. It names the description of the resource, if the endpoint has one.
pub(in crate::http) fn unauthenticated(assistant: &Assistant, error: AuthError) -> Rejection {
    let challenge = assistant.mcp().zip(error.challenge()).and_then(|(endpoint, own)| {
        let metadata = endpoint.protected_resource()?.metadata();
        challenge(own, metadata)
    });
    let rejection = Rejection::from(error);
    match challenge {
        Some(challenge) => rejection.with_header(header::WWW_AUTHENTICATE, Some(challenge)),
        None => rejection,
    }
}
