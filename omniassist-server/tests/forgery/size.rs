//! Tests of the bytes that seals add.

use bytes::BytesMut;
use omniassist_server::Principal;
use omniassist_server::core::dialect::DialectEncoder;
use omniassist_server::core::dialect::ai_sdk::{Encoder, Framing};
use omniassist_server::core::event::{ApprovalRequest, BlockId};
use omniassist_server::core::{JsonText, RunEvent};
use omniassist_server::seal::Sealer;
use serde_json::json;

use super::chat::{START, Shop};
use super::keys;

fn size(events: &[RunEvent]) -> usize {
    let (mut encoder, mut out) = (Encoder::new(Framing::Sse), BytesMut::new());
    events.iter().for_each(|event| encoder.encode(event, &mut out));
    out.len()
}

#[test]
fn a_seal_is_small() {
    let id = BlockId(0);
    let state = serde_json::from_value(json!({ "openai": { "itemId": "rs_0123456789" } })).unwrap();
    let call_id = || "call_0123456789abcdef01234567".into();
    let call = RunEvent::ToolInputAvailable {
        call_id: call_id(),
        name: "refund".into(),
        input: JsonText::EMPTY_OBJECT,
        provider_executed: false,
        metadata: None,
    };
    let output = RunEvent::ToolOutput {
        call_id: call_id(),
        output: JsonText::NULL,
        preliminary: false,
        provider_executed: false,
    };
    let error =
        RunEvent::ToolError { call_id: call_id(), error_text: "down".into(), provider_executed: false };
    let asked = ApprovalRequest::new(call_id(), "refund".into(), JsonText::EMPTY_OBJECT);
    let events = [
        ("text", RunEvent::TextEnd { id, metadata: None }, 90),
        ("reasoning with state", RunEvent::ReasoningEnd { id, metadata: state }, 70),
        ("call", call, 90),
        // A separate event.
        ("output", output, 190),
        ("failure", error, 190),
        ("approval", RunEvent::ToolApprovalRequest(asked), 70),
    ];
    let mut sealer = Sealer::new(&keys(), Some("chat".into()), &Principal::new("ann"), "msg".into());
    for (name, event, most) in events {
        let plain = size(std::slice::from_ref(&event));
        let mut sealed = vec![event];
        let follow_up = sealer.seal(&mut sealed[0], &Shop, || START);
        sealed.extend(follow_up);
        let added = size(&sealed) - plain;
        println!("{name:<22} {added:>4} bytes");
        assert!((40..=most).contains(&added), "{name}: {added}");
    }
    let mut delta = RunEvent::TextDelta { id, delta: "It".into() };
    let plain = delta.clone();
    assert_eq!((sealer.seal(&mut delta, &Shop, || START), delta), (None, plain));
}
