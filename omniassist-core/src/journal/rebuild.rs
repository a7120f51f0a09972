//! A message as the events of a run.

use serde_json::Value;

use crate::event::{ApprovalRequest, BlockId, BlockKind, FinishReason};
use crate::message::{Message, Part, ProviderMetadata, ToolPart, ToolState, known_question};
use crate::{RunEvent, Text, Usage};

/// Returns the events from which a client builds a message of the assistant again, without the end of a run.
///
/// Complete calls are written as calls that are still being written, with their output if they have one. A client
/// assembles the same part and does not execute the call. The provider's state of such a call is left out, since no event
/// of a call in progress has a field for it, and so are parts of unknown kinds.
#[must_use]
pub fn message_events(message: &Message) -> Vec<RunEvent> {
    let metadata = message.metadata.as_ref().and_then(Value::as_object).cloned();
    let mut events = vec![RunEvent::Start { message_id: message.id.clone(), metadata }];
    let mut blocks = (0..).map(BlockId);
    let mut in_step = false;
    for part in &message.parts {
        match part {
            Part::StepStart => {
                if std::mem::replace(&mut in_step, true) {
                    events.push(step_finish());
                }
                events.push(RunEvent::StepStart);
            }
            Part::Text(part) => {
                block(BlockKind::Text, blocks.next(), &part.text, part.metadata.as_ref(), &mut events);
            }
            Part::Reasoning(part) => {
                block(BlockKind::Reasoning, blocks.next(), &part.text, part.metadata.as_ref(), &mut events);
            }
            Part::File(file) => {
                events.push(RunEvent::File { media_type: file.media_type.clone(), url: file.url.clone() });
            }
            Part::Source(part) => events.push(RunEvent::Source(part.source.clone())),
            Part::Data(part) => events.push(RunEvent::Data {
                name: part.name.clone(),
                id: part.id.clone(),
                data: part.data.clone(),
                transient: false,
            }),
            Part::Tool(part) => call(message, part, &mut events),
            Part::Unknown(_) => {}
        }
    }
    if in_step {
        events.push(step_finish());
    }
    events
}

/// Returns the end of a step whose reason and usage the message does not have.
fn step_finish() -> RunEvent {
    RunEvent::StepFinish { reason: FinishReason::ToolCalls, usage: Usage::default() }
}

fn block(
    kind: BlockKind,
    id: Option<BlockId>,
    text: &Text,
    metadata: Option<&ProviderMetadata>,
    events: &mut Vec<RunEvent>,
) {
    let Some(id) = id else { return };
    events.push(kind.start(id));
    if !text.is_empty() {
        events.push(kind.delta(id, text.clone()));
    }
    events.push(kind.end(id, metadata.cloned()));
}

fn call(message: &Message, part: &ToolPart, events: &mut Vec<RunEvent>) {
    let (call_id, name, provider_executed) =
        (part.call_id.clone(), part.name.clone(), part.provider_executed);
    match part.state.input() {
        // The provider has executed the call, so no client does.
        Some(input) if provider_executed => events.push(RunEvent::ToolInputAvailable {
            call_id: call_id.clone(),
            name,
            input: input.clone(),
            provider_executed,
            metadata: part.metadata.clone(),
        }),
        input => {
            events.push(RunEvent::ToolInputStart { call_id: call_id.clone(), name, title: None, app: None });
            let delta = input.map(|input| input.text().clone());
            events.extend(delta.map(|delta| RunEvent::ToolInputDelta { call_id: call_id.clone(), delta }));
        }
    }
    match &part.state {
        ToolState::InputStreaming | ToolState::InputAvailable { .. } => {}
        ToolState::ApprovalRequested { input, approval }
        | ToolState::ApprovalResponded { input, approval }
        | ToolState::OutputDenied { input, approval } => {
            let mut request = ApprovalRequest::new(call_id.clone(), part.name.clone(), input.clone());
            request.id = approval.id.clone();
            request.signature = approval.signature.clone();
            (request.message, request.editable) = known_question(message, &call_id);
            events.push(RunEvent::ToolApprovalRequest(request));
            if let ToolState::OutputDenied { .. } = part.state {
                events.push(RunEvent::ToolDenied { call_id, reason: approval.reason().cloned() });
            }
        }
        ToolState::OutputAvailable { output, preliminary, .. } => events.push(RunEvent::ToolOutput {
            call_id,
            output: output.clone(),
            preliminary: *preliminary,
            provider_executed,
        }),
        ToolState::OutputError { error_text, .. } => {
            events.push(RunEvent::ToolError { call_id, error_text: error_text.clone(), provider_executed });
        }
    }
}
