//! Tests of the server side of OpenAI's Chat Completions API.

mod calls;
mod choice;
mod completion;
mod request;
mod stream;
mod transcript;

use bytes::Bytes;
use omniassist_core::dialect::chat_completions::{ChatRequest, read_request};
use omniassist_core::event::{BlockId, FinishReason, Usage};
use omniassist_core::{JsonText, Limits, RunEvent};
use serde_json::{Value, json};

fn read(body: &Value) -> omniassist_core::Result<ChatRequest> {
    read_request(Bytes::from(body.to_string()), &Limits::default())
}

/// Returns a request with one message and these fields.
fn with(fields: Value) -> Value {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    body
}

fn said(messages: Value) -> Value {
    with(json!({ "messages": messages }))
}

#[track_caller]
fn refused(body: &Value, path: &str) {
    let error = read(body).unwrap_err();
    assert_eq!(error.path(), Some(path), "{error}");
}

fn text(words: &str) -> RunEvent {
    RunEvent::TextDelta { id: BlockId(0), delta: words.into() }
}

fn begins(id: &str, name: &str) -> RunEvent {
    RunEvent::ToolInputStart { call_id: id.into(), name: name.into(), title: None, app: None }
}

fn piece(id: &str, delta: &str) -> RunEvent {
    RunEvent::ToolInputDelta { call_id: id.into(), delta: delta.into() }
}

fn available(id: &str, name: &str, input: &Value) -> RunEvent {
    RunEvent::ToolInputAvailable {
        call_id: id.into(),
        name: name.into(),
        input: JsonText::from_value(input),
        provider_executed: false,
        metadata: None,
    }
}

fn unusable(id: &str, name: &str) -> RunEvent {
    RunEvent::ToolInputError {
        call_id: id.into(),
        name: name.into(),
        input: JsonText::NULL,
        error_text: "It does not fit.".into(),
        metadata: None,
    }
}

fn output(id: &str, output: &Value, preliminary: bool) -> RunEvent {
    RunEvent::ToolOutput {
        call_id: id.into(),
        output: JsonText::from_value(output),
        preliminary,
        provider_executed: false,
    }
}

fn finish(reason: FinishReason) -> RunEvent {
    RunEvent::Finish { reason, usage: Usage::default() }
}

fn tokens(input: Option<u64>, output: Option<u64>) -> Usage {
    let mut usage = Usage::default();
    (usage.input_tokens, usage.output_tokens) = (input, output);
    usage
}
