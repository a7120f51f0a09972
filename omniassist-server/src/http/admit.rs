//! What every request passes before anything of its body is read.

use http::request::Parts;
use http::{Response, header};

use super::AssistantBody;
use super::shape::Shape;
use crate::Assistant;
use crate::edge::AuthError;

/// Lets a request in, or gives the response that refuses it. Afterwards its extensions say whose it is.
pub(super) async fn admit(
    assistant: &Assistant,
    shape: Shape,
    parts: &mut Parts,
) -> Result<(), Response<AssistantBody>> {
    assistant.edge().identify(parts).await.map_err(|error| refused(shape, &error))
}

/// The response to a request of somebody who may not send it, or of nobody.
pub(super) fn refused(shape: Shape, error: &AuthError) -> Response<AssistantBody> {
    let mut response = shape.error(error.status(), error.code(), error.message());
    if let Some(challenge) = error.challenge() {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge.clone());
    }
    response
}
