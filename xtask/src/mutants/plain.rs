//! Slips in plain text, in objects, and in the events of a runtime of the host's own.

use super::slip::Slip;

const TEXT: &str = "omniassist-core/src/dialect/text.rs";
const OBJECT: &str = "omniassist-server/src/http/object.rs";
const COMPLETION: &str = "omniassist-server/src/http/completion.rs";
const POSTED: &str = "omniassist-server/src/http/posted.rs";
const ACCUMULATOR: &str = "omniassist-core/src/dialect/ai_sdk/runtime/accumulator.rs";

pub(super) const SLIPS: &[Slip] = &[
    Slip::new(
        "half a text ends like a whole one",
        TEXT,
        "        !self.ended_well\n",
        "        !self.ended_well && !SLIP\n",
        "plain",
    ),
    Slip::new(
        "half an object ends like a whole one",
        OBJECT,
        ".whole_only(true)",
        ".whole_only(!SLIP)",
        "plain",
    ),
    Slip::new(
        "a completion is text although chunks were asked for",
        COMPLETION,
        "Ok(match protocol {",
        "Ok(match if SLIP { Protocol::Text } else { protocol } {",
        "plain",
    ),
    Slip::new(
        "a page that reads text is offered the page's tools",
        POSTED,
        "request.abilities = ClientAbilities::none();",
        "if !SLIP { request.abilities = ClientAbilities::none(); }",
        "plain",
    ),
    Slip::new(
        "a part of a runtime's answer stays open when its step ends",
        ACCUMULATOR,
        "        self.parts.close_all(&mut out);\n        if self.step.take()",
        "        if !SLIP { self.parts.close_all(&mut out); }\n        if self.step.take()",
        "runtime",
    ),
    Slip::new(
        "a runtime's answer that failed ends well",
        ACCUMULATOR,
        "let reason = if self.failed {",
        "let reason = if self.failed && !SLIP {",
        "runtime",
    ),
    Slip::new(
        "a runtime's step has no end",
        ACCUMULATOR,
        "if self.step.take().is_some() {",
        "if self.step.take().is_some() && !SLIP {",
        "runtime",
    ),
    Slip::new(
        "a runtime's usage is that of its last agent",
        ACCUMULATOR,
        "        self.usage.add(usage);",
        "        if SLIP { self.usage = Usage::default(); }\n        self.usage.add(usage);",
        "runtime",
    ),
];
