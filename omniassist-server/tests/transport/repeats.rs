use super::*;

fn good() -> Reply {
    Reply::sse(body("START hello END"))
}

/// Sends a request to a server that fails `failures` times and then answers.
async fn after(failure: Reply, failures: usize) -> (Heard, usize) {
    let replies = std::iter::repeat_n(failure, failures).chain([good()]);
    let server = serve(replies).await;
    let mut limits = limits();
    limits.first_byte_timeout = Some(Duration::from_millis(700));
    let heard = hear_with(&server, limits).await;
    (heard, server.requests().len())
}

/// Returns all failures before the first visible event.
fn early_failures() -> Vec<Reply> {
    let mut failures: Vec<_> = [408, 409, 429, 500, 502, 503, 504, 529].map(Reply::status).into();
    failures.extend([
        Reply::silence(),
        good().stall_after(0),
        Reply::hang_up(),
        Reply::reset(),
        Reply::sse(body("BUSY")),
        Reply::sse(body(": START BUSY")),
        good().cut_after(EVENT),
        good().cut_after(0),
        Reply::sse(""),
        Reply::json(200, &json!({"error": {"code": 503}})),
        Reply::raw("HTTP/1.1 200 OK\r\ncontent-"),
    ]);
    failures
}

#[tokio::test]
async fn a_failure_before_the_first_visible_event_is_retried() {
    for failure in early_failures() {
        let (heard, requests) = after(failure.clone(), 2).await;
        assert_eq!(heard.said, ["hello", "<end>"], "{failure:?}: {heard:?}");
        assert!(heard.is_whole());
        assert_eq!(requests, 3);
    }
}

#[tokio::test]
async fn a_request_is_retried_twice() {
    for failure in early_failures() {
        let server = serve(std::iter::repeat_n(failure.clone(), 3)).await;
        let mut limits = limits();
        limits.first_byte_timeout = Some(Duration::from_millis(500));
        let heard = hear_with(&server, limits).await;
        assert!(heard.error.is_some(), "{failure:?}");
        assert_eq!(server.requests().len(), 3, "{failure:?}");
        assert!(heard.said.is_empty(), "{failure:?}: {heard:?}");
    }
}

#[tokio::test]
async fn the_number_of_retries_is_configurable() {
    for repeats in [0, 1, 4] {
        let mut limits = limits();
        limits.max_retries = repeats;
        let server = serve([]).await;
        server.otherwise(Reply::status(500));
        assert_eq!(hear_with(&server, limits).await.error().status(), Some(500));
        assert_eq!(server.requests().len() as u32, repeats + 1);
    }
}

#[tokio::test]
async fn a_permanent_failure_is_not_retried() {
    let quota = json!({"error": {"code": "insufficient_quota"}});
    for failure in [
        Reply::status(400),
        Reply::status(401),
        Reply::status(402),
        Reply::status(403),
        Reply::status(404),
        Reply::status(413),
        Reply::status(422),
        Reply::status(501),
        Reply::status(307),
        Reply::json(429, &quota),
        Reply::sse(body("QUOTA")),
        Reply::html(200, "<html>"),
    ] {
        let server = serve([failure.clone()]).await;
        let heard = hear_with(&server, limits()).await;
        assert!(heard.error.is_some() && heard.said.is_empty(), "{failure:?}");
        assert_eq!(server.requests().len(), 1, "{failure:?}");
    }
}

#[tokio::test]
async fn a_failure_after_a_visible_event_is_not_retried() {
    for failure in ["hello BUSY", "START hello BUSY", "hello"] {
        let server = serve([Reply::sse(body(failure))]).await;
        let heard = hear_with(&server, limits()).await;
        assert!(heard.error.is_some(), "{failure:?}: {heard:?}");
        assert!(!heard.said.is_empty());
        assert_eq!(server.requests().len(), 1, "{failure:?}");
    }
}

#[tokio::test]
async fn each_attempt_has_a_fresh_decoder() {
    // Leftover bytes of the first attempt would corrupt the first line of the second.
    let (heard, _) = after(Reply::sse("data: {").close(), 1).await;
    assert_eq!(heard.said, ["hello", "<end>"]);
}

