//! Tests that secrets do not leak. Each credential contains a canary, which must not occur in logs, spans, errors,
//! `Debug` output, panic messages or the bytes of a response under any fault. The system prompt contains another one,
//! which must not occur in the bytes of a response.

use std::error::Error as StdError;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{Request, header};
use http_body_util::{BodyExt, Full};
use omniassist_server::core::{EventBuf, Limits, LlmPayload, TranscriptItem};
use omniassist_server::http::AssistantService;
use omniassist_server::provider::openai::ResponsesDecoder;
use omniassist_server::provider::{self, LlmProvider, WireDecoder};
use omniassist_server::testing::{FakeProvider, Reply, chat_sse, responses_sse};
use omniassist_server::{Assistant, Error, OpenAiChatProvider, OpenAiProvider};
use serde_json::json;

use crate::spans::Recorder;

/// The prefix of every credential, so that a truncated credential is found too.
const CANARY: &str = "canary-";
const KEY: &str = "canary-key-5d1c0e7a92b84f36";
const HEADER: &str = "canary-header-77e2b19c40aa";

static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Collects the messages of panics on all threads.
fn keep_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.lock().unwrap_or_else(PoisonError::into_inner).push(panic.to_string());
            before(panic);
        }));
    });
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_retries = 1;
    limits.connect_timeout = Duration::from_millis(300);
    limits.first_byte_timeout = Some(Duration::from_millis(300));
    limits.idle_timeout = Duration::from_millis(300);
    limits
}

/// Returns the providers under test and the `Debug` output of them and their builders.
fn providers(base_url: &str) -> (Vec<Box<dyn LlmProvider>>, String) {
    let responses = OpenAiProvider::builder().api_key(KEY).header("x-gateway-key", HEADER);
    let responses = responses.organization("canary-organization").base_url(base_url).limits(limits());
    let chat = OpenAiChatProvider::builder().api_key(KEY).header("x-gateway-key", HEADER);
    let chat = chat.project("canary-project").base_url(base_url).limits(limits());
    let mut printed = format!("{responses:?} {responses:#?} {chat:?} {chat:#?}");
    let (responses, chat) = (responses.build().unwrap(), chat.build().unwrap());
    printed.push_str(&format!("{responses:?} {responses:#?} {chat:?} {chat:#?}"));
    (vec![Box::new(responses), Box::new(chat)], printed)
}

/// Returns all texts of an error.
fn all_of(error: &Error) -> String {
    let mut text = format!(
        "{error} {error:?} {error:#?} {:?} {:?} {:?}",
        error.detail(),
        error.code(),
        error.provider_request_id()
    );
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(&format!(" {error} {error:?} {error:#?}"));
        source = error.source();
    }
    text
}

async fn respond(assistant: &Assistant) -> String {
    let body = json!({ "messages": [{ "id": "m", "role": "user", "content": "hi" }] }).to_string();
    let request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
    let request = request.body(Full::new(Bytes::from(body))).unwrap();
    let response = AssistantService::new(assistant.clone()).handle(request).await;
    let headers = format!("{:?}", response.headers());
    let body = response.into_body().collect().await.unwrap().to_bytes();
    format!("{headers} {}", String::from_utf8_lossy(&body))
}

/// Returns faulty replies of a provider or its gateway that quote the request's credentials.
fn faults() -> Vec<(&'static str, Reply)> {
    let quoting = format!("authorization: Bearer {KEY}\nx-gateway-key: {HEADER}");
    let error =
        |code: &str, message: &str| json!({ "error": { "code": code, "message": message, "type": code } });
    let event = |event: serde_json::Value| Reply::sse(format!("event: error\ndata: {event}\n\n"));
    let failed = json!({
        "type": "response.failed",
        "response": { "id": "r", "status": "failed", "error": { "code": KEY, "message": quoting } },
    });
    let sentence = format!("Incorrect API key provided: {KEY}.");
    let straddling = |at: usize| format!("{}{quoting}", "x".repeat(at - 40));
    vec![
        ("401 that quotes the key", Reply::json(401, &error("invalid_api_key", &sentence))),
        ("401 with the key as code", Reply::json(401, &error(KEY, KEY))),
        ("401 with the key as request id", Reply::status(401).header("x-request-id", KEY)),
        (
            "429 with the key in every header",
            Reply::status(429).header("retry-after", "0").header("x-a", KEY),
        ),
        ("500 page of a debugging server", Reply::html(500, quoting.clone())),
        ("500 whose key lies across the clip", Reply::html(500, straddling(2 << 10))),
        ("500 with JSON whose key lies across the clip", Reply::json(500, &error("e", &straddling(2 << 10)))),
        ("500 whose key lies across the end of what is read", Reply::html(500, straddling(64 << 10))),
        ("200 HTML", Reply::html(200, quoting.clone())),
        ("200 JSON error", Reply::json(200, &error("server_error", &quoting))),
        ("200 JSON of no known form", Reply::json(200, &json!({ "echo": quoting }))),
        ("error event", event(json!({ "type": "error", "code": KEY, "message": quoting }))),
        ("error chunk", event(error("server_error", &quoting))),
        ("failed response", event(failed)),
        ("broken JSON", Reply::sse(format!("data: {{\"type\": {KEY}\n\n"))),
        ("not UTF-8", Reply::sse([b"data: ".as_slice(), KEY.as_bytes(), b"\xff\xfe\n\n"].concat())),
        ("cut", Reply::sse(chat_sse::text("Hello")).cut_after(60)),
        ("reset", Reply::sse(responses_sse::text("Hello")).reset_after(60)),
        ("hang-up", Reply::hang_up()),
        ("silence", Reply::silence()),
        ("stall", Reply::sse(chat_sse::text("Hello")).stall_after(60)),
        ("redirect", Reply::status(307).header("location", format!("http://127.0.0.1:9/?key={KEY}"))),
        ("no HTTP at all", Reply::raw(quoting)),
    ]
}

