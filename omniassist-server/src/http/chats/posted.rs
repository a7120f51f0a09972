use std::fmt;
use std::pin::pin;
use std::sync::Arc;

use http::{Extensions, Request, Response, Uri, Version};
use http_body::Body;
use omniassist_core::dialect::ai_sdk::{self, ClientVersion, Encoder, Framing};
use omniassist_core::dialect::text;
use omniassist_core::run::ClientAbilities;
use omniassist_core::{Error, Limits, RunRequest};

use crate::Assistant;
use crate::http::request::receive::{self, wants_ndjson};
use crate::http::request::{DrainBody, Protocol, file_check, post_headers, query_value};
use crate::http::response::{ErrorFormat, Rejection, reply};
use crate::http::{AssistantBody, event_stream};
use crate::quota::{Held, Quota};

/// A posted run that was read and checked but has not begun, for applications that inspect or change it in a handler.
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
///     posted.respond(assistant).await
/// }
/// ```
#[derive(Clone)]
pub struct PostedRun {
    /// The run that the client asks for.
    pub request: RunRequest,
    /// The extensions of the HTTP request. Tools take them as [`Extension<T>`](crate::Extension).
    pub extensions: Extensions,
    pub(in crate::http) framing: Framing,
    pub(in crate::http) version: ClientVersion,
    pub(in crate::http) protocol: Protocol,
    http_version: Version,
    /// Set when the sender was checked before the body was read.
    is_admitted: bool,
}

impl PostedRun {
    /// Checks the sender of a request as the assistant's own routes do (see [`access`](crate::access)), and reads its
    /// body in any of the forms that `POST /` takes.
    ///
    /// If the body has the last message only, the [history loader](crate::AssistantBuilder::history_loader) adds those
    /// before it. [Limits](crate::throttle) are checked first, and the slot of the run is held until the run ends or
    /// the result is dropped.
    ///
    /// CORS is left to the application, whose route it is: preflight requests do not come here, and the response has no
    /// CORS headers.
    ///
    /// # Errors
    ///
    /// The response to send when the request is refused: 400, 401, 403, 408, 413, 415, 421, 429 or 503, with a JSON body
    /// that gives the reason.
    pub async fn read_for<B: Body>(
        request: Request<B>,
        assistant: &Assistant,
    ) -> Result<Self, Response<AssistantBody>> {
        let http_version = request.version();
        let (mut parts, body) = request.into_parts();
        let mut body = pin!(DrainBody::new(&parts.headers, body));
        let posted = async {
            assistant.access().screen(&parts)?;
            assistant.access().identify(&mut parts).await?;
            Self::read_admitted(Request::from_parts(parts, body.as_mut()), assistant).await
        };
        match posted.await {
            Ok(posted) => Ok(posted),
            Err(rejection) => {
                let mut response = body.refuse(rejection, assistant.limits()).await;
                reply::request_close(assistant.is_draining(), http_version, &mut response);
                Err(response)
            }
        }
    }

    /// Reads the body of a request whose sender was checked.
    pub(in crate::http) async fn read_admitted<B: Body>(
        request: Request<B>,
        assistant: &Assistant,
    ) -> Result<Self, Rejection> {
        let (mut parts, body) = request.into_parts();
        if assistant.stores().is_some() {
            post_headers::keep(&mut parts, assistant.limits())?;
        }
        let request = Request::from_parts(parts, body);
        let mut posted = Self::receive(request, assistant.limits(), &assistant.access().uploads).await?;
        assistant.load_history(&mut posted.request, &mut posted.extensions).await?;
        file_check::check(assistant, &posted.request, &posted.extensions).await?;
        Ok(Self { is_admitted: true, ..posted })
    }

    /// Reads the body of a request, and nothing else.
    pub(in crate::http) async fn receive<B: Body>(
        request: Request<B>,
        limits: &Limits,
        uploads: &Arc<Quota>,
    ) -> Result<Self, Rejection> {
        let (mut parts, body) = request.into_parts();
        let body = receive::json(&mut parts, body, limits, uploads).await?;
        let version = client_version(&parts.uri)?;
        let protocol = Protocol::of(&parts.uri)?;
        let mut request = ai_sdk::read_request(body.bytes.clone(), limits)?;
        let framing = if wants_ndjson(&parts.headers) { Framing::Ndjson } else { Framing::Sse };
        request.abilities.approvals = version > ClientVersion::V5;
        if protocol == Protocol::Text {
            // Plain text cannot hand a call over to the client.
            request.abilities = ClientAbilities::none();
            request.tools.clear();
        }
        let (mut extensions, http_version) = (parts.extensions, parts.version);
        Held::keep_files(&mut extensions, &request);
        Ok(Self { request, extensions, framing, version, protocol, http_version, is_admitted: false })
    }

    /// Begins the run and returns the response that streams it. It waits for [rate limits and budgets](crate::throttle)
    /// only. With `?protocol=text`, the response of a run that fails breaks off, with status 200.
    ///
    /// A run that was read by [`Bridge::read`](crate::bridge::Bridge::read) is answered 401 without a
    /// [`Principal`](crate::Principal) in its extensions, unless
    /// [anonymous requests are allowed](crate::AssistantBuilder::allow_anonymous).
    pub async fn respond(self, assistant: &Assistant) -> Response<AssistantBody> {
        let http_version = self.http_version;
        let response = self.begin(assistant).await;
        let mut response = response.unwrap_or_else(|rejection| rejection.into_response(ErrorFormat::Json));
        reply::request_close(assistant.is_draining(), http_version, &mut response);
        response
    }

    async fn begin(self, assistant: &Assistant) -> Result<Response<AssistantBody>, Rejection> {
        if !self.is_admitted {
            assistant.access().require_principal(&self.extensions)?;
        }
        let Self { request, extensions, framing, version, protocol, .. } = self;
        Ok(match protocol {
            Protocol::Data => {
                let encoder = Encoder::new(framing).version(version);
                event_stream::stream(assistant, request, extensions, framing.headers(), encoder).await?
            }
            // Plain text is not stored: a client cannot come back to it.
            Protocol::Text => {
                let run = assistant.try_run(request, extensions).await?;
                let keep_alive = assistant.limits().keep_alive;
                let body = AssistantBody::events(run, Box::new(text::Encoder::new()), keep_alive);
                event_stream::events(body, text::HEADERS)
            }
        })
    }

    /// Begins the run as [`respond`](Self::respond) does, but a plain text run that fails before its first output is
    /// answered with a status.
    pub(in crate::http) async fn respond_opened(
        self,
        assistant: &Assistant,
    ) -> Result<Response<AssistantBody>, Rejection> {
        match self.protocol {
            Protocol::Data => self.begin(assistant).await,
            Protocol::Text => {
                event_stream::stream_text(assistant, self.request, self.extensions, text::Encoder::new())
                    .await
            }
        }
    }
}

/// Reads the AI SDK's major version from `?ai-sdk=`.
pub(in crate::http) fn client_version(uri: &Uri) -> Result<ClientVersion, Error> {
    match query_value(uri, "ai-sdk") {
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
