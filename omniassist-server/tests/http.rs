//! Tests of the HTTP service: routes, refusals, limits, and clients that disconnect.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body::Body as _;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use omniassist_server::bridge::Bridge;
use omniassist_server::core::Limits;
use omniassist_server::core::bridge::BridgeOptions;
use omniassist_server::http::{AssistantBody, AssistantService, PostedRun, strip_prefix};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{Assistant, CancellationToken, PageManifest, State, Tool, ToolError};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use crate::bridge::bus::Bus;

fn answering() -> ScriptedProvider {
    ScriptedProvider::new().otherwise(|_| text("Hello"))
}

fn service(limits: Limits) -> (AssistantService, ScriptedProvider) {
    let model = answering();
    (
        AssistantService::new(
            Assistant::builder(model.clone()).allow_anonymous().limits(limits).build().unwrap(),
        ),
        model,
    )
}

fn post(body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    Request::post("/").header(header::CONTENT_TYPE, "application/json").body(Full::new(body.into())).unwrap()
}

fn asking(content: &str) -> String {
    json!({ "messages": [{ "id": "m1", "role": "user", "content": content }] }).to_string()
}

async fn read(response: Response<AssistantBody>) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().into()).unwrap()
}

async fn error(response: Response<AssistantBody>) -> Value {
    let body: Value = serde_json::from_str(&read(response).await).unwrap();
    body["error"].clone()
}

#[tokio::test]
async fn a_run_streams_server_sent_events_with_ids() {
    let (service, _) = service(Limits::default());
    let response = service.handle(post(asking("hi"))).await;
    assert_eq!(response.status(), StatusCode::OK);
    let headers = response.headers();
    assert_eq!(headers["content-type"], "text/event-stream");
    assert_eq!(headers["x-vercel-ai-ui-message-stream"], "v1");
    assert_eq!(headers["x-accel-buffering"], "no");
    let body = read(response).await;
    assert!(body.starts_with("id: 0\ndata: {\"type\":\"start\""), "{body}");
    assert!(body.ends_with("data: [DONE]\n\n"), "{body}");
}

#[tokio::test]
async fn a_run_streams_json_lines_on_request() {
    let (service, _) = service(Limits::default());
    let mut request = post(asking("hi"));
    request.headers_mut().insert(header::ACCEPT, "application/x-ndjson; q=1".parse().unwrap());
    let response = service.handle(request).await;
    assert_eq!(response.headers()["content-type"], "application/x-ndjson");
    let lines: Vec<Value> =
        read(response).await.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.first().unwrap()["type"], "start");
    assert_eq!(lines.last().unwrap()["type"], "finish");

    let mut refused = post(asking("hi"));
    let accepted = "application/x-ndjson;q=0, text/event-stream";
    refused.headers_mut().insert(header::ACCEPT, accepted.parse().unwrap());
    assert_eq!(service.handle(refused).await.headers()["content-type"], "text/event-stream");
}

#[tokio::test]
async fn unknown_routes_and_methods_are_json_errors() {
    let (service, _) = service(Limits::default());
    let cases = [
        (Method::GET, "/", StatusCode::METHOD_NOT_ALLOWED, Some("POST")),
        (Method::POST, "/manifest.json", StatusCode::METHOD_NOT_ALLOWED, Some("GET, HEAD")),
        (Method::GET, "/nowhere", StatusCode::NOT_FOUND, None),
    ];
    for (method, path, status, allow) in cases {
        let request = Request::builder().method(method).uri(path).body(Full::<Bytes>::default()).unwrap();
        let response = service.handle(request).await;
        assert_eq!(response.status(), status, "{path}");
        assert_eq!(response.headers().get(header::ALLOW).map(|value| value.to_str().unwrap()), allow);
        assert_eq!(response.headers()["content-type"], "application/json");
        assert!(error(response).await["message"].is_string());
    }
}

