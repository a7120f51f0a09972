//! What a client posts: whatever is accepted makes a legal transcript and survives being written and read again.
#![no_main]

use bytes::Bytes;
use omniassist_core::dialect::ai_sdk::read_request;
use omniassist_core::{json_guard, transcript};

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    let limits = omniassist_fuzz::limits();
    if json_guard::check_depth(body, limits.max_json_depth).is_err() {
        return;
    }
    let Ok(request) = read_request(Bytes::copy_from_slice(body), &limits) else { return };
    assert!(transcript::is_legal(&transcript::from_messages(&request.messages)), "an illegal transcript");

    let written = serde_json::json!({ "messages": request.messages }).to_string();
    let again = read_request(written.clone().into(), &limits).expect("what was written is read");
    let again = serde_json::json!({ "messages": again.messages }).to_string();
    assert_eq!(written, again, "a message changed on its way");
});
