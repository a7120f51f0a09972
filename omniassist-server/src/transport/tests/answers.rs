use futures_util::future::join_all;
use serde_json::json;

use super::*;

#[tokio::test]
async fn an_answer_is_the_same_in_any_chunking() {
    let body = "START\nhello\n: a comment\nwörld\nEND\n";
    for bytes in [1, 2, 3, 7, 1_000] {
        let server = serve([Reply::sse(body).chunked_by(bytes)]).await;
        let heard = hear_with(&server, limits()).await;
        assert_eq!(heard.said, ["<start>", "hello", "wörld", "<end>"], "{bytes}");
        assert!(heard.is_whole());
    }
}

#[tokio::test]
async fn every_framing_of_a_body_is_read() {
    let body = "hello\nEND\n";
    for reply in [
        Reply::sse(body),
        Reply::sse(body).content_length(body.len() as u64),
        Reply::sse(body).until_close(),
        Reply::sse(body).close(),
        Reply::sse(body).header("content-type", "text/plain"),
        Reply::sse(body).header("content-encoding", "identity"),
    ] {
        let server = serve([reply.clone()]).await;
        assert!(hear_with(&server, limits()).await.is_whole(), "{reply:?}");
    }
}

#[tokio::test]
async fn the_request_is_sent_as_it_was_given() {
    let server = serve([Reply::sse("END\n")]).await;
    assert!(hear_with(&server, limits()).await.is_whole());
    let sent = server.request(1).await;
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", "/v1/lines?v=1"));
    assert_eq!(sent.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(sent.header("user-agent"), Some(concat!("omniassist/", env!("CARGO_PKG_VERSION"))));
    assert_eq!(sent.header("accept-encoding"), Some("identity"), "nothing compressed is asked for");
    assert_eq!(&*sent.body, b"{}");
}

#[tokio::test]
async fn an_answer_read_to_its_end_leaves_a_connection_for_the_next() {
    let server = serve([]).await;
    server.otherwise(Reply::sse("hello\nEND\n"));
    let transport = Transport::new(limits(), &server.base_url(), &[]).unwrap();
    for _ in 0..5 {
        let heard =
            hear(transport.stream(request(&server.base_url()), || Box::new(Lines::default()), read_error));
        assert!(heard.await.is_whole());
    }
    let connected = server.events().iter().filter(|event| event.connection > 0).count();
    assert_eq!(connected, 0, "five requests, one connection");
}

#[tokio::test]
async fn many_streams_run_at_once() {
    let server = serve([]).await;
    server.otherwise(Reply::sse("a\nb\nc\nEND\n").chunked_by(2).pace(Duration::from_millis(1)));
    let transport = Transport::new(limits(), &server.base_url(), &[]).unwrap();
    let streams = (0..50).map(|_| {
        hear(transport.stream(request(&server.base_url()), || Box::new(Lines::default()), read_error))
    });
    for heard in join_all(streams).await {
        assert_eq!(heard.said, ["a", "b", "c", "<end>"]);
    }
}

#[tokio::test]
async fn a_body_may_be_as_large_as_the_limit_and_no_larger() {
    let body = "hello\nEND\n";
    for piece in [1, 4, 1_000] {
        for (room, whole) in [(body.len(), true), (body.len() - 1, false)] {
            let mut limits = limits();
            limits.max_response_bytes = room;
            let server = serve([Reply::sse(body).chunked_by(piece)]).await;
            let heard = hear_with(&server, limits).await;
            assert_eq!(heard.is_whole(), whole, "{room}: {heard:?}");
            if !whole {
                assert_eq!(heard.kind(), Some(ProviderErrorKind::TooLarge));
                assert_eq!(heard.said, ["hello"], "what lies within the limit is kept, however it was cut");
            }
        }
    }
}

#[tokio::test]
async fn an_endless_answer_ends_at_the_limit_and_the_connection_is_closed() {
    let mut limits = limits();
    limits.max_response_bytes = 100_000;
    let server = serve([Reply::sse(": x\n").endless()]).await;
    let heard = hear_with(&server, limits).await;
    assert_eq!(heard.kind(), Some(ProviderErrorKind::TooLarge));
    server.closed().await;
    assert_eq!(server.requests().len(), 1, "not repeated");
}

#[tokio::test]
async fn a_status_says_what_went_wrong() {
    let body = json!({"error": {"message": format!("no good: {KEY}")}});
    for (status, kind) in [
        (400, ProviderErrorKind::Response),
        (401, ProviderErrorKind::Auth),
        (403, ProviderErrorKind::Auth),
        (404, ProviderErrorKind::Response),
        (422, ProviderErrorKind::Response),
    ] {
        let reply = Reply::json(status, &body).header("x-request-id", "req_7").header("retry-after", "3");
        let server = serve([reply]).await;
        let heard = hear_with(&server, limits()).await;
        assert_eq!((heard.kind(), heard.said.len()), (Some(kind), 0), "{status}");
        let error = heard.error();
        assert_eq!(error.status(), Some(status));
        assert_eq!(error.provider_request_id(), Some("req_7"));
        assert_eq!(error.retry_after(), Some(Duration::from_secs(3)));
        assert!(error.detail().unwrap().contains("no good: [redacted]"), "{:?}", error.detail());
        assert_eq!(server.requests().len(), 1, "not repeated");
    }
}

#[tokio::test]
async fn redirects_are_refused() {
    for status in [301, 302, 303, 307, 308] {
        let reply = Reply::status(status).header("location", "/elsewhere?key=secret");
        let server = serve([reply]).await;
        let heard = hear_with(&server, limits()).await;
        assert_eq!(heard.kind(), Some(ProviderErrorKind::Response));
        assert_eq!(heard.error().status(), Some(status));
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_page_under_a_good_status_is_an_error() {
    let page = format!("<html>{}</html>", "é".repeat(4_000));
    let server = serve([Reply::html(200, page)]).await;
    let heard = hear_with(&server, limits()).await;
    assert_eq!(heard.kind(), Some(ProviderErrorKind::Protocol));
    let detail = heard.error().detail().unwrap();
    assert!(detail.starts_with("<html>é") && detail.len() <= 2_048, "{}", detail.len());
    assert!(!heard.error().to_string().contains("html"));
}

#[tokio::test]
async fn a_body_compressed_in_a_way_that_nobody_asked_for_is_an_error() {
    for encoding in ["br", "deflate", "zstd", "gzip, br"] {
        let server = serve([Reply::sse("END\n").header("content-encoding", encoding)]).await;
        assert_eq!(
            hear_with(&server, limits()).await.kind(),
            Some(ProviderErrorKind::Protocol),
            "{encoding}"
        );
    }
}

#[tokio::test]
async fn json_under_a_good_status_is_the_error_it_carries() {
    for (body, kind, status) in [
        (json!({"error": {"message": "no", "code": 401}}), ProviderErrorKind::Auth, 401),
        (json!({"error": {"message": "no"}, "status": 403}), ProviderErrorKind::Auth, 403),
        (json!({"error": {"message": "no"}}), ProviderErrorKind::Response, 200),
        (json!({"output": [], "error": {"code": 401}}), ProviderErrorKind::Auth, 401),
        (json!({"choices": [{"message": {"content": "hi"}}]}), ProviderErrorKind::Protocol, 200),
        (json!([]), ProviderErrorKind::Response, 200),
    ] {
        let server = serve([Reply::json(200, &body)]).await;
        let heard = hear_with(&server, limits()).await;
        assert_eq!((heard.kind(), heard.error().status()), (Some(kind), Some(status)), "{body}");
        assert!(heard.said.is_empty());
    }
}

#[tokio::test]
async fn an_error_body_is_read_up_to_its_cap() {
    fn sees_length(_: u16, body: &[u8]) -> Error {
        Error::provider(ProviderErrorKind::Response).with_code(body.len().to_string())
    }
    let html = |sent: usize| Reply::html(400, "x".repeat(sent)).chunked_by(10_000);
    for (reply, read) in [
        (html(65_535), "65535"),
        (html(65_536), "65536"),
        (html(65_537), "65536"),
        (html(200_000), "65536"),
        (html(10_000).endless(), "65536"),
    ] {
        let server = serve([reply.clone()]).await;
        let transport = Transport::new(limits(), &server.base_url(), &[]).unwrap();
        let stream =
            transport.stream(request(&server.base_url()), || Box::new(Lines::default()), sees_length);
        let heard = hear(stream).await;
        assert_eq!(heard.error().code(), Some(read));
        assert!(heard.took < Duration::from_secs(3), "the cap ends it, not the deadline: {:?}", heard.took);
    }
}

#[tokio::test]
async fn a_cut_answer_is_interrupted_and_what_came_is_kept() {
    let body = "hello\nworld\nEND\n";
    for reply in [
        Reply::sse(body).cut_after(9),
        Reply::sse(body).reset_after(9),
        Reply::sse("hello\n").content_length(50),
        Reply::sse("hello\nwor").until_close(),
    ] {
        // Pieces, so that a reset cannot overtake what was sent before it.
        let server = serve([reply.clone().chunked_by(6).pace(Duration::from_millis(20))]).await;
        let heard = hear_with(&server, limits()).await;
        assert_eq!(heard.kind(), Some(ProviderErrorKind::Interrupted), "{reply:?}");
        assert_eq!(heard.said, ["hello"], "{reply:?}");
        assert_eq!(server.requests().len(), 1, "not repeated");
    }
}

#[tokio::test]
async fn after_the_finish_neither_a_lost_connection_nor_silence_is_a_failure() {
    for reply in [
        Reply::sse("hello\nEND\n: more").reset_after(11),
        Reply::sse("hello\nEND\n: more").cut_after(11),
        Reply::sse("hello\nEND\n").stall_after(10),
    ] {
        let server = serve([reply.clone()]).await;
        let heard = hear_with(&server, limits()).await;
        assert!(heard.is_whole(), "{reply:?}: {heard:?}");
        assert!(heard.took < Duration::from_secs(4), "{:?}", heard.took);
    }
}

#[tokio::test]
async fn nothing_shows_the_key_or_the_query() {
    let closed = "http://127.0.0.1:9/v1";
    let heard = hear(ask(closed, limits())).await;
    assert_eq!(heard.kind(), Some(ProviderErrorKind::Connect));
    let mut shown = format!("{} {:?}", heard.error(), heard.error());
    let mut source = std::error::Error::source(heard.error());
    assert!(source.is_some(), "the cause is kept");
    while let Some(error) = source {
        shown.push_str(&format!(" {error} {error:?}"));
        source = error.source();
    }
    let transport = Transport::new(limits(), closed, &[]).unwrap();
    shown.push_str(&format!("{transport:?} {:?}", request(closed)));
    for secret in [KEY, "lines?v=1"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}
