//! Tests of runs: the input of the model and the tools, the events for the caller, and the ways to stop a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use http::Extensions;
use omniassist_server::core::context::{ContextSummariser, Summary, SummaryFuture, SummaryRequest};
use omniassist_server::core::event::RunErrorCode;
use omniassist_server::core::message::{Part, ReasoningPart, Role, ToolPart, ToolState};
use omniassist_server::core::transcript::{TranscriptItem, UserContent};
use omniassist_server::core::{
    ContextMessage, HistoryPart, JsonText, Limits, LlmEvent, LlmPayload, Message, RunEvent, RunRequest,
    ToolSide, ToolSpec, Verdict, Verifier,
};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{
    Args, Assistant, CancellationToken, Principal, Run, RunContext, State, Tool, ToolContext, ToolError,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Notify;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

async fn ping() -> Result<&'static str, ToolError> {
    Ok("pong")
}

async fn events(run: Run) -> Vec<RunEvent> {
    run.collect().await
}

fn last_user(payload: &LlmPayload) -> String {
    let content = payload.transcript.iter().rev().find_map(|item| match item {
        TranscriptItem::User { content } => Some(content),
        _ => None,
    });
    let pieces = content.expect("a user item").iter().map(|piece| match piece {
        UserContent::Text { text } => text.to_string(),
        other => format!("{other:?}"),
    });
    pieces.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn the_system_prompt_can_be_text_a_closure_or_an_async_function() {
    async fn slowly(run: RunContext) -> Result<String, std::io::Error> {
        tokio::task::yield_now().await;
        Ok(format!("slow {}", run.principal()))
    }
    let model = || ScriptedProvider::new().turn(text("ok"));
    let asked = [model(), model(), model()];
    let assistants = [
        Assistant::builder(asked[0].clone()).system_prompt("fixed").build().unwrap(),
        Assistant::builder(asked[1].clone())
            .system_prompt(|run: &RunContext| format!("made for {}", run.principal()))
            .build()
            .unwrap(),
        Assistant::builder(asked[2].clone()).system_prompt(slowly).build().unwrap(),
    ];
    for assistant in &assistants {
        let mut extensions = Extensions::new();
        extensions.insert(Principal::new("ann"));
        let run = assistant.try_run(RunRequest::prompt("hi"), extensions).await.unwrap();
        assert_eq!(run.text().await.unwrap(), "ok");
    }
    let prompts: Vec<_> = asked.iter().map(|model| model.payloads()[0].system.clone().unwrap()).collect();
    assert_eq!(prompts, ["fixed", "made for ann", "slow ann"]);
}

#[tokio::test]
async fn a_system_prompt_that_fails_or_panics_fails_the_run_before_the_model_call() {
    async fn fails(_: RunContext) -> Result<String, std::io::Error> {
        Err(std::io::Error::other("no database"))
    }
    async fn panics(_: RunContext) -> String {
        panic!("bug")
    }
    let model = ScriptedProvider::new();
    let assistants = [
        Assistant::builder(model.clone()).system_prompt(fails).build().unwrap(),
        Assistant::builder(model.clone()).system_prompt(panics).build().unwrap(),
    ];
    for assistant in assistants {
        let failure = assistant.run(RunRequest::prompt("hi")).text().await.unwrap_err();
        assert_eq!(failure.code(), Some(RunErrorCode::Internal));
    }
    assert!(model.payloads().is_empty());
}

#[tokio::test]
async fn context_of_host_and_client_reaches_the_last_user_message() {
    let model = ScriptedProvider::new().turn(text("ok"));
    let assistant = Assistant::builder(model.clone())
        .context(ContextMessage::new("flag", "feature", json!({"beta": true})))
        .build()
        .unwrap();
    assistant.add_context(ContextMessage::new("news", "notice", json!("maintenance at noon")));
    let mut request = RunRequest::prompt("hi");
    request.context.push(ContextMessage::new("nav", "navigation", json!({"path": "/orders"})));
    assistant.run(request).text().await.unwrap();
    let said = last_user(&model.payloads()[0]);
    let order = ["beta", "maintenance", "/orders", "hi"].map(|word| said.find(word).expect(word));
    assert!(order.is_sorted(), "{said}");
}

struct Short(Arc<AtomicUsize>);

impl ContextSummariser for Short {
    fn summarise<'a>(&'a self, _: SummaryRequest<'a>) -> SummaryFuture<'a> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Ok(Summary::new("much happened")) })
    }
}

