//! Responses that stream the events of a run.

use http::{Extensions, HeaderName, HeaderValue, Response, header};
use omniassist_core::dialect::{Cursor, DialectEncoder, Numbered};
use omniassist_core::{Error, RunRequest};

use super::background::Background;
use super::first_event::{self, NoAnswer};
use crate::Assistant;
use crate::engine::Opened;
use crate::http::AssistantBody;
use crate::http::response::{ErrorFormat, Rejection, RunName, run_headers};

/// Begins a run and streams its events in a client's format.
///
/// # Errors
///
/// Returns an error if the assistant refuses the request.
pub(in crate::http) async fn stream(
    assistant: &Assistant,
    request: RunRequest,
    extensions: Extensions,
    headers: &[(&'static str, &'static str)],
    encoder: impl DialectEncoder + 'static,
) -> Result<Response<AssistantBody>, Error> {
    let keep_alive = assistant.limits().keep_alive;
    let background = Background::wanted(&extensions);
    let view = match assistant.open(request, extensions).await? {
        Opened::Run(run) => {
            return Ok(events(AssistantBody::events(run, Box::new(encoder), keep_alive), headers));
        }
        Opened::View(view) => view,
    };
    if let Some(background) = background {
        return Ok(background.accepted(view));
    }
    let name = RunName { id: view.run_id(), epoch: view.epoch() };
    let start = Cursor { epoch: view.epoch().unwrap_or_default(), chunk: 0 };
    let encoder = Numbered::new(Box::new(encoder), start);
    let mut response = events(AssistantBody::view(view, Box::new(encoder), keep_alive), headers);
    run_headers::add(&mut response, name);
    Ok(response)
}

/// Begins a run and streams its events from the first output on.
///
/// # Errors
///
/// Returns an error if the assistant refuses the request, or the run fails before its first output.
pub(in crate::http) async fn stream_opened(
    assistant: &Assistant,
    request: RunRequest,
    extensions: Extensions,
    headers: &[(&'static str, &'static str)],
    encoder: impl DialectEncoder + 'static,
) -> Result<Response<AssistantBody>, NoAnswer> {
    let run = assistant.try_run(request, extensions).await.map_err(NoAnswer::Refused)?;
    let keep_alive = assistant.limits().keep_alive;
    let body = first_event::open(run, Box::new(encoder), keep_alive).await?;
    Ok(events(body, headers))
}

/// [`stream_opened`] for plain text. A run that fails before its first output is answered with a status and one
/// sentence, since these clients show the body as it is.
pub(in crate::http) async fn stream_text(
    assistant: &Assistant,
    request: RunRequest,
    extensions: Extensions,
    encoder: omniassist_core::dialect::text::Encoder,
) -> Result<Response<AssistantBody>, Rejection> {
    let headers = omniassist_core::dialect::text::HEADERS;
    stream_opened(assistant, request, extensions, headers, encoder).await.map_err(|reason| match reason {
        NoAnswer::Refused(error) => error.into(),
        NoAnswer::Failed(failure) => Rejection::from(failure).in_format(ErrorFormat::PlainText),
    })
}

/// Creates a response that streams events, with the headers of their format.
pub(in crate::http) fn events(
    body: AssistantBody,
    headers: &[(&'static str, &'static str)],
) -> Response<AssistantBody> {
    let mut response = Response::new(body);
    // Compressing middleware and proxies buffer events until they have enough of them. They do not compress a response
    // that is encoded already. Few of them support `no-transform`.
    response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("identity"));
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    for (name, value) in headers {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}
