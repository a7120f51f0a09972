use std::cell::Cell;

use serde_json::Value;

use super::form::{Forms, Rewritten};
use super::{Claim, HistoryPart, Poster, Verdict, Verifier};
use crate::canonical;
use crate::message::{Approval, Message, OWN_KEY, Part, ProviderMetadata, Role, ToolPart, ToolState};
use crate::run::{Gate, ToolCatalog};
use crate::{Error, RunRequest, Text, ToolSide};

/// What stands for an output that can no longer be told to be the server's own.
const UNVERIFIABLE: &str = "The result of this call can no longer be verified.";

/// What stands for an answer that came too late.
const LAPSED: &str = "The answer came after the time for it was over.";

/// What stands for a call that would have to be asked about once more, and that nothing proves.
const UNASKED: &str =
    "Whether this call was ever asked for can no longer be verified. Make it again if it is still wanted.";

/// Passes every claim of a posted conversation that only the server can vouch for through the verifier.
///
/// Afterwards the conversation holds only what may be relied upon, and none of the server's own entries in metadata:
///
/// - An output that is not vouched for is an error that says so. Of a client whose format brings no proof back
///   ([`ClientAbilities::seals`](crate::run::ClientAbilities::seals)), outputs of tools that it runs itself count as
///   posted. So do those of front-end tools in records without a seal
///   ([`recorded_calls`](RunRequest::recorded_calls)), where no approval and no form stands before the call.
/// - State of text, reasoning or a call that is not vouched for is gone. The text itself stays.
/// - An approval that is not vouched for, or that does not stand in the last step of the last message, is a request for
///   approval once more. Of a request that the run would repeat, the call itself must be vouched for; otherwise it is an
///   error that says so, and the model may make the call again. The arguments of one that is vouched for are in their
///   [canonical](canonical) form, which is what was proved.
/// - Of a question that is due, what became an error since nothing proves it any more, or since its answer came too late,
///   is named in [`unaccepted`](RunRequest::unaccepted): a client would show it as open, or as answered. A result is not
///   named there. The client keeps the one it has, which counts again where the key that proves it is back.
/// - In the arguments and outputs of calls, a key that stood twice or that clients refuse stands once or not at all:
///   two readers would see two different values. State holds what stands under a provider's name and nothing else.
///
/// # Errors
///
/// [`SealInvalid`](crate::ErrorCode::SealInvalid) when the verifier refuses a claim; the error names the part. The
/// request is then not to be used.
pub fn history(
    request: &mut RunRequest,
    poster: Poster<'_>,
    tools: &dyn ToolCatalog,
    verifier: &dyn Verifier,
) -> Result<(), Error> {
    let (chat_id, seals) = (request.chat_id.clone(), request.abilities.seals);
    let last = request.messages.len().wrapping_sub(1);
    let (mut unaccepted, mut forms, mut decided) = (Vec::new(), Forms::default(), Vec::new());
    for (message_index, message) in request.messages.iter_mut().enumerate() {
        if message.role == Role::Assistant {
            let is_step = |part: &Part| matches!(part, Part::StepStart);
            let last_step = message.parts.iter().rposition(is_step).unwrap_or(0);
            for (part_index, part) in message.parts.iter().enumerate() {
                forms.take(part);
                let digest = Cell::new(None);
                let mut posted = HistoryPart::new(Claim::Text, message, part);
                posted.chat_id = chat_id.as_deref();
                posted.poster = poster;
                posted.is_due = message_index == last && part_index >= last_step;
                posted.arguments = forms.arguments();
                posted.known_digest = Some(&digest);
                posted.output = forms.output();
                posted.side = match part {
                    Part::Tool(tool) => tools.side(&tool.name),
                    _ => None,
                };
                // A client writes the outputs of its own tools itself, and a plain record may lack the seal. So a record
                // needs none, unless its user has to approve the call or to fill in a form. One with a seal is judged
                // by the seal.
                let is_unsealed_record = |tool: &ToolPart| {
                    request.recorded_calls.contains(&tool.call_id)
                        && tool.metadata.as_ref().and_then(ProviderMetadata::own).is_none()
                        && tool.state.input().is_some_and(|input| tools.gate(&tool.name, input) == Gate::Open)
                };
                let is_clients = posted.side == Some(ToolSide::FrontEnd)
                    && (!seals || matches!(part, Part::Tool(tool) if is_unsealed_record(tool)));
                let mut judge = |claim| {
                    posted.claim = claim;
                    let verdict = match claim {
                        Claim::Output | Claim::Failure if is_clients => Verdict::Accept,
                        Claim::Approval if !posted.is_due => Verdict::Distrust,
                        Claim::Request if !posted.is_due => Verdict::Accept,
                        _ => verifier.verify(posted),
                    };
                    (claim, verdict)
                };
                let mut verdicts = [None; 3];
                for (verdict, claim) in verdicts.iter_mut().zip(claims(part)) {
                    *verdict = Some(judge(claim));
                }
                // Asking once more gives a new proof, which must not go to a call that a client made up.
                let repeats = verdicts.contains(&Some((Claim::Approval, Verdict::Distrust)))
                    || verdicts.contains(&Some((Claim::Approval, Verdict::Lapsed)));
                if let (true, [.., request]) = (repeats, &mut verdicts) {
                    *request = Some(judge(Claim::Request));
                }
                if verdicts.iter().flatten().any(|(_, verdict)| *verdict == Verdict::Refuse) {
                    let path = format!("messages[{message_index}].parts[{part_index}]");
                    return Err(Error::seal_invalid(path));
                }
                decided.push((verdicts, forms.rewritten(part)));
            }
            for (part, (verdicts, rewritten)) in message.parts.iter_mut().zip(decided.drain(..)) {
                Rewritten::put(rewritten, part);
                for (claim, verdict) in verdicts.into_iter().flatten() {
                    settle(part, claim, verdict);
                    if let Part::Tool(tool) = &*part
                        && is_unaccepted(claim, verdict)
                    {
                        unaccepted.push(tool.call_id.clone());
                    }
                }
            }
        }
        forget_own_entries(message);
    }
    request.unaccepted = unaccepted;
    Ok(())
}

