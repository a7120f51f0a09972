//! Calls of stored runs that wait, and those of clients with fewer abilities.

use http::Method;
use omniassist_server::store::MemoryStore;

use super::*;
use crate::agents::{get, send};

fn question() -> Value {
    json!({ "id": "c", "messages": [
        { "id": "m1", "role": "user", "parts": [{ "type": "text", "text": "Please do it" }] }] })
}

/// Answers the only obligation of the run of a chat, and waits until the run waits again or has ended.
async fn settle(server: &Assistant, answer: Value) -> Value {
    let threads = get(server, "ada", "/threads").await;
    let run = threads["threads"][0]["run"]["id"].as_str().unwrap().to_owned();
    let waiting = get(server, "ada", &format!("/runs/{run}")).await;
    let [open] = &waiting["obligations"].as_array().unwrap()[..] else { panic!("{waiting}") };
    let path = format!("/runs/{run}/obligations/{}", open["callId"].as_str().unwrap());
    let (status, body) = send(server, "ada", Method::POST, &path, Some(&answer)).await;
    assert!(status.is_success(), "{body}");
    loop {
        let head = get(server, "ada", &format!("/runs/{run}")).await;
        if head["state"] != "running" {
            return head;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

async fn shown(server: &Assistant) -> String {
    get(server, "ada", "/threads/c/messages").await["messages"].to_string()
}

#[tokio::test(start_paused = true)]
async fn an_output_may_be_null() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new().turn(call("wave", json!({}))).turn(text("Done."));
    let server = Assistant::builder(model.clone()).store(store.clone()).build().unwrap();
    let mut question = question();
    question["tools"] =
        json!([{ "name": "wave", "description": "Waves", "inputSchema": { "type": "object" } }]);
    send(&server, "ada", Method::POST, "/", Some(&question)).await;
    let ended = settle(&server, json!({ "output": null })).await;
    assert_eq!(ended["state"], "finished", "{ended}");
    assert!(shown(&server).await.contains(r#""output":null"#), "{}", shown(&server).await);
    assert!(format!("{:?}", model.payloads()[1].transcript).contains("null"));
}

#[tokio::test(start_paused = true)]
async fn forms_of_a_stored_run_are_answered_at_other_servers() {
    let store = MemoryStore::new();
    let (tool, held) = book();
    let model = asks("book");
    // Each server has seal keys of its own.
    let server =
        || Assistant::builder(model.clone()).tool(tool.clone()).store(store.clone()).build().unwrap();
    let (_, asked) = send(&server(), "ada", Method::POST, "/", Some(&question())).await;
    assert!(asked.contains("How many seats?") && !asked.contains("held"), "{asked}");
    assert!(!asked.contains("data-agent"), "{asked}");
    let waits = settle(&server(), json!({ "output": { "seats": 2 } })).await;
    assert_eq!(waits["state"], "waiting", "{waits}");
    let ended = settle(&server(), json!({ "output": { "bags": 3 } })).await;
    assert_eq!(ended["state"], "finished", "{ended}");
    let messages = shown(&server()).await;
    for text in ["2 seats, 3 bags.", "Done."] {
        assert!(messages.contains(text), "{text}: {messages}");
    }
    assert_eq!(held.load(Ordering::SeqCst), 1);
    assert_eq!(model.payloads().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_approved_call_of_a_tool_runs_once_in_a_stored_run() {
    let store = MemoryStore::new();
    let (other, ran) = refund(Approval::always());
    let model = pays(&[500, 700]);
    let server = || {
        let tool = pay_all(other.clone());
        Assistant::builder(model.clone()).tool(tool).store(store.clone()).build().unwrap()
    };
    send(&server(), "ada", Method::POST, "/", Some(&question())).await;
    settle(&server(), json!({ "approved": true })).await;
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    settle(&server(), json!({ "approved": false, "reason": "too much" })).await;
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    let messages = shown(&server()).await;
    assert!(
        messages
            .contains("refunded 500, The user denied this call; it was not run. The reason given: too much"),
        "{messages}"
    );
}

#[tokio::test]
async fn a_client_that_cannot_ask_is_an_error_of_the_tool() {
    let pays = || pay_all(refund(Approval::always()).0);
    // Plain text shows nothing but the answer, and version 5 of the AI SDK has no approvals.
    for (path, tool, wanted) in [
        ("/?protocol=text", book().0, "The user's client cannot show forms"),
        ("/?protocol=text", pays(), "the user's client cannot ask for it"),
        ("/?ai-sdk=5", pays(), "the user's client cannot ask for it"),
    ] {
        let model =
            ScriptedProvider::new().turn(call(tool.name(), json!({ "cents": [500] }))).turn(text("Done."));
        let server = assistant(model.clone(), tool);
        let (status, body) = send(&server, "ada", Method::POST, path, Some(&question())).await;
        assert!(status.is_success(), "{body}");
        let sent = format!("{:?}", model.payloads().last().unwrap().transcript);
        assert!(sent.contains(wanted), "{sent}");
    }
}
