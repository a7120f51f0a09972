use std::time::Duration;

use futures_util::StreamExt;
use http_body_util::BodyExt;
use omniassist_server::core::message::{ChatMessage, Message};
use omniassist_server::core::{Limits, RunEvent, Text};
use omniassist_server::http::AssistantService;
use omniassist_server::observe::FinishedRun;
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use omniassist_server::tool::ChatId;
use omniassist_server::{Assistant, AssistantBuilder, Principal, Refusal, State, WhenBusy};
use tokio::time::{Instant, sleep};

use super::{Table, complete, last, post, respond};

/// Returns an assistant whose `on_finish` function takes `time`.
fn slow(table: &Table, model: &ScriptedProvider, time: Duration) -> AssistantBuilder {
    let store = table.clone();
    let save = move |run: FinishedRun| {
        let store = store.clone();
        async move {
            sleep(time).await;
            store.put(run.context.chat_id().unwrap(), serde_json::to_string(&run.messages()).unwrap());
            Ok::<_, std::io::Error>(())
        }
    };
    Assistant::builder(model.clone()).state(table.clone()).history_loader(Table::load).on_finish(save)
}

fn question(id: &str) -> Vec<Message> {
    vec![Message::user(id, id)]
}

async fn texts(assistant: &Assistant, id: &str) -> Vec<String> {
    let request = complete(assistant, &last(&question(id), "submit-message", None)).await;
    request.messages.iter().map(Message::text).collect()
}

#[tokio::test(start_paused = true)]
async fn a_history_is_loaded_after_the_last_run_was_stored() {
    let keep_alive = Limits::default().keep_alive;
    for (time, is_stored) in [(keep_alive - Duration::from_millis(1), true), (keep_alive * 2, false)] {
        let (table, model) = (Table::default(), ScriptedProvider::new().turn(text("a1")));
        let assistant = slow(&table, &model, time).build().unwrap();
        let mut messages = question("q1");
        post(&assistant, &last(&messages, "submit-message", None), &mut messages).await;
        let started = Instant::now();
        let expected = if is_stored { &["q1", "a1", "q2"][..] } else { &["q2"] };
        assert_eq!(texts(&assistant, "q2").await, expected);
        assert_eq!(started.elapsed().as_millis(), time.min(keep_alive).as_millis());
        sleep(time).await;
        let started = Instant::now();
        assert_eq!(texts(&assistant, "q2").await, ["q1", "a1", "q2"]);
        assert_eq!(started.elapsed(), Duration::ZERO, "no run is stored, so the post must not wait");
    }
}

#[tokio::test(start_paused = true)]
async fn a_chat_does_not_wait_for_another_chat() {
    let (table, model) = (Table::default(), ScriptedProvider::new().turn(text("a1")));
    let assistant = slow(&table, &model, Duration::from_secs(5)).build().unwrap();
    let mut messages = question("q1");
    post(&assistant, &last(&messages, "submit-message", None), &mut messages).await;
    let mut other = last(&question("q2"), "submit-message", None);
    other["id"] = "other".into();
    let started = Instant::now();
    assert_eq!(complete(&assistant, &other).await.messages.len(), 1);
    assert_eq!(started.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_run_in_progress_is_stored_before_the_next_one_begins() {
    let (table, model) =
        (Table::default(), ScriptedProvider::new().turn(text("So far").then(Turn::pending())));
    let assistant = slow(&table, &model, Duration::from_secs(1)).build().unwrap();
    let first = complete(&assistant, &last(&question("q1"), "submit-message", None)).await;
    let mut extensions = http::Extensions::new();
    extensions.insert(Principal::new("ada"));
    let mut run = assistant.try_run(first, extensions).await.unwrap();
    let reader = tokio::spawn(async move {
        let mut events = Vec::new();
        while let Some(event) = run.next().await {
            events.push(event);
        }
        events
    });
    sleep(Duration::from_millis(1)).await;
    assert_eq!(texts(&assistant, "q2").await, ["q1", "So far", "q2"]);
    assert!(matches!(reader.await.unwrap().last(), Some(RunEvent::Abort { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_repeated_post_does_not_stop_the_first() {
    for (when_busy, body, code) in [
        (WhenBusy::Supersede, question("q1"), "duplicate_run"),
        (WhenBusy::Reject, question("q2"), "chat_busy"),
    ] {
        let table = Table::default();
        table.put(
            "c",
            serde_json::to_string(&[Message::user("q0", "q0"), Message::assistant("a0", "a0")]).unwrap(),
        );
        let model = ScriptedProvider::new().turn(text("So far").then(Turn::pending()));
        let assistant = slow(&table, &model, Duration::ZERO).when_busy(when_busy).build().unwrap();
        let service = AssistantService::new(assistant.clone());
        let mut first =
            service.handle(super::request(&last(&question("q1"), "submit-message", None))).await.into_body();
        assert!(first.frame().await.is_some());
        let (status, answer) = respond(&assistant, &last(&body, "submit-message", None)).await;
        assert_eq!(status, 409, "{answer}");
        assert!(answer.contains(code), "{answer}");
        assert_eq!((assistant.live_runs(), model.drops()), (1, 0));
    }
}

#[tokio::test]
async fn plain_text_is_accepted_as_a_history() {
    async fn load(
        ChatId(chat): ChatId,
        State(rows): State<Vec<ChatMessage>>,
    ) -> Result<Vec<ChatMessage>, Refusal> {
        assert_eq!(chat, "c");
        Ok(rows)
    }
    let mut finished = Vec::new();
    for message in [Message::user("q1", "Hello"), Message::assistant("a1", "Good day")] {
        finished.push(ChatMessage {
            id: message.id.clone(),
            role: message.role,
            content: Text::from(message.text()),
        });
    }
    let model = ScriptedProvider::new().turn(text("Fine."));
    // The text has no seals.
    let assistant =
        Assistant::builder(model.clone()).refuse_unsealed_text(true).state(finished).history_loader(load);
    let (status, answer) =
        respond(&assistant.build().unwrap(), &last(&question("q2"), "submit-message", None)).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(model.payloads()[0].transcript.len(), 3);
}
