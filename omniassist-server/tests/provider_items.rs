//! Tests that items of a provider's built-in tools are sent back unchanged, and to that provider only.

use std::sync::Arc;

use futures_util::StreamExt;
use omniassist_server::core::transcript::TranscriptItem;
use omniassist_server::core::{JsonText, LlmPayload, RunEvent, RunRequest};
use omniassist_server::provider::anthropic::AnthropicProvider;
use omniassist_server::provider::gemini::GeminiProvider;
use omniassist_server::testing::{FakeProvider, Reply};
use omniassist_server::{Assistant, LlmProvider, OpenAiChatProvider, OpenAiProvider, Tool, ToolError};
use serde_json::{Value, json};

use crate::anthropic::streams::{self, delta, ended, input, opened, start, stopped, text};
use crate::recorded::legal;

/// The encrypted content of a search result, with characters that a JSON encoder may escape.
const SEALED: &str = "EqgfCioIARgBIiQ3YTAwMjY1Mi1m/+=\u{2028}\"\\🦀==";

/// Runs an assistant with a tool `weather` on these answers. Returns the text, the events and the request bodies.
async fn run(
    provider: impl FnOnce(&FakeProvider) -> Arc<dyn LlmProvider>,
    replies: impl IntoIterator<Item = Vec<u8>>,
) -> (String, Vec<RunEvent>, Vec<Value>) {
    let server = FakeProvider::start().await.unwrap();
    for reply in replies {
        server.reply(Reply::sse(reply));
    }
    let weather = async || Ok::<_, ToolError>("sunny");
    let assistant = Assistant::builder(provider(&server))
        .tool(Tool::new("weather", "The weather", weather))
        .build()
        .unwrap();
    let events: Vec<RunEvent> = assistant.run(RunRequest::prompt("What is new?")).collect().await;
    assert_eq!(server.replies_left(), 0, "{events:?}");
    let text = events.iter().filter_map(|event| match event {
        RunEvent::TextDelta { delta, .. } => Some(delta.as_str()),
        _ => None,
    });
    let text = text.collect();
    let terminal = events.iter().filter(|event| event.is_terminal()).count();
    assert!(terminal == 1 && matches!(events.last(), Some(RunEvent::Finish { .. })), "{events:?}");
    (text, events, server.requests().iter().map(|request| request.json()).collect())
}

fn claude(server: &FakeProvider) -> Arc<dyn LlmProvider> {
    let host = format!("http://{}", server.address());
    // This model does not continue after an assistant message.
    Arc::new(AnthropicProvider::builder().base_url(host).model("claude-opus-4-7").build().unwrap())
}

/// Returns the events of a complete search whose query is streamed in pieces.
fn search(index: u32, id: &str) -> Vec<Value> {
    vec![
        opened(index, json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {}})),
        input(index, "{\"query\": \"ru"),
        input(index, "st\"}"),
        stopped(index),
    ]
}

fn found(index: u32, id: &str) -> Vec<Value> {
    vec![opened(index, found_block(id)), stopped(index)]
}

fn found_block(id: &str) -> Value {
    json!({"type": "web_search_tool_result", "tool_use_id": id, "content": [
        {"type": "web_search_result", "url": "https://rust-lang.org/", "title": "Rust", "encrypted_content": SEALED},
    ]})
}

fn search_block(id: &str) -> Value {
    json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "rust"}})
}

fn message(id: &str, events: Vec<Value>, reason: &str) -> Vec<u8> {
    let mut all = vec![start(id, json!([]))];
    all.extend(events);
    all.extend(ended(reason));
    streams::wire(&all)
}

