//! Conversations in a store of the host's own, beside the store of runs.

use std::future::ready;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use omniassist_server::observe::FinishedRun;
use omniassist_server::store::{
    Change, Conversation, Delete, Deleted, Listing, Page, RunHead, Saved, StoreError, StoreFuture,
    StoredMessage,
};
use omniassist_server::{AssistantBuilder, Recovery};
use tokio::sync::{Notify, mpsc};
use tokio::time::{advance, sleep, timeout};

use super::elsewhere::send;
use super::restart::runtime;
use super::*;

/// The host's store of conversations. A save of the model's text can be the last thing that a server does.
#[derive(Clone, Default)]
pub(super) struct Own {
    pub(super) store: MemoryStore,
    stops: Arc<AtomicBool>,
    stopped: Arc<Notify>,
    /// The milliseconds that a load takes.
    pub(super) load_ms: Arc<AtomicU64>,
    /// `true` while nothing can be loaded.
    pub(super) is_down: Arc<AtomicBool>,
    /// `true` if the chat `c` changes after the next page of the list was read.
    changes: Arc<AtomicBool>,
}

impl ConversationStore for Own {
    fn load<'a>(
        &'a self,
        scope: &'a Scope,
        chat: &'a str,
        window: &'a Window,
    ) -> StoreFuture<'a, Option<Conversation>> {
        Box::pin(async move {
            sleep(Duration::from_millis(self.load_ms.load(Ordering::SeqCst))).await;
            if self.is_down.load(Ordering::SeqCst) {
                return Err(StoreError::unavailable("it is down"));
            }
            self.store.load(scope, chat, window).await
        })
    }

    fn save<'a>(&'a self, scope: &'a Scope, chat: &'a str, change: &'a Change) -> StoreFuture<'a, Saved> {
        Box::pin(async move {
            let saved = self.store.save(scope, chat, change).await;
            if self.stops.swap(false, Ordering::SeqCst) {
                self.stopped.notify_one();
                std::future::pending::<()>().await;
            }
            saved
        })
    }

    fn list<'a>(&'a self, scope: &'a Scope, page: &'a Page) -> StoreFuture<'a, Listing> {
        Box::pin(async move {
            let listing = self.store.list(scope, page).await?;
            if self.changes.swap(false, Ordering::SeqCst) {
                let mut change = Change::default();
                change.title = Some("Changed".into());
                self.store.save(scope, "c", &change).await?;
            }
            Ok(listing)
        })
    }

    fn delete<'a>(&'a self, scope: &'a Scope, what: Delete<'a>) -> StoreFuture<'a, Deleted> {
        self.store.delete(scope, what)
    }
}

/// Both stores, and the number of refunds.
#[derive(Clone, Default)]
struct World {
    runs: MemoryStore,
    own: Own,
    refunds: Arc<AtomicUsize>,
}

impl World {
    /// Returns a server whose tool waits for an approval.
    fn server(&self, model: &ScriptedProvider) -> AssistantBuilder {
        let refunds = Arc::clone(&self.refunds);
        let refund = Tool::new("refund", "Refunds an order", move || {
            let count = refunds.fetch_add(1, Ordering::SeqCst) + 1;
            async move { Ok::<_, ToolError>(format!("refund {count}")) }
        });
        let refund = refund.requires_approval(Approval::always());
        Assistant::builder(model.clone())
            .tool(refund)
            .store(self.runs.clone())
            .conversations(self.own.clone())
    }

    /// Returns a model after whose turn the server saves the message, and stops before the run is settled.
    fn last_turn(&self, says: &'static str) -> ScriptedProvider {
        let stops = Arc::clone(&self.own.stops);
        ScriptedProvider::new().otherwise(move |payload| {
            if format!("{:?}", payload.transcript).contains("Hello") {
                return text("Hello");
            }
            stops.store(true, Ordering::SeqCst);
            // Half of the text is in the journal by then.
            Turn::text(format!("{says} ")).then(Turn::delay(Duration::from_secs(1))).then(text("end"))
        })
    }

