//! Tests of the CopilotKit runtime under `/copilotkit`.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use omniassist_server::core::ToolChoice;
use omniassist_server::http::{AssistantBody, AssistantService};
use omniassist_server::store::MemoryStore;
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use omniassist_server::{Assistant, Tool, ToolError};
use serde_json::{Value, json};

use crate::ag_ui::{events, input, kinds, post, read, user};

fn service() -> (AssistantService, Assistant) {
    let model = ScriptedProvider::new().otherwise(|_| text("Hello"));
    let assistant = Assistant::builder(model).allow_anonymous().build().unwrap();
    (AssistantService::new(assistant.clone()), assistant)
}

fn get(path: &str) -> Request<Full<Bytes>> {
    Request::get(path).body(Full::default()).unwrap()
}

async fn json_of(response: Response<AssistantBody>) -> (StatusCode, Value) {
    assert_eq!(response.headers()["content-type"], "application/json");
    (response.status(), serde_json::from_str(&read(response).await).unwrap())
}

#[tokio::test]
async fn info_lists_the_supported_features() {
    let (service, _) = service();
    let (status, info) = json_of(service.handle(get("/copilotkit/info")).await).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!((&info["mode"], &info["telemetryDisabled"]), (&json!("sse"), &json!(true)));
    assert_eq!(info["agents"].as_object().unwrap().keys().collect::<Vec<_>>(), ["default"]);
    assert!(info["threadEndpoints"].as_object().unwrap().values().all(|promised| promised == false));
    assert!(info.get("licenseStatus").is_none());
    let envelope = post("/copilotkit", &json!({"method": "info"}), "ada");
    assert_eq!(json_of(service.handle(envelope).await).await.1, info);
}

#[tokio::test]
async fn an_agent_runs_on_its_own_route_and_on_the_single_route() {
    let (service, _) = service();
    let body = input(&[user("hi")]);
    let own = events(service.handle(post("/copilotkit/agent/default/run", &body, "ada")).await).await;
    let envelope = json!({"method": "agent/run", "params": {"agentId": "default"}, "body": body});
    let single = events(service.handle(post("/copilotkit/", &envelope, "ada")).await).await;
    for events in [own, single] {
        let kinds = kinds(&events);
        assert_eq!((kinds[0], kinds.last().copied()), ("RUN_STARTED", Some("RUN_FINISHED")));
        assert_eq!(events[0].get("protocolVersion"), None);
    }
}

#[tokio::test(start_paused = true)]
async fn the_headers_of_stored_runs_count_here_too() {
    let model = ScriptedProvider::new().otherwise(|_| text("Hello"));
    let assistant = Assistant::builder(model.clone()).store(MemoryStore::new()).build().unwrap();
    let service = AssistantService::new(assistant);
    let body = input(&[user("hi")]);
    let run = |name: &'static str, value: &'static str| {
        let mut request = post("/copilotkit/agent/default/run", &body, "ada");
        request.headers_mut().insert(name, value.parse().unwrap());
        service.handle(request)
    };
    let first = run("idempotency-key", "k").await;
    let id = first.headers()["x-omniassist-run"].clone();
    read(first).await;
    let again = run("idempotency-key", "k").await;
    assert_eq!((again.headers()["x-omniassist-run"].clone(), model.payloads().len()), (id, 1));
    read(again).await;
    let (status, answer) = json_of(run("x-omniassist-when-busy", "never").await).await;
    let path = &answer["details"]["path"];
    assert_eq!((status, path), (StatusCode::BAD_REQUEST, &json!("X-Omniassist-When-Busy")));
}

#[tokio::test]
async fn a_connect_request_returns_an_empty_stream() {
    let (service, _) = service();
    let requests = [
        post("/copilotkit/agent/default/connect", &input(&[]), "ada"),
        post(
            "/copilotkit",
            &json!({"method": "agent/connect", "params": {"agentId": "default"}, "body": input(&[])}),
            "ada",
        ),
    ];
    for request in requests {
        let response = service.handle(request).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(read(response).await, "");
    }
}

