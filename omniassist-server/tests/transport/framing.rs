//! Tests of heads, interim responses and trailers of a provider.

use super::*;

#[tokio::test]
async fn an_endless_head_is_bounded() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
    let many = (0..200).map(|n| format!("x-{n}: y\r\n")).collect::<String>();
    let long = format!("x-long: {}\r\n", "y".repeat(1 << 20));
    for header in [many, long] {
        let server = serve([Reply::raw(format!("{head}{header}\r\n{}", body("hello END")))]).await;
        let heard = hear_with(&server, once()).await;
        assert!(heard.error.is_some() && heard.said.is_empty(), "{heard:?}");
    }
    let server = serve([Reply::raw(format!("{head}x-long: ")).endless()]).await;
    assert!(hear_with(&server, once()).await.error.is_some());
    server.closed().await;
}

#[tokio::test]
async fn a_bounded_number_of_interim_responses_is_skipped() {
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n".repeat(20);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 256\r\n\r\n";
    let server = serve([Reply::raw(format!("{interim}{head}{}", body("hello END")))]).await;
    assert!(hear_with(&server, once()).await.is_whole());

    let mut limits = once();
    limits.first_byte_timeout = Some(Duration::from_millis(300));
    let server = serve([Reply::raw("HTTP/1.1 100 Continue\r\n\r\n").endless()]).await;
    let heard = hear_with(&server, limits).await;
    assert!(heard.error.is_some(), "{heard:?}");
    assert!(heard.took < Duration::from_secs(3), "{:?}", heard.took);
    server.closed().await;
}

#[tokio::test]
async fn trailers_are_skipped_and_bounded() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let whole = format!("100\r\n{}\r\n0\r\n", body("hello END"));
    let server = serve([Reply::raw(format!("{head}{whole}x-checksum: 7\r\n\r\n"))]).await;
    assert!(hear_with(&server, once()).await.is_whole());
    let trailers = format!("80\r\n{}\r\n0\r\nx: {}", body("hello"), "y".repeat(1 << 20));
    let server = serve([Reply::raw(format!("{head}{trailers}"))]).await;
    let heard = hear_with(&server, once()).await;
    assert_eq!(heard.kind(), Some(ProviderErrorKind::Interrupted), "{heard:?}");
    assert_eq!(heard.said, ["hello"]);
}
