//! Tests of faults 47-59 with the whole engine. Effects on the socket are tested with the transport itself; see the
//! [table](super).

use std::time::Duration;

use futures_util::StreamExt;
use omniassist_server::Assistant;
use omniassist_server::core::RunRequest;
use omniassist_server::testing::{FakeProvider, Reply, SseBody, chat_sse, responses_sse};
use serde_json::json;

use super::ask::{Api, ask, ask_once, ask_with, limits, provider};

const APIS: [Api; 2] = [Api::Responses, Api::Chat];
const MS: fn(u64) -> Duration = Duration::from_millis;

fn body(api: Api) -> SseBody {
    match api {
        Api::Responses => responses_sse::text("Hello, world"),
        Api::Chat => chat_sse::text("Hello, world"),
    }
}

fn good(api: Api) -> Reply {
    Reply::sse(body(api))
}

/// Returns an offset in the middle of the body's text.
fn middle(api: Api) -> usize {
    let body = body(api).into_bytes();
    let at = body.windows(3).position(|part| part == b"wor").unwrap();
    body[..at].windows(2).rposition(|pair| pair == b"\n\n").unwrap() + 2
}

#[tokio::test]
async fn fault_47_retry_after_is_waited_for_or_passed_on() {
    let limited = |name: &str, value: &str| Reply::status(429).header(name, value);
    for (name, value, least) in [
        ("retry-after", "1", 1_000),
        ("retry-after-ms", "150", 150),
        ("retry-after", "-5", 0),
        ("retry-after", "NaN", 0),
        ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", 0),
    ] {
        let told = ask(Api::Chat, [limited(name, value), good(Api::Chat)]).await;
        assert_eq!((told.text().as_str(), told.requests.len()), ("Hello, world", 2), "{value}");
        assert!(told.took >= MS(least) && told.took < MS(least + 2_000), "{value}: {:?}", told.took);
    }
    let date = [("date", "Tue, 01 Jan 2030 00:00:00 GMT"), ("retry-after", "Tue, 01 Jan 2030 00:00:01 GMT")];
    let dated = date.iter().fold(Reply::status(529), |reply, (name, value)| reply.header(*name, *value));
    let told = ask(Api::Responses, [dated, good(Api::Responses)]).await;
    assert!(told.took >= MS(1_000) && told.requests.len() == 2);
    for (status, code) in [(429, "rate_limited"), (529, "provider_unavailable")] {
        let told = ask(Api::Chat, [Reply::status(status).header("retry-after", "86400")]).await;
        assert_eq!(told.end(), code);
        assert!(told.took < MS(2_000));
    }
    // A run that is dropped while it waits sends no further request.
    let server = FakeProvider::start().await.unwrap();
    server.reply(limited("retry-after-ms", "300")).reply(good(Api::Chat));
    let assistant = Assistant::builder(provider(Api::Chat, &server.base_url(), limits())).build().unwrap();
    let mut run = assistant.run(RunRequest::prompt("hi"));
    while tokio::time::timeout(MS(100), run.next()).await.is_ok() {}
    drop(run);
    tokio::time::sleep(MS(600)).await;
    assert_eq!((server.requests().len(), server.replies_left()), (1, 1));
}

#[tokio::test]
async fn fault_48_a_temporary_failure_is_repeated_twice() {
    for api in APIS {
        for status in [500, 502, 503, 504, 529] {
            let down = || Reply::status(status);
            let told = ask(api, [down(), down(), good(api)]).await;
            assert_eq!((told.text().as_str(), told.requests.len()), ("Hello, world", 3));
            let told = ask(api, [down(), down(), down()]).await;
            assert_eq!(told.end(), "provider_unavailable", "{status}");
        }
    }
}

