//! Tests which calls run, wait or are refused. The round trip of an approval with the official clients is in
//! `tests/clients/ledger-*.test.mjs`.

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use omniassist_axum::testing::{ScriptedProvider, Turn, text};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::app::{self, Settings};
use crate::book::Book;

async fn send(app: &Router, request: Request<Body>) -> String {
    let response = app.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Runs a transfer of the model. Returns the client's response and the journal.
async fn transfer(cents: i64, user: Option<&str>) -> (String, Value) {
    let order = json!({ "from": "savings", "to": "rent", "cents": cents });
    let model = ScriptedProvider::new().turn(Turn::call("transfer", order)).turn(text("That is all."));
    let book = Book::default();
    let assistant = app::assistant(model, &Settings::default(), book.clone()).unwrap();
    let app = app::router(&assistant, book);
    let body = json!({ "id": "c", "messages": [{ "id": "u", "role": "user", "content": "Pay the rent." }] });
    let mut request = Request::post("/assistant").header("content-type", "application/json");
    if let Some(user) = user {
        request = request.header("x-user", user);
    }
    let told = send(&app, request.body(Body::from(body.to_string())).unwrap()).await;
    let journal = send(&app, Request::get("/journal").body(Body::empty()).unwrap()).await;
    (told, serde_json::from_str(&journal).unwrap())
}

#[tokio::test]
async fn a_small_transfer_runs_and_is_in_the_journal() {
    let (told, journal) = transfer(10_000, Some("ada")).await;
    assert!(told.contains(r#""output":{"account":"savings","cents":99990000}"#), "{told}");
    assert_eq!(journal[0]["by"], "ada");
    assert_eq!(journal[0]["arguments"]["cents"], 10_000);
}

#[tokio::test]
async fn a_larger_transfer_waits_for_an_approval() {
    let (told, journal) = transfer(10_001, Some("ada")).await;
    assert!(told.contains(r#""type":"tool-approval-request""#), "{told}");
    assert_eq!(journal, json!([]));
}

#[tokio::test]
async fn very_large_and_large_anonymous_transfers_are_refused() {
    for (cents, user) in [(1_000_001, Some("ada")), (10_001, None)] {
        let (told, journal) = transfer(cents, user).await;
        assert!(told.contains(r#""type":"tool-output-error""#), "{told}");
        assert_eq!(journal, json!([]));
    }
}

#[test]
fn transfers_keep_the_total() {
    let book = Book::default();
    assert!(book.transfer("savings", "nowhere", 5).is_err());
    assert!(book.transfer("savings", "rent", i64::MAX / 4).is_err());
    assert_eq!(book.transfer("savings", "savings", 5), Ok(100_000_000));
    assert_eq!(book.transfer("savings", "rent", 5), Ok(99_999_995));
    assert_eq!(book.balance("rent"), Ok(100_000_005));
    assert_eq!(book.close("rent"), Ok(100_000_005));
    assert!(book.balance("rent").is_err());
}
