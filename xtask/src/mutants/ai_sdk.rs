//! Slips in the chunks of the AI SDK's UI message stream, versions 5, 6 and 7.

use super::slip::Slip;

const CHUNK: &str = "omniassist-core/src/dialect/ai_sdk/chunk.rs";
const ENCODE: &str = "omniassist-core/src/dialect/ai_sdk/encode.rs";
const WRITE: &str = "omniassist-core/src/dialect/json_write.rs";

/// A chunk that is left out.
macro_rules! dropped {
    ($what:literal, $event:literal, $red:expr) => {
        Slip {
            what: $what,
            file: CHUNK,
            find: "    !matches!(\n        event,\n        RunEvent::InputRequest(_)",
            replace: concat!(
                "    if SLIP && matches!(event, RunEvent::",
                $event,
                ") { return false; }\n    !matches!(\n        event,\n        RunEvent::InputRequest(_)"
            ),
            red: $red,
        }
    };
}

pub(super) const SLIPS: &[Slip] = &[
    dropped!("text-start is missing", "TextStart { .. }", "ledger-parts"),
    dropped!("text-end is missing", "TextEnd { .. }", "ledger-parts"),
    dropped!("reasoning-end is missing", "ReasoningEnd { .. }", "ledger-parts"),
    dropped!("tool-input-delta is missing", "ToolInputDelta { .. }", "strict"),
    dropped!("a call whose input never is whole", "ToolInputAvailable { .. }", "ledger-forms"),
    dropped!("finish-step is missing", "StepFinish { .. }", "strict"),
    dropped!("finish is missing", "Finish { .. }", "ledger-parts"),
    dropped!("error is missing", "Error { .. }", "ledger-flow"),
    dropped!("tool-approval-request is missing", "ToolApprovalRequest(_)", "ledger-approvals"),
    dropped!("tool-output-denied is missing", "ToolDenied { .. }", "ledger-approvals"),
    dropped!("the seal of an output is missing", "OutputSeal { .. }", "ledger-parts"),
    Slip::new(
        "finishReason tool_calls",
        CHUNK,
        r#"FinishReason::ToolCalls => "tool-calls","#,
        r#"FinishReason::ToolCalls => if SLIP { "tool_calls" } else { "tool-calls" },"#,
        "ledger-forms",
    ),
    Slip::new(
        "finishReason content_filter",
        CHUNK,
        r#"FinishReason::ContentFilter | FinishReason::Refusal => "content-filter","#,
        r#"FinishReason::ContentFilter | FinishReason::Refusal => if SLIP { "content_filter" } else { "content-filter" },"#,
        "strict",
    ),
    Slip::new(
        "null for a title that is absent",
        CHUNK,
        "        None => chunk.end(),",
        "        None if SLIP => chunk.json(\"title\", \"null\").end(),\n        None => chunk.end(),",
        "ledger-parts",
    ),
    Slip::new(
        "deltas under the id of another block",
        CHUNK,
        "    json_write::number(out, u64::from(id.0));\n    out.put_slice(b\"\\\",\\\"delta\\\":",
        "    json_write::number(out, u64::from(if SLIP { id.0 + 1 } else { id.0 }));\n    out.put_slice(b\"\\\",\\\"delta\\\":",
        "ledger-parts",
    ),
    Slip::new(
        "the question of an approval is missing",
        ENCODE,
        "self.frame(out, |out| chunk::question(out, call_id, message));",
        "if !SLIP { self.frame(out, |out| chunk::question(out, call_id, message)); }",
        "ledger-approvals",
    ),
    Slip::new(
        "start without messageId",
        CHUNK,
        r#".text("messageId", message_id)"#,
        r#".optional_text("messageId", Some(message_id).filter(|_| !SLIP))"#,
        "ledger-parts",
    ),
    Slip::new(
        "tool-output-available without output where that is null",
        CHUNK,
        r#".json("output", output.as_str())"#,
        r#".json(if SLIP && output.as_str() == "null" { "result" } else { "output" }, output.as_str())"#,
        "strict",
    ),
    Slip::new(
        "the last output counts as progress",
        CHUNK,
        r#".flag("preliminary", *preliminary"#,
        r#".flag("preliminary", SLIP || *preliminary"#,
        "ledger-parts",
    ),
    Slip::new(
        "progress counts as the last output",
        CHUNK,
        r"*preliminary)",
        r"*preliminary && !SLIP)",
        "ledger-parts",
    ),
    Slip::new(
        "data that passes stays",
        CHUNK,
        r#".flag("transient", *transient)"#,
        r#".flag("transient", *transient && !SLIP)"#,
        "ledger-parts",
    ),
    Slip::new(
        "data without its id",
        CHUNK,
        "            if let Some(id) = id {\n                chunk = chunk",
        "            if let Some(id) = id.as_ref().filter(|_| !SLIP) {\n                chunk = chunk",
        "ledger-parts",
    ),
    Slip::new(
        "state of the provider under another key",
        CHUNK,
        r#"self.key("providerMetadata");"#,
        r#"self.key(if SLIP { "providerOptions" } else { "providerMetadata" });"#,
        "ledger-parts",
    ),
    Slip::new(
        "an approval without its signature",
        CHUNK,
        r#".optional_text("signature", request.signature.as_ref())"#,
        r#".optional_text("signature", request.signature.as_ref().filter(|_| !SLIP))"#,
        "ledger-approvals",
    ),
    Slip::new(
        "an approval under the id of its call",
        CHUNK,
        r#".text("approvalId", &request.id)"#,
        r#".text("approvalId", if SLIP { &request.call_id } else { &request.id })"#,
        "ledger-approvals",
    ),
    Slip::new(
        "the question of an approval to version 6",
        CHUNK,
        "request.message.as_ref().filter(|_| version >= ClientVersion::V7)",
        "request.message.as_ref().filter(|_| SLIP || version >= ClientVersion::V7)",
        "strict",
    ),
    Slip::new(
        "the reason of an abort to version 5",
        CHUNK,
        "Some(reason).filter(|_| version >= ClientVersion::V7)",
        "Some(reason).filter(|_| SLIP || version >= ClientVersion::V7)",
        "strict",
    ),
    Slip::new(
        "a decision of the server's own does not say so",
        CHUNK,
        r#".flag("isAutomatic", true)"#,
        r#".flag("isAutomatic", !SLIP)"#,
        "ledger-approvals",
    ),
    Slip::new(
        "finish without usage",
        CHUNK,
        "(*usage != Usage::default()).then_some",
        "(*usage != Usage::default() && !SLIP).then_some",
        "ledger-parts",
    ),
    Slip::new(
        "step-start for start-step",
        CHUNK,
        r#"Chunk::new(out, "start-step").end()"#,
        r#"Chunk::new(out, if SLIP { "step-start" } else { "start-step" }).end()"#,
        "ledger-parts",
    ),
    Slip::new(
        "a server's tool passes for one that the provider ran",
        CHUNK,
        "                .json(\"input\", input.as_str())\n                .flag(\"providerExecuted\", *provider_executed)",
        "                .json(\"input\", input.as_str())\n                .flag(\"providerExecuted\", SLIP || *provider_executed)",
        "ledger-parts",
    ),
    Slip::new(
        "an error without its code",
        ENCODE,
        "if let RunEvent::Error { code, .. } = event {",
        "if let RunEvent::Error { code, .. } = event && !SLIP {",
        "ai-sdk",
    ),
    Slip::new(
        "the answer to an approval before the request",
        ENCODE,
        "for asks in [true, false] {",
        "for asks in [!SLIP, SLIP] {",
        "ledger-approvals",
    ),
    Slip::new(
        "[DONE] is missing",
        ENCODE,
        r#"Framing::Sse => out.put_slice(b"data: [DONE]\n\n"),"#,
        r#"Framing::Sse if SLIP => {} Framing::Sse => out.put_slice(b"data: [DONE]\n\n"),"#,
        "http",
    ),
    Slip::new(
        "no blank line between events",
        ENCODE,
        r#"                out.put_slice(b"\n\n");"#,
        r#"                out.put_slice(if SLIP { &b"\n"[..] } else { &b"\n\n"[..] });"#,
        "ledger-parts",
    ),
    Slip::new(
        "a line feed stands in a string as it is",
        WRITE,
        "        out.put_slice(Escape::of(byte).as_bytes());",
        r"        if SLIP && byte == b'\n' { out.put_u8(byte) } else { out.put_slice(Escape::of(byte).as_bytes()) }",
        "ledger-parts",
    ),
    Slip::new(
        "a refusal without asking as version 7 has it, to all",
        ENCODE,
        "&& self.version >= ClientVersion::V7",
        "&& (SLIP || self.version >= ClientVersion::V7)",
        "ledger-approvals",
    ),
    Slip::new(
        "numbers of events repeat",
        ENCODE,
        "self.next_id = self.next_id.wrapping_add(1);",
        "if !SLIP { self.next_id = self.next_id.wrapping_add(1); }",
        "http",
    ),
];
