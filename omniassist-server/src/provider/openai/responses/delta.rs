//! The events that bring a piece of an answer: nearly all that there are.

use super::wire::Event;
use crate::provider::lenient::{Num, Str};
use crate::provider::plain::Plain;

/// A piece of text, of reasoning or of arguments, and where it belongs.
#[derive(Debug, Default)]
pub(super) struct Delta<'a> {
    /// What it is a piece of, as far as its data say.
    pub(super) of: Option<DeltaOf>,
    pub(super) delta: Str<'a>,
    pub(super) item_id: Str<'a>,
    pub(super) output_index: Num,
    pub(super) content_index: Num,
    pub(super) summary_index: Num,
}

/// What a delta is a piece of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeltaOf {
    Text,
    Refusal,
    Summary,
    Reasoning,
    /// The arguments of a function, or the input of a custom tool.
    Arguments,
}

impl DeltaOf {
    /// By the name of the event; `None` for one that is no delta, or of nothing that is read.
    pub(super) fn named(kind: &str) -> Option<Self> {
        Some(match kind {
            "response.output_text.delta" => Self::Text,
            "response.refusal.delta" => Self::Refusal,
            "response.reasoning_summary_text.delta" => Self::Summary,
            "response.reasoning_text.delta" => Self::Reasoning,
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                Self::Arguments
            }
            _ => return None,
        })
    }
}

impl<'a> Delta<'a> {
    /// Reads a delta that is plain and says what it is. `None` says nothing about the event, and leaves here what is of
    /// no use.
    pub(super) fn read(&mut self, data: &'a str) -> Option<()> {
        Plain::read(data, |json| {
            json.object(|key, json| match key {
                b"type" if self.of.is_none() => {
                    self.of = Some(DeltaOf::named(json.str()?)?);
                    Some(())
                }
                b"delta" => self.delta.set(json.text()),
                b"item_id" => self.item_id.set(json.text()),
                b"output_index" => self.output_index.set(json.number()),
                b"content_index" => self.content_index.set(json.number()),
                b"summary_index" => self.summary_index.set(json.number()),
                b"type" | b"text" | b"refusal" | b"input" | b"arguments" | b"annotation" | b"item"
                | b"response" | b"error" => None,
                _ => json.skip(),
            })
        })
    }

    /// The same of an event that serde read.
    pub(super) fn of_event(event: Event<'a>) -> Self {
        let Event { delta, item_id, output_index, content_index, summary_index, .. } = event;
        Self { of: None, delta, item_id, output_index, content_index, summary_index }
    }
}

#[cfg(test)]
mod tests {
    use omniassist_core::Limits;
    use proptest::prelude::*;

    use super::super::decode::Reader;
    use super::*;
    use crate::provider::plain::cases::{check_all, just, number, object, opened, outcome, string};
    use crate::provider::wire::EventReader;

    const OPENING: [&str; 3] = [
        r#"{"type":"response.created","response":{"id":"r","model":"m"}}"#,
        r#"{"type":"response.output_item.added","item":{"id":"m1","type":"message"},"output_index":0}"#,
        r#"{"type":"response.output_item.added","item":{"id":"c1","type":"function_call"},"output_index":1}"#,
    ];

    fn started() -> Reader {
        opened(Reader::new(&Limits::default()), &OPENING)
    }

    #[test]
    fn deltas_of_the_api_are_plain() {
        for data in [
            r#"{"type":"response.output_text.delta","content_index":0,"delta":" token","item_id":"m1",
                "logprobs":[],"obfuscation":"0Aq","output_index":0,"sequence_number":9}"#,
            r#"{"type":"response.function_call_arguments.delta","delta":"{\"a\":","item_id":"c1",
                "obfuscation":"x","output_index":1,"sequence_number":9}"#,
            r#"{"type":"response.reasoning_summary_text.delta","delta":"So,\n","item_id":"r1",
                "output_index":0,"sequence_number":9,"summary_index":0}"#,
        ] {
            assert!(Delta::default().read(data).is_some(), "{data}");
        }
    }

    #[test]
    fn what_is_read_here_serde_would_read_alike() {
        let kinds = [
            "response.output_text.delta",
            "response.refusal.delta",
            "response.reasoning_summary_text.delta",
            "response.reasoning_text.delta",
            "response.function_call_arguments.delta",
            "response.custom_tool_call_input.delta",
            "response.output_text.done",
            "",
        ];
        let one_of = |all: &[&'static str]| {
            proptest::sample::select(all.to_vec()).prop_map(|name| format!("\"{name}\"")).boxed()
        };
        let fields = vec![
            ("type", one_of(&kinds)),
            ("delta", string()),
            ("item_id", one_of(&["m1", "c1", "new", ""])),
            ("output_index", number()),
            ("content_index", number()),
            ("summary_index", number()),
            ("sequence_number", number()),
            ("obfuscation", string()),
            ("logprobs", just("[]")),
        ];
        let rare = ["text", "refusal", "input", "arguments", "annotation", "item", "response", "error"];
        check_all(&object(fields, &rare), |data| {
            let (mut plain, mut parsed) = (started(), started());
            let plain = outcome(&mut plain, |reader, out| reader.event("n", data, out));
            let parsed = outcome(&mut parsed, |reader, out| reader.parsed("n", data, out));
            prop_assert_eq!(plain, parsed);
            Ok(Delta::default().read(data).is_some())
        });
    }
}
