use std::fmt;

use http::{Extensions, Request, Response, Uri};
use http_body::Body;
use omniassist_core::dialect::ai_sdk::{self, ClientVersion, Encoder, Framing};
use omniassist_core::{Error, RunRequest, json_guard};

use super::read::{ReadFailure, is_json, read_body, wants_ndjson};
use super::{AssistantBody, reply};
use crate::Assistant;

/// A posted run, read and checked but not begun: for hosts that look at it, or change it, in a handler of their own.
///
/// ```
/// use http::{Request, Response};
/// use omniassist_server::Assistant;
/// use omniassist_server::core::ContextMessage;
/// use omniassist_server::http::{AssistantBody, PostedRun};
///
/// async fn chat(assistant: &Assistant, request: Request<http_body_util::Full<bytes::Bytes>>) -> Response<AssistantBody> {
///     let mut posted = match PostedRun::read(request, assistant.limits()).await {
///         Ok(posted) => posted,
///         Err(refusal) => return refusal,
///     };
///     posted.request.context.push(ContextMessage::new("plan", "account", "premium".into()));
///     posted.respond(assistant)
/// }
/// ```
#[derive(Clone)]
pub struct PostedRun {
    /// What the client asks for.
    pub request: RunRequest,
    /// The extensions of the HTTP request; they reach the tools.
    pub extensions: Extensions,
    pub(super) framing: Framing,
    pub(super) version: ClientVersion,
}

impl PostedRun {
    /// Reads a request's body in any of the forms that `POST /` takes.
    ///
    /// # Errors
    ///
    /// The response to give when the request is not acceptable: 400, 413 or 415 with a JSON body that says why.
    pub async fn read<B: Body>(
        request: Request<B>,
        limits: &omniassist_core::Limits,
    ) -> Result<Self, Response<AssistantBody>> {
        let (parts, body) = request.into_parts();
        if !is_json(&parts.headers) {
            return Err(reply::not_json());
        }
        let body = read_body(body, limits.max_body_bytes).await.map_err(|failure| match failure {
            ReadFailure::TooLarge => reply::too_large(limits.max_body_bytes),
            ReadFailure::Broken => reply::broken_body(),
        })?;
        let version = client_version(&parts.uri).map_err(|refusal| reply::refused(&refusal))?;
        let mut request = json_guard::check_depth(&body, limits.max_json_depth)
            .and_then(|()| ai_sdk::read_request(body, limits))
            .map_err(|refusal| reply::refused(&refusal))?;
        let framing = if wants_ndjson(&parts.headers) { Framing::Ndjson } else { Framing::Sse };
        request.abilities.approvals = version > ClientVersion::V5;
        Ok(Self { request, extensions: parts.extensions, framing, version })
    }

    /// Begins the run; the response streams what it does.
    pub fn respond(self, assistant: &Assistant) -> Response<AssistantBody> {
        let encoder = Encoder::new(self.framing).version(self.version);
        reply::stream(assistant, self.request, self.extensions, self.framing.headers(), encoder)
    }
}

/// What the query's `ai-sdk` says of the client.
fn client_version(uri: &Uri) -> Result<ClientVersion, Error> {
    let query = uri.query().unwrap_or_default();
    let number = query.split('&').find_map(|pair| pair.strip_prefix("ai-sdk="));
    match number {
        None => Ok(ClientVersion::default()),
        Some(number) => ClientVersion::from_number(number)
            .ok_or_else(|| Error::invalid_field("?ai-sdk", "5, 6 or 7", "another value")),
    }
}

impl fmt::Debug for PostedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostedRun").field("chat_id", &self.request.chat_id).finish_non_exhaustive()
    }
}