fn spot(what: &str, provider: &str, places: &[(&str, String)]) -> Vec<String> {
    let found = places.iter().filter(|(_, text)| text.contains(CANARY));
    found
        .map(|(place, text)| {
            let at = text.find(CANARY).unwrap();
            let near: String =
                text[..at].chars().rev().take(80).collect::<Vec<_>>().into_iter().rev().collect();
            let after: String = text[at..].chars().take(60).collect();
            format!("{what}, {provider}, {place}: …{near}{after}…")
        })
        .collect()
}

async fn look(what: &str, base_url: &str, prepare: impl Fn()) -> Vec<String> {
    let (providers, printed) = providers(base_url);
    let mut leaks = spot(what, "all", &[("Debug", printed)]);
    for provider in providers {
        let (recorder, _guard) = Recorder::install();
        let name = provider.name().to_owned();
        prepare();
        let events: Vec<_> = provider.stream(LlmPayload::new([TranscriptItem::user("hi")])).collect().await;
        let errors: Vec<_> = events.iter().filter_map(|event| event.as_ref().err()).map(all_of).collect();
        assert!(!errors.is_empty(), "{what}: {name} gave no error: {events:?}");
        prepare();
        let assistant = Assistant::builder(std::sync::Arc::<dyn LlmProvider>::from(provider))
            .allow_anonymous()
            .build()
            .unwrap();
        let mut printed = format!("{assistant:?}");
        printed.push_str(&format!("{:?}", assistant.run(omniassist_server::core::RunRequest::default())));
        let body = respond(&assistant).await;
        assert!(body.contains(r#""type":"error""#), "{what}: {body}");
        let recorded = recorder.text();
        assert!(
            recorded.contains("invoke_agent") && recorded.contains("the model call failed"),
            "{recorded}"
        );
        leaks.extend(spot(
            what,
            &name,
            &[("error", errors.join(" ")), ("response", body), ("trace", recorded), ("Debug", printed)],
        ));
    }
    leaks
}

#[tokio::test]
async fn credentials_do_not_leak() {
    keep_panics();
    let mut leaks = Vec::new();
    for index in 0..faults().len() {
        let (what, reply) = faults().swap_remove(index);
        let server = FakeProvider::start().await.unwrap();
        server.otherwise(reply);
        leaks.extend(look(what, &server.base_url(), || ()).await);
        for request in server.requests() {
            let sent = request.header("authorization").is_some_and(|value| value.ends_with(KEY));
            assert!(sent, "{what}: the canary was on board");
        }
        assert!(server.requests().len() >= 4, "{what}");
        drop(server.take_faults());
    }
    let refusing = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    leaks.extend(look("nobody listens", &format!("http://{refusing}/v1"), || ()).await);
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
    let panics = PANICS.lock().unwrap_or_else(PoisonError::into_inner).join("\n");
    assert!(!panics.contains(KEY) && !panics.contains(HEADER), "{panics}");
}

#[test]
fn errors_do_not_quote_refused_settings() {
    let base = "https://api.example.com/v1";
    let mut leaks = Vec::new();
    let long = format!("{KEY}\u{1}");
    for (what, key, header, url) in [
        ("line break in the key", format!("{KEY}\n"), HEADER.to_owned(), base.to_owned()),
        ("control character in the key", long, HEADER.to_owned(), base.to_owned()),
        ("line break in a header", KEY.to_owned(), format!("{HEADER}\r\nx: y"), base.to_owned()),
        (
            "user in the URL",
            KEY.to_owned(),
            HEADER.to_owned(),
            "https://u:canary-pw@example.com/v1".to_owned(),
        ),
        (
            "token in the URL",
            KEY.to_owned(),
            HEADER.to_owned(),
            "https://canary-token@example.com/v1".to_owned(),
        ),
        (
            "query in the URL",
            KEY.to_owned(),
            HEADER.to_owned(),
            "https://example.com/v1?key=canary-q".to_owned(),
        ),
        (
            "fragment in the URL",
            KEY.to_owned(),
            HEADER.to_owned(),
            "https://example.com/v1#canary-f".to_owned(),
        ),
        ("no URL", KEY.to_owned(), HEADER.to_owned(), "https://u:canary pw@example com".to_owned()),
        ("another scheme", KEY.to_owned(), HEADER.to_owned(), "ftp://u:canary-pw@example.com".to_owned()),
    ] {
        let responses = OpenAiProvider::builder().api_key(&*key).header("x-key", &*header).base_url(&*url);
        let chat = OpenAiChatProvider::builder().api_key(key).header("x-key", header).base_url(url);
        let printed = format!("{responses:?} {responses:#?} {chat:?} {chat:#?}");
        let errors = [responses.build().unwrap_err(), chat.build().unwrap_err()];
        let errors = errors.iter().map(all_of).collect::<String>();
        leaks.extend(spot(what, "both", &[("Debug", printed), ("error", errors)]));
    }
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
}

/// An assistant whose model answers with these bytes of the Responses API.
fn replaying(bytes: Vec<u8>) -> Assistant {
    let model = provider::from_fn("replay", move |_| {
        let mut decoder = ResponsesDecoder::new(&Limits::default());
        let mut events = EventBuf::new();
        let fed = decoder.feed(Bytes::from(bytes.clone()), &mut events);
        let end = fed.and_then(|()| decoder.finish(&mut events)).err();
        stream::iter(events.drain().map(Ok).chain(end.map(Err)).collect::<Vec<_>>())
    });
    Assistant::builder(model).allow_anonymous().system_prompt(PROMPT).max_steps(1).build().unwrap()
}

const PROMPT: &str = "canary-instructions: be brief.";

/// Puts the prompt wherever the API repeats the instructions of a request.
fn echoing(bytes: &[u8]) -> (Vec<u8>, usize) {
    let text = String::from_utf8_lossy(bytes);
    let mut changed = String::with_capacity(text.len());
    let mut echoes = 0;
    for line in text.split_inclusive('\n') {
        let event = line.strip_prefix("data:").and_then(|data| {
            let mut event: serde_json::Value = serde_json::from_str(data.trim()).ok()?;
            let response = event.get_mut("response")?.as_object_mut()?;
            response.insert("instructions".to_owned(), PROMPT.into());
            Some(event)
        });
        match event {
            Some(event) => {
                echoes += 1;
                changed.push_str(&format!("data: {event}\n"));
            }
            None => changed.push_str(line),
        }
    }
    (changed.into_bytes(), echoes)
}

#[tokio::test]
async fn responses_do_not_contain_the_system_prompt() {
    let mut streams: Vec<(String, Vec<u8>)> = vec![
        ("text".to_owned(), responses_sse::text("Hello").into_bytes().to_vec()),
        ("call".to_owned(), responses_sse::call("c", "ping", json!({})).into_bytes().to_vec()),
        ("error".to_owned(), responses_sse::error("server_error", "m").into_bytes().to_vec()),
        (
            "failed".to_owned(),
            b"data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{}}}\n\n"
                .to_vec(),
        ),
        ("unknown".to_owned(), b"data: {\"type\":\"response.new\",\"response\":{}}\n\n".to_vec()),
    ];
    if let Some(root) = crate::recordings::root() {
        let expected = std::fs::read_to_string(root.join("EXPECTED.jsonl")).unwrap();
        for line in expected.lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            let path = line["path"].as_str().unwrap();
            if path.starts_with("responses/") {
                streams.push((path.to_owned(), std::fs::read(root.join(path)).unwrap()));
            }
        }
        assert!(streams.len() > 60, "only {} streams", streams.len());
    }
    let (mut echoed, mut echoes) = (0, 0);
    let count = streams.len();
    for (name, bytes) in streams {
        let (bytes, found) = echoing(&bytes);
        echoed += usize::from(found > 0);
        echoes += found;
        let body = respond(&replaying(bytes)).await;
        assert!(body.contains("data: "), "{name}: {body}");
        assert!(!body.contains(CANARY), "{name}: {body}");
    }
    assert!(echoed * 10 >= count * 8, "{echoed} of {count} streams repeat the instructions");
    eprintln!("{count} streams, {echoed} of them repeat the instructions, {echoes} times in all");
}
