//! Events that concern the client's view and change nothing in the conversation.

use bytes::BytesMut;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::frame::Frame;
use super::patch;

use crate::event::Source;
use crate::message::OWN_KEY;
use crate::{JsonText, RunEvent, Text};

/// Writes what stands for such an event, if anything does.
pub(super) fn write(event: &RunEvent, out: &mut BytesMut) {
    match event {
        RunEvent::StateSnapshot(state) => {
            Frame::new(out, "STATE_SNAPSHOT").json("snapshot", state.as_str()).end();
        }
        RunEvent::StateDelta(delta) if patch::is_patch(delta) => {
            Frame::new(out, "STATE_DELTA").json("delta", delta.as_str()).end();
        }
        RunEvent::ActivitySnapshot { id, kind, content } if content.is_object() => {
            Frame::new(out, "ACTIVITY_SNAPSHOT")
                .text("messageId", id)
                .text("activityType", kind)
                .json("content", content.as_str())
                .end();
        }
        RunEvent::Source(source) => custom(out, "omniassist.source", &source_value(source)),
        RunEvent::File { media_type, url } => {
            custom(out, "omniassist.file", &json!({"mediaType": media_type, "url": url}));
        }
        RunEvent::Data { name, id, data, transient } => {
            let mut notes = Map::new();
            if let Some(id) = id {
                notes.insert("id".to_owned(), id.as_str().into());
            }
            if *transient {
                notes.insert("transient".to_owned(), true.into());
            }
            let notes = (!notes.is_empty()).then(|| json!({ OWN_KEY: notes }));
            Frame::new(out, "CUSTOM")
                .text("name", name)
                .json("value", data.as_str())
                .optional_value("metadata", notes.as_ref())
                .end();
        }
        RunEvent::Metadata(metadata) => custom(out, "omniassist.metadata", metadata),
        _ => {}
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Progressing<'a> {
    pub(super) tool_call_id: &'a Text,
    pub(super) output: &'a JsonText,
}

pub(super) fn custom<T: Serialize + ?Sized>(out: &mut BytesMut, name: &str, value: &T) {
    Frame::new(out, "CUSTOM").text("name", name).value("value", value).end();
}

fn source_value(source: &Source) -> Value {
    let mut value = serde_json::to_value(source).unwrap_or_default();
    if let Some(members) = value.as_object_mut() {
        members.retain(|_, member| !member.is_null());
    }
    value
}