    /// Posts to a server until it stops.
    fn until_stop(&self, model: &ScriptedProvider, body: &Value) {
        self.stop_with(self.server(model), body);
    }

    fn stop_with(&self, builder: AssistantBuilder, body: &Value) {
        runtime().block_on(async {
            let assistant = builder.build().unwrap();
            let answer = tokio::spawn({
                let body = body.clone();
                async move { post(&assistant, &body).await }
            });
            self.own.stopped.notified().await;
            drop(answer);
        });
    }

    /// Starts another server, which goes on with the run, and returns the state in which it leaves it.
    fn restart(&self, builder: AssistantBuilder) -> RunState {
        let assistant = builder.build().unwrap();
        runtime().block_on(async {
            advance(Duration::from_secs(7)).await;
            let other = json!({"id": "other", "message": ask("m1", "Hello")["message"]});
            open(&assistant, &other).await.collect().await.unwrap();
            settled(&self.runs).await
        })
    }

    fn messages(&self) -> Vec<Message> {
        runtime().block_on(messages(&self.own.store))
    }

    fn said(&self) -> Vec<String> {
        self.messages().iter().map(Message::text).collect()
    }

    /// Lets a run wait for an approval, and returns the post that approves.
    fn wait(&self, question: &Value) -> Value {
        let model = ScriptedProvider::new().turn(Turn::text("A moment. ").then(call("refund", json!({}))));
        runtime().block_on(async {
            post(&self.server(&model).build().unwrap(), question).await;
            assert_eq!(settled(&self.runs).await, RunState::Waiting);
            approval(messages(&self.own.store).await.last().unwrap())
        })
    }

    fn head(&self) -> RunHead {
        runtime().block_on(self.runs.find(&scope(), Which::Chat("c"))).unwrap().unwrap()
    }
}

/// Returns the post of a client that approves the open call of a message.
fn approval(message: &Message) -> Value {
    let mut message = serde_json::to_value(message).unwrap();
    for part in message["parts"].as_array_mut().unwrap() {
        if part["state"] == "approval-requested" {
            part["state"] = "approval-responded".into();
            part["approval"]["approved"] = true.into();
        }
    }
    json!({"id": "c", "message": message})
}

/// Returns a model that says this, and what it was asked.
fn model(says: &'static str) -> (ScriptedProvider, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&asked);
    let model = ScriptedProvider::new().otherwise(move |payload| {
        let transcript = format!("{:?}", payload.transcript);
        if !transcript.contains("Hello") {
            kept.lock().unwrap().push(transcript);
        }
        text(says)
    });
    (model, asked)
}

#[test]
fn the_text_of_a_continued_message_is_saved_once() {
    let world = World::default();
    let approval = world.wait(&ask("m1", "Refund it"));
    world.until_stop(&world.last_turn("First"), &approval);
    assert_eq!(
        world.said(),
        ["Refund it", "A moment. First end"],
        "the message is saved, the run is not settled"
    );

    // The next server stops at the same place.
    let server = world.server(&world.last_turn("Second")).build().unwrap();
    runtime().block_on(async {
        advance(Duration::from_secs(7)).await;
        let other = json!({"id": "other", "message": ask("m1", "Hello")["message"]});
        let answer = tokio::spawn(async move { post(&server, &other).await });
        world.own.stopped.notified().await;
        drop(answer);
    });
    assert_eq!(world.said(), ["Refund it", "A moment. Second end"]);

    let (third, asked) = model("Third");
    assert_eq!(world.restart(world.server(&third)), RunState::Finished);
    assert_eq!(world.said(), ["Refund it", "A moment. Third"]);
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 1);
    assert!(!asked[0].contains("First") && !asked[0].contains("Second"), "{asked:?}");
    assert_eq!(world.refunds.load(Ordering::SeqCst), 1);
    let last = serde_json::to_string(world.messages().last().unwrap()).unwrap();
    assert_eq!(last.matches("refund 1").count(), 1, "{last}");
}

