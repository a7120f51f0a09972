//! Limits at n and n+1.

use omniassist_server::core::Limits;
use omniassist_server::testing::ScriptedProvider;
use serde_json::{Value, json};

use crate::host::Host;
use crate::stage::{assistant, conversation, invoice, model_routes, says};
use crate::transport::Transport;
use crate::wire::{Answer, Ask};

async fn host(on: Transport, limits: Limits) -> (Host, ScriptedProvider) {
    let model = says("{}");
    let assistant = assistant(model.clone()).limits(limits).object(invoice()).build().unwrap();
    (Host::start(on, &assistant).await, model)
}

/// Returns a request body that is padded with blanks to `bytes` bytes.
fn of_size(bytes: usize) -> String {
    let mut body = conversation("c").to_string();
    body.push_str(&" ".repeat(bytes - body.len()));
    body
}

/// Sends a request at the limit and one above it. The second must be refused with the limit's name before the model is
/// called.
async fn at_and_above(
    on: Transport,
    limits: Limits,
    name: &str,
    limit: usize,
    body: impl Fn(usize) -> Value,
) {
    let (host, model) = host(on, limits).await;
    let fits = host.ask(&Ask::json("/assistant", &body(limit))).await.whole().await;
    assert_eq!(fits.status(), 200, "{}", fits.text());
    let asked = model.payloads().len();
    let refused = host.ask(&Ask::json("/assistant", &body(limit + 1))).await.whole().await;
    assert_eq!(refused.status(), 400);
    let error = refused.json()["error"].clone();
    assert_eq!((&error["limit"]["name"], &error["limit"]["value"]), (&json!(name), &json!(limit)), "{error}");
    assert_eq!((asked, model.payloads().len()), (1, 1));
}

fn refused_as_too_large(answer: &Answer, limit: usize) {
    assert_eq!(answer.status(), 413, "{}", answer.text());
    assert_eq!(answer.json()["error"]["limit"]["value"], limit);
}

pub(crate) async fn body_of_announced_length(on: Transport) {
    let limit = Limits::default().max_body_bytes;
    assert_eq!(limit, 8 << 20);
    let (host, model) = host(on, Limits::default()).await;
    let fits = host.ask(&Ask::post("/assistant", of_size(limit))).await.whole().await;
    assert_eq!(fits.words(), "{}");
    let refused = host.ask(&Ask::post("/assistant", of_size(limit + 1))).await.whole().await;
    refused_as_too_large(&refused, limit);
    assert_eq!(model.payloads().len(), 1);
}

pub(crate) async fn body_in_chunks(on: Transport) {
    let limit = Limits::default().max_body_bytes;
    let (host, model) = host(on, Limits::default()).await;
    let asked = |size| Ask::post("/assistant", of_size(size)).pieces(100_000).unannounced();
    let fits = host.ask(&asked(limit)).await.whole().await;
    assert_eq!(fits.words(), "{}");
    let refused = host.ask(&asked(limit + 1)).await.whole().await;
    refused_as_too_large(&refused, limit);
    assert_eq!(model.payloads().len(), 1);
}

pub(crate) async fn body_on_every_route(on: Transport) {
    let mut limits = Limits::default();
    limits.max_body_bytes = 1_000;
    let (host, model) = host(on, limits).await;
    for (before, asked) in model_routes("/assistant").into_iter().enumerate() {
        let path = asked.path.clone();
        let filled = |size| asked.clone().padded(size);
        assert_eq!(host.ask(&filled(1_000)).await.whole().await.status(), 200, "{path}");
        assert_eq!(host.ask(&filled(1_001)).await.whole().await.status(), 413, "{path}");
        let unannounced = filled(1_001).pieces(100).unannounced();
        assert_eq!(host.ask(&unannounced).await.whole().await.status(), 413, "{path}");
        assert_eq!(model.payloads().len(), before + 1, "{path}");
    }
}

pub(crate) async fn depth_of_json(on: Transport) {
    let limit = Limits::default().max_json_depth;
    at_and_above(on, Limits::default(), "max_json_depth", limit, |depth| {
        // The body, the context's array and its object are three levels.
        let mut data = json!([]);
        for _ in 0..depth - 4 {
            data = json!([data]);
        }
        with(json!({ "context": [{ "id": "c", "type": "x", "data": data }] }))
    })
    .await;
}

fn with(fields: Value) -> Value {
    let mut body = conversation("c");
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    body
}

pub(crate) async fn messages(on: Transport) {
    let mut limits = Limits::default();
    limits.max_conversation_parts = 10_000;
    at_and_above(on, limits, "max_conversation_parts", 10_000, |count| {
        let message = |number| json!({ "id": format!("m{number}"), "role": "user", "content": "hi" });
        with(json!({ "messages": (0..count).map(message).collect::<Vec<_>>() }))
    })
    .await;
}

pub(crate) async fn parts(on: Transport) {
    let limit = Limits::default().max_parts;
    at_and_above(on, Limits::default(), "max_parts", limit, |count| {
        let parts = vec![json!({ "type": "text", "text": "hi" }); count];
        with(json!({ "messages": [{ "id": "m", "role": "user", "parts": parts }] }))
    })
    .await;
}

pub(crate) async fn ids(on: Transport) {
    let limit = Limits::default().max_id_bytes;
    at_and_above(on, Limits::default(), "max_id_bytes", limit, |bytes| {
        with(json!({ "messages": [{ "id": "m".repeat(bytes), "role": "user", "content": "hi" }] }))
    })
    .await;
    at_and_above(on, Limits::default(), "max_id_bytes", limit, |bytes| conversation(&"c".repeat(bytes)))
        .await;
}

pub(crate) async fn context_messages(on: Transport) {
    let mut limits = Limits::default();
    limits.max_context_messages = 3;
    at_and_above(on, limits, "max_context_messages", 3, |count| {
        with(json!({ "context": vec![json!({ "id": "c", "type": "x", "data": 1 }); count] }))
    })
    .await;
}

pub(crate) async fn declared_tools(on: Transport) {
    let limit = Limits::default().max_declared_tools;
    at_and_above(on, Limits::default(), "max_declared_tools", limit, |count| {
        let tool = |number| {
            let tool = json!({ "description": "Shows it", "parameters": { "type": "object" } });
            (format!("show_{number}"), tool)
        };
        with(json!({ "tools": (0..count).map(tool).collect::<serde_json::Map<_, _>>() }))
    })
    .await;
}
