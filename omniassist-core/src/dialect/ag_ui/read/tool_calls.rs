//! Tool calls of posted messages and their results.

use serde::Deserialize as _;

use super::content;
use super::conversation::{Call, Conversation, MessageFields};
use crate::dialect::ag_ui::client_state::{self, ResultKind};
use crate::dialect::ag_ui::interrupt::{Interrupt, approval};
use crate::dialect::posted;
use crate::message::raw::raw_record;
use crate::message::read::check_id;
use crate::message::{Decision, Part, ToolPart, ToolState, merge_metadata, output_seal, own_entries};
use crate::{Error, JsonText, Result, Text};

/// The result that CopilotKit's runtime writes for a front-end tool call without a result.
const FORWARDED: &str = "Forwarded to client";

raw_record! {
    /// The fields of a tool call.
    CallFields {
        id: "id",
        function: "function",
        encrypted_value: "encryptedValue",
        metadata: "metadata",
    }
}

raw_record! {
    /// The fields of a tool call's function.
    FunctionFields {
        name: "name",
        arguments: "arguments",
    }
}

impl Call {
    fn awaits_approval(&self) -> bool {
        let interrupt = self.interrupt.as_deref().and_then(Interrupt::parse);
        matches!(interrupt, Some(Interrupt::Approval { .. }))
    }
}

impl Conversation<'_> {
    pub(super) fn call(&mut self, position: usize, fields: &CallFields<'_>) -> Result<()> {
        let call_id = self.body.text(fields.id, "id")?;
        check_id(&call_id, "id", self.limits)?;
        let (name, text) = posted::object(fields.function, "function", |function: FunctionFields<'_>| {
            let name = self.body.text(function.name, "name")?;
            Ok((name, self.body.optional_text(function.arguments, "arguments")?.unwrap_or_default()))
        })?;

        let notes = self.body.optional_object(fields.metadata, "metadata")?;
        let notes = notes.as_ref().and_then(own_entries);
        let note = |key: &str| notes.and_then(|notes| notes.get(key));
        let mut metadata = self.state(fields.encrypted_value)?;
        let interrupt = client_state::take_own(&mut metadata, client_state::INTERRUPT);
        let arguments = match note(client_state::INPUT) {
            Some(input) => JsonText::from_value(input),
            None => posted::arguments(&text),
        };
        let state = match &interrupt {
            Some(interrupt) => asked(&call_id, interrupt, &arguments),
            None => ToolState::InputAvailable { input: arguments.clone() },
        };
        if let Some(known) = self.calls.get(&call_id) {
            if known.arguments == arguments && self.part(&call_id).is_some_and(|part| part.name == name) {
                return Ok(());
            }
            return Err(Error::invalid_field("id", "a unique id", "the id of another tool call"));
        }
        let part = self.messages.get(position).map_or(0, |message| message.parts.len());
        self.push(
            position,
            Part::Tool(ToolPart {
                call_id: call_id.clone(),
                name,
                dynamic: false,
                provider_executed: note(client_state::PROVIDER_EXECUTED).is_some_and(|flag| flag == true),
                state,
                metadata,
            }),
        )?;
        self.calls.insert(call_id, Call { position, part, arguments, interrupt, result: None });
        Ok(())
    }

    fn part(&mut self, call_id: &str) -> Option<&mut ToolPart> {
        let call = self.calls.get(call_id)?;
        match self.messages.get_mut(call.position)?.parts.get_mut(call.part)? {
            Part::Tool(part) => Some(part),
            _ => None,
        }
    }

    fn set_state(&mut self, call_id: &str, state: ToolState) {
        if let Some(part) = self.part(call_id) {
            part.state = state;
        }
    }

    /// Stores the result of a tool message in its call. The last of several results counts, because the server adds its
    /// own result if it rejects that of the client.
    pub(super) fn tool(&mut self, id: Option<&Text>, fields: &MessageFields<'_>) -> Result<()> {
        let call_id = self.body.text(fields.tool_call_id, "toolCallId")?;
        check_id(&call_id, "toolCallId", self.limits)?;
        let text = content::tool_text(self.body, self.limits, fields.content)?;
        let error = self.body.optional_text(fields.error, "error")?.filter(|error| !error.is_empty());
        let notes = self.body.optional_object(fields.metadata, "metadata")?;
        let kind = notes
            .as_ref()
            .and_then(own_entries)
            .and_then(|notes| ResultKind::deserialize(notes.get(client_state::RESULT)?).ok());
        let mut state = self.state(fields.encrypted_value)?;
        let seal = client_state::take_own(&mut state, client_state::SEAL);

        let Some(call) = self.calls.get_mut(&call_id) else {
            let expected = "the id of an earlier call";
            return Err(Error::invalid_field("toolCallId", expected, "an unknown id"));
        };
        if let Some(answer) = self.answer.as_mut().filter(|answer| answer.position == call.position) {
            answer.after_result = true;
        }
        // CopilotKit also writes the user's decision as a result of the call.
        let is_decision = call.awaits_approval() && kind.is_none();
        match kind {
            Some(ResultKind::Cut) => {
                self.set_state(&call_id, ToolState::InputStreaming);
                return Ok(());
            }
            Some(ResultKind::Interrupted) => return Ok(()),
            _ if is_decision || text.trim() == FORWARDED => return Ok(()),
            _ => {}
        }
        let Some(call) = self.calls.get_mut(&call_id) else { return Ok(()) };
        call.result = id.cloned();
        let (position, input) = (call.position, call.arguments.clone());
        let state = match (kind, error) {
            (Some(ResultKind::Denied), _) => {
                let reason = (text != client_state::DENIED).then_some(text);
                let approval = approval(&call_id, None).decided(Decision::denied(reason));
                ToolState::OutputDenied { input, approval }
            }
            (_, Some(error_text)) => ToolState::OutputError { input: Some(input), error_text },
            (Some(ResultKind::Error), None) => {
                ToolState::OutputError { input: Some(input), error_text: text }
            }
            _ => ToolState::OutputAvailable {
                input,
                output: posted::json_or_string(&text),
                preliminary: false,
            },
        };
        self.set_state(&call_id, state);
        if let (Some(seal), Some(message)) = (seal, self.messages.get_mut(position)) {
            merge_metadata(message, output_seal(&call_id, &seal));
        }
        Ok(())
    }
}

/// Returns the state of a call with an interrupt: it awaits an approval or the input of a form.
fn asked(call_id: &Text, interrupt: &str, arguments: &JsonText) -> ToolState {
    let input = arguments.clone();
    match Interrupt::parse(interrupt) {
        Some(Interrupt::Approval { call_id: of, signature }) if of == call_id.as_str() => {
            ToolState::ApprovalRequested { input, approval: approval(of, signature) }
        }
        _ => ToolState::InputAvailable { input },
    }
}
