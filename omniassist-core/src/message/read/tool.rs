use super::fields::{MessageFields, PartFields};
use super::{check_id, optional_id};
use crate::message::body::Body;
use crate::message::raw::{self, Raw};
use crate::message::{
    Approval, FunctionCall, FunctionCallOutput, ProviderMetadata, ToolPart, ToolState, tree,
};
use crate::{Error, JsonText, Limits, Result, Text};

const STATES: &str = "a state of a tool call (\"input-available\", \"output-available\", ...)";

/// Reads a tool part of a `UIMessage`.
pub(super) fn tool<'a>(
    body: Body<'a>,
    limits: &Limits,
    fields: &PartFields<'a>,
    name: Text,
    dynamic: bool,
) -> Result<ToolPart> {
    let call_id = body.text(fields.tool_call_id, "toolCallId")?;
    check_id(&call_id, "toolCallId", limits)?;
    let state = state(body, fields)?;
    let mut metadata = body
        .optional_object(fields.call_provider_metadata, "callProviderMetadata")?
        .map(ProviderMetadata::from);
    // Clients of version 6 and 7 store the state of a call that could not run as that of its result.
    if metadata.is_none() && matches!(state, ToolState::OutputError { .. }) {
        metadata = body
            .optional_object(fields.result_provider_metadata, "resultProviderMetadata")?
            .map(ProviderMetadata::from);
    }
    let provider_executed = raw::flag(fields.provider_executed, "providerExecuted")?;
    Ok(ToolPart { call_id, name, dynamic, provider_executed, state, metadata })
}

fn state<'a>(body: Body<'a>, fields: &PartFields<'a>) -> Result<ToolState> {
    // JSON has no `undefined`: a missing input or output is posted without the key.
    let input = || fields.input.map_or(JsonText::EMPTY_OBJECT, |raw| body.json(raw));
    let name = body.word(fields.state, "state")?;
    Ok(match &*name {
        "input-streaming" => ToolState::InputStreaming,
        "input-available" => ToolState::InputAvailable { input: input() },
        "approval-requested" => {
            ToolState::ApprovalRequested { input: input(), approval: approval(body, fields, &name)? }
        }
        "approval-responded" => {
            ToolState::ApprovalResponded { input: input(), approval: approval(body, fields, &name)? }
        }
        "output-available" => ToolState::OutputAvailable {
            input: input(),
            output: fields.output.map_or(JsonText::NULL, |raw| body.json(raw)),
            preliminary: raw::flag(fields.preliminary, "preliminary")?,
        },
        // Clients of version 5 and 6 store the input of a call that could not run as `rawInput`.
        "output-error" => ToolState::OutputError {
            input: raw::present(fields.input)
                .or(raw::present(fields.raw_input))
                .or(fields.input)
                .map(|raw| body.json(raw)),
            error_text: body.text(fields.error_text, "errorText")?,
        },
        "output-denied" => {
            ToolState::OutputDenied { input: input(), approval: approval(body, fields, &name)? }
        }
        _ => return Err(Error::invalid_field("state", STATES, "another string")),
    })
}

fn approval(body: Body<'_>, fields: &PartFields<'_>, state: &str) -> Result<Approval> {
    let Some(mut object) = body.optional_object(fields.approval, "approval")? else {
        return Err(Error::invalid_field("approval", "an object", raw::kind_of(fields.approval)));
    };
    // A client that resumed the stream knows only the request, and that the call was denied.
    if state == "output-denied" {
        object.entry("approved").or_insert(false.into());
    }
    let found = |key: &str| object.get(key).map_or("nothing", tree::kind);
    let (id, approved) = (found("id"), found("approved"));
    let approval = Approval::from_object(object);
    let approval = approval.ok_or_else(|| Error::invalid_field("approval.id", "a string", id))?;
    if state != "approval-requested" && approval.decision.is_none() {
        return Err(Error::invalid_field("approval.approved", "a boolean", approved));
    }
    Ok(approval)
}

/// Reads a `function_call` record.
pub(super) fn call(body: Body<'_>, limits: &Limits, fields: &MessageFields<'_>) -> Result<FunctionCall> {
    // An item of the Responses API has its own `id` in addition to the `call_id` that its output refers to.
    let (id, key) = match raw::present(fields.call_id) {
        Some(raw) => (Some(raw), "call_id"),
        None => (fields.id, "id"),
    };
    let call_id = body.text(id, key)?;
    check_id(&call_id, key, limits)?;
    let mut call =
        FunctionCall::new(call_id, body.text(fields.name, "name")?, arguments(body, fields.arguments)?);
    call.message_id = optional_id(body, fields.message_id, "messageId", limits)?;
    let metadata = match body.optional_object(fields.call_provider_metadata, "callProviderMetadata")? {
        None => body.optional_object(fields.provider_metadata, "providerMetadata")?,
        metadata => metadata,
    };
    call.metadata = metadata.map(ProviderMetadata::from);
    Ok(call)
}

/// Reads arguments: an object, or a string with its JSON. Text that does not parse stays a string: the call was
/// incomplete, and the transcript reports that to the model.
fn arguments(body: Body<'_>, raw: Option<Raw<'_>>) -> Result<JsonText> {
    let Some(raw) = raw::present(raw) else { return Ok(JsonText::EMPTY_OBJECT) };
    match raw::kind(raw) {
        "an object" => Ok(body.json(raw)),
        "a string" => {
            let text = body.text(Some(raw), "arguments")?;
            if text.trim().is_empty() {
                return Ok(JsonText::EMPTY_OBJECT);
            }
            Ok(JsonText::parse(text).unwrap_or_else(|_| body.json(raw)))
        }
        kind => Err(Error::invalid_field("arguments", "an object, or a string that holds one", kind)),
    }
}

/// Reads a `function_call_output` record.
pub(super) fn output(
    body: Body<'_>,
    limits: &Limits,
    fields: &MessageFields<'_>,
) -> Result<FunctionCallOutput> {
    let call_id = body.text(fields.call_id, "call_id")?;
    check_id(&call_id, "call_id", limits)?;
    let Some(raw) = fields.output else {
        return Err(Error::invalid_field("output", "any JSON", "nothing"));
    };
    let mut output = FunctionCallOutput::new(call_id, body.json(raw));
    if let Some(status) = body.optional_text(fields.status, "status")? {
        output.status = status;
    }
    Ok(output)
}