#[tokio::test]
async fn a_paused_turn_of_anthropic_continues_from_its_content() {
    let thinking = vec![
        opened(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "Hm."})),
        delta(0, json!({"type": "signature_delta", "signature": "sig=="})),
        stopped(0),
        opened(1, json!({"type": "text", "text": ""})),
        text(1, "Let me look. "),
        stopped(1),
    ];
    let first = [thinking, search(2, "srv_1"), found(3, "srv_1"), search(4, "srv_2")].concat();
    let second = [found(0, "srv_2"), search(1, "srv_3"), found(2, "srv_3")].concat();
    let third = vec![opened(0, json!({"type": "text", "text": ""})), text(0, "It is."), stopped(0)];
    let (text, events, requests) = run(
        claude,
        [
            message("msg_1", first, "pause_turn"),
            message("msg_2", second, "pause_turn"),
            message("msg_3", third, "end_turn"),
        ],
    )
    .await;
    assert_eq!(text, "Let me look. It is.");
    let steps = events.iter().filter(|event| matches!(event, RunEvent::StepFinish { .. })).count();
    assert_eq!((steps, requests.len()), (3, 3));

    let mut said = vec![
        json!({"type": "thinking", "thinking": "Hm.", "signature": "sig=="}),
        json!({"type": "text", "text": "Let me look. "}),
        search_block("srv_1"),
        found_block("srv_1"),
        search_block("srv_2"),
    ];
    let user = &requests[0]["messages"][0];
    assert_eq!(requests[1]["messages"], json!([user, {"role": "assistant", "content": said}]));
    said.extend([found_block("srv_2"), search_block("srv_3"), found_block("srv_3")]);
    assert_eq!(requests[2]["messages"], json!([user, {"role": "assistant", "content": said}]));
    for body in &requests {
        assert_eq!(legal::anthropic::faults(body), [""; 0]);
    }
}

