//! Tests of components whose state is stored.

use futures_util::future::join_all;
use omniassist_server::core::Limits;
use omniassist_server::core::event::InstanceState;
use omniassist_server::store::MemoryStore;
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{Approval, Assistant, Tool, ToolError, WhenBusy};
use serde_json::{Value, json};

use super::{action_body, builder, chunks, post_to, send, shows_cart};

fn server(model: &ScriptedProvider, store: &MemoryStore) -> Assistant {
    builder(model.clone()).store(store.clone()).build().unwrap()
}

fn question(id: &str, text: &str) -> Value {
    json!({"id": "c", "message": {"id": id, "role": "user", "parts": [{"type": "text", "text": text}]}})
}

/// Asks a server for a cart, and returns the instance and its state.
async fn shown(assistant: &Assistant) -> (String, InstanceState) {
    let (status, answer) = post_to(assistant, "ada", "/", &question("q", "My cart?")).await;
    assert_eq!(status, 200, "{answer}");
    let chunks = chunks(&answer);
    let state =
        chunks.iter().rfind(|chunk| chunk["type"] == "data-ui-state").unwrap_or_else(|| panic!("{answer}"));
    (state["id"].as_str().unwrap().to_owned(), serde_json::from_value(state["data"].clone()).unwrap())
}

/// Returns the state that a page gets when it loads the chat.
async fn reloaded(assistant: &Assistant) -> InstanceState {
    let (status, page) = send(assistant, "ada", "GET", "/threads/c/messages", &Value::Null).await;
    assert_eq!(status, 200, "{page}");
    let page: Value = serde_json::from_str(&page).unwrap();
    let parts =
        page["messages"].as_array().unwrap().iter().flat_map(|message| message["parts"].as_array().unwrap());
    let states: Vec<&Value> = parts.filter(|part| part["type"] == "data-ui-state").collect();
    let [state] = states[..] else { panic!("{page}") };
    serde_json::from_value(state["data"].clone()).unwrap()
}

#[tokio::test]
async fn a_component_is_shown_used_and_reloaded_at_three_servers() {
    let (model, store) = (shows_cart(), MemoryStore::new());
    let [first, second, third] = [(); 3].map(|()| server(&model, &store));
    let (instance, state) = shown(&first).await;
    let path = format!("/ui/{instance}/pay");
    let (status, answer) = post_to(&second, "ada", &path, &action_body(&state, &json!({"cents": 250}))).await;
    assert_eq!(status, 200, "{answer}");

    let seen = reloaded(&third).await;
    assert_eq!(seen.server.as_ref().unwrap().to_value()["paid"], 250);
    assert!(seen.rev > state.rev);
    // The seal of the new revision counts at any server.
    let (status, answer) = post_to(&first, "ada", &path, &action_body(&seen, &json!({"cents": 50}))).await;
    assert!(status == 200 && answer.contains("\"paid\":300"), "{answer}");

    drop(model.clone().turn(text("You paid 3 euros.")));
    let (status, _) = post_to(&second, "ada", "/", &question("q2", "How much did I pay?")).await;
    assert_eq!(status, 200);
    let sent = format!("{:?}", model.payloads().last().unwrap());
    assert!(sent.contains(&instance) && sent.contains("300"), "the model reads the newest state: {sent}");
}

