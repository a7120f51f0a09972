//! Runs a recorded stream through a decoder in many chunkings and folds its events into what was said.

use bytes::Bytes;
use omniassist_server::Result;
use omniassist_server::core::event::CallKind;
use omniassist_server::core::{EventBuf, FinishReason, Limits, LlmEvent, Usage};
use omniassist_server::provider::WireDecoder;
use omniassist_server::provider::openai::{ChatDecoder, ResponsesDecoder};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    Responses,
    Chat,
}

impl Api {
    pub(crate) fn decoder(self) -> Box<dyn WireDecoder> {
        let limits = Limits::default();
        match self {
            Self::Responses => Box::new(ResponsesDecoder::new(&limits)),
            Self::Chat => Box::new(ChatDecoder::new(&limits, "test")),
        }
    }
}

/// All events of a stream, and how it ended.
pub(crate) struct Decoded {
    pub(crate) events: Vec<LlmEvent>,
    pub(crate) end: Result<()>,
}

pub(crate) fn decode<'a>(api: Api, chunks: impl IntoIterator<Item = &'a [u8]>) -> Decoded {
    let mut decoder = api.decoder();
    let mut buffer = EventBuf::new();
    let mut end = Ok(());
    for chunk in chunks {
        end = decoder.feed(Bytes::copy_from_slice(chunk), &mut buffer);
        if end.is_err() {
            assert!(decoder.finish(&mut EventBuf::new()).is_err(), "a failed decoder stays failed");
            break;
        }
    }
    if end.is_ok() {
        end = decoder.finish(&mut buffer);
    }
    Decoded { events: buffer.drain().collect(), end }
}

pub(crate) fn whole(api: Api, bytes: &[u8]) -> Decoded {
    decode(api, [bytes])
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) kind: CallKind,
    /// The deltas, joined.
    pub(crate) streamed: String,
    /// What the end of the call gave, if there was one.
    pub(crate) ended: Option<String>,
}

/// What a stream said.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) reasoning: String,
    pub(crate) refusal: String,
    pub(crate) calls: Vec<Call>,
    pub(crate) builtin: usize,
    pub(crate) citations: usize,
    pub(crate) files: usize,
    pub(crate) usage: Option<Usage>,
    pub(crate) finish: Option<(FinishReason, Option<String>, bool)>,
}

impl Said {
    /// The calls that may run: ended, and not taken back by a finish that says the output was cut.
    pub(crate) fn runnable(&self) -> Vec<bool> {
        let cut = self.finish.as_ref().is_none_or(|(_, _, truncated)| *truncated);
        let last = self.calls.len().wrapping_sub(1);
        self.calls.iter().enumerate().map(|(at, call)| call.ended.is_some() && !(cut && at == last)).collect()
    }
}

pub(crate) fn fold(events: &[LlmEvent]) -> Said {
    let mut said = Said::default();
    for event in events {
        match event {
            LlmEvent::TextDelta { delta, .. } => said.text.push_str(delta),
            LlmEvent::ReasoningDelta { delta, .. } => said.reasoning.push_str(delta),
            LlmEvent::RefusalDelta { delta, .. } => said.refusal.push_str(delta),
            LlmEvent::ToolCallStart { call, id, name, kind } => {
                assert_eq!(*call as usize, said.calls.len(), "calls are numbered in order");
                said.calls.push(Call {
                    id: id.to_string(),
                    name: name.to_string(),
                    kind: *kind,
                    streamed: String::new(),
                    ended: None,
                });
            }
            LlmEvent::ToolCallDelta { call, delta } => {
                let call = &mut said.calls[*call as usize];
                assert!(call.ended.is_none() && !delta.is_empty());
                call.streamed.push_str(delta);
            }
            LlmEvent::ToolCallEnd { call, arguments, .. } => {
                let ended = said.calls[*call as usize].ended.replace(arguments.to_string());
                assert!(ended.is_none(), "a call ends once");
            }
            LlmEvent::ProviderTool { .. } => said.builtin += 1,
            LlmEvent::Source(_) => said.citations += 1,
            LlmEvent::File { .. } => said.files += 1,
            LlmEvent::Usage(usage) => said.usage = Some(*usage),
            LlmEvent::Finish { reason, raw, truncated } => {
                let finish = (reason.clone(), raw.as_ref().map(ToString::to_string), *truncated);
                assert!(said.finish.replace(finish).is_none(), "one finish");
            }
            _ => {}
        }
    }
    check_blocks(events);
    said
}

/// Blocks are opened once, closed once, and not spoken in after that.
fn check_blocks(events: &[LlmEvent]) {
    let mut ended = std::collections::HashSet::new();
    for event in events {
        match event {
            LlmEvent::TextDelta { block, delta }
            | LlmEvent::ReasoningDelta { block, delta }
            | LlmEvent::RefusalDelta { block, delta } => {
                assert!(!ended.contains(block), "block {block} had ended");
                assert!(!delta.is_empty());
            }
            LlmEvent::TextEnd { block, .. } | LlmEvent::ReasoningEnd { block, .. } => {
                assert!(ended.insert(*block), "block {block} ended twice");
            }
            _ => {}
        }
    }
}

/// Random cuts, the same for the same seed.
pub(crate) fn chunks(bytes: &[u8], seed: u64) -> Vec<&[u8]> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut rest = bytes;
    let mut pieces = Vec::new();
    let longest = [7, 64, 700, 9000][(seed % 4) as usize];
    while !rest.is_empty() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let (piece, after) = rest.split_at((state as usize % longest + 1).min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

pub(crate) fn with_crlf(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() * 2);
    for (at, byte) in bytes.iter().enumerate() {
        if *byte == b'\n' && (at == 0 || bytes[at - 1] != b'\r') {
            out.push(b'\r');
        }
        out.push(*byte);
    }
    out
}
