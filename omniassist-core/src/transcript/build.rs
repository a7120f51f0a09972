use std::iter;

use super::{ToolCall, ToolResult, TranscriptItem, UserContent, repair};
use crate::event::CallKind;
use crate::message::{Message, Part, Role, ToolPart, ToolState, file_url};
use crate::{JsonText, Text};

/// The output of a call that was denied.
const DENIED: &str = "This call was denied; it was not run.";

/// The result of a call that needs an approval which the user has not given.
const NOT_APPROVED: &str = "The user did not answer the request for approval; the call was not run.";

/// The text in place of a file whose URL is not allowed.
const NO_FILE: &str =
    "(A file was left out: only https:, http: and data: URLs outside link-local networks are allowed.)";

/// The text before the files that the model made.
const MADE: &str = "[You made these files in your previous answer:]";

/// Returns the output of a denied call for the model. A client may give any reason for any call. The text before the
/// reason identifies it, so that the model cannot take the reason for an output of the tool.
pub(crate) fn denial(reason: Option<&str>) -> Text {
    match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("{DENIED} The reason given: {reason}").into(),
        None => Text::from_static(DENIED),
    }
}

/// Converts messages into a legal transcript.
///
/// This never fails. Parts that a model cannot receive (data parts, sources, calls that the provider executed, calls
/// with incomplete arguments) are omitted, and the rest is [repaired](repair()). A message with the system role is passed
/// on as text of the client, not as instructions.
#[must_use]
pub fn from_messages(messages: &[Message]) -> Vec<TranscriptItem> {
    let mut items = Vec::with_capacity(messages.len());
    for message in messages {
        match message.role {
            Role::User => push_user(&mut items, message, None),
            Role::System => push_user(&mut items, message, Some("Note from the client application:\n")),
            Role::Assistant => push_assistant(&mut items, message),
        }
    }
    repair(items)
}

/// Returns a conversation in which the files that the model made precede the user's next message. The APIs take no files in a
/// message of the model. Only `data:` URLs count. Returns `None` if there are none.
#[must_use]
pub fn with_made_files(messages: &[Message]) -> Option<Vec<Message>> {
    let mut shown: Option<Vec<Message>> = None;
    let mut made = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        match message.role {
            Role::Assistant => {
                let is_made =
                    |part: &&Part| matches!(part, Part::File(file) if file.url.starts_with("data:"));
                made.extend(message.parts.iter().filter(is_made).cloned());
            }
            Role::User if !made.is_empty() => {
                if let Some(next) = shown.get_or_insert_with(|| messages.to_vec()).get_mut(at) {
                    next.parts.splice(..0, iter::once(Part::text(MADE)).chain(made.drain(..)));
                }
            }
            _ => {}
        }
    }
    shown
}

fn push_user(items: &mut Vec<TranscriptItem>, message: &Message, prefix: Option<&'static str>) {
    let said = message.parts.iter().filter_map(|part| match part {
        Part::Text(part) if !part.text.is_empty() => Some(UserContent::Text { text: part.text.clone() }),
        Part::File(file) if !file_url::is_allowed(&file.url) => {
            Some(UserContent::Text { text: Text::from_static(NO_FILE) })
        }
        Part::File(file) => Some(UserContent::File {
            media_type: file.media_type.clone(),
            url: file.url.clone(),
            filename: file.filename.clone(),
        }),
        _ => None,
    });
    let mut said = said.peekable();
    if said.peek().is_none() {
        return;
    }
    let prefix = prefix.map(|prefix| UserContent::Text { text: Text::from_static(prefix) });
    // Most messages have one part. A collection of unknown size would reserve room for four.
    let mut content = Vec::with_capacity(message.parts.len() + usize::from(prefix.is_some()));
    content.extend(prefix.into_iter().chain(said));
    items.push(TranscriptItem::User { content });
}

fn push_assistant(items: &mut Vec<TranscriptItem>, message: &Message) {
    let mut results = Vec::new();
    for part in &message.parts {
        match part {
            Part::StepStart => items.append(&mut results),
            Part::Text(part) => {
                items.push(TranscriptItem::Text { text: part.text.clone(), metadata: part.metadata.clone() });
            }
            Part::Reasoning(part) => {
                items.push(TranscriptItem::Reasoning {
                    text: part.text.clone(),
                    metadata: part.metadata.clone(),
                });
            }
            Part::Tool(tool) if !tool.provider_executed => {
                let Some((arguments, result)) = call_and_result(tool) else { continue };
                items.push(TranscriptItem::Call(ToolCall {
                    id: tool.call_id.clone(),
                    name: tool.name.clone(),
                    arguments,
                    kind: CallKind::Function,
                    metadata: tool.metadata.clone(),
                }));
                results.extend(result.map(TranscriptItem::Result));
            }
            _ => {}
        }
    }
    items.append(&mut results);
}

fn call_and_result(tool: &ToolPart) -> Option<(JsonText, Option<ToolResult>)> {
    let result =
        |output: JsonText, is_error: bool| ToolResult { call_id: tool.call_id.clone(), output, is_error };
    Some(match &tool.state {
        ToolState::InputStreaming => return None,
        ToolState::InputAvailable { input }
        | ToolState::ApprovalResponded { input, .. }
        | ToolState::OutputAvailable { input, preliminary: true, .. } => (input.clone(), None),
        ToolState::ApprovalRequested { input, .. } => {
            (input.clone(), Some(result(JsonText::from_str_value(NOT_APPROVED), true)))
        }
        ToolState::OutputAvailable { input, output, .. } => {
            (input.clone(), Some(result(output.clone(), false)))
        }
        ToolState::OutputError { input, error_text } => {
            let input = input.clone().unwrap_or(JsonText::EMPTY_OBJECT);
            (input, Some(result(JsonText::from_str_value(error_text), true)))
        }
        ToolState::OutputDenied { input, approval } => {
            let reason = denial(approval.reason().map(Text::as_str));
            (input.clone(), Some(result(JsonText::from_str_value(&reason), true)))
        }
    })
}

/// Inserts application context at the start of the last user message. The items before it stay byte for byte the same,
/// so a provider's prompt cache remains valid.
pub(crate) fn insert_context(items: &mut Vec<TranscriptItem>, block: Text) {
    let block = UserContent::Text { text: block };
    let last = items.iter_mut().rev().find_map(|item| match item {
        TranscriptItem::User { content } => Some(content),
        _ => None,
    });
    match last {
        Some(content) => content.insert(0, block),
        None => items.insert(0, TranscriptItem::User { content: vec![block] }),
    }
}
