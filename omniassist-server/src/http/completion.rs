//! `POST /completion`, for `useCompletion`.

use http::{Request, Response};
use http_body::Body;
use omniassist_core::dialect::{ai_sdk, text};

use super::query::Protocol;
use super::read::{Refusal, json_body, wants_ndjson};
use super::{AssistantBody, reply};
use crate::Assistant;

pub(super) async fn complete<B: Body>(assistant: &Assistant, request: Request<B>) -> Response<AssistantBody> {
    match answer(assistant, request).await {
        Ok(response) => response,
        Err(refusal) => reply::refusal(&refusal),
    }
}

async fn answer<B: Body>(
    assistant: &Assistant,
    request: Request<B>,
) -> Result<Response<AssistantBody>, Refusal> {
    let (parts, body) = request.into_parts();
    let body = json_body(&parts.headers, body, assistant.limits()).await?;
    let protocol = Protocol::of(&parts.uri)?;
    let run = ai_sdk::read_prompt(body, assistant.limits())?;
    Ok(match protocol {
        Protocol::Text => {
            let encoder = text::Encoder::new();
            reply::stream_opened(assistant, run, parts.extensions, text::HEADERS, encoder)
                .await
                .unwrap_or_else(|reason| reply::no_text(&reason))
        }
        Protocol::Data => {
            let ndjson = wants_ndjson(&parts.headers);
            let framing = if ndjson { ai_sdk::Framing::Ndjson } else { ai_sdk::Framing::Sse };
            let encoder = ai_sdk::Encoder::new(framing);
            reply::stream(assistant, run, parts.extensions, framing.headers(), encoder)
        }
    })
}
