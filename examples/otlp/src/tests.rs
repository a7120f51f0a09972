//! Runs the backend with a collector in this process and checks the spans that it receives.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Request, StatusCode};
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message;
use tokio::net::TcpListener;
use tower::ServiceExt;
use tracing_subscriber::layer::SubscriberExt;

use crate::app;
use crate::telemetry::Traces;

type Received = Arc<Mutex<Vec<Span>>>;

/// An OTLP collector for traces: <https://opentelemetry.io/docs/specs/otlp/#otlphttp-request>.
async fn collect(State(received): State<Received>, headers: HeaderMap, body: Bytes) -> (StatusCode, Vec<u8>) {
    assert_eq!(headers["content-type"], "application/x-protobuf");
    let request = ExportTraceServiceRequest::decode(body).unwrap();
    let scopes = request.resource_spans.into_iter().flat_map(|resource| resource.scope_spans);
    received.lock().unwrap().extend(scopes.flat_map(|scope| scope.spans));
    (StatusCode::OK, ExportTraceServiceResponse::default().encode_to_vec())
}

fn attribute(span: &Span, name: &str) -> Option<Value> {
    let attribute = span.attributes.iter().find(|attribute| attribute.key == name)?;
    attribute.value.clone()?.value
}

fn text(value: &str) -> Option<Value> {
    Some(Value::StringValue(value.to_owned()))
}

#[tokio::test]
async fn spans_of_a_run_reach_the_collector() {
    let received = Received::default();
    let collector = Router::new().route("/v1/traces", post(collect)).with_state(Arc::clone(&received));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1/traces", listener.local_addr().unwrap());
    let collector = tokio::spawn(async move { axum::serve(listener, collector).await.unwrap() });

    let traces = Traces::new(Some(&url)).unwrap();
    let guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(traces.layer()));
    let question = r#"{"id":"chat-1","messages":[{"id":"m","role":"user","content":"secret question"}]}"#;
    let request = Request::post("/assistant").header("content-type", "application/json");
    let response = app::router(app::scripted())
        .unwrap()
        .oneshot(request.body(Body::from(question)).unwrap())
        .await
        .unwrap();
    let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    assert!(String::from_utf8_lossy(&body).contains(r#""cost":"0.000169""#), "{body:?}");
    // The task of a tool ends shortly after its output is known.
    tokio::time::sleep(Duration::from_millis(50)).await;
    drop(guard);
    tokio::task::spawn_blocking(move || traces.shutdown()).await.unwrap().unwrap();
    collector.abort();

    let spans = received.lock().unwrap().clone();
    let named = |name: &str| spans.iter().filter(|span| span.name == name).collect::<Vec<_>>();
    let (runs, steps) = (named("invoke_agent"), named("step"));
    let (calls, tools) = (named("chat gpt-5-mini"), named("execute_tool order_status"));
    let counts = (runs.len(), steps.len(), calls.len(), tools.len(), spans.len());
    assert_eq!(counts, (1, 2, 2, 1, 6), "{spans:#?}");

    let run = runs[0];
    assert!(run.parent_span_id.is_empty());
    assert!(spans.iter().all(|span| span.trace_id == run.trace_id));
    assert!(steps.iter().all(|step| step.parent_span_id == run.span_id));
    let step_of = |span: &Span| steps.iter().position(|step| step.span_id == span.parent_span_id);
    let mut parents: Vec<_> = calls.iter().map(|call| step_of(call)).collect();
    parents.sort();
    assert_eq!(parents, [Some(0), Some(1)]);
    let first = calls.iter().find(|call| step_of(call) == step_of(tools[0])).expect("a call beside the tool");

    assert_eq!(attribute(run, "gen_ai.operation.name"), text("invoke_agent"));
    assert_eq!(attribute(run, "gen_ai.conversation.id"), text("chat-1"));
    assert_eq!(attribute(run, "gen_ai.usage.input_tokens"), Some(Value::IntValue(420)));
    assert_eq!(attribute(run, "gen_ai.usage.output_tokens"), Some(Value::IntValue(32)));
    assert_eq!(attribute(run, "omniassist.run.cost"), text("0.000169"));
    assert_eq!(first.kind, SpanKind::Client as i32);
    assert_eq!(attribute(first, "gen_ai.operation.name"), text("chat"));
    assert_eq!(attribute(first, "gen_ai.provider.name"), text("scripted"));
    assert_eq!(attribute(first, "gen_ai.request.model"), text("gpt-5-mini"));
    assert_eq!(attribute(first, "gen_ai.response.finish_reasons"), text(r#"["tool_call"]"#));
    assert_eq!(attribute(first, "gen_ai.usage.input_tokens"), Some(Value::IntValue(180)));
    assert_eq!(attribute(tools[0], "gen_ai.operation.name"), text("execute_tool"));
    assert_eq!(attribute(tools[0], "gen_ai.tool.name"), text("order_status"));
    assert_eq!(attribute(tools[0], "gen_ai.tool.call.id"), text("call_1_1"));
    assert!(tools[0].events.iter().any(|event| event.name == "looked up an order"));
    assert!(!format!("{spans:?}").contains("secret question"), "content stays out");
}