#[tokio::test]
async fn only_a_large_context_is_summarised() {
    let asked = Arc::new(AtomicUsize::new(0));
    let model = ScriptedProvider::new().otherwise(|_| text("ok"));
    let assistant =
        Assistant::builder(model.clone()).context_summariser(Short(Arc::clone(&asked))).build().unwrap();
    for (messages, expected) in [(1, 0), (20, 1)] {
        let mut request = RunRequest::prompt("hi");
        for n in 0..messages {
            let data = json!({"note": format!("{n}{}", "x".repeat(400))});
            request.context.push(ContextMessage::new(format!("c{n}"), "note", data));
        }
        assistant.run(request).text().await.unwrap();
        assert_eq!(asked.load(Ordering::SeqCst), expected);
    }
    assert!(last_user(&model.payloads()[1]).contains("much happened"));
}

#[tokio::test]
async fn tools_of_one_step_run_concurrently_up_to_the_limit() {
    #[derive(Clone, Default)]
    struct Gauge(Arc<AtomicUsize>, Arc<AtomicUsize>);
    async fn work(State(Gauge(now, most)): State<Gauge>) -> Result<u32, ToolError> {
        let running = now.fetch_add(1, Ordering::SeqCst) + 1;
        most.fetch_max(running, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(30)).await;
        now.fetch_sub(1, Ordering::SeqCst);
        Ok(1)
    }
    for (limit, expected) in [(8, 8), (3, 3)] {
        let gauge = Gauge::default();
        let calls = (0..10).fold(Turn::new(), |turn, _| turn.then(call("work", json!({}))));
        let model = ScriptedProvider::new().turn(calls).turn(text("done"));
        let mut limits = Limits::default();
        limits.max_parallel_tools = limit;
        let assistant = Assistant::builder(model)
            .limits(limits)
            .state(gauge.clone())
            .tool(Tool::new("work", "Work", work))
            .build()
            .unwrap();
        let message = assistant.run(RunRequest::prompt("go")).message().await.unwrap();
        assert_eq!(message.tools().filter(|tool| tool.state.is_answered()).count(), 10);
        assert_eq!(gauge.1.load(Ordering::SeqCst), expected);
    }
}

#[tokio::test]
async fn progress_reaches_the_stream_as_preliminary_outputs() {
    async fn slow(call: ToolContext) -> Result<Value, ToolError> {
        for percent in [10, 60] {
            call.progress(json!({ "percent": percent }));
            tokio::task::yield_now().await;
        }
        Ok(json!("ready"))
    }
    let model = ScriptedProvider::new().turn(call("slow", json!({}))).turn(text("done"));
    let assistant = Assistant::builder(model).tool(Tool::new("slow", "Slow", slow)).build().unwrap();
    let outputs: Vec<_> = events(assistant.run(RunRequest::prompt("go")))
        .await
        .into_iter()
        .filter_map(|event| match event {
            RunEvent::ToolOutput { output, preliminary, .. } => Some((output.to_string(), preliminary)),
            _ => None,
        })
        .collect();
    let expected = [("{\"percent\":10}", true), ("{\"percent\":60}", true), ("\"ready\"", false)];
    assert_eq!(outputs, expected.map(|(output, preliminary)| (output.to_owned(), preliminary)));
}

