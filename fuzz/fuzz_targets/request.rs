//! Requests of AI SDK clients. Every accepted request makes a legal transcript, and is equal after it is written and
//! read.
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
    let again = read_request(written.clone().into(), &limits).expect("a written request is read");
    assert_eq!(written, write(&again.messages), "a message changed");
});

/// Writes messages as text and not as a tree, since a tree cannot contain every number of JSON.
fn write(messages: &[Message]) -> String {
    let messages = serde_json::to_string(messages).expect("messages have a JSON form");
    format!("{{\"messages\":{messages}}}")
}
