//! Events that change the client's view but not the conversation.

use bytes::BytesMut;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::frame;
use super::patch;

use crate::event::{ComponentEvent, Source};
use crate::message::OWN_KEY;
use crate::{JsonText, RunEvent, Text};

/// The type of the activity that shows a component.
const UI_ACTIVITY: &str = "omniassist-ui";

/// Writes the AG-UI event for such an event, if there is one.
pub(super) fn write(event: &RunEvent, out: &mut BytesMut) {
    match event {
        RunEvent::StateSnapshot(state) => {
            frame::write(out, "STATE_SNAPSHOT", |object| object.json("snapshot", state));
        }
        RunEvent::StateDelta(delta) if patch::is_patch(delta) => {
            frame::write(out, "STATE_DELTA", |object| object.json("delta", delta));
        }
        RunEvent::ActivitySnapshot { id, kind, content } if content.is_object() => {
            frame::write(out, "ACTIVITY_SNAPSHOT", |object| {
                object.field("messageId", id).field("activityType", kind).json("content", content)
            });
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
            frame::write(out, "CUSTOM", |object| {
                object.field("name", name).json("value", data).some("metadata", notes.as_ref())
            });
        }
        RunEvent::Component(event) => component(event, out),
        RunEvent::Metadata(metadata) => custom(out, "omniassist.metadata", metadata),
        _ => {}
    }
}

/// Writes a component. Its state is a part of the shared state, which has events of its own.
fn component(event: &ComponentEvent, out: &mut BytesMut) {
    match event {
        ComponentEvent::Shown { instance, shown } => frame::write(out, "ACTIVITY_SNAPSHOT", |object| {
            let object = object.field("messageId", instance).field("activityType", UI_ACTIVITY);
            object.field("content", shown)
        }),
        ComponentEvent::Emitted(emitted) => custom(out, "ui-event", emitted),
        ComponentEvent::State { .. } | ComponentEvent::Text { .. } => {}
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Progressing<'a> {
    pub(super) tool_call_id: &'a Text,
    pub(super) output: &'a JsonText,
}

pub(super) fn custom<T: Serialize + ?Sized>(out: &mut BytesMut, name: &str, value: &T) {
    frame::write(out, "CUSTOM", |object| object.field("name", name).field("value", value));
}

fn source_value(source: &Source) -> Value {
    let mut value = serde_json::to_value(source).unwrap_or_default();
    if let Some(members) = value.as_object_mut() {
        members.retain(|_, member| !member.is_null());
    }
    value
}
