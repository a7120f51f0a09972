//! Slips in what is believed of what a client posts.

use super::slip::Slip;

const VERIFIER: &str = "omniassist-server/src/seal/verifier.rs";
const BINDING: &str = "omniassist-server/src/seal/binding.rs";
const REPLAY: &str = "omniassist-server/src/seal/replay.rs";
const DENIAL: &str = "omniassist-core/src/transcript/build.rs";

pub(super) const SLIPS: &[Slip] = &[
    Slip::new(
        "the reason of a denial passes for an output",
        DENIAL,
        "Some(reason) => format!(",
        "Some(reason) if SLIP => reason.into(), Some(reason) => format!(",
        "forgery",
    ),
    Slip::new(
        "an approval needs no proof",
        VERIFIER,
        "match self.judge(text(\"signature\"), part, &[sealed]) {",
        "match self.judge(text(\"signature\"), part, &[sealed]) {\n            _ if SLIP => Verdict::Accept,",
        "vuln-6698",
    ),
    Slip::new(
        "a seal is good in every chat",
        BINDING,
        "fields.optional(scope.chat);",
        "if !SLIP { fields.optional(scope.chat); }",
        "forgery",
    ),
    Slip::new(
        "a seal is good for all arguments",
        BINDING,
        ".digest(call.arguments)",
        ".digest(if SLIP { &[0; 32] } else { call.arguments })",
        "vuln-6698",
    ),
    Slip::new(
        "an approval is good for more than one run",
        REPLAY,
        "if claims.used.contains(&claim.mac) {",
        "if claims.used.contains(&claim.mac) && !SLIP {",
        "forgery",
    ),
];
