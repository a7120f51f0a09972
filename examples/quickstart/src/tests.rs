use omniassist_axum::core::JsonText;
use serde_json::{Value, json};

use super::*;
use crate::api::Answering;
use crate::demo::Demo;

/// The whole application on a socket, with a demo that does not wait.
async fn start() -> String {
    let store = Store::temporary();
    let assistant = assistant(Arc::new(Demo { pace: Duration::ZERO }), store.clone(), false).unwrap();
    let app = app(&assistant, store, &Answering { model: demo::LABEL.into(), note: String::new() });
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    url
}

fn user(text: &str) -> Value {
    json!({"id": "m1", "role": "user", "parts": [{"type": "text", "text": text}]})
}

async fn post(url: &str, messages: &[Value]) -> Vec<Value> {
    let body = json!({"id": "chat", "messages": messages, "trigger": "submit-message", "context": [
        {"id": "c1", "type": "navigation", "data": {"path": "/tickets", "title": "Refund order 1002"}},
    ]});
    let response = reqwest::Client::new().post(format!("{url}/assistant")).json(&body).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let text = response.text().await.unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

fn of<'a>(chunks: &'a [Value], kind: &str) -> Vec<&'a Value> {
    chunks.iter().filter(|chunk| chunk["type"] == kind).collect()
}

fn said(chunks: &[Value]) -> String {
    of(chunks, "text-delta").iter().filter_map(|chunk| chunk["delta"].as_str()).collect()
}

#[tokio::test]
async fn a_question_becomes_a_call_whose_result_is_in_the_answer() {
    let url = start().await;
    let chunks = post(&url, &[user("Where is order 1001?")]).await;
    assert_eq!(of(&chunks, "tool-input-available")[0]["input"], json!({"order_id": 1001}));
    assert_eq!(of(&chunks, "tool-output-available")[0]["output"]["customer"], "Ada Lovelace");
    let text = said(&chunks);
    assert!(
        text.contains("status: shipped") && text.contains("39.90 EUR") && text.contains("demo"),
        "{text}"
    );
    assert!(!of(&chunks, "reasoning-delta").is_empty());
    assert_eq!(of(&chunks, "finish").len(), 1);
}

#[tokio::test]
async fn a_refusal_reaches_the_user_in_its_own_words() {
    let url = start().await;
    let chunks = post(&url, &[user("Refund order 1007")]).await;
    let sentence = "Order 1007 has already been refunded.";
    assert_eq!(of(&chunks, "tool-output-error")[0]["errorText"], sentence);
    assert!(said(&chunks).contains(sentence), "{}", said(&chunks));
    let chunks = post(&url, &[user("Refund order 1001")]).await;
    assert_eq!(of(&chunks, "tool-output-available")[0]["output"]["refunded"], "39.90 EUR");
    let order: Value = reqwest::get(format!("{url}/api/orders/1001")).await.unwrap().json().await.unwrap();
    assert_eq!(order["status"], "refunded");
}

#[tokio::test]
async fn the_slow_tool_tells_its_progress() {
    let url = start().await;
    let chunks = post(&url, &[user("Export the sales report")]).await;
    let outputs = of(&chunks, "tool-output-available");
    let (last, progress) = outputs.split_last().unwrap();
    assert!(
        progress.iter().all(|chunk| chunk["preliminary"] == true && chunk["output"]["of"] == 4),
        "{progress:?}"
    );
    assert_eq!(progress.len(), 4);
    assert_eq!(last["output"]["months"].as_array().unwrap().len(), 4);
    assert!(last.get("preliminary").is_none());
}

#[tokio::test]
async fn a_front_end_tool_is_handed_over_and_its_output_answered() {
    let url = start().await;
    let question = user("Where is order 1003 and open the customers page");
    let chunks = post(&url, std::slice::from_ref(&question)).await;
    assert_eq!(of(&chunks, "finish")[0]["finishReason"], "tool-calls");
    let calls = of(&chunks, "tool-input-available");
    let outputs = of(&chunks, "tool-output-available");
    assert_eq!((calls.len(), outputs.len()), (2, 1), "the server's tool has run, the page's has not");
    let part = |call: &Value, output: &Value| {
        json!({"type": format!("tool-{}", call["toolName"].as_str().unwrap()), "toolCallId": call["toolCallId"],
            "state": "output-available", "input": call["input"], "output": output})
    };
    let answer = json!({"id": of(&chunks, "start")[0]["messageId"], "role": "assistant", "parts": [
        {"type": "step-start"},
        part(calls[0], &outputs[0]["output"]),
        part(calls[1], &json!({"opened": "Customers"})),
    ]});
    let chunks = post(&url, &[question, answer.clone()]).await;
    assert_eq!(of(&chunks, "start")[0]["messageId"], answer["id"]);
    let text = said(&chunks);
    assert!(text.contains("opened: Customers") && text.contains("id: 1003"), "{text}");
}

#[test]
fn every_tool_is_accepted_and_two_are_the_pages() {
    let assistant = assistant(Arc::new(Demo { pace: Duration::ZERO }), Store::temporary(), false).unwrap();
    let specs = assistant.tools().snapshot().specs();
    let page = specs.iter().filter(|spec| spec.side == omniassist_axum::core::ToolSide::FrontEnd).count();
    assert_eq!((specs.len() - page, page), (6, 2));
    let bad = JsonText::from_value(&json!({"order_id": "x"}));
    assert!(assistant.tools().snapshot().check("order_status", &bad).is_err());
}
