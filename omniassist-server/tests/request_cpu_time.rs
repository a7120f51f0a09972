//! Tests that each small request takes at most 50 ms of CPU time in a release build, even with expensive content.
//!
//! Each test sends expensive inputs of at most 64 KiB. The bound is measured on the thread's own
//! CPU clock and scaled by the time that this build takes to parse JSON, so that it also holds for a debug build and
//! on a busy machine.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use http::StatusCode;
use omniassist_server::core::{JsonText, RunEvent, ToolSpec, canonical, typescript};
use omniassist_server::http::AssistantService;
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use omniassist_server::{Assistant, Tool};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::ag_ui::{post, read};
use crate::plain_routes::invoice;

/// Returns the CPU time of this thread, or the clock time on systems without one.
fn cpu_time() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = stat.and_then(|stat| stat.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| START.get_or_init(Instant::now).elapsed(), Duration::from_nanos)
}

pub(crate) fn cost<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let before = cpu_time();
    let done = work();
    (cpu_time().saturating_sub(before), done)
}

/// Returns 50 ms, scaled by the speed of this build. A release build parses the sample below in about 0.4 ms.
pub(crate) fn bound() -> Duration {
    static BOUND: OnceLock<Duration> = OnceLock::new();
    *BOUND.get_or_init(|| {
        let sample = json!((0..5_000).map(|n| json!({ "n": n })).collect::<Vec<_>>()).to_string();
        // The clock of a thread can have a resolution of 4 ms, so each measurement is of many parses.
        let parse = || cost(|| (0..50).for_each(|_| drop(serde_json::from_str::<Value>(&sample)))).0 / 50;
        let fastest = (0..3).map(|_| parse()).min().unwrap_or_default();
        Duration::from_millis(50).mul_f64((fastest.as_secs_f64() / 0.000_4).max(1.0))
    })
}

/// A value that a client or a model can put into a request.
#[derive(Debug, Clone)]
enum Input {
    Nested(usize),
    Keys(usize),
    Numbers(usize),
    Text(String),
    Any(Value),
}

impl Input {
    fn value(&self) -> Value {
        match self {
            Self::Nested(levels) => (0..*levels).fold(json!(1), |inner, _| json!([inner])),
            Self::Keys(count) => {
                (0..*count).map(|n| (format!("k{n}"), json!(n))).collect::<Map<_, _>>().into()
            }
            Self::Numbers(count) => vec![json!(0.1); *count].into(),
            Self::Text(text) => text.as_str().into(),
            Self::Any(value) => value.clone(),
        }
    }
}

fn inputs() -> impl Strategy<Value = Input> {
    let leaf =
        prop_oneof![any::<i64>().prop_map(Value::from), "[a-z\\\\\"\u{1}é]{0,9}".prop_map(Value::from)];
    let any = leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("[a-z~/$]{0,3}", inner, 0..6)
                .prop_map(|fields| fields.into_iter().collect::<Map<_, _>>().into()),
        ]
    });
    prop_oneof![
        (1_usize..200).prop_map(Input::Nested),
        (1_usize..4_000).prop_map(Input::Keys),
        (1_usize..10_000).prop_map(Input::Numbers),
        (1_usize..20_000).prop_map(|length| Input::Text("\u{1}".repeat(length / 6))),
        any.prop_map(Input::Any),
    ]
}

