//! What every request passes before anything of its body is read.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use http::request::Parts;
use http::{Response, StatusCode, header};
use omniassist_core::Error;

use super::shape::Shape;
use super::{AssistantBody, reply};
use crate::Assistant;
use crate::access::{AuthError, Refused, Visitor};

/// The response to a request that goes to another server, or that another server's page sent.
pub(super) fn refused(shape: Shape, refused: Refused) -> Response<AssistantBody> {
    shape.error(refused.status(), refused.code(), refused.message())
}

/// Answers a browser that asks what a page of a listed origin may send.
pub(super) fn preflight(
    assistant: &Assistant,
    parts: &Parts,
    visitor: &Visitor,
) -> Option<Response<AssistantBody>> {
    let headers = assistant.access().preflight(parts, visitor)?;
    let mut response = reply::no_content();
    response.headers_mut().extend(headers);
    Some(response)
}

/// Lets a request in whose sender may use the assistant, or gives the response that refuses it. Afterwards its
/// extensions say whose it is.
pub(super) async fn identify(
    assistant: &Assistant,
    shape: Shape,
    parts: &mut Parts,
) -> Result<(), Response<AssistantBody>> {
    match AssertUnwindSafe(assistant.access().identify(parts)).catch_unwind().await {
        Ok(identified) => identified.map_err(|error| unidentified(shape, &error)),
        Err(_) => {
            tracing::error!("the authentication hook panicked; the request is refused");
            let error = Error::internal();
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            Err(shape.error(status, error.code().as_str(), &error.to_string()))
        }
    }
}

/// The response to a request of somebody who may not send it, or of nobody.
pub(super) fn unidentified(shape: Shape, error: &AuthError) -> Response<AssistantBody> {
    let mut response = shape.error(error.status(), error.code(), error.message());
    if let Some(challenge) = error.challenge() {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge.clone());
    }
    response
}
