//! Suggestions of the user's next message, for CopilotKit: a run in which the model has to call one tool, whose arguments
//! are the suggestions.
//!
//! CopilotKit posts the conversation under another thread, so its seals do not verify. They are not needed: such a run
//! has no server tools, and its output does not become part of the conversation. Without seals, the model reads in
//! place of each tool result that it can no longer be verified. An assistant that refuses unsealed text makes no
//! suggestions.

use omniassist_core::dialect::ag_ui::Posted;
use omniassist_core::message::{Message, OWN_KEY, Part, ProviderMetadata};
use omniassist_core::run::{ClientAbilities, ToolUse};
use omniassist_core::{Error, ToolChoice};
use serde_json::Value;

/// The name under which CopilotKit declares the tool.
const TOOL: &str = "copilotkitSuggest";

/// Returns `true` if a run is one for suggestions. CopilotKit posts those to the single route as ordinary runs.
pub(super) fn are_wanted(posted: &Posted) -> bool {
    let forwarded = posted.request.forwarded.as_ref().map(|props| props.to_value());
    let choice = forwarded.as_ref().and_then(|props| props.pointer("/toolChoice/function/name"));
    let is_only_tool = posted.request.tools.iter().all(|tool| tool.name == TOOL);
    choice.and_then(Value::as_str) == Some(TOOL) && is_only_tool && !posted.request.tools.is_empty()
}

/// Turns a posted run into one for suggestions.
///
/// # Errors
///
/// Returns an error if the request does not declare the tool.
pub(super) fn prepare(mut posted: Posted) -> Result<Posted, Error> {
    let request = &mut posted.request;
    request.tools.retain(|tool| tool.name == TOOL);
    if request.tools.is_empty() {
        let expected = format!("an array with the tool `{TOOL}`");
        return Err(Error::invalid_field("tools", expected, "an array without it"));
    }
    let mut tool_use = ToolUse::without_server_tools();
    tool_use.choice = ToolChoice::Tool(TOOL.into());
    request.tool_use = tool_use;
    request.abilities = ClientAbilities::none();
    // CopilotKit invents the thread's name, so there is no chat that could be busy.
    request.chat_id = None;
    request.messages.iter_mut().for_each(forget_seals);
    Ok(posted)
}

fn forget_seals(message: &mut Message) {
    if let Some(Value::Object(metadata)) = &mut message.metadata {
        metadata.remove(OWN_KEY);
    }
    for part in &mut message.parts {
        match part {
            Part::Text(part) => forget(&mut part.metadata),
            Part::Reasoning(part) => forget(&mut part.metadata),
            Part::Tool(part) => forget(&mut part.metadata),
            _ => {}
        }
    }
}

fn forget(metadata: &mut Option<ProviderMetadata>) {
    if let Some(metadata) = metadata {
        metadata.forget_own();
    }
}