#[test]
fn bodies_implement_the_traits_that_frameworks_need() {
    fn is<T: http_body::Body<Data = Bytes> + Send + Sync + Unpin + 'static>() {}
    is::<AssistantBody>();
}

#[tokio::test]
async fn the_response_to_head_has_the_length_and_no_body() {
    let (service, _) = service(Limits::default());
    for path in ["/manifest.json", "/types.d.ts", "/v1/models", "/", "/nowhere"] {
        let request =
            |method| Request::builder().method(method).uri(path).body(Full::<Bytes>::default()).unwrap();
        let get = service.handle(request(Method::GET)).await;
        let head = service.handle(request(Method::HEAD)).await;
        assert_eq!(head.status(), get.status(), "{path}");
        assert!(head.body().is_end_stream());
        let length = read(get).await.len();
        assert_eq!(head.headers()["content-length"], length.to_string(), "{path}");
        assert_eq!(head.body().size_hint().exact(), Some(length as u64));
        assert_eq!(read(head).await, "");
    }
}

#[tokio::test]
async fn a_body_without_a_json_content_type_is_refused() {
    let (service, model) = service(Limits::default());
    for content_type in [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("json")] {
        let mut request = post(asking("hi"));
        request.headers_mut().remove(header::CONTENT_TYPE);
        if let Some(content_type) = content_type {
            request.headers_mut().insert(header::CONTENT_TYPE, content_type.parse().unwrap());
        }
        let response = service.handle(request).await;
        assert_eq!(response.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE, "{content_type:?}");
    }
    assert!(model.payloads().is_empty(), "a refused request must not call the model");
    for content_type in ["Application/JSON; charset=utf-8", "application/vnd.api+json"] {
        let mut request = post(asking("hi"));
        request.headers_mut().insert(header::CONTENT_TYPE, content_type.parse().unwrap());
        assert_eq!(service.handle(request).await.status(), StatusCode::OK);
    }
    assert_eq!(model.payloads().len(), 2, "the model must be called before the body of the response is read");
}

#[tokio::test]
async fn an_error_names_the_invalid_field() {
    let (service, model) = service(Limits::default());
    let body =
        json!({ "messages": [{ "id": "m1", "role": "user", "parts": [{ "type": "text", "text": 7 }] }] });
    let response = service.handle(post(body.to_string())).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let error = error(response).await;
    assert_eq!(error["code"], "invalid_request");
    assert_eq!(error["path"], "messages[0].parts[0].text");
    assert!(error["expected"].as_str().unwrap().contains("string"));
    assert!(
        error["found"].as_str().unwrap().contains("number")
            || error["found"].as_str().unwrap().contains("integer")
    );

    let response = service.handle(post("{\"messages\": [")).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert_eq!(self::error(response).await["code"], "invalid_json");
    assert!(model.payloads().is_empty());
}

#[tokio::test]
async fn the_body_is_bounded_to_the_byte() {
    let body = asking("hi");
    let mut limits = Limits::default();
    limits.max_body_bytes = body.len();
    let (service, _) = service(limits);
    assert_eq!(service.handle(post(body.clone())).await.status(), StatusCode::OK);
    let response = service.handle(post(format!("{body} "))).await;
    assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(error(response).await["limit"]["value"], body.len());

    // A body without a content length is rejected while it is read.
    let pieces = || format!("{body} ").into_bytes().into_iter().map(|byte| Bytes::from(vec![byte]));
    let stream = |pieces: Vec<Bytes>| {
        let frames = pieces.into_iter().map(|piece| Ok::<_, std::io::Error>(http_body::Frame::data(piece)));
        http_body_util::StreamBody::new(futures_util::stream::iter(frames))
    };
    for (length, status) in [(body.len(), StatusCode::OK), (body.len() + 1, StatusCode::PAYLOAD_TOO_LARGE)] {
        let request = Request::post("/")
            .header(header::CONTENT_TYPE, "application/json")
            .body(stream(pieces().take(length).collect()))
            .unwrap();
        assert_eq!(service.handle(request).await.status(), status);
    }
}

