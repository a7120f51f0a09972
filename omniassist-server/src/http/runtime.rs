use http::{Extensions, Response};
use omniassist_core::RunRequest;
use omniassist_core::dialect::DialectEncoder;
use omniassist_core::dialect::ai_sdk::Framing;
use omniassist_core::dialect::text;

use super::query::Protocol;
use super::{AssistantBody, PostedRun, reply};
use crate::runtime::{RuntimeStream, RuntimeTransport};

impl RuntimeTransport {
    /// Answers a posted conversation: a UI message stream of what the runtime does, with its headers. Dropping the
    /// response's body unsubscribes from the runtime, and so does a client that leaves it unread for longer than
    /// [`write_timeout`](omniassist_core::Limits::write_timeout).
    ///
    /// A conversation in which the user says nothing is answered 400. Where the client asked for plain text, the answer
    /// is [plain text](text).
    pub fn respond(&self, posted: PostedRun) -> Response<AssistantBody> {
        if posted.protocol == Protocol::Text {
            return self.respond_in(posted.request, posted.extensions, text::HEADERS, text::Encoder::new());
        }
        let encoder = self.options().encoder(posted.framing).version(posted.version);
        self.respond_in(posted.request, posted.extensions, posted.framing.headers(), encoder)
    }

    /// The same in the format of another dialect: with its headers, and by its encoder. Where nothing may follow an error
    /// in that format, set [`end_at_error`](omniassist_core::dialect::ai_sdk::runtime::TransportOptions::end_at_error).
    pub fn respond_in(
        &self,
        request: RunRequest,
        extensions: Extensions,
        headers: &[(&'static str, &'static str)],
        encoder: impl DialectEncoder + 'static,
    ) -> Response<AssistantBody> {
        match self.send_messages(request, extensions) {
            Ok(stream) => self.stream(stream, headers, encoder),
            Err(refusal) => reply::refused(&refusal),
        }
    }

    /// Answers a client that comes back to a chat (`GET /{chat_id}/stream`): 204 where nothing goes on.
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
        stream: RuntimeStream,
        headers: &[(&'static str, &'static str)],
        encoder: impl DialectEncoder + 'static,
    ) -> Response<AssistantBody> {
        reply::events(AssistantBody::runtime(stream, Box::new(encoder), self.limits()), headers)
    }
}
