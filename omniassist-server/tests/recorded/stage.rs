//! A whole assistant around a recording: the model is the recording, the tools count how often they run.

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

/// Reads pieces through a decoder, one at a time and only when its events are used up.
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

/// A model whose first answer is these pieces of a stream, and whose later ones are a word.
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

/// The executions of tools: name and arguments.
#[derive(Clone, Default)]
pub(super) struct Executions(Arc<Mutex<Vec<(String, Value)>>>);

impl Executions {
    pub(super) fn take(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// An assistant with every tool that the recording calls; each takes any arguments.
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

/// The executions that a recording must lead to once it has ended, in the order of the calls.
pub(super) fn wanted_executions(recording: &Recording) -> Vec<(String, Value)> {
    recording
        .calls()
        .iter()
        .filter(|call| call["complete"] == true && call["kind"] != "custom")
        .map(|call| (call["name"].as_str().unwrap().to_owned(), call["arguments"].clone()))
        .collect()
}

/// The same in any order: tools of one step run side by side.
pub(super) fn sorted(mut executions: Vec<(String, Value)>) -> Vec<(String, Value)> {
    executions.sort_by_key(|(name, arguments)| format!("{name} {arguments}"));
    executions
}