#[test]
fn a_run_that_is_given_up_keeps_its_text_once() {
    let world = World::default();
    let approval = world.wait(&ask("m1", "Refund it"));
    world.until_stop(&world.last_turn("First"), &approval);
    let (second, asked) = model("Second");
    let server = world.server(&second).recovery(Recovery::Interrupt);
    assert_eq!(world.restart(server), RunState::Interrupted);
    assert!(asked.lock().unwrap().is_empty());
    // The rest was saved, but is not in the journal.
    assert_eq!(world.said(), ["Refund it", "A moment. First "]);
    let last = serde_json::to_string(world.messages().last().unwrap()).unwrap();
    assert_eq!(last.matches("refund 1").count(), 1, "{last}");
}

#[test]
fn an_answer_that_begins_a_message_is_saved_once() {
    let world = World::default();
    world.until_stop(&world.last_turn("First"), &ask("m1", "Where is it?"));
    assert_eq!(world.restart(world.server(&model("Second").0)), RunState::Finished);
    assert_eq!(world.said(), ["Where is it?", "Second"]);

    // The page asks for another answer.
    let answer = world.messages()[1].id.clone();
    let again = json!({"id": "c", "trigger": "regenerate-message", "messageId": answer, "message": ask("m1", "Where is it?")["message"]});
    world.until_stop(&world.last_turn("Third"), &again);
    assert_eq!(world.restart(world.server(&model("Fourth").0)), RunState::Finished);
    assert_eq!(world.said(), ["Where is it?", "Fourth"]);

    // The page edits the question.
    world.until_stop(&world.last_turn("Fifth"), &ask("m1", "Where is order 17?"));
    assert_eq!(world.restart(world.server(&model("Sixth").0)), RunState::Finished);
    assert_eq!(world.said(), ["Where is order 17?", "Sixth"]);
}

/// Returns the post of a page whose chat the store does not have, with the answer of its front-end tool.
fn imported() -> Value {
    let call = json!({"type": "tool-pick", "toolCallId": "call_1", "state": "output-available", "input": {}, "output": "blue"});
    json!({"id": "c", "messages": [
        ask("m1", "Which colour?")["message"],
        {"id": "a1", "role": "assistant", "parts": [{"type": "step-start"}, {"type": "text", "text": "Choose. "}, call]},
    ]})
}

fn with_pick(builder: AssistantBuilder) -> AssistantBuilder {
    builder.tool(Tool::front_end_with_schema("pick", "Picks a colour", json!({"type": "object"})))
}

#[test]
fn an_imported_message_is_continued_once() {
    let world = World::default();
    world.stop_with(with_pick(world.server(&world.last_turn("First"))), &imported());
    assert_eq!(world.said(), ["Which colour?", "Choose. First end"]);
    let (second, asked) = model("Second");
    assert_eq!(world.restart(with_pick(world.server(&second))), RunState::Finished);
    assert_eq!(world.said(), ["Which colour?", "Choose. Second"]);
    assert!(!asked.lock().unwrap()[0].contains("First"));
}

#[test]
fn an_imported_message_keeps_its_conversation_after_an_approval() {
    let world = World::default();
    let asks = ScriptedProvider::new().turn(Turn::text("A moment. ").then(call("refund", json!({}))));
    let (second, asked) = model("Refunded.");
    runtime().block_on(async {
        post(&with_pick(world.server(&asks)).build().unwrap(), &imported()).await;
        assert_eq!(settled(&world.runs).await, RunState::Waiting);
        let approve = approval(messages(&world.own.store).await.last().unwrap());
        post(&with_pick(world.server(&second)).build().unwrap(), &approve).await;
        assert_eq!(settled(&world.runs).await, RunState::Finished);
    });
    assert_eq!(world.said(), ["Which colour?", "Choose. A moment. Refunded."]);
    let asked = asked.lock().unwrap();
    assert!(asked[0].contains("Which colour?") && asked[0].contains("refund 1"), "{asked:?}");
}