#[tokio::test]
async fn what_the_user_changes_is_stored_and_an_older_revision_is_a_conflict() {
    let (model, store) = (shows_cart(), MemoryStore::new());
    let assistant = server(&model, &store);
    let (instance, state) = shown(&assistant).await;
    let path = format!("/ui/{instance}/state");
    let mut body = action_body(&state, &Value::Null);
    body["state"] = json!({"ticked": ["tea"]});
    let (status, answer) = send(&assistant, "ada", "PUT", &path, &body).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(reloaded(&assistant).await.state.to_value(), json!({"ticked": ["tea"]}));
    let (_, replay) = send(&assistant, "ada", "GET", "/c/stream", &Value::Null).await;
    let replayed = chunks(&replay).into_iter().find(|chunk| chunk["type"] == "data-ui-state");
    let replayed = replayed.unwrap_or_else(|| panic!("{replay}"));
    assert_eq!(replayed["data"]["state"], json!({"ticked": ["tea"]}), "a page that comes back");

    body["state"] = json!({"ticked": ["milk"]});
    let (status, answer) = send(&assistant, "ada", "PUT", &path, &body).await;
    assert_eq!(status, 409, "{answer}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["error"]["state"]["state"], json!({"ticked": ["tea"]}), "{answer}");
    body["state"] = json!({"ticked": 1});
    let (status, answer) = send(&assistant, "ada", "PUT", &path, &body).await;
    assert!(status == 400 && answer.contains("/ticked"), "{answer}");
    assert_eq!(send(&assistant, "eve", "PUT", &path, &body).await.0, 400);
}

#[tokio::test]
async fn a_thousand_actions_at_once_are_all_counted() {
    let (model, store) = (shows_cart(), MemoryStore::new());
    let servers = [(); 3].map(|()| {
        let mut limits = Limits::default();
        limits.max_runs_per_principal = 2_000;
        builder(model.clone()).store(store.clone()).limits(limits).build().unwrap()
    });
    let (instance, state) = shown(&servers[0]).await;
    let (path, body) = (format!("/ui/{instance}/pay"), action_body(&state, &json!({"cents": 1})));
    let actions = (0..1_000).map(|index| post_to(&servers[index % 3], "ada", &path, &body));
    for (status, answer) in join_all(actions).await {
        assert!(status == 200 && answer.contains("\"type\":\"result\""), "{answer}");
    }
    assert_eq!(reloaded(&servers[1]).await.server.unwrap().to_value()["paid"], 1_000);
}

#[tokio::test]
async fn a_client_with_a_shared_state_gets_the_newest_states_when_it_connects() {
    let (model, store) = (shows_cart(), MemoryStore::new());
    let assistant = server(&model, &store);
    let (instance, state) = shown(&assistant).await;
    let body = action_body(&state, &json!({"cents": 250}));
    post_to(&assistant, "ada", &format!("/ui/{instance}/pay"), &body).await;

    let connect =
        json!({"threadId": "c", "runId": "r", "state": {}, "messages": [], "tools": [], "context": []});
    let (status, answer) = post_to(&assistant, "ada", "/ag-ui/connect", &connect).await;
    assert_eq!(status, 200, "{answer}");
    let deltas: Vec<Value> =
        chunks(&answer).into_iter().filter(|event| event["type"] == "STATE_DELTA").collect();
    let [delta] = &deltas[..] else { panic!("{answer}") };
    let [change] = &delta["delta"].as_array().unwrap()[..] else { panic!("{answer}") };
    assert_eq!((&change["op"], &change["path"]), (&json!("add"), &json!("/ui")), "other state is kept");
    let seen: InstanceState = serde_json::from_value(change["value"][&instance].clone()).unwrap();
    assert_eq!(seen.server.as_ref().unwrap().to_value()["paid"], 250);
    let body = action_body(&seen, &json!({"cents": 1}));
    let (status, answer) = post_to(&assistant, "ada", &format!("/ui/{instance}/pay"), &body).await;
    assert!(status == 200 && answer.contains("\"paid\":251"), "{answer}");
}

/// Returns `true` for each model call that was offered a cart.
fn offered(model: &ScriptedProvider) -> Vec<bool> {
    model.payloads().iter().map(|sent| format!("{:?}", sent.tools).contains("ui_cart")).collect()
}

#[tokio::test(start_paused = true)]
async fn a_run_keeps_the_components_of_its_client() {
    for names in [json!([]), json!(["cart"])] {
        let is_shown = names == json!(["cart"]);
        let mut ask = question("q", "Refund it");
        ask["components"] = names.clone();

        // The answer comes without a post of the chat.
        let model = ScriptedProvider::new().turn(call("refund", json!({}))).turn(text("Done."));
        let refund = Tool::new("refund", "Refunds an order", || async { Ok::<_, ToolError>("refunded") });
        let assistant = builder(model.clone())
            .tool(refund.requires_approval(Approval::always()))
            .store(MemoryStore::new())
            .build()
            .unwrap();
        let (_, asked) = post_to(&assistant, "ada", "/", &ask).await;
        let asked =
            chunks(&asked).into_iter().find(|chunk| chunk["type"] == "tool-approval-request").unwrap();
        let call_id = asked["toolCallId"].as_str().unwrap();
        let (_, runs) = send(&assistant, "ada", "GET", "/threads/c", &Value::Null).await;
        let runs: Value = serde_json::from_str(&runs).unwrap();
        let path = format!("/runs/{}/obligations/{call_id}", runs["run"]["id"].as_str().unwrap());
        assert_eq!(post_to(&assistant, "ada", &path, &json!({"approved": true})).await.0, 200);
        while model.payloads().len() < 2 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert_eq!(offered(&model), [is_shown; 2], "after an answer");

        // The run waits until the one before it has ended.
        let slow = Turn::text("One").then(Turn::delay(std::time::Duration::from_secs(5)));
        let model = ScriptedProvider::new().turn(slow.then(text("."))).turn(text("Two."));
        let assistant =
            builder(model.clone()).store(MemoryStore::new()).when_busy(WhenBusy::Enqueue).build().unwrap();
        let mut next = question("q2", "And then?");
        next["components"] = names.clone();
        let next = async {
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            post_to(&assistant, "ada", "/", &next).await
        };
        tokio::join!(post_to(&assistant, "ada", "/", &ask), next);
        assert_eq!(offered(&model), [is_shown; 2], "after a queue");
    }
}