#[tokio::test]
async fn a_tool_registered_during_a_run_is_visible_only_to_later_runs() {
    let go = Arc::new(Notify::new());
    #[derive(Clone)]
    struct Gate(Arc<tokio::sync::Semaphore>);
    async fn wait(State(Gate(gate)): State<Gate>) -> Result<u32, ToolError> {
        let _permit = gate.acquire().await?;
        Ok(1)
    }
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    // Every run calls `wait`, then `late`, then answers.
    let model = ScriptedProvider::new().otherwise(|payload| {
        match payload.transcript.iter().filter(|item| matches!(item, TranscriptItem::Call(_))).count() {
            0 => call("wait", json!({})),
            1 => call("late", json!({})),
            _ => text("done"),
        }
    });
    let assistant = Assistant::builder(model.clone())
        .state(Gate(Arc::clone(&gate)))
        .tool(Tool::new("wait", "Wait", wait))
        .build()
        .unwrap();
    let runs: Vec<_> = (0..50)
        .map(|_| {
            let (assistant, go) = (assistant.clone(), Arc::clone(&go));
            tokio::spawn(async move {
                go.notify_one();
                assistant.run(RunRequest::prompt("go")).message().await.unwrap()
            })
        })
        .collect();
    while model.payloads().len() < 50 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(assistant.live_runs(), 50);

    assistant.tools().register(Tool::new("late", "Came later", ping)).unwrap();
    gate.add_permits(100);

    let late = |message: &Message| {
        let tool = message.tools().find(|tool| tool.name == "late").expect("a call of the late tool").clone();
        matches!(tool.state, ToolState::OutputAvailable { .. })
    };
    for run in runs {
        assert!(!late(&run.await.unwrap()), "an active run must not see the tool");
    }
    let asked_by_then = model.payloads();
    assert!(asked_by_then.iter().all(|payload| payload.tools.iter().all(|tool| tool.name != "late")));

    let next = assistant.run(RunRequest::prompt("go")).message().await.unwrap();
    assert!(late(&next), "the next run must see it");
    assert!(assistant.tools().unregister("late"));
    assert_eq!(assistant.live_runs(), 0);
}

#[tokio::test]
async fn dropping_a_run_drops_the_model_stream_and_cancels_its_tools() {
    #[derive(Clone)]
    struct Fired(Arc<Notify>, Arc<Notify>);
    async fn stubborn(State(fired): State<Fired>, token: CancellationToken) -> Result<u32, ToolError> {
        fired.0.notify_one();
        token.cancelled().await;
        fired.1.notify_one();
        Ok(1)
    }
    let fired = Fired(Arc::default(), Arc::default());
    let model = ScriptedProvider::new().turn(call("stubborn", json!({}))).turn(Turn::pending());
    let assistant = Assistant::builder(model.clone())
        .state(fired.clone())
        .tool(Tool::new("stubborn", "Waits", stubborn))
        .build()
        .unwrap();

    let running = tokio::spawn(assistant.run(RunRequest::prompt("go")).message());
    fired.0.notified().await;
    running.abort();
    tokio::time::timeout(Duration::from_millis(250), fired.1.notified())
        .await
        .expect("the cancellation token must fire in time");

    let speaking = ScriptedProvider::new().turn(text("so far").then(Turn::pending()));
    let assistant = Assistant::builder(speaking.clone()).build().unwrap();
    let mut run = assistant.run(RunRequest::prompt("go"));
    while !matches!(run.next().await, Some(RunEvent::TextDelta { .. })) {}
    let dropped = speaking.dropped();
    drop(run);
    tokio::time::timeout(Duration::from_millis(250), dropped)
        .await
        .expect("the stream must be dropped in time");
    assert_eq!(assistant.live_runs(), 0);
}

#[tokio::test]
async fn a_handle_aborts_a_run() {
    let model = ScriptedProvider::new().turn(text("so far").then(Turn::pending()));
    let assistant = Assistant::builder(model.clone()).build().unwrap();
    let run = assistant.run(RunRequest::prompt("go"));
    let handle = run.handle();
    let stopped = tokio::spawn(run.message());
    while model.payloads().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::sleep(Duration::from_millis(20)).await;
    handle.abort("enough");
    let failure = stopped.await.unwrap().unwrap_err();
    assert!(failure.is_aborted());
    assert_eq!(failure.into_partial().text(), "so far");
}

