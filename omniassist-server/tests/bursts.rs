//! Tests that the events of a burst leave in few frames under every way of scheduling tasks.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::{Request, header};
use http_body_util::{BodyExt, Full};
use omniassist_server::core::{FinishReason, LlmEvent, LlmPayload};
use omniassist_server::http::AssistantService;
use omniassist_server::{Assistant, LlmProvider, LlmStream};
use tokio::sync::mpsc;
use tokio::task::{LocalSet, spawn_local};

const DELTAS: usize = 1_000;

/// A model whose words arrive one at a time from a task of the runtime, like the chunks of an HTTP client.
struct Fed {
    /// The time for which the server is busy before each word.
    busy: Duration,
}

impl LlmProvider for Fed {
    fn name(&self) -> &str {
        "fed"
    }

    fn stream(&self, _payload: LlmPayload) -> LlmStream {
        let (sender, mut events) = mpsc::channel(1);
        let busy = self.busy;
        tokio::spawn(async move {
            for _ in 0..DELTAS {
                std::thread::sleep(busy);
                sender.send(LlmEvent::TextDelta { block: 0, delta: "word ".into() }).await.unwrap();
            }
            sender.send(LlmEvent::TextEnd { block: 0, metadata: None }).await.unwrap();
            let finish = LlmEvent::Finish { reason: FinishReason::Stop, raw: None, truncated: false };
            sender.send(finish).await.unwrap();
        });
        Box::pin(stream::poll_fn(move |cx| events.poll_recv(cx).map(|event| event.map(Ok))))
    }
}

/// Returns the number of frames of an answer.
async fn frames(busy: Duration) -> usize {
    let service = AssistantService::new(Assistant::builder(Fed { busy }).allow_anonymous().build().unwrap());
    let body = r#"{"messages":[{"id":"m1","role":"user","content":"hi"}]}"#;
    let request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
    let response = service.handle(request.body(Full::new(Bytes::from(body))).unwrap()).await;
    let (mut body, mut words, mut frames) = (response.into_body(), 0, 0);
    while let Some(frame) = body.frame().await {
        let frame = frame.unwrap().into_data().unwrap();
        words += str::from_utf8(&frame).unwrap().matches("\"word \"").count();
        frames += 1;
    }
    assert_eq!(words, DELTAS);
    frames
}

#[tokio::test(start_paused = true)]
async fn in_a_task_of_the_runtime() {
    let frames = tokio::spawn(frames(Duration::ZERO)).await.unwrap();
    assert!(frames < DELTAS / 10, "{frames} frames");
}

/// Runs the task like the workers of actix.
#[tokio::test(start_paused = true)]
async fn in_a_local_task() {
    let local = LocalSet::new();
    let frames = local.run_until(async { spawn_local(frames(Duration::ZERO)).await.unwrap() }).await;
    assert!(frames < DELTAS / 10, "{frames} frames");
}

/// Simulates one of many fast streams on a busy server. Each turn of the scheduler delivers one word.
#[tokio::test]
async fn on_a_busy_server() {
    let frames = tokio::spawn(frames(Duration::from_micros(400))).await.unwrap();
    assert!(frames < DELTAS * 3 / 4, "{frames} frames");
}
