//! Bodies in both directions: limits, methods, streaming, and answers that break off.

use actix_web::middleware::Compress;
use actix_web::{App, web};
use omniassist_actix::testing::{ScriptedProvider, Turn, text};
use omniassist_actix::{Assistant, Limits, scope};
use reqwest::{Client, Method, StatusCode};
use tokio::time::timeout;

use crate::client::{PATIENCE, Raw, ask, asking, json, post};
use crate::serving::{Served, serve, serve_app};

fn serving(model: &ScriptedProvider) -> Served {
    let assistant = Assistant::builder(model.clone()).allow_anonymous().build().unwrap();
    serve(move |app| {
        // Actix's own limits are for its own extractors.
        app.app_data(web::PayloadConfig::new(1))
            .app_data(web::JsonConfig::default().limit(1))
            .service(scope("/assistant", assistant.clone()));
    })
}

/// A request of so many bytes.
fn of_size(size: usize) -> String {
    let mut body = asking("hi");
    body.push_str(&" ".repeat(size - body.len()));
    body
}

#[actix_web::test]
async fn a_body_is_bounded_to_the_byte_by_the_assistant_alone() {
    let server = serving(&ScriptedProvider::new().otherwise(|_| text("Hello")));
    let url = format!("{}/assistant", server.base);
    let limit = Limits::default().max_body_bytes;
    assert_eq!(limit, 8 << 20);
    for version in [Client::builder(), Client::builder().http2_prior_knowledge()] {
        let client = version.build().unwrap();
        for (size, status) in [(limit, StatusCode::OK), (limit + 1, StatusCode::PAYLOAD_TOO_LARGE)] {
            for announced in [true, false] {
                let body = of_size(size);
                let pieces: Vec<_> =
                    body.as_bytes().chunks(100_000).map(|piece| Ok::<_, String>(piece.to_vec())).collect();
                let body = match announced {
                    true => body.into(),
                    false => reqwest::Body::wrap_stream(futures_util::stream::iter(pieces)),
                };
                let request = client.post(&url).header("content-type", "application/json").body(body);
                let response = request.send().await.unwrap();
                assert_eq!(response.status(), status, "{size}, announced: {announced}");
                match status {
                    StatusCode::OK => assert!(response.text().await.unwrap().contains("Hello")),
                    _ => assert_eq!(json(response).await["error"]["limit"]["value"], limit),
                }
            }
        }
    }
}

