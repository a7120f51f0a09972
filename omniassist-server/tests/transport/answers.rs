use futures_util::future::join_all;

use super::*;

#[tokio::test]
async fn an_answer_is_the_same_in_any_chunking() {
    let body = body("START hello : wörld END");
    for bytes in [1, 2, 3, 7, 1_000] {
        let server = serve([Reply::sse(body.clone()).chunked_by(bytes)]).await;
        let heard = hear_with(&server, limits()).await;
        assert_eq!(heard.said, ["hello", "wörld", "<end>"], "{bytes}");
        assert!(heard.is_whole());
    }
}

#[tokio::test]
async fn every_framing_of_a_body_is_read() {
    let good = || Reply::sse(body("hello END"));
    for reply in [
        good(),
        good().content_length(2 * EVENT as u64),
        good().until_close(),
        good().close(),
        good().header("content-type", "text/plain"),
        good().header("content-encoding", "identity"),
    ] {
        let server = serve([reply.clone()]).await;
        assert!(hear_with(&server, limits()).await.is_whole(), "{reply:?}");
    }
}

#[tokio::test]
async fn a_body_can_be_as_large_as_the_limit_but_not_larger() {
    let body = body("hello END");
    for piece in [1, 4, 1_000] {
        for (room, whole) in [(body.len(), true), (body.len() - 1, false)] {
            let mut limits = limits();
            limits.max_response_bytes = room;
            let server = serve([Reply::sse(body.clone()).chunked_by(piece)]).await;
            let heard = hear_with(&server, limits).await;
            assert_eq!(heard.is_whole(), whole, "{room}: {heard:?}");
            if !whole {
                assert_eq!(heard.kind(), Some(ProviderErrorKind::TooLarge));
                assert_eq!(heard.said, ["hello"], "text within the limit must be kept in every chunking");
            }
        }
    }
}

#[tokio::test]
async fn an_endless_answer_ends_at_the_limit_and_the_connection_is_closed() {
    let mut limits = limits();
    limits.max_response_bytes = 100_000;
    let server = serve([Reply::sse(body(":")).endless()]).await;
    let heard = hear_with(&server, limits).await;
    assert_eq!(heard.kind(), Some(ProviderErrorKind::TooLarge));
    server.closed().await;
    assert_eq!(server.requests().len(), 1, "not repeated");
}

#[tokio::test]
async fn the_status_determines_the_error_kind() {
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
        let detail = error.detail().unwrap();
        assert!(detail.contains("no good") && !detail.contains(KEY), "{detail}");
        assert_eq!(server.requests().len(), 1, "not repeated");
    }
}

#[tokio::test]
async fn a_page_with_a_success_status_is_an_error() {
    let page = format!("<html>{}</html>", "é".repeat(4_000));
    let server = serve([Reply::html(200, page)]).await;
    let heard = hear_with(&server, limits()).await;
    assert_eq!(heard.kind(), Some(ProviderErrorKind::Protocol));
    let detail = heard.error().detail().unwrap();
    assert!(detail.starts_with("<html>é") && detail.len() <= 2_048, "{}", detail.len());
    assert!(!heard.error().to_string().contains("html"));
}

#[tokio::test]
async fn a_body_with_an_unsupported_compression_is_an_error() {
    for encoding in ["br", "deflate", "zstd", "gzip, br"] {
        let server = serve([Reply::sse(body("END")).header("content-encoding", encoding)]).await;
        assert_eq!(
            hear_with(&server, limits()).await.kind(),
            Some(ProviderErrorKind::Protocol),
            "{encoding}"
        );
    }
}

