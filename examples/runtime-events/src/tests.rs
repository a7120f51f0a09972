//! Plays each log through the whole backend. `tests/clients/runtime.test.mjs` does it with the official clients.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use tower::ServiceExt;

use crate::app;
use crate::player::Player;

async fn ask(path: &str, message: &str) -> String {
    let body = serde_json::json!({"messages": [{"id": "m1", "role": "user", "content": message}]});
    let request = Request::post(path).header("content-type", "application/json");
    let request = request.body(Body::from(body.to_string())).unwrap();
    let response = app::router(&Player::default()).oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[tokio::test]
async fn a_log_is_answered_as_a_ui_message_stream() {
    let body = ask("/chat", "text").await;
    assert!(body.starts_with("id: 0\ndata: {\"type\":\"start\",\"messageId\":\"msg_"), "{body}");
    assert!(body.contains(r#"{"type":"text-delta","id":"t0","delta":"Your order "}"#), "{body}");
    assert!(body.ends_with("data: [DONE]\n\n"), "{body}");
}

#[tokio::test]
async fn a_flow_is_one_message_if_the_option_is_set() {
    let body = ask("/flow", "flow").await;
    assert_eq!(body.matches(r#""type":"data-node-output""#).count(), 2, "{body}");
    assert!(!ask("/chat", "flow").await.contains("data-"));
}

#[tokio::test]
async fn a_message_that_names_no_log_fails() {
    let body = ask("/chat", "anything").await;
    assert!(body.contains(r#""errorText":"An internal error occurred.""#), "{body}");
}
