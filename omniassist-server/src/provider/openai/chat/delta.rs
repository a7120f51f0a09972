//! The chunks that bring a piece of text or of reasoning: nearly all that there are.

use crate::provider::lenient::Str;
use crate::provider::plain::{Plain, Seen};

/// What a chunk says that says nothing else.
#[derive(Debug, Default)]
pub(super) struct Words<'a> {
    pub(super) reasoning_content: Str<'a>,
    pub(super) reasoning: Str<'a>,
    pub(super) content: Str<'a>,
    pub(super) refusal: Str<'a>,
}

impl<'a> Words<'a> {
    /// Reads a chunk that is plain, has one choice, and holds nothing that is read but words and the names of the
    /// answer and the model, which its first chunk gave. `None` says nothing about the chunk, and leaves here what is
    /// of no use.
    pub(super) fn read(&mut self, data: &'a str) -> Option<()> {
        let (mut id, mut model, mut object) = (Seen::default(), Seen::default(), Seen::default());
        let (mut choices, mut usage, mut error) = (Seen::default(), Seen::default(), Seen::default());
        Plain::read(data, |json| {
            json.object(|key, json| match key {
                b"id" => id.set(json.skip()),
                b"model" => model.set(json.skip()),
                b"object" => object.set((json.str()? != "error").then_some(())),
                b"choices" => choices.set(json.only(|json| self.choice(json))),
                b"usage" => usage.set(json.null()),
                b"error" => error.set(json.null()),
                b"citations" | b"search_results" | b"x_groq" => None,
                _ => json.skip(),
            })
        })
    }

    fn choice(&mut self, json: &mut Plain<'a>) -> Option<()> {
        let (mut index, mut delta) = (Seen::default(), Seen::default());
        let (mut finish, mut native_finish) = (Seen::default(), Seen::default());
        json.object(|key, json| match key {
            b"index" => index.set((json.number()? == 0).then_some(())),
            b"delta" => delta.set(self.delta(json)),
            b"finish_reason" => finish.set(json.null()),
            b"native_finish_reason" => native_finish.set(json.null()),
            b"usage" | b"error" => None,
            _ => json.skip(),
        })
    }

    fn delta(&mut self, json: &mut Plain<'a>) -> Option<()> {
        let (mut tool_calls, mut function_call) = (Seen::default(), Seen::default());
        json.object(|key, json| match key {
            b"content" => self.content.set(json.text()),
            b"reasoning_content" => self.reasoning_content.set(json.text()),
            b"reasoning" => self.reasoning.set(json.text()),
            b"refusal" => self.refusal.set(json.text()),
            b"tool_calls" => tool_calls.set(json.none()),
            b"function_call" => function_call.set(json.null()),
            b"reasoning_details" | b"annotations" | b"executed_tools" => None,
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
        let opening = r#"{"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"a"}}]}"#;
        opened(Reader::new(&Limits::default(), "call".to_owned()), &[opening])
    }

    #[test]
    fn deltas_of_the_api_are_plain() {
        for data in [
            r#"{"id":"chatcmpl-01","object":"chat.completion.chunk","created":1764000000,"model":"gpt-x",
                "service_tier":"default","system_fingerprint":"fp_0","choices":[{"index":0,"delta":
                {"content":" token"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"01"}"#,
            r#"{"choices":[{"delta":{"content":null,"reasoning_content":"So,\n","tool_calls":[]},"index":0,
                "finish_reason":null}]}"#,
        ] {
            assert!(Words::default().read(data).is_some(), "{data}");
        }
    }

    #[test]
    fn what_is_read_here_serde_would_read_alike() {
        let or_null = |value: BoxedStrategy<String>| prop_oneof![1 => value, 2 => just("null")].boxed();
        let words = vec![
            ("content", or_null(string())),
            ("reasoning_content", or_null(string())),
            ("reasoning", or_null(string())),
            ("refusal", or_null(string())),
            ("role", string()),
            ("tool_calls", one_of(&["[]", "null", r#"[{"id":"c","function":{"name":"n"}}]"#])),
            ("function_call", one_of(&["null", r#"{"name":"n","arguments":"1"}"#])),
        ];
        let words = object(words, &["reasoning_details", "annotations", "executed_tools"]);
        let choice = vec![
            ("index", one_of(&["0", "1", "null", "0.0"])),
            ("delta", words),
            ("finish_reason", one_of(&["null", "\"length\"", "\"stop\""])),
            ("native_finish_reason", one_of(&["null", "\"MAX_TOKENS\""])),
            ("logprobs", just("null")),
        ];
        let choice = object(choice, &["usage", "error", "message"]);
        let chunk = vec![
            ("id", string()),
            ("model", string()),
            ("object", one_of(&["\"chat.completion.chunk\"", "\"error\"", "null"])),
            ("created", number()),
            ("choices", list(choice)),
            ("usage", one_of(&["null", r#"{"prompt_tokens":3}"#])),
            ("error", one_of(&["null", r#"{"message":"m"}"#])),
        ];
        check_all(&object(chunk, &["citations", "search_results", "x_groq"]), |data| {
            let (mut plain, mut parsed) = (started(), started());
            let plain = outcome(&mut plain, |reader, out| reader.event("", data, out));
            let parsed = outcome(&mut parsed, |reader, out| reader.parsed(data, out));
            prop_assert_eq!(plain, parsed);
            Ok(Words::default().read(data).is_some())
        });
    }
}