#[test]
fn each_of_two_approvals_runs_its_tool_once() {
    let world = World::default();
    let approve = world.wait(&ask("m1", "Refund both"));
    let run = world.head().run;
    runtime().block_on(async {
        let model = ScriptedProvider::new().turn(Turn::text("One more. ").then(call("refund", json!({}))));
        post(&world.server(&model).build().unwrap(), &approve).await;
        assert_eq!(settled(&world.runs).await, RunState::Waiting);
    });
    let approve = approval(world.messages().last().unwrap());
    world.until_stop(&world.last_turn("First"), &approve);
    let (second, _) = model("Both are refunded.");
    assert_eq!(world.restart(world.server(&second)), RunState::Finished);
    assert_eq!(world.said(), ["Refund both", "A moment. One more. Both are refunded."]);
    assert_eq!((world.refunds.load(Ordering::SeqCst), world.head().run), (2, run));
    let last = serde_json::to_string(world.messages().last().unwrap()).unwrap();
    for refund in ["refund 1", "refund 2"] {
        assert_eq!(last.matches(refund).count(), 1, "{last}");
    }
}

/// The conversation is loaded slowly, so that the stop takes the run from the leg of the answer before it begins. Without a
/// pause, that leg begins together with a beat, which looks at the runs of the server.
#[tokio::test(start_paused = true)]
async fn a_leg_that_a_stop_overtakes_is_finished_once() {
    for pause_ms in [0, 500] {
        let world = World::default();
        let (sender, mut finished) = mpsc::unbounded_channel();
        let model = ScriptedProvider::new().turn(call("refund", json!({})));
        let builder = world.server(&model).on_finish(move |run: FinishedRun| ready(sender.send(run)));
        let assistant = builder.build().unwrap();
        post(&assistant, &ask("m1", "Refund it")).await;
        assert_eq!(settled(&world.runs).await, RunState::Waiting);
        let head = world.runs.find(&scope(), Which::Chat("c")).await.unwrap().unwrap();
        sleep(Duration::from_millis(pause_ms)).await;

        world.own.load_ms.store(2_000, Ordering::SeqCst);
        let (answering, call) = (assistant.clone(), &head.obligations[0].call);
        let path = format!("/runs/{}/obligations/{call}", head.run);
        let answer = tokio::spawn(async move { send(&answering, &path, &json!({"approved": true})).await });
        sleep(Duration::from_secs(1)).await;
        send(&assistant, "/c/stop", &json!({})).await;
        assert_eq!(answer.await.unwrap().status(), StatusCode::OK);
        assert_eq!(state(&world.runs).await, RunState::Stopped);
        assistant.shutdown().await;
        let runs = std::iter::from_fn(|| finished.try_recv().ok());
        let outcomes: Vec<_> = runs.map(|run| run.report.outcome.as_str().to_owned()).collect();
        assert_eq!(outcomes, ["finish", "abort"], "{pause_ms}");
        assert_eq!(world.refunds.load(Ordering::SeqCst), 0);
    }
}

/// The conversation is loaded slowly, so that the next message takes the place of the leg of the answer before it begins.
#[tokio::test(start_paused = true)]
async fn a_leg_that_a_message_overtakes_does_not_end_the_run_of_that_message() {
    let world = World::default();
    let slow = Turn::text("Not").then(Turn::delay(Duration::from_secs(5))).then(text(" refunded."));
    let model = ScriptedProvider::new().turn(call("refund", json!({}))).turn(slow);
    let assistant = world.server(&model).build().unwrap();
    post(&assistant, &ask("m1", "Refund it")).await;
    assert_eq!(settled(&world.runs).await, RunState::Waiting);

    let approval = approval(messages(&world.own.store).await.last().unwrap());
    world.own.load_ms.store(2_000, Ordering::SeqCst);
    let answering = assistant.clone();
    let answer = tokio::spawn(async move {
        AssistantService::new(answering).handle(request(&approval)).await.into_body().collect().await
    });
    while state(&world.runs).await == RunState::Waiting {
        sleep(Duration::from_millis(10)).await;
    }
    world.own.load_ms.store(0, Ordering::SeqCst);
    let answered = post(&assistant, &ask("m2", "No, wait")).await;
    assert!(answered.contains(" refunded.") && !answered.contains("\"abort\""), "{answered}");
    assert_eq!(settled(&world.runs).await, RunState::Finished);
    assert_eq!(messages(&world.own.store).await.last().unwrap().text(), "Not refunded.");
    let answer = String::from_utf8(answer.await.unwrap().unwrap().to_bytes().into()).unwrap();
    assert!(answer.contains("not_waiting"), "{answer}");
    assert_eq!(world.refunds.load(Ordering::SeqCst), 0);
}

