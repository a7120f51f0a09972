//! Tests of conversations that the provider compacts.

use std::sync::Arc;

use omniassist_server::core::message::{Message, Part, ProviderMetadata};
use omniassist_server::core::{RunEvent, Usage};
use omniassist_server::seal::SealKeys;
use omniassist_server::testing::{FakeProvider, Reply, ScriptedProvider, text};
use omniassist_server::{
    AnthropicProvider, Assistant, AssistantBuilder, History, LlmProvider, OpenAiProvider, Tool, ToolError,
};
use serde_json::{Value, json};

use super::{ask, talk};
use crate::anthropic::streams as claude;
use crate::openai::streams as gpt;
use crate::recorded::legal;

/// Encrypted content with characters that a JSON encoder may escape.
const OPAQUE: &str = "gAAAA+/=\u{2028}\"\\🦀";

#[derive(Debug, Clone, Copy, PartialEq)]
enum Api {
    Claude,
    Gpt,
}

const BOTH: [Api; 2] = [Api::Claude, Api::Gpt];

impl Api {
    fn provider(self, server: &FakeProvider, compaction: Option<u64>) -> Arc<dyn LlmProvider> {
        match self {
            Self::Claude => {
                let host = format!("http://{}", server.address());
                let builder = AnthropicProvider::builder().base_url(host).model("claude-opus-4-6");
                match compaction {
                    Some(tokens) => Arc::new(builder.compaction(tokens).build().unwrap()),
                    None => Arc::new(builder.build().unwrap()),
                }
            }
            Self::Gpt => {
                let builder = OpenAiProvider::builder().base_url(server.base_url()).model("gpt-5");
                match compaction {
                    Some(tokens) => Arc::new(builder.compaction(tokens).build().unwrap()),
                    None => Arc::new(builder.build().unwrap()),
                }
            }
        }
    }

    /// Returns the block that replaces the conversation, with an unknown field.
    fn block(self) -> Value {
        match self {
            Self::Claude => json!({
                "type": "compaction", "content": "The boat is called Marigold.", "encrypted_content": OPAQUE, "later": [1],
            }),
            Self::Gpt => {
                json!({"type": "compaction", "id": "cmp_1", "encrypted_content": OPAQUE, "later": {"a": 1}})
            }
        }
    }

    /// Returns the events of a block, in pieces if the API streams it in pieces.
    fn compaction(self) -> Vec<Value> {
        match self {
            Self::Claude => vec![
                claude::opened(0, json!({"type": "compaction", "content": null, "later": [1]})),
                claude::delta(0, json!({"type": "compaction_delta", "content": "The boat is "})),
                claude::delta(
                    0,
                    json!({"type": "compaction_delta", "content": "called Marigold.", "encrypted_content": OPAQUE}),
                ),
                claude::stopped(0),
            ],
            Self::Gpt => vec![
                gpt::added(0, json!({"type": "compaction", "id": "cmp_1", "encrypted_content": ""})),
                gpt::done(0, self.block()),
            ],
        }
    }

    fn said(self, words: &str) -> Vec<Value> {
        match self {
            Self::Claude => {
                let block = claude::opened(1, json!({"type": "text", "text": ""}));
                vec![block, claude::text(1, words), claude::stopped(1)]
            }
            Self::Gpt => {
                let content = json!([{"type": "output_text", "text": words, "annotations": []}]);
                vec![gpt::done(
                    1,
                    json!({"type": "message", "id": "msg_1", "role": "assistant", "content": content}),
                )]
            }
        }
    }

    fn called(self, id: &str) -> Vec<Value> {
        match self {
            Self::Claude => claude::call(1, id, "{}").to_vec(),
            Self::Gpt => {
                vec![gpt::done(1, gpt::function_call(&format!("fc_{id}"), id, "weather", "{}", "completed"))]
            }
        }
    }

    fn answer(self, pieces: &[Vec<Value>]) -> Reply {
        let pieces = pieces.concat();
        Reply::sse(match self {
            Self::Claude => {
                let calls = pieces.iter().any(|event| event["content_block"]["type"] == "tool_use");
                let mut end = claude::ended(if calls { "tool_use" } else { "end_turn" });
                if pieces.iter().any(|event| event["content_block"]["type"] == "compaction") {
                    end[0]["usage"] = json!({
                        "input_tokens": 23_000, "output_tokens": 1_000,
                        "iterations": [
                            {"type": "compaction", "input_tokens": 180_000, "output_tokens": 3_500, "cache_read_input_tokens": 7},
                            {"type": "message", "input_tokens": 23_000, "output_tokens": 1_000},
                        ],
                    });
                }
                claude::wire(&[&[claude::start("msg_1", json!([]))], &*pieces, &end].concat())
            }
            Self::Gpt => gpt::responses(&[&[gpt::created()], &*pieces, &[gpt::completed()]].concat()),
        })
    }

