//! The shared code of the provider tests. A stream is decoded in many chunkings and with a cut at each byte. Its events
//! are combined into one result, which is compared with the result of a correct client.
//!
//! The recordings are not part of the repository. `OMNIASSIST_FIXTURES` names their folder.

#![allow(
    clippy::needless_pass_by_value,
    clippy::print_stderr,
    reason = "`json!` values are built where they are used, and the tests print the number of checks"
)]

use std::path::PathBuf;

use bytes::Bytes;
use omniassist_server::core::event::CallKind;
use omniassist_server::core::{EventBuf, FinishReason, LlmEvent, Usage};
use omniassist_server::provider::WireDecoder;
use omniassist_server::{ProviderErrorKind, Result};
use serde_json::Value;

/// Returns the folder of the recordings, or `None` if it is not set. Without it, the tests check only the handwritten
/// streams. In CI, the folder is required.
pub(crate) fn root() -> Option<PathBuf> {
    let root = std::env::var_os("OMNIASSIST_FIXTURES").map(PathBuf::from);
    if root.is_none() {
        eprintln!("skipped: OMNIASSIST_FIXTURES is not set, so no recordings are checked");
        let ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
        assert!(!ci, "CI must not skip the recordings: OMNIASSIST_FIXTURES is not set");
    }
    root
}

/// A recorded stream and the result of a correct client.
pub(crate) struct Recording {
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    expected: Value,
}

impl Recording {
    /// Returns the name of the folder. Each API has its own folder.
    pub(crate) fn folder(&self) -> &str {
        self.path.split('/').next().unwrap()
    }

    pub(crate) fn has_calls(&self) -> bool {
        self.expected["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty())
    }
}

/// Returns the recordings in these folders.
pub(crate) fn recordings(folders: &[&str]) -> Option<Vec<Recording>> {
    let root = root()?;
    let expected = std::fs::read_to_string(root.join("EXPECTED.jsonl")).unwrap();
    let recordings = expected.lines().filter_map(|line| {
        let mut expected: Value = serde_json::from_str(line).unwrap();
        correct(&mut expected);
        let path = expected["path"].as_str().unwrap().to_owned();
        folders.contains(&path.split('/').next().unwrap()).then(|| {
            let bytes = std::fs::read(root.join(&path)).unwrap();
            Recording { path, bytes, expected }
        })
    });
    Some(recordings.collect())
}

/// Corrects an expected result where it repeats what the API sent and the decoders know better.
pub(crate) fn correct(expected: &mut Value) {
    // OpenAI has no finish reason for a refusal.
    if expected["finish"] == "stop" && expected["refusal"].as_str().is_some_and(|text| !text.is_empty()) {
        expected["finish"] = "refusal".into();
    }
    // xAI does not count reasoning as output.
    if expected["path"] == "compat/vercel-xai-tool-call.sse" {
        expected["usage"]["output"] = (26 + 196).into();
    }
}

/// The events of a stream and its end.
pub(crate) struct Decoded {
    pub(crate) events: Vec<LlmEvent>,
    pub(crate) end: Result<()>,
}

pub(crate) fn decode<'a>(
    mut decoder: Box<dyn WireDecoder>,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Decoded {
    let mut buffer = EventBuf::new();
    let mut end = Ok(());
    for chunk in chunks {
        end = decoder.feed(Bytes::copy_from_slice(chunk), &mut buffer);
        if end.is_err() {
            assert!(decoder.finish(&mut EventBuf::new()).is_err(), "a failed decoder must stay failed");
            break;
        }
    }
    if end.is_ok() {
        end = decoder.finish(&mut buffer);
    }
    Decoded { events: buffer.drain().collect(), end }
}

/// Checks that a stream has the same events byte by byte, in 20 random chunkings and with CRLF. Returns the number of
/// chunkings.
pub(crate) fn check_chunkings(name: &str, decoder: impl Fn() -> Box<dyn WireDecoder>, bytes: &[u8]) -> usize {
    let reference = decode(decoder(), [bytes]).events;
    let mut chunkings = 0;
    let mut same = |how: String, pieces: Vec<&[u8]>| {
        let decoded = decode(decoder(), pieces);
        assert!(decoded.end.is_ok() && decoded.events == reference, "{name} {how}");
        chunkings += 1;
    };
    same("byte by byte".to_owned(), bytes.chunks(1).collect());
    for seed in 0..20 {
        same(format!("seed {seed}"), chunks(bytes, seed));
    }
    let crlf = with_crlf(bytes);
    same("with CRLF".to_owned(), vec![&crlf]);
    same("with CRLF, byte by byte".to_owned(), crlf.chunks(1).collect());
    chunkings
}

/// Checks each prefix of a stream and returns the number of prefixes. A call in a prefix can end only with the same
/// arguments as in the complete stream.
pub(crate) fn check_cuts(name: &str, decoder: impl Fn() -> Box<dyn WireDecoder>, bytes: &[u8]) -> usize {
    let reference = fold(&decode(decoder(), [bytes]).events);
    for cut in 0..bytes.len() {
        let decoded = decode(decoder(), bytes[..cut].chunks(cut % 61 + 1));
        let said = fold(&decoded.events);
        for (call, whole) in said.calls.iter().zip(&reference.calls) {
            if call.ended.is_some() {
                assert_eq!(call.ended, whole.ended, "{name} cut at {cut}: {}", call.name);
            }
            assert!(whole.ended.is_some() || call.ended.is_none());
        }
        match decoded.end {
            Ok(()) => {
                // The terminal event is complete, but its blank line can be missing.
                let complete = said.finish.is_some() && said.runnable() == reference.runnable();
                assert!(complete, "{name} cut at {cut}");
            }
            Err(error) => {
                let kind = error.provider_kind();
                assert_eq!(kind, Some(ProviderErrorKind::Interrupted), "{name} cut at {cut}");
                assert!(said.finish.is_none());
            }
        }
    }
    bytes.len()
}

/// Returns the differences from the expected result.
pub(crate) fn differences(said: &Said, expected: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut compare = |what: &str, found: Value, wanted: Value| {
        if found != wanted {
            let short = |value: &Value| value.to_string().chars().take(300).collect::<String>();
            wrong.push(format!("{what}: found {}, expected {}", short(&found), short(&wanted)));
        }
    };
    compare("text", said.text.clone().into(), expected["text"].clone());
    compare("reasoning", said.reasoning.clone().into(), expected["reasoning"].clone());
    compare("refusal", said.refusal.clone().into(), expected["refusal"].clone());
    let runnable = said.runnable();
    let calls: Vec<Value> = said
        .calls
        .iter()
        .zip(&runnable)
        .map(|(call, complete)| {
            let arguments = if *complete { call.ended.as_ref().unwrap() } else { &call.streamed };
            let kind = if call.kind == CallKind::Custom { "custom" } else { "function" };
            serde_json::json!([call.id, call.name, arguments, kind, complete])
        })
        .collect();
    let wanted: Vec<Value> = expected["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| {
            serde_json::json!([
                call["id"],
                call["name"],
                call["arguments_raw"],
                call["kind"],
                call["complete"]
            ])
        })
        .collect();
    compare("calls", calls.into(), wanted.into());
    let (reason, raw, _) = said.finish.clone().unwrap_or((FinishReason::Error, None, true));
    let reason = match reason {
        FinishReason::Other(word) => format!("other:{word}"),
        known => serde_json::to_value(known).unwrap().as_str().unwrap().replace('-', "_"),
    };
    compare("finish", reason.into(), expected["finish"].clone());
    compare("finish_raw", raw.into(), expected["finish_raw"].clone());
    let usage = said.usage.map(|usage| {
        serde_json::json!({
            "input": usage.input_tokens, "output": usage.output_tokens, "total": usage.total_tokens,
            "cached_input": usage.cached_input_tokens, "reasoning": usage.reasoning_tokens,
        })
    });
    compare("usage", usage.into(), expected["usage"].clone());
    compare("builtin", said.builtin.into(), expected["builtin"].as_array().unwrap().len().into());
    compare("citations", said.citations.into(), expected["citations"].clone());
    wrong
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) kind: CallKind,
    /// The joined deltas.
    pub(crate) streamed: String,
    /// The arguments at the end of the call, if it ended.
    pub(crate) ended: Option<String>,
}

