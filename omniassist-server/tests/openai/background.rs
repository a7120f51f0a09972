//! Background responses over real sockets: lost connections, fetched answers, and cancellations.

use std::time::Duration;

use futures_util::StreamExt;
use omniassist_server::core::{AnswerHandle, KeptAnswer, LlmEvent, LlmPayload, TranscriptItem};
use omniassist_server::testing::{FakeProvider, FakeRequest, Reply, SseBody, responses_sse};
use omniassist_server::{Error, LlmProvider, LlmStream, OpenAiProvider, ProviderErrorKind};
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::faults::limits;

fn provider(server: &FakeProvider) -> OpenAiProvider {
    let provider = OpenAiProvider::builder().base_url(server.base_url()).limits(limits());
    provider.background(true).build().unwrap()
}

fn hello() -> LlmPayload {
    LlmPayload::new([TranscriptItem::user("Hello")])
}

/// Returns a request that fetches the fake's response.
fn fetching(server: &FakeProvider) -> LlmPayload {
    let handle = AnswerHandle::new(format!("{}/responses gpt-5-mini", server.base_url()), "resp_fake");
    let mut payload = hello();
    payload.kept = Some(KeptAnswer::fetching(Some(handle)));
    payload
}

fn answer() -> SseBody {
    responses_sse::empty()
        .reasoning("The user asks for an order.")
        .text("Let me look at it.")
        .call("call_1", "order_status", json!({"id": 17, "city": "Kiel"}))
        .usage(120, 30)
}

async fn serve(replies: impl IntoIterator<Item = Reply>) -> FakeProvider {
    let server = FakeProvider::start().await.unwrap();
    for reply in replies {
        server.reply(reply);
    }
    server
}

async fn all(answer: LlmStream) -> (Vec<LlmEvent>, Option<Error>) {
    let mut events = Vec::new();
    let mut error = None;
    for item in answer.collect::<Vec<_>>().await {
        match item {
            Ok(event) => events.push(event),
            Err(failure) => error = Some(failure),
        }
    }
    (events, error)
}

fn text(events: &[LlmEvent]) -> String {
    let text = events.iter().filter_map(|event| match event {
        LlmEvent::TextDelta { delta, .. } => Some(delta.as_str()),
        _ => None,
    });
    text.collect()
}

/// Returns the method and the path of each request below the base URL.
fn paths(server: &FakeProvider) -> Vec<String> {
    let path =
        |request: &FakeRequest| format!("{} {}", request.method, request.path.trim_start_matches("/v1"));
    server.requests().iter().map(path).collect()
}

fn posts(server: &FakeProvider) -> usize {
    paths(server).iter().filter(|path| *path == "POST /responses").count()
}

