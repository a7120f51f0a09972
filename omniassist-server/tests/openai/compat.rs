//! Tests of the requests and answers of OpenAI-compatible servers.

use std::sync::Arc;

use futures_util::StreamExt;
use omniassist_server::core::event::{CallKind, Source};
use omniassist_server::core::transcript::{ToolCall, ToolResult, UserContent};
use omniassist_server::core::{
    EventBuf, JsonText, Limits, LlmEvent, LlmPayload, ModelOptions, ReasoningEffort, ToolChoice, ToolSpec,
    TranscriptItem,
};
use omniassist_server::provider::WireDecoder;
use omniassist_server::provider::openai::{ChatDecoder, DEFAULT_CHAT_MODEL, Vendor};
use omniassist_server::testing::{FakeProvider, Reply};
use omniassist_server::{LlmProvider, OpenAiChatProvider};
use serde_json::{Value, json};

use super::harness::{Api, whole};
use super::streams::{chat_done, delta, finish, tool};
use crate::recordings::fold;

fn answer_schema() -> Value {
    json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false})
}

/// Returns a conversation with a call and all settings that differ between servers.
fn payload() -> LlmPayload {
    let tool = |name: &str| {
        let schema = json!({
            "type": "object",
            "properties": {"city": {"$ref": "#/$defs/City"}},
            "$defs": {"City": {"type": "string", "pattern": "^\\S+$"}},
            "anyOf": [{"required": ["city"]}, {"required": []}],
        });
        Arc::new(ToolSpec::new(name, "d", schema))
    };
    let mut payload = LlmPayload::new([
        TranscriptItem::User { content: vec![UserContent::Text { text: "Bern?".into() }] },
        TranscriptItem::Reasoning { text: "Hm.".into(), metadata: None },
        TranscriptItem::Call(ToolCall {
            id: "call_1".into(),
            name: "weather".into(),
            arguments: JsonText::EMPTY_OBJECT,
            kind: CallKind::Function,
            metadata: None,
        }),
        TranscriptItem::Result(ToolResult {
            call_id: "call_1".into(),
            output: JsonText::from_value(&json!(21)),
            is_error: false,
        }),
    ]);
    payload.system = Some("Be brief.".into());
    payload.tools = Arc::from([tool("weather"), tool("time")]);
    payload.tool_choice = ToolChoice::Required;
    let mut options = ModelOptions::default();
    options.reasoning_effort = Some(ReasoningEffort::Low);
    options.max_output_tokens = Some(9);
    options.parallel_tool_calls = Some(false);
    options.response_schema = Some(("answer".into(), answer_schema()));
    payload.options = Arc::new(options);
    payload
}

fn body(vendor: Vendor, payload: &LlmPayload) -> Value {
    let mut builder = OpenAiChatProvider::builder().vendor(vendor).api_key("k").model("m");
    if vendor == Vendor::AZURE {
        builder = builder.base_url("https://x.openai.azure.com/openai/v1");
    }
    serde_json::from_slice(&builder.build().unwrap().request_body(payload).unwrap()).unwrap()
}

