//! An assistant whose model replays a recording and whose tools record their executions.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::{Stream, stream};
use omniassist_server::core::{EventBuf, FinishReason, LlmEvent, LlmPayload};
use omniassist_server::provider::{LlmProvider, WireDecoder, from_fn};
use omniassist_server::tool::{Tool, ToolContext};
use omniassist_server::{Assistant, Result, ToolError};
use serde_json::{Value, json};

use super::apis::Api;
use super::library::Recording;

/// Decodes pieces one at a time, each after the events of the previous one were read.
struct Replay {
    decoder: Box<dyn WireDecoder>,
    pieces: std::vec::IntoIter<Bytes>,
    events: EventBuf<LlmEvent>,
    failure: Option<omniassist_server::Error>,
    ended: bool,
}

impl Iterator for Replay {
    type Item = Result<LlmEvent>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(event) = self.events.pop() {
                return Some(Ok(event));
            }
            if let Some(error) = self.failure.take() {
                return Some(Err(error));
            }
            if self.ended {
                return None;
            }
            let fed = match self.pieces.next() {
                Some(piece) => self.decoder.feed(piece, &mut self.events),
                None => {
                    self.ended = true;
                    self.decoder.finish(&mut self.events)
                }
            };
            if let Err(error) = fed {
                self.ended = true;
                self.failure = Some(error);
            }
        }
    }
}

type Events = Pin<Box<dyn Stream<Item = Result<LlmEvent>> + Send>>;

pub(super) fn says(text: &'static str) -> Events {
    Box::pin(stream::iter([
        Ok(LlmEvent::TextDelta { block: 0, delta: text.into() }),
        Ok(LlmEvent::Finish { reason: FinishReason::Stop, raw: None, truncated: false }),
    ]))
}

/// The requests to the model.
pub(super) type Asked = Arc<Mutex<Vec<LlmPayload>>>;

/// Returns a model whose first answer is these pieces of a stream and whose later answers are one word.
pub(super) fn model(api: &'static Api, pieces: Vec<Bytes>) -> (impl LlmProvider, Asked) {
    let asked = Asked::default();
    let log = Arc::clone(&asked);
    let model = from_fn("recording", move |payload| {
        let mut log = log.lock().unwrap();
        log.push(payload);
        if log.len() > 1 {
            return says("Done.");
        }
        Box::pin(stream::iter(Replay {
            decoder: (api.decoder)(),
            pieces: pieces.clone().into_iter(),
            events: EventBuf::new(),
            failure: None,
            ended: false,
        }))
    });
    (model, asked)
}

/// The names and arguments of tool executions.
#[derive(Clone, Default)]
pub(super) struct Executions(Arc<Mutex<Vec<(String, Value)>>>);

impl Executions {
    pub(super) fn take(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Returns an assistant with every tool that the recording calls. Each tool accepts any arguments.
pub(super) fn assistant(
    model: impl LlmProvider,
    recording: &Recording,
    executions: &Executions,
) -> Assistant {
    let names: BTreeSet<&str> = recording.calls().iter().map(|call| call["name"].as_str().unwrap()).collect();
    let mut builder = Assistant::builder(model).allow_anonymous().system_prompt("You help.");
    for name in names {
        let (executions, own) = (executions.clone(), name.to_owned());
        let schema = json!({"type": "object", "properties": {}, "additionalProperties": true});
        let run = move |arguments: Value, _: ToolContext| {
            executions.0.lock().unwrap().push((own.clone(), arguments));
            async { Ok::<_, ToolError>(json!({"ok": true})) }
        };
        builder =
            builder.tool(Tool::from_fn_with_schema(name.to_owned(), "Called in the recording", schema, run));
    }
    builder.build().unwrap()
}

/// Returns the executions of a complete recording in the order of the calls.
pub(super) fn wanted_executions(recording: &Recording) -> Vec<(String, Value)> {
    recording
        .calls()
        .iter()
        .filter(|call| call["complete"] == true && call["kind"] != "custom")
        .map(|call| (call["name"].as_str().unwrap().to_owned(), call["arguments"].clone()))
        .collect()
}

/// Sorts executions, because the tools of one step run concurrently.
pub(super) fn sorted(mut executions: Vec<(String, Value)>) -> Vec<(String, Value)> {
    executions.sort_by_key(|(name, arguments)| format!("{name} {arguments}"));
    executions
}
