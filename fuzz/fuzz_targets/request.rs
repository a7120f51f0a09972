//! Requests of AI SDK clients: every accepted one makes a legal transcript and survives being written and read again.
#![no_main]

use bytes::Bytes;
use omniassist_core::dialect::ai_sdk::read_request;
use omniassist_core::{Message, transcript};
use omniassist_fuzz::bounded;

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    let limits = omniassist_fuzz::limits();
    let posted = Bytes::copy_from_slice(body);
    let Ok(request) = bounded(body.len(), || read_request(posted, &limits)) else { return };
    assert!(transcript::is_legal(&transcript::from_messages(&request.messages)), "an illegal transcript");

    let written = write(&request.messages);
    let again = read_request(written.clone().into(), &limits).expect("what was written is read");
    assert_eq!(written, write(&again.messages), "a message changed on its way");
});

/// As text, not as a tree: a tree has no room for every number that JSON can spell.
fn write(messages: &[Message]) -> String {
    let messages = serde_json::to_string(messages).expect("messages have a JSON form");
    format!("{{\"messages\":{messages}}}")
}
