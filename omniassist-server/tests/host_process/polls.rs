//! Tests of polls without a wake-up: they must not reach the model's stream.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::Stream;
use http_body::Body as _;
use omniassist_server::core::{LlmEvent, LlmPayload};
use omniassist_server::http::{AssistantBody, AssistantService};
use omniassist_server::{Assistant, LlmProvider, LlmStream, Result};

use crate::dialects::ROUTES;

/// A model that sends given words, and counts the polls of its stream.
#[derive(Debug, Clone, Default)]
struct Told(Arc<Model>);

#[derive(Debug, Default)]
struct Model {
    asked: AtomicUsize,
    words: Mutex<(Vec<&'static str>, Option<Waker>)>,
}

impl Told {
    fn asked(&self) -> usize {
        self.0.asked.load(Ordering::SeqCst)
    }

    fn say(&self, word: &'static str) {
        let mut words = self.0.words.lock().unwrap();
        words.0.push(word);
        words.1.take().unwrap().wake();
    }
}

impl LlmProvider for Told {
    fn name(&self) -> &str {
        "told"
    }

    fn stream(&self, _: LlmPayload) -> LlmStream {
        Box::pin(Words { model: self.clone(), begun: false })
    }
}

struct Words {
    model: Told,
    begun: bool,
}

impl Stream for Words {
    type Item = Result<LlmEvent>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let model = self.model.clone();
        model.0.asked.fetch_add(1, Ordering::SeqCst);
        if !std::mem::replace(&mut self.begun, true) {
            return Poll::Ready(Some(Ok(LlmEvent::TextDelta { block: 0, delta: "Well, ".into() })));
        }
        let mut words = model.0.words.lock().unwrap();
        match words.0.pop() {
            Some(word) => Poll::Ready(Some(Ok(LlmEvent::TextDelta { block: 0, delta: word.into() }))),
            None => {
                words.1 = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// Returns the frames of a body that is polled this often without a wake-up.
async fn poll_for_nothing(body: &mut Pin<Box<AssistantBody>>, times: usize) -> Vec<String> {
    let mut frames = Vec::new();
    poll_fn(|cx| {
        for _ in 0..times {
            if let Poll::Ready(frame) = body.as_mut().poll_frame(cx) {
                let Some(frame) = frame else { break };
                let bytes = frame.unwrap().into_data().unwrap();
                frames.push(String::from_utf8(bytes.to_vec()).unwrap());
            }
        }
        Poll::Ready(())
    })
    .await;
    frames
}

#[tokio::test(start_paused = true)]
async fn a_model_is_polled_only_after_a_wake_up() {
    let model = Told::default();
    let assistant = Assistant::builder(model.clone()).allow_anonymous().build().unwrap();
    let response = ROUTES[0].ask(&AssistantService::new(assistant.clone())).await;
    let mut body = Box::pin(response.into_body());
    // The head of the message waits one turn for more events.
    poll_for_nothing(&mut body, 8).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let asked = model.asked();
    assert_eq!(poll_for_nothing(&mut body, 100).await, Vec::<String>::new());
    assert_eq!(model.asked(), asked, "the model must not be polled without a wake-up");

    // The words arrive from another task, as from a socket.
    let speaker = model.clone();
    tokio::spawn(async move { speaker.say("first") }).await.unwrap();
    let frames = poll_for_nothing(&mut body, 100).await.concat();
    assert!(frames.contains("first"), "{frames}");
    let asked = model.asked() - asked;
    assert!(
        (2..=3).contains(&asked),
        "the model must be polled once for the word and once or twice for more events, not {asked} times"
    );

    // A silent run keeps the connection alive, and still receives events.
    tokio::time::sleep(Duration::from_secs(16)).await;
    let frames = poll_for_nothing(&mut body, 100).await.concat();
    assert_eq!(frames, ": keep-alive\n\n");
    model.say("second");
    assert!(poll_for_nothing(&mut body, 100).await.concat().contains("second"));

    // Another task can stop the run.
    assert_eq!(assistant.live_runs(), 1);
    let drained = tokio::spawn(async move { assistant.drain(Duration::ZERO).await });
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    let frames = poll_for_nothing(&mut body, 100).await.concat();
    assert!(frames.contains("server_shutdown"), "{frames}");
    drained.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_head_and_the_first_words_do_not_wait_for_more() {
    let model = Told::default();
    let assistant = Assistant::builder(model.clone()).allow_anonymous().build().unwrap();
    let mut body = Box::pin(ROUTES[0].ask(&AssistantService::new(assistant)).await.into_body());
    // No time passes in between, so the events arrive as one burst.
    let head = poll_for_nothing(&mut body, 1).await.concat();
    assert!(head.contains("\"start\""), "{head}");
    poll_for_nothing(&mut body, 3).await;
    model.say("first");
    let words = poll_for_nothing(&mut body, 1).await.concat();
    assert!(words.contains("first"), "{words}");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_moves_to_another_task_wakes_that_task() {
    let model = Told::default();
    let assistant = Assistant::builder(model.clone()).allow_anonymous().build().unwrap();
    let mut body = Box::pin(ROUTES[0].ask(&AssistantService::new(assistant)).await.into_body());
    poll_for_nothing(&mut body, 8).await;
    let other = tokio::spawn(async move {
        loop {
            let frame = poll_fn(|cx| body.as_mut().poll_frame(cx)).await.unwrap().unwrap();
            let bytes = frame.into_data().unwrap();
            if String::from_utf8(bytes.to_vec()).unwrap().contains("moved") {
                return;
            }
        }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    model.say("moved");
    tokio::time::timeout(Duration::from_secs(5), other).await.expect("the task must be woken").unwrap();
}
