use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use omniassist_server::core::event::RunErrorCode;
use omniassist_server::core::{FinishReason, LlmEvent, RunEvent, RunRequest};
use omniassist_server::provider::from_fn;
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{Assistant, LlmProvider, Price, Prices, Refusal, RunContext, Tool, ToolError};
use serde_json::json;
use tokio::time::sleep;

use super::{deltas, failure, timed};

/// Sets a flag when it is dropped.
struct Dropped(Arc<AtomicBool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Returns a model that writes at once, a flag that is set when its stream is dropped, and the number of its calls.
fn talkative(words: usize) -> (impl LlmProvider, Arc<AtomicBool>, Arc<AtomicUsize>) {
    let (dropped, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let (flag, count) = (Arc::clone(&dropped), Arc::clone(&asked));
    let model = from_fn("talkative", move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        let guard = Dropped(Arc::clone(&flag));
        let words = (0..words).map(|word| LlmEvent::TextDelta { block: 0, delta: format!("{word} ").into() });
        let finish = LlmEvent::Finish { reason: FinishReason::Stop, raw: None, truncated: false };
        stream::iter(words.chain([finish]).map(Ok)).map(move |event| {
            let _ = &guard;
            event
        })
    });
    (model, dropped, asked)
}

#[tokio::test(start_paused = true)]
async fn a_refusal_closes_the_model_stream_and_sends_none_of_its_text() {
    let (model, dropped, asked) = talkative(1_000);
    let (seen, closed) = (Arc::clone(&asked), Arc::clone(&dropped));
    let assistant = Assistant::builder(model)
        .input_guard(move |_: RunContext| {
            let (asked, dropped) = (Arc::clone(&seen), Arc::clone(&closed));
            async move {
                sleep(Duration::from_secs(1)).await;
                assert_eq!(asked.load(Ordering::SeqCst), 1, "the model call must begin while the guard runs");
                assert!(!dropped.load(Ordering::SeqCst));
                Err::<(), _>(Refusal::new("off_topic", "Only orders, please."))
            }
        })
        .build()
        .unwrap();
    let events = timed(assistant.run(RunRequest::prompt("My horoscope?"))).await;
    assert!(matches!(events.as_slice(), [(_, RunEvent::Start { .. }), .., (_, RunEvent::Error { .. })]));
    assert!(
        !events
            .iter()
            .any(|(_, event)| matches!(event, RunEvent::TextStart { .. } | RunEvent::TextDelta { .. }))
    );
    let (code, sentence) = failure(&events).unwrap();
    assert_eq!((code.as_str(), sentence.as_str()), ("off_topic", "Only orders, please."));
    assert!(dropped.load(Ordering::SeqCst));
}

#[tokio::test(start_paused = true)]
async fn the_tokens_that_the_provider_counted_before_a_refusal_are_reported() {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&reports);
    let model =
        ScriptedProvider::new().with_model("large").turn([Turn::usage(100, 1), text("Hi"), Turn::pending()]);
    let assistant = Assistant::builder(model)
        .prices(Prices::new().model("large", Price::per_million_tokens(1.0, 10.0)))
        .input_guard(|_: RunContext| async {
            sleep(Duration::from_secs(1)).await;
            Err::<(), _>(Refusal::new("off_topic", "Only orders, please."))
        })
        .on_run_end(move |report| kept.lock().unwrap().push((report.usage, report.cost)))
        .build()
        .unwrap();
    let events = timed(assistant.run(RunRequest::prompt("My horoscope?"))).await;
    assert!(!events.iter().any(|(_, event)| matches!(event, RunEvent::TextStart { .. })), "{events:?}");
    assert_eq!(failure(&events).unwrap().0.as_str(), "off_topic");
    let (usage, cost) = reports.lock().unwrap()[0];
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(100), Some(1)));
    // It had written more than was counted.
    assert_eq!(cost, None);
}

#[tokio::test(start_paused = true)]
async fn an_accepted_input_sends_the_whole_answer_after_the_slowest_guard() {
    let (model, _, _) = talkative(200);
    let wait = |millis| {
        move |_: RunContext| async move {
            sleep(Duration::from_millis(millis)).await;
            Ok::<(), Refusal>(())
        }
    };
    let assistant = Assistant::builder(model).input_guard(wait(300)).input_guard(wait(700)).build().unwrap();
    let shown = deltas(&timed(assistant.run(RunRequest::prompt("?"))).await);
    assert!(shown.iter().all(|(at, _)| *at == 700), "the guards must run at the same time");
    let expected: Vec<_> = (0..200).map(|word| format!("{word} ")).collect();
    assert_eq!(shown.into_iter().map(|(_, delta)| delta).collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_guard_that_fails_or_panics_ends_the_run() {
    async fn fails(_: RunContext) -> Result<(), std::io::Error> {
        Err(std::io::Error::other("no classifier"))
    }
    async fn panics(_: RunContext) -> Result<(), Refusal> {
        panic!("a guard that panics")
    }
    let builder = || Assistant::builder(ScriptedProvider::new().turn(text("Hello.")));
    for assistant in [builder().input_guard(fails), builder().input_guard(panics)] {
        let events = timed(assistant.build().unwrap().run(RunRequest::prompt("?"))).await;
        assert_eq!(deltas(&events), []);
        assert_eq!(failure(&events).unwrap().0, RunErrorCode::Internal);
    }
}

#[tokio::test]
async fn the_input_is_checked_once_for_each_run() {
    let model = ScriptedProvider::new().turn(call("ping", json!({}))).turn(text("Done."));
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let assistant = Assistant::builder(model.clone())
        .tool(Tool::new("ping", "Pings", async || Ok::<_, ToolError>("pong")))
        .input_guard(move |_: RunContext| {
            counted.fetch_add(1, Ordering::SeqCst);
            async { Ok::<(), Refusal>(()) }
        })
        .build()
        .unwrap();
    assert_eq!(assistant.run(RunRequest::prompt("?")).text().await.unwrap(), "Done.");
    assert_eq!((model.payloads().len(), count.load(Ordering::SeqCst)), (2, 1));
}
