use futures_util::FutureExt;

use super::*;

const SOON: Duration = Duration::from_millis(250);

/// Polls the stream for this time, drops it and returns the delay until the server noticed.
async fn notice(server: &FakeProvider, mut stream: LlmStream, wait: Duration) -> Duration {
    let deadline = tokio::time::sleep(wait);
    tokio::pin!(deadline);
    loop {
        tokio::select! {
            item = stream.next() => assert!(matches!(item, Some(Ok(_))), "{item:?}"),
            () = &mut deadline => break,
        }
    }
    let dropped = Instant::now();
    drop(stream);
    server.closed().await.saturating_duration_since(dropped)
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection_at_every_stage() {
    let text = body(&"text ".repeat(1_000));
    for reply in [
        Reply::silence(),
        Reply::sse(body("x")).stall_after(0),
        Reply::sse(body("hello END")).stall_after(EVENT),
        Reply::sse(text.clone()).chunked_by(EVENT).pace(Duration::from_millis(1)),
        Reply::html(500, "why").stall_after(2),
    ] {
        let server = serve([reply.clone()]).await;
        let took = notice(&server, ask(&server.base_url(), limits()), Duration::from_millis(100)).await;
        assert!(took <= SOON, "{took:?} for {reply:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_ignores_the_close_is_no_longer_read() {
    let server = serve([Reply::sse(body(&"more ".repeat(1_000))).endless()]).await;
    let mut stream = ask(&server.base_url(), limits());
    assert!(stream.next().await.unwrap().is_ok());
    let dropped = Instant::now();
    drop(stream);
    let took = server.closed().await.saturating_duration_since(dropped);
    assert!(took <= SOON, "{took:?}");
}

#[tokio::test]
async fn dropping_the_stream_ends_the_wait_between_attempts() {
    let server = serve([Reply::status(503).header("retry-after", "1"), Reply::sse(body("END"))]).await;
    let mut stream = ask(&server.base_url(), limits());
    assert!(tokio::time::timeout(Duration::from_millis(200), stream.next()).await.is_err());
    drop(stream);
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!((server.requests().len(), server.replies_left()), (1, 1));
}

#[tokio::test]
async fn nothing_is_sent_before_the_first_poll() {
    let server = serve([]).await;
    let stream = ask(&server.base_url(), limits());
    tokio::time::sleep(Duration::from_millis(50)).await;
    drop(stream);
    assert!(server.events().is_empty());
}

#[tokio::test]
async fn a_cancelled_read_loses_no_data() {
    let words: String = (0..40).map(|n| format!("{n} ")).collect();
    let server =
        serve([Reply::sse(body(&words) + &body("END")).chunked_by(50).pace(Duration::from_millis(2))]).await;
    let mut stream = ask(&server.base_url(), limits());
    let mut said = Vec::new();
    loop {
        match stream.next().now_or_never() {
            Some(Some(event)) => said.extend(name(&event.unwrap())),
            Some(None) => break,
            None => tokio::time::sleep(Duration::from_millis(1)).await,
        }
    }
    let expected: Vec<_> = (0..40).map(|n| n.to_string()).chain(["<end>".to_owned()]).collect();
    assert_eq!(said, expected);
}

#[tokio::test]
async fn a_reader_that_stops_applies_backpressure() {
    let server = serve([Reply::sse(body(&"more ".repeat(4_096))).endless()]).await;
    let mut stream = ask(&server.base_url(), limits());
    assert!(stream.next().await.unwrap().is_ok());
    tokio::time::sleep(Duration::from_millis(400)).await;
    // Only the kernel's socket buffers are filled.
    let sent = server.bytes_sent();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(server.bytes_sent(), sent);
    assert!(sent < 16 << 20, "{sent}");
    assert!(stream.next().await.unwrap().is_ok());
}
