//! The chunks that bring a piece of text or of a thought: nearly all that there are.

use super::wire::WireUsage;
use crate::provider::lenient::Str;
use crate::provider::plain::{Plain, Seen};

/// What a chunk says that says nothing else but the counts so far.
#[derive(Debug, Default)]
pub(super) struct Words<'a> {
    pub(super) text: Str<'a>,
    pub(super) thought: Option<bool>,
    pub(super) usage: WireUsage,
}

impl<'a> Words<'a> {
    /// Reads a chunk that is plain, has one candidate with one part, and holds nothing that is read but words, counts,
    /// and the names of the answer and the model, which its first chunk gave. `None` says nothing about the chunk, and
    /// leaves here what is of no use.
    pub(super) fn read(&mut self, data: &'a str) -> Option<()> {
        let (mut candidates, mut usage) = (Seen::default(), Seen::default());
        let (mut response_id, mut model_version) = (Seen::default(), Seen::default());
        Plain::read(data, |json| {
            json.object(|key, json| match key {
                b"responseId" => response_id.set(json.skip()),
                b"modelVersion" => model_version.set(json.skip()),
                b"candidates" => candidates.set(json.only(|json| self.candidate(json))),
                b"usageMetadata" => usage.set(self.usage.read(json)),
                b"promptFeedback" | b"error" => None,
                _ => json.skip(),
            })
        })
    }

    fn candidate(&mut self, json: &mut Plain<'a>) -> Option<()> {
        let (mut index, mut content, mut finish) = (Seen::default(), Seen::default(), Seen::default());
        json.object(|key, json| match key {
            b"index" => index.set((json.number()? == 0).then_some(())),
            b"content" => content.set(self.content(json)),
            b"finishReason" => finish.set(json.null()),
            b"groundingMetadata" | b"citationMetadata" => None,
            _ => json.skip(),
        })
    }

    fn content(&mut self, json: &mut Plain<'a>) -> Option<()> {
        let mut parts = Seen::default();
        json.object(|key, json| match key {
            b"parts" => parts.set(json.only(|json| self.part(json))),
            _ => json.skip(),
        })
    }

    fn part(&mut self, json: &mut Plain<'a>) -> Option<()> {
        json.object(|key, json| match key {
            b"text" => self.text.set(json.text()),
            b"thought" if self.thought.is_none() => {
                self.thought = Some(json.bool()?);
                Some(())
            }
            b"thought"
            | b"thoughtSignature"
            | b"functionCall"
            | b"inlineData"
            | b"fileData"
            | b"executableCode"
            | b"codeExecutionResult" => None,
            _ => json.skip(),
        })
    }
}

#[cfg(test)]
mod tests {
    use omniassist_core::Limits;
    use proptest::prelude::*;

    use super::super::decode::Reader;
    use super::*;
    use crate::provider::plain::cases::{
        check_all, just, list, number, object, one_of, opened, outcome, string,
    };
    use crate::provider::wire::EventReader;

    fn started() -> Reader {
        let opening = r#"{"responseId":"r","candidates":[{"content":{"parts":[{"text":"a"}]}}]}"#;
        opened(Reader::new(&Limits::default(), "call".to_owned()), &[opening])
    }

    #[test]
    fn deltas_of_the_api_are_plain() {
        for data in [
            r#"{"candidates":[{"content":{"parts":[{"text":" token"}],"role":"model"},"index":0}],
                "modelVersion":"gemini-x","responseId":"0123","usageMetadata":{"candidatesTokenCount":13,
                "promptTokensDetails":[{"modality":"TEXT","tokenCount":19}],"serviceTier":"standard"}}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"So,\n","thought":true}]}}]}"#,
        ] {
            assert!(Words::default().read(data).is_some(), "{data}");
        }
    }

    #[test]
    fn what_is_read_here_serde_would_read_alike() {
        let part = vec![("text", string()), ("thought", one_of(&["true", "false", "null"]))];
        let rare = [
            "thoughtSignature",
            "functionCall",
            "inlineData",
            "fileData",
            "executableCode",
            "codeExecutionResult",
        ];
        let content = vec![("parts", list(object(part, &rare))), ("role", just("\"model\""))];
        let candidate = vec![
            ("content", object(content, &[])),
            ("index", one_of(&["0", "1", "null", "0.0"])),
            ("finishReason", one_of(&["null", "\"STOP\""])),
        ];
        let counts = vec![
            ("promptTokenCount", number()),
            ("toolUsePromptTokenCount", number()),
            ("candidatesTokenCount", number()),
            ("thoughtsTokenCount", number()),
            ("totalTokenCount", number()),
            ("cachedContentTokenCount", number()),
            ("promptTokensDetails", list(just(r#"{"modality":"TEXT","tokenCount":19}"#))),
        ];
        let chunk = vec![
            ("candidates", list(object(candidate, &["groundingMetadata", "citationMetadata"]))),
            ("modelVersion", string()),
            ("responseId", string()),
            ("usageMetadata", prop_oneof![object(counts, &[]), just("{}")].boxed()),
        ];
        check_all(&object(chunk, &["promptFeedback", "error"]), |data| {
            let (mut plain, mut parsed) = (started(), started());
            let plain = outcome(&mut plain, |reader, out| reader.event("", data, out));
            let parsed = outcome(&mut parsed, |reader, out| reader.parsed(data, out));
            prop_assert_eq!(plain, parsed);
            Ok(Words::default().read(data).is_some())
        });
    }
}
