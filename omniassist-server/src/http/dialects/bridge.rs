use std::pin::pin;

use http::{Extensions, Request, Response};
use http_body::Body;
use omniassist_core::RunRequest;
use omniassist_core::dialect::DialectEncoder;
use omniassist_core::dialect::ai_sdk::Framing;
use omniassist_core::dialect::text;

use crate::bridge::{Bridge, BridgeStream};
use crate::http::request::{DrainBody, Protocol};
use crate::http::response::{ErrorFormat, Rejection, reply};
use crate::http::{AssistantBody, PostedRun, event_stream};

impl Bridge {
    /// Reads a request in any of the forms that `POST /` of an assistant takes. Checking the sender is left to the caller.
    ///
    /// The limits on bodies apply as they do for an assistant: size, pace, and the memory of all bodies that are being
    /// read by this bridge. That memory is counted for the [`Principal`](crate::Principal) in the request's extensions.
    ///
    /// # Errors
    ///
    /// The response to send when the request is not acceptable: 400, 408, 413, 415, 429 or 503, with a JSON body that
    /// gives the reason.
    pub async fn read<B: Body>(&self, request: Request<B>) -> Result<PostedRun, Response<AssistantBody>> {
        let version = request.version();
        let (parts, body) = request.into_parts();
        let mut body = pin!(DrainBody::new(&parts.headers, body));
        let request = Request::from_parts(parts, body.as_mut());
        match PostedRun::receive(request, self.limits(), self.uploads()).await {
            Ok(posted) => Ok(posted),
            Err(rejection) => {
                let mut response = body.refuse(rejection, self.limits()).await;
                reply::request_close(false, version, &mut response);
                Err(response)
            }
        }
    }

    /// Answers a posted conversation with a UI message stream. The subscription ends when the response's body is dropped,
    /// or when the client does not read it for [`write_timeout`](omniassist_core::Limits::write_timeout).
    ///
    /// A conversation without a user message gets 400. A client that asked for plain text gets [plain text](text).
    pub fn respond(&self, posted: PostedRun) -> Response<AssistantBody> {
        if posted.protocol == Protocol::Text {
            return self.respond_in(posted.request, posted.extensions, text::HEADERS, text::Encoder::new());
        }
        let encoder = self.options().encoder(posted.framing).version(posted.version);
        self.respond_in(posted.request, posted.extensions, posted.framing.headers(), encoder)
    }

    /// Answers in the format of another dialect, with its headers and encoder. If an error is the last event of that
    /// format, set [`end_at_error`](omniassist_core::bridge::BridgeOptions::end_at_error).
    pub fn respond_in(
        &self,
        request: RunRequest,
        extensions: Extensions,
        headers: &[(&'static str, &'static str)],
        encoder: impl DialectEncoder + 'static,
    ) -> Response<AssistantBody> {
        match self.send_messages(request, extensions) {
            Ok(stream) => self.stream(stream, headers, encoder),
            Err(error) => Rejection::from(error).into_response(ErrorFormat::Json),
        }
    }

    /// Answers a client that reconnects to a chat (`GET /{chat_id}/stream`), with 204 if no run is in progress.
    #[must_use]
    pub fn respond_reconnect(&self, chat_id: &str, extensions: &Extensions) -> Response<AssistantBody> {
        let framing = Framing::Sse;
        match self.reconnect_to_stream(chat_id, extensions) {
            Some(stream) => self.stream(stream, framing.headers(), self.options().encoder(framing)),
            None => reply::no_content(),
        }
    }

    fn stream(
        &self,
        stream: BridgeStream,
        headers: &[(&'static str, &'static str)],
        encoder: impl DialectEncoder + 'static,
    ) -> Response<AssistantBody> {
        event_stream::events(AssistantBody::bridge(stream, Box::new(encoder), self.limits()), headers)
    }
}