/// The content of a stream.
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
    /// Returns `true` for each call that can run. These calls ended and were not dropped by a truncated finish.
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
                assert_eq!(*call as usize, said.calls.len(), "calls must be numbered in order");
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
                assert!(ended.is_none(), "a call must end once");
            }
            LlmEvent::ProviderTool { .. } => said.builtin += 1,
            LlmEvent::Source(_) => said.citations += 1,
            LlmEvent::File { .. } => said.files += 1,
            LlmEvent::Usage(usage) => said.usage = Some(*usage),
            LlmEvent::Finish { reason, raw, truncated } => {
                let finish = (reason.clone(), raw.as_ref().map(ToString::to_string), *truncated);
                assert!(said.finish.replace(finish).is_none(), "a stream must finish once");
            }
            _ => {}
        }
    }
    check_blocks(events);
    said
}

/// Checks that blocks end once and have no deltas after their end.
fn check_blocks(events: &[LlmEvent]) {
    let mut ended = std::collections::HashSet::new();
    for event in events {
        match event {
            LlmEvent::TextDelta { block, delta }
            | LlmEvent::ReasoningDelta { block, delta }
            | LlmEvent::RefusalDelta { block, delta } => {
                assert!(!ended.contains(block), "block {block} has a delta after its end");
                assert!(!delta.is_empty());
            }
            LlmEvent::TextEnd { block, .. } | LlmEvent::ReasoningEnd { block, .. } => {
                assert!(ended.insert(*block), "block {block} must end once");
            }
            _ => {}
        }
    }
}

/// Splits bytes at random positions that depend only on the seed.
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
