//! Tests of uploads with the file as the body.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{Request, header};
use http_body::{Body, Frame};
use http_body_util::StreamBody;
use hyper_util::rt::TokioIo;
use omniassist_server::http::MountPath;
use omniassist_server::{Assistant, Principal};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

use super::store::Memory;
use super::{Answer, PDF, PNG, builder, get, request, serve, upload, upload_as};

#[tokio::test]
async fn an_upload_returns_a_file_part_and_can_be_downloaded() {
    let service = serve(builder(Memory::default()).1);
    let answer = upload(&service, "/files?filename=Q3%20chart.png", "image/png", PNG).await;
    let file = answer.file();
    let id = file["id"].as_str().unwrap();
    assert!(id.starts_with("file_") && id.len() == 37, "{id}");
    let mut expected = json!({
        "type": "file", "id": id, "url": format!("/files/{id}"), "mediaType": "image/png",
        "filename": "Q3 chart.png", "size": PNG.len(),
    });
    expected["expiresAt"] = file["expiresAt"].clone();
    assert!(file["expiresAt"].is_u64());
    assert_eq!(file, expected);

    let content = get(&service, "ann", &format!("/files/{id}")).await;
    assert_eq!((content.status, &content.body[..]), (200, PNG));
    assert_eq!(content.header("content-type"), "image/png");
}

#[tokio::test]
async fn the_url_begins_with_the_path_of_the_mount_point() {
    let service = serve(builder(Memory::default()).1);
    for (mount, begins) in
        [("/assistant/", "/assistant/files/"), ("https://a.example/b", "https://a.example/b/files/")]
    {
        let mut request = request("ann", "POST", "/files", PNG);
        request.extensions_mut().insert(MountPath::new(mount));
        let file = Answer::of(service.handle(request).await).await.file();
        assert!(file["url"].as_str().unwrap().starts_with(begins), "{file}");
    }
}

#[tokio::test]
async fn the_media_type_comes_from_the_content() {
    let (_, builder) = builder(Memory::default());
    let mut limits = omniassist_server::files::FileLimits::default();
    limits.media_types = vec!["*/*".to_owned()];
    let service = serve(builder.file_limits(limits));
    let html = b"<html><script>alert(1)</script>";
    let svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>";
    let cases: [(&str, &str, &[u8], &str); 14] = [
        ("a.html", "text/html", PNG, "image/png"),
        ("a.png", "image/png", html, "text/html"),
        ("a.png", "image/png", svg, "image/svg+xml"),
        ("a", "image/png", b"MZ\x90\0\x03\0\0\0\x04\0\0\0", "application/vnd.microsoft.portable-executable"),
        ("a.pdf", "application/pdf", b"\0\x01\x02\x03", "application/octet-stream"),
        ("a.pdf", "application/pdf", b"just text", "text/plain"),
        ("a.pdf", "text/plain", PDF, "application/pdf"),
        ("a.md", "", b"# Title", "text/markdown"),
        ("a.csv", "text/plain", b"a,b\n1,2\n", "text/csv"),
        ("a", "application/json", b"{}", "application/json"),
        ("a.txt", "", b"BMW is no bitmap", "text/plain"),
        ("a.txt", "text/plain", html, "text/plain"),
        ("a.js", "text/javascript", b"alert(1)", "text/javascript"),
        ("a", "not a type", "größer".as_bytes(), "text/plain"),
    ];
    for (name, stated, content, found) in cases {
        let answer = upload(&service, &format!("/files?filename={name}"), stated, content).await;
        assert_eq!(answer.file()["mediaType"], found, "{name} {stated}");
    }
}

const PIECE: usize = 300_000;

/// Returns a body of this many bytes that creates its pieces when it is polled and counts them.
fn counting(size: usize, made: &Arc<AtomicUsize>) -> impl Body<Data = Bytes, Error = Infallible> + use<> {
    let made = Arc::clone(made);
    let pieces = (0..size).step_by(PIECE).map(move |at| {
        let mut piece = vec![b' '; PIECE.min(size - at)];
        if made.fetch_add(piece.len(), Ordering::Relaxed) == 0 {
            piece[..PDF.len()].copy_from_slice(PDF);
        }
        Ok(Frame::data(piece.into()))
    });
    StreamBody::new(stream::iter(pieces))
}

#[tokio::test]
async fn a_large_upload_reaches_the_store_in_chunks_of_64_kib_while_it_arrives() {
    let store = Memory::default();
    store.0.lock().unwrap().discards = true;
    let service = serve(builder(store.clone()).1);
    let made = Arc::new(AtomicUsize::new(0));
    let size = 50 << 20;
    let body = counting(size, &made);
    let mut request = Request::post("/files").body(body).unwrap();
    request.extensions_mut().insert(Principal::new("ann"));
    let answer = Answer::of(service.handle(request).await).await;
    assert_eq!(answer.file()["size"], size);
    let chunks = store.0.lock().unwrap().chunks.clone();
    assert_eq!(chunks.iter().sum::<usize>(), size);
    assert!(chunks.iter().all(|chunk| *chunk <= 64 * 1024), "{:?}", chunks.iter().max());
}

