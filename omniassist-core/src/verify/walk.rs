use std::cell::Cell;

use serde_json::Value;

use super::form::Forms;
use super::{Claim, HistoryPart, Poster, Verdict, Verifier};
use crate::canonical;
use crate::message::{Message, OWN_KEY, Part, ProviderMetadata, Role, ToolPart, ToolState};
use crate::run::{Gate, ToolCatalog};
use crate::{Error, JsonText, RunRequest, Text, ToolSide};

/// The error of an output that no seal proves.
const UNVERIFIABLE: &str = "The result of this call can no longer be verified.";

/// The error of an answer after the deadline.
const LATE: &str = "The answer came after its deadline.";

/// The error of a call with a pending or given approval, without proof that the server left it open.
const UNPROVED: &str = "This call did not run: its approval can no longer be verified, for example after a restart of \
    the server. If it is still wanted, make the call again, so that the user is asked again.";

/// The error of a call with a pending or given approval, after its deadline.
const EXPIRED: &str = "This call did not run: the time to approve it is over. If it is still wanted, make the call \
    again, so that the user is asked again.";

/// Verifies every claim of a posted conversation that only the server can make.
///
/// Afterwards the conversation contains only proved claims, and no entries of the server in metadata:
///
/// - An output without proof becomes an error that names the cause. If the format of the client carries no proof
///   ([`ClientAbilities::seals`](crate::run::ClientAbilities::seals)), outputs of the client's own tools are accepted
///   as posted, and text counts as unproved, even if the verifier rejects unproved text. Outputs of front-end tools in
///   records without a seal ([`recorded_calls`](RunRequest::recorded_calls)) are accepted as posted too, unless the
///   call needs an approval or is a form.
/// - State of text, reasoning or a call without proof is removed. The text itself is kept.
/// - An approval, and a call that waits for one, needs proof that the server left this call open. Without it, or after
///   its deadline, the call becomes an error that asks the model to make the call again. Before the last step of the
///   last message, both are history: calls without a result.
/// - The arguments of an approved call are the proved ones: the text of the model if the call contains it, otherwise
///   their [canonical](canonical) form.
/// - A question that became an error is listed in [`unaccepted`](RunRequest::unaccepted), because the client displays
///   it as open or answered. A result is not listed: it is valid again after the key that proves it is restored.
/// - In the arguments and outputs of calls, duplicate keys and keys that clients reject are removed, because two
///   readers could see different values. State keeps only the entries of providers.
///
/// # Errors
///
/// Returns [`SealInvalid`](crate::ErrorCode::SealInvalid) with the path of the part if the verifier rejects a claim. In
/// the path, a [loaded](RunRequest::loaded_messages) message is `history[…]`, and the posted message after them is
/// `message`. The request must not be used then.
pub fn history(
    request: &mut RunRequest,
    poster: Poster<'_>,
    tools: &dyn ToolCatalog,
    verifier: &dyn Verifier,
) -> Result<(), Error> {
    judge(request, poster, tools, verifier, None)
}

/// Verifies a conversation like [`history`], and returns a copy to store. In the copy, proved parts are unchanged, and
/// the server's entries in metadata are kept, such as its seals. The copy can be verified again.
///
/// # Errors
///
/// Returns the errors of [`history`].
pub fn history_with_seals(
    request: &mut RunRequest,
    poster: Poster<'_>,
    tools: &dyn ToolCatalog,
    verifier: &dyn Verifier,
) -> Result<Vec<Message>, Error> {
    let mut kept = request.messages.clone();
    judge(request, poster, tools, verifier, Some(&mut kept))?;
    Ok(kept)
}

