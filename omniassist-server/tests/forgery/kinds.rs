//! Tests that a seal proves only claims of its kind, even if all other fields of two kinds have the same bytes.

use omniassist_server::Principal;
use omniassist_server::core::event::{ApprovalRequest, BlockId};
use omniassist_server::core::message::{
    Approval, Decision, Message, Part, ReasoningPart, TextPart, ToolPart, ToolState,
};
use omniassist_server::core::run::{Gate, ToolCatalog};
use omniassist_server::core::verify::{HistoryPart, Poster, Verifier};
use omniassist_server::core::{Claim, JsonText, RunEvent, Text, ToolSide, Verdict};
use omniassist_server::seal::{SealVerifier, Sealer};
use serde_json::json;

use super::keys;

const NOW: u64 = 1_700_000_000_000;
/// The value of every text, argument, output and provider state: an empty object.
const EMPTY: &str = "{}";
const ID: Text = Text::from_static("same");
const KINDS: [&str; 8] =
    ["text", "reasoning", "call", "client's call", "failed call", "output", "error", "approval"];

struct Tools(ToolSide);

impl ToolCatalog for Tools {
    fn side(&self, _name: &str) -> Option<ToolSide> {
        Some(self.0)
    }

    fn check(&self, _name: &str, _arguments: &JsonText) -> Result<(), Text> {
        Ok(())
    }

    fn gate(&self, _name: &str, _arguments: &JsonText) -> Gate {
        Gate::Open
    }
}

fn object() -> JsonText {
    JsonText::EMPTY_OBJECT
}

/// Returns the seal that an event carries after the sealer has seen it.
fn seal_of(event: &RunEvent, follow_up: Option<RunEvent>) -> String {
    let metadata = match (event, follow_up) {
        (_, Some(RunEvent::OutputSeal { seal, .. })) => return seal.to_string(),
        (RunEvent::ToolApprovalRequest(request), _) => {
            return request.signature.as_deref().unwrap().to_owned();
        }
        (RunEvent::TextEnd { metadata, .. } | RunEvent::ReasoningEnd { metadata, .. }, _) => metadata,
        (RunEvent::ToolInputAvailable { metadata, .. } | RunEvent::ToolInputError { metadata, .. }, _) => {
            metadata
        }
        other => panic!("{other:?}"),
    };
    json!(metadata)["omniassist"]["seal"].as_str().unwrap().to_owned()
}

/// Returns a seal of each kind, in the order of [`KINDS`].
fn seals() -> Vec<String> {
    let sealer = || Sealer::new(&keys(), Some("chat".into()), &Principal::new("ann"), ID);
    let id = BlockId(0);
    let call = || RunEvent::ToolInputAvailable {
        call_id: ID,
        name: ID,
        input: object(),
        provider_executed: false,
        metadata: None,
    };
    let failed = RunEvent::ToolInputError {
        call_id: ID,
        name: ID,
        input: object(),
        error_text: EMPTY.into(),
        metadata: None,
    };
    let delta = || Text::from_static(EMPTY);
    let text = vec![RunEvent::TextStart { id }, RunEvent::TextDelta { id, delta: delta() }];
    let reasoning = vec![RunEvent::ReasoningStart { id }, RunEvent::ReasoningDelta { id, delta: delta() }];
    let output =
        RunEvent::ToolOutput { call_id: ID, output: object(), preliminary: false, provider_executed: false };
    let error = RunEvent::ToolRefused { call_id: ID, reason: EMPTY.into() };
    let mut request = ApprovalRequest::new(ID, ID, object());
    request.id = ID;
    let (server, client) = (ToolSide::Server, ToolSide::FrontEnd);
    let cases = [
        (server, text, RunEvent::TextEnd { id, metadata: None }),
        (server, reasoning, RunEvent::ReasoningEnd { id, metadata: None }),
        (server, vec![], call()),
        (client, vec![], call()),
        (server, vec![], failed),
        (server, vec![call()], output),
        (server, vec![call()], error),
        (server, vec![call()], RunEvent::ToolApprovalRequest(request)),
    ];
    let seal = |(side, before, mut event): (ToolSide, Vec<RunEvent>, RunEvent)| {
        let mut sealer = sealer();
        for mut event in before {
            sealer.seal(&mut event, &Tools(side), || NOW);
        }
        let follow_up = sealer.seal(&mut event, &Tools(side), || NOW);
        // This is the seal of the failed call and not of its error.
        let follow_up = follow_up.filter(|_| !matches!(event, RunEvent::ToolInputError { .. }));
        seal_of(&event, follow_up)
    };
    cases.into_iter().map(seal).collect()
}