/// Whether the client has a question for open, or for answered, that is neither.
fn is_unaccepted(claim: Claim, verdict: Verdict) -> bool {
    match claim {
        Claim::Request => verdict != Verdict::Accept,
        Claim::Output | Claim::Failure => verdict == Verdict::Lapsed,
        _ => false,
    }
}

fn claims(part: &Part) -> impl Iterator<Item = Claim> + use<> {
    let (first, second) = match part {
        Part::Text(_) => (Some(Claim::Text), None),
        Part::Reasoning(_) => (Some(Claim::Reasoning), None),
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
            (tool.metadata.as_ref().map(|_| Claim::Call), result)
        }
        _ => (None, None),
    };
    first.into_iter().chain(second)
}

fn settle(part: &mut Part, claim: Claim, verdict: Verdict) {
    let trusted = verdict == Verdict::Accept;
    match part {
        Part::Text(text) if !trusted => text.metadata = None,
        Part::Reasoning(reasoning) if !trusted => reasoning.metadata = None,
        Part::Tool(tool) => match claim {
            Claim::Call if !trusted => tool.metadata = None,
            Claim::Output | Claim::Failure if !trusted => {
                let text = if verdict == Verdict::Lapsed { LAPSED } else { UNVERIFIABLE };
                let (input, error_text) = (tool.state.input().cloned(), Text::from_static(text));
                tool.state = ToolState::OutputError { input, error_text };
            }
            Claim::Approval if !trusted => ask_again(tool),
            Claim::Request if !trusted => {
                let (input, error_text) = (tool.state.input().cloned(), Text::from_static(UNASKED));
                tool.state = ToolState::OutputError { input, error_text };
            }
            _ => {}
        },
        _ => {}
    }
}

fn ask_again(tool: &mut ToolPart) {
    let ToolState::ApprovalResponded { input, approval } = &mut tool.state else { return };
    let approval = Approval::new(approval.id.clone());
    tool.state = ToolState::ApprovalRequested { input: std::mem::take(input), approval };
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
            Part::Tool(part) => forget(&mut part.metadata),
            Part::Data(_) | Part::StepStart | Part::Unknown(_) => {}
        }
    }
}

/// Takes our own entry out of provider state, and whatever no seal covers: what is not under a provider's name, and keys
/// that clients refuse.
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
