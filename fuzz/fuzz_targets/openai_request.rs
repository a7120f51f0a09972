//! Requests of OpenAI clients. Every accepted request makes a legal transcript, and a conversation that a run can
//! continue.
#![no_main]

use std::collections::HashSet;

use bytes::Bytes;
use omniassist_core::dialect::chat_completions::read_request;
use omniassist_core::message::Role;
use omniassist_core::transcript;
use omniassist_fuzz::bounded;

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    let limits = omniassist_fuzz::limits();
    let posted = Bytes::copy_from_slice(body);
    let Ok(request) = bounded(body.len(), || read_request(posted, &limits)) else { return };
    let run = request.run;
    assert!(transcript::is_legal(&transcript::from_messages(&run.messages)), "an illegal transcript");

    let mut ids = HashSet::new();
    for call in run.messages.iter().flat_map(|message| message.tools()) {
        assert!(ids.insert(&call.call_id), "two calls have one id");
        let known = run.tools.iter().any(|tool| tool.name == call.name) || run.past_tools.contains(&call.name);
        assert!(known, "a call of a tool that the caller does not have");
    }
    let last = run.messages.last().expect("there is a message");
    if last.role == Role::Assistant {
        assert!(last.tools().all(|call| call.state.is_answered()), "the run would wait for its caller");
    }
});
