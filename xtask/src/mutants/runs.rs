//! Slips in what a run does, and in how one request follows another.

use super::slip::Slip;

const MACHINE: &str = "omniassist-core/src/run/machine.rs";
const OBLIGATION: &str = "omniassist-core/src/run/obligation.rs";
const OUTCOME: &str = "omniassist-core/src/run/outcome.rs";
const REQUEST: &str = "omniassist-core/src/dialect/ai_sdk/request.rs";
const POSTED: &str = "omniassist-server/src/http/posted.rs";
const SERVICE: &str = "omniassist-server/src/http/service.rs";
const LIVE: &str = "omniassist-server/src/engine/live.rs";

pub(super) const SLIPS: &[Slip] = &[
    Slip::new(
        "messageId is not that of the continued message",
        MACHINE,
        "let message_id = continued.map_or_else(",
        "let message_id = continued.filter(|_| !SLIP).map_or_else(",
        "ledger-forms",
    ),
    Slip::new(
        "calls keep ids that came before",
        MACHINE,
        "let id = unused_call_id(id, transcript, left_out_calls, turn);",
        "let id = if SLIP { id } else { unused_call_id(id, transcript, left_out_calls, turn) };",
        "ledger-parts",
    ),
    Slip::new(
        "start-step before the outcome of an approval",
        OBLIGATION,
        "        self.state.calls = step.answered",
        "        if SLIP { events.push(RunEvent::StepStart); }\n        self.state.calls = step.answered",
        "ledger-approvals",
    ),
    Slip::new(
        "a run that waits says that it has stopped",
        OUTCOME,
        "let (reason, usage) = (FinishReason::ToolCalls, self.state.usage);",
        "let (reason, usage) = (if SLIP { FinishReason::Stop } else { FinishReason::ToolCalls }, self.state.usage);",
        "ledger-approvals",
    ),
    Slip::new(
        "an answer further up is not gone on with",
        REQUEST,
        "let is_it = |message: &Message| ",
        "let is_it = |message: &Message| !SLIP && ",
        "ledger-flow",
    ),
    Slip::new(
        "version 5 is asked for approvals",
        POSTED,
        "request.abilities.approvals = version > ClientVersion::V5;",
        "request.abilities.approvals = SLIP || version > ClientVersion::V5;",
        "ledger-approvals",
    ),
    Slip::new(
        "the stream to resume is no stream and no 204",
        SERVICE,
        "(ChatRoute::Stream, &Method::GET) => reply::no_content(),",
        "(ChatRoute::Stream, &Method::GET) if SLIP => reply::json(StatusCode::OK, &json!({})),\n            (ChatRoute::Stream, &Method::GET) => reply::no_content(),",
        "ledger-flow",
    ),
    Slip::new(
        "a repeated post runs twice",
        LIVE,
        "Some(before) if before.post.as_ref() == Some(post) =>",
        "Some(before) if before.post.as_ref() == Some(post) && !SLIP =>",
        "ledger-flow",
    ),
    Slip::new(
        "a message does not take the place of the answer",
        LIVE,
        "if let Some(before) = before {",
        "if let Some(before) = before.filter(|_| !SLIP) {",
        "ledger-flow",
    ),
];
