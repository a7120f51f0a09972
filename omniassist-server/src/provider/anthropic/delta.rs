//! The events that bring a piece of a content block: nearly all that there are.

use super::wire::Delta;
use crate::provider::lenient::Num;
use crate::provider::plain::{Plain, Seen};

/// A piece of a block, and the block's index.
#[derive(Debug, Default)]
pub(super) struct BlockDelta<'a> {
    pub(super) index: Num,
    pub(super) delta: Delta<'a>,
}

impl<'a> BlockDelta<'a> {
    /// Reads a `content_block_delta` that is plain and says what it is. `None` says nothing about the event, and leaves
    /// here what is of no use.
    pub(super) fn read(&mut self, data: &'a str) -> Option<()> {
        let (mut kind, mut delta) = (Seen::default(), Seen::default());
        Plain::read(data, |json| {
            json.object(|key, json| match key {
                b"type" => kind.set((json.str()? == "content_block_delta").then_some(())),
                b"index" => self.index.set(json.number()),
                b"delta" => delta.set(self.delta.read(json)),
                b"content_block" | b"message" | b"usage" | b"error" => None,
                _ => json.skip(),
            })
        })?;
        (kind.is_set() && delta.is_set()).then_some(())
    }
}

impl<'a> Delta<'a> {
    fn read(&mut self, json: &mut Plain<'a>) -> Option<()> {
        json.object(|key, json| match key {
            b"type" => self.kind.set(json.text()),
            b"text" => self.text.set(json.text()),
            b"thinking" => self.thinking.set(json.text()),
            b"signature" => self.signature.set(json.text()),
            b"partial_json" => self.partial_json.set(json.text()),
            b"citation" | b"stop_reason" => None,
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
    use crate::provider::plain::cases::{check_all, just, number, object, one_of, opened, outcome, string};
    use crate::provider::wire::EventReader;

    const OPENING: [&str; 4] = [
        r#"{"type":"message_start","message":{"id":"m","model":"m"}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"thinking"}}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"c","name":"n"}}"#,
    ];

    fn started() -> Reader {
        opened(Reader::new(&Limits::default()), &OPENING)
    }

    #[test]
    fn deltas_of_the_api_are_plain() {
        for data in [
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" token"}   }"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"So\n"}}"#,
            r#"{"type":"content_block_delta","index":2,
                "delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}"#,
        ] {
            assert!(BlockDelta::default().read(data).is_some(), "{data}");
        }
    }

    #[test]
    fn what_is_read_here_serde_would_read_alike() {
        let kinds =
            ["text_delta", "thinking_delta", "signature_delta", "input_json_delta", "citations_delta", ""];
        let kind = proptest::sample::select(kinds.to_vec()).prop_map(|kind| format!("\"{kind}\"")).boxed();
        let delta = vec![
            ("type", kind),
            ("text", string()),
            ("thinking", string()),
            ("signature", string()),
            ("partial_json", string()),
            ("estimated_tokens", number()),
        ];
        let event = vec![
            ("type", one_of(&["\"content_block_delta\"", "\"message_delta\"", "null", "\"error\""])),
            ("index", number()),
            ("delta", object(delta, &["citation", "stop_reason"])),
            ("other", just("[{}]")),
        ];
        check_all(&object(event, &["content_block", "message", "usage", "error"]), |data| {
            let (mut plain, mut parsed) = (started(), started());
            let plain = outcome(&mut plain, |reader, out| reader.event("n", data, out));
            let parsed = outcome(&mut parsed, |reader, out| reader.parsed("n", data, out));
            prop_assert_eq!(plain, parsed);
            Ok(BlockDelta::default().read(data).is_some())
        });
    }
}
