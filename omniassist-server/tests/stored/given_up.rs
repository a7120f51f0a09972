//! The text of runs that are given up, in conversations of which the user shows another branch.

use std::sync::Arc;
use std::time::Duration;

use omniassist_server::store::{Branch, Change, StoredMessage};
use omniassist_server::{Recovery, WhenBusy};
use tokio::sync::Notify;
use tokio::time::sleep;

use super::restart::{restart, runtime};
use super::*;

/// Shows the branch that ends with the first answer.
async fn show_first(store: &MemoryStore) {
    let first = all(store).await[1].id.clone();
    let mut change = Change::default();
    change.head = Some(first);
    store.save(&scope(), "c", &change).await.unwrap();
}

/// Returns the messages of all branches.
async fn all(store: &MemoryStore) -> Vec<StoredMessage> {
    let mut window = Window::default();
    window.branch = Branch::All;
    store.load(&scope(), "c", &window).await.unwrap().unwrap().messages
}

/// Starts a server that gives the run up, and returns what the message before its text says.
fn question_of_the_rest(store: &MemoryStore) -> String {
    let model = ScriptedProvider::new().otherwise(|_| text("Hello"));
    let builder = Assistant::builder(model).store(store.clone()).recovery(Recovery::Interrupt);
    assert_eq!(restart(&builder.build().unwrap(), store), RunState::Interrupted);
    let stored = runtime().block_on(all(store));
    let says = |message: &StoredMessage, text: &str| String::from_utf8_lossy(&message.body).contains(text);
    let rest = stored.iter().find(|message| says(message, "Half")).expect("the rest is stored");
    let parent = stored.iter().find(|message| Some(&message.id) == rest.parent.as_ref());
    String::from_utf8_lossy(&parent.expect("it has a parent").body).into_owned()
}

/// Lets the first post be answered, and the run of the second one stop with its server.
fn stop_second(store: &MemoryStore, first: &Value, second: &Value, when_busy: WhenBusy) {
    let reached = Arc::new(Notify::new());
    let answer = Turn::delay(Duration::from_secs(1)).then(text("One."));
    let notify = Arc::clone(&reached);
    let model = ScriptedProvider::new().turn(answer).turn_with(move |_| {
        notify.notify_one();
        Turn::text("Half").then(Turn::pending())
    });
    let assistant = Assistant::builder(model).store(store.clone()).when_busy(when_busy).build().unwrap();
    runtime().block_on(async {
        let body = open(&assistant, first).await;
        if when_busy != WhenBusy::Enqueue {
            body.collect().await.unwrap();
        }
        let _body = open(&assistant, second).await;
        reached.notified().await;
        sleep(Duration::from_millis(150)).await;
        show_first(store).await;
    });
}

#[test]
fn the_rest_belongs_to_the_question_of_its_run() {
    let store = MemoryStore::new();
    stop_second(&store, &ask("m1", "Where?"), &ask("m3", "When?"), WhenBusy::Supersede);
    let question = question_of_the_rest(&store);
    assert!(question.contains("When?"), "{question}");
}

#[test]
fn the_rest_of_a_queued_run_belongs_to_its_question() {
    let store = MemoryStore::new();
    stop_second(&store, &ask("m1", "Where?"), &ask("m3", "When?"), WhenBusy::Enqueue);
    let question = question_of_the_rest(&store);
    assert!(question.contains("When?"), "{question}");
}

#[test]
fn the_rest_of_a_queued_edit_belongs_to_the_edited_question() {
    let store = MemoryStore::new();
    stop_second(&store, &ask("m1", "Where?"), &ask("m1", "Where is it?"), WhenBusy::Enqueue);
    let question = question_of_the_rest(&store);
    assert!(question.contains("Where is it?"), "{question}");
}
