use std::error::Error as _;
use std::time::Duration;

use futures_util::StreamExt;
use omniassist_server::core::{FinishReason, LlmEvent, LlmPayload, RunRequest, TranscriptItem};
use omniassist_server::provider::LlmProvider;
use omniassist_server::testing::{ScriptedProvider, Turn, call, reasoning, text};
use omniassist_server::{Assistant, Error, ProviderErrorKind, Result};
use serde_json::json;

fn question(text: &str) -> LlmPayload {
    LlmPayload::new([TranscriptItem::user(text)])
}

async fn play(model: &ScriptedProvider) -> Vec<Result<LlmEvent>> {
    model.stream(question("?")).collect().await
}

async fn healthy(model: &ScriptedProvider) -> Vec<LlmEvent> {
    play(model).await.into_iter().collect::<Result<_>>().unwrap()
}

fn finish(events: &[LlmEvent]) -> (FinishReason, bool) {
    let Some(LlmEvent::Finish { reason, truncated, .. }) = events.last() else {
        panic!("expected a finish: {events:?}")
    };
    (reason.clone(), *truncated)
}

#[tokio::test]
async fn a_run_without_a_turn_tells_its_number() {
    let assistant = Assistant::builder(ScriptedProvider::new()).build().unwrap();
    let failure = assistant.run(RunRequest::prompt("Hi")).text().await.unwrap_err();
    assert!(!failure.to_string().contains("turn"), "{failure}");
    let source = failure.source().unwrap().to_string();
    assert_eq!(source, "the scripted provider was asked for turn 1, but its script has 0");
}

