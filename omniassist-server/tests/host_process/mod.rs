//! Tests of an assistant as a part of the host's process: panics in the host's code, clients that do not read, runtimes
//! that end, and several assistants.

mod neighbours;
mod panics;
mod polls;
mod readers;
mod runtimes;
mod silence;

use http::Extensions;
use omniassist_server::Principal;
use omniassist_server::core::RunRequest;
use omniassist_server::core::message::Message;

fn as_user(name: &str) -> Extensions {
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new(name));
    extensions
}

fn chat(id: &str, words: &str) -> RunRequest {
    let mut request = RunRequest::new(vec![Message::user("m1", words)]);
    request.chat_id = Some(id.into());
    request
}
