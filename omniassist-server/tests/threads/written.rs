//! The messages of a chat while a run of it goes on.

use std::time::Duration;

use omniassist_server::Tool;
use omniassist_server::store::{Begun, InstanceId, NewRun, RunId};
use omniassist_server::testing::Turn;
use tokio::time::timeout;

use super::*;

fn question(id: &str, text: &str) -> Value {
    json!({ "id": id, "role": "user", "parts": [{ "type": "text", "text": text }] })
}

fn texts(answer: &Answer) -> Vec<String> {
    let messages = answer.json()["messages"].as_array().unwrap().clone();
    let text = |message: &Value| {
        let parts = message["parts"].as_array().unwrap().iter();
        parts.filter_map(|part| part["text"].as_str()).collect()
    };
    messages.iter().map(text).collect()
}

/// Sends a post whose run does not end.
async fn begin(site: &Site, post: &Value) {
    let reading = site.send(Method::POST, "/", Some(post));
    assert!(timeout(Duration::from_secs(1), reading).await.is_err());
    assert_eq!(site.get("/threads/c").await.json()["run"]["state"], "running");
}

/// Returns a server on the same store that drives no run.
fn elsewhere(site: &Site, set: impl FnOnce(AssistantBuilder) -> AssistantBuilder) -> Site {
    let assistant = set(Assistant::builder(ScriptedProvider::new()).store(site.store.clone()));
    Site { store: site.store.clone(), assistant: assistant.build().unwrap(), user: site.user.clone() }
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_shown_while_it_is_made_again() {
    let model = ScriptedProvider::new().turn(text("One.")).turn(Turn::text("Two").then(Turn::pending()));
    let site = Site::with(model, |builder| builder);
    site.ask("c", "m1", "Where?").await;
    let first = site.get("/threads/c").await.json()["head"].clone();
    let message = question("m1", "Where?");
    let again = json!({ "id": "c", "message": message, "trigger": "regenerate-message", "messageId": first });
    begin(&site, &again).await;

    let branch = format!("/threads/c/messages?branch={}", first.as_str().unwrap());
    for site in [&site, &elsewhere(&site, |builder| builder)] {
        assert_eq!(texts(&site.get("/threads/c/messages").await), ["Where?"]);
        assert_eq!(texts(&site.get(&branch).await), ["Where?", "One."]);
    }
    site.patch("/threads/c", &json!({ "head": first })).await;
    assert_eq!(texts(&site.get("/threads/c/messages").await), ["Where?", "One."]);
}

#[tokio::test(start_paused = true)]
async fn an_imported_message_that_is_continued_is_left_to_its_stream() {
    let pick = |builder: AssistantBuilder| {
        builder.tool(Tool::front_end_with_schema("pick", "Picks a colour", json!({ "type": "object" })))
    };
    let model = ScriptedProvider::new().turn(Turn::text("Half").then(Turn::pending()));
    let site = Site::with(model, pick);
    let call = json!({ "type": "tool-pick", "toolCallId": "call_1", "state": "output-available",
        "input": {}, "output": "blue" });
    let parts = json!([{ "type": "step-start" }, { "type": "text", "text": "Choose. " }, call]);
    let continued = json!({ "id": "a1", "role": "assistant", "parts": parts });
    begin(&site, &json!({ "id": "c", "messages": [question("m1", "Which?"), continued] })).await;

    assert_eq!(texts(&site.get("/threads/c/messages").await), ["Which?"]);
    assert_eq!(texts(&elsewhere(&site, pick).get("/threads/c/messages").await), ["Which?"]);
}

/// A server has claimed a queued run, and its question is not stored yet.
#[tokio::test(start_paused = true)]
async fn an_answer_is_shown_before_the_next_question_is_stored() {
    let site = Site::new();
    site.ask("c", "m1", "Where?").await;
    let (scope, other) = (Scope::of(&site.user).unwrap(), InstanceId::random());
    site.store.beat(other, Duration::from_secs(60), 0).await.unwrap();
    let begun = site.store.begin(&NewRun::new(RunId::random(), scope, "c", other)).await.unwrap();
    assert!(matches!(begun, Begun::Started(_)), "{begun:?}");

    assert_eq!(site.get("/threads/c").await.json()["run"]["state"], "running");
    assert_eq!(texts(&site.get("/threads/c/messages").await), ["Where?", "In Kiel."]);
}