#[tokio::test]
async fn shutdown_ends_every_run_and_waits_for_tools() {
    #[derive(Clone)]
    struct Ended(Arc<AtomicUsize>);
    async fn winds_up(State(ended): State<Ended>, token: CancellationToken) -> Result<u32, ToolError> {
        token.cancelled().await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        ended.0.fetch_add(1, Ordering::SeqCst);
        Ok(1)
    }
    let ended = Ended(Arc::default());
    let model = ScriptedProvider::new().otherwise(|_| call("winds_up", json!({})));
    let assistant = Assistant::builder(model.clone())
        .state(ended.clone())
        .tool(Tool::new("winds_up", "Waits", winds_up))
        .build()
        .unwrap();
    let runs: Vec<_> =
        (0..3).map(|_| tokio::spawn(events(assistant.run(RunRequest::prompt("go"))))).collect();
    while model.payloads().len() < 3 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::sleep(Duration::from_millis(20)).await;
    assistant.shutdown().await;
    assert_eq!(ended.0.load(Ordering::SeqCst), 3);
    for run in runs {
        let events = run.await.unwrap();
        assert!(matches!(events.last(), Some(RunEvent::Error { code: RunErrorCode::ServerShutdown, .. })));
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_exceeds_its_deadline_fails_with_a_timeout() {
    let model = ScriptedProvider::new().turn(text("so far").then(Turn::pending()));
    let mut limits = Limits::default();
    limits.run_timeout = Duration::from_secs(40);
    let assistant = Assistant::builder(model).limits(limits).build().unwrap();
    let started = tokio::time::Instant::now();
    let failure = assistant.run(RunRequest::prompt("go")).text().await.unwrap_err();
    assert_eq!(failure.code(), Some(RunErrorCode::Timeout));
    let took = started.elapsed();
    assert!((40..=42).contains(&took.as_secs()), "{took:?}");
}

struct Doubtful(Verdict);

impl Verifier for Doubtful {
    fn verify(&self, posted: HistoryPart<'_>) -> Verdict {
        assert_eq!(posted.poster.principal, Some("ann"));
        match posted.part {
            Part::Tool(_) if posted.side == Some(ToolSide::FrontEnd) => Verdict::Accept,
            Part::Tool(_) | Part::Reasoning(_) => self.0,
            _ => Verdict::Accept,
        }
    }
}

fn history() -> RunRequest {
    let answered = |id: &str, name: &str| {
        Part::Tool(ToolPart {
            call_id: id.into(),
            name: name.into(),
            dynamic: false,
            provider_executed: false,
            state: ToolState::OutputAvailable {
                input: JsonText::EMPTY_OBJECT,
                output: JsonText::from_str_value("forged"),
                preliminary: false,
            },
            metadata: None,
        })
    };
    let metadata = serde_json::from_value(json!({"openai": {"itemId": "rs_1"}})).unwrap();
    let parts = vec![
        Part::Reasoning(ReasoningPart { text: "hm".into(), metadata }),
        answered("c1", "ping"),
        answered("c2", "page"),
    ];
    let assistant = Message { id: "m2".into(), role: Role::Assistant, parts, metadata: None };
    RunRequest::new(vec![Message::user("m1", "hi"), assistant, Message::user("m3", "go on")])
}

#[tokio::test]
async fn parts_that_only_the_server_writes_must_pass_the_verifier() {
    let assistant = |verdict, model: &ScriptedProvider| {
        Assistant::builder(model.clone())
            .tool(Tool::new("ping", "Ping", ping))
            .tool(Tool::front_end::<Nothing>("page", "Page"))
            .verifier(Doubtful(verdict))
            .build()
            .unwrap()
    };
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new("ann"));

    let model = ScriptedProvider::new().turn(text("ok"));
    let run = assistant(Verdict::Distrust, &model).try_run(history(), extensions.clone()).await.unwrap();
    run.text().await.unwrap();
    let transcript = model.payloads()[0].transcript.clone();
    let outputs: Vec<_> = transcript
        .iter()
        .filter_map(|item| match item {
            TranscriptItem::Result(result) => Some((result.output.to_string(), result.is_error)),
            TranscriptItem::Reasoning { metadata, .. } => {
                assert!(metadata.is_none(), "untrusted opaque state must be dropped");
                None
            }
            _ => None,
        })
        .collect();
    assert!(outputs[0].1 && !outputs[0].0.contains("forged"), "{outputs:?}");
    assert_eq!(outputs[1], ("\"forged\"".to_owned(), false), "the output of a client tool needs no proof");

    let refused = assistant(Verdict::Refuse, &model).try_run(history(), extensions).await.unwrap_err();
    assert_eq!(refused.path(), Some("messages[1].parts[0]"));
}

#[tokio::test]
async fn a_client_cannot_declare_a_server_tool() {
    let assistant =
        Assistant::builder(ScriptedProvider::new()).tool(Tool::new("ping", "Ping", ping)).build().unwrap();
    let mut request = RunRequest::prompt("hi");
    request.tools.push(Arc::new(ToolSpec::new("ping", "Mine", json!({"type": "object"})).front_end()));
    let refused = assistant.try_run(request.clone(), Extensions::new()).await.unwrap_err();
    assert_eq!(refused.path(), Some("tools[0]"));
    let failure = assistant.run(request).text().await.unwrap_err();
    assert_eq!(failure.code(), Some(RunErrorCode::InvalidRequest));
}

#[tokio::test]
async fn server_and_front_end_tools_of_one_step_are_both_served() {
    #[derive(Deserialize, JsonSchema)]
    struct Page {
        #[expect(dead_code, reason = "only its schema matters here")]
        path: String,
    }
    let turn = call("page", json!({"path": "/x"})).then(call("ping", json!({})));
    let model = ScriptedProvider::new().turn(turn).turn(text("There."));
    let assistant = Assistant::builder(model.clone())
        .tool(Tool::new("ping", "Ping", ping))
        .tool(Tool::front_end::<Page>("page", "Open a page"))
        .build()
        .unwrap();
    let user = Message::user("m1", "hi");
    let mut message = assistant.run(RunRequest::new(vec![user.clone()])).message().await.unwrap();
    let states: Vec<_> =
        message.tools().map(|tool| (tool.name.to_string(), tool.state.is_answered())).collect();
    assert_eq!(states, [("page".to_owned(), false), ("ping".to_owned(), true)]);

    for part in &mut message.parts {
        let Part::Tool(tool) = part else { continue };
        if let ToolState::InputAvailable { input } = &tool.state {
            let (input, output) = (input.clone(), JsonText::from_str_value("opened"));
            tool.state = ToolState::OutputAvailable { input, output, preliminary: false };
        }
    }
    let id = message.id.clone();
    let whole = assistant.run(RunRequest::new(vec![user, message])).message().await.unwrap();
    assert_eq!(whole.id, id, "the run must continue the same message");
    assert_eq!(whole.text(), "There.");
    let results: Vec<_> = model.payloads()[1]
        .transcript
        .iter()
        .filter_map(|item| match item {
            TranscriptItem::Result(result) => Some(result.output.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(results, ["\"opened\"", "\"pong\""]);
}

#[tokio::test]
async fn wrong_arguments_are_reported_to_the_model_and_the_tool_does_not_run() {
    #[derive(Deserialize, JsonSchema)]
    struct Number {
        n: u32,
    }
    async fn double(Args(Number { n }): Args<Number>) -> Result<u32, ToolError> {
        Ok(n * 2)
    }
    let model = ScriptedProvider::new()
        .turn(call("double", json!({"n": "two"})))
        .turn(call("double", json!({"n": 2})))
        .turn(text("4"));
    let assistant =
        Assistant::builder(model.clone()).tool(Tool::new("double", "Double", double)).build().unwrap();
    let message = assistant.run(RunRequest::prompt("2 * 2")).message().await.unwrap();
    let states: Vec<_> = message
        .tools()
        .map(|tool| match &tool.state {
            ToolState::OutputError { error_text, .. } => error_text.to_string(),
            ToolState::OutputAvailable { output, .. } => output.to_string(),
            other => format!("{other:?}"),
        })
        .collect();
    assert!(states[0].contains("/n"), "{states:?}");
    assert_eq!(states[1], "4");
}

#[tokio::test(start_paused = true)]
async fn model_and_timing_are_sent_if_the_host_enables_them() {
    let model = || {
        let start = LlmEvent::Start { id: None, model: Some("m-1".into()) };
        let wait = Turn::delay(Duration::from_millis(20));
        ScriptedProvider::new().turn(Turn::event(start).then(wait).then(text("ok")))
    };
    let silent = Assistant::builder(model()).build().unwrap();
    let message = silent.run(RunRequest::prompt("Hi")).message().await.unwrap();
    assert_eq!(message.metadata, None);

    let telling = Assistant::builder(model()).report_model(true).report_timing(true).build().unwrap();
    let metadata = telling.run(RunRequest::prompt("Hi")).message().await.unwrap().metadata.unwrap();
    assert_eq!(metadata["model"], "m-1");
    assert_eq!(metadata["timing"]["firstTextMs"], 20);
    assert_eq!(metadata["timing"]["totalMs"], 20);
    assert!(metadata["timing"]["startedAt"].as_u64().unwrap() > 1_600_000_000_000);
}
