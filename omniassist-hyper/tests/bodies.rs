//! Bodies in both directions: limits, methods, streaming, and answers that break off.

use hyper::service::service_fn;
use omniassist_hyper::testing::{ScriptedProvider, Turn, text};
use omniassist_hyper::{Assistant, Limits, nest};
use reqwest::{Method, StatusCode};

use crate::client::{Raw, ask, asking, json, post, until, versions};
use crate::serving::{Served, own, serve};

async fn serving(model: &ScriptedProvider) -> Served {
    let assistant = Assistant::builder(model.clone()).allow_anonymous().build().unwrap();
    serve(nest("/assistant", assistant, service_fn(own))).await
}

/// A request of so many bytes.
fn of_size(size: usize) -> String {
    let mut body = asking("hi");
    body.push_str(&" ".repeat(size - body.len()));
    body
}

#[tokio::test]
async fn a_body_is_bounded_to_the_byte() {
    let server = serving(&ScriptedProvider::new().otherwise(|_| text("Hello"))).await;
    let url = format!("{}/assistant", server.base);
    let limit = Limits::default().max_body_bytes;
    assert_eq!(limit, 8 << 20);
    for client in versions() {
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

#[tokio::test]
async fn methods_and_paths_that_are_not_there() {
    let server = serving(&ScriptedProvider::new()).await;
    for client in versions() {
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
            assert_eq!(
                is_empty,
                method == Method::HEAD || status == StatusCode::NO_CONTENT,
                "{method} {path}"
            );
        }
        let untyped = client.post(format!("{}/assistant", server.base)).body("{}").send().await.unwrap();
        assert_eq!(untyped.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    }
}

#[tokio::test]
async fn words_arrive_while_the_model_still_speaks() {
    for client in versions() {
        let model = ScriptedProvider::new().turn(text("so far").then(Turn::pending()));
        let server = serving(&model).await;
        let mut response = ask(&client, &format!("{}/assistant", server.base)).await;
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["x-vercel-ai-ui-message-stream"], "v1");
        until(&mut response, "so far").await;
    }
}

#[tokio::test]
async fn plain_text_that_breaks_off_breaks_the_connection() {
    let model = ScriptedProvider::new().otherwise(|_| text("Half").then(Turn::interrupted()));
    let server = serving(&model).await;
    let path = "/assistant?protocol=text";
    let seen = Raw::post(server.address, path, &asking("hi")).await.end().await;
    assert!(seen.starts_with("HTTP/1.1 200 OK\r\n"), "{seen:?}");
    assert!(seen.ends_with("4\r\nHalf\r\n"), "and no last chunk: {seen:?}");
    for client in versions() {
        let cut = post(&client, &format!("{}{path}", server.base), asking("hi")).await;
        assert!(cut.text().await.is_err());
        // In a format that has words for it, the answer is whole.
        let whole = ask(&client, &format!("{}/assistant", server.base)).await.text().await.unwrap();
        assert!(whole.contains("Half") && whole.ends_with("data: [DONE]\n\n"), "{whole}");
    }
}