#[tokio::test]
async fn json_with_a_success_status_is_an_error() {
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
async fn events_that_are_declared_as_json_are_read_as_they_arrive() {
    for start in ["", ": a comment\n\n", "\n"] {
        let reply = Reply::sse(format!("{start}{}", body("START hello world END")));
        let reply = reply.header("content-type", "application/json");
        let server =
            serve([reply.clone().chunked_by(1), reply.clone(), reply.stall_after(start.len() + 2 * EVENT)])
                .await;
        for _ in 0..2 {
            let heard = hear_with(&server, once()).await;
            assert_eq!(
                (heard.said.concat().as_str(), heard.is_whole()),
                ("helloworld<end>", true),
                "{start:?}"
            );
        }
        let mut stream = ask(&server.base_url(), once());
        assert_eq!(next(&mut stream).await.as_deref(), Some("hello"), "{start:?}");
    }
}

#[tokio::test]
async fn a_cut_answer_is_interrupted_and_its_text_is_kept() {
    let (cut, body) = (EVENT + 40, body("hello world END"));
    for reply in [
        Reply::sse(body.clone()).cut_after(cut),
        Reply::sse(body.clone()).reset_after(cut),
        Reply::sse(body[..EVENT].to_owned()).content_length(500),
        Reply::sse(body[..cut].to_owned()).until_close(),
    ] {
        // The reply is sent in pieces, so that a reset cannot overtake the bytes before it.
        let server = serve([reply.clone().chunked_by(EVENT).pace(Duration::from_millis(20))]).await;
        let heard = hear_with(&server, limits()).await;
        assert_eq!(heard.kind(), Some(ProviderErrorKind::Interrupted), "{reply:?}");
        assert_eq!(heard.said, ["hello"], "{reply:?}");
        assert_eq!(server.requests().len(), 1, "not repeated");
    }
}

#[tokio::test]
async fn after_the_finish_neither_a_lost_connection_nor_silence_is_a_failure() {
    for reply in [
        Reply::sse(body("hello END :")).reset_after(2 * EVENT + 1),
        Reply::sse(body("hello END :")).cut_after(2 * EVENT + 1),
        Reply::sse(body("hello END")).stall_after(2 * EVENT),
    ] {
        let server = serve([reply.clone()]).await;
        let heard = hear_with(&server, limits()).await;
        assert!(heard.is_whole(), "{reply:?}: {heard:?}");
        assert!(heard.took < Duration::from_secs(4), "{:?}", heard.took);
    }
}

#[tokio::test]
async fn requests_accept_no_compression_and_have_a_user_agent() {
    let server = serve([Reply::sse(body("END"))]).await;
    assert!(hear_with(&server, limits()).await.is_whole());
    let sent = server.request(1).await;
    assert_eq!(sent.header("user-agent"), Some(concat!("omniassist/", env!("CARGO_PKG_VERSION"))));
    assert_eq!(sent.header("accept-encoding"), Some("identity"));
}

#[tokio::test]
async fn sequential_requests_share_a_connection() {
    let server = serve([]).await;
    server.otherwise(Reply::sse(body("hello END")));
    let provider = provider(&server.base_url(), limits());
    for _ in 0..5 {
        assert!(hear(provider.stream(hello())).await.is_whole());
    }
    assert!(server.events().iter().all(|event| event.connection == 0));
}

#[tokio::test]
async fn many_streams_run_concurrently() {
    let server = serve([]).await;
    server.otherwise(Reply::sse(body("a b c END")).chunked_by(EVENT).pace(Duration::from_millis(1)));
    let provider = provider(&server.base_url(), limits());
    for heard in join_all((0..50).map(|_| hear(provider.stream(hello())))).await {
        assert_eq!(heard.said, ["a", "b", "c", "<end>"]);
    }
}

/// The code of an error is read only if its JSON is complete.
#[tokio::test]
async fn an_error_body_is_read_up_to_65_536_bytes() {
    for (length, code) in [(65_536, Some("told")), (65_537, None)] {
        let frame = r#"{"error":{"message":"","code":"told"}}"#.len();
        let message = "x".repeat(length - frame);
        let error = format!(r#"{{"error":{{"message":"{message}","code":"told"}}}}"#);
        assert_eq!(error.len(), length);
        let server = serve([Reply::html(400, error).chunked_by(10_000)]).await;
        assert_eq!(hear_with(&server, limits()).await.error().code(), code, "{length}");
    }
}

#[tokio::test]
async fn an_error_shows_its_cause_and_no_key() {
    let heard = hear(ask("http://127.0.0.1:9/v1", limits())).await;
    assert_eq!(heard.kind(), Some(ProviderErrorKind::Connect));
    let mut shown = format!("{} {:?}", heard.error(), heard.error());
    let mut source = std::error::Error::source(heard.error());
    assert!(source.is_some(), "the cause must be kept");
    while let Some(error) = source {
        shown.push_str(&format!(" {error} {error:?}"));
        source = error.source();
    }
    assert!(!shown.contains(KEY), "{shown}");
}

#[test]
fn a_stream_that_is_polled_outside_a_runtime_fails() {
    let mut stream = ask("http://127.0.0.1:1/v1", limits());
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(Some(Err(error))) = stream.poll_next_unpin(&mut cx) else {
        panic!("the stream must not wait");
    };
    assert!(error.is_configuration());
}
