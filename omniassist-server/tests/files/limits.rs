//! Tests of the limits of files, each at the limit and one above it.

use std::convert::Infallible;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::Request;
use http_body::Frame;
use http_body_util::StreamBody;
use omniassist_server::Principal;
use omniassist_server::core::Limits;
use omniassist_server::files::FileLimits;
use omniassist_server::http::AssistantService;

use super::store::Memory;
use super::{Answer, PNG, builder, get, serve, upload, upload_as};

fn with(store: &Memory, set: impl FnOnce(&mut FileLimits)) -> AssistantService {
    let mut limits = FileLimits::default();
    set(&mut limits);
    serve(builder(store.clone()).1.file_limits(limits))
}

fn png(size: usize) -> Vec<u8> {
    let mut png = PNG.to_vec();
    png.resize(size, 0);
    png
}

/// Uploads a body of unknown length. Without `ends`, the body stays open after its bytes.
async fn unannounced(service: &AssistantService, user: &str, bytes: Vec<u8>, ends: bool) -> Answer {
    let bytes = stream::iter([Ok::<_, Infallible>(Frame::data(Bytes::from(bytes)))]);
    let end = stream::poll_fn(move |_| if ends { Poll::Ready(None) } else { Poll::Pending });
    let mut request = Request::post("/files").body(StreamBody::new(bytes.chain(end))).unwrap();
    request.extensions_mut().insert(Principal::new(user));
    Answer::of(service.handle(request).await).await
}

#[tokio::test]
async fn a_file_has_at_most_max_file_bytes() {
    let store = Memory::default();
    let service = with(&store, |limits| limits.max_file_bytes = 10_000);
    assert_eq!(upload(&service, "/files", "", &png(10_000)).await.file()["size"], 10_000);
    assert_eq!(unannounced(&service, "ann", png(10_000), true).await.status, 201);
    for answer in [
        upload(&service, "/files", "", &png(10_001)).await,
        unannounced(&service, "ann", png(10_001), true).await,
    ] {
        assert_eq!(answer.error(), (413, "file_too_large".to_owned()));
        let limit = serde_json::json!({ "name": "max_file_bytes", "value": 10_000 });
        assert_eq!(answer.json()["error"]["limit"], limit);
    }
    assert_eq!((store.len(), store.0.lock().unwrap().open), (2, 0));
    assert_eq!(upload(&service, "/files", "", b"").await.error(), (400, "empty_file".to_owned()));
}

#[tokio::test]
async fn a_principal_cannot_exceed_its_quota() {
    let store = Memory::default();
    let service = with(&store, |limits| {
        limits.max_files_per_principal = 2;
        limits.max_bytes_per_principal = 10_000;
    });
    assert_eq!(upload(&service, "/files", "", &png(6_000)).await.status, 201);
    for answer in [
        upload(&service, "/files", "", &png(4_001)).await,
        unannounced(&service, "ann", png(4_001), true).await,
    ] {
        assert_eq!(answer.error(), (403, "file_quota_exceeded".to_owned()));
        assert_eq!(answer.json()["error"]["limit"]["name"], "max_bytes_per_principal");
    }
    assert_eq!(upload(&service, "/files", "", &png(4_000)).await.status, 201);
    let third = upload(&service, "/files", "", PNG).await;
    assert_eq!(third.json()["error"]["limit"]["name"], "max_files_per_principal");
    assert_eq!(upload_as(&service, "bob", "/files", "", &png(10_000)).await.status, 201);
    store.expire();
    assert_eq!(upload(&service, "/files", "", &png(10_000)).await.status, 201);
}

#[tokio::test]
async fn concurrent_uploads_share_the_quota() {
    let store = Memory::default();
    let service = with(&store, |limits| {
        limits.max_bytes_per_principal = 20_000;
        limits.max_uploads_per_principal = 100;
        limits.max_uploads = 100;
    });
    let uploads = (0..20).map(|_| {
        let service = service.clone();
        tokio::spawn(async move { upload(&service, "/files", "", &png(8_000)).await.status })
    });
    let mut stored = 0;
    for upload in uploads.collect::<Vec<_>>() {
        stored += usize::from(upload.await.unwrap() == 201);
    }
    assert_eq!((stored, store.len()), (2, 2));
}

/// Waits until the store has this many writers.
async fn until_open(store: &Memory, writers: usize) {
    while store.0.lock().unwrap().open < writers {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn uploads_in_progress_are_limited_and_slow_uploads_time_out() {
    let store = Memory::default();
    let service = with(&store, |limits| {
        limits.max_uploads_per_principal = 2;
        limits.max_uploads = 3;
    });
    let withheld = |user: &'static str| {
        let service = service.clone();
        tokio::spawn(async move { unannounced(&service, user, png(10_000), false).await })
    };
    let mut slow = vec![withheld("ann"), withheld("ann")];
    until_open(&store, 2).await;
    let own = upload(&service, "/files", "", PNG).await;
    assert_eq!(own.error(), (429, "too_many_uploads".to_owned()));
    assert_eq!(own.json()["error"]["limit"]["value"], 2);
    assert_eq!(own.header("retry-after"), "1");
    slow.push(withheld("bob"));
    until_open(&store, 3).await;
    let all = upload_as(&service, "cleo", "/files", "", PNG).await;
    assert_eq!(all.error(), (503, "overloaded".to_owned()));
    assert_eq!(store.0.lock().unwrap().open, 3);
    for slow in slow {
        assert_eq!(slow.await.unwrap().error(), (408, "body_timeout".to_owned()));
    }
    assert_eq!((store.len(), store.0.lock().unwrap().open), (0, 0));
    assert_eq!(upload(&service, "/files", "", PNG).await.status, 201);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_upload_is_discarded() {
    let store = Memory::default();
    let service = with(&store, |_| {});
    let upload = unannounced(&service, "ann", png(10_000), false);
    assert!(tokio::time::timeout(Duration::from_secs(1), upload).await.is_err());
    assert_eq!((store.len(), store.0.lock().unwrap().open), (0, 0));
}

#[tokio::test]
async fn an_upload_can_exceed_the_limit_of_other_bodies() {
    let mut limits = Limits::default();
    limits.max_body_bytes = 1_000;
    let service = serve(builder(Memory::default()).1.limits(limits));
    assert_eq!(upload(&service, "/files", "", &png(100_000)).await.status, 201);
}

#[tokio::test]
async fn a_file_expires_after_its_lifetime() {
    let store = Memory::default();
    let service = with(&store, |limits| limits.lifetime = Some(Duration::ZERO));
    let file = upload(&service, "/files", "", PNG).await.file();
    assert_eq!(get(&service, "ann", file["url"].as_str().unwrap()).await.status, 404);
    let service = with(&store, |limits| limits.lifetime = None);
    let file = upload(&service, "/files", "", PNG).await.file();
    assert!(file.get("expiresAt").is_none());
    assert_eq!(get(&service, "ann", file["url"].as_str().unwrap()).await.status, 200);
}
