//! Tests of the paths at which the assistant can be mounted, and of host data in its tools.

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::{get, post};
use omniassist_axum::store::MemoryStore;
use omniassist_axum::testing::{ScriptedProvider, Turn};
use omniassist_axum::{
    Assistant, AssistantRequest, ContextMessage, Extension, Principal, State, Tool, ToolError,
};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::serving::{ask, chunks, serve, texts};

#[derive(Clone)]
struct Shop(&'static str);

#[derive(Clone)]
struct User(&'static str);

async fn who(
    State(shop): State<Shop>,
    Extension(user): Extension<User>,
    principal: Principal,
) -> Result<String, ToolError> {
    Ok(format!("{} {} {principal}", shop.0, user.0))
}

fn assistant() -> Assistant {
    let model = ScriptedProvider::new().turn(Turn::call("who", json!({}))).turn(Turn::text("Done."));
    Assistant::builder(model)
        .allow_anonymous()
        .state(Shop("books"))
        .tool(Tool::new("who", "Say who asks", who))
        .build()
        .unwrap()
}

async fn sign_in(mut request: Request, next: Next) -> Response {
    request.extensions_mut().insert(User("ann"));
    request.extensions_mut().insert(Principal::new("user-7"));
    next.run(request).await
}

fn output(chunks: &[Value]) -> &Value {
    &chunks.iter().find(|chunk| chunk["type"] == "tool-output-available").expect("a tool output")["output"]
}

#[tokio::test]
async fn below_a_path_with_and_without_a_trailing_slash() {
    for path in ["/assistant", "/assistant/"] {
        let app = Router::new()
            .nest_service("/assistant", omniassist_axum::router(assistant()))
            .route("/", get(|| async { "home" }))
            .layer(from_fn(sign_in));
        let base = serve(app).await;
        let response = ask(&format!("{base}{path}"), "hi").await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert_eq!(output(&chunks(response).await), "books ann user-7");
        assert_eq!(reqwest::get(format!("{base}/")).await.unwrap().text().await.unwrap(), "home");
        let manifest = reqwest::get(format!("{base}/assistant/manifest.json")).await.unwrap();
        assert_eq!(manifest.status(), StatusCode::OK);
    }
}

#[tokio::test]
async fn deep_below_a_path_by_nest() {
    let app = Router::new().nest("/a/b/c", omniassist_axum::router(assistant())).layer(from_fn(sign_in));
    let base = serve(app).await;
    assert_eq!(output(&chunks(ask(&format!("{base}/a/b/c"), "hi").await).await), "books ann user-7");
}

#[tokio::test]
async fn at_the_root_behind_the_hosts_own_routes() {
    let app = Router::new()
        .route("/health", get(|| async { "well" }))
        .fallback_service(omniassist_axum::router(assistant()))
        .layer(from_fn(sign_in));
    let base = serve(app).await;
    assert_eq!(output(&chunks(ask(&base, "hi").await).await), "books ann user-7");
    assert_eq!(reqwest::get(format!("{base}/health")).await.unwrap().text().await.unwrap(), "well");
    assert_eq!(reqwest::get(format!("{base}/nowhere")).await.unwrap().status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_missing_extension_fails_the_tool() {
    let base = serve(Router::new().fallback_service(omniassist_axum::router(assistant()))).await;
    let chunks = chunks(ask(&base, "hi").await).await;
    let error = chunks.iter().find(|chunk| chunk["type"] == "tool-output-error").expect("a tool error");
    assert_eq!(error["errorText"], "The tool failed.");
}

#[tokio::test]
async fn extensions_of_a_handler_reach_tools() {
    async fn chat(mut posted: AssistantRequest) -> Response {
        posted.extensions_mut().insert(User("bob"));
        posted.respond().await
    }
    let app = Router::new().route("/chat", post(chat)).with_state(assistant()).layer(from_fn(sign_in));
    let base = serve(app).await;
    assert_eq!(output(&chunks(ask(&format!("{base}/chat"), "hi").await).await), "books bob user-7");
}

#[tokio::test]
async fn in_a_handler_of_the_host() {
    async fn chat(mut posted: AssistantRequest) -> Response {
        let note = ContextMessage::new("plan", "account", json!("premium"));
        posted.request_mut().context.push(note);
        posted.respond().await
    }
    let model = ScriptedProvider::new().turn(Turn::text("Hello."));
    let assistant = Assistant::builder(model.clone()).allow_anonymous().build().unwrap();
    let app = Router::new().route("/chat", post(chat)).with_state(assistant);
    let base = serve(app).await;
    let response = ask(&format!("{base}/chat"), "hi").await;
    assert_eq!(texts(&chunks(response).await), "Hello.");
    let seen = format!("{:?}", model.payloads());
    assert!(seen.contains("premium"), "{seen}");

    let refused = reqwest::Client::new()
        .post(format!("{base}/chat"))
        .header("content-type", "application/json")
        .body("{}")
        .send()
        .await
        .unwrap();
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    let body: Value = serde_json::from_str(&refused.text().await.unwrap()).unwrap();
    assert_eq!(body["error"]["path"], "messages");
}

#[tokio::test]
async fn the_url_of_a_background_run_begins_with_the_mount_point() {
    let model = ScriptedProvider::new().turn(Turn::text("Hello."));
    let assistant = Assistant::builder(model).store(MemoryStore::new()).build().unwrap();
    let app = Router::new().nest_service("/a", omniassist_axum::router(assistant)).layer(from_fn(sign_in));
    let base = serve(app).await;
    let message = json!({ "id": "m1", "role": "user", "parts": [{ "type": "text", "text": "hi" }] });
    let posted = reqwest::Client::new()
        .post(format!("{base}/a"))
        .header("content-type", "application/json")
        .header("prefer", "respond-async")
        .body(json!({ "id": "c", "message": message }).to_string());
    let accepted = posted.send().await.unwrap();
    assert_eq!(accepted.status(), StatusCode::ACCEPTED);
    let url = accepted.headers()["location"].to_str().unwrap();
    assert_eq!(reqwest::get(format!("{base}{url}")).await.unwrap().status(), StatusCode::OK, "{url}");
}
