//! Tests of the access to downloads and of their headers.

use bytes::Bytes;
use http::header;
use omniassist_server::files::FileLimits;
use serde_json::json;

use super::store::Memory;
use super::{Answer, PDF, PNG, builder, get, request, serve, upload, upload_as};

#[tokio::test]
async fn others_receive_the_same_answer_for_a_file_as_for_an_unknown_id() {
    let store = Memory::default();
    let service = serve(builder(store.clone()).1.allow_anonymous());
    let url = upload(&service, "/files", "image/png", PNG).await.file()["url"].as_str().unwrap().to_owned();
    assert_eq!(get(&service, "ann", &url).await.status, 200);
    let unknown = get(&service, "ann", "/files/file_00000000000000000000000000000000").await;
    assert_eq!(unknown.error(), (404, "not_found".to_owned()));

    let mut anonymous = request("", "GET", &url, "");
    anonymous.extensions_mut().clear();
    let mut refused = vec![Answer::of(service.handle(anonymous).await).await];
    // The list holds the name of the anonymous principal and names that a store could confuse.
    for user in ["bob", "", "anonymous", "ANN", "ann/", "../ann", "ann\0"] {
        refused.push(get(&service, user, &url).await);
    }
    let id = url.strip_prefix("/files/").unwrap().to_owned();
    for path in [
        format!("/files/{}", id.to_uppercase()),
        format!("/files/{id}x"),
        format!("/files/{id}.json"),
        format!("/files/../files/{id}"),
        format!("/files/%2e%2e%2f{id}"),
        format!("/files//{id}"),
        "/files/..".to_owned(),
        "/files/x/files/y".to_owned(),
    ] {
        refused.push(get(&service, "ann", &path).await);
    }
    store.expire();
    refused.push(get(&service, "ann", &url).await);
    for answer in refused {
        assert_eq!((answer.status, &answer.body), (404, &unknown.body));
        assert_eq!(answer.headers, unknown.headers);
    }
}

#[tokio::test]
async fn active_content_is_an_inert_attachment() {
    let mut limits = FileLimits::default();
    limits.media_types = vec!["*/*".to_owned()];
    let service = serve(builder(Memory::default()).1.file_limits(limits));
    let svg: &[u8] = b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>";
    let html: &[u8] = b"<!doctype html><script>alert(document.domain)</script>";
    let gif_and_script: &[u8] = b"GIF89a/*\x01\0\0\0*/=1;alert(1)//";
    let pdf_and_html = [PDF, html].concat();
    let png_and_html = [PNG, html].concat();
    let octets = "application/octet-stream";
    let cases: [(&str, &str, &[u8], &str); 12] = [
        ("a.svg", "image/svg+xml", svg, octets),
        ("a.svg", "", svg, octets),
        ("a.png", "image/png", svg, octets),
        ("a.html", "text/html", html, octets),
        ("a.xhtml", "application/xhtml+xml", html, octets),
        ("a.js", "text/javascript", b"alert(1)", octets),
        ("a.css", "text/css", b"body{}", octets),
        ("a.xml", "text/xml", b"<?xml version='1.0'?><a/>", octets),
        ("a.txt", "text/plain", html, "text/plain; charset=utf-8"),
        ("a.gif", "text/html", gif_and_script, "image/gif"),
        ("a.html", "text/html", &pdf_and_html, "application/pdf"),
        ("a.html", "text/html", &png_and_html, "image/png"),
    ];
    for (name, stated, content, served) in cases {
        let file = upload(&service, &format!("/files?filename={name}"), stated, content).await.file();
        for method in ["GET", "HEAD"] {
            let request = request("ann", method, file["url"].as_str().unwrap(), "");
            let answer = Answer::of(service.handle(request).await).await;
            assert_eq!(answer.status, 200);
            assert_eq!(answer.header("content-type"), served, "{name} {stated}");
            let disposition = answer.header("content-disposition");
            assert!(disposition.starts_with("attachment; filename*=UTF-8''a%2E"), "{disposition}");
            assert_eq!(answer.header("x-content-type-options"), "nosniff");
            assert_eq!(answer.header("content-security-policy"), "sandbox; default-src 'none'");
            assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin");
            assert_eq!(answer.header("cache-control"), "private, no-store");
            if method == "HEAD" {
                assert_eq!(
                    (answer.header("content-length"), answer.body.len()),
                    (&*content.len().to_string(), 0)
                );
            } else {
                assert_eq!(answer.body, content);
            }
        }
    }
}