/// A client that is still sending when it is refused must receive the answer instead of a connection reset.
#[tokio::test]
async fn unneeded_bodies_are_discarded_up_to_a_limit() {
    let mut limits = Limits::default();
    limits.max_body_bytes = 10;
    let bridge = Bridge::new(Bus::default(), BridgeOptions::new()).with_limits(limits.clone());
    let (service, _) = service(limits);
    for (path, expects, sent, taken) in [
        ("/", false, 7, 7),
        ("/nowhere", false, 7, 7),
        ("/manifest.json", false, 7, 7),
        ("/", false, 1_000, 21),
        ("/", true, 7, 0),
    ] {
        let count = AtomicUsize::new(0);
        let request = || {
            count.store(0, Ordering::Relaxed);
            let frames = (0..sent).map(|_| {
                count.fetch_add(1, Ordering::Relaxed);
                Ok::<_, std::io::Error>(http_body::Frame::data(Bytes::from_static(b"x")))
            });
            let body = http_body_util::StreamBody::new(futures_util::stream::iter(frames));
            let mut request = Request::post(path).body(body).unwrap();
            if expects {
                request.headers_mut().insert(header::EXPECT, "100-continue".parse().unwrap());
            }
            request
        };
        assert!(service.handle(request()).await.status().is_client_error());
        assert_eq!(count.load(Ordering::Relaxed), taken, "{path} {expects} {sent}");
        // Handlers of the host answer in the same way.
        let refused = PostedRun::read_for(request(), service.assistant()).await.unwrap_err();
        assert_eq!(
            (refused.status().as_u16(), count.load(Ordering::Relaxed)),
            (415, taken),
            "{expects} {sent}"
        );
        let refused = bridge.read(request()).await.unwrap_err();
        assert_eq!(
            (refused.status().as_u16(), count.load(Ordering::Relaxed)),
            (415, taken),
            "{expects} {sent}"
        );
    }
}

#[tokio::test]
async fn nesting_is_bounded_to_the_level() {
    let (service, _) = service(Limits::default());
    // The body, the array of `context` and its object add three levels.
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth - 3), "]".repeat(depth - 3));
        let context = format!("[{{\"id\":\"c\",\"type\":\"x\",\"data\":{open}{close}}}]");
        format!(
            "{{\"messages\":[{{\"id\":\"m\",\"role\":\"user\",\"content\":\"hi\"}}],\"context\":{context}}}"
        )
    };
    assert_eq!(service.handle(post(nested(64))).await.status(), StatusCode::OK);
    let response = service.handle(post(nested(65))).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert_eq!(error(response).await["limit"]["name"], "max_json_depth");
    assert_eq!(service.handle(post("[".repeat(1 << 20))).await.status(), StatusCode::BAD_REQUEST);
}

/// Returns a service with one tool, `ping`.
fn ping() -> Tool {
    async fn ping() -> Result<&'static str, ToolError> {
        Ok("pong")
    }
    Tool::new("ping", "Ping", ping)
}

fn with_ping() -> AssistantService {
    AssistantService::new(Assistant::builder(answering()).allow_anonymous().tool(ping()).build().unwrap())
}

#[tokio::test]
async fn a_server_tool_cannot_be_declared() {
    let service = with_ping();
    let mut body: Value = serde_json::from_str(&asking("hi")).unwrap();
    body["tools"] = json!([{ "name": "ping", "description": "mine", "parameters": { "type": "object" } }]);
    let response = service.handle(post(body.to_string())).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let error = error(response).await;
    assert_eq!((&error["code"], &error["path"]), (&json!("invalid_tool"), &json!("tools[0]")));
}