fn judge(
    request: &mut RunRequest,
    poster: Poster<'_>,
    tools: &dyn ToolCatalog,
    verifier: &dyn Verifier,
    mut kept: Option<&mut Vec<Message>>,
) -> Result<(), Error> {
    let (chat_id, seals) = (request.chat_id.clone(), request.abilities.seals);
    let last = request.messages.len().wrapping_sub(1);
    let (mut unaccepted, mut forms) = (Vec::new(), Forms::default());
    for (message_index, message) in request.messages.iter_mut().enumerate() {
        let last_step = message.last_step();
        let is_assistant = message.role == Role::Assistant;
        for part_index in 0..message.parts.len() {
            let Some(part) = message.parts.get(part_index).filter(|_| is_assistant) else { break };
            forms.take(part);
            let digest = Cell::new(None);
            let mut posted = HistoryPart::new(Claim::Text, message, part);
            posted.chat_id = chat_id.as_deref();
            posted.poster = poster;
            posted.is_due = message_index == last && part_index >= last_step;
            posted.is_loaded = message_index < request.loaded_messages;
            posted.arguments = forms.arguments();
            posted.known_digest = Some(&digest);
            posted.output = forms.output();
            posted.side = match part {
                Part::Tool(tool) => tools.side(&tool.name),
                _ => None,
            };
            // Outputs of a client's own tools come from the client. In plain records and in messages of the host's
            // store, they may lack a seal. An output without a seal is accepted, unless the user must approve the call
            // or fill in a form. An output with a seal is verified.
            let is_loaded = posted.is_loaded;
            let is_unsealed_record = |tool: &ToolPart| {
                (is_loaded || request.recorded_calls.contains(&tool.call_id))
                    && tool.metadata.as_ref().and_then(ProviderMetadata::own).is_none()
                    && tool.state.input().is_some_and(|input| tools.gate(&tool.name, input) == Gate::Open)
            };
            let is_clients = posted.side == Some(ToolSide::FrontEnd)
                && (!seals || matches!(part, Part::Tool(tool) if is_unsealed_record(tool)));
            let is_due = posted.is_due;
            let verdicts = claims(part).map(|claim| {
                posted.claim = claim?;
                let verdict = match posted.claim {
                    Claim::Output | Claim::Failure if is_clients => Verdict::Accept,
                    Claim::Text | Claim::Reasoning if !seals => Verdict::Distrust,
                    Claim::Approval if !is_due => Verdict::Distrust,
                    Claim::Request if !is_due => Verdict::Accept,
                    _ => verifier.verify(posted),
                };
                Some((posted.claim, verdict))
            });
            if verdicts.iter().flatten().any(|(_, verdict)| *verdict == Verdict::Refuse) {
                let message = match request.loaded_messages {
                    0 => format!("messages[{message_index}]"),
                    loaded if message_index < loaded => format!("history[{message_index}]"),
                    _ => "message".to_owned(),
                };
                return Err(Error::seal_invalid(format!("{message}.parts[{part_index}]")));
            }
            let Some(part) = message.parts.get_mut(part_index) else { break };
            forms.put(part);
            let mut kept =
                kept.as_deref_mut().and_then(|kept| kept.get_mut(message_index)?.parts.get_mut(part_index));
            for (claim, verdict) in verdicts.into_iter().flatten() {
                settle(part, claim, verdict, is_due);
                if let (Some(kept), true) = (&mut kept, verdict != Verdict::Accept) {
                    settle(kept, claim, verdict, is_due);
                }
                if let Part::Tool(tool) = &*part
                    && is_unaccepted(claim, verdict, is_due)
                {
                    unaccepted.push(tool.call_id.clone());
                }
            }
        }
        forget_own_entries(message);
    }
    request.unaccepted = unaccepted;
    Ok(())
}

/// Returns `true` if the client displays a question as open or answered although the claim is not accepted.
fn is_unaccepted(claim: Claim, verdict: Verdict, is_due: bool) -> bool {
    match claim {
        Claim::Request => verdict != Verdict::Accept,
        Claim::Approval => is_due && verdict != Verdict::Accept,
        Claim::Output | Claim::Failure => verdict == Verdict::Expired,
        _ => false,
    }
}

