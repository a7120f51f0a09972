//! Tests of context, metadata and data that the host adds to runs.

use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use http::Extensions;
use omniassist_server::core::context::{
    ContextCompressor, ContextReceipt, ContextSummariser, SummaryFuture, SummaryRequest,
};
use omniassist_server::core::event::RunErrorCode;
use omniassist_server::core::{ContextMessage, Limits, RunEvent, RunRequest, Usage};
use omniassist_server::observe::RunReport;
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::tool::ToolContext;
use omniassist_server::{
    Assistant, Error, LlmSummariser, Price, Prices, Principal, ProviderErrorKind, RunContext, Tool, ToolError,
};
use serde_json::{Value, json};

use crate::spans::Recorder;
use crate::spent_tokens::SpentTokens;

fn flag(name: &str) -> ContextMessage {
    ContextMessage::new(name, "flag", json!({ "name": name }))
}

fn ask(notes: usize) -> RunRequest {
    let mut request = RunRequest::prompt("Hello");
    let note = |id: usize| ContextMessage::new(format!("n{id}"), "note", json!({ "id": id }));
    request.context = (0..notes).map(note).collect();
    request
}

fn as_ada() -> Extensions {
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new("ada"));
    extensions
}

/// Returns the context bullets of the last model call.
fn bullets(model: &ScriptedProvider) -> Vec<String> {
    let read = serde_json::to_string(&*model.payloads().last().unwrap().transcript).unwrap();
    let block =
        read.split("<app_context>").nth(1).unwrap_or_default().split("</app_context>").next().unwrap();
    block.split(r"\n- ").skip(1).map(|line| line.trim_end_matches(r"\n").replace("\\\"", "'")).collect()
}

#[tokio::test]
async fn context_of_the_client_does_not_displace_context_of_the_host() {
    let model = ScriptedProvider::new().turn(text("Hi"));
    let assistant = Assistant::builder(model.clone()).context(flag("beta")).build().unwrap();
    assistant.add_context(flag("sale"));
    assistant.run(ask(25)).text().await.unwrap();
    let bullets = bullets(&model);
    assert_eq!(bullets[..3], ["flag: name = 'beta'", "flag: name = 'sale'", "note: id = 5"]);
    assert_eq!(bullets.len(), 22);
}

#[tokio::test]
async fn the_compressor_of_the_host_sets_the_window() {
    let model = ScriptedProvider::new().turn(text("Hi"));
    let builder = Assistant::builder(model.clone()).context_compressor(ContextCompressor::new().window(2));
    builder.build().unwrap().run(ask(25)).text().await.unwrap();
    assert_eq!(bullets(&model), ["note: id = 23", "note: id = 24"]);
}

#[tokio::test]
async fn context_of_the_host_is_replaced_and_removed_by_its_id() {
    let model = ScriptedProvider::new().turn(text("Hi")).turn(text("Hi"));
    let assistant = Assistant::builder(model.clone()).context(flag("beta")).build().unwrap();
    assistant.add_context(flag("sale"));
    assistant.add_context(ContextMessage::new("sale", "flag", json!({ "name": "sale of lamps" })));
    assistant.run(ask(0)).text().await.unwrap();
    assert_eq!(bullets(&model), ["flag: name = 'beta'", "flag: name = 'sale of lamps'"]);

    assert!(assistant.remove_context("sale"));
    assert!(!assistant.remove_context("sale"));
    assistant.run(ask(0)).text().await.unwrap();
    assert_eq!(bullets(&model), ["flag: name = 'beta'"]);
}

#[tokio::test]
async fn a_hook_adds_context_for_the_user_of_the_run() {
    async fn account(run: RunContext) -> Result<Vec<ContextMessage>, std::io::Error> {
        Ok(vec![ContextMessage::new("a", "account", json!({ "user": run.principal().id() }))])
    }
    let model = ScriptedProvider::new().turn(text("Hi"));
    let assistant =
        Assistant::builder(model.clone()).context(flag("beta")).context_for(account).build().unwrap();
    assistant.try_run(ask(1), as_ada()).await.unwrap().text().await.unwrap();
    assert_eq!(bullets(&model), ["flag: name = 'beta'", "account: user = 'ada'", "note: id = 0"]);
}

