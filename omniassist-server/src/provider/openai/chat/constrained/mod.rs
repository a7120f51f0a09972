//! Tool calls without `tools`: a JSON schema constrains the answer to a tool's name and its arguments.
//!
//! The module wraps the encoder and the decoder of Chat Completions. [`payload`] converts a request with tools into one
//! without: the system prompt describes the tools, their examples become turns before the conversation, and earlier
//! calls and results become plain messages. The answer has one of these forms:
//!
//! ```text
//! {"tool": "order_status", "with": {"order_id": 1012}}
//! {"tool": "reply", "with": "It is on its way."}
//! ```
//!
//! [`Turn`] parses that answer while it streams and produces text or a call. The two field names are in alphabetical
//! order, because schemas are written in that order and a grammar keeps it. The tool is therefore known before its
//! arguments arrive.

mod encode;
mod turn;

pub(super) use encode::payload;
use omniassist_core::{LlmPayload, ToolChoice, ToolSpec};
pub(super) use turn::{Said, Turn};

/// Returns `true` if the answer to this payload is constrained to a schema. Without tools to call it is not.
fn applies(payload: &LlmPayload) -> bool {
    offered(payload).next().is_some()
}

/// Returns the reader of the answer to this payload, if the answer is constrained to a schema.
pub(super) fn turn(payload: &LlmPayload) -> Option<Turn> {
    applies(payload).then(|| Turn::new(reply_name(payload), payload.options.response_schema.is_some()))
}

/// The tools that may be called.
fn offered(payload: &LlmPayload) -> impl Iterator<Item = &ToolSpec> {
    payload.tools.iter().map(AsRef::as_ref).filter(|tool| match &payload.tool_choice {
        ToolChoice::None => false,
        ToolChoice::Tool(name) => tool.name == *name,
        _ => true,
    })
}

/// Returns the name that marks text in place of a tool's name: `reply`, unless a tool has that name.
fn reply_name(payload: &LlmPayload) -> String {
    let mut name = "reply".to_owned();
    while payload.tools.iter().any(|tool| tool.name == *name) {
        name.push('_');
    }
    name
}
