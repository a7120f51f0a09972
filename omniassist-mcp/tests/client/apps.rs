//! Apps of servers: what a server learns, what models and clients get, and what an app can do.

use std::sync::Arc;

use axum::Router;
use omniassist_mcp::client::{McpApproval, McpServer};
use omniassist_server::core::ToolApp;
use omniassist_server::tool::source::AppCall;
use omniassist_server::tool::{Tool, ToolContext, ToolDecision, ToolError};
use omniassist_server::{Assistant, AssistantBuilder, AuthError, AuthRequest, Principal};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use super::chat::keyed;
use super::http_server::{HttpServer, Lost};
use super::protocol::{Protocol, tool, tool_with_meta};
use super::{Desk, open};

/// A server with a tool for each kind of caller.
fn protocol() -> Protocol {
    let protocol = Protocol::new([]);
    let ui = |ui: Value| json!({ "ui": ui });
    protocol.set_tools(vec![
        tool_with_meta("dashboard", ui(json!({"resourceUri": "ui://app/view"}))),
        tool_with_meta("older", json!({"ui/resourceUri": "ui://app/older"})),
        tool_with_meta("foreign", ui(json!({"resourceUri": "https://example.com/view"}))),
        tool_with_meta("refresh", ui(json!({"visibility": ["app"]}))),
        tool_with_meta("internal", ui(json!({"visibility": ["model"]}))),
        tool("received"),
        tool("fail"),
    ]);
    protocol
}

async fn server(set: impl FnOnce(McpServer) -> McpServer) -> (HttpServer, Arc<McpServer>) {
    let server = HttpServer::start(protocol(), Lost::NotFound).await;
    let docs = Arc::new(set(McpServer::http("docs", &server.url)));
    (server, docs)
}

/// A desk behind HTTP, whose requests carry their principal in the header `x-user`.
struct Served {
    desk: Desk,
    url: String,
    http: reqwest::Client,
}

impl Served {
    async fn new(
        servers: impl IntoIterator<Item = Arc<McpServer>>,
        set: impl FnOnce(AssistantBuilder) -> AssistantBuilder,
    ) -> Self {
        let desk = Desk::with(servers, |builder| {
            set(keyed(builder)).authenticate(|request: AuthRequest| async move {
                let user = request.headers().get("x-user").and_then(|user| user.to_str().ok());
                user.map(|user| Some(Principal::new(user))).ok_or_else(AuthError::unauthenticated)
            })
        });
        let desk = desk.ready().await;
        let assistant: Assistant = desk.assistant.clone();
        let app = Router::new().nest_service("/assistant", omniassist_axum::router(assistant));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/assistant", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { desk, url, http: reqwest::Client::new() }
    }

    async fn get(&self, path: &str) -> Response {
        self.http.get(format!("{}{path}", self.url)).header("x-user", "ann").send().await.unwrap()
    }

    async fn post_as(&self, user: &str, path: &str, body: &Value) -> Response {
        let post = self.http.post(format!("{}{path}", self.url)).header("x-user", user).json(body);
        post.send().await.unwrap()
    }

    /// Posts, and returns the status with the body.
    async fn post(&self, path: &str, body: Value) -> (StatusCode, Value) {
        let response = self.post_as("ann", path, &body).await;
        (response.status(), response.json().await.unwrap())
    }

    /// Lets the model call a tool, and returns what a client of this route gets.
    async fn said(&self, path: &str, text: &str) -> String {
        let message = match path.starts_with("/ag-ui") {
            true => json!({"id": "m1", "role": "user", "content": text}),
            false => json!({"id": "m1", "role": "user", "parts": [{"type": "text", "text": text}]}),
        };
        let body = json!({
            "id": "chat-1", "threadId": "chat-1", "runId": "run-1", "messages": [message], "tools": [], "context": []
        });
        self.post_as("ann", path, &body).await.text().await.unwrap()
    }
}