#[tokio::test]
async fn a_context_hook_that_fails_fails_the_run() {
    let model = ScriptedProvider::new();
    let hook = async |_| Err::<Vec<ContextMessage>, _>("no database");
    let assistant = Assistant::builder(model.clone()).context_for(hook).build().unwrap();
    let failure = assistant.run(ask(0)).text().await.unwrap_err();
    assert_eq!(failure.code(), Some(RunErrorCode::Internal));
    assert!(model.payloads().is_empty());
}

/// Stores the report of the last run.
#[derive(Clone, Default)]
struct LastReport(Arc<Mutex<Option<RunReport>>>);

impl LastReport {
    fn keep(&self) -> impl Fn(&RunReport) + Send + Sync + 'static {
        let kept = Arc::clone(&self.0);
        move |report| *kept.lock().unwrap() = Some(report.clone())
    }

    fn get(&self) -> RunReport {
        self.0.lock().unwrap().clone().unwrap()
    }
}

#[tokio::test]
async fn the_receipt_of_the_context_is_in_the_report_and_in_metadata_if_enabled() {
    for enabled in [false, true] {
        let last = LastReport::default();
        let model = ScriptedProvider::new().turn(text("Hi"));
        let builder = Assistant::builder(model).context(flag("beta")).on_run_end(last.keep());
        let assistant = builder.report_context(enabled).build().unwrap();
        let message = assistant.run(ask(25)).message().await.unwrap();
        let receipt = last.get().context;
        assert_eq!((receipt.received, receipt.kept, receipt.dropped), (26, 21, 5));
        assert!(receipt.bytes_before > receipt.bytes_after && receipt.bytes_after > 0);
        let metadata = message.metadata.unwrap_or_default();
        let shown = metadata.get("context").cloned().unwrap_or_default();
        assert_eq!(shown, if enabled { serde_json::to_value(receipt).unwrap() } else { Value::Null });
    }
}

#[tokio::test]
async fn a_run_that_fails_before_its_context_reports_none() {
    let last = LastReport::default();
    let prompt = |_: &RunContext| Err::<String, _>("no prompt");
    let builder = Assistant::builder(ScriptedProvider::new()).system_prompt(prompt).context(flag("beta"));
    let assistant = builder.on_run_end(last.keep()).build().unwrap();
    assistant.run(ask(3)).text().await.unwrap_err();
    assert_eq!(last.get().context, ContextReceipt::default());
}

/// Returns a request whose context needs a summary.
fn long() -> RunRequest {
    let mut request = RunRequest::prompt("Hello");
    let note = |id| ContextMessage::new(format!("n{id}"), "note", json!({ "id": id, "x": "x".repeat(400) }));
    request.context = (0..20).map(note).collect();
    request
}

