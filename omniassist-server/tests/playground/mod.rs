//! Tests of the playground: who may use it, what it may set, and the test that its page exports.

#[rustfmt::skip]
mod exported;
#[rustfmt::skip]
mod exported_again;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use omniassist_server::core::transcript::TranscriptItem;
use omniassist_server::core::{ReasoningEffort, ToolChoice};
use omniassist_server::http::AssistantService;
use omniassist_server::playground::Playground;
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{Agent, Args, Assistant, AssistantBuilder, Json, PeerAddr, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The events of the runs that the page exports as tests, one in a line.
const RECORDED: [&str; 2] = [include_str!("recorded.jsonl"), include_str!("recorded_again.jsonl")];
const LOOPBACK: &str = "127.0.0.1:5000";

#[derive(Deserialize, JsonSchema)]
struct OrderQuery {
    number: u32,
}

#[derive(Serialize)]
struct Order {
    number: u32,
    status: &'static str,
}

async fn order_status(Args(query): Args<OrderQuery>) -> Result<Json<Order>, ToolError> {
    if query.number == 0 {
        return Err(ToolError::new("There is no order \"0\"."));
    }
    Ok(Json(Order { number: query.number, status: "shipped" }))
}

fn builder(model: ScriptedProvider) -> AssistantBuilder {
    Assistant::builder(model).system_prompt("You help with orders.").tool(Tool::new(
        "order_status",
        "Look up an order",
        order_status,
    ))
}

/// Builds an assistant for the exported test.
fn assistant(model: ScriptedProvider) -> Assistant {
    builder(model).build().unwrap()
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    /// Returns the data of the events.
    fn chunks(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
    }
}

/// Sends a request from this machine, unless the headers and the peer say otherwise.
async fn ask(
    builder: AssistantBuilder,
    (method, path): (&str, &str),
    peer: Option<&str>,
    headers: &[(&str, &str)],
    body: &Value,
) -> Answer {
    let mut request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    if !headers.iter().any(|(name, _)| *name == "host") {
        request = request.header("host", "localhost:3000");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let mut request = request.body(Full::new(Bytes::from(body))).unwrap();
    if let Some(peer) = peer {
        request.extensions_mut().insert(PeerAddr(peer.parse().unwrap()));
    }
    let (parts, body) = AssistantService::new(builder.build().unwrap()).handle(request).await.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let body = String::from_utf8(body.to_vec()).unwrap();
    Answer { status: parts.status, headers: parts.headers, body }
}

async fn get(builder: AssistantBuilder, path: &str, peer: Option<&str>, headers: &[(&str, &str)]) -> Answer {
    ask(builder, ("GET", path), peer, headers, &Value::Null).await
}

/// Posts a question with a member `playground`.
async fn run(builder: AssistantBuilder, peer: &str, playground: Value) -> Answer {
    let question =
        json!({"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Where is order 7?"}]});
    let body = json!({"id": "chat-1", "messages": [question], "playground": playground});
    ask(builder.allow_anonymous(), ("POST", "/?ai-sdk=7"), Some(peer), &[], &body).await
}

fn enabled(model: ScriptedProvider) -> AssistantBuilder {
    builder(model).playground(Playground::new())
}

#[tokio::test]
async fn there_is_no_playground_unless_the_builder_enables_it() {
    for path in ["/playground", "/playground/page.js"] {
        let off = builder(ScriptedProvider::new()).allow_anonymous();
        assert_eq!(get(off, path, Some(LOOPBACK), &[]).await.status, 404, "{path}");
    }
    let on = || enabled(ScriptedProvider::new()).agent(Agent::new("small", "Answers.")).allow_anonymous();
    for path in ["/playground/", "/playground/other.js", "/agents/small/playground"] {
        assert_eq!(get(on(), path, Some(LOOPBACK), &[]).await.status, 404, "{path}");
    }
    assert_eq!(ask(on(), ("POST", "/playground"), Some(LOOPBACK), &[], &json!({})).await.status, 405);
}