#[actix_web::test]
async fn methods_and_paths_that_are_not_there() {
    let server = serving(&ScriptedProvider::new());
    let client = Client::new();
    let manifest = format!("{}/assistant/manifest.json", server.base);
    let get = client.get(&manifest).send().await.unwrap();
    assert_eq!(get.headers()["content-type"], "application/json");
    let length = get.headers()["content-length"].clone();
    assert_eq!(get.text().await.unwrap().len().to_string(), length);
    let head = client.head(&manifest).send().await.unwrap();
    assert_eq!((head.status(), &head.headers()["content-length"]), (StatusCode::OK, &length));
    assert_eq!(head.text().await.unwrap(), "");

    for (method, path, status, allow) in [
        (Method::GET, "", StatusCode::METHOD_NOT_ALLOWED, Some("POST")),
        (Method::HEAD, "", StatusCode::METHOD_NOT_ALLOWED, Some("POST")),
        (Method::DELETE, "/manifest.json", StatusCode::METHOD_NOT_ALLOWED, Some("GET, HEAD")),
        (Method::OPTIONS, "/v1/models", StatusCode::METHOD_NOT_ALLOWED, Some("GET, HEAD")),
        (Method::GET, "/nowhere", StatusCode::NOT_FOUND, None),
        (Method::GET, "/c/stream", StatusCode::NO_CONTENT, None),
    ] {
        let request = client.request(method.clone(), format!("{}/assistant{path}", server.base));
        let response = request.send().await.unwrap();
        let found = response.headers().get("allow").map(|value| value.to_str().unwrap());
        assert_eq!((response.status(), found), (status, allow), "{method} {path}");
        let is_empty = response.text().await.unwrap().is_empty();
        assert_eq!(is_empty, method == Method::HEAD || status == StatusCode::NO_CONTENT, "{method} {path}");
    }
    let untyped = client.post(format!("{}/assistant", server.base)).body("{}").send().await.unwrap();
    assert_eq!(untyped.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
}

#[actix_web::test]
async fn words_arrive_while_the_model_still_speaks() {
    let model = ScriptedProvider::new().otherwise(|_| text("so far").then(Turn::pending()));
    let server = serving(&model);
    let mut client = Raw::post(server.address, "/assistant", &asking("hi")).await;
    let head = client.until("so far").await.to_ascii_lowercase();
    for header in
        ["transfer-encoding: chunked", "content-type: text/event-stream", "x-vercel-ai-ui-message-stream: v1"]
    {
        assert!(head.contains(header), "{head}");
    }
    let http2 = Client::builder().http2_prior_knowledge().build().unwrap();
    let request = http2.post(format!("{}/assistant", server.base)).header("content-type", "application/json");
    let mut response = request.body(asking("hi").replace("\"c\"", "\"d\"")).send().await.unwrap();
    let mut seen = String::new();
    while !seen.contains("so far") {
        seen.push_str(std::str::from_utf8(&response.chunk().await.unwrap().unwrap()).unwrap());
    }
}

/// Actix compresses event streams too, unless they say what encoding they have.
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
    // A client that asks for gzip, and unpacks it.
    let mut response = ask(&url).await;
    assert_eq!(response.headers()["content-encoding"], "identity");
    let mut seen = String::new();
    while !seen.contains("so far") {
        let read = timeout(PATIENCE, response.chunk()).await.unwrap_or_else(|_| panic!("held back: {seen}"));
        seen.push_str(std::str::from_utf8(&read.unwrap().unwrap()).unwrap());
    }
}

#[actix_web::test]
async fn a_connection_is_kept_after_a_whole_answer() {
    let server = serving(&ScriptedProvider::new().otherwise(|_| text("Hello")));
    let mut client = Raw::post(server.address, "/assistant", &asking("hi")).await;
    assert!(client.until("0\r\n\r\n").await.contains("Hello"));
    client.again("/assistant", &asking("hi")).await;
    assert!(client.until("0\r\n\r\n").await.contains("Hello"));
}

#[actix_web::test]
async fn http_1_0_has_no_chunks() {
    let server = serving(&ScriptedProvider::new().otherwise(|_| text("Hello")));
    for connection in ["host: localhost\r\n", "host: localhost\r\nconnection: keep-alive\r\n"] {
        let seen = Raw::post_1_0(server.address, "/assistant", connection, &asking("hi")).await.end().await;
        let (head, body) = seen.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.0 200 OK") && !head.contains("chunked"), "{head}");
        assert!(body.starts_with("id: 0\n") && body.ends_with("data: [DONE]\n\n"), "{body}");
    }
}

#[actix_web::test]
async fn plain_text_that_breaks_off_breaks_the_connection() {
    let model = ScriptedProvider::new().otherwise(|_| text("Half").then(Turn::interrupted()));
    let server = serving(&model);
    let path = "/assistant?protocol=text";
    let seen = Raw::post(server.address, path, &asking("hi")).await.end().await;
    assert!(seen.starts_with("HTTP/1.1 200 OK\r\n"), "{seen:?}");
    assert!(seen.ends_with("4\r\nHalf\r\n"), "and no last chunk: {seen:?}");

    let url = format!("{}{path}", server.base);
    assert!(post(&url, asking("hi")).await.text().await.is_err());
    let http2 = Client::builder().http2_prior_knowledge().build().unwrap();
    let request = http2.post(&url).header("content-type", "application/json").body(asking("hi"));
    assert!(request.send().await.unwrap().text().await.is_err());
    // In a format that has words for it, the answer is whole.
    let whole = ask(&format!("{}/assistant", server.base)).await.text().await.unwrap();
    assert!(whole.contains("Half") && whole.ends_with("data: [DONE]\n\n"), "{whole}");
}
