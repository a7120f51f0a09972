//! Tests of bodies for which actix differs from the other adapters. `tests/adapters` has the common tests.

use actix_web::middleware::Compress;
use actix_web::{App, web};
use omniassist_actix::testing::{ScriptedProvider, Turn, text};
use omniassist_actix::{Assistant, scope};
use reqwest::Client;
use tokio::time::timeout;

use crate::client::{PATIENCE, Raw, ask, asking};
use crate::serving::{serve, serve_app};

/// Actix's own limits apply only to its own extractors.
#[actix_web::test]
async fn limits_of_actix_do_not_apply() {
    let model = ScriptedProvider::new().otherwise(|_| text("Hello"));
    let assistant = Assistant::builder(model).allow_anonymous().build().unwrap();
    let server = serve(move |app| {
        app.app_data(web::PayloadConfig::new(1))
            .app_data(web::JsonConfig::default().limit(1))
            .service(scope("/assistant", assistant.clone()));
    });
    let answer = ask(&format!("{}/assistant", server.base)).await.text().await.unwrap();
    assert!(answer.contains("Hello"), "{answer}");
}

/// Actix compresses event streams too, unless they have a `content-encoding`.
#[actix_web::test]
async fn words_arrive_through_the_hosts_compression() {
    let model = ScriptedProvider::new().turn(text("so far").then(Turn::pending()));
    let assistant = Assistant::builder(model).allow_anonymous().build().unwrap();
    let app = move || App::new().wrap(Compress::default()).service(scope("/assistant", assistant.clone()));
    let server = serve_app(app, false);
    let url = format!("{}/assistant", server.base);
    let request = Client::builder().no_gzip().build().unwrap().get(format!("{url}/manifest.json"));
    let manifest = request.header("accept-encoding", "gzip").send().await.unwrap();
    assert_eq!(manifest.headers()["content-encoding"], "gzip", "the host compresses");
    // This client accepts gzip and decompresses it.
    let mut response = ask(&url).await;
    assert_eq!(response.headers()["content-encoding"], "identity");
    let mut seen = String::new();
    while !seen.contains("so far") {
        let read = timeout(PATIENCE, response.chunk())
            .await
            .unwrap_or_else(|_| panic!("nothing more arrives: {seen}"));
        seen.push_str(std::str::from_utf8(&read.unwrap().unwrap()).unwrap());
    }
}

#[actix_web::test]
async fn http_1_0_has_no_chunks() {
    let model = ScriptedProvider::new().otherwise(|_| text("Hello"));
    let assistant = Assistant::builder(model).allow_anonymous().build().unwrap();
    let server = serve(move |app| {
        app.service(scope("/assistant", assistant.clone()));
    });
    for connection in ["host: localhost\r\n", "host: localhost\r\nconnection: keep-alive\r\n"] {
        let seen = Raw::post_1_0(server.address, "/assistant", connection, &asking("hi")).await.end().await;
        let (head, body) = seen.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.0 200 OK") && !head.contains("chunked"), "{head}");
        assert!(body.starts_with("id: 0\n") && body.ends_with("data: [DONE]\n\n"), "{body}");
    }
}

/// Actix does not end the payload of a request with `Upgrade: websocket`, whatever its length, method and `Connection` are.
#[actix_web::test]
async fn a_body_beside_an_upgrade_has_its_length() {
    let model = ScriptedProvider::new().otherwise(|_| text("Hello"));
    let assistant = Assistant::builder(model).allow_anonymous().build().unwrap();
    let server = serve(move |app| {
        app.service(scope("/assistant", assistant.clone()));
    });
    let body = asking("hi");
    let head = format!("host: localhost\r\ncontent-type: application/json\r\ncontent-length: {}", body.len());
    for connection in ["", "connection: upgrade\r\n"] {
        for behind in ["", "x", "GET /assistant/manifest.json HTTP/1.1\r\nhost: localhost\r\n\r\n"] {
            let request = format!(
                "POST /assistant HTTP/1.1\r\nupgrade: websocket\r\n{connection}{head}\r\n\r\n{body}{behind}"
            );
            let seen = Raw::send(server.address, &request).await.end().await;
            assert!(!seen.contains("chunked"), "the connection ends the body: {seen}");
            assert!(seen.starts_with("HTTP/1.1 200 OK") && seen.contains("data: [DONE]"), "{seen}");
            assert_eq!(seen.matches("HTTP/1.1 ").count(), 1, "what follows is no request: {seen}");
        }
    }
    let empty = "POST /assistant HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\ncontent-type: application/json\r\n\r\n";
    let seen = Raw::send(server.address, empty).await.end().await;
    assert!(seen.starts_with("HTTP/1.1 400 "), "{seen}");
}
