//! Tests of the verification of a posted conversation.

use std::sync::atomic::{AtomicU8, Ordering};

use omniassist_core::message::{Message, Part, read};
use omniassist_core::run::NoTools;
use omniassist_core::verify::{Claim, HistoryPart, Poster, Verdict, Verifier, history};
use omniassist_core::{Limits, RunRequest};

/// A verifier that counts its digests. A digest consists of its number and the length of its input.
#[derive(Default)]
struct Counting(AtomicU8);

impl Verifier for Counting {
    fn verify(&self, part: HistoryPart<'_>) -> Verdict {
        let make = |arguments: &str| {
            let mut digest = [u8::try_from(arguments.len()).unwrap(); 32];
            digest[0] = self.0.fetch_add(1, Ordering::Relaxed);
            digest
        };
        let expected = if part.arguments == Some("{}") { (0, 2) } else { (1, 7) };
        let digest = part.arguments_digest(make).unwrap();
        assert_eq!((digest[0], digest[1]), expected);
        Verdict::Accept
    }
}

#[test]
fn the_claims_of_a_part_share_a_digest() {
    let part = |id: &str, input: &str| {
        format!(
            r#"{{"type":"tool-t","toolCallId":"{id}","state":"output-available","input":{input},"output":1,
                "callProviderMetadata":{{"p":{{}}}}}}"#
        )
    };
    let parts = [part("a", "{}"), part("b", r#"{"a":1}"#)].join(",");
    let json = format!(r#"[{{"id":"m","role":"assistant","parts":[{parts}]}}]"#);
    let messages = read::messages(&json.into(), &Limits::default()).unwrap();
    let verifier = Counting::default();
    history(&mut RunRequest::new(messages), Poster::anonymous(0), &NoTools, &verifier).unwrap();
    assert_eq!(verifier.0.into_inner(), 2, "each part must compute one digest");
    let (message, part) = (Message::user("u", "x"), Part::StepStart);
    let none = HistoryPart::new(Claim::Call, &message, &part);
    assert_eq!(none.arguments_digest(|_| [1; 32]), None);
}
