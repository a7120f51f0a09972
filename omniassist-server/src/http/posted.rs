use std::fmt;

use http::{Extensions, Request, Response, Uri, Version};
use http_body::Body;
use omniassist_core::dialect::ai_sdk::{self, ClientVersion, Encoder, Framing};
use omniassist_core::dialect::text;
use omniassist_core::run::ClientAbilities;
use omniassist_core::{Error, RunRequest};

use super::query::{self, Protocol};
use super::read::{Refusal, unguarded_json_body, wants_ndjson};
use super::shape::Shape;
use super::{AssistantBody, admit, reply};
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
///     let mut posted = match PostedRun::read_for(request, assistant).await {
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
    pub(super) protocol: Protocol,
    http_version: Version,
}

impl PostedRun {
    /// Lets a request in as the assistant's own routes do (see [`access`](crate::access)), and reads its body, in any of
    /// the forms that `POST /` takes. Permitting pages of other origins to ask is left to the host, whose route it is:
    /// `OPTIONS` does not come here, and the response has no CORS headers.
    ///
    /// # Errors
    ///
    /// The response to give when the request may not come in or is not acceptable: 400, 401, 403, 413, 415, 421 or 503
    /// with a JSON body that says why.
    pub async fn read_for<B: Body>(
        request: Request<B>,
        assistant: &Assistant,
    ) -> Result<Self, Response<AssistantBody>> {
        let (mut parts, body) = request.into_parts();
        assistant.access().screen(&parts).map_err(|refused| admit::refused(Shape::Own, refused))?;
        admit::identify(assistant, Shape::Own, &mut parts).await?;
        Self::read(Request::from_parts(parts, body), assistant.limits()).await
    }

    /// Reads a request's body, and nothing else: who may send it is for the caller to say. For a
    /// [runtime](crate::bridge) of the host's own; for an assistant there is [`read_for`](Self::read_for).
    ///
    /// # Errors
    ///
    /// The response to give when the request is not acceptable: 400, 413 or 415 with a JSON body that says why.
    pub async fn read<B: Body>(
        request: Request<B>,
        limits: &omniassist_core::Limits,
    ) -> Result<Self, Response<AssistantBody>> {
        Self::try_read(request, limits).await.map_err(|refusal| reply::refusal(&refusal))
    }

    async fn try_read<B: Body>(
        request: Request<B>,
        limits: &omniassist_core::Limits,
    ) -> Result<Self, Refusal> {
        let (parts, body) = request.into_parts();
        let body = unguarded_json_body(&parts.headers, body, limits).await?;
        let version = client_version(&parts.uri)?;
        let protocol = Protocol::of(&parts.uri)?;
        let mut request = ai_sdk::read_request(body, limits)?;
        let framing = if wants_ndjson(&parts.headers) { Framing::Ndjson } else { Framing::Sse };
        request.abilities.approvals = version > ClientVersion::V5;
        if protocol == Protocol::Text {
            // Text cannot hand a call over.
            request.abilities = ClientAbilities::none();
            request.tools.clear();
        }
        let (extensions, http_version) = (parts.extensions, parts.version);
        Ok(Self { request, extensions, framing, version, protocol, http_version })
    }

    /// Begins the run; the response streams what it does. Where the client asked for plain text (`?protocol=text`), a
    /// run that fails has a response that breaks off, with the status 200.
    ///
    /// As on the assistant's own routes, a run without a [`Principal`](crate::Principal) in its extensions is answered
    /// 401, unless [anonymous requests are allowed](crate::AssistantBuilder::allow_anonymous).
    pub fn respond(self, assistant: &Assistant) -> Response<AssistantBody> {
        if let Err(error) = assistant.access().require(&self.extensions) {
            return admit::unidentified(Shape::Own, &error);
        }
        let Self { request, extensions, framing, version, protocol, http_version } = self;
        let mut response = match protocol {
            Protocol::Data => {
                let encoder = Encoder::new(framing).version(version);
                reply::stream(assistant, request, extensions, framing.headers(), encoder)
            }
            Protocol::Text => {
                reply::stream(assistant, request, extensions, text::HEADERS, text::Encoder::new())
            }
        };
        reply::part_ways(assistant, http_version, &mut response);
        response
    }

    /// As [`respond`](Self::respond), but a run that fails before it says anything in plain text has a status that
    /// says so.
    pub(super) async fn respond_opened(self, assistant: &Assistant) -> Response<AssistantBody> {
        if self.protocol == Protocol::Data {
            return self.respond(assistant);
        }
        let (request, extensions) = (self.request, self.extensions);
        reply::stream_opened(assistant, request, extensions, text::HEADERS, text::Encoder::new())
            .await
            .unwrap_or_else(|reason| reply::no_text(&reason))
    }
}

/// What the query's `ai-sdk` says of the client.
fn client_version(uri: &Uri) -> Result<ClientVersion, Error> {
    match query::value(uri, "ai-sdk") {
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