/// Schemas that are slow to traverse, to inline, to compile or to check.
fn schemas() -> impl Strategy<Value = Value> {
    let object = |property: Value, defs: Map<String, Value>| json!({ "type": "object", "properties": { "a": property }, "$defs": defs });
    let reference = |name: String| json!({ "$ref": format!("#/$defs/{name}") });
    prop_oneof![
        // A diamond.
        (1_usize..40, 1_usize..6).prop_map(move |(levels, times)| {
            let next = |level: usize| {
                let names = (0..times).map(|n| (format!("p{n}"), reference(format!("L{level}"))));
                json!({ "type": "object", "properties": names.collect::<Map<_, _>>() })
            };
            let last = (format!("L{levels}"), json!({ "type": "string" }));
            let defs = (0..levels).map(|level| (format!("L{level}"), next(level + 1))).chain([last]);
            object(reference("L0".to_owned()), defs.collect())
        }),
        // A chain.
        (1_usize..1_200).prop_map(move |count| {
            let link = |n: usize| (format!("A{n}"), json!({ "anyOf": [reference(format!("A{}", n + 1))] }));
            let last = (format!("A{count}"), json!({ "type": "string" }));
            object(reference("A0".to_owned()), (0..count).map(link).chain([last]).collect())
        }),
        // Alternatives that double with each level of the arguments.
        (1_usize..8).prop_map(move |times| {
            let list = json!({ "type": "array", "items": reference("T".to_owned()) });
            object(
                reference("T".to_owned()),
                Map::from_iter([("T".to_owned(), json!({ "anyOf": vec![list; times] }))]),
            )
        }),
        // Many references to each other without an object in between.
        (1_usize..60).prop_map(move |count| {
            let all: Vec<Value> = (0..count).map(|n| reference(format!("M{n}"))).collect();
            let defs = (0..count).map(|n| (format!("M{n}"), json!({ "anyOf": all }))).collect();
            object(reference("M0".to_owned()), defs)
        }),
        // Many definitions whose types have the same name in TypeScript.
        (1_usize..1_500).prop_map(move |count| {
            let name = |n: usize| format!("{}x", "_".repeat(n % 40 + 1) + &"-".repeat(n / 40));
            let defs: Map<_, _> = (0..count).map(|n| (name(n), json!({ "type": "string" }))).collect();
            let all: Vec<Value> = defs.keys().map(|name| reference(name.clone())).collect();
            object(json!({ "anyOf": all }), defs)
        }),
        // Large patterns.
        (1_usize..800, 1_usize..1_000).prop_map(move |(count, times)| {
            let patterns = (0..count).map(|n| json!({ "pattern": format!("(a?b?){{{}}}c", times + n) }));
            object(json!({ "allOf": patterns.collect::<Vec<_>>() }), Map::new())
        }),
    ]
}

fn service(model: ScriptedProvider) -> AssistantService {
    let assistant = Assistant::builder(model).tool(Tool::request_input()).allow_anonymous().object(invoice());
    AssistantService::new(assistant.build().unwrap())
}

/// Sends a body and reads the answer to its end.
fn send(service: &AssistantService, path: &str, body: &Value) -> (Duration, StatusCode) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    cost(|| {
        runtime.block_on(async {
            let response = service.handle(post(path, body, "ada")).await;
            let status = response.status();
            read(response).await;
            status
        })
    })
}

/// The bodies of all routes that carry this schema.
fn with_schema(schema: &Value) -> Vec<(&'static str, Value)> {
    let message = json!([{ "id": "m1", "role": "user", "content": "Hi" }]);
    let ag_ui = json!({
        "threadId": "t", "runId": "r", "messages": message,
        "tools": [{ "name": "open", "description": "d", "parameters": schema }],
    });
    let function = json!({ "name": "open", "description": "d", "parameters": schema });
    let format = json!({ "type": "json_schema", "json_schema": { "name": "a", "schema": schema } });
    vec![
        (
            "/",
            json!({ "messages": message, "tools": [{ "name": "open", "description": "d", "inputSchema": schema }] }),
        ),
        ("/ag-ui", ag_ui.clone()),
        ("/copilotkit/agent/default/run", ag_ui),
        (
            "/v1/chat/completions",
            json!({ "messages": message, "tools": [{ "type": "function", "function": function }] }),
        ),
        ("/v1/chat/completions", json!({ "messages": message, "response_format": format })),
    ]
}

