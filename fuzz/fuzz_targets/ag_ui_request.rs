//! Requests of AG-UI clients. Every accepted request makes a legal transcript with unique ids of messages and calls.
#![no_main]

use std::collections::HashSet;

use bytes::Bytes;
use omniassist_core::dialect::ag_ui::read_request;
use omniassist_core::transcript;
use omniassist_fuzz::bounded;

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    let limits = omniassist_fuzz::limits();
    let input = Bytes::copy_from_slice(body);
    let Ok(posted) = bounded(body.len(), || read_request(input, &limits)) else { return };
    let messages = &posted.request.messages;
    assert!(transcript::is_legal(&transcript::from_messages(messages)), "an illegal transcript");

    let (mut message_ids, mut call_ids) = (HashSet::new(), HashSet::new());
    for message in messages {
        assert!(message_ids.insert(&message.id), "two messages have one id");
        for call in message.tools() {
            assert!(call_ids.insert(&call.call_id), "two calls have one id");
        }
    }
});
