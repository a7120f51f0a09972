use bytes::{BufMut, BytesMut};

use crate::Text;
use crate::dialect::json_write::{self, ObjectWriter, provider_state};
use crate::message::ProviderMetadata;

/// Writes an event as a frame of an event stream. `fields` adds the fields after its type.
pub(super) fn write(
    out: &mut BytesMut,
    kind: &str,
    fields: impl FnOnce(ObjectWriter<'_>) -> ObjectWriter<'_>,
) {
    out.reserve(128);
    out.put_slice(b"data: ");
    fields(ObjectWriter::new(out).field("type", kind)).end();
    out.put_slice(b"\n\n");
}

/// Returns the constant part of the text deltas of one message.
pub(super) fn delta_head(kind: &str, message_id: &Text) -> BytesMut {
    let mut head = BytesMut::with_capacity(96);
    write(&mut head, kind, |object| object.field("messageId", message_id));
    head.truncate(head.len() - b"}\n\n".len());
    head.put_slice(b",\"delta\":");
    head
}

/// Writes a text delta.
pub(super) fn delta(out: &mut BytesMut, head: &[u8], delta: &str) {
    out.reserve(head.len().saturating_add(delta.len()).saturating_add(8));
    out.put_slice(head);
    json_write::value(out, delta);
    out.put_slice(b"}\n\n");
}

/// Writes state that the client posts back with a message or a call.
pub(super) fn encrypted(
    out: &mut BytesMut,
    subtype: &'static str,
    entity_id: &str,
    state: Option<&ProviderMetadata>,
) {
    let Some(state) = state else { return };
    let state = provider_state(state);
    if !state.is_empty() {
        let json = serde_json::to_string(&state).unwrap_or_default();
        write(out, "REASONING_ENCRYPTED_VALUE", |object| {
            object.field("subtype", subtype).field("entityId", entity_id).field("encryptedValue", &json)
        });
    }
}