#[tokio::test]
async fn a_file_name_cannot_add_a_header_or_a_parameter() {
    let service = serve(builder(Memory::default()).1);
    for (name, disposition, kept) in [
        (
            "a%0d%0aSet-Cookie:%20x=1",
            "attachment; filename*=UTF-8''aSet%2DCookie%3A%20x%3D1",
            json!("aSet-Cookie: x=1"),
        ),
        ("a%22;%20b.png", "attachment; filename*=UTF-8''a%22%3B%20b%2Epng", json!("a\"; b.png")),
        ("..%2F..%2Fetc%2Fpasswd", "attachment; filename*=UTF-8''passwd", json!("passwd")),
        ("my+chart%2B.png", "attachment; filename*=UTF-8''my%20chart%2B%2Epng", json!("my chart+.png")),
        ("gr%C3%B6%C3%9Fe.png", "attachment; filename*=UTF-8''gr%C3%B6%C3%9Fe%2Epng", json!("größe.png")),
        ("%FF%00", "attachment; filename*=UTF-8''%EF%BF%BD", json!("\u{fffd}")),
        ("..", "attachment", serde_json::Value::Null),
    ] {
        let file = upload(&service, &format!("/files?filename={name}"), "image/png", PNG).await.file();
        assert_eq!(file["filename"], kept);
        let answer = get(&service, "ann", file["url"].as_str().unwrap()).await;
        assert_eq!(answer.header("content-disposition"), disposition);
        assert!(!answer.headers.contains_key(header::SET_COOKIE));
    }
}

#[tokio::test]
async fn the_download_of_a_file_that_is_too_short_fails() {
    use http_body_util::BodyExt;

    let store = Memory::default();
    let service = serve(builder(store.clone()).1);
    let file = upload_as(&service, "ann", "/files", "image/png", &PNG.repeat(1_000)).await.file();
    for (_, chunks) in store.0.lock().unwrap().files.values_mut() {
        chunks.pop();
    }
    let response = service.handle(request("ann", "GET", file["url"].as_str().unwrap(), "")).await;
    assert_eq!(response.status(), 200);
    assert!(response.into_body().collect().await.is_err());
}

#[tokio::test]
async fn a_file_that_is_deleted_while_it_is_looked_up_is_answered_like_an_unknown_one() {
    let store = Memory::default();
    let service = serve(builder(store.clone()).1);
    let url = upload(&service, "/files", "image/png", PNG).await.file()["url"].as_str().unwrap().to_owned();
    store.0.lock().unwrap().is_emptied = true;
    assert_eq!(get(&service, "ann", &url).await.error(), (404, "not_found".to_owned()));
}

#[tokio::test]
async fn a_store_may_yield_empty_chunks() {
    let store = Memory::default();
    let service = serve(builder(store.clone()).1);
    let file = upload(&service, "/files", "image/png", PNG).await.file();
    for (_, chunks) in store.0.lock().unwrap().files.values_mut() {
        chunks.insert(0, Bytes::new());
    }
    let answer = get(&service, "ann", file["url"].as_str().unwrap()).await;
    assert_eq!((answer.status, &*answer.body), (200, PNG));
}

#[tokio::test]
async fn only_the_owner_deletes_a_file() {
    let store = Memory::default();
    let service = serve(builder(store.clone()).1);
    let url = upload(&service, "/files", "image/png", PNG).await.file()["url"].as_str().unwrap().to_owned();
    let unknown = get(&service, "ann", "/files/file_00000000000000000000000000000000").await;
    let delete = async |user| Answer::of(service.handle(request(user, "DELETE", &url, "")).await).await;

    let mut foreign = request("ann", "DELETE", &url, "");
    foreign.headers_mut().insert("sec-fetch-site", "cross-site".parse().unwrap());
    let foreign = Answer::of(service.handle(foreign).await).await;
    assert_eq!(foreign.error(), (403, "origin_not_allowed".to_owned()));
    let bob = delete("bob").await;
    assert_eq!((bob.status, &bob.body, &bob.headers), (404, &unknown.body, &unknown.headers));
    assert_eq!(store.len(), 1);

    let ann = delete("ann").await;
    assert_eq!((ann.status, ann.body.len(), store.len()), (204, 0, 0));
    for gone in [delete("ann").await, get(&service, "ann", &url).await] {
        assert_eq!((gone.status, &gone.body, &gone.headers), (404, &unknown.body, &unknown.headers));
    }
}

#[tokio::test]
async fn a_delete_that_fails_is_answered_503() {
    let store = Memory::default();
    let service = serve(builder(store.clone()).1);
    let url = upload(&service, "/files", "image/png", PNG).await.file()["url"].as_str().unwrap().to_owned();
    store.0.lock().unwrap().fails = true;
    let answer = Answer::of(service.handle(request("ann", "DELETE", &url, "")).await).await;
    assert_eq!(answer.error(), (503, "files_unavailable".to_owned()));
}
