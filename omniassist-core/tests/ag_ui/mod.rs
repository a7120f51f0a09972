//! Tests of the AG-UI dialect.

mod agents;
pub(crate) mod client;
mod encode;
mod messages;
mod official;
mod protocol;
mod random;
mod request;
mod resume;
mod snapshot;
mod wire;

use bytes::{Bytes, BytesMut};
use omniassist_core::dialect::DialectEncoder;
use omniassist_core::dialect::ag_ui::{Encoder, Posted, Version, read_request};
use omniassist_core::{Limits, RunEvent, Text};
use serde_json::{Value, json};

pub(crate) fn read(body: &Value) -> omniassist_core::Result<Posted> {
    read_request(Bytes::from(body.to_string()), &Limits::default())
}

/// Returns a request with these fields, the ids and one message.
fn with(fields: Value) -> Value {
    let mut body = json!({
        "threadId": "thread-1", "runId": "run-1",
        "messages": [{"id": "u1", "role": "user", "content": "Hi"}],
    });
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    body
}

/// Returns a request with this conversation.
pub(crate) fn with_messages(messages: &[Value]) -> Value {
    with(json!({ "messages": messages }))
}

pub(crate) fn encoder(version: Version) -> Encoder {
    Encoder::new(Text::from_static("thread-1"), Text::from_static("run-1"), version)
}

fn encode_bytes(encoder: &mut Encoder, events: &[RunEvent]) -> String {
    let mut out = BytesMut::new();
    for event in events {
        encoder.encode(event, &mut out);
    }
    encoder.finish(&mut out);
    String::from_utf8(out.to_vec()).unwrap()
}

/// Returns the events of a stream after checking its framing.
pub(crate) fn frames(text: &str) -> Vec<Value> {
    assert!(!text.contains('\r'), "{text}");
    let body = text.strip_suffix("\n\n").unwrap_or_else(|| panic!("no end of a frame: {text}"));
    body.split("\n\n")
        .map(|frame| {
            let data = frame.strip_prefix("data: ").unwrap_or_else(|| panic!("{frame}"));
            assert!(!data.contains('\n'), "{frame}");
            serde_json::from_str(data).unwrap()
        })
        .collect()
}

fn encode(encoder: &mut Encoder, events: &[RunEvent]) -> Vec<Value> {
    frames(&encode_bytes(encoder, events))
}