#[tokio::test]
async fn the_page_has_a_strict_policy_and_needs_no_principal() {
    let page = get(enabled(ScriptedProvider::new()), "/playground", Some(LOOPBACK), &[]).await;
    assert_eq!((page.status, page.header("content-type")), (StatusCode::OK, "text/html; charset=utf-8"));
    assert_eq!(page.header("cache-control"), "no-store");
    let policy = page.header("content-security-policy");
    for rule in [
        "default-src 'none'",
        "script-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ] {
        assert!(policy.split("; ").any(|own| own == rule), "{rule}: {policy}");
    }
    // Relative, so that it is right at any mount.
    assert!(page.body.contains(r#"src="playground/page.js""#), "{}", page.body);
    let script = get(enabled(ScriptedProvider::new()), "/playground/page.js", Some(LOOPBACK), &[]).await;
    assert_eq!(
        (script.status, script.header("content-type")),
        (StatusCode::OK, "text/javascript; charset=utf-8")
    );
    assert!(script.body.contains("../widget.js"));
}

#[tokio::test]
async fn only_this_machine_is_admitted() {
    type Headers<'a> = &'a [(&'a str, &'a str)];
    let admitted: [(&str, Headers<'_>); 3] = [
        (LOOPBACK, &[]),
        ("[::1]:5000", &[("host", "[::1]:3000")]),
        ("[::ffff:127.0.0.1]:1", &[("host", "127.0.0.1")]),
    ];
    let listed: Headers<'_> = &[("host", "app.example.com")];
    let forwarded: Headers<'_> = &[("x-forwarded-for", "203.0.113.7")];
    let refused: [(Option<&str>, Headers<'_>); 6] = [
        (None, &[]),
        (Some("192.168.1.7:5000"), &[]),
        (Some("203.0.113.7:5000"), &[]),
        (Some(LOOPBACK), listed),
        (Some(LOOPBACK), forwarded),
        (Some(LOOPBACK), &[("via", "1.1 proxy")]),
    ];
    for path in ["/playground", "/playground/page.js"] {
        for (peer, headers) in admitted {
            let answer = get(enabled(ScriptedProvider::new()), path, Some(peer), headers).await;
            assert_eq!(answer.status, 200, "{path} {peer}");
        }
        for (peer, headers) in refused {
            let hosts = ["app.example.com", "localhost"];
            let builder = enabled(ScriptedProvider::new()).allowed_hosts(hosts);
            let answer = get(builder, path, peer, headers).await;
            assert_eq!(answer.status, 403, "{path} {peer:?} {headers:?}");
            assert!(answer.body.contains(r#""code":"playground_not_admitted""#), "{}", answer.body);
        }
        // A name that points at this machine (DNS rebinding) is refused before.
        let rebound = [("host", "rebound.example")];
        assert_eq!(get(enabled(ScriptedProvider::new()), path, Some(LOOPBACK), &rebound).await.status, 421);
        let open = builder(ScriptedProvider::new()).playground(Playground::new().allow_any_peer());
        assert_eq!(get(open, path, None, listed).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn a_developer_sets_the_options_of_the_model() {
    let asked = json!({
        "model": "large",
        "system": "Be brief.",
        "toolChoice": {"tool": "order_status"},
        "options": {
            "temperature": 0.5, "topP": 0.9, "maxOutputTokens": 50, "reasoningEffort": "low", "extra": {"seed": 7},
        },
    });
    let model = ScriptedProvider::new().turn(text("Hello."));
    let answer = run(enabled(model.clone()), LOOPBACK, asked.clone()).await;
    assert!(answer.body.contains("Hello."), "{}", answer.body);
    let payload = model.payloads().remove(0);
    assert_eq!((payload.model.as_deref(), payload.system.as_deref()), (Some("large"), Some("Be brief.")));
    assert_eq!(payload.tool_choice, ToolChoice::Tool("order_status".into()));
    let options = payload.options;
    assert_eq!(
        (options.temperature, options.top_p, options.max_output_tokens),
        (Some(0.5), Some(0.9), Some(50))
    );
    assert_eq!(options.reasoning_effort, Some(ReasoningEffort::Low));
    assert_eq!(options.extra["seed"], 7);

    // From another machine, and without a playground, it is a member that nobody reads.
    let model = ScriptedProvider::new().turn(text("Hello."));
    run(enabled(model.clone()), "203.0.113.7:5000", asked.clone()).await;
    let off = ScriptedProvider::new().turn(text("Hello."));
    run(builder(off.clone()), LOOPBACK, asked).await;
    for payload in [model.payloads().remove(0), off.payloads().remove(0)] {
        assert_eq!((payload.model.as_deref(), payload.options.temperature), (None, None));
        assert_eq!(payload.system.as_deref(), Some("You help with orders."));
    }
}

#[tokio::test]
async fn a_call_runs_again_with_other_arguments_and_the_model_goes_on() {
    let model = ScriptedProvider::new().turn(text("It has shipped."));
    let turns =
        json!([{"text": "Let me look.", "calls": [{"name": "order_status", "arguments": {"number": 8}}]}]);
    let answer = run(enabled(model.clone()), LOOPBACK, json!({"turns": turns})).await;
    let chunks = answer.chunks();
    let output = chunks.iter().find(|chunk| chunk["type"] == "tool-output-available").unwrap();
    assert_eq!(output["output"], json!({"number": 8, "status": "shipped"}));
    assert!(answer.body.contains("It has shipped."));
    let payload = model.payloads().remove(0);
    let results = payload.transcript.iter().filter(|item| matches!(item, TranscriptItem::Result(_)));
    assert_eq!((model.payloads().len(), results.count()), (1, 1));
}

#[tokio::test]
async fn a_member_that_is_not_valid_refuses_the_run_with_the_reason() {
    let model = ScriptedProvider::new().turn(text("Hello."));
    for wrong in [json!({"colour": "red"}), json!({"options": {"temperature": "hot"}}), json!("yes")] {
        let answer = run(enabled(model.clone()), LOOPBACK, wrong).await;
        assert!(answer.body.contains("The member `playground` of the body is not valid"), "{}", answer.body);
    }
    assert!(model.payloads().is_empty());
}

/// Removes what differs between runs: ids of messages, and seals.
fn without_ids(mut chunk: Value) -> Option<Value> {
    let members = chunk.as_object_mut()?;
    members.retain(|name, _| {
        !["messageId", "providerMetadata", "resultProviderMetadata"].contains(&name.as_str())
    });
    (chunk["type"] != "message-metadata").then_some(chunk)
}

#[tokio::test]
async fn the_recorded_runs_are_what_the_server_streams() {
    let looked_up = ScriptedProvider::new()
        .turn([text("Let me look. \u{1f50d} "), call("order_status", json!({"number": 7}))])
        .turn(Turn::text_chunks(["It has ", "\"shipped\"."]));
    let failed = ScriptedProvider::new()
        .turn(Turn::call_with_id("call_2", "order_status", json!({"number": 0})))
        .turn(text("No\tC:\\order\n0. \u{202e}"));
    for (model, recorded) in [looked_up, failed].into_iter().zip(RECORDED) {
        let answer = run(builder(model), LOOPBACK, json!({})).await;
        let streamed: Vec<_> = answer.chunks().into_iter().filter_map(without_ids).collect();
        let recorded = recorded.lines().map(|line| serde_json::from_str(line).unwrap());
        assert_eq!(streamed, recorded.filter_map(without_ids).collect::<Vec<_>>());
    }
}