#[tokio::test]
async fn the_manifest_lists_tools_with_their_schemas() {
    let service = with_ping();
    let request = || Request::get("/manifest.json").body(Full::<Bytes>::default()).unwrap();
    let manifest: Value = serde_json::from_str(&read(service.handle(request()).await).await).unwrap();
    assert_eq!(manifest["tools"][0]["name"], "ping");
    assert_eq!(manifest["tools"][0]["inputSchema"]["type"], "object");
    assert_eq!(manifest["dialects"][0]["path"], "/");

    service.assistant().tools().unregister("ping");
    let manifest: Value = serde_json::from_str(&read(service.handle(request()).await).await).unwrap();
    assert_eq!(manifest["tools"], json!([]));
}

#[tokio::test]
async fn contract_001_12_the_manifest_lists_the_pages_of_the_application() {
    let listed = json!({
        "version": 1,
        "routes": [{ "path": "/orders/:id", "name": "order", "params": ["id"] }, { "path": "/" }],
        "forms": [{ "form": "order", "schema": { "type": "object" } }],
        "schemas": { "Order": { "type": "object", "properties": { "id": { "type": "number" } } } },
    });
    let pages = PageManifest::from_json(&listed.to_string()).unwrap();
    let model = ScriptedProvider::new();
    let assistant = Assistant::builder(model).allow_anonymous().tool(ping()).pages(pages).build().unwrap();
    let request = Request::get("/manifest.json").body(Full::<Bytes>::default()).unwrap();
    let manifest = read(AssistantService::new(assistant).handle(request).await).await;
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!((&manifest["pages"], &manifest["tools"][0]["name"]), (&listed, &json!("ping")));

    for (text, path) in [
        (r#"{"version": 1, "routes": [{"name": "order"}]}"#, "routes[0]"),
        (r#"{"version": 1, "routes": [{"path": 7}]}"#, "routes[0].path"),
        (r#"{"version": 1, "routes": [], "schemas": {"Order": []}}"#, "schemas.Order"),
        (r#"{"version": 2, "routes": []}"#, "version"),
        (r#"{"version": 1, "routes": []} {}"#, "."),
        ("", "."),
    ] {
        let error = PageManifest::from_json(text).unwrap_err().to_string();
        assert!(error.contains(&format!("`{path}`")), "{text}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_is_kept_open_by_comments() {
    let model = ScriptedProvider::new().turn(Turn::delay(Duration::from_secs(40)).then(text("late")));
    let service = AssistantService::new(Assistant::builder(model).allow_anonymous().build().unwrap());
    let body = read(service.handle(post(asking("hi"))).await).await;
    assert_eq!(body.matches(": keep-alive\n\n").count(), 2, "{body}");
    assert!(body.contains("late"));
}

#[tokio::test(start_paused = true)]
async fn an_unread_response_is_dropped() {
    let model = ScriptedProvider::new().turn(text("so far").then(Turn::pending()));
    let assistant = Assistant::builder(model.clone()).allow_anonymous().build().unwrap();
    let service = AssistantService::new(assistant.clone());
    let mut response = service.handle(post(asking("hi"))).await;
    let first = response.body_mut().frame().await.unwrap().unwrap();
    assert!(first.is_data());
    while model.payloads().is_empty() {
        response.body_mut().frame().await.unwrap().unwrap();
    }
    let dropped = model.dropped();
    tokio::time::sleep(Duration::from_secs(29)).await;
    assert_eq!(model.drops(), 0, "30 s are not over");
    tokio::time::timeout(Duration::from_secs(5), dropped).await.expect("the run must be dropped");
    let rest = response.into_body();
    assert!(!rest.is_end_stream());
}

#[tokio::test(start_paused = true)]
async fn times_beyond_the_range_of_the_clock_are_accepted() {
    let set: [fn(&mut Limits); 4] = [
        |limits| limits.run_timeout = Duration::MAX,
        |limits| limits.body_timeout = Duration::MAX,
        |limits| limits.keep_alive = Duration::MAX,
        |limits| limits.tool_cancel_grace = Duration::MAX,
    ];
    for set in set {
        let mut limits = Limits::default();
        set(&mut limits);
        let model = ScriptedProvider::new().turn(text("so far").then(Turn::pending()));
        let builder = Assistant::builder(model.clone()).allow_anonymous().limits(limits);
        let assistant = builder.build().unwrap();
        let unread = AssistantService::new(assistant.clone()).handle(post(asking("hi"))).await;
        assert_eq!(unread.status(), StatusCode::OK);
        while model.payloads().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let dropped = model.dropped();
        tokio::time::timeout(Duration::from_secs(35), dropped).await.expect("the run must be dropped");
        assistant.drain(Duration::ZERO).await;
    }
}

#[tokio::test]
async fn a_frame_holds_all_events_that_are_ready() {
    let chunks: Vec<String> = (0..200).map(|n| format!("word{n} ")).collect();
    let model = ScriptedProvider::new().turn(Turn::text_chunks(chunks));
    let service = AssistantService::new(Assistant::builder(model).allow_anonymous().build().unwrap());
    let mut body = service.handle(post(asking("hi"))).await.into_body();
    let mut frames = 0;
    while let Some(frame) = body.frame().await {
        frame.unwrap();
        frames += 1;
    }
    assert!(frames < 10, "{frames} frames for 200 deltas");
}

#[tokio::test]
async fn a_client_that_disconnects_closes_the_provider_and_cancels_the_tools() {
    #[derive(Clone)]
    struct Watch {
        started: Arc<Notify>,
        fired: Arc<Notify>,
        ended: Arc<AtomicUsize>,
    }
    async fn waits(State(watch): State<Watch>, token: CancellationToken) -> Result<u32, ToolError> {
        watch.started.notify_one();
        token.cancelled().await;
        watch.ended.fetch_add(1, Ordering::SeqCst);
        watch.fired.notify_one();
        Ok(1)
    }
    let watch = Watch { started: Arc::default(), fired: Arc::default(), ended: Arc::default() };
    for in_tool in [false, true] {
        let first = if in_tool { call("waits", json!({})) } else { text("so far").then(Turn::pending()) };
        let model = ScriptedProvider::new().turn(first);
        let assistant = Assistant::builder(model.clone())
            .allow_anonymous()
            .state(watch.clone())
            .tool(Tool::new("waits", "Waits", waits))
            .build()
            .unwrap();
        let service = AssistantService::new(assistant.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (socket, _) = listener.accept().await.unwrap();
            let service = hyper::service::service_fn(move |request| {
                let service = service.clone();
                async move { Ok::<_, std::convert::Infallible>(service.handle(request).await) }
            });
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(socket), service)
                .await;
        });
        let mut client = TcpStream::connect(address).await.unwrap();
        let body = asking("hi");
        let head = format!(
            "POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        client.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        let mut seen = String::new();
        let mut buffer = [0; 4096];
        let wanted = if in_tool { "tool-input-available" } else { "text-delta" };
        while !seen.contains(wanted) {
            let read = client.read(&mut buffer).await.unwrap();
            seen.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
        if in_tool {
            watch.started.notified().await;
        }
        let left = Instant::now();
        drop(client);
        let closed = async { if in_tool { watch.fired.notified().await } else { model.dropped().await } };
        tokio::time::timeout(Duration::from_millis(250), closed).await.expect("must stop within 250 ms");
        println!("client gone (in tool: {in_tool}): stopped after {:?}", left.elapsed());
        assert_eq!(assistant.live_runs(), 0);
    }
    assert_eq!(watch.ended.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn typescript_types_name_the_tools() {
    let service = with_ping();
    let request = Request::get("/types.d.ts").body(Full::<Bytes>::default()).unwrap();
    let types = read(service.handle(request).await).await;
    assert!(types.contains("PingInput") && types.contains("ContextMessage"), "{types}");
}

#[test]
fn a_mount_prefix_ends_with_a_segment() {
    let stripped =
        |uri: &str, prefix: &str| strip_prefix(&uri.parse().unwrap(), prefix).map(|uri| uri.to_string());
    for (uri, expected) in [
        ("/a/b/c", Some("/")),
        ("/a/b/c?x=1", Some("/?x=1")),
        ("/a/b/c/", Some("/")),
        ("/a/b/c//", Some("/")),
        ("/a/b/c//x", Some("/x")),
        ("/a/b/c///x", Some("//x")),
        ("/a/b/c/v1/models", Some("/v1/models")),
        ("/a/b/c/%2F%20/stop?", Some("/%2F%20/stop?")),
        ("/a/b/cd", None),
        ("/a/b", None),
        ("/a/b/%63", None),
        ("/", None),
        ("*", None),
    ] {
        for prefix in ["/a/b/c", "/a/b/c/"] {
            assert_eq!(stripped(uri, prefix).as_deref(), expected, "{uri}");
        }
    }
    for uri in ["/", "/x?y", "//x", "*"] {
        for root in ["", "/"] {
            assert_eq!(stripped(uri, root).as_deref(), Some(uri), "every path must be below the root");
        }
    }
    let whole = stripped("https://example.org:8443/chat/x?y", "/chat");
    assert_eq!(whole.as_deref(), Some("https://example.org:8443/x?y"));
}

#[tokio::test]
async fn chats_can_have_the_names_of_routes() {
    let (service, _) = service(Limits::default());
    let status = async |method: Method, path: &str| {
        let request = Request::builder().method(method).uri(path).body(Full::<Bytes>::default()).unwrap();
        service.handle(request).await.status().as_u16()
    };
    for path in ["/v1/stop", "/object/stop/", "/copilotkit/stop", "/a%20b/stop"] {
        assert_eq!(status(Method::POST, path).await, 200, "{path}");
    }
    assert_eq!(status(Method::GET, "/completion/stream").await, 204);
    for path in ["/c/agents/x/stop", "/a%20b/agents/x/stop/", "/completion/agents/a%2Fb/stop"] {
        assert_eq!(status(Method::GET, path).await, 405, "{path}");
    }
    for path in ["/c/agents/x", "/c/agents//stop", "/c/agents/x/y/stop", "/c/agents/stop", "/c/agentsx"] {
        assert_eq!(status(Method::GET, path).await, 404, "{path}");
    }
    for path in ["/%ff/stop", "//stop", "/copilotkit/x", "/v1", "/v1/x"] {
        assert_eq!(status(Method::POST, path).await, 404, "{path}");
    }
}

#[tokio::test]
async fn the_documentation_lists_every_route() {
    let docs = include_str!("../src/http/mod.rs");
    let (service, _) = service(Limits::default());
    let mut routes = 0;
    for line in docs.lines().filter_map(|line| line.strip_prefix("//! | `")) {
        let Some((method, path)) = line.split('`').next().and_then(|route| route.split_once(' ')) else {
            continue;
        };
        let path = path.replace("{chat_id}", "c").replace("{model}", "omniassist").replace("{name}", "n");
        let path = path.replace("{server}", "s").replace("{resource}", "d");
        let path = path.replace("{run}", "r").replace("{call}", "k").replace("{agent}", "a");
        let Ok(method) = method.parse::<Method>() else { continue };
        let request = Request::builder().method(method).uri(&path).body(Full::<Bytes>::default()).unwrap();
        let response = service.handle(request).await;
        assert_ne!(response.status(), StatusCode::METHOD_NOT_ALLOWED, "{line}");
        if response.status() == StatusCode::NOT_FOUND {
            // This assistant has neither objects, apps nor a store, no endpoint for MCP, no playground, and no module of that
            // name.
            let is_unknown =
                ["/ag-ui/connect", "/c/agents", "/files", "/mcp", "/playground", "/runs", "/threads", "/w/"]
                    .iter()
                    .any(|unknown| path.starts_with(unknown));
            let code = match path.split('/').nth(1) {
                _ if is_unknown => "not_found",
                Some("apps") => "app_not_found",
                _ => "object_not_found",
            };
            assert_eq!(error(response).await["code"], code, "{line}");
        }
        routes += 1;
    }
    assert_eq!(routes, 41);
}