#[tokio::test]
async fn tools_of_anthropic_and_of_the_host_are_sent_back_together() {
    let calls = |id: &str| streams::call(9, id, "{}").to_vec();
    // The result of the second search arrives in the turn after the host's tool call.
    let first = [search(0, "srv_1"), found(1, "srv_1"), search(2, "srv_2"), calls("toolu_a")].concat();
    let second = [found(0, "srv_2"), calls("toolu_b")].concat();
    let third = vec![opened(0, json!({"type": "text", "text": ""})), text(0, "Sunny."), stopped(0)];
    let (text, _, requests) = run(
        claude,
        [
            message("msg_1", first, "tool_use"),
            message("msg_2", second, "tool_use"),
            message("msg_3", third, "end_turn"),
        ],
    )
    .await;
    assert_eq!((text.as_str(), requests.len()), ("Sunny.", 3));
    let kinds = |message: &Value| {
        let blocks = message["content"].as_array().unwrap().iter();
        blocks.map(|block| block["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let last = &requests[2]["messages"];
    assert_eq!(kinds(&last[1]), ["server_tool_use", "web_search_tool_result", "server_tool_use", "tool_use"]);
    assert_eq!(kinds(&last[2]), ["tool_result"]);
    assert_eq!(kinds(&last[3]), ["web_search_tool_result", "tool_use"]);
    assert_eq!(last[3]["content"][0], found_block("srv_2"));
    for body in &requests {
        assert_eq!(legal::anthropic::faults(body), [""; 0]);
    }
}

/// Returns an item of a provider.
fn item(provider: &'static str, item: &Value) -> TranscriptItem {
    TranscriptItem::ProviderItem { provider: provider.into(), item: JsonText::from_value(item) }
}

fn said(text: &str) -> TranscriptItem {
    TranscriptItem::Text { text: text.into(), metadata: None }
}

fn body(provider: &AnthropicProvider, transcript: Vec<TranscriptItem>) -> Value {
    serde_json::from_slice(&provider.request_body(&LlmPayload::new(transcript)).unwrap()).unwrap()
}

#[test]
fn items_that_anthropic_would_refuse_are_omitted() {
    let provider = AnthropicProvider::new("k").unwrap();
    let own = |block: Value| item("anthropic", &block);
    let user = || TranscriptItem::user("hi");
    for (items, kept) in [
        // Results without a use, and second results, are dropped.
        (vec![own(found_block("a")), said("x")], 0),
        (vec![own(search_block("a")), own(found_block("a")), own(found_block("a")), said("x")], 2),
        // Repeated uses, and uses without a result, are dropped.
        (vec![own(search_block("a")), own(search_block("a")), own(found_block("a")), said("x")], 2),
        (vec![own(search_block("a")), said("x")], 0),
        // Blocks without an id are dropped.
        (vec![own(json!({"type": "server_tool_use"})), said("x")], 0),
    ] {
        let transcript = [vec![user()], items, vec![user()]].concat();
        let body = body(&provider, transcript);
        assert_eq!(legal::anthropic::faults(&body), [""; 0], "{body}");
        assert_eq!(body.to_string().matches("rust").count() > 0, kept > 0, "{body}");
        assert_eq!(body["messages"][1]["content"].as_array().unwrap().len(), kept + 1, "{body}");
    }
}

/// Blocks that are sent back unchanged have no cache markers.
#[test]
fn blocks_of_the_provider_have_no_cache_marker() {
    let provider = AnthropicProvider::new("k").unwrap();
    let own = |block: Value| item("anthropic", &block);
    let turn = vec![TranscriptItem::user("hi"), said("x"), own(search_block("a")), own(found_block("a"))];
    let body = body(&provider, [turn, vec![TranscriptItem::user("and?")]].concat());
    let blocks = body["messages"][1]["content"].as_array().unwrap();
    assert_eq!(blocks[0]["cache_control"]["type"], "ephemeral");
    assert_eq!(blocks[1..], [search_block("a"), found_block("a")]);
}

fn responses(items: &[Value]) -> Vec<u8> {
    let mut events = vec![json!({"type": "response.created", "response": {"id": "r", "model": "m"}})];
    for (index, item) in items.iter().enumerate() {
        events.push(json!({"type": "response.output_item.added", "output_index": index, "item": item}));
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    events.push(json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": items}}));
    let events =
        events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()));
    events.collect::<String>().into_bytes()
}

#[tokio::test]
async fn calls_that_openai_ran_are_sent_back_after_their_reasoning() {
    let reasoning =
        |id: &str| json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": SEALED});
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed",
                        "action": {"type": "search", "query": "rust"}});
    let picture =
        json!({"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "QUJD"});
    let call = json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "weather",
                      "arguments": "{}", "status": "completed"});
    let answer = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                        "content": [{"type": "output_text", "text": "Sunny.", "annotations": []}]});
    let first = [reasoning("rs_1"), search.clone(), picture.clone(), reasoning("rs_2"), call.clone()];
    let openai = |replay_ids: bool| {
        move |server: &FakeProvider| -> Arc<dyn LlmProvider> {
            let builder = OpenAiProvider::builder().base_url(server.base_url()).model("gpt-5");
            Arc::new(builder.replay_item_ids(replay_ids).build().unwrap())
        }
    };
    let (text, _, requests) =
        run(openai(true), [responses(&first), responses(std::slice::from_ref(&answer))]).await;
    assert_eq!(text, "Sunny.");
    let output = &requests[1]["input"][5];
    assert_eq!(output["type"], "function_call_output");
    assert_eq!(
        requests[1]["input"].as_array().unwrap()[1..5],
        [reasoning("rs_1"), search.clone(), reasoning("rs_2"), call.clone()]
    );
    assert_eq!(legal::responses::faults(&requests[1]), [""; 0]);

    // A server that refuses item ids does not receive the search.
    let (_, _, requests) =
        run(openai(false), [responses(&first), responses(std::slice::from_ref(&answer))]).await;
    assert!(!requests[1]["input"].to_string().contains("web_search_call"), "{}", requests[1]["input"]);

    // Reasoning without a seal is not sent back. The search after it is omitted too.
    let open =
        json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]});
    let unsealed = [open, search.clone(), call.clone()];
    let (_, _, requests) =
        run(openai(true), [responses(&unsealed), responses(std::slice::from_ref(&answer))]).await;
    assert!(!requests[1]["input"].to_string().contains("web_search_call"), "{}", requests[1]["input"]);

    // A model without reasoning runs tools too.
    let (_, _, requests) =
        run(openai(true), [responses(&[search.clone(), call]), responses(&[answer])]).await;
    assert_eq!(requests[1]["input"][1], search);
    assert_eq!(legal::responses::faults(&requests[1]), [""; 0]);
}