/// Returns the id that a request contains for a call with this id.
fn body_with_id(vendor: Vendor, id: &str) -> String {
    let mut payload = payload();
    let items = payload.transcript.iter().cloned().map(|item| match item {
        TranscriptItem::Call(call) => TranscriptItem::Call(ToolCall { id: id.into(), ..call }),
        TranscriptItem::Result(result) => TranscriptItem::Result(ToolResult { call_id: id.into(), ..result }),
        other => other,
    });
    payload.transcript = items.collect();
    let body = body(vendor, &payload);
    let messages = body["messages"].as_array().unwrap();
    let turn = messages.iter().find(|message| message["role"] == "assistant").unwrap();
    turn["tool_calls"][0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn each_vendor_receives_its_own_request_format() {
    for vendor in Vendor::ALL {
        let body = body(*vendor, &payload());
        let is = |vendors: &[Vendor]| vendors.contains(vendor);
        let newer = [Vendor::OPENAI, Vendor::AZURE, Vendor::GROQ, Vendor::XAI, Vendor::CEREBRAS];
        let cap = if is(&newer) { "max_completion_tokens" } else { "max_tokens" };
        assert_eq!(body[cap], 9, "{vendor:?}");
        assert_ne!(body.get("max_tokens").is_some(), body.get("max_completion_tokens").is_some());
        assert_ne!(body.get("stream_options").is_some(), is(&[Vendor::MISTRAL]), "{vendor:?}");
        let silent = [
            Vendor::DEEPSEEK,
            Vendor::MOONSHOT,
            Vendor::CEREBRAS,
            Vendor::PERPLEXITY,
            Vendor::OLLAMA,
            Vendor::LM_STUDIO,
        ];
        assert_ne!(body.get("parallel_tool_calls").is_some(), is(&silent), "{vendor:?}");
        let word = if is(&[Vendor::MISTRAL]) { "any" } else { "required" };
        assert_eq!(body["tool_choice"], word, "{vendor:?}");
        let lenient = [Vendor::TOGETHER, Vendor::PERPLEXITY];
        let unstated = [Vendor::GROQ, Vendor::CEREBRAS];
        let format = if is(&[Vendor::DEEPSEEK]) {
            json!({"type": "json_object"})
        } else if is(&unstated) {
            Value::Null
        } else {
            json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": answer_schema(), "strict": !is(&lenient)}})
        };
        assert_eq!(body["response_format"], format, "{vendor:?}");
        assert_eq!(
            body["messages"][0]["content"].as_str().unwrap().contains("\"required\""),
            is(&[Vendor::DEEPSEEK]) || is(&unstated),
            "{vendor:?}"
        );
        let effort: Vec<&str> = [
            (body["reasoning_effort"] == "low", "field"),
            (body["reasoning"] == json!({"effort": "low"}), "object"),
            (body["chat_template_kwargs"] == json!({"reasoning_effort": "low"}), "template"),
            (body["enable_thinking"] == true, "switch"),
        ]
        .into_iter()
        .filter_map(|(said, how)| said.then_some(how))
        .collect();
        let wanted = match vendor.name() {
            "openrouter" => "object",
            "llama.cpp" => "template",
            "dashscope" => "switch",
            _ => "field",
        };
        assert_eq!(effort, [wanted], "{vendor:?}");
        let replays = [Vendor::DEEPSEEK, Vendor::MOONSHOT, Vendor::FIREWORKS, Vendor::OPENROUTER];
        let turn = body["messages"].as_array().unwrap().iter().find(|m| m["role"] == "assistant").unwrap();
        assert_eq!(turn.get("reasoning_content").is_some(), is(&replays), "{vendor:?}");
        let id = turn["tool_calls"][0]["id"].as_str().unwrap();
        assert_eq!(id, body["messages"].as_array().unwrap().last().unwrap()["tool_call_id"], "{vendor:?}");
        assert_eq!(id.len() == 9, is(&[Vendor::MISTRAL]), "{vendor:?}: {id}");
        let long = body_with_id(*vendor, &"x".repeat(41));
        let capped = [Vendor::OPENAI, Vendor::AZURE, Vendor::GITHUB_MODELS, Vendor::GITHUB_COPILOT];
        assert_eq!(long.len() == 41, !is(&capped) && !is(&[Vendor::MISTRAL]), "{vendor:?}: {long}");
        let parameters = &body["tools"][0]["function"]["parameters"];
        assert_eq!(parameters.get("$defs").is_none(), is(&[Vendor::OLLAMA]), "{vendor:?}");
        assert_ne!(
            parameters.to_string().contains("pattern"),
            is(&[Vendor::LLAMA_CPP, Vendor::LM_STUDIO]),
            "{vendor:?}"
        );
        // The vendors that limit ids also refuse schema combinations at the top level.
        assert_eq!(parameters.get("anyOf").is_none(), is(&capped), "{vendor:?}");
    }
}

#[test]
fn the_address_selects_the_vendor_and_settings_override_it() {
    let body = |builder: omniassist_server::provider::openai::OpenAiChatProviderBuilder| -> Value {
        let provider = builder.api_key("k").model("m").build().unwrap();
        serde_json::from_slice(&provider.request_body(&payload()).unwrap()).unwrap()
    };
    let mistral = || OpenAiChatProvider::builder().base_url("https://api.mistral.ai/v1");
    assert_eq!(body(mistral())["tool_choice"], "any");
    assert!(body(mistral().include_usage(true).max_completion_tokens(true))["stream_options"].is_object());
    let deepseek = || OpenAiChatProvider::builder().vendor(Vendor::DEEPSEEK);
    assert!(!body(deepseek().replay_reasoning(false)).to_string().contains("reasoning_content"));
    assert!(body(mistral().replay_reasoning(true)).to_string().contains("reasoning_content"));
    // For a private gateway, the vendor is set by name and the address stays.
    let gateway = OpenAiChatProvider::builder().vendor(Vendor::MISTRAL).base_url("http://127.0.0.1:4000/v1");
    assert_eq!(body(gateway)["tool_choice"], "any");
    assert_eq!(mistral().api_key("k").model("m").build().unwrap().name(), "mistral");
    assert_eq!(OpenAiChatProvider::new("k").unwrap().name(), "openai-chat");
}

#[test]
fn a_turn_with_calls_has_empty_reasoning_for_vendors_that_require_it() {
    let mut payload = payload();
    payload.transcript = payload
        .transcript
        .iter()
        .filter(|item| !matches!(item, TranscriptItem::Reasoning { .. }))
        .cloned()
        .collect();
    for vendor in Vendor::ALL {
        let asked = [Vendor::DEEPSEEK, Vendor::MOONSHOT].contains(vendor);
        let expected = json!("");
        let body = body(*vendor, &payload);
        assert_eq!(body["messages"][2].get("reasoning_content"), asked.then_some(&expected), "{vendor:?}");
    }
}

/// DeepSeek's thinking mode refuses a conversation with tools in which one turn lacks the field.
#[test]
fn each_turn_of_a_conversation_with_tools_has_reasoning_for_deepseek() {
    let mut payload = payload();
    let text = |text: &str| TranscriptItem::Text { text: text.into(), metadata: None };
    let later = [text("21 °C."), TranscriptItem::user("Thanks")];
    let calls = payload.transcript.iter().cloned().chain(later.clone()).collect();
    let plain: Arc<[_]> = [TranscriptItem::user("Bern?")].into_iter().chain(later).collect();
    let reasoning = |vendor: Vendor, payload: &LlmPayload| -> Vec<Option<Value>> {
        let body = body(vendor, payload);
        let turns =
            body["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "assistant");
        turns.map(|turn| turn.get("reasoning_content").cloned()).collect()
    };
    payload.transcript = calls;
    let (said, empty) = (Some(json!("Hm.")), Some(json!("")));
    assert_eq!(reasoning(Vendor::DEEPSEEK, &payload), [said.clone(), empty.clone()]);
    assert_eq!(reasoning(Vendor::MOONSHOT, &payload), [said.clone(), None]);
    payload.tools = Arc::from([]);
    assert_eq!(reasoning(Vendor::DEEPSEEK, &payload), [said, empty.clone()], "calls without tools");
    payload.transcript = Arc::clone(&plain);
    assert_eq!(reasoning(Vendor::DEEPSEEK, &payload), [None], "neither tools nor calls");
    payload.tools = Arc::from([Arc::new(ToolSpec::new("time", "d", json!({"type": "object"})))]);
    assert_eq!(reasoning(Vendor::DEEPSEEK, &payload), [empty], "tools without calls");
}

#[test]
fn reasoning_of_a_turn_without_calls_is_not_sent_to_a_router() {
    let reasoning = TranscriptItem::Reasoning { text: "Hm.".into(), metadata: None };
    let answer = TranscriptItem::Text { text: "21 °C.".into(), metadata: None };
    let payload =
        LlmPayload::new([TranscriptItem::user("Bern?"), reasoning, answer, TranscriptItem::user("Thanks")]);
    assert!(!body(Vendor::OPENROUTER, &payload).to_string().contains("Hm."));
}

/// Groq refuses the form of an answer in streams and in requests with tools, and Cerebras in requests with tools.
#[test]
fn the_form_of_an_answer_is_prompted_where_the_vendor_refuses_it() {
    let mut with_tools = payload();
    with_tools.system = None;
    let mut alone = with_tools.clone();
    alone.tools = Arc::from([]);
    for (vendor, payload, stated) in [
        (Vendor::GROQ, &with_tools, false),
        (Vendor::GROQ, &alone, false),
        (Vendor::CEREBRAS, &with_tools, false),
        (Vendor::CEREBRAS, &alone, true),
    ] {
        let body = body(vendor, payload);
        assert_eq!(body.get("response_format").is_some(), stated, "{vendor:?}");
        let prompt = format!("Answer with JSON that follows this schema:\n{}", answer_schema());
        let first = &body["messages"][0];
        assert_eq!(*first == json!({"role": "system", "content": prompt}), !stated, "{vendor:?}: {first}");
    }
}

#[test]
fn only_the_chosen_tool_is_offered_if_the_vendor_cannot_choose_by_name() {
    let mut payload = payload();
    payload.tool_choice = ToolChoice::Tool("time".into());
    for vendor in [Vendor::LM_STUDIO, Vendor::LLAMA_CPP, Vendor::OLLAMA] {
        let body = body(vendor, &payload);
        assert_eq!((&body["tool_choice"], body["tools"].as_array().unwrap().len()), (&json!("required"), 1));
        assert_eq!(body["tools"][0]["function"]["name"], "time");
    }
    let body = body(Vendor::GROQ, &payload);
    assert_eq!(body["tool_choice"], json!({"type": "function", "function": {"name": "time"}}));
    assert_eq!(body["tools"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn azure_receives_its_own_header_and_version() {
    let server = FakeProvider::start().await.unwrap();
    server.reply(Reply::sse(chat_done(&[delta(json!({"content": "x"})), finish("stop")])));
    let azure = OpenAiChatProvider::builder()
        .vendor(Vendor::AZURE)
        .base_url(format!("http://{}/openai/deployments/gpt", server.address()))
        .api_key("canary")
        .api_version("2024-10-21")
        .build()
        .unwrap();
    let events: Vec<_> = azure.stream(LlmPayload::new([TranscriptItem::user("Hi")])).collect().await;
    assert!(events.iter().all(Result::is_ok));
    let request = server.request(1).await;
    assert_eq!((request.header("api-key"), request.header("authorization")), (Some("canary"), None));
    assert_eq!(request.path, "/openai/deployments/gpt/chat/completions?api-version=2024-10-21");
    assert_eq!(request.json()["model"], "gpt");
    let wrong = OpenAiChatProvider::builder().api_key("k").api_version("1&x=y").build().unwrap_err();
    assert!(wrong.is_configuration());
    assert!(OpenAiChatProvider::builder().vendor(Vendor::AZURE).api_key("k").build().is_err());
}

#[test]
fn a_vendor_without_a_default_model_requires_one() {
    for vendor in Vendor::ALL {
        let build = |model: Option<&str>| {
            let mut builder = OpenAiChatProvider::builder().vendor(*vendor).api_key("k");
            if *vendor == Vendor::AZURE {
                builder = builder.base_url("https://x.openai.azure.com/openai/v1");
            }
            if let Some(model) = model {
                builder = builder.model(model);
            }
            builder.build()
        };
        assert_eq!(build(Some("m")).unwrap().model(), Some("m"), "{vendor:?}");
        match build(None) {
            Ok(provider) => {
                assert_eq!((*vendor, provider.model()), (Vendor::OPENAI, Some(DEFAULT_CHAT_MODEL)));
            }
            Err(error) => {
                assert!(error.is_configuration(), "{vendor:?}: {error:?}");
                let told = error.to_string();
                for word in [vendor.name(), "`model`", "OMNIASSIST_MODEL"] {
                    assert!(told.contains(word), "{vendor:?}: {told}");
                }
            }
        }
    }
    // The address selects the vendor in the same way. An unknown server can use the default model.
    let at = |url: &str| OpenAiChatProvider::builder().base_url(url).api_key("k").build();
    assert!(at("https://api.groq.com/openai/v1").unwrap_err().is_configuration());
    assert_eq!(at("https://gateway.example/v1").unwrap().model(), Some(DEFAULT_CHAT_MODEL));
}

fn decode_offering(tools: &[&'static str], chunks: &[Value]) -> Vec<LlmEvent> {
    let names = tools.iter().map(|name| (*name).into());
    let mut decoder = ChatDecoder::new(&Limits::default(), "test").tools(names);
    let mut events = EventBuf::new();
    for byte in chat_done(chunks).chunks(1) {
        decoder.feed(byte.to_vec().into(), &mut events).unwrap();
    }
    decoder.finish(&mut events).unwrap();
    events.drain().collect()
}

#[test]
fn a_name_in_pieces_is_joined() {
    let named = |name: &str| tool(json!({"index": 0, "id": "a", "function": {"name": name}}));
    let arguments = tool(json!({"index": 0, "function": {"arguments": "{}"}}));
    for (pieces, name) in [
        (vec!["get_", "weather"], "get_weather"),
        (vec!["get", "_", "weather", "_now"], "get_weather_now"),
        (vec!["get_weather"], "get_weather"),
        (vec!["get_weather", "get_weather"], "get_weather"),
        (vec!["get_", "get_"], "get_"),
        (vec!["stop"], "stop"),
    ] {
        let mut chunks: Vec<Value> = pieces.iter().map(|piece| named(piece)).collect();
        chunks.extend([arguments.clone(), finish("tool_calls")]);
        let said = fold(&decode_offering(&["get_weather", "get_weather_now", "stop"], &chunks));
        assert_eq!(said.calls.len(), 1);
        assert_eq!((said.calls[0].name.as_str(), said.calls[0].ended.as_deref()), (name, Some("{}")));
    }
    // A name that is not a prefix of another name is emitted at once.
    let mut decoder = ChatDecoder::new(&Limits::default(), "x").tools(["stop".into()]);
    let mut events = EventBuf::new();
    decoder.feed(super::streams::chat(&[named("stop")]).into(), &mut events).unwrap();
    assert!(events.drain().any(|event| matches!(event, LlmEvent::ToolCallStart { .. })));
}

/// Returns reasoning blocks and calls with their provider state as entries of the next request.
fn items_with_state(events: &[LlmEvent]) -> Vec<TranscriptItem> {
    let mut items = vec![TranscriptItem::user("Q")];
    let mut text = String::new();
    for event in events {
        match event {
            LlmEvent::ReasoningDelta { delta, .. } => text.push_str(delta),
            LlmEvent::ReasoningEnd { metadata, .. } => {
                let text = std::mem::take(&mut text).into();
                items.push(TranscriptItem::Reasoning { text, metadata: metadata.clone() });
            }
            LlmEvent::ToolCallEnd { metadata, .. } => items.push(TranscriptItem::Call(ToolCall {
                id: "a".into(),
                name: "weather".into(),
                arguments: JsonText::EMPTY_OBJECT,
                kind: CallKind::Function,
                metadata: metadata.clone(),
            })),
            _ => {}
        }
    }
    items
}

#[test]
fn reasoning_details_are_sent_back_unchanged() {
    const SIGNATURE: &str = "EpAD+/==\u{fc}\"\\sig";
    let thought = |text: &str| {
        delta(json!({"reasoning": text, "reasoning_details": [
            {"type": "reasoning.text", "text": text, "format": "anthropic-claude-v1", "index": 0},
        ]}))
    };
    let signed = delta(json!({"reasoning_details": [
        {"type": "reasoning.text", "signature": SIGNATURE, "format": "anthropic-claude-v1", "index": 0},
    ]}));
    let sealed = json!({"type": "reasoning.encrypted", "data": "gAAA+/==", "id": "rs_1", "format": "openai-responses-v1", "index": 1});
    let sealed_delta = delta(json!({"content": "", "reasoning_details": [sealed]}));
    let call = tool(json!({"index": 0, "id": "a", "function": {"name": "weather", "arguments": "{}"}}));
    let end = finish("tool_calls");
    let whole_thought = json!({
        "type": "reasoning.text", "text": "Think.", "signature": SIGNATURE, "format": "anthropic-claude-v1", "index": 0,
    });
    for (what, chunks, wanted) in [
        (
            "with the block",
            vec![thought("Thi"), thought("nk."), signed.clone(), call.clone(), end.clone()],
            json!([whole_thought]),
        ),
        ("without a block", vec![sealed_delta.clone(), call.clone(), end.clone()], json!([sealed])),
        ("behind the call", vec![call.clone(), sealed_delta.clone(), end.clone()], json!([sealed])),
        (
            "on both sides",
            vec![thought("Think."), signed, call.clone(), sealed_delta, end.clone()],
            json!([whole_thought, sealed]),
        ),
        ("nothing sealed", vec![thought("Think."), call, end], Value::Null),
    ] {
        let events = whole(Api::Chat, &chat_done(&chunks)).events;
        let result =
            ToolResult { call_id: "a".into(), output: JsonText::from_value(&json!(1)), is_error: false };
        let payload = LlmPayload::new(items_with_state(&events)).with_results([result]);
        assert!(omniassist_server::core::transcript::is_legal(&payload.transcript), "{what}");
        let sent = body(Vendor::OPENROUTER, &payload);
        let turn = &sent["messages"][1];
        assert_eq!(turn.get("reasoning_details").cloned().unwrap_or_default(), wanted, "{what}");
        // The text is sent only where no details contain it.
        let text = wanted.is_null().then(|| json!("Think."));
        assert_eq!(turn.get("reasoning_content").cloned(), text, "{what}");
        let elsewhere = body(Vendor::GROQ, &payload).to_string();
        assert!(!elsewhere.contains("reasoning_details"), "{what}");
    }
}

#[test]
fn each_source_is_emitted_once_with_its_title() {
    let mut chunk = delta(json!({"content": "x"}));
    chunk["citations"] = json!(["https://a.example", "https://b.example"]);
    chunk["search_results"] = json!([{"title": "A", "url": "https://a.example", "date": null}]);
    let events = whole(Api::Chat, &chat_done(&[chunk.clone(), chunk, finish("stop")])).events;
    let sources: Vec<_> = events
        .into_iter()
        .filter_map(|event| match event {
            LlmEvent::Source(Source::Url { url, title, .. }) => {
                Some((url.to_string(), title.map(|t| t.to_string())))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        sources,
        [("https://a.example".to_owned(), Some("A".to_owned())), ("https://b.example".to_owned(), None)]
    );
}

#[test]
fn calls_that_the_vendor_ran_are_shown_and_not_run_again() {
    let ran = |output: Value| {
        delta(
            json!({"executed_tools": [{"index": 0, "type": "search", "arguments": "{}", "output": output}]}),
        )
    };
    let events = whole(
        Api::Chat,
        &chat_done(&[
            ran(Value::Null),
            ran(json!("found")),
            ran(json!("found")),
            delta(json!({"content": "x"})),
            finish("tool_calls"),
        ]),
    )
    .events;
    let said = fold(&events);
    assert_eq!((said.builtin, said.calls.len(), said.text.as_str()), (1, 0, "x"));
    assert_eq!(said.finish.unwrap().0, omniassist_server::core::FinishReason::Stop);
    assert!(events.iter().any(|event| matches!(
        event,
        LlmEvent::ProviderTool { kind, item, .. } if kind == "search" && item.as_str().contains("found")
    )));
}
