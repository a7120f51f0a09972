//! Tool calls without `tools`: the choice of a tool and its arguments asked for by JSON schema.
//!
//! Stands around the encoder and the decoder of Chat Completions. [`payload`] turns a request with tools into one
//! without: the tools are described in the system prompt, and their examples become turns before the conversation.
//! Earlier calls and results become plain messages. The answer is held to one of these forms:
//!
//! ```text
//! {"tool": "order_status", "with": {"order_id": 1012}}
//! {"tool": "reply", "with": "It is on its way."}
//! ```
//!
//! [`Turn`] reads that answer as it grows: the text of Chat Completions goes through it, and comes out as words or as a
//! call. The names of the two fields are in alphabetical order because schemas are written so and a grammar keeps to
//! that order: the tool is known before its arguments come.

mod encode;
mod turn;

pub(super) use encode::payload;
use omniassist_core::{LlmPayload, ToolChoice, ToolSpec};
pub(super) use turn::{Said, Turn};

/// Returns `true` if the answer to this payload is held to a schema. Without tools to call there is nothing to choose.
fn applies(payload: &LlmPayload) -> bool {
    offered(payload).next().is_some()
}

/// Returns the reader of the answer to this payload, if it is held to a schema.
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

/// Returns the name that stands for words in place of a tool: `reply`, unless a tool has that name.
fn reply_name(payload: &LlmPayload) -> String {
    let mut name = "reply".to_owned();
    while payload.tools.iter().any(|tool| tool.name == *name) {
        name.push('_');
    }
    name
}
