//! AG-UI over HTTP: `POST /ag-ui`.

use http::{Extensions, Request, Response};
use http_body::Body;
use omniassist_core::Error;
use omniassist_core::dialect::ag_ui::{self, Posted};

use crate::Assistant;
use crate::http::request::{file_check, post_headers, receive};
use crate::http::response::Rejection;
use crate::http::{AssistantBody, event_stream};
use crate::store::Post;

/// Answers `POST /ag-ui`.
pub(in crate::http) async fn run<B: Body>(
    assistant: &Assistant,
    request: Request<B>,
) -> Result<Response<AssistantBody>, Rejection> {
    let (mut parts, body) = request.into_parts();
    if assistant.stores().is_some() {
        post_headers::keep(&mut parts, assistant.limits())?;
    }
    let body = receive::posted(assistant, &mut parts, body).await?;
    let posted = ag_ui::read_request(body.bytes.clone(), assistant.limits())?;
    Ok(begin(assistant, posted, parts.extensions).await?)
}

/// Begins a run.
///
/// # Errors
///
/// Returns an error if the assistant refuses the request.
pub(in crate::http) async fn begin(
    assistant: &Assistant,
    mut posted: Posted,
    extensions: Extensions,
) -> Result<Response<AssistantBody>, Error> {
    if posted.request.messages.is_empty() {
        let expected = "an array with at least one message";
        let is_empty = posted.request.skipped_messages.is_empty();
        let found = if is_empty { "an empty array" } else { "only unknown roles" };
        return Err(Error::invalid_field("messages", expected, found));
    }
    file_check::check(assistant, &posted.request, &extensions).await?;
    let mut encoder = posted.encoder();
    if extensions.get::<Post>().is_some() {
        // The post may repeat one whose run has withdrawn text since.
        encoder = encoder.copying(&posted.request.messages);
    }
    let request = std::mem::take(&mut posted.request);
    event_stream::stream(assistant, request, extensions, ag_ui::HEADERS, encoder)
        .await
        .map_err(|error| posted.locate(error))
}
