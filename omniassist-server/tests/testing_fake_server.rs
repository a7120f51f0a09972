use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use omniassist_server::testing::{FakeEventKind, FakeProvider, Reply};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const REQUEST: &[u8] = b"POST /v1/x HTTP/1.1\r\nhost: x\r\nX-Key: k\r\ncontent-length: 7\r\n\r\n{\"a\":1}";

async fn serve(reply: Reply) -> FakeProvider {
    let server = FakeProvider::start().await.unwrap();
    server.reply(reply);
    server
}

async fn connect(server: &FakeProvider) -> TcpStream {
    let mut client = TcpStream::connect(server.address()).await.unwrap();
    client.write_all(REQUEST).await.unwrap();
    client
}

/// Returns the bytes up to the end of the connection or a pause, and the kind of end.
async fn read(client: &mut TcpStream) -> (String, &'static str) {
    let mut bytes = Vec::new();
    let ended = loop {
        match tokio::time::timeout(Duration::from_millis(200), client.read_buf(&mut bytes)).await {
            Ok(Ok(0)) => break "closed",
            Ok(Ok(_)) => {}
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::ConnectionReset => break "reset",
            Ok(Err(error)) => panic!("{error}"),
            Err(_) => break "open",
        }
    };
    (String::from_utf8(bytes).unwrap(), ended)
}

/// Returns the bytes after the head of the reply.
async fn body(reply: Reply) -> (String, &'static str) {
    let server = serve(reply).await;
    let (text, ended) = read(&mut connect(&server).await).await;
    let (_, body) = text.split_once("\r\n\r\n").unwrap_or_default();
    (body.to_owned(), ended)
}

#[tokio::test]
async fn a_reply_is_http_and_the_request_is_recorded() {
    let server = serve(Reply::json(429, &json!({"e": 1})).header("retry-after", "2")).await;
    let mut client = connect(&server).await;
    let (text, ended) = read(&mut client).await;
    let expected = "HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/json\r\nretry-after: 2\r\n\
                    transfer-encoding: chunked\r\n\r\n7\r\n{\"e\":1}\r\n0\r\n\r\n";
    assert_eq!((text.as_str(), ended), (expected, "open"));
    let request = server.request(1).await;
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/x"));
    assert_eq!((request.header("x-key"), request.json()), (Some("k"), json!({"a": 1})));
    assert_eq!((server.requests().len(), server.bytes_sent()), (1, 7));
    assert_eq!(server.base_url(), format!("http://{}/v1", server.address()));
}

#[tokio::test]
async fn a_body_has_the_pieces_and_the_end_of_the_script() {
    let reply = || Reply::sse("abcde");
    for (reply, expected, ended) in [
        (reply().chunked_by(2), "2\r\nab\r\n2\r\ncd\r\n1\r\ne\r\n0\r\n\r\n", "open"),
        (reply().chunked_by(0), "1\r\na\r\n1\r\nb\r\n1\r\nc\r\n1\r\nd\r\n1\r\ne\r\n0\r\n\r\n", "open"),
        (reply().close(), "5\r\nabcde\r\n0\r\n\r\n", "closed"),
        (reply().cut_after(3), "3\r\nabc\r\n", "closed"),
        (reply().stall_after(3), "3\r\nabc\r\n", "open"),
        (reply().stall_after(0), "", "open"),
        (reply().content_length(5), "abcde", "open"),
        (reply().content_length(9), "abcde", "closed"),
        (reply().content_length(2), "abcde", "open"),
        (reply().until_close(), "abcde", "closed"),
        (Reply::status(204), "0\r\n\r\n", "open"),
    ] {
        let what = format!("{reply:?}");
        assert_eq!(body(reply).await, (expected.to_owned(), ended), "{what}");
    }
}

#[tokio::test]
async fn a_connection_can_end_without_a_reply() {
    for (reply, expected, ended) in [
        (Reply::hang_up(), "", "closed"),
        (Reply::reset(), "", "reset"),
        (Reply::silence(), "", "open"),
        (Reply::raw("HTTP/1.1 banana"), "HTTP/1.1 banana", "closed"),
    ] {
        let server = serve(reply).await;
        assert_eq!(read(&mut connect(&server).await).await, (expected.to_owned(), ended));
    }
    let server = serve(Reply::sse("abcde").reset_after(3).chunked_by(1)).await;
    assert_eq!(read(&mut connect(&server).await).await.1, "reset");
}

#[tokio::test]
async fn a_reply_has_the_delays_of_the_script() {
    let ms = Duration::from_millis;
    let slow = Reply::sse("abc").delay_headers(ms(60)).delay(ms(70)).chunked_by(1).pace(ms(40));
    let server = serve(slow.close()).await;
    let start = Instant::now();
    assert_eq!(read(&mut connect(&server).await).await.1, "closed");
    assert!(start.elapsed() >= ms(60 + 70 + 2 * 40), "{:?}", start.elapsed());
}