    /// Checks that a request is valid and returns its messages or items.
    fn conversation(self, body: &Value) -> Vec<Value> {
        let (faults, field) = match self {
            Self::Claude => (legal::anthropic::faults(body), "messages"),
            Self::Gpt => (legal::responses::faults(body), "input"),
        };
        assert!(faults.is_empty(), "{faults:?}: {body:#}");
        body[field].as_array().unwrap().clone()
    }

    fn is_compacted(self, body: &Value) -> bool {
        let items = self.conversation(body);
        match self {
            Self::Claude => {
                items[0]["content"][0]["text"] == "(The conversation begins.)"
                    && items[1]["content"][0] == self.block()
            }
            Self::Gpt => items[0] == self.block(),
        }
    }
}

fn builder(provider: Arc<dyn LlmProvider>) -> AssistantBuilder {
    let weather = async || Ok::<_, ToolError>("sunny");
    Assistant::builder(provider).seal_keys(SealKeys::new("k", [7; 32]).unwrap()).tool(Tool::new(
        "weather",
        "The weather",
        weather,
    ))
}

fn last_body(server: &FakeProvider) -> Value {
    server.requests().last().unwrap().json()
}

/// Runs a turn in which the API compacts a conversation of ten messages. Returns the server, the conversation and the
/// events.
async fn compacted(api: Api) -> (FakeProvider, Vec<Message>, Vec<RunEvent>) {
    let server = FakeProvider::start().await.unwrap();
    server.reply(api.answer(&[api.compaction(), api.said("In Kiel.")]));
    server.otherwise(api.answer(&[api.said("ok")]));
    let builder = builder(api.provider(&server, Some(60_000)));
    let assistant = builder.history(History::fit(100_000)).build().unwrap();
    let (messages, events) = ask(&assistant, "ada", talk(5), "Where is the boat?").await;
    (server, messages, events)
}

#[tokio::test]
async fn a_conversation_continues_from_the_compaction() {
    for api in BOTH {
        let (server, messages, _) = compacted(api).await;
        let request = &server.requests()[0];
        assert_eq!(api.conversation(&request.json()).len(), 11);
        let (edits, beta) = match api {
            Api::Claude => (
                json!({"edits": [{
                    "type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 60_000},
                }]}),
                Some("compact-2026-01-12"),
            ),
            Api::Gpt => (json!([{"type": "compaction", "compact_threshold": 60_000}]), None),
        };
        assert_eq!(request.json()["context_management"], edits);
        assert_eq!(request.header("anthropic-beta"), beta);

        let assistant = builder(api.provider(&server, Some(60_000))).build().unwrap();
        let (messages, _) = ask(&assistant, "ada", messages, "Since when?").await;
        let body = last_body(&server);
        assert!(api.is_compacted(&body), "{body:#}");
        assert!(!body.to_string().contains("Question 4"), "{body:#}");
        assert!(
            body.to_string().contains("In Kiel.") && body.to_string().contains("Since when?"),
            "{body:#}"
        );
        // The window also begins with the compaction and keeps it when it is full.
        let history = History::fit(2_000).summarise(ScriptedProvider::new().otherwise(|_| text("- Talk.")));
        let assistant = builder(api.provider(&server, Some(60_000))).history(history).build().unwrap();
        let (messages, _) = ask(&assistant, "ada", messages, "And now?").await;
        let body = last_body(&server);
        assert!(api.is_compacted(&body) && body.to_string().contains("Since when?"), "{body:#}");
        assert!(!body.to_string().contains("earlier_conversation"), "{body:#}");
        let messages = [messages, talk(40)].concat();
        ask(&assistant, "ada", messages, "And today?").await;
        let body = last_body(&server);
        assert!(api.is_compacted(&body) && body.to_string().contains("- Talk."), "{body:#}");
        assert!(
            !body.to_string().contains("Since when?") && body.to_string().contains("Question 39"),
            "{body:#}"
        );
    }
}

#[tokio::test]
async fn a_compaction_between_tool_calls_replaces_the_calls_before_it() {
    for api in BOTH {
        let server = FakeProvider::start().await.unwrap();
        server.reply(api.answer(&[api.called("one")]));
        server.reply(api.answer(&[api.compaction(), api.called("two")]));
        server.reply(api.answer(&[api.said("Sunny.")]));
        let assistant = builder(api.provider(&server, Some(60_000))).build().unwrap();
        let (_, events) = ask(&assistant, "ada", talk(2), "And the weather?").await;
        assert!(matches!(events.last(), Some(RunEvent::Finish { .. })), "{events:?}");
        let body = last_body(&server);
        assert!(api.is_compacted(&body), "{body:#}");
        let body = body["messages"].to_string() + &body["input"].to_string();
        assert!(
            !body.contains("And the weather?") && !body.contains("\"one\"") && body.contains("\"two\""),
            "{body}"
        );
    }
}

