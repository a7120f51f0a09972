//! Decoding of a provider's bytes into events.

use std::hint::black_box;

use bytes::Bytes;
use omniassist_core::sse::SseDecoder;
use omniassist_core::{EventBuf, Limits, LlmEvent};
use omniassist_server::provider::WireDecoder;
use omniassist_server::provider::anthropic::AnthropicDecoder;
use omniassist_server::provider::gemini::GeminiDecoder;
use omniassist_server::provider::openai::{ChatDecoder, ResponsesDecoder};

use super::Outcome;

/// The API of a stream.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    Responses,
    Chat,
    Anthropic,
    Gemini,
}

impl Api {
    pub(super) fn decoder(self) -> Box<dyn WireDecoder> {
        let limits = Limits::default();
        match self {
            Self::Responses => Box::new(ResponsesDecoder::new(&limits)),
            Self::Chat => Box::new(ChatDecoder::new(&limits, "call")),
            Self::Anthropic => Box::new(AnthropicDecoder::new(&limits)),
            Self::Gemini => Box::new(GeminiDecoder::new(&limits, "call")),
        }
    }

    /// Returns the events before the first delta.
    pub(super) fn opening(self) -> &'static str {
        match self {
            Self::Responses => concat!(
                "event: response.created\n",
                r#"data: {"type":"response.created","response":{"id":"resp_01","status":"in_progress","#,
                r#""model":"gpt-x","output":[]},"sequence_number":0}"#,
                "\n\nevent: response.output_item.added\n",
                r#"data: {"type":"response.output_item.added","item":{"id":"#,
                r#""msg_0123456789abcdef0123456789abcdef0123456789abcdef01","type":"message","#,
                r#""status":"in_progress","content":[],"role":"assistant"},"output_index":1,"#,
                r#""sequence_number":1}"#,
                "\n\n",
            ),
            Self::Chat => concat!(
                r#"data: {"id":"chatcmpl-0123456789abcdef0123456789abc","object":"chat.completion.chunk","#,
                r#""created":1764000000,"model":"gpt-x","choices":[{"index":0,"delta":{"role":"assistant","#,
                r#""content":"","refusal":null},"logprobs":null,"finish_reason":null}]}"#,
                "\n\n",
            ),
            Self::Anthropic => concat!(
                "event: message_start\n",
                r#"data: {"type":"message_start","message":{"id":"msg_01","type":"message","#,
                r#""role":"assistant","model":"claude-x","content":[],"stop_reason":null,"#,
                r#""usage":{"input_tokens":10,"output_tokens":1}}}"#,
                "\n\nevent: content_block_start\n",
                r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
                "\n\n",
            ),
            Self::Gemini => "",
        }
    }

    /// Returns one text delta as the API sends it for a token.
    pub(super) fn delta(self) -> &'static str {
        match self {
            Self::Responses => concat!(
                "event: response.output_text.delta\n",
                r#"data: {"type":"response.output_text.delta","content_index":0,"delta":" token","item_id":"#,
                r#""msg_0123456789abcdef0123456789abcdef0123456789abcdef01","logprobs":[],"#,
                r#""obfuscation":"0123456789","output_index":1,"sequence_number":1234}"#,
                "\n\n",
            ),
            Self::Chat => concat!(
                r#"data: {"id":"chatcmpl-0123456789abcdef0123456789abc","object":"chat.completion.chunk","#,
                r#""created":1764000000,"model":"gpt-x","service_tier":"default","#,
                r#""system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":{"content":" token"},"#,
                r#""logprobs":null,"finish_reason":null}],"obfuscation":"0123456789"}"#,
                "\n\n",
            ),
            Self::Anthropic => concat!(
                "event: content_block_delta\n",
                r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","#,
                r#""text":" token"}}"#,
                "\n\n",
            ),
            Self::Gemini => concat!(
                r#"data: {"candidates":[{"content":{"parts":[{"text":" token"}],"role":"model"},"index":0}],"#,
                r#""modelVersion":"gemini-x","responseId":"0123456789abcdef0123","usageMetadata":{"#,
                r#""candidatesTokenCount":13,"promptTokenCount":19,"promptTokensDetails":["#,
                r#"{"modality":"TEXT","tokenCount":19}],"serviceTier":"standard","#,
                r#""thoughtsTokenCount":214,"totalTokenCount":246}}"#,
                "\n\n",
            ),
        }
    }

    /// Returns the events after the last delta.
    pub(super) fn closing(self) -> &'static str {
        match self {
            Self::Responses => concat!(
                "event: response.completed\n",
                r#"data: {"type":"response.completed","response":{"id":"resp_01","status":"completed","#,
                r#""model":"gpt-x","output":[],"usage":{"input_tokens":10,"output_tokens":1000}},"#,
                r#""sequence_number":9999}"#,
                "\n\n",
            ),
            _ => "",
        }
    }
}

/// Measures the SSE decoder, which all decoders use, with `per_chunk` events in each chunk.
pub(super) fn sse(events: usize, per_chunk: usize) -> Outcome<usize> {
    let chunk = Bytes::from(Api::Responses.delta().repeat(per_chunk));
    let mut decoder = SseDecoder::new(Limits::default().max_sse_event_bytes);
    let mut count = 0;
    for _ in 0..events / per_chunk {
        decoder.feed(black_box(&chunk).clone());
        while let Some(event) = decoder.next_event()? {
            black_box(event);
            count += 1;
        }
    }
    Ok(count)
}

/// Measures a provider's decoder with one delta in each chunk, as most providers send them.
pub(super) fn provider(events: usize, api: Api) -> Outcome<usize> {
    let chunk = Bytes::from_owner(api.delta());
    let mut decoder = api.decoder();
    let mut out = EventBuf::new();
    decoder.feed(Bytes::from_static(api.opening().as_bytes()), &mut out)?;
    out.drain().for_each(drop);
    let mut count = 0;
    for _ in 0..events {
        decoder.feed(black_box(&chunk).clone(), &mut out)?;
        while let Some(event) = out.pop() {
            count += usize::from(matches!(black_box(event), LlmEvent::TextDelta { .. }));
        }
    }
    Ok(count)
}