#[tokio::test]
async fn a_summary_is_counted_in_usage_cost_budget_and_spans() {
    let (recorder, _guard) = Recorder::install();
    let (last, purse) = (LastReport::default(), SpentTokens::default());
    let model =
        ScriptedProvider::new().with_model("large").otherwise(|_| text("Hi").then(Turn::usage(100, 10)));
    let small =
        ScriptedProvider::new().with_model("small").turn([text("The user shops."), Turn::usage(2_000, 20)]);
    let prices = Prices::new()
        .model("large", Price::per_million_tokens(1.0, 10.0))
        .model("small", Price::per_million_tokens(0.1, 1.0));
    let assistant = Assistant::builder(model.clone())
        .context(flag("beta"))
        .context_summariser(LlmSummariser::new(small.clone()))
        .prices(prices)
        .token_budget(purse.clone())
        .on_run_end(last.keep())
        .build()
        .unwrap();

    let outcome = assistant.try_run(long(), as_ada()).await.unwrap().outcome().await.unwrap();
    let read = format!("{:?}", model.payloads()[0].transcript);
    assert!(
        read.contains("name = ") && read.contains("Summary:") && read.contains("The user shops."),
        "{read}"
    );
    let used = |usage: Usage| (usage.input_tokens, usage.output_tokens);
    assert_eq!(used(outcome.usage), (Some(2_100), Some(30)));
    assert_eq!(outcome.cost.unwrap().to_string(), "0.00042");
    let report = last.get();
    assert_eq!((used(report.usage), report.steps), ((Some(2_100), Some(30)), 1));
    assert!(report.context.summarised);
    let spent: Vec<_> = purse.0.lock().unwrap().iter().map(|spent| spent.tokens()).collect();
    assert_eq!(spent, [2_020, 110]);
    let spans = recorder.spans();
    let (_, chat) = recorder.named("chat").into_iter().next().unwrap();
    assert_eq!(spans[chat.parent.unwrap()].name, "invoke_agent");
    assert_eq!(chat.get("gen_ai.usage.input_tokens"), Some("2000"));

    let again = assistant.try_run(long(), as_ada()).await.unwrap().outcome().await.unwrap();
    assert_eq!(used(again.usage), (Some(100), Some(10)), "the summary must be reused");
    assert_eq!(small.payloads().len(), 1);
}

#[tokio::test]
async fn a_summary_without_reported_tokens_is_estimated_for_the_budget() {
    let purse = SpentTokens::default();
    let model = ScriptedProvider::new().turn(text("Hi").then(Turn::usage(100, 10)));
    let small = ScriptedProvider::new().turn(text("The user shops."));
    let assistant = Assistant::builder(model)
        .context_summariser(LlmSummariser::new(small))
        .token_budget(purse.clone())
        .build()
        .unwrap();
    assistant.try_run(long(), as_ada()).await.unwrap().outcome().await.unwrap();
    let spent = purse.0.lock().unwrap()[0];
    assert!(spent.tokens() > 2_000, "{spent:?}");
}

#[tokio::test]
async fn a_failed_summary_leaves_the_bullets() {
    let last = LastReport::default();
    let model = ScriptedProvider::new().with_model("m").turn(text("Hi").then(Turn::usage(0, 0)));
    let small = ScriptedProvider::new().with_model("m").turn([
        text("The user"),
        Turn::usage(50, 5),
        Turn::error(Error::provider(ProviderErrorKind::Interrupted)),
    ]);
    let builder = Assistant::builder(model.clone());
    let builder = builder.prices(Prices::new().model("m", Price::per_million_tokens(1.0, 1.0)));
    let builder = builder.context_summariser(LlmSummariser::new(small));
    let assistant = builder.on_run_end(last.keep()).build().unwrap();
    assistant.run(long()).text().await.unwrap();
    assert_eq!(bullets(&model).len(), 20);
    let report = last.get();
    assert!(report.context.summary_failed && !report.context.summarised);
    assert_eq!((report.usage.input_tokens, report.cost), (Some(50), None), "its tokens count");
}

/// Panics, or never answers.
struct Broken {
    panics: bool,
}

