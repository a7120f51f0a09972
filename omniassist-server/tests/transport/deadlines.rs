use super::*;

fn short(first_byte: u64, idle: u64) -> Limits {
    let mut limits = once();
    limits.first_byte_timeout = Some(Duration::from_millis(first_byte));
    limits.idle_timeout = Duration::from_millis(idle);
    limits
}

fn assert_timeout(heard: &Heard, after: u64) {
    assert_eq!(heard.kind(), Some(ProviderErrorKind::Timeout), "{heard:?}");
    let (took, after) = (heard.took, Duration::from_millis(after));
    assert!(took >= after && took < after + Duration::from_millis(1_500), "{took:?} for {after:?}");
}

#[tokio::test]
async fn the_first_byte_has_a_deadline() {
    for reply in [Reply::silence(), Reply::sse(body("END")).stall_after(0)] {
        let server = serve([reply]).await;
        assert_timeout(&hear_with(&server, short(150, 5_000)).await, 150);
        server.closed().await;
    }
    let slow =
        Reply::sse(body("END")).delay_headers(Duration::from_millis(60)).delay(Duration::from_millis(60));
    let server = serve([slow.clone(), slow]).await;
    assert!(hear_with(&server, short(400, 5_000)).await.is_whole());
    assert_timeout(&hear_with(&server, short(90, 5_000)).await, 90);
}

#[tokio::test]
async fn every_byte_resets_the_idle_timeout_including_comments() {
    let dribble = Reply::sse(body(": : : : : : : : END")).chunked_by(EVENT).pace(Duration::from_millis(100));
    let server = serve([dribble]).await;
    let heard = hear_with(&server, short(5_000, 400)).await;
    assert!(heard.is_whole(), "{heard:?}");
    assert!(heard.took > Duration::from_millis(700));
}

#[tokio::test]
async fn a_slow_reader_does_not_cause_an_idle_timeout() {
    let server =
        serve([Reply::sse(body("a b c END")).chunked_by(EVENT).pace(Duration::from_millis(20))]).await;
    let mut stream = ask(&server.base_url(), short(5_000, 100));
    let mut said = Vec::new();
    while let Some(word) = next(&mut stream).await {
        said.push(word);
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    assert_eq!(said, ["a", "b", "c", "<end>"]);
}

#[tokio::test]
async fn idle_time_begins_when_the_reader_polls() {
    let server =
        serve([Reply::sse(body("a b END")).chunked_by(EVENT).pace(Duration::from_millis(800))]).await;
    let mut stream = ask(&server.base_url(), short(5_000, 600));
    assert_eq!(next(&mut stream).await.unwrap(), "a");
    // 500 ms without a poll and 300 ms of waiting: the total exceeds the timeout, but the waiting does not.
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(next(&mut stream).await.unwrap(), "b");
    let error = stream.next().await.unwrap().unwrap_err();
    assert!(error.is_timeout());
}

#[tokio::test]
async fn an_endless_error_body_does_not_hide_the_error() {
    let stalled = Reply::html(400, "why").stall_after(2);
    let endless = Reply::html(400, "why").endless();
    let dribbled = Reply::html(400, "why?".repeat(1_000)).chunked_by(1).pace(Duration::from_millis(10));
    for reply in [stalled, endless, dribbled] {
        let server = serve([reply]).await;
        let heard = hear_with(&server, short(200, 200)).await;
        assert_eq!((heard.kind(), heard.error().status()), (Some(ProviderErrorKind::Response), Some(400)));
        assert!(heard.error().detail().unwrap().starts_with("wh"));
        assert!(heard.took < Duration::from_millis(1_500), "{:?}", heard.took);
    }
}

#[tokio::test]
async fn deadlines_beyond_the_range_of_the_clock_are_accepted() {
    let mut limits = short(0, 0);
    limits.first_byte_timeout = Some(Duration::MAX);
    limits.idle_timeout = Duration::MAX;
    let server = serve([Reply::sse(body("a END")).chunked_by(EVENT).pace(Duration::from_millis(5))]).await;
    assert!(hear_with(&server, limits).await.is_whole());
}

#[tokio::test]
async fn a_connection_has_a_deadline() {
    // A listener whose queue is full answers no further connection attempt.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut full = Vec::new();
    loop {
        let attempt = tokio::net::TcpStream::connect(address);
        match tokio::time::timeout(Duration::from_millis(100), attempt).await {
            Ok(stream) => full.push(stream.unwrap()),
            Err(_) => break,
        }
    }
    let mut limits = short(5_000, 5_000);
    limits.connect_timeout = Duration::from_millis(150);
    assert_timeout(&hear(ask(&format!("http://{address}/v1"), limits)).await, 150);
}

#[tokio::test(start_paused = true)]
async fn a_model_server_on_this_machine_has_more_time_for_the_first_byte() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut limits = once();
    limits.first_byte_timeout = None;
    limits.connect_timeout = Duration::from_secs(1_000);
    // The mapped address also reaches this machine, but it does not count as a loopback name.
    for (host, seconds) in [("127.0.0.1", 300), ("localhost", 300), ("[::ffff:127.0.0.1]", 60)] {
        let start = tokio::time::Instant::now();
        let heard = hear(ask(&format!("http://{host}:{port}/v1"), limits.clone())).await;
        assert_eq!(heard.kind(), Some(ProviderErrorKind::Timeout), "{host}: {heard:?}");
        assert_eq!(start.elapsed().as_secs(), seconds, "{host}");
    }
}
