use serde_json::{Map, Value};

use super::{Claim, HistoryPart, Poster, Verdict, Verifier};
use crate::message::{Message, Part, ProviderMetadata, Role, ToolPart, ToolState};
use crate::run::ToolCatalog;
use crate::{Error, JsonText, RunRequest, Text, ToolSide, canonical};

/// What stands for an output that can no longer be told to be the server's own.
const UNVERIFIABLE: &str = "The result of this call can no longer be verified.";

/// What stands for an answer that came too late.
const LAPSED: &str = "The answer came after the time for it was over.";

/// What stands for a call that would have to be asked about once more, and that nothing proves.
const UNASKED: &str =
    "Whether this call was ever asked for can no longer be verified. Make it again if it is still wanted.";

/// The entry of metadata that the server keeps its proofs under.
const OWN: &str = "omniassist";

/// What the server wrote for itself into a part's metadata, `{"seal": …}`, or into a message's,
/// `{"seals": {<call id>: …}}`.
#[must_use]
pub fn own_entries(metadata: &Map<String, Value>) -> Option<&Map<String, Value>> {
    metadata.get(OWN)?.as_object()
}

/// Passes every claim of a posted conversation that only the server can vouch for through the verifier.
///
/// Afterwards the conversation holds only what may be relied upon, and none of the server's own entries in metadata:
///
/// - An output that is not vouched for is an error that says so. Of a client whose format brings no proof back
///   ([`ClientAbilities::seals`](crate::run::ClientAbilities::seals)), outputs of tools that it runs itself count as
///   posted.
/// - State of text, reasoning or a call that is not vouched for is gone. The text itself stays.
/// - An approval that is not vouched for, or that does not stand in the last step of the last message, is a request for
///   approval once more. Of a request that the run would repeat, the call itself must be vouched for; otherwise it is an
///   error that says so, and the model may make the call again. The arguments of one that is vouched for are in their [canonical](canonical) form, which is what was proved.
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
    for (message_index, message) in request.messages.iter_mut().enumerate() {
        if message.role == Role::Assistant {
            message.parts.iter_mut().for_each(read_once);
            let is_step = |part: &Part| matches!(part, Part::StepStart);
            let last_step = message.parts.iter().rposition(is_step).unwrap_or(0);
            let mut decided = Vec::new();
            for (part_index, part) in message.parts.iter().enumerate() {
                let mut posted = HistoryPart::new(Claim::Text, message, part);
                posted.chat_id = chat_id.as_deref();
                posted.poster = poster;
                posted.is_due = message_index == last && part_index >= last_step;
                posted.side = match part {
                    Part::Tool(tool) => tools.side(&tool.name),
                    _ => None,
                };
                for claim in claims(part).filter(|claim| *claim != Claim::Request || posted.is_due) {
                    posted.claim = claim;
                    let is_clients = posted.side == Some(ToolSide::FrontEnd) && !seals;
                    let verdict = match claim {
                        Claim::Output | Claim::Failure if is_clients => Verdict::Accept,
                        Claim::Approval if !posted.is_due => Verdict::Distrust,
                        _ => verifier.verify(posted),
                    };
                    decided.push((part_index, claim, verdict));
                    // Asking once more gives a new proof, which must not go to a call that a client made up.
                    let repeats = claim == Claim::Approval && verdict != Verdict::Accept;
                    if posted.is_due && repeats && verdict != Verdict::Refuse {
                        posted.claim = Claim::Request;
                        decided.push((part_index, Claim::Request, verifier.verify(posted)));
                    }
                }
            }
            for (part_index, claim, verdict) in decided {
                if verdict == Verdict::Refuse {
                    return Err(Error::seal_invalid(format!(
                        "messages[{message_index}].parts[{part_index}]"
                    )));
                }
                if let Some(part) = message.parts.get_mut(part_index) {
                    settle(part, claim, verdict);
                }
            }
        }
        forget_own_entries(message);
    }
    Ok(())
}

fn claims(part: &Part) -> impl Iterator<Item = Claim> + use<> {
    let (first, second) = match part {
        Part::Text(_) => (Some(Claim::Text), None),
        Part::Reasoning(_) => (Some(Claim::Reasoning), None),
        Part::Tool(tool) => {
            let result = match &tool.state {
                ToolState::OutputAvailable { preliminary: false, .. } => Some(Claim::Output),
                ToolState::OutputError { .. } => Some(Claim::Failure),
                ToolState::ApprovalResponded { approval, .. } if is_approved(approval) => {
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

fn is_approved(approval: &Value) -> bool {
    approval.get("approved").and_then(Value::as_bool).unwrap_or(false)
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
            Claim::Approval => settle_approval(tool, trusted),
            Claim::Request if !trusted => {
                let (input, error_text) = (tool.state.input().cloned(), Text::from_static(UNASKED));
                tool.state = ToolState::OutputError { input, error_text };
            }
            _ => {}
        },
        _ => {}
    }
}

fn settle_approval(tool: &mut ToolPart, trusted: bool) {
    let ToolState::ApprovalResponded { input, approval } = &mut tool.state else { return };
    if trusted {
        if let Some(canonical) = canonical::of(input) {
            *input = canonical.into_json();
        }
        return;
    }
    let id = approval.get("id").cloned().unwrap_or_default();
    let approval = Value::Object(Map::from_iter([("id".to_owned(), id)]));
    tool.state = ToolState::ApprovalRequested { input: std::mem::take(input), approval };
}

/// Makes sure that every reader of a call's arguments and output sees the same in them.
fn read_once(part: &mut Part) {
    let Part::Tool(tool) = part else { return };
    let once = |json: &mut JsonText| {
        if let Some(canonical) = canonical::of(json).filter(canonical::Canonical::left_out) {
            *json = canonical.into_json();
        }
    };
    match &mut tool.state {
        ToolState::InputStreaming => {}
        ToolState::InputAvailable { input }
        | ToolState::ApprovalRequested { input, .. }
        | ToolState::ApprovalResponded { input, .. }
        | ToolState::OutputDenied { input, .. } => once(input),
        ToolState::OutputAvailable { input, output, .. } => {
            once(input);
            once(output);
        }
        ToolState::OutputError { input, .. } => {
            if let Some(input) = input {
                once(input);
            }
        }
    }
}

fn forget_own_entries(message: &mut Message) {
    if let Some(Value::Object(metadata)) = &mut message.metadata {
        metadata.remove(OWN);
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
        entries.retain(|key, value| key != OWN && key != "__proto__" && value.is_object());
        for value in entries.values_mut() {
            canonical::remove_refused(value);
        }
        if entries.is_empty() {
            *metadata = None;
        }
    }
}