#[tokio::test]
async fn fault_49_a_permanent_failure_is_not_repeated_and_shown_without_details() {
    for api in APIS {
        for (status, code) in [
            (400, "provider_error"),
            (401, "provider_auth"),
            (403, "provider_auth"),
            (404, "provider_error"),
            (413, "provider_error"),
            (422, "provider_error"),
        ] {
            let error = Reply::json(status, &json!({"error": {"message": "canary"}}));
            let told = ask(api, [error]).await;
            assert_eq!((told.end().as_str(), told.requests.len()), (code, 1), "{status}");
            assert!(!format!("{:?}", told.events).contains("canary"));
        }
    }
}

#[tokio::test]
async fn fault_50_a_failure_after_the_first_output_is_not_repeated() {
    for api in APIS {
        for broken in
            [good(api).cut_after(middle(api)), good(api).reset_after(middle(api)).chunked_by(100).pace(MS(5))]
        {
            let told = ask(api, [broken]).await;
            assert_eq!((told.end().as_str(), told.requests.len()), ("stream_interrupted", 1));
            assert!(!told.text().is_empty());
        }
    }
}

#[tokio::test]
async fn fault_51_the_first_byte_has_its_own_deadline() {
    let mut limits = limits();
    limits.max_retries = 0;
    limits.first_byte_timeout = Some(MS(250));
    for api in APIS {
        for slow in [Reply::silence(), good(api).stall_after(0)] {
            let told = ask_with(api, [slow], limits.clone()).await;
            assert_eq!(told.end(), "timeout");
            assert!(told.took >= MS(250) && told.took < MS(2_000), "{:?}", told.took);
        }
        // Later silence has another deadline.
        let mut patient = limits.clone();
        patient.idle_timeout = MS(50);
        let told = ask_with(api, [good(api).delay(MS(120))], patient).await;
        assert_eq!(told.text(), "Hello, world");
    }
}

#[tokio::test]
async fn fault_52_a_stalled_stream_is_an_error() {
    let mut limits = limits();
    limits.idle_timeout = MS(200);
    for api in APIS {
        let told = ask_with(api, [good(api).stall_after(middle(api))], limits.clone()).await;
        assert_eq!((told.end().as_str(), told.requests.len()), ("timeout", 1));
        assert!(!told.text().is_empty() && told.took < MS(2_500), "{:?}", told.took);
    }
}

#[tokio::test]
async fn fault_53_a_dribble_ends_with_the_run() {
    let mut limits = limits();
    limits.idle_timeout = MS(1_000);
    limits.run_timeout = MS(1_000);
    let dribble = good(Api::Chat).chunked_by(1).pace(MS(150));
    let told = ask_with(Api::Chat, [dribble], limits).await;
    assert_eq!(told.end(), "timeout");
    assert!(told.took < MS(4_000), "{:?}", told.took);
}

#[tokio::test]
async fn fault_54_a_reset_is_repeated_before_the_first_byte_and_an_error_after_it() {
    for api in APIS {
        let told = ask(api, [Reply::reset(), good(api)]).await;
        assert_eq!((told.text().as_str(), told.requests.len()), ("Hello, world", 2));
        let reset = good(api).reset_after(middle(api)).chunked_by(200).pace(MS(5));
        let told = ask(api, [reset]).await;
        assert_eq!((told.end().as_str(), told.requests.len()), ("stream_interrupted", 1));
    }
}

#[tokio::test]
async fn fault_55_a_dead_pooled_connection_is_replaced() {
    let mut never = limits();
    never.max_retries = 0;
    let server = FakeProvider::start().await.unwrap();
    server.reply(good(Api::Chat)).reply(Reply::hang_up()).reply(good(Api::Chat));
    let assistant = Assistant::builder(provider(Api::Chat, &server.base_url(), never)).build().unwrap();
    for _ in 0..2 {
        assert_eq!(assistant.run(RunRequest::prompt("hi")).text().await.unwrap(), "Hello, world");
    }
    assert_eq!((server.requests().len(), server.replies_left()), (3, 0));
}

