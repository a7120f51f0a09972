//! Tests of the actions on components.

use std::time::Duration;

use omniassist_server::core::event::InstanceState;
use omniassist_server::core::message::Message;
use omniassist_server::core::{JsonText, Text};
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use serde_json::{Value, json};

use super::{action_body, builder, chunks, post_to, shows_cart, state_in};
use crate::approvals::post;

async fn shown() -> (omniassist_server::Assistant, ScriptedProvider, String, InstanceState) {
    let model = shows_cart();
    let assistant = builder(model.clone()).build().unwrap();
    let (messages, _) = post(&assistant, "c", vec![Message::user("q", "My cart?")]).await;
    let (instance, state) = state_in(messages.last().unwrap());
    (assistant, model, instance, state)
}

fn data<'a>(chunks: &'a [Value], kind: &str) -> Vec<&'a Value> {
    chunks.iter().filter(|chunk| chunk["type"] == kind).map(|chunk| &chunk["data"]).collect()
}

#[tokio::test]
async fn an_action_changes_the_state_without_a_model_call() {
    let (assistant, model, instance, mut state) = shown().await;
    state.state = JsonText::from_value(&json!({"ticked": ["tea"]}));
    let calls = model.payloads().len();
    let path = format!("/ui/{instance}/pay");
    let (status, answer) =
        post_to(&assistant, "ada", &path, &action_body(&state, &json!({"cents": 250}))).await;
    assert_eq!(status, 200, "{answer}");
    let chunks = chunks(&answer);
    let [changed] = data(&chunks, "data-ui-state")[..] else { panic!("{answer}") };
    assert_eq!(changed["server"]["paid"], 250);
    assert_eq!(changed["state"], json!({"ticked": ["tea"]}), "the user's part is kept");
    assert_eq!(changed["rev"], state.rev + 1);
    let [event] = data(&chunks, "data-ui-event")[..] else { panic!("{answer}") };
    assert_eq!(*event, json!({"instanceId": instance, "type": "result", "data": {"paid": 250}}));
    assert!(!answer.contains("tool-"), "{answer}");
    assert!(!answer.contains(r#""start""#), "a client would change the id of its message: {answer}");
    assert_eq!(model.payloads().len(), calls);

    let state: InstanceState = serde_json::from_value(changed.clone()).unwrap();
    let (_, answer) = post_to(&assistant, "ada", &path, &action_body(&state, &json!({"cents": 50}))).await;
    assert!(answer.contains("\"paid\":300"), "the next action begins with the new state: {answer}");
}

#[tokio::test(start_paused = true)]
async fn an_action_runs_beside_the_answer_of_its_chat() {
    let (assistant, model, instance, state) = shown().await;
    let slowly = Turn::delay(Duration::from_millis(300)).then(Turn::text("Slowly."));
    drop(model.clone().turn(slowly));
    let slow = {
        let assistant = assistant.clone();
        tokio::spawn(async move { post(&assistant, "c", vec![Message::user("q2", "Go on")]).await })
    };
    tokio::time::sleep(Duration::from_millis(50)).await;
    let body = action_body(&state, &json!({"cents": 1}));
    let (status, _) = post_to(&assistant, "ada", &format!("/ui/{instance}/pay"), &body).await;
    assert_eq!(status, 200);
    let (messages, _) = slow.await.unwrap();
    assert_eq!(messages.last().unwrap().text(), "Slowly.", "the answer was not stopped");
}

#[tokio::test]
async fn faults_of_an_action_name_their_field() {
    let (assistant, _, instance, state) = shown().await;
    let path = format!("/ui/{instance}/pay");
    let valid = action_body(&state, &json!({"cents": 1}));
    let with = |field: &str, value: Value| {
        let mut body = valid.clone();
        body[field] = value;
        body
    };
    let without = |field: &str| {
        let mut body = valid.clone();
        body.as_object_mut().unwrap().remove(field);
        body
    };
    for (path, body, status, names) in [
        (&*path, without("chatId"), 400, "expected a string, found nothing at chatId"),
        (&path, without("component"), 400, "expected a string, found nothing at component"),
        (&path, with("component", json!(7)), 400, "expected a string, found another value at component"),
        (&path, with("rev", json!(-1)), 400, "expected a whole number from 0, found another value at rev"),
        (&path, with("payload", json!({"cents": "all"})), 400, "payload"),
        (&path, with("payload", json!([])), 400, "payload"),
        (&path, with("chatId", json!(1)), 400, "chatId"),
        (&path, with("chatId", json!("")), 400, "chatId"),
        (&path, with("state", json!([1])), 400, "state"),
        (&path, with("seal", json!(1)), 400, "seal"),
        (&path, json!([]), 400, "body"),
        (&path, with("component", json!("other")), 404, "not_found"),
        ("/ui/cart_1/pay", valid.clone(), 400, "state"),
        ("/ui/cart_1/steal", valid.clone(), 404, "not_found"),
    ] {
        let (got, answer) = post_to(&assistant, "ada", path, &body).await;
        assert_eq!(got, status, "{path} {body}: {answer}");
        assert!(answer.contains(names), "{answer}");
    }
}

#[tokio::test]
async fn a_forged_state_is_refused_by_actions_and_dropped_by_runs() {
    let (assistant, model, instance, state) = shown().await;
    let path = format!("/ui/{instance}/pay");
    let forged = |change: &dyn Fn(&mut InstanceState)| {
        let mut forged = state.clone();
        change(&mut forged);
        forged
    };
    let forgeries = [
        forged(&|state| state.rev += 1),
        forged(&|state| state.server = Some(JsonText::from_value(&json!({"paid": 9_999, "articles": 2})))),
        forged(&|state| state.server = None),
        forged(&|state| state.seal = None),
        forged(&|state| state.seal = Some(Text::from("v1.k1.0.AAAAAAAAAAAAAAAAAAAAAA"))),
    ];
    for forged in forgeries {
        let body = action_body(&forged, &json!({"cents": 1}));
        let (status, answer) = post_to(&assistant, "ada", &path, &body).await;
        assert_eq!(status, 400, "{forged:?}: {answer}");
        assert!(answer.contains("\"state\""), "{answer}");
        drop(model.clone().turn(text("Fine.")));
        let mut data = serde_json::to_value(&forged).unwrap();
        data["state"] = json!({"ticked": ["forged"]});
        let answer = json!({"id": "a", "role": "assistant", "parts": [
            {"type": "text", "text": "There."}, {"type": "data-ui-state", "id": instance, "data": data},
        ]});
        let message = |id: &str| json!({"id": id, "role": "user", "parts": [{"type": "text", "text": "Hi"}]});
        let body = json!({"id": "c", "messages": [message("q"), answer, message("q2")]});
        let (status, answer) = post_to(&assistant, "ada", "/", &body).await;
        assert_eq!(status, 200, "{answer}");
        let sent = format!("{:?}", model.payloads().last().unwrap());
        assert!(!sent.contains("forged"), "{sent}");
    }
    let body = action_body(&state, &json!({"cents": 1}));
    let (status, _) = post_to(&assistant, "eve", &path, &body).await;
    assert_eq!(status, 400, "another principal");
    let mut body = body;
    body["chatId"] = "other".into();
    assert_eq!(post_to(&assistant, "ada", &path, &body).await.0, 400, "another chat");
}