/// Waits until a request to cancel the response arrives, or the time is over.
async fn is_cancelled(server: &FakeProvider) -> bool {
    let arrives = async {
        while !paths(server).iter().any(|path| path == "POST /responses/resp_fake/cancel") {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_millis(500), arrives).await.is_ok()
}

/// Opens a stream, and reads it until its first text.
async fn until_text(answer: &mut LlmStream) {
    while !matches!(answer.next().await.unwrap().unwrap(), LlmEvent::TextDelta { .. }) {}
}

#[tokio::test]
async fn a_connection_can_be_lost_at_any_byte() {
    let body = bytes::Bytes::from(answer());
    let server = serve([Reply::sse(body.clone())]).await;
    let (mut whole, error) = all(provider(&server).stream(hello())).await;
    assert!(error.is_none() && matches!(whole.last(), Some(LlmEvent::Finish { .. })), "{whole:?} {error:?}");
    assert!(matches!(&whole[1], LlmEvent::Kept(handle) if handle.id == "resp_fake"), "{whole:?}");
    whole.remove(1);

    let first_event = body.windows(2).position(|two| two == b"\n\n").unwrap() + 2;
    let mut resumed = 0;
    for at in (first_event..body.len()).step_by(61) {
        let server = serve([Reply::sse(body.clone()).reset_after(at)]).await;
        let (mut events, error) = all(provider(&server).stream(hello())).await;
        assert!(error.is_none(), "cut at {at}: {error:?}");
        // The handle has the port of the server.
        assert!(matches!(&events.remove(1), LlmEvent::Kept(_)));
        assert_eq!(events, whole, "cut at {at}");
        let paths = paths(&server);
        assert_eq!(posts(&server), 1, "cut at {at}: {paths:?}");
        resumed += usize::from(paths[1..].iter().any(|path| path.contains("?stream=true&starting_after=")));
        let included =
            paths[1..].iter().all(|path| path.ends_with("include%5B%5D=reasoning.encrypted_content"));
        assert!(included, "{paths:?}");
    }
    assert!(resumed > 40, "{resumed}");
}

#[tokio::test]
async fn the_rest_is_asked_for_after_the_last_event() {
    let body = bytes::Bytes::from(responses_sse::text("Hello there"));
    let third = String::from_utf8(body.to_vec()).unwrap().match_indices("\n\n").nth(2).unwrap().0 + 2;
    let server = serve([Reply::sse(body).cut_after(third + 10)]).await;
    let (events, _) = all(provider(&server).stream(hello())).await;
    assert_eq!(text(&events), "Hello there");
    assert!(
        paths(&server)[1].starts_with("GET /responses/resp_fake?stream=true&starting_after=2&"),
        "{:?}",
        paths(&server)
    );
}

#[tokio::test]
async fn events_that_arrive_twice_are_read_once() {
    let body = responses_sse::text("Hello there");
    let server = serve([Reply::sse(body.clone()).cut_after(1_300)]).await;
    server.change_rest(|_| Reply::sse(body));
    let (events, error) = all(provider(&server).stream(hello())).await;
    assert_eq!((text(&events).as_str(), error.is_none()), ("Hello there", true));
}

#[tokio::test]
async fn a_connection_can_be_lost_again_and_again() {
    let body = responses_sse::text("A long answer that takes many connections to arrive.");
    let server = serve([Reply::sse(body).cut_after(900)]).await;
    for _ in 0..6 {
        server.change_rest(|rest| rest.cut_after(500));
    }
    let (events, error) = all(provider(&server).stream(hello())).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(text(&events), "A long answer that takes many connections to arrive.");
    assert!(paths(&server).len() > 4, "more connections than the limit of retries: {:?}", paths(&server));
}

#[tokio::test]
async fn tries_without_an_event_are_limited_and_the_response_is_cancelled() {
    let server = serve([Reply::sse(responses_sse::text("Hello there")).cut_after(1_200)]).await;
    for _ in 0..9 {
        server.change_rest(|rest| rest.cut_after(0));
    }
    let (events, error) = all(provider(&server).stream(hello())).await;
    assert!(text(&events).starts_with("Hello"), "{events:?}");
    assert_eq!(error.unwrap().provider_kind(), Some(ProviderErrorKind::Interrupted));
    let gets = paths(&server).iter().filter(|path| path.starts_with("GET")).count();
    assert_eq!((posts(&server), gets), (1, 2));
    assert!(is_cancelled(&server).await);
}

#[tokio::test]
async fn a_connection_lost_before_the_first_event_leads_to_another_request() {
    let body = responses_sse::text("Hello");
    let server = serve([Reply::sse(body.clone()).cut_after(0), Reply::sse(body)]).await;
    let (events, error) = all(provider(&server).stream(hello())).await;
    assert_eq!((text(&events), error.is_none()), ("Hello".to_owned(), true));
    assert_eq!(paths(&server), ["POST /responses", "POST /responses"]);
}

#[tokio::test]
async fn an_answer_that_was_shown_and_expired_is_an_interruption() {
    let server = serve([Reply::sse(responses_sse::text("Hello there")).stall_after(1_200)]).await;
    let mut limits = limits();
    limits.idle_timeout = Duration::from_millis(100);
    let provider = OpenAiProvider::builder().base_url(server.base_url()).limits(limits);
    let mut answer = provider.background(true).build().unwrap().stream(hello());
    until_text(&mut answer).await;
    server.expire();
    let (_, error) = all(answer).await;
    assert_eq!(error.unwrap().provider_kind(), Some(ProviderErrorKind::Interrupted));
    assert_eq!(posts(&server), 1);
}

#[tokio::test]
async fn an_overloaded_model_is_asked_again() {
    let failed = responses_sse::text("").error("server_error", "overloaded");
    let server = serve([Reply::sse(failed), Reply::sse(responses_sse::text("Hello"))]).await;
    let (events, error) = all(provider(&server).stream(hello())).await;
    assert_eq!((text(&events), error.is_none()), ("Hello".to_owned(), true), "{events:?}");
    assert_eq!(paths(&server), ["POST /responses", "POST /responses"]);
}

#[tokio::test]
async fn the_handle_arrives_before_the_first_text() {
    let body = bytes::Bytes::from(responses_sse::text("Hello"));
    let created = String::from_utf8(body.to_vec()).unwrap().find("\n\n").unwrap() + 2;
    let server = serve([Reply::sse(body).stall_after(created)]).await;
    let mut answer = provider(&server).stream(hello());
    let first = async { [answer.next().await.unwrap().unwrap(), answer.next().await.unwrap().unwrap()] };
    let first = timeout(Duration::from_secs(5), first).await.unwrap();
    assert!(matches!(&first, [LlmEvent::Start { .. }, LlmEvent::Kept(_)]), "{first:?}");
}

#[tokio::test]
async fn a_dropped_stream_cancels_the_response() {
    let server = serve([Reply::sse(responses_sse::text("Hello there")).stall_after(1_200)]).await;
    let mut answer = provider(&server).stream(hello());
    until_text(&mut answer).await;
    drop(answer);
    assert!(is_cancelled(&server).await);
    assert_eq!(posts(&server), 1);
}

#[tokio::test]
async fn a_stream_that_is_dropped_before_the_id_cancels_the_response_too() {
    let body = Reply::sse(responses_sse::text("Hello there")).delay(Duration::from_millis(100));
    let server = serve([body.stall_after(900)]).await;
    let mut answer = provider(&server).stream(hello());
    assert!(timeout(Duration::from_millis(20), answer.next()).await.is_err());
    server.request(1).await;
    drop(answer);
    assert!(is_cancelled(&server).await);
}

#[tokio::test]
async fn a_stream_that_was_not_polled_sends_nothing() {
    let server = serve([]).await;
    drop(provider(&server).stream(hello()));
    sleep(Duration::from_millis(50)).await;
    assert!(paths(&server).is_empty());
}

#[tokio::test]
async fn neither_a_complete_nor_a_left_response_is_cancelled() {
    let server = serve([
        Reply::sse(responses_sse::text("Hello")),
        Reply::sse(responses_sse::text("Hello there")).stall_after(1_200),
        Reply::sse(responses_sse::text("Hello there")).delay(Duration::from_millis(50)).stall_after(900),
    ])
    .await;
    let mut complete = provider(&server).stream(hello());
    while !matches!(complete.next().await.unwrap().unwrap(), LlmEvent::Finish { .. }) {}
    drop(complete);

    for has_text in [true, false] {
        let mut payload = hello();
        let kept = KeptAnswer::default();
        payload.kept = Some(kept.clone());
        let mut left = provider(&server).stream(payload);
        match has_text {
            true => until_text(&mut left).await,
            false => assert!(timeout(Duration::from_millis(20), left.next()).await.is_err()),
        }
        kept.leave();
        drop(left);
    }
    assert!(!is_cancelled(&server).await, "{:?}", paths(&server));
}

#[tokio::test]
async fn an_answer_is_fetched_by_its_handle() {
    let body = bytes::Bytes::from(answer());
    let server = serve([Reply::sse(body.clone()).reset_after(1_500)]).await;
    let payload = hello();
    let mut first = provider(&server).stream(payload);
    until_text(&mut first).await;
    std::mem::forget(first);

    let (events, error) = all(provider(&server).stream(fetching(&server))).await;
    assert!(error.is_none(), "{error:?}");
    let whole = serve([Reply::sse(body)]).await;
    let (whole, _) = all(provider(&whole).stream(hello())).await;
    assert_eq!(events.len(), whole.len());
    assert_eq!((text(&events), posts(&server)), (text(&whole), 1));
    let usage =
        |events: &[LlmEvent]| events.iter().filter(|event| matches!(event, LlmEvent::Usage(_))).count();
    assert_eq!(usage(&events), 1);
}

#[tokio::test]
async fn a_fetched_answer_survives_lost_connections() {
    let body = Reply::sse(responses_sse::text("Hello there, this is long")).stall_after(1_200);
    let server = serve([body]).await;
    let mut first = provider(&server).stream(hello());
    until_text(&mut first).await;
    std::mem::forget(first);
    server.change_rest(|rest| rest.cut_after(1_400)).change_rest(|rest| rest.reset_after(300));
    let (events, error) = all(provider(&server).stream(fetching(&server))).await;
    assert_eq!((text(&events).as_str(), error.is_none()), ("Hello there, this is long", true));
    assert_eq!(posts(&server), 1);
}

#[tokio::test]
async fn an_answer_that_cannot_be_fetched_is_asked_for_again() {
    let again = || Reply::sse(responses_sse::text("Again"));
    let old = json!({"error": {"message": "This response can no longer be streamed because it is more than 5 minutes old"}});
    let gone = json!({"error": {"message": "Response with id 'resp_fake' not found."}});
    for (status, refusal) in [(404, gone), (400, old)] {
        let is_old = status == 400;
        let server = serve([Reply::json(status, &refusal), again()]).await;
        if is_old {
            server.reply(Reply::json(200, &json!({"id": "resp_fake", "status": "cancelled"})));
        }
        let (events, error) = all(provider(&server).stream(fetching(&server))).await;
        assert_eq!((text(&events).as_str(), error.is_none()), ("Again", true));
        assert_eq!(posts(&server), 1);
        assert!(
            paths(&server)[0].starts_with("GET /responses/resp_fake?stream=true&include"),
            "{:?}",
            paths(&server)
        );
        assert_eq!(is_cancelled(&server).await, is_old, "a response that may still run is cancelled");
    }
}

#[tokio::test]
async fn an_answer_that_failed_or_was_cancelled_is_asked_for_again() {
    for kind in ["response.failed", "response.cancelled"] {
        let created =
            json!({"type": "response.created", "sequence_number": 0, "response": {"id": "resp_fake"}});
        let error = json!({"code": "server_error", "message": "lost"});
        let end =
            json!({"type": kind, "sequence_number": 1, "response": {"id": "resp_fake", "error": error}});
        let ended = format!("data: {created}\n\ndata: {end}\n\n");
        let server = serve([Reply::sse(ended), Reply::sse(responses_sse::text("Again"))]).await;
        let (events, error) = all(provider(&server).stream(fetching(&server))).await;
        assert_eq!((text(&events).as_str(), error.is_none()), ("Again", true), "{kind}");
        assert_eq!(posts(&server), 1, "{kind}");
    }
}

#[tokio::test]
async fn a_handle_of_another_provider_is_ignored() {
    let elsewhere = [
        AnswerHandle::new("https://api.openai.com/v1/responses gpt-5-mini", "resp_fake"),
        AnswerHandle::new("", "resp_fake"),
    ];
    let server = serve([]).await;
    server.otherwise(Reply::sse(responses_sse::text("Hello")));
    let another_model = AnswerHandle::new(format!("{}/responses gpt-5", server.base_url()), "resp_fake");
    for handle in elsewhere.into_iter().chain([another_model]) {
        let mut payload = hello();
        payload.kept = Some(KeptAnswer::fetching(Some(handle)));
        let (events, _) = all(provider(&server).stream(payload)).await;
        assert_eq!(text(&events), "Hello");
    }
    assert_eq!(posts(&server), 3);
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn an_id_cannot_change_the_path() {
    let with_id = |id: &str| {
        String::from_utf8(bytes::Bytes::from(responses_sse::text("Hello there")).to_vec())
            .unwrap()
            .replace("resp_fake", id)
    };
    let long = "x".repeat(257);
    for (id, path) in [
        ("../files/a?b#c", Some("/v1/responses/%2E%2E%2Ffiles%2Fa%3Fb%23c?")),
        ("..", None),
        ("", None),
        (long.as_str(), None),
    ] {
        let server = serve([Reply::sse(with_id(id)).cut_after(with_id(id).len() - 900)]).await;
        server.otherwise(Reply::status(404));
        let (events, _) = all(provider(&server).stream(hello())).await;
        assert_eq!(events.iter().any(|event| matches!(event, LlmEvent::Kept(_))), path.is_some(), "{id}");
        match path {
            Some(path) => assert!(server.requests()[1].path.starts_with(path), "{:?}", paths(&server)),
            None => assert_eq!(server.requests().len(), 1, "{:?}", paths(&server)),
        }
    }
}

#[tokio::test]
async fn a_server_without_background_responses_is_used_as_before() {
    let body = String::from_utf8(bytes::Bytes::from(responses_sse::text("Hello there")).to_vec()).unwrap();
    let foreground = body.replace(r#""id":"resp_fake""#, r#""background":false,"id":"resp_fake""#);
    let unnumbered = body.replace("sequence_number", "number");
    for body in [foreground, unnumbered] {
        let cut = body.len() - 900;
        let server = serve([Reply::sse(body).cut_after(cut)]).await;
        server.otherwise(Reply::status(404));
        let (events, error) = all(provider(&server).stream(hello())).await;
        assert!(text(&events).starts_with("Hello"), "{events:?}");
        assert_eq!(error.unwrap().provider_kind(), Some(ProviderErrorKind::Interrupted));
        assert!(paths(&server).iter().all(|path| !path.starts_with("GET")), "{:?}", paths(&server));
    }
}

#[test]
fn only_a_background_request_is_stored() {
    let provider = |background| {
        let provider = OpenAiProvider::builder().api_key("sk-test").model("gpt-4.1");
        provider.background(background).build().unwrap().request_body(&hello()).unwrap()
    };
    let plain = OpenAiProvider::builder().api_key("sk-test").model("gpt-4.1").build().unwrap();
    assert_eq!(provider(false), plain.request_body(&hello()).unwrap());
    assert!(provider(false).starts_with(br#"{"model":"gpt-4.1","stream":true,"store":false,"input""#));
    assert!(
        provider(true).starts_with(br#"{"model":"gpt-4.1","stream":true,"store":true,"background":true,"#)
    );
}
