//! AG-UI over HTTP: `POST /ag-ui`.

use http::{Extensions, Request, Response};
use http_body::Body;
use omniassist_core::Error;
use omniassist_core::dialect::ag_ui::{self, Posted};

use super::read::json_body;
use super::{AssistantBody, reply};
use crate::Assistant;

/// Answers `POST /ag-ui`.
pub(super) async fn run<B: Body>(assistant: &Assistant, request: Request<B>) -> Response<AssistantBody> {
    let (parts, body) = request.into_parts();
    let limits = assistant.limits();
    match json_body(&parts.headers, body, limits).await {
        Ok(body) => {
            let posted = ag_ui::read_request(body, limits);
            let begun = posted.and_then(|posted| begin(assistant, posted, parts.extensions));
            begun.unwrap_or_else(|refusal| reply::refused(&refusal))
        }
        Err(refusal) => reply::refusal(&refusal),
    }
}

/// Begins a run.
///
/// # Errors
///
/// When the assistant refuses the request.
pub(super) fn begin(
    assistant: &Assistant,
    mut posted: Posted,
    extensions: Extensions,
) -> Result<Response<AssistantBody>, Error> {
    if posted.request.messages.is_empty() {
        let expected = "an array with at least one message";
        return Err(Error::invalid_field("messages", expected, "an empty array"));
    }
    let encoder = posted.encoder();
    let request = std::mem::take(&mut posted.request);
    reply::try_stream(assistant, request, extensions, ag_ui::HEADERS, encoder)
        .map_err(|refusal| posted.locate(refusal))
}