#[tokio::test]
async fn code_that_gemini_ran_is_sent_back_with_its_result() {
    let chunk = |parts: Value, reason: &str| {
        let chunk =
            json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reason}]});
        format!("data: {chunk}\n\n").into_bytes()
    };
    let code = json!({"executableCode": {"language": "PYTHON", "code": "print(1)"}});
    let result = json!({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}});
    let call = json!({"functionCall": {"name": "weather", "args": {}}});
    let first = chunk(json!([{"text": "So: "}, code, result, call]), "STOP");
    let gemini = |server: &FakeProvider| -> Arc<dyn LlmProvider> {
        let host = format!("http://{}", server.address());
        Arc::new(GeminiProvider::builder().base_url(host).build().unwrap())
    };
    let (text, _, requests) = run(gemini, [first, chunk(json!([{"text": "Sunny."}]), "STOP")]).await;
    assert_eq!(text, "So: Sunny.");
    let parts = requests[1]["contents"][1]["parts"].as_array().unwrap();
    assert_eq!(parts[..3], [json!({"text": "So: "}), code, result]);
    assert_eq!(parts[3]["functionCall"]["name"], "weather");
    assert_eq!(legal::gemini::faults(&requests[1]), [""; 0]);
}

#[test]
fn items_of_one_provider_are_sent_to_no_other_provider() {
    let transcript = |items: Vec<TranscriptItem>| {
        let around = [TranscriptItem::user("hi"), said("x"), TranscriptItem::user("and?")];
        let [first, answer, last] = around;
        LlmPayload::new([vec![first], items, vec![answer, last]].concat())
    };
    let all = [
        item("anthropic", &search_block("canary")),
        item("anthropic", &found_block("canary")),
        item("openai", &json!({"type": "web_search_call", "id": "ws_canary"})),
        item("google", &json!({"executableCode": {"code": "canary"}})),
        item("another", &json!({"canary": true})),
    ];
    let anthropic = AnthropicProvider::new("k").unwrap();
    let gemini = GeminiProvider::new("k").unwrap();
    let openai = OpenAiProvider::new("k").unwrap();
    let chat = OpenAiChatProvider::new("k").unwrap();
    let constrained = OpenAiChatProvider::builder().api_key("k").constrained_tools(true).build().unwrap();
    type Encode<'a> = &'a dyn Fn(&LlmPayload) -> bytes::Bytes;
    let requests: [(&str, Encode<'_>); 5] = [
        ("anthropic", &|payload| anthropic.request_body(payload).unwrap()),
        ("google", &|payload| gemini.request_body(payload).unwrap()),
        ("openai", &|payload| openai.request_body(payload).unwrap()),
        ("none", &|payload| chat.request_body(payload).unwrap()),
        ("none", &|payload| constrained.request_body(payload).unwrap()),
    ];
    for (own, request) in requests {
        let foreign = all
            .iter()
            .filter(|item| matches!(item, TranscriptItem::ProviderItem { provider, .. } if *provider != own));
        let body = request(&transcript(foreign.cloned().collect()));
        assert_eq!(body, request(&transcript(Vec::new())), "{own}: foreign items must not change the body");
        let body = request(&transcript(all.to_vec()));
        assert_eq!(String::from_utf8_lossy(&body).contains("canary"), own != "none", "{own}");
    }
}