#[tokio::test]
async fn a_turn_becomes_the_events_of_a_model() {
    let turn = [reasoning("Hm."), Turn::text_chunks(["He", "llo"]), call("look", json!({"id": 71}))];
    let model = ScriptedProvider::new().turn(turn);
    let events = healthy(&model).await;
    let shown: Vec<_> = events
        .iter()
        .map(|event| match event {
            LlmEvent::Start { .. } => "start".to_owned(),
            LlmEvent::ReasoningDelta { block, delta } => format!("think {block} {delta}"),
            LlmEvent::ReasoningEnd { block, .. } => format!("thought {block}"),
            LlmEvent::TextDelta { block, delta } => format!("say {block} {delta}"),
            LlmEvent::TextEnd { block, .. } => format!("said {block}"),
            LlmEvent::ToolCallStart { call, id, name, .. } => format!("call {call} {id} {name}"),
            LlmEvent::ToolCallDelta { call, delta } => format!("args {call} {delta}"),
            LlmEvent::ToolCallEnd { call, arguments, .. } => format!("called {call} {arguments}"),
            LlmEvent::Finish { reason, .. } => format!("{reason:?}"),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [
        "start",
        "think 0 Hm.",
        "thought 0",
        "say 1 He",
        "say 1 llo",
        "said 1",
        "call 0 call_1_1 look",
        "args 0 {\"id\":71",
        "args 0 }",
        "called 0 {\"id\":71}",
        "ToolCalls",
    ];
    assert_eq!(shown, expected);
}

#[tokio::test]
async fn each_call_receives_the_next_turn_and_is_recorded() {
    let model = ScriptedProvider::new().turn("one").turn(text("two")).with_model("m");
    let copy = model.clone();
    for (asked, said) in [("first", "one"), ("second", "two")] {
        let events: Vec<_> = copy.stream(question(asked)).map(Result::unwrap).collect().await;
        assert!(matches!(&events[0], LlmEvent::Start { model: Some(model), .. } if model == "m"));
        assert!(matches!(&events[1], LlmEvent::TextDelta { delta, .. } if delta == said));
    }
    let asked: Vec<_> = model.payloads().iter().map(|payload| payload.transcript[0].clone()).collect();
    assert_eq!(asked, [TranscriptItem::user("first"), TranscriptItem::user("second")]);
    assert_eq!((model.turns_left(), model.drops()), (0, 0));
}

#[tokio::test]
async fn a_stream_takes_its_turn_at_the_first_poll() {
    let model = ScriptedProvider::new().turn("one").turn("two");
    let early = model.stream(question("early"));
    drop(model.stream(question("never")));
    assert_eq!((model.payloads().len(), model.turns_left(), model.drops()), (0, 2, 0));
    let first = healthy(&model).await;
    assert!(matches!(&first[1], LlmEvent::TextDelta { delta, .. } if delta == "one"));
    let second: Vec<_> = early.collect().await;
    assert!(matches!(&second[1], Ok(LlmEvent::TextDelta { delta, .. }) if delta == "two"));
}

#[tokio::test]
async fn a_call_after_the_last_turn_is_an_error() {
    let model = ScriptedProvider::new().turn("one");
    assert_eq!(finish(&healthy(&model).await), (FinishReason::Stop, false));
    let events = play(&model).await;
    let error = events.last().unwrap().as_ref().unwrap_err();
    assert!(error.is_configuration() && !error.is_retryable());
    assert_eq!(error.to_string(), "the scripted provider was asked for turn 2, but its script has 1");
}

#[tokio::test]
async fn a_turn_can_depend_on_the_request() {
    let model = ScriptedProvider::new()
        .turn_with(|payload| text(format!("{} entries", payload.transcript.len())))
        .otherwise(|_| call("again", json!({})));
    let first = healthy(&model).await;
    assert!(matches!(&first[1], LlmEvent::TextDelta { delta, .. } if delta == "1 entries"));
    let mut ids = Vec::new();
    for _ in 0..3 {
        for event in healthy(&model).await {
            if let LlmEvent::ToolCallStart { id, .. } = event {
                ids.push(id.to_string());
            }
        }
    }
    assert_eq!(ids, ["call_2_1", "call_3_1", "call_4_1"], "the ids of a repeated turn must be unique");
}

#[tokio::test]
async fn a_truncated_call_has_no_end() {
    let model = ScriptedProvider::new()
        .turn([Turn::call_with_id("c1", "a", json!({})), Turn::truncated_call("b", "{\"id\":")]);
    let events = healthy(&model).await;
    let ends: Vec<_> = events.iter().filter(|event| matches!(event, LlmEvent::ToolCallEnd { .. })).collect();
    assert_eq!(ends.len(), 1);
    assert!(matches!(ends[0], LlmEvent::ToolCallEnd { call: 0, .. }));
    assert_eq!(finish(&events), (FinishReason::Length, true));
}

#[tokio::test]
async fn a_custom_finish_and_custom_events() {
    let model = ScriptedProvider::new()
        .turn([text("a"), Turn::finish(FinishReason::ContentFilter), Turn::usage(3, 4)])
        .turn(Turn::event(LlmEvent::Finish { reason: FinishReason::Refusal, raw: None, truncated: false }))
        .turn(Turn::raw_call("a", "no json"))
        .turn(Turn::new());
    let filtered = healthy(&model).await;
    assert_eq!(finish(&filtered), (FinishReason::ContentFilter, true));
    assert!(filtered.iter().any(|event| {
        matches!(event, LlmEvent::Usage(usage) if (usage.input_tokens, usage.total_tokens) == (Some(3), Some(7)))
    }));
    let refused = healthy(&model).await;
    assert_eq!((refused.len(), finish(&refused)), (2, (FinishReason::Refusal, false)));
    assert_eq!(finish(&healthy(&model).await), (FinishReason::ToolCalls, false));
    assert_eq!(finish(&healthy(&model).await), (FinishReason::Stop, false));
}

#[tokio::test]
async fn an_error_ends_the_turn() {
    let error = Error::provider(ProviderErrorKind::RateLimited).with_status(429);
    let model = ScriptedProvider::new()
        .turn([text("par"), Turn::error(error), text("never")])
        .turn(Turn::interrupted());
    let events = play(&model).await;
    assert_eq!(events.len(), 4, "{events:?}");
    assert_eq!(events[3].as_ref().unwrap_err().status(), Some(429));
    let events = play(&model).await;
    let kind = events[1].as_ref().unwrap_err().provider_kind();
    assert_eq!((kind, model.drops()), (Some(ProviderErrorKind::Interrupted), 0));
}

#[tokio::test(start_paused = true)]
async fn a_delay_pauses_the_stream() {
    let start = tokio::time::Instant::now();
    let model = ScriptedProvider::new().turn([text("a"), Turn::delay(Duration::from_secs(7)), text("b")]);
    let mut stream = model.stream(question("?"));
    for _ in 0..3 {
        stream.next().await.unwrap().unwrap();
    }
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert!(matches!(stream.next().await, Some(Ok(LlmEvent::TextDelta { block: 1, .. }))));
    assert_eq!(start.elapsed().as_secs(), 7);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_stream_is_reported() {
    let model = ScriptedProvider::new().turn([text("a"), Turn::pending(), text("never")]);
    let dropped = tokio::spawn(model.dropped());
    let mut stream = model.stream(question("?"));
    for _ in 0..3 {
        stream.next().await.unwrap().unwrap();
    }
    assert!(tokio::time::timeout(Duration::from_secs(3_600), stream.next()).await.is_err());
    assert!(!dropped.is_finished());
    drop(stream);
    dropped.await.unwrap();
    model.dropped().await;
    assert_eq!(model.drops(), 1);
}
