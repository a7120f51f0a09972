//! Tests of uploads as `multipart/form-data`.

use bytes::Bytes;
use futures_util::future::poll_immediate;
use http::header;
use omniassist_server::files::FileLimits;
use omniassist_server::http::AssistantService;

use super::store::Memory;
use super::{Answer, PDF, PNG, builder, request, serve, upload};

const BOUNDARY: &str = "----WebKitFormBoundary7MA4YWxkTrZu0gW";

/// Encodes a form. Parts without a file name are other fields.
fn form(parts: &[(&str, Option<&str>, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (media_type, name, content) in parts {
        let name = name.map(|name| format!("; filename=\"{name}\"")).unwrap_or_default();
        let head = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"field\"{name}\r\n\
             Content-Type: {media_type}\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    body
}

async fn post(service: &AssistantService, body: impl Into<Bytes>) -> Answer {
    let mut request = request("ann", "POST", "/files", body);
    let content_type = format!("multipart/form-data; boundary={BOUNDARY}").parse().unwrap();
    request.headers_mut().insert(header::CONTENT_TYPE, content_type);
    Answer::of(service.handle(request).await).await
}

#[tokio::test]
async fn a_file_field_without_a_choice_is_skipped_and_an_error_names_its_file() {
    let store = Memory::default();
    let service = serve(builder(store.clone()).1);
    let nothing = ("application/octet-stream", Some(""), &b""[..]);
    let answer = post(&service, form(&[nothing, ("image/png", Some("a.png"), PNG), nothing])).await;
    assert_eq!(answer.status, 201, "{:?}", answer.body);
    assert_eq!(answer.json()["files"].as_array().unwrap().len(), 1);
    let unnamed = post(&service, form(&[("image/png", Some(""), PNG)])).await;
    assert_eq!(unnamed.status, 201, "{:?}", unnamed.body);
    for (second, code) in [
        (("text/html", Some("b.html"), &b"<p>b</p>"[..]), "file_type_not_allowed"),
        (("image/png", Some("b.png"), &b""[..]), "empty_file"),
    ] {
        let answer = post(&service, form(&[("image/png", Some("a.png"), PNG), second])).await;
        let error = &answer.json()["error"];
        assert_eq!((&error["code"], &error["path"]), (&code.into(), &"files[1]".into()));
    }
    assert_eq!(store.0.lock().unwrap().files.len(), 2);
}

#[tokio::test]
async fn a_form_stores_its_files_in_order() {
    let store = Memory::default();
    let service = serve(builder(store.clone()).1);
    let large = [PDF, &[7; 300_000]].concat();
    let body = form(&[
        ("text/plain", None, b"a field that is no file"),
        ("image/png", Some("C:\\fakepath\\a.png"), PNG),
        ("application/pdf", Some("größe.pdf"), &large),
    ]);
    let answer = post(&service, body).await;
    assert_eq!(answer.status, 201, "{:?}", answer.body);
    let files = &answer.json()["files"];
    assert_eq!(files.as_array().unwrap().len(), 2);
    assert_eq!(
        (&files[0]["filename"], &files[0]["mediaType"], &files[0]["size"]),
        (&"a.png".into(), &"image/png".into(), &PNG.len().into())
    );
    assert_eq!((&files[1]["filename"], &files[1]["size"]), (&"größe.pdf".into(), &large.len().into()));
    let inner = store.0.lock().unwrap();
    assert!(inner.chunks.iter().all(|chunk| *chunk <= 64 * 1024));
    let content = inner.files.values().find(|(info, _)| info.media_type == "application/pdf").unwrap();
    assert_eq!(content.1.concat(), large);
}

#[tokio::test]
async fn a_form_stores_all_its_files_or_none() {
    let store = Memory::default();
    let service = serve(builder(store.clone()).1);
    let html = form(&[("image/png", Some("a"), PNG), ("text/html", Some("b"), b"<html>")]);
    assert_eq!(post(&service, html).await.error(), (415, "file_type_not_allowed".to_owned()));
    let mut limits = FileLimits::default();
    limits.max_bytes_per_principal = PNG.len() as u64 + 1;
    let small = serve(builder(store.clone()).1.file_limits(limits));
    let two = form(&[("image/png", Some("a"), PNG), ("image/png", Some("b"), PNG)]);
    assert_eq!(post(&small, two).await.error(), (403, "file_quota_exceeded".to_owned()));
    assert_eq!((store.len(), store.0.lock().unwrap().open), (0, 0));
}

#[tokio::test]
async fn a_form_has_at_most_max_files_per_upload() {
    let store = Memory::default();
    let mut limits = FileLimits::default();
    limits.max_files_per_upload = 2;
    let service = serve(builder(store.clone()).1.file_limits(limits));
    let file = ("image/png", Some("a.png"), PNG);
    assert_eq!(post(&service, form(&[file; 2])).await.status, 201);
    let answer = post(&service, form(&[file; 3])).await;
    assert_eq!(answer.error(), (400, "too_many_files".to_owned()));
    assert_eq!(answer.json()["error"]["limit"]["value"], 2);
    assert_eq!((store.len(), store.0.lock().unwrap().open), (2, 0));
}

#[tokio::test]
async fn the_default_limits_are_consistent() {
    let service = serve(builder(Memory::default()).1);
    let file = ("image/png", Some("a.png"), PNG);
    assert_eq!(post(&service, form(&[file; 10])).await.status, 201);
    assert_eq!(post(&service, form(&[file; 11])).await.error(), (400, "too_many_files".to_owned()));
}

#[tokio::test]
async fn an_invalid_form_is_refused_in_bounded_memory() {
    let store = Memory::default();
    let service = serve(builder(store.clone()).1);
    let whole = form(&[("image/png", Some("a.png"), &[PNG, &[0; 9_000]].concat())]);
    for length in [1, 60, 200, 5_000, whole.len() - 10] {
        let answer = post(&service, whole[..length].to_vec()).await;
        assert_eq!(answer.status, 400, "{length}: {:?}", answer.body);
    }
    assert_eq!(post(&service, form(&[])).await.error(), (400, "invalid_multipart".to_owned()));
    let field = form(&[("text/plain", None, b"x")]);
    assert_eq!(post(&service, field).await.error(), (400, "invalid_multipart".to_owned()));
    let endless_header =
        format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{}", "x".repeat(1 << 20));
    assert_eq!(post(&service, endless_header).await.error(), (400, "invalid_multipart".to_owned()));
    let large_field = form(&[("text/plain", None, &[b'x'; 1 << 20])]);
    let large_field = post(&service, large_field).await;
    assert_eq!(large_field.error(), (400, "invalid_multipart".to_owned()));
    let limit = &large_field.json()["error"]["limit"];
    assert_eq!(*limit, serde_json::json!({ "name": "form_fields_bytes", "value": 256 << 10 }));
    let no_boundary = upload(&service, "/files", "multipart/form-data", &whole).await;
    assert_eq!(no_boundary.error(), (400, "invalid_multipart".to_owned()));
    let message = no_boundary.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("boundary"), "{message}");
    assert_eq!((store.len(), store.0.lock().unwrap().open), (0, 0));
}

#[tokio::test]
async fn a_client_that_leaves_while_its_files_are_completed_leaves_none() {
    let store = Memory::default();
    store.0.lock().unwrap().waits_beyond = Some(1);
    let service = serve(builder(store.clone()).1);
    let png = ("image/png", Some("a.png"), PNG);
    let mut posted = Box::pin(post(&service, form(&[png, png])));
    while store.len() == 0 {
        assert!(poll_immediate(&mut posted).await.is_none());
        tokio::task::yield_now().await;
    }
    drop(posted);
    store.0.lock().unwrap().waits_beyond = None;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!((store.len(), store.0.lock().unwrap().open), (0, 0));
}