/// Returns the events of a stream of server-sent events.
fn events(stream: &str) -> Vec<Value> {
    let data = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter_map(|data| serde_json::from_str(data).ok()).collect()
}

#[tokio::test]
async fn a_server_learns_that_its_apps_can_be_shown() {
    for has_apps in [false, true] {
        let (_server, docs) = server(|server| open(server).apps(has_apps)).await;
        let desk = Desk::new([docs]).ready().await;
        let received = desk.call("docs_received").await;
        let received: Value = serde_json::from_str(received["output"]["text"].as_str().unwrap()).unwrap();
        let initialize =
            received.as_array().unwrap().iter().find(|message| message["method"] == "initialize");
        let extensions = &initialize.unwrap()["params"]["capabilities"]["extensions"];
        let expected = json!({"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}});
        assert_eq!(*extensions, if has_apps { expected } else { Value::Null }, "{received}");
    }
}

#[tokio::test]
async fn a_tool_for_apps_alone_never_reaches_a_model() {
    for has_apps in [false, true] {
        let (server, docs) = server(|server| open(server).apps(has_apps)).await;
        let served = Served::new([docs], |builder| builder).await;
        let stream = served.said("/", "docs_refresh").await;
        assert!(stream.contains("tool-input-error"), "{stream}");
        assert_eq!(server.protocol.calls("refresh"), 0);
        let offered = served.desk.offered();
        assert!(offered.contains(&"docs_internal".to_owned()), "{offered:?}");
        assert!(!offered.contains(&"docs_refresh".to_owned()), "{offered:?}");
        for path in ["/manifest.json", "/types.d.ts"] {
            let text = served.get(path).await.text().await.unwrap();
            assert!(text.contains("docs_internal") && !text.contains("docs_refresh"), "{text}");
        }
    }
}

#[tokio::test]
async fn a_client_learns_of_the_app_of_a_call() {
    let (_server, docs) = server(|server| open(server).apps(true)).await;
    let served = Served::new([docs], |builder| builder).await;
    let result = json!({
        "content": [{"type": "text", "text": "3 orders"}], "structuredContent": {"orders": 3},
        "_meta": {"cursor": "for the app"},
    });

    let stream = events(&served.said("/?ai-sdk=7", "docs_dashboard {\"day\":1}").await);
    let find = |kind: &str| stream.iter().find(|event| event["type"] == kind).unwrap();
    let app = json!({"server": "docs", "resourceUri": "ui://app/view", "mimeType": ToolApp::MIME_TYPE});
    assert_eq!(find("tool-input-start")["toolMetadata"]["app"], app);
    let id = find("tool-input-start")["toolCallId"].as_str().unwrap();
    let label = &find("message-metadata")["messageMetadata"]["omniassist"]["tools"][id]["app"];
    assert_eq!(*label, json!({"server": "docs", "resourceUri": "ui://app/view"}));
    let data = find("data-mcp-app");
    assert_eq!(
        *data,
        json!({
            "type": "data-mcp-app", "id": id,
            "data": {"server": "docs", "resourceUri": "ui://app/view", "result": result},
        })
    );
    let payloads = served.desk.model.payloads();
    let read = &payloads.last().unwrap().transcript;
    assert!(!format!("{read:?}").contains("for the app"), "the model does not read it: {read:?}");

    let stream = events(&served.said("/ag-ui", "docs_dashboard {\"day\":1}").await);
    let activity = stream.iter().find(|event| event["type"] == "ACTIVITY_SNAPSHOT").unwrap();
    assert_eq!(activity["activityType"], "mcp-apps");
    let content = &activity["content"];
    assert_eq!(content["result"], result);
    assert_eq!(content["resourceUri"], "ui://app/view");
    assert_eq!(content["serverId"], "docs");
    assert_eq!(content["toolInput"], json!({"day": 1}));
    assert_eq!(content["serverHash"].as_str().unwrap().len(), 64);

    let older = served.said("/?ai-sdk=7", "docs_older").await;
    assert!(older.contains("\"resourceUri\":\"ui://app/older\""), "{older}");
    let foreign = served.said("/?ai-sdk=7", "docs_foreign").await;
    assert!(!foreign.contains("toolMetadata") && !foreign.contains("mcp-app"), "{foreign}");
    let version_5 = served.said("/?ai-sdk=5", "docs_dashboard").await;
    assert!(!version_5.contains("toolMetadata") && version_5.contains("data-mcp-app"), "{version_5}");
}

#[tokio::test]
async fn a_document_has_no_origin_and_reaches_the_declared_hosts_alone() {
    let (server, docs) = server(|server| open(server).apps(true)).await;
    let served = Served::new([docs], |builder| builder).await;
    let response = served.get("/apps/docs/app/view").await;
    assert_eq!(response.status(), StatusCode::OK);
    let headers = response.headers().clone();
    assert_eq!(response.text().await.unwrap(), "<!doctype html><p>ui://app/view</p>");
    let (loads, connects) = (
        "https://cdn.example.com",
        "https://api.example.com wss://live.example.com:8443 https://*.example.org",
    );
    assert_eq!(
        headers["content-security-policy"],
        format!(
            "sandbox allow-scripts allow-forms; default-src 'none'; script-src 'unsafe-inline' {loads}; \
             style-src 'unsafe-inline' {loads}; img-src data: {loads}; font-src data: {loads}; media-src data: {loads}; \
             connect-src {connects}; frame-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
        )
    );
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(headers[name], value);
    }
    assert!(headers["permissions-policy"].to_str().unwrap().contains("camera=()"));
    assert!(!headers.contains_key("x-evil"));

    // It is kept for a minute, and each address is its own.
    assert_eq!(served.get("/apps/docs/app/view").await.status(), StatusCode::OK);
    assert_eq!(server.protocol.count("resources/read"), 1);
    let encoded = served.get("/apps/docs/app/a%20b%3Fc=%C3%A4").await.text().await.unwrap();
    assert_eq!(encoded, "<!doctype html><p>ui://app/a b?c=ä</p>");
    // What is not the document of an app is never sent as HTML.
    for path in ["/apps/docs/app/page", "/apps/docs/app/large"] {
        let response = served.get(path).await;
        assert_eq!(response.status(), StatusCode::BAD_GATEWAY, "{path}");
        assert_eq!(response.headers()["content-type"], "application/json");
    }
    assert_eq!(served.get("/apps/other/app/view").await.status(), StatusCode::NOT_FOUND);
    let unknown = served.http.get(format!("{}/apps/docs/app/view", served.url)).send().await.unwrap();
    assert_eq!(unknown.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn an_app_calls_the_tools_of_its_own_server_alone() {
    let (docs_server, docs) = server(|server| open(server).apps(true)).await;
    let (other_server, other) = {
        let server = HttpServer::start(protocol(), Lost::NotFound).await;
        let other = Arc::new(open(McpServer::http("other", &server.url)).apps(true));
        (server, other)
    };
    let plain = Tool::new("docs_burn", "Burns it down", async || Ok::<_, ToolError>("done"));
    let served = Served::new([docs, other], |builder| builder.tool(plain)).await;
    let call = |name: &str| json!({"name": name, "arguments": {}, "chatId": "chat-1"});

    let (status, body) = served.post("/apps/docs/call", call("refresh")).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    assert_eq!(body["output"]["content"][0]["text"], "refresh ran");
    let (_, body) = served.post("/apps/docs/call", call("dashboard")).await;
    assert_eq!(body["output"]["structuredContent"], json!({"orders": 3}));
    assert_eq!(body["output"]["_meta"], json!({"cursor": "for the app"}), "its own result is whole: {body}");
    let (status, body) = served.post("/apps/docs/call", call("fail")).await;
    assert_eq!((status, body), (StatusCode::OK, json!({"errorText": "there is no order 7"})));

    let (status, body) = served.post("/apps/docs/call", call("internal")).await;
    assert_eq!(
        (status, &body["error"]["code"]),
        (StatusCode::FORBIDDEN, &json!("tool_not_for_apps")),
        "{body}"
    );
    assert_eq!(docs_server.protocol.calls("internal"), 0);
    // A tool of another server, one of the application with the prefix of this one, and the reader of resources.
    for name in ["other_refresh", "burn", "list_resources", "../other_refresh", ""] {
        let (status, body) = served.post("/apps/docs/call", call(name)).await;
        let expected = (StatusCode::NOT_FOUND, &json!("tool_not_found"));
        assert_eq!((status, &body["error"]["code"]), expected, "{name}: {body}");
    }
    assert_eq!(other_server.protocol.calls("refresh"), 0);
    let (status, _) = served.post("/apps/none/call", call("refresh")).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    // An HTML form, and a page of another origin.
    let form = served.http.post(format!("{}/apps/docs/call", served.url)).header("x-user", "ann");
    let form = form.body("{\"name\":\"refresh\"}").send().await.unwrap();
    assert_eq!(form.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let foreign = served.http.post(format!("{}/apps/docs/call", served.url)).header("x-user", "ann");
    let foreign =
        foreign.header("origin", "https://evil.example").json(&call("refresh")).send().await.unwrap();
    assert_eq!(foreign.status(), StatusCode::FORBIDDEN);
    let sandboxed = served.http.post(format!("{}/apps/docs/call", served.url)).header("x-user", "ann");
    let sandboxed = sandboxed.header("origin", "null").json(&call("refresh")).send().await.unwrap();
    assert_eq!(sandboxed.status(), StatusCode::FORBIDDEN, "the app itself has no origin");
    assert_eq!(docs_server.protocol.calls("refresh"), 1);

    let (status, body) = served.post("/apps/docs/read", json!({"uri": "x://plain"})).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    assert_eq!(body["contents"][0]["text"], "content of x://plain");
}

#[tokio::test]
async fn a_result_that_is_too_large_for_an_app_names_the_limit() {
    let (_server, docs) = server(|server| open(server).apps(true).max_output_bytes(40)).await;
    let served = Served::new([docs], |builder| builder).await;
    let call = json!({"name": "dashboard", "arguments": {}, "chatId": "chat-1"});
    let (_, body) = served.post("/apps/docs/call", call).await;
    assert_eq!(body["errorText"], "The server's answer is longer than 40 bytes.", "{body}");
}

#[tokio::test]
async fn a_call_of_an_app_needs_the_approval_of_the_user() {
    let (server, docs) = server(|server| server.approval(McpApproval::Always).apps(true)).await;
    let served = Served::new([docs], |builder| builder).await;
    let call = json!({"name": "refresh", "arguments": {"day": 1}, "chatId": "chat-1"});
    let (status, body) = served.post("/apps/docs/call", call.clone()).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::CONFLICT, &json!("approval_needed")), "{body}");
    let approval = &body["error"]["approval"];
    assert_eq!(approval["toolName"], "docs_refresh");
    assert_eq!(approval["input"], json!({"day": 1}));
    assert_eq!(approval["message"], "Run `refresh` of the server `docs`?");
    assert_eq!(server.protocol.calls("refresh"), 0, "it does not run before");
    let pending = body["error"]["pending"].clone();
    let decided = |approved: bool| {
        let mut message = pending.clone();
        let part = message["parts"].as_array_mut().unwrap().iter_mut();
        let part = part.into_iter().find(|part| part["toolCallId"].is_string()).unwrap();
        part["state"] = "approval-responded".into();
        part["approval"]["approved"] = approved.into();
        message
    };
    let part = |message: &mut Value| {
        let parts = message["parts"].as_array_mut().unwrap();
        let at = parts.iter().position(|part| part["toolCallId"].is_string()).unwrap();
        std::mem::take(&mut parts[at])
    };

    // What the user did not see does not run.
    let (status, _) = served.post("/apps/docs/call", json!({"message": pending})).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "there is no decision");
    let mut changed = decided(true);
    let mut moved = part(&mut changed);
    moved["input"] = json!({"day": 2});
    changed["parts"] = json!([moved]);
    let (_, body) = served.post("/apps/docs/call", json!({"message": changed})).await;
    assert_ne!(body["output"]["content"][0]["text"], "refresh ran", "{body}");
    let mut twice = decided(true);
    let again = part(&mut twice);
    let mut second = again.clone();
    second["toolCallId"] = "call_2".into();
    twice["parts"] = json!([again, second]);
    let (status, _) = served.post("/apps/docs/call", json!({"message": twice})).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let other_user = served.post_as("bob", "/apps/docs/call", &json!({"message": decided(true)})).await;
    let body: Value = other_user.json().await.unwrap();
    assert_ne!(body["output"]["content"][0]["text"], "refresh ran", "{body}");
    assert_eq!(server.protocol.calls("refresh"), 0);

    let (status, body) = served.post("/apps/docs/call", json!({"message": decided(false)})).await;
    assert_eq!(
        (status, body),
        (StatusCode::OK, json!({"errorText": "The user denied this call. It was not run."}))
    );
    assert_eq!(server.protocol.calls("refresh"), 0);

    let (_, body) = served.post("/apps/docs/call", call).await;
    let mut message = body["error"]["pending"].clone();
    let mut approved = part(&mut message);
    approved["state"] = "approval-responded".into();
    approved["approval"]["approved"] = true.into();
    message["parts"] = json!([approved]);
    let (status, body) =
        served.post("/apps/docs/call", json!({"message": message, "chatId": "chat-1"})).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    assert_eq!(body["output"]["content"][0]["text"], "refresh ran");
    assert_eq!(server.protocol.calls("refresh"), 1);
    // An approval counts once.
    let (_, body) = served.post("/apps/docs/call", json!({"message": message, "chatId": "chat-1"})).await;
    assert_ne!(body["output"]["content"][0]["text"], "refresh ran", "{body}");
    assert_eq!(server.protocol.calls("refresh"), 1);
}

#[tokio::test]
async fn the_hooks_of_the_host_see_and_refuse_calls_of_apps() {
    let (server, docs) = server(|server| open(server).apps(true)).await;
    let served = Served::new([docs], |builder| {
        builder.before_tool(|call: ToolContext| async move {
            let app = call.run().extensions().get::<AppCall>().cloned();
            let app = app.map(|app| (app.source, app.chat_id));
            assert_eq!(app, Some(("docs".into(), Some("chat-1".into()))));
            Ok::<_, ToolError>(ToolDecision::Refuse("not today".into()))
        })
    })
    .await;
    let call = json!({"name": "refresh", "arguments": {}, "chatId": "chat-1"});
    let (_, body) = served.post("/apps/docs/call", call).await;
    assert!(body["errorText"].as_str().unwrap().contains("not today"), "{body}");
    assert_eq!(server.protocol.calls("refresh"), 0);
}

#[tokio::test]
async fn a_server_whose_apps_are_not_shown_has_no_routes() {
    let (_server, docs) = server(open).await;
    let served = Served::new([docs], |builder| builder).await;
    assert_eq!(served.get("/apps/docs/app/view").await.status(), StatusCode::NOT_FOUND);
    for path in ["/apps/docs/call", "/apps/docs/read"] {
        let (status, body) = served.post(path, json!({"name": "dashboard", "uri": "x://plain"})).await;
        assert_eq!((status, &body["error"]["code"]), (StatusCode::NOT_FOUND, &json!("app_not_found")));
    }
    let stream = served.said("/?ai-sdk=7", "docs_dashboard").await;
    assert!(!stream.contains("mcp-app"), "{stream}");
}