#[tokio::test]
async fn an_upload_of_a_refused_type_leaves_no_file() {
    let store = Memory::default();
    let service = serve(builder(store.clone()).1);
    let made = Arc::new(AtomicUsize::new(0));
    let body = counting(40 << 20, &made);
    // The first piece is a PDF, which this assistant does not accept.
    let mut limits = omniassist_server::files::FileLimits::default();
    limits.media_types = vec!["image/*".to_owned()];
    let images = serve(builder(store.clone()).1.file_limits(limits));
    let mut request = Request::post("/files").header(header::EXPECT, "100-continue").body(body).unwrap();
    request.extensions_mut().insert(Principal::new("ann"));
    let answer = Answer::of(images.handle(request).await).await;
    assert_eq!(answer.error(), (415, "file_type_not_allowed".to_owned()));
    assert_eq!(answer.json()["error"]["found"], "application/pdf");
    // The rest is received and discarded, so that the client reads the answer.
    assert_eq!(made.load(Ordering::Relaxed), 40 << 20);
    assert_eq!(store.0.lock().unwrap().given, 0);

    let active = upload(&service, "/files", "text/html", b"<html>").await;
    assert_eq!(active.error(), (415, "file_type_not_allowed".to_owned()));
    assert_eq!((store.len(), store.0.lock().unwrap().open), (0, 0));
}

#[tokio::test]
async fn an_upload_needs_a_principal_before_its_body_is_read() {
    let service = serve(builder(Memory::default()).1);
    let made = Arc::new(AtomicUsize::new(0));
    let body = counting(1 << 20, &made);
    let request = Request::post("/files").header(header::EXPECT, "100-continue").body(body).unwrap();
    let answer = Answer::of(service.handle(request).await).await;
    assert_eq!(answer.error(), (401, "unauthenticated".to_owned()));
    assert_eq!(made.load(Ordering::Relaxed), 0);

    let mut foreign = super::request("ann", "POST", "/files", PNG);
    foreign.headers_mut().insert("sec-fetch-site", "cross-site".parse().unwrap());
    let answer = Answer::of(service.handle(foreign).await).await;
    assert_eq!(answer.error(), (403, "origin_not_allowed".to_owned()));
}

#[tokio::test]
async fn an_assistant_without_a_store_has_no_routes_for_files() {
    let model = omniassist_server::testing::ScriptedProvider::new();
    let service = serve(Assistant::builder(model));
    let unknown = get(&service, "ann", "/nothing-here").await;
    for (method, path) in
        [("POST", "/files"), ("GET", "/files"), ("GET", "/files/file_0"), ("DELETE", "/files/file_0")]
    {
        let answer = Answer::of(service.handle(request("ann", method, path, "")).await).await;
        assert_eq!((answer.status, &answer.body, &answer.headers), (404, &unknown.body, &unknown.headers));
    }
    let with_store = serve(builder(Memory::default()).1);
    let answer = Answer::of(with_store.handle(request("ann", "GET", "/files", "")).await).await;
    assert_eq!((answer.status, answer.header("allow")), (405, "POST"));
}

#[tokio::test]
async fn a_store_error_is_answered_503_without_its_text() {
    let store = Memory::default();
    let service = serve(builder(store.clone()).1);
    let file = upload(&service, "/files", "image/png", PNG).await.file();
    store.0.lock().unwrap().fails = true;
    let up = upload_as(&service, "ann", "/files", "image/png", PNG).await;
    let down = get(&service, "ann", file["url"].as_str().unwrap()).await;
    for answer in [up, down] {
        assert_eq!(answer.error(), (503, "files_unavailable".to_owned()));
        assert!(!String::from_utf8_lossy(&answer.body).contains("store-secret"));
    }
}

#[tokio::test]
async fn a_client_that_reads_after_its_upload_learns_why_it_was_refused() {
    let service = serve(builder(Memory::default()).1.allow_anonymous());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (socket, _) = listener.accept().await.unwrap();
        let service = hyper::service::service_fn(move |request| {
            let service = service.clone();
            async move { Ok::<_, Infallible>(service.handle(request).await) }
        });
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(socket), service).await
    });
    let mut client = TcpStream::connect(address).await.unwrap();
    let size = 30 << 20;
    let head = format!(
        "POST /files HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: video/mp4\r\ncontent-length: {size}\r\n\r\n"
    );
    client.write_all(head.as_bytes()).await.unwrap();
    client.write_all(&vec![0; size]).await.unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 415") && answer.contains("file_type_not_allowed"), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_refused_upload_may_keep_its_pace() {
    let service = serve(builder(Memory::default()).1);
    let made = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&made);
    let pieces = stream::iter(0..10).then(move |_| {
        let counted = Arc::clone(&counted);
        async move {
            sleep(Duration::from_secs(10)).await;
            counted.fetch_add(PIECE, Ordering::Relaxed);
            Ok::<_, Infallible>(Frame::data(Bytes::from(vec![0; PIECE])))
        }
    });
    let mut request = Request::post("/files").body(StreamBody::new(Box::pin(pieces))).unwrap();
    request.extensions_mut().insert(Principal::new("ann"));
    let answer = Answer::of(service.handle(request).await).await;
    assert_eq!(answer.error(), (415, "file_type_not_allowed".to_owned()));
    assert_eq!(made.load(Ordering::Relaxed), 10 * PIECE);
}

/// A body whose writer in the store takes longer than the client may.
#[tokio::test(start_paused = true)]
async fn the_time_of_the_store_does_not_count_as_the_clients() {
    let store = Memory::default();
    store.0.lock().unwrap().sleeps = Some(Duration::from_secs(61));
    let service = serve(builder(store).1);
    let mut png = PNG.to_vec();
    png.resize(PIECE, 0);
    let pieces = stream::iter([Bytes::from(png), Bytes::from_static(b"end")]).then(|piece| async {
        // Each piece is pending at first.
        sleep(Duration::from_millis(1)).await;
        Ok::<_, Infallible>(Frame::data(piece))
    });
    let mut request = Request::post("/files").body(StreamBody::new(Box::pin(pieces))).unwrap();
    request.extensions_mut().insert(Principal::new("ann"));
    assert_eq!(Answer::of(service.handle(request).await).await.file()["size"], PIECE + 3);
}
