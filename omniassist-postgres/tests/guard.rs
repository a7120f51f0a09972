//! The record of used approvals that servers share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use http::{Request, header};
use http_body_util::{BodyExt, Full};
use omniassist_server::http::AssistantService;
use omniassist_server::seal::SealKeys;
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::tool::{Approval, Tool, ToolError};
use omniassist_server::{Assistant, Principal};
use serde_json::{Value, json};

use crate::database::{connect, execute, new_schema};

/// Posts messages to a server without a store, and returns its answer.
async fn post(assistant: &Assistant, messages: &[Value]) -> String {
    let body = json!({ "id": "c", "messages": messages }).to_string();
    let mut request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
    request.extensions_mut().unwrap().insert(Principal::new("ada"));
    let request = request.body(Full::<bytes::Bytes>::from(body)).unwrap();
    let response = AssistantService::new(assistant.clone()).handle(request).await;
    let body = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.into()).unwrap()
}

/// Returns a field of the first chunk of a kind.
fn field<'a>(chunks: &'a [Value], kind: &str, name: &str) -> &'a Value {
    let chunk = chunks.iter().find(|chunk| chunk["type"] == kind);
    &chunk.unwrap_or_else(|| panic!("no {kind} in {chunks:?}"))[name]
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_runs_once_on_many_servers() {
    let (schema, refunds) = (new_schema(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&refunds);
    let refund = Tool::new("refund", "Refunds an order", move || {
        let counted = Arc::clone(&counted);
        async move {
            counted.fetch_add(1, Ordering::SeqCst);
            Ok::<_, ToolError>("refunded")
        }
    })
    .requires_approval(Approval::always());
    let keys = SealKeys::new("k1", "a secret of thirty-two bytes, or more").unwrap();
    let first = connect(&schema).await;
    let server = |model: ScriptedProvider, store: &omniassist_postgres::PostgresStore| {
        let builder = Assistant::builder(model).tool(refund.clone()).seal_keys(keys.clone());
        builder.replay_guard(store.replay_guard()).build().unwrap()
    };
    let question = json!({ "id": "q", "role": "user", "parts": [{ "type": "text", "text": "Refund 5." }] });
    let asked = post(
        &server(ScriptedProvider::new().turn(call("refund", json!({}))), &first),
        std::slice::from_ref(&question),
    )
    .await;
    let chunks = asked.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok());
    let chunks: Vec<Value> = chunks.collect();
    let mut approval =
        json!({ "id": field(&chunks, "tool-approval-request", "approvalId"), "approved": true });
    if let Some(signature) = chunks.iter().find_map(|chunk| chunk.get("signature")) {
        approval["signature"] = signature.clone();
    }
    let answer = json!({
        "id": field(&chunks, "start", "messageId"),
        "role": "assistant",
        "parts": [{
            "type": "tool-refund",
            "toolCallId": field(&chunks, "tool-input-available", "toolCallId"),
            "state": "approval-responded",
            "input": {},
            "approval": approval,
        }],
    });
    let stores = join_all((0..8).map(|_| connect(&schema))).await;
    let servers: Vec<_> =
        stores.iter().map(|store| server(ScriptedProvider::new().turn(text("Done.")), store)).collect();
    let messages = [question, answer];
    let answers = join_all(servers.iter().map(|server| post(server, &messages))).await;
    let refused = answers.iter().filter(|answer| answer.contains("was not run again")).count();
    assert_eq!((refunds.load(Ordering::SeqCst), refused), (1, 7), "{answers:?}");
    assert_eq!(execute(&schema, "select count(*) from used_approval where expires_at > now()"), "1");
}
