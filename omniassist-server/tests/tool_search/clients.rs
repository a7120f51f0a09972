//! Tests of the tool search in the streams of clients and in the audit log.

use http_body_util::BodyExt;
use omniassist_server::audit::AuditLog;
use omniassist_server::http::AssistantService;
use omniassist_server::seal::SealKeys;
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::{Assistant, AssistantBuilder, OpenAiEndpoint};
use serde_json::{Value, json};

use super::catalogue::{Calls, tools};
use super::deferred::{ask, offered, search};
use crate::ag_ui::client::Client;
use crate::ag_ui::{events, input, kinds, post, user};
use crate::audit::Kept;

/// Returns a model that searches, refunds an order, and later refunds another order.
fn model() -> ScriptedProvider {
    ScriptedProvider::new()
        .turn(search("refund order"))
        .turn(call("refund_order", json!({ "id": 17 })))
        .turn(text("Done."))
        .turn(call("refund_order", json!({ "id": 18 })))
        .otherwise(|_| text("Done, too."))
}

fn shop(model: &ScriptedProvider) -> AssistantBuilder {
    let keys = SealKeys::new("k1", [7; 32]).unwrap();
    tools(&Calls::default())
        .into_iter()
        .fold(Assistant::builder(model.clone()).seal_keys(keys), AssistantBuilder::tool)
}

async fn stream(service: &AssistantService, path: &str, body: &Value) -> String {
    let body = service.handle(post(path, body, "ada")).await.into_body();
    String::from_utf8(body.collect().await.unwrap().to_bytes().into()).unwrap()
}

/// Returns the names of the tools of one model call.
fn step(model: &ScriptedProvider, index: usize) -> Vec<String> {
    offered(model).swap_remove(index)
}

#[tokio::test]
async fn ui_clients_receive_a_search_as_a_call_of_a_server_tool() {
    let service = AssistantService::new(shop(&model()).build().unwrap());
    let body = json!({"id": "c", "messages": [{"id": "u1", "role": "user", "content": "Refund order 17"}]});
    let stream = stream(&service, "/", &body).await;
    let chunks: Vec<Value> = stream
        .lines()
        .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
        .filter(|chunk: &Value| chunk["type"].as_str().unwrap().starts_with("tool-"))
        .collect();
    let of = |name: &str| {
        let start = chunks.iter().find(|chunk| chunk["toolName"] == name).unwrap();
        let own = chunks.iter().filter(|chunk| chunk["toolCallId"] == start["toolCallId"]);
        let mut kinds: Vec<_> = own.map(|chunk| chunk["type"].as_str().unwrap()).collect();
        kinds.dedup();
        kinds
    };
    assert_eq!(of("tool_search"), of("refund_order"));
    assert_eq!(of("tool_search").last(), Some(&"tool-output-available"));
    let output = chunks.iter().find(|chunk| chunk["type"] == "tool-output-available").unwrap();
    assert_eq!(output["output"]["tools"][0]["name"], "refund_order");
}

#[tokio::test]
async fn ag_ui_clients_keep_loaded_tools_between_runs() {
    let model = model();
    let service = AssistantService::new(shop(&model).build().unwrap());
    let mut client = Client::default();
    client.messages.push(user("Refund order 17"));
    let first = events(service.handle(post("/ag-ui", &input(&client.messages), "ada")).await).await;
    client.apply_all(&first);
    assert_eq!(kinds(&first).iter().filter(|kind| **kind == "TOOL_CALL_RESULT").count(), 2);
    client.messages.push(json!({"id": "u2", "role": "user", "content": "And order 18"}));
    let second = events(service.handle(post("/ag-ui", &input(&client.messages), "ada")).await).await;
    assert_eq!(kinds(&second).last(), Some(&"RUN_FINISHED"), "{second:?}");
    assert_eq!(step(&model, 1).len(), 6);
    assert_eq!(
        step(&model, 3),
        step(&model, 1),
        "the second run must begin with the tools that the first run loaded"
    );
}

#[tokio::test]
async fn each_run_of_an_openai_client_begins_with_the_search() {
    let model = model();
    let endpoint = OpenAiEndpoint::new().show_server_tools(true);
    let service = AssistantService::new(shop(&model).openai_endpoint(endpoint).build().unwrap());
    let said = |role: &str, content: &str| json!({ "role": role, "content": content });
    let mut messages = vec![said("user", "Refund order 17")];
    let body = json!({"model": "omniassist", "messages": messages, "stream": true});
    let first = stream(&service, "/v1/chat/completions", &body).await;
    assert!(first.ends_with("data: [DONE]\n\n") && first.contains(r#""name":"tool_search""#), "{first}");
    assert!(!first.contains("tool_calls"), "{first}");
    messages.extend([said("assistant", "Done."), said("user", "And order 18")]);
    let body = json!({"model": "omniassist", "messages": messages});
    let second: Value = serde_json::from_str(&stream(&service, "/v1/chat/completions", &body).await).unwrap();
    assert_eq!(second["choices"][0]["message"]["content"], "Done, too.");
    assert_eq!(step(&model, 3), ["tool_search"]);
    // The model called the tool without a search, and the call ran.
    assert_eq!(step(&model, 4), ["tool_search", "refund_order"]);
}

#[tokio::test]
async fn the_audit_log_has_the_search_and_its_query() {
    let kept = Kept::default();
    let log = AuditLog::new(kept.clone()).record_arguments(true);
    let assistant = shop(&model()).audit(log).build().unwrap();
    ask(&assistant, Vec::new(), "Refund order 17").await;
    assistant.shutdown().await;
    let calls: Vec<_> = kept.json().into_iter().filter(|record| record["action"] == "call_started").collect();
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert_eq!(
        (&calls[0]["tool"], &calls[0]["arguments"]),
        (&json!("tool_search"), &json!({"query": "refund order"}))
    );
    assert_eq!(calls[1]["tool"], "refund_order");
}