/// The bodies of all routes that carry this value.
fn with_value(value: &Value, id: &str, count: usize) -> Vec<(&'static str, Value)> {
    let count = count.min(1 + 25_000 / (value.to_string().len() + 100));
    let text = json!([{ "id": "m1", "role": "user", "content": value.to_string() }]);
    let call =
        json!({ "id": id, "type": "function", "function": { "name": "x", "arguments": value.to_string() } });
    let result = json!({ "id": "r", "role": "tool", "toolCallId": id, "tool_call_id": id, "content": "1" });
    let calls = json!({ "id": "a", "role": "assistant", "toolCalls": vec![call.clone(); count] });
    let completions = json!({ "role": "assistant", "tool_calls": vec![call; count] });
    let part = json!({
        "type": "tool-x", "toolCallId": id, "state": "output-available", "input": value, "output": value,
    });
    let parts = json!([
        { "id": "m1", "role": "user", "parts": [{ "type": "text", "text": "Hi" }], "metadata": value },
        { "id": "m2", "role": "assistant", "parts": vec![part; count] },
        { "id": "m3", "role": "user", "parts": [{ "type": "data-x", "data": value }] },
    ]);
    // Each call has an answered approval without a seal, which is requested again or refused.
    let approved = json!({
        "type": "tool-x", "toolCallId": id, "state": "approval-responded", "input": value,
        "approval": { "id": id, "approved": true, "signature": value.to_string() },
    });
    let approvals = json!([
        { "id": "m1", "role": "user", "parts": [{ "type": "text", "text": "Hi" }] },
        { "id": "m2", "role": "assistant", "parts": vec![approved; count] },
    ]);
    let answer = json!({ "interruptId": id, "status": "resolved", "payload": value });
    let mut resumed = json!({ "threadId": "t", "runId": "r", "messages": json!([text[0], calls]) });
    resumed["resume"] = vec![answer; count].into();
    let run = |messages: Value| {
        json!({
            "threadId": "t", "runId": "r", "messages": messages, "state": value, "forwardedProps": value,
            "context": [{ "description": "d", "value": value.to_string() }],
        })
    };
    vec![
        ("/", json!({ "messages": text, "metadata": value })),
        ("/", json!({ "messages": parts })),
        ("/", json!({ "messages": approvals })),
        ("/object/invoice", value.clone()),
        ("/completion", json!({ "prompt": value.to_string() })),
        ("/ag-ui", resumed.clone()),
        ("/copilotkit/agent/default/run", resumed),
        ("/ag-ui", run(text.clone())),
        ("/ag-ui", run(json!([calls, result]))),
        ("/copilotkit/agent/default/run", run(text)),
        (
            "/v1/chat/completions",
            json!({ "messages": [{ "role": "user", "content": "Hi" }, completions, result] }),
        ),
    ]
}

