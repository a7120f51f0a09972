//! `POST /completion`, for the AI SDK's `useCompletion`.

use http::{Request, Response};
use http_body::Body;
use omniassist_core::dialect::{ai_sdk, text};

use crate::Assistant;
use crate::http::request::Protocol;
use crate::http::request::receive::{self, wants_ndjson};
use crate::http::response::Rejection;
use crate::http::{AssistantBody, event_stream};

pub(in crate::http) async fn complete<B: Body>(
    assistant: &Assistant,
    request: Request<B>,
) -> Result<Response<AssistantBody>, Rejection> {
    let (mut parts, body) = request.into_parts();
    let body = receive::posted(assistant, &mut parts, body).await?;
    let protocol = Protocol::of(&parts.uri)?;
    let run = ai_sdk::read_prompt(body.bytes.clone(), assistant.limits())?;
    match protocol {
        Protocol::Text => {
            event_stream::stream_text(assistant, run, parts.extensions, text::Encoder::new()).await
        }
        Protocol::Data => {
            let ndjson = wants_ndjson(&parts.headers);
            let framing = if ndjson { ai_sdk::Framing::Ndjson } else { ai_sdk::Framing::Sse };
            let encoder = ai_sdk::Encoder::new(framing);
            Ok(event_stream::stream(assistant, run, parts.extensions, framing.headers(), encoder).await?)
        }
    }
}