#[tokio::test]
async fn suggestions_require_a_call_of_the_model() {
    let suggestions = json!({"suggestions": [{"title": "Orders", "message": "Show my orders."}]});
    let model = ScriptedProvider::new()
        .turn(text("Hello."))
        .otherwise(move |_| Turn::call("copilotkitSuggest", suggestions.clone()));
    let looked_up = Tool::new("look_up", "Looks up", || async { Ok::<_, ToolError>("the truth") });
    let service = AssistantService::new(Assistant::builder(model.clone()).tool(looked_up).build().unwrap());
    // CopilotKit posts the conversation with another thread id, for which its seals are invalid.
    let said = events(service.handle(post("/ag-ui", &input(&[user("hi")]), "ada")).await).await;
    let state = said.iter().find(|event| event["type"] == "REASONING_ENCRYPTED_VALUE").unwrap();
    let sealed = json!({"id": state["entityId"], "role": "assistant", "content": "Hello.",
        "encryptedValue": state["encryptedValue"]});
    let mut body = input(&[user("hi"), sealed, json!({"id": "s", "role": "user", "content": "Suggest"})]);
    body["threadId"] = "suggestions".into();
    let as_run = service.handle(post("/copilotkit/agent/default/run", &body, "ada")).await;
    let (status, answer) = json_of(as_run).await;
    assert_eq!((status, &answer["details"]["code"]), (StatusCode::BAD_REQUEST, &json!("seal_invalid")));
    let texts = json!({"title": {"type": "string"}, "message": {"type": "string"}});
    let list = json!({"type": "array", "items": {"type": "object", "properties": texts}});
    let schema = json!({"type": "object", "properties": {"suggestions": list}});
    body["tools"] = json!([{"name": "copilotkitSuggest", "description": "Suggest", "parameters": schema}]);
    body["forwardedProps"] =
        json!({"toolChoice": {"type": "function", "function": {"name": "copilotkitSuggest"}}});
    let envelope = |method: &str| json!({"method": method, "params": {"agentId": "default"}, "body": body});
    let requests = [
        post("/copilotkit/agent/default/suggest", &body, "ada"),
        post("/copilotkit", &envelope("agent/suggest"), "ada"),
        post("/copilotkit", &envelope("agent/run"), "ada"),
    ];
    for request in requests {
        let events = events(service.handle(request).await).await;
        let args: String = events
            .iter()
            .filter(|event| event["type"] == "TOOL_CALL_ARGS")
            .map(|event| event["delta"].as_str().unwrap())
            .collect();
        assert!(args.contains("Show my orders."));
        let payload = model.payloads().pop().unwrap();
        assert_eq!(payload.tool_choice, ToolChoice::Tool("copilotkitSuggest".into()));
        assert_eq!(payload.tools.len(), 1);
    }
    body["tools"] = json!([]);
    let none = service.handle(post("/copilotkit/agent/default/suggest", &body, "ada")).await;
    let (status, answer) = json_of(none).await;
    assert_eq!((status, &answer["details"]["path"]), (StatusCode::BAD_REQUEST, &json!("tools")));
}

#[tokio::test]
async fn a_run_is_stopped_by_its_own_principal_only() {
    let model = ScriptedProvider::new().turn(Turn::pending());
    let assistant = Assistant::builder(model).allow_anonymous().build().unwrap();
    let service = AssistantService::new(assistant.clone());
    let stop = |body: &Value, user: &str| post("/copilotkit/agent/default/stop/thread-1", body, user);
    let run = service.handle(post("/copilotkit/agent/default/run", &input(&[user("hi")]), "ada")).await;
    assert_eq!(assistant.live_runs(), 1);
    let none = json!({"stopped": false, "message": "The thread has no run under way."});
    assert_eq!(json_of(service.handle(stop(&json!({}), "eve")).await).await, (StatusCode::OK, none.clone()));
    let (status, answer) = json_of(service.handle(stop(&json!({"runId": "run-1"}), "ada")).await).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!((&answer["stopped"], &answer["interrupt"]["code"]), (&json!(true), &json!("STOPPED")));
    let events = events(run).await;
    assert_eq!(events.last().unwrap()["code"], "STOPPED");
    let envelope = json!({"method": "agent/stop", "params": {"agentId": "default", "threadId": "thread-1"}});
    assert_eq!(json_of(service.handle(post("/copilotkit", &envelope, "ada")).await).await.1, none);
}

#[tokio::test(start_paused = true)]
async fn a_late_stop_does_not_end_the_next_run() {
    for is_stored in [false, true] {
        let turn = |said: &str| Turn::text(said).then(Turn::delay(Duration::from_secs(5))).then(text("."));
        let model = ScriptedProvider::new().turn(turn("One")).turn(turn("Two")).turn(turn("Three"));
        let mut builder = Assistant::builder(model);
        if is_stored {
            builder = builder.store(MemoryStore::new());
        }
        let service = AssistantService::new(builder.build().unwrap());
        let run = async |name: &str| {
            let question = json!({"id": format!("u-{name}"), "role": "user", "content": name});
            let mut body = input(&[question]);
            body["runId"] = name.into();
            service.handle(post("/copilotkit/agent/default/run", &body, "ada")).await
        };
        let stop = async |name: &str| {
            let stop = post("/copilotkit/agent/default/stop/thread-1", &json!({"runId": name}), "ada");
            json_of(service.handle(stop).await).await.1["stopped"].clone()
        };
        let _first = run("r1").await;
        let second = run("r2").await;
        assert_eq!(stop("r1").await, false, "stored: {is_stored}");
        assert_eq!(events(second).await.last().unwrap()["type"], "RUN_FINISHED", "stored: {is_stored}");
        let third = run("r3").await;
        assert_eq!(stop("r3").await, true, "stored: {is_stored}");
        assert_eq!(events(third).await.last().unwrap()["code"], "STOPPED", "stored: {is_stored}");
    }
}

