//! Tests of the spans of runs: their tree, their attributes and their number.

use std::time::Duration;

use futures_util::StreamExt;
use omniassist_server::core::{FinishReason, LlmEvent, ModelOptions, RunRequest, Usage};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{Args, Assistant, Error, Price, Prices, ProviderErrorKind, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::spans::{Recorder, Seen};

#[derive(Deserialize, JsonSchema)]
struct City {
    city: String,
}

async fn weather(Args(query): Args<City>) -> Result<String, ToolError> {
    tokio::task::yield_now().await;
    tracing::info!("looking at the sky");
    Ok(format!("canary-output: sun in {}", query.city))
}

fn usage(input: u64, output: u64, cached: u64, reasoning: u64) -> Turn {
    let mut usage = Usage::default();
    (usage.input_tokens, usage.output_tokens) = (Some(input), Some(output));
    (usage.cached_input_tokens, usage.reasoning_tokens) = (Some(cached), Some(reasoning));
    usage.cache_write_input_tokens = Some(cached / 2);
    Turn::event(LlmEvent::Usage(usage))
}

fn model() -> ScriptedProvider {
    ScriptedProvider::new()
        .with_model("model-1")
        .turn([text("canary-answer"), call("weather", json!({"city": "canary-city"})), usage(100, 20, 40, 5)])
        .turn([text("It is sunny."), usage(200, 30, 0, 0)])
}

fn assistant(records_content: bool) -> Assistant {
    let mut options = ModelOptions::default();
    (options.temperature, options.max_output_tokens) = (Some(0.5), Some(400));
    Assistant::builder(model())
        .system_prompt("canary-prompt")
        .model_options(options)
        .tool(Tool::new("weather", "Looks at the sky", weather))
        .prices(Prices::new().model("model-1", Price::per_million_tokens(1.0, 10.0)))
        .record_content(records_content)
        .build()
        .unwrap()
}

fn ask() -> RunRequest {
    let mut request = RunRequest::prompt("canary-question");
    request.chat_id = Some("chat-7".into());
    request
}

/// Waits until all spans are closed. The task of a tool can end shortly after its outcome.
async fn closed(recorder: &Recorder) -> Vec<Seen> {
    for _ in 0..1_000 {
        let spans = recorder.spans();
        if spans.iter().all(|span| span.closed) {
            return spans;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("open spans: {:#?}", recorder.spans());
}

#[tokio::test]
async fn a_run_is_a_tree_of_spans_with_the_attributes_of_the_conventions() {
    let (recorder, _guard) = Recorder::install();
    let outer = tracing::info_span!("request");
    let run = outer.in_scope(|| assistant(false).run(ask()));
    drop(outer);
    run.outcome().await.unwrap();
    let spans = closed(&recorder).await;

    let tree: Vec<_> = spans.iter().map(|span| (span.name, span.parent)).collect();
    assert_eq!(
        tree,
        [
            ("request", None),
            ("invoke_agent", Some(0)),
            ("step", Some(1)),
            ("chat", Some(2)),
            ("execute_tool", Some(2)),
            ("step", Some(1)),
            ("chat", Some(5)),
        ]
    );
    let wanted: [(usize, &[(&str, &str)]); 5] = [
        (
            1,
            &[
                ("otel.name", "invoke_agent"),
                ("gen_ai.operation.name", "invoke_agent"),
                ("gen_ai.provider.name", "scripted"),
                ("gen_ai.conversation.id", "chat-7"),
                ("gen_ai.request.model", "model-1"),
                ("gen_ai.response.finish_reasons", r#"["stop"]"#),
                ("gen_ai.usage.input_tokens", "300"),
                ("gen_ai.usage.output_tokens", "50"),
                ("gen_ai.usage.cache_read.input_tokens", "40"),
                ("gen_ai.usage.cache_creation.input_tokens", "20"),
                ("gen_ai.usage.reasoning.output_tokens", "5"),
                ("omniassist.run.outcome", "finish"),
                ("omniassist.run.cost", "0.0008"),
            ],
        ),
        (2, &[("omniassist.step", "1")]),
        (
            3,
            &[
                ("otel.name", "chat model-1"),
                ("otel.kind", "client"),
                ("gen_ai.operation.name", "chat"),
                ("gen_ai.provider.name", "scripted"),
                ("gen_ai.request.model", "model-1"),
                ("gen_ai.request.temperature", "0.5"),
                ("gen_ai.request.max_tokens", "400"),
                ("gen_ai.response.id", "scripted-1"),
                ("gen_ai.response.model", "model-1"),
                ("gen_ai.response.finish_reasons", r#"["tool_call"]"#),
                ("gen_ai.usage.input_tokens", "100"),
                ("gen_ai.usage.output_tokens", "20"),
                ("gen_ai.usage.cache_read.input_tokens", "40"),
                ("gen_ai.usage.cache_creation.input_tokens", "20"),
                ("gen_ai.usage.reasoning.output_tokens", "5"),
            ],
        ),
        (
            4,
            &[
                ("otel.name", "execute_tool weather"),
                ("gen_ai.operation.name", "execute_tool"),
                ("gen_ai.tool.name", "weather"),
                ("gen_ai.tool.type", "function"),
                ("gen_ai.tool.call.id", "call_1_1"),
            ],
        ),
        (5, &[("omniassist.step", "2")]),
    ];
    for (index, fields) in wanted {
        let fields: Vec<_> =
            fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut found = spans[index].fields.clone();
        if index == 1 {
            assert!(found.remove("omniassist.run.id").unwrap().starts_with("run_"));
        }
        let found: Vec<_> = found.into_iter().collect();
        let mut fields = fields;
        fields.sort();
        assert_eq!(found, fields, "span {index}");
    }
    assert_eq!(recorder.span_of_event("looking at the sky"), Some(4), "the tool must run in its span");
}

#[tokio::test]
async fn content_is_recorded_only_if_enabled() {
    let (recorder, guard) = Recorder::install();
    assistant(false).run(ask()).outcome().await.unwrap();
    closed(&recorder).await;
    assert!(!recorder.text().contains("canary"), "{}", recorder.text());
    drop(guard);

    let (recorder, _guard) = Recorder::install();
    assistant(true).run(ask()).outcome().await.unwrap();
    closed(&recorder).await;
    let chats = recorder.named("chat");
    let json = |span: &Seen, field: &str| serde_json::from_str::<Value>(span.get(field).unwrap()).unwrap();
    assert_eq!(
        json(&chats[0].1, "gen_ai.system_instructions"),
        json!([{"type": "text", "content": "canary-prompt"}])
    );
    let part = json!({
        "type": "tool_call", "id": "call_1_1", "name": "weather", "arguments": {"city": "canary-city"},
    });
    assert_eq!(
        json(&chats[0].1, "gen_ai.output.messages"),
        json!([{
            "role": "assistant",
            "parts": [{"type": "text", "content": "canary-answer"}, part],
            "finish_reason": "tool_call",
        }])
    );
    let input = json(&chats[1].1, "gen_ai.input.messages");
    assert_eq!(input[0], json!({"role": "user", "parts": [{"type": "text", "content": "canary-question"}]}));
    assert_eq!(input[3]["parts"][0]["response"], "canary-output: sun in canary-city");
    let tool = &recorder.named("execute_tool")[0].1;
    assert_eq!(json(tool, "gen_ai.tool.call.arguments"), json!({"city": "canary-city"}));
    assert_eq!(json(tool, "gen_ai.tool.call.result"), json!("canary-output: sun in canary-city"));
}

#[tokio::test]
async fn deltas_create_no_spans_and_no_records() {
    let mut calls = Vec::new();
    for deltas in [1, 1_000] {
        let (recorder, _guard) = Recorder::install();
        let model = ScriptedProvider::new().turn(Turn::text_chunks(vec!["word "; deltas]));
        let assistant = Assistant::builder(model).build().unwrap();
        assert_eq!(assistant.run(ask()).count().await, deltas + 6);
        calls.push(recorder.calls());
    }
    assert_eq!(calls[0], calls[1]);
}

#[tokio::test]
async fn failures_have_a_type_and_no_text() {
    async fn broken() -> Result<String, ToolError> {
        Err(ToolError::internal("canary-reason"))
    }
    async fn refusing() -> Result<String, ToolError> {
        Err(ToolError::new("canary-sentence"))
    }
    async fn panicking() -> Result<String, ToolError> {
        panic!("canary-panic")
    }
    async fn endless() -> Result<String, ToolError> {
        std::future::pending().await
    }
    let (recorder, _guard) = Recorder::install();
    let error = Error::provider(ProviderErrorKind::RateLimited).with_detail("canary-detail");
    let model = ScriptedProvider::new()
        .turn(["broken", "refusing", "panicking", "endless"].map(|name| call(name, json!({}))))
        .turn(Turn::error(error));
    let assistant = Assistant::builder(model)
        .tool(Tool::new("broken", "Breaks", broken))
        .tool(Tool::new("refusing", "Refuses", refusing))
        .tool(Tool::new("panicking", "Panics", panicking))
        .tool(Tool::new("endless", "Never ends", endless).timeout(Duration::from_millis(20)))
        .build()
        .unwrap();
    assistant.run(ask()).outcome().await.unwrap_err();
    assistant.shutdown().await;
    let spans = closed(&recorder).await;

    let mut tools: Vec<_> = recorder
        .named("execute_tool")
        .iter()
        .map(|(_, span)| {
            format!("{} {}", span.get("gen_ai.tool.name").unwrap(), span.get("error.type").unwrap())
        })
        .collect();
    tools.sort();
    assert_eq!(tools, ["broken internal", "endless timeout", "panicking panic", "refusing tool_error"]);
    let chat = &recorder.named("chat")[1].1;
    assert_eq!((chat.get("error.type"), chat.get("otel.status_code")), (Some("rate_limited"), Some("ERROR")));
    let run = &recorder.named("invoke_agent")[0].1;
    assert_eq!((run.get("error.type"), run.get("otel.status_code")), (Some("rate_limited"), Some("ERROR")));
    assert_eq!(run.get("omniassist.run.outcome"), Some("error"));
    assert!(!format!("{spans:?}").contains("canary"), "{spans:?}");
}

#[tokio::test]
async fn a_run_that_is_dropped_or_stopped_closes_its_spans() {
    let (recorder, _guard) = Recorder::install();
    let model = || ScriptedProvider::new().turn([text("Hel"), usage(9, 1, 0, 0), Turn::pending()]);
    let mut run = Assistant::builder(model()).build().unwrap().run(ask());
    for _ in 0..4 {
        run.next().await.unwrap();
        assert!(tracing::Span::current().is_disabled(), "no span can be entered between polls");
        if recorder.named("chat").first().is_some_and(|(_, chat)| !chat.closed) {
            break;
        }
    }
    drop(run);
    let stopped = Assistant::builder(model()).build().unwrap().run(ask());
    stopped.handle().abort("enough");
    stopped.outcome().await.unwrap_err();
    closed(&recorder).await;

    let runs = recorder.named("invoke_agent");
    assert_eq!(runs[0].1.get("omniassist.run.outcome"), Some("dropped"));
    assert_eq!(runs[1].1.get("omniassist.run.outcome"), Some("abort"));
    let chat = &recorder.named("chat")[0].1;
    assert_eq!(chat.get("error.type"), Some("cancelled"));
    assert_eq!(runs[0].1.get("error.type"), None, "a dropped run must have no error");
}

#[tokio::test]
async fn runs_on_one_thread_keep_their_spans_apart() {
    let (recorder, _guard) = Recorder::install();
    let slowly = || {
        let pause = || Turn::delay(Duration::from_millis(2));
        let model = ScriptedProvider::new()
            .turn([pause(), text("a"), pause(), call("weather", json!({"city": "X"}))])
            .turn([pause(), text("b"), pause()]);
        Assistant::builder(model).tool(Tool::new("weather", "Looks", weather)).build().unwrap().run(ask())
    };
    let ends = tokio::join!(slowly().outcome(), slowly().outcome(), slowly().outcome());
    assert!(ends.0.is_ok() && ends.1.is_ok() && ends.2.is_ok());
    let spans = closed(&recorder).await;
    let runs = recorder.named("invoke_agent");
    assert_eq!(runs.len(), 3);
    for (run, span) in runs {
        assert_eq!(span.parent, None);
        let steps: Vec<_> =
            recorder.named("step").into_iter().filter(|(_, step)| step.parent == Some(run)).collect();
        assert_eq!(steps.len(), 2);
        for (index, (step, _)) in steps.iter().enumerate() {
            let children: Vec<_> =
                spans.iter().filter(|span| span.parent == Some(*step)).map(|span| span.name).collect();
            assert_eq!(children, if index == 0 { vec!["chat", "execute_tool"] } else { vec!["chat"] });
        }
    }
}

#[tokio::test]
async fn a_refusal_and_a_truncation_keep_their_finish_reasons() {
    let (recorder, _guard) = Recorder::install();
    let reasons = [FinishReason::Refusal, FinishReason::Length, FinishReason::Other("eot".into())];
    for reason in reasons {
        let model = ScriptedProvider::new().turn([text("No."), Turn::finish(reason)]);
        Assistant::builder(model).build().unwrap().run(ask()).outcome().await.unwrap();
    }
    let chats = recorder.named("chat");
    let found: Vec<_> = chats.iter().map(|(_, span)| span.get("gen_ai.response.finish_reasons")).collect();
    assert_eq!(found, [Some(r#"["content_filter"]"#), Some(r#"["length"]"#), Some(r#"["eot"]"#)]);
}

#[cfg(all(feature = "openai", feature = "gemini", feature = "anthropic"))]
#[tokio::test]
async fn providers_have_the_names_of_the_conventions() {
    use omniassist_server::provider::Fallback;
    use omniassist_server::provider::openai::Vendor;
    use omniassist_server::{AnthropicProvider, GeminiProvider, LlmProvider, OpenAiChatProvider};

    const NOWHERE: &str = "http://127.0.0.1:9/v1";
    async fn name_of(provider: impl LlmProvider) -> String {
        let (recorder, _guard) = Recorder::install();
        drop(Assistant::builder(provider).build().unwrap().run(ask()));
        closed(&recorder).await[0].fields["gen_ai.provider.name"].clone()
    }
    let chat = |vendor| OpenAiChatProvider::builder().vendor(vendor).api_key("k").base_url(NOWHERE);
    for (vendor, name) in [
        (Vendor::AZURE, "azure.ai.openai"),
        (Vendor::DEEPSEEK, "deepseek"),
        (Vendor::GROQ, "groq"),
        (Vendor::MISTRAL, "mistral_ai"),
        (Vendor::MOONSHOT, "moonshot_ai"),
        (Vendor::OPENAI, "openai"),
        (Vendor::PERPLEXITY, "perplexity"),
        (Vendor::XAI, "x_ai"),
        // The conventions have no names for the other vendors.
        (Vendor::OLLAMA, "ollama"),
    ] {
        assert_eq!(name_of(chat(vendor).model("m").build().unwrap()).await, name);
    }
    let gemini = || GeminiProvider::builder().api_key("k").base_url(NOWHERE).build().unwrap();
    let anthropic = AnthropicProvider::builder().api_key("k").base_url(NOWHERE).build().unwrap();
    assert_eq!(name_of(gemini()).await, "gcp.gemini");
    assert_eq!(name_of(anthropic).await, "anthropic");
    let chain = Fallback::new(chat(Vendor::OPENAI).build().unwrap()).or(gemini());
    assert_eq!(name_of(chain).await, "openai|gcp.gemini");
}
