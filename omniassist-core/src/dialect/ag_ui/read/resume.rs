//! Answers to the interrupts that the last run ended with.

use std::collections::HashSet;

use super::conversation::Conversation;
use crate::dialect::ag_ui::client_state;
use crate::dialect::ag_ui::interrupt::{Interrupt, Settled, approval};
use crate::dialect::posted;
use crate::message::body::Body;
use crate::message::raw::{self, Raw, present, raw_record};
use crate::message::{Approval, Decision, Message, Part, Role, ToolPart, ToolState};
use crate::{Error, JsonText, Limits, Result, Text};

raw_record! {
    /// The fields of a `resume` entry.
    EntryFields {
        interrupt_id: "interruptId",
        status: "status",
        payload: "payload",
    }
}

raw_record! {
    /// The fields of a decision about a call.
    DecisionFields {
        approved: "approved",
        reason: "reason",
        edited_args: "editedArgs",
        arguments: "arguments",
    }
}

/// Stores the answers in the parts of their calls, which are in the last step of the last answer.
pub(super) fn apply(
    body: Body<'_>,
    limits: &Limits,
    raw: Option<Raw<'_>>,
    read: &mut Conversation<'_>,
) -> Result<Vec<Settled>> {
    let limit = ("max_parts", limits.max_parts);
    let mut settled: Vec<Settled> = Vec::new();
    posted::objects(raw, "resume", "an array of answers", limit, |_, _, fields| {
        let next = entry(body, &fields, &settled, read)?;
        settled.push(next);
        Ok(())
    })?;
    if settled.is_empty() {
        return Ok(settled);
    }
    let answered: HashSet<&Text> = settled.iter().map(|one| &one.call_id).collect();
    let open = open_calls(&mut read.messages).find(|part| {
        let asks = read.calls.get(&part.call_id).is_some_and(|call| call.interrupt.is_some());
        asks && !answered.contains(&part.call_id)
    });
    match open {
        Some(part) => {
            let expected =
                format!("an answer to every open interrupt, including that of call `{}`", part.call_id);
            Err(Error::invalid_field("resume", expected, "none"))
        }
        None => Ok(settled),
    }
}

fn entry(
    body: Body<'_>,
    fields: &EntryFields<'_>,
    settled: &[Settled],
    read: &mut Conversation<'_>,
) -> Result<Settled> {
    let id = body.text(fields.interrupt_id, "interruptId")?;
    let refused =
        |expected: &'static str, found: &'static str| Error::invalid_field("interruptId", expected, found);
    let strange = || refused("the id of an open interrupt", "another id");
    let interrupt = Interrupt::parse(&id).ok_or_else(strange)?;
    if settled.iter().any(|one| one.call_id == interrupt.call_id()) {
        return Err(refused("a unique id", "a duplicate id"));
    }
    let asked = read.calls.get(interrupt.call_id()).and_then(|call| call.interrupt.as_deref());
    let is_other_kind = asked
        .and_then(Interrupt::parse)
        .is_some_and(|asked| std::mem::discriminant(&asked) != std::mem::discriminant(&interrupt));
    let part = open_calls(&mut read.messages).find(|part| part.call_id == interrupt.call_id());
    let part = part.filter(|_| !is_other_kind).ok_or_else(strange)?;
    let input = part.state.input().cloned().unwrap_or(JsonText::EMPTY_OBJECT);
    let cancelled = match body.text(fields.status, "status")?.as_str() {
        "resolved" => false,
        "cancelled" => true,
        _ => {
            let expected = "\"resolved\" or \"cancelled\"";
            return Err(Error::invalid_field("status", expected, "another string"));
        }
    };
    let (state, form) = match interrupt {
        Interrupt::Approval { call_id, signature } => {
            let mut approval = approval(call_id, signature);
            if cancelled {
                approval.decision = Some(Decision::denied(None));
            } else {
                decision(body, fields.payload, &mut approval)?;
            }
            (ToolState::ApprovalResponded { input, approval }, None)
        }
        Interrupt::Form { .. } if cancelled => {
            let error_text = Text::from_static(client_state::CANCELLED);
            let state = ToolState::OutputError { input: Some(input), error_text: error_text.clone() };
            (state, Some(Err(error_text)))
        }
        Interrupt::Form { .. } => {
            let Some(payload) = present(fields.payload) else {
                let found = raw::kind_of(fields.payload);
                return Err(Error::invalid_field("payload", "the user's input", found));
            };
            let output = body.json(payload);
            let form = Some(Ok(output.clone()));
            (ToolState::OutputAvailable { input, output, preliminary: false }, form)
        }
    };
    part.state = state;
    Ok(Settled { call_id: part.call_id.clone(), form })
}

/// Returns the calls in the last step of the last answer that have complete arguments and no result.
fn open_calls(messages: &mut [Message]) -> impl Iterator<Item = &mut ToolPart> {
    let last = messages.iter_mut().rev().find(|message| message.role == Role::Assistant);
    let step = last.and_then(|message| {
        let start = message.last_step();
        message.parts.get_mut(start..)
    });
    step.unwrap_or_default().iter_mut().filter_map(|part| match part {
        Part::Tool(part) if !part.provider_executed => match part.state {
            ToolState::InputAvailable { .. } | ToolState::ApprovalRequested { .. } => Some(part),
            _ => None,
        },
        _ => None,
    })
}

/// Reads a decision: `true`, `false`, or an object with `approved` and optionally `reason` or edited arguments.
fn decision(body: Body<'_>, raw: Option<Raw<'_>>, approval: &mut Approval) -> Result<()> {
    let expected = "a boolean, or an object with `approved`";
    approval.decision = Some(match raw {
        Some(raw) if raw::kind(raw) == "a boolean" => {
            Decision { approved: raw.get() == "true", reason: None }
        }
        Some(raw) => {
            let fields: DecisionFields<'_> = raw::object(raw)?.object_at("payload", expected)?;
            detailed(body, &fields, approval).map_err(|error| error.under("payload"))?
        }
        None => return Err(Error::invalid_field("payload", expected, "nothing")),
    });
    Ok(())
}

fn detailed(body: Body<'_>, fields: &DecisionFields<'_>, approval: &mut Approval) -> Result<Decision> {
    if raw::kind_of(fields.approved) != "a boolean" {
        return Err(Error::invalid_field("approved", "a boolean", raw::kind_of(fields.approved)));
    }
    let approved = raw::flag(fields.approved, "approved")?;
    let reason = body.optional_text(fields.reason, "reason")?;
    let (key, arguments) = match present(fields.edited_args) {
        Some(raw) => ("editedArgs", Some(raw)),
        None => ("arguments", present(fields.arguments)),
    };
    if let Some(arguments) = body.optional_object(arguments, key)?.filter(|_| approved) {
        approval.arguments = Some(JsonText::from_value(&arguments.into()));
    }
    Ok(Decision { approved, reason })
}