fn claims(part: &Part) -> [Option<Claim>; 2] {
    match part {
        Part::Text(_) => [Some(Claim::Text), None],
        Part::Reasoning(_) => [Some(Claim::Reasoning), None],
        Part::Tool(tool) => {
            let result = match &tool.state {
                ToolState::OutputAvailable { preliminary: false, .. } => Some(Claim::Output),
                ToolState::OutputError { .. } => Some(Claim::Failure),
                ToolState::ApprovalResponded { approval, .. } if approval.is_approved() => {
                    Some(Claim::Approval)
                }
                ToolState::ApprovalRequested { .. } => Some(Claim::Request),
                _ => None,
            };
            [tool.metadata.as_ref().map(|_| Claim::Call), result]
        }
        _ => [None; 2],
    }
}

fn settle(part: &mut Part, claim: Claim, verdict: Verdict, is_due: bool) {
    let is_proved = verdict == Verdict::Accept;
    match part {
        Part::Text(text) if !is_proved => text.metadata = None,
        Part::Reasoning(reasoning) if !is_proved => reasoning.metadata = None,
        Part::Tool(tool) => match claim {
            Claim::Call if is_proved => restore_arguments(tool),
            Claim::Call => tool.metadata = None,
            _ if is_proved => {}
            Claim::Approval if !is_due => forget_answer(tool),
            Claim::Approval | Claim::Request => {
                fail(tool, if verdict == Verdict::Expired { EXPIRED } else { UNPROVED });
            }
            _ => fail(tool, if verdict == Verdict::Expired { LATE } else { UNVERIFIABLE }),
        },
        _ => {}
    }
}

fn fail(tool: &mut ToolPart, text: &'static str) {
    let (input, error_text) = (tool.state.input().cloned(), Text::from_static(text));
    tool.state = ToolState::OutputError { input, error_text };
}

/// Restores the arguments as the model wrote them, if the call contains that text and the client posted the same value.
fn restore_arguments(tool: &mut ToolPart) {
    let text = tool.metadata.as_ref().and_then(|metadata| metadata.own_text(ProviderMetadata::ARGUMENTS));
    let Some(exact) = text.and_then(|text| JsonText::parse(text).ok()) else { return };
    let Some(input) = tool.state.input_mut() else { return };
    let is_same = match (canonical::of(&exact), canonical::of(input)) {
        (Some(exact), Some(posted)) => !exact.left_out() && exact.json() == posted.json(),
        _ => false,
    };
    if is_same {
        *input = exact;
    }
}

/// Forgets an answer in an older step. Its call has no result: it did not run, or its run was stopped while it ran.
fn forget_answer(tool: &mut ToolPart) {
    let input = tool.state.input().cloned().unwrap_or(JsonText::EMPTY_OBJECT);
    tool.state = ToolState::InputAvailable { input };
}

fn forget_own_entries(message: &mut Message) {
    if let Some(Value::Object(metadata)) = &mut message.metadata {
        metadata.remove(OWN_KEY);
        if metadata.is_empty() {
            message.metadata = None;
        }
    }
    for part in &mut message.parts {
        match part {
            Part::Text(part) => forget(&mut part.metadata),
            Part::Reasoning(part) => forget(&mut part.metadata),
            Part::File(part) => forget(&mut part.metadata),
            Part::Source(part) => forget(&mut part.metadata),
            Part::Tool(part) => {
                // It proves itself, and tells which calls are not the model's.
                let entry = part.metadata.as_mut().and_then(|own| own.take_own(ProviderMetadata::AGENT));
                forget(&mut part.metadata);
                if let Some(entry) = entry.filter(Value::is_string) {
                    part.metadata.get_or_insert_default().set_own(ProviderMetadata::AGENT, entry);
                }
            }
            Part::Data(_) | Part::StepStart | Part::Unknown(_) => {}
        }
    }
}

/// Removes the server's own entry from provider state, and all data that no seal covers: entries that belong to no
/// provider, and keys that clients reject.
fn forget(metadata: &mut Option<ProviderMetadata>) {
    if let Some(entries) = metadata {
        entries.retain(|key, value| {
            canonical::remove_refused(value);
            key != OWN_KEY && key != "__proto__" && value.is_object()
        });
        if entries.is_empty() {
            *metadata = None;
        }
    }
}