#[tokio::test]
async fn fault_56_an_unreachable_provider_is_an_error_without_delay() {
    let mut limits = limits();
    limits.connect_timeout = MS(500);
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let closed = format!("http://{closed}/v1");
    for base_url in [closed.clone(), closed.replace("http:", "https:")] {
        let model = provider(Api::Chat, &base_url, limits.clone());
        let assistant = Assistant::builder(model).build().unwrap();
        let start = std::time::Instant::now();
        let failure = assistant.run(RunRequest::prompt("hi")).text().await.unwrap_err();
        assert_eq!(failure.code().unwrap().as_str(), "provider_unavailable", "{base_url}");
        assert!(start.elapsed() < Duration::from_secs(8));
    }
}

/// The environment names the proxy, so this test runs itself again as a separate process.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fault_56_requests_to_this_machine_bypass_the_systems_proxy() {
    const CHILD: &str = "OMNIASSIST_TEST_PAST_PROXY";
    if let Some(base_url) = std::env::var_os(CHILD) {
        for base_url in [base_url.to_str().unwrap(), "http://provider.example/v1"] {
            let provider = omniassist_server::OpenAiChatProvider::builder().base_url(base_url).api_key("k");
            let assistant = Assistant::builder(provider.limits(limits()).build().unwrap()).build().unwrap();
            assert_eq!(assistant.run(RunRequest::prompt("hi")).text().await.unwrap(), "Hello, world");
        }
        return;
    }
    let (model, proxy) = (FakeProvider::start().await.unwrap(), FakeProvider::start().await.unwrap());
    for server in [&model, &proxy] {
        server.reply(good(Api::Chat));
    }
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child
        .args(["--exact", "faults::transport::fault_56_requests_to_this_machine_bypass_the_systems_proxy"])
        .env(CHILD, model.base_url())
        .env("http_proxy", format!("http://{}", proxy.address()))
        .env_remove("no_proxy")
        .env_remove("NO_PROXY");
    let output = tokio::task::spawn_blocking(move || child.output().unwrap()).await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!((model.requests().len(), proxy.requests().len()), (1, 1));
    assert_eq!(proxy.requests()[0].header("host"), Some("provider.example"));
}

#[tokio::test]
async fn fault_57_a_redirect_is_refused_and_its_target_receives_no_request() {
    let canary = FakeProvider::start().await.unwrap();
    for api in APIS {
        for status in [301, 302, 303, 307, 308] {
            let location = format!("{}/responses", canary.base_url());
            let told = ask(api, [Reply::status(status).header("location", location)]).await;
            assert_eq!((told.end().as_str(), told.requests.len()), ("provider_error", 1));
        }
    }
    assert!(canary.events().is_empty(), "{:?}", canary.events());
}

#[tokio::test]
async fn fault_58_an_endless_head_is_bounded() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-long: ";
    let told = ask_once(Api::Chat, Reply::raw(head).endless()).await;
    assert!(told.text().is_empty());
    assert!(["stream_interrupted", "provider_error"].contains(&told.end().as_str()), "{}", told.end());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fault_59_a_provider_that_sends_after_a_close_is_not_read() {
    let server = FakeProvider::start().await.unwrap();
    let chunk = format!("data: {}\n\n", crate::openai::streams::delta(json!({"content": "more "})));
    server.reply(Reply::sse(chunk.repeat(1_000)).endless());
    let assistant = Assistant::builder(provider(Api::Chat, &server.base_url(), limits())).build().unwrap();
    let mut run = assistant.run(RunRequest::prompt("hi"));
    for _ in 0..20 {
        assert!(run.next().await.is_some());
    }
    let dropped = std::time::Instant::now();
    drop(run);
    let took = server.closed().await.saturating_duration_since(dropped);
    assert!(took < MS(250), "{took:?}");
    let sent = server.bytes_sent();
    tokio::time::sleep(MS(100)).await;
    assert_eq!(server.bytes_sent(), sent);
}