#[tokio::test]
async fn tokens_of_a_compaction_are_counted() {
    let (_, messages, events) = compacted(Api::Claude).await;
    // The tokens of the compaction do not estimate those of this conversation.
    let metadata = messages.last().unwrap().metadata.as_ref().unwrap();
    assert!(metadata["omniassist"].get("history").is_none(), "{metadata}");
    let Some(RunEvent::Finish { usage, .. }) = events.last() else { panic!("{events:?}") };
    let mut expected = Usage::default();
    // The first report had 4 tokens written to the cache and 100 read from it.
    expected.input_tokens = Some(23_000 + 4 + 100 + 180_000 + 7);
    expected.output_tokens = Some(1_000 + 3_500);
    expected.total_tokens = Some(203_111 + 4_500);
    expected.cached_input_tokens = Some(107);
    expected.cache_write_input_tokens = Some(4);
    assert_eq!(*usage, expected);
}

#[tokio::test]
async fn a_failed_compaction_changes_nothing() {
    let api = Api::Claude;
    let server = FakeProvider::start().await.unwrap();
    let failed = vec![
        claude::opened(0, json!({"type": "compaction", "content": null})),
        claude::delta(0, json!({"type": "compaction_delta", "content": null})),
        claude::stopped(0),
    ];
    server.reply(api.answer(&[failed, api.said("In Kiel.")]));
    server.otherwise(api.answer(&[api.said("ok")]));
    let assistant = builder(api.provider(&server, Some(60_000))).build().unwrap();
    let (messages, _) = ask(&assistant, "ada", talk(5), "Where is the boat?").await;
    ask(&assistant, "ada", messages, "Since when?").await;
    assert_eq!(api.conversation(&last_body(&server)).len(), 13);
}

/// Changes the compaction in a conversation.
fn change(messages: &mut [Message], mut to: impl FnMut(&mut Option<ProviderMetadata>)) {
    let parts = messages.last_mut().unwrap().parts.iter_mut();
    let reasoning = parts.filter_map(|part| match part {
        Part::Reasoning(part) => Some(&mut part.metadata),
        _ => None,
    });
    assert_eq!(reasoning.map(&mut to).count(), 1);
}

#[tokio::test]
async fn a_lost_or_unsealed_compaction_is_not_sent() {
    type Change = fn(&mut Option<ProviderMetadata>);
    let cases: [(&str, Change); 2] =
        [("lost", |state| *state = None), ("without its seal", |state| state.as_mut().unwrap().forget_own())];
    for api in BOTH {
        for (name, case) in cases {
            let (server, mut messages, _) = compacted(api).await;
            change(&mut messages, case);
            let history = History::fit(100_000);
            let assistant = builder(api.provider(&server, Some(60_000))).history(history).build().unwrap();
            ask(&assistant, "ada", messages, "Since when?").await;
            let body = last_body(&server);
            assert_eq!(api.conversation(&body).len(), 13, "{name}: {body:#}");
            assert!(!body.to_string().contains("gAAAA"), "{name}: {body:#}");
        }
        // A changed compaction is refused like any other changed part.
        let (server, mut messages, _) = compacted(api).await;
        change(&mut messages, |state| {
            let state = state.as_mut().unwrap();
            let key = if api == Api::Claude { "anthropic" } else { "openai" };
            let mut own = state[key].clone();
            own["compaction"]["encrypted_content"] = "forged".into();
            state.insert(key, own);
        });
        messages.push(Message::user("last", "Since when?"));
        let mut request = omniassist_server::core::RunRequest::new(messages);
        request.chat_id = Some("chat".into());
        let mut extensions = http::Extensions::new();
        extensions.insert(omniassist_server::Principal::new("ada"));
        let assistant = builder(api.provider(&server, Some(60_000))).build().unwrap();
        assert!(assistant.try_run(request, extensions).await.is_err());
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_compaction_is_sent_to_its_own_provider_only() {
    for (made_by, sent_to, setting) in [
        (Api::Claude, Api::Gpt, Some(60_000)),
        (Api::Gpt, Api::Claude, Some(60_000)),
        // The host has disabled the compaction.
        (Api::Claude, Api::Claude, None),
        (Api::Gpt, Api::Gpt, None),
    ] {
        let (_, messages, _) = compacted(made_by).await;
        let server = FakeProvider::start().await.unwrap();
        server.otherwise(sent_to.answer(&[sent_to.said("ok")]));
        let builder = builder(sent_to.provider(&server, setting)).history(History::fit(100_000));
        ask(&builder.build().unwrap(), "ada", messages, "Since when?").await;
        let body = last_body(&server);
        assert_eq!(sent_to.conversation(&body).len(), 13, "{body:#}");
        assert!(!body.to_string().contains("gAAAA"), "{body:#}");
    }
}

#[test]
fn the_minimum_number_of_tokens_is_checked() {
    let claude = |tokens| AnthropicProvider::builder().api_key("k").compaction(tokens).build();
    let gpt = |tokens| OpenAiProvider::builder().api_key("k").compaction(tokens).build();
    assert!(claude(50_000).is_ok() && gpt(1_000).is_ok());
    assert!(
        claude(49_999).unwrap_err().to_string().contains("`compaction`: the API requires at least 50000")
    );
    assert!(gpt(999).unwrap_err().to_string().contains("at least 1000"));
}