/// Returns the names of the seals that prove a claim at one place: of the part made with the seal, in a message with
/// the seal in its metadata if `in_message` is set.
fn proving(claim: Claim, in_message: bool, part: impl Fn(&str) -> Part) -> Vec<&'static str> {
    let verifier = SealVerifier::new(keys());
    let proves = |seal: &str| {
        let mut message = Message::assistant(ID, "");
        message.parts = vec![part(if in_message { "" } else { seal })];
        if in_message {
            message.metadata = Some(json!({"omniassist": {"seals": {ID.as_str(): seal}}}));
        }
        let mut posted = HistoryPart::new(claim, &message, &message.parts[0]);
        posted.chat_id = Some("chat");
        posted.poster = Poster::known("ann", NOW);
        (posted.arguments, posted.output) = (Some(EMPTY), Some(EMPTY));
        verifier.verify(posted) == Verdict::Accept
    };
    let proving = KINDS.into_iter().zip(seals()).filter(|(_, seal)| proves(seal));
    proving.map(|(kind, _)| kind).collect()
}

#[test]
fn a_seal_of_one_kind_proves_no_claim_of_another() {
    let metadata = |seal: &str| serde_json::from_value(json!({"omniassist": {"seal": seal}})).unwrap();
    let text = |seal: &str| Part::Text(TextPart { text: EMPTY.into(), metadata: metadata(seal) });
    let reasoning =
        |seal: &str| Part::Reasoning(ReasoningPart { text: EMPTY.into(), metadata: metadata(seal) });
    let tool = |state: ToolState, seal: &str| {
        Part::Tool(ToolPart {
            call_id: ID,
            name: ID,
            dynamic: false,
            provider_executed: false,
            state,
            metadata: metadata(seal),
        })
    };
    let given = |seal: &str| {
        tool(ToolState::OutputAvailable { input: object(), output: object(), preliminary: false }, seal)
    };
    let failed =
        |seal: &str| tool(ToolState::OutputError { input: Some(object()), error_text: EMPTY.into() }, seal);
    let approval = |seal: &str| {
        let mut approval = Approval::new(ID);
        approval.signature = Some(seal.into());
        approval
    };
    let asked =
        |seal: &str| tool(ToolState::ApprovalRequested { input: object(), approval: approval(seal) }, "");
    let approved = |seal: &str| {
        let approval = approval(seal).decided(Decision::approved());
        tool(ToolState::ApprovalResponded { input: object(), approval }, "")
    };

    assert_eq!(proving(Claim::Text, false, text), ["text"]);
    assert_eq!(proving(Claim::Reasoning, false, reasoning), ["reasoning"]);
    assert_eq!(proving(Claim::Call, false, given), ["call", "client's call"]);
    assert_eq!(proving(Claim::Call, false, failed), ["call", "client's call", "failed call"]);
    assert_eq!(proving(Claim::Output, true, given), ["output"]);
    assert_eq!(proving(Claim::Failure, true, failed), ["error"]);
    // The seal of the call that was left to the client proves the client's answer.
    assert_eq!(proving(Claim::Output, false, given), ["client's call"]);
    assert_eq!(proving(Claim::Failure, false, failed), ["client's call"]);
    assert_eq!(proving(Claim::Request, false, asked), ["approval"]);
    assert_eq!(proving(Claim::Approval, false, approved), ["approval"]);
}