impl ContextSummariser for Broken {
    fn summarise<'a>(&'a self, _: SummaryRequest<'a>) -> SummaryFuture<'a> {
        let panics = self.panics;
        Box::pin(async move {
            assert!(!panics, "bug");
            std::future::pending().await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_summariser_that_panics_or_never_answers_leaves_the_bullets() {
    for panics in [true, false] {
        let (last, model) = (LastReport::default(), ScriptedProvider::new().turn(text("Hi")));
        let builder = Assistant::builder(model.clone()).context_summariser(Broken { panics });
        let assistant = builder.on_run_end(last.keep()).build().unwrap();
        let began = tokio::time::Instant::now();
        assert_eq!(assistant.run(long()).text().await.unwrap(), "Hi");
        assert_eq!(began.elapsed().as_secs(), if panics { 0 } else { 30 });
        assert_eq!(bullets(&model).len(), 20);
        let report = last.get();
        assert!(report.context.summary_failed && !report.context.summarised);
    }
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_is_cut_off_is_counted() {
    let reported = [text("The user"), Turn::usage(2_000, 20), Turn::pending()];
    let small = ScriptedProvider::new().with_model("small").turn(reported).turn(Turn::pending());
    let (last, purse) = (LastReport::default(), SpentTokens::default());
    let assistant = Assistant::builder(ScriptedProvider::new())
        .context_summariser(LlmSummariser::new(small))
        .prices(Prices::new().model("small", Price::per_million_tokens(0.1, 1.0)))
        .token_budget(purse.clone())
        .on_run_end(last.keep())
        .build()
        .unwrap();
    for is_reported in [true, false] {
        let mut run = assistant.try_run(long(), as_ada()).await.unwrap();
        let waited = tokio::time::timeout(std::time::Duration::from_secs(1), run.next()).await;
        assert!(waited.is_err(), "the summary never ends");
        drop(run);
        let report = last.get();
        let input = report.usage.input_tokens;
        assert_eq!((input, report.cost), (is_reported.then_some(2_000), None), "it may have used more");
        let spent = purse.0.lock().unwrap().pop().map_or(0, |spent| spent.tokens());
        assert!(spent == 2_020 && is_reported || spent > 2_000 && !is_reported, "{spent}");
    }
}

#[tokio::test]
async fn a_summary_is_counted_if_the_run_then_fails() {
    let small =
        ScriptedProvider::new().with_model("small").turn([text("The user shops."), Turn::usage(2_000, 20)]);
    let (last, purse) = (LastReport::default(), SpentTokens::default());
    let assistant = Assistant::builder(ScriptedProvider::new())
        .context_summariser(LlmSummariser::new(small))
        .on_message_metadata(|_: &RunContext| -> Value { panic!("bug") })
        .token_budget(purse.clone())
        .on_run_end(last.keep())
        .build()
        .unwrap();
    assistant.try_run(long(), as_ada()).await.unwrap().text().await.unwrap_err();
    assert_eq!(last.get().usage.input_tokens, Some(2_000));
    assert_eq!(purse.0.lock().unwrap().pop().map_or(0, |spent| spent.tokens()), 2_020);
}

#[tokio::test]
async fn metadata_of_the_host_arrives_with_the_start_and_changes_no_built_in_fields() {
    let model = ScriptedProvider::new().turn(text("Hi"));
    let hook = |run: &RunContext| json!({ "user": run.principal().id(), "usage": 0, "omniassist": {} });
    let assistant = Assistant::builder(model).on_message_metadata(hook).report_timing(true).build().unwrap();
    let mut run = assistant.try_run(ask(0), as_ada()).await.unwrap();
    let Some(RunEvent::Start { metadata: Some(metadata), .. }) = run.next().await else {
        panic!("expected a start with metadata")
    };
    assert_eq!(Value::from(metadata), json!({ "user": "ada" }));
    let message = run.message().await.unwrap();
    assert!(message.metadata.unwrap()["timing"].is_object());
}

#[tokio::test]
async fn metadata_that_is_not_an_object_is_dropped() {
    let assistant = Assistant::builder(ScriptedProvider::new().turn(text("Hi")))
        .on_message_metadata(|_: &RunContext| json!("hello"))
        .build()
        .unwrap();
    let Some(RunEvent::Start { metadata, .. }) = assistant.run(ask(0)).next().await else {
        panic!("expected a start")
    };
    assert_eq!(metadata, None);
}

fn data_of(events: &[RunEvent]) -> Vec<(usize, &str, String)> {
    let data = events.iter().enumerate().filter_map(|(at, event)| match event {
        RunEvent::Data { name, data, .. } => Some((at, name.as_str(), data.as_str().to_owned())),
        _ => None,
    });
    data.collect()
}

#[tokio::test]
async fn prompts_hooks_and_tools_send_data_to_the_client() {
    async fn work(call: ToolContext) -> Result<&'static str, ToolError> {
        call.run().data("tool", Some("1"), json!({ "n": 2 }));
        Ok("done")
    }
    let model = ScriptedProvider::new().turn(call("work", json!({}))).turn(text("Hi"));
    let assistant = Assistant::builder(model)
        .system_prompt(|run: &RunContext| {
            run.data("plan", None, "free");
            run.data("not a name", None, "free");
            run.data("large", None, "x".repeat(300_000));
            "You help."
        })
        .tool(Tool::new("work", "Works", work))
        .build()
        .unwrap();
    let events: Vec<_> = assistant.run(ask(0)).collect().await;
    assert!(matches!(events[0], RunEvent::Start { .. }));
    assert!(matches!(events.last(), Some(RunEvent::Finish { .. })));
    let data = data_of(&events);
    assert_eq!(data.len(), 2, "{data:?}");
    assert_eq!((data[0].0, data[0].1, data[0].2.as_str()), (1, "plan", "\"free\""));
    assert_eq!((data[1].1, data[1].2.as_str()), ("tool", r#"{"n":2}"#));
}

#[tokio::test]
async fn data_of_a_run_that_fails_precedes_its_end() {
    let prompt = |run: &RunContext| {
        run.data("plan", None, "free");
        Err::<String, _>("no prompt")
    };
    let assistant = Assistant::builder(ScriptedProvider::new()).system_prompt(prompt).build().unwrap();
    let events: Vec<_> = assistant.run(ask(0)).collect().await;
    assert_eq!(data_of(&events).len(), 1);
    assert!(matches!((&events[0], events.last()), (RunEvent::Start { .. }, Some(RunEvent::Error { .. }))));
}

#[tokio::test]
async fn additional_body_fields_reach_the_host() {
    let body = json!({
        "messages": [{ "id": "m1", "role": "user", "parts": [{ "type": "text", "text": "Hi" }] }],
        "sessionId": "s-7",
        "tenant": { "id": 1 },
    });
    let request =
        omniassist_server::core::dialect::ai_sdk::read_request(body.to_string().into(), &Limits::default())
            .unwrap();
    let model = ScriptedProvider::new().turn(text("Hi"));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let seen_by_prompt = Arc::clone(&seen);
    let assistant = Assistant::builder(model)
        .system_prompt(move |run: &RunContext| {
            let fields = run.body_fields().keys().map(ToString::to_string).collect::<Vec<_>>();
            let session = run.body_field("sessionId").map(|session| session.as_str().to_owned());
            seen_by_prompt.lock().unwrap().push((fields, session));
            "You help."
        })
        .build()
        .unwrap();
    assistant.try_run(request, as_ada()).await.unwrap().text().await.unwrap();
    let fields = vec!["sessionId".to_owned(), "tenant".to_owned()];
    assert_eq!(*seen.lock().unwrap(), [(fields, Some("\"s-7\"".to_owned()))]);
}

#[test]
fn a_run_context_has_the_data_of_the_request() {
    let mut request = RunRequest::prompt("hi");
    request.chat_id = Some("chat-1".into());
    request.context = vec![flag("c")];
    let mut extensions = as_ada();
    extensions.insert(7_u8);
    let run = RunContext::for_request(request.clone(), extensions);
    assert_eq!(run.chat_id(), request.chat_id.as_ref());
    assert_eq!((run.messages(), run.context()), (&request.messages[..], &request.context[..]));
    assert_eq!((run.principal().id(), run.extensions().get()), ("ada", Some(&7_u8)));
    let other = RunContext::for_request(request, Extensions::new());
    assert!(run.run_id().starts_with("run_") && run.run_id() != other.run_id());
    assert!(other.principal().is_anonymous());
}