/// Returns `true` if a body has at most 64 KiB.
fn is_small(body: &Value) -> bool {
    body.to_string().len() <= 64 * 1024
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_declared_schema_costs_little(schema in schemas()) {
        let service = service(ScriptedProvider::new().otherwise(|_| text("Hello")));
        for (path, body) in with_schema(&schema).into_iter().filter(|(_, body)| is_small(body)) {
            let (cost, status) = send(&service, path, &body);
            prop_assert!(cost < bound(), "{path} {status}: {cost:?} {schema}");
        }
    }

    #[test]
    fn a_posted_value_costs_little(input in inputs(), id in "[a-z]{1,5}", count in 1_usize..300) {
        let service = service(ScriptedProvider::new().otherwise(|_| text("Hello")));
        for (path, body) in with_value(&input.value(), &id, count).into_iter().filter(|(_, body)| is_small(body)) {
            let (cost, status) = send(&service, path, &body);
            prop_assert!(cost < bound(), "{path} {status}: {cost:?} {input:?} {count}");
        }
    }

    #[test]
    fn arguments_and_a_form_of_a_model_cost_little(schema in schemas(), levels in 0_usize..120) {
        let deep = json!({ "a": (0..levels).fold(json!(1), |inner, _| json!([inner])) });
        let service = service(
            ScriptedProvider::new()
                .turn(Turn::call("request_input", json!({ "message": "?", "schema": schema })))
                .otherwise(|_| text("Hello")),
        );
        let message = json!([{ "id": "m1", "role": "user", "content": "Hi" }]);
        let (cost, _) = send(&service, "/", &json!({ "messages": message }));
        prop_assert!(cost < bound(), "form: {cost:?} {schema}");

        let service = self::service(
            ScriptedProvider::new().turn(Turn::call("open", deep)).otherwise(|_| text("Hello")),
        );
        for (path, body) in with_schema(&schema).into_iter().filter(|(_, body)| is_small(body)) {
            let (cost, _) = send(&service, path, &body);
            prop_assert!(cost < bound(), "{path}: {cost:?} {levels} {schema}");
        }
    }

    #[test]
    fn declarations_and_canonical_forms_cost_little(schema in schemas(), input in inputs()) {
        if is_small(&schema) {
            let spec = Arc::new(ToolSpec::new("open", "d", schema.clone()));
            let (cost, _) = cost(|| typescript::declarations(&[spec]));
            prop_assert!(cost < bound(), "declarations: {cost:?} {schema}");
        }
        let json = JsonText::from_value(&input.value());
        let (cost, _) = cost(|| canonical::of(&json).is_some());
        prop_assert!(cost < bound(), "canonical form: {cost:?} {input:?}");
    }
}

/// Returns a schema in which each level refers to the next level this many times.
fn diamond(levels: usize, times: usize) -> Value {
    let next = |level: usize| {
        let names = (0..times).map(|n| (format!("p{n}"), json!({ "$ref": format!("#/$defs/L{level}") })));
        json!({ "type": "object", "properties": names.collect::<Map<_, _>>() })
    };
    let mut schema = next(0);
    let last = (format!("L{levels}"), json!({ "type": "string" }));
    let levels = (0..levels).map(|level| (format!("L{level}"), next(level + 1))).chain([last]);
    schema["$defs"] = levels.collect::<Map<_, _>>().into();
    schema
}

#[test]
fn every_route_refuses_a_schema_that_grows_with_its_references() {
    let service = service(ScriptedProvider::new().otherwise(|_| text("Hello")));
    // Each of these references points to a schema of nearly the maximum size.
    let mut many = diamond(11, 2);
    let references = (0..1_200).map(|n| (format!("q{n}"), json!({ "$ref": "#/$defs/L0" })));
    many["properties"] = references.collect::<Map<_, _>>().into();
    for schema in [diamond(16, 2), diamond(28, 4), many] {
        for (path, body) in with_schema(&schema) {
            let (cost, status) = send(&service, path, &body);
            assert_eq!(status, StatusCode::BAD_REQUEST, "{path}");
            assert!(cost < bound(), "{path}: {cost:?}");
        }
    }
}

#[tokio::test]
async fn a_model_receives_the_reason_for_a_refused_form() {
    use futures_util::StreamExt;

    let form = json!({ "message": "?", "schema": diamond(16, 2) });
    let model = ScriptedProvider::new().turn(Turn::call("request_input", form)).turn(text("Sorry"));
    let assistant = Assistant::builder(model).tool(Tool::request_input()).build().unwrap();
    let request = omniassist_server::core::RunRequest::prompt("Ask me.");
    let events: Vec<_> = assistant.try_run(request, http::Extensions::new()).await.unwrap().collect().await;
    let error = events.iter().find_map(|event| match event {
        RunEvent::ToolInputError { error_text, .. } => Some(error_text.as_str()),
        _ => None,
    });
    assert!(error.unwrap().contains("with a copy in place of each `$ref` it takes more than"), "{error:?}");
}