#[tokio::test]
async fn a_stop_has_no_other_fields_and_must_be_json() {
    let (service, _) = service();
    let path = "/copilotkit/agent/default/stop/a%20b";
    for (body, status) in [
        ("", 200),
        (" ", 200),
        ("{}", 200),
        ("{\"runId\":\"r\"}", 200),
        ("{\"runId\":5}", 400),
        ("{\"other\":1}", 400),
        ("[]", 400),
        ("{", 400),
    ] {
        let mut request = post(path, &json!(0), "ada");
        *request.body_mut() = Full::from(body);
        assert_eq!(service.handle(request).await.status().as_u16(), status, "{body}");
    }
    let mut form = post(path, &json!({}), "ada");
    form.headers_mut().insert(header::CONTENT_TYPE, "text/plain".parse().unwrap());
    assert_eq!(service.handle(form).await.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
}

#[tokio::test]
async fn unknown_agents_paths_and_methods() {
    let (service, assistant) = service();
    let body = input(&[user("hi")]);
    let other = service.handle(post("/copilotkit/agent/other/run", &body, "ada")).await;
    let (status, answer) = json_of(other).await;
    assert_eq!((status, &answer["error"]), (StatusCode::NOT_FOUND, &json!("Agent not found")));
    assert!(answer["message"].as_str().unwrap().contains("no such agent"));
    let requests = [
        (get("/copilotkit"), 405, Some("POST")),
        (get("/copilotkit/agent/default/run"), 405, Some("POST")),
        (post("/copilotkit/info", &body, ""), 405, Some("GET, HEAD")),
        (get("/copilotkit/threads/x/messages"), 404, None),
        (post("/copilotkit/transcribe", &body, ""), 404, None),
        (post("/copilotkit/agent/%ff/run", &body, ""), 404, None),
        (post("/copilotkit/agent/other/connect", &body, ""), 404, None),
        (post("/copilotkit/agent/other/stop/t", &json!({}), ""), 404, None),
        (get("/copilotkitchen"), 404, None),
        (get("/copilotkit/threads?agentId=default"), 200, None),
    ];
    for (request, status, allow) in requests {
        let path = request.uri().clone();
        let response = service.handle(request).await;
        assert_eq!(response.status().as_u16(), status, "{path}");
        assert_eq!(response.headers().get(header::ALLOW).map(|allow| allow.to_str().unwrap()), allow);
    }
    assert_eq!(assistant.live_runs(), 0);
}

#[tokio::test]
async fn errors_of_invalid_bodies_have_the_format_of_the_runtime() {
    let (service, _) = service();
    let path = "/copilotkit/agent/default/run";
    let (status, answer) = json_of(service.handle(post(path, &json!({"runId": "r"}), "")).await).await;
    assert_eq!((status, &answer["error"]), (StatusCode::BAD_REQUEST, &json!("Invalid request body")));
    assert_eq!(answer["details"]["path"], "threadId");
    let envelopes = [
        (json!({}), "method"),
        (json!({"method": "dance"}), "method"),
        (json!({"method": "agent/run"}), "params.agentId"),
        (json!({"method": "agent/run", "params": 5}), "params"),
        (json!({"method": "agent/stop", "params": {"agentId": "default"}}), "params.threadId"),
        (json!({"method": "resource/request", "params": {}}), "params.path"),
    ];
    for (envelope, at) in envelopes {
        let (status, answer) = json_of(service.handle(post("/copilotkit", &envelope, "")).await).await;
        assert_eq!(
            (status, answer["details"]["path"].as_str()),
            (StatusCode::BAD_REQUEST, Some(at)),
            "{envelope}"
        );
    }
    let (status, answer) = json_of(service.handle(post("/copilotkit", &json!(["info"]), "")).await).await;
    let message = "expected an object with `method`, found something else at body";
    assert_eq!((status, &answer["message"]), (StatusCode::BAD_REQUEST, &json!(message)));
    let without_body = json!({"method": "agent/run", "params": {"agentId": "default"}});
    let (status, answer) = json_of(service.handle(post("/copilotkit", &without_body, "")).await).await;
    assert_eq!((status, &answer["details"]["code"]), (StatusCode::BAD_REQUEST, &json!("invalid_json")));
    let mut text = post(path, &json!({}), "");
    text.headers_mut().remove(header::CONTENT_TYPE);
    assert_eq!(json_of(service.handle(text).await).await.0, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let listed =
        json!({"method": "resource/request", "params": {"path": "/threads?limit=5", "httpMethod": "GET"}});
    assert_eq!(json_of(service.handle(post("/copilotkit", &listed, "")).await).await.1["threads"], json!([]));
}

#[tokio::test]
async fn head_is_answered_like_get() {
    let (service, _) = service();
    let request = Request::builder()
        .method(Method::HEAD)
        .uri("/copilotkit/info")
        .body(Full::<Bytes>::default())
        .unwrap();
    assert_eq!(service.handle(request).await.status(), StatusCode::OK);
}