#[tokio::test]
async fn an_endless_reply_waits_for_a_client_that_does_not_read() {
    let server = serve(Reply::sse("abc".repeat(1_000)).endless()).await;
    let client = connect(&server).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let sent = server.bytes_sent();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(sent > 3_000 && sent == server.bytes_sent(), "{sent}");
    drop(client);
    server.closed().await;
}

#[tokio::test]
async fn several_requests_on_a_connection_receive_the_replies_in_order() {
    let server = serve(Reply::status(201)).await;
    server.reply(Reply::status(202)).otherwise(Reply::status(203));
    let mut client = connect(&server).await;
    // The client sends three further requests at once.
    for _ in 0..3 {
        client.write_all(REQUEST).await.unwrap();
    }
    let (text, _) = read(&mut client).await;
    let statuses: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("HTTP/1.1 ")).collect();
    assert_eq!(
        statuses,
        [
            "201 Created",
            "202 Accepted",
            "203 Non Authoritative Information",
            "203 Non Authoritative Information"
        ]
    );
    assert_eq!(server.replies_left(), 0);
    drop(client);
    tokio::time::sleep(Duration::from_millis(50)).await;
    let kinds: Vec<_> = server.events().iter().map(|event| event.kind).collect();
    let mut expected = vec![FakeEventKind::Connected];
    expected.extend([FakeEventKind::Request, FakeEventKind::Replied].repeat(4));
    expected.push(FakeEventKind::Closed);
    assert_eq!(kinds, expected);
}

#[tokio::test]
async fn a_client_that_disconnects_during_a_reply_is_reported_once() {
    for reply in [
        Reply::silence(),
        Reply::sse("abc").stall_after(1),
        Reply::sse("abc").delay(Duration::from_secs(60)),
        Reply::sse("abc").chunked_by(1).pace(Duration::from_secs(60)),
    ] {
        let server = serve(reply.clone()).await;
        let client = connect(&server).await;
        server.request(1).await;
        let left = Instant::now();
        drop(client);
        let at = server.closed().await;
        assert!(at.saturating_duration_since(left) < Duration::from_millis(100), "{reply:?}");
        assert!(tokio::time::timeout(Duration::from_millis(20), server.closed()).await.is_err());
    }
}

#[tokio::test]
async fn a_request_without_a_reply_fails_the_test() {
    let server = serve(Reply::status(200)).await;
    let mut client = connect(&server).await;
    client.write_all(REQUEST).await.unwrap();
    let (text, _) = read(&mut client).await;
    assert!(text.contains("HTTP/1.1 501"), "{text}");
    let panic = catch_unwind(AssertUnwindSafe(|| drop(server))).unwrap_err();
    let said = panic.downcast_ref::<String>().unwrap();
    assert_eq!(said, "the fake provider has no reply for POST /v1/x");

    let server = serve(Reply::status(200)).await;
    let mut client = TcpStream::connect(server.address()).await.unwrap();
    client.write_all(b"nonsense\r\n\r\n").await.unwrap();
    assert_eq!(read(&mut client).await.1, "closed");
    assert_eq!(server.take_faults(), ["the request line has no path"]);
    drop(server);
}

#[tokio::test]
async fn dropping_the_server_closes_its_connections() {
    let server = serve(Reply::silence()).await;
    let mut client = connect(&server).await;
    server.request(1).await;
    let address = server.address();
    drop(server);
    assert_ne!(read(&mut client).await.1, "open");
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_request_is_recorded_when_it_is_complete() {
    let server = serve(Reply::status(200)).await;
    let mut client = TcpStream::connect(server.address()).await.unwrap();
    client.set_nodelay(true).unwrap();
    for byte in REQUEST {
        assert!(server.requests().is_empty());
        client.write_all(&[*byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    let request = server.request(1).await;
    assert_eq!((request.header("x-key"), &request.body[..]), (Some("k"), &b"{\"a\":1}"[..]));
}

#[tokio::test]
async fn invalid_requests_are_refused() {
    let long = [b'a'; (64 << 10) + 1];
    for (bytes, fault) in [
        (&b"\r\n\r\n"[..], "the request line has no path"),
        (b"GET / HTTP/1.1\r\nnope\r\n\r\n", "a header without a colon"),
        (b"GET / HTTP/1.1\r\ncontent-length: x\r\n\r\n", "the content length is no number"),
        (
            b"GET / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n",
            "a request with a transfer encoding, which the fake provider does not read",
        ),
        (&long, "the request's head is too long"),
    ] {
        let server = FakeProvider::start().await.unwrap();
        let mut client = TcpStream::connect(server.address()).await.unwrap();
        client.write_all(bytes).await.unwrap();
        assert_ne!(read(&mut client).await.1, "open");
        assert_eq!(server.take_faults(), [fault]);
    }
}