#[tokio::test]
async fn a_bounded_number_of_invisible_events_is_held_back() {
    let server = serve([Reply::sse(body(&"NOTE ".repeat(100)) + &body("BUSY"))]).await;
    let heard = hear_with(&server, limits()).await;
    assert_eq!(heard.said.len(), 100);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn an_unreachable_provider_is_a_retryable_error() {
    let free = FakeProvider::start().await.unwrap().base_url();
    let mut limits = limits();
    limits.retry_base_delay = Duration::from_millis(20);
    let heard = hear(ask(&free, limits)).await;
    assert_eq!(heard.kind(), Some(ProviderErrorKind::Connect));
    assert!(heard.error().is_retryable());
}

#[tokio::test]
async fn a_dead_pooled_connection_is_replaced_at_once_without_a_retry() {
    for death in [Reply::hang_up(), Reply::reset()] {
        replaces(death).await;
    }
}

async fn replaces(death: Reply) {
    let server = serve([good(), death.clone(), good(), death.clone(), death]).await;
    let provider = provider(&server.base_url(), once());
    let again = || provider.stream(hello());
    assert!(hear(again()).await.is_whole());
    assert!(hear(again()).await.is_whole());
    let connections = server.events().iter().map(|event| event.connection).max();
    assert_eq!((server.requests().len(), connections), (3, Some(1)));
    // It is replaced only once.
    assert_eq!(hear(again()).await.kind(), Some(ProviderErrorKind::Interrupted));
    assert_eq!((server.requests().len(), server.replies_left()), (5, 0));
}

#[tokio::test]
async fn a_retry_delay_above_the_limit_fails_at_once_and_is_reported() {
    for (value, asked) in [("86400", 86_400), ("121", 121)] {
        let (heard, requests) = after(Reply::status(429).header("retry-after", value), 1).await;
        assert_eq!(requests, 1);
        assert_eq!(heard.error().retry_after(), Some(Duration::from_secs(asked)));
        assert!(heard.took < Duration::from_secs(2));
    }
    let mut limits = limits();
    limits.max_retry_after = Duration::from_millis(100);
    for (value, repeated) in [("100", true), ("101", false)] {
        let server = serve([Reply::status(503).header("retry-after-ms", value), good()]).await;
        assert_eq!(hear_with(&server, limits.clone()).await.is_whole(), repeated, "{value}");
    }
}

#[tokio::test]
async fn every_form_of_retry_after_is_read() {
    let error = async |headers: &[(&str, &str)]| {
        let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        let headers = headers.iter().chain([&date]);
        let reply = headers.fold(Reply::status(429), |reply, (name, value)| reply.header(*name, *value));
        hear_with(&serve([reply]).await, once()).await.error().retry_after()
    };
    let ms = Duration::from_millis;
    for (value, expected) in [
        ("0", Some(ms(0))),
        ("7", Some(ms(7_000))),
        (" 1.5 ", Some(ms(1_500))),
        ("86400", Some(ms(86_400_000))),
        ("1e300", Some(Duration::MAX)),
        ("-1", None),
        ("NaN", None),
        ("inf", None),
        ("soon", None),
        ("", None),
        ("Sun, 06 Nov 1994 08:49:47 GMT", Some(ms(10_000))),
        ("Sun, 06 Nov 1994 08:49:37 GMT", Some(ms(0))),
        ("Sat, 05 Nov 1994 08:49:37 GMT", Some(ms(0))),
        ("Sun, 06 Nov 1994 08:49:47 CET", None),
        ("Sun, 99 Nov 1994 08:49:47 GMT", None),
        ("Sun, 06 Nov 99999999999999999999 08:49:47 GMT", None),
        ("Sun, 06 Nov", None),
    ] {
        assert_eq!(error(&[("retry-after", value)]).await, expected, "{value}");
    }
    for (millis, expected) in [("250", ms(250)), ("-250", ms(7_000))] {
        assert_eq!(error(&[("retry-after", "7"), ("retry-after-ms", millis)]).await, Some(expected));
    }
}

#[tokio::test]
async fn no_wait_is_longer_than_the_maximum() {
    let mut limits = limits();
    limits.max_retries = 8;
    (limits.retry_base_delay, limits.retry_max_delay) =
        (Duration::from_secs(3_600), Duration::from_millis(1));
    let server = serve(std::iter::repeat_n(Reply::status(500), 8).chain([good()])).await;
    let heard = tokio::time::timeout(Duration::from_secs(30), hear_with(&server, limits)).await;
    assert!(heard.is_ok_and(|heard| heard.is_whole()));
}

/// Returns the delays between the attempts of a request that is never answered.
async fn waits(limits: Limits) -> Vec<Duration> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let answer = hear(ask(&format!("http://{}/v1", listener.local_addr().unwrap()), limits));
    let attempts = std::sync::Mutex::new(Vec::new());
    let hang_up = async {
        while let Ok((connection, _)) = listener.accept().await {
            attempts.lock().unwrap().push(tokio::time::Instant::now());
            drop(connection);
        }
    };
    tokio::select! {
        heard = answer => assert!(heard.error().is_retryable(), "{heard:?}"),
        () = hang_up => unreachable!(),
    }
    attempts.into_inner().unwrap().windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[tokio::test(start_paused = true)]
async fn the_longest_wait_doubles_with_each_repeat_up_to_the_maximum() {
    let mut limits = limits();
    limits.max_retries = 6;
    (limits.retry_base_delay, limits.retry_max_delay) = (Duration::from_secs(1), Duration::from_secs(10));
    let mut longest = [Duration::ZERO; 6];
    for _ in 0..40 {
        let waits = waits(limits.clone()).await;
        assert_eq!(waits.len(), 6);
        for (longest, wait) in longest.iter_mut().zip(waits) {
            *longest = wait.max(*longest);
        }
    }
    // A delay is drawn between zero and the longest one, so one of 40 draws is in the upper half.
    for (longest, ceiling) in longest.iter().zip([1, 2, 4, 8, 10, 10]) {
        let ceiling = Duration::from_secs(ceiling);
        assert!(*longest > ceiling / 2 && *longest <= ceiling + Duration::from_millis(2), "{longest:?}");
    }
}