#[test]
fn the_message_of_a_waiting_run_is_not_for_the_host_to_edit() {
    let world = World::default();
    let approve = world.wait(&ask("m1", "Refund it"));
    runtime().block_on(async {
        let store = &world.own.store;
        let mut rows = store.load(&scope(), "c", &Window::default()).await.unwrap().unwrap().messages;
        for row in &mut rows {
            let body = str::from_utf8(&row.body).unwrap();
            row.body = body.replace("Refund it", "Refund order 17").replace("A moment", "Soon").into();
        }
        store.save(&scope(), "c", &Change::messages(rows)).await.unwrap();
    });
    assert_eq!(world.said(), ["Refund order 17", "Soon. "]);

    let (model, asked) = model("Done.");
    runtime().block_on(async {
        post(&world.server(&model).build().unwrap(), &approve).await;
        assert_eq!(settled(&world.runs).await, RunState::Finished);
    });
    assert_eq!(world.said(), ["Refund order 17", "A moment. Done."]);
    let asked = asked.lock().unwrap();
    assert!(asked[0].contains("Refund order 17") && !asked[0].contains("Soon"), "{asked:?}");
}

/// Waits until the run of the chat has ended.
async fn ended(store: &MemoryStore) -> RunState {
    let ended = async {
        loop {
            match state(store).await {
                state if state.is_ended() => return state,
                _ => sleep(Duration::from_millis(10)).await,
            }
        }
    };
    timeout(Duration::from_secs(20), ended).await.expect("the run ends")
}

#[test]
fn the_run_of_a_deleted_chat_waits_no_more() {
    let world = World::default();
    let approve = world.wait(&ask("m1", "Refund it"));
    let (model, asked) = model("Done.");
    runtime().block_on(async {
        let assistant = world.server(&model).build().unwrap();
        let service = AssistantService::new(assistant.clone());
        assert!(assistant.conversations().unwrap().delete(&Principal::new("ada"), "c").await.unwrap());
        ended(&world.runs).await;
        let late = service.handle(request(&approve)).await;
        assert!(late.status().is_client_error(), "{late:?}");
    });
    assert_eq!((world.refunds.load(Ordering::SeqCst), asked.lock().unwrap().len()), (0, 0));
}

#[test]
fn the_runs_of_a_forgotten_user_end() {
    let world = World::default();
    let model = ScriptedProvider::new().otherwise(|_| Turn::text("Half").then(Turn::pending()));
    runtime().block_on(async {
        let (first, other) = (world.server(&model).build().unwrap(), world.server(&model).build().unwrap());
        let mut body = open(&first, &ask("m1", "Go")).await;
        let _ = body.frame().await;
        assert_eq!(other.conversations().unwrap().forget(&Principal::new("ada")).await.unwrap(), 1);
        timeout(Duration::from_secs(5), model.dropped()).await.expect("the model is no longer asked");
        assert_eq!(ended(&world.runs).await, RunState::Stopped);
    });
}

/// The chat moves to the first page of the list, which was read already.
#[test]
fn the_run_of_a_chat_that_changes_while_its_user_is_forgotten_ends() {
    let world = World::default();
    world.wait(&ask("m1", "Refund it"));
    runtime().block_on(async {
        for number in 0..100 {
            let question = StoredMessage::new("m1", None, "{}");
            let change = Change::messages([question]);
            world.own.store.save(&scope(), &format!("c{number}"), &change).await.unwrap();
        }
        world.own.changes.store(true, Ordering::SeqCst);
        let assistant = world.server(&ScriptedProvider::new()).build().unwrap();
        let _service = AssistantService::new(assistant.clone());
        let forgotten = assistant.conversations().unwrap().forget(&Principal::new("ada")).await.unwrap();
        assert_eq!(forgotten, 101);
        ended(&world.runs).await;
    });
}
