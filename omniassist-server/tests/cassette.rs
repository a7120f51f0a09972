//! Tests of recording a provider's stream and replaying it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt;
use omniassist_server::core::{Limits, LlmEvent, LlmPayload, TranscriptItem};
use omniassist_server::testing::{
    Cassette, FakeProvider, Player, Recorder, Replay, Reply, chat_sse, responses_sse,
};
use omniassist_server::{LlmProvider, OpenAiChatProvider, OpenAiProvider, ProviderErrorKind, Result};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

const CANARY: &str = "canary-7Zq9/w+Xk";

fn hello() -> LlmPayload {
    LlmPayload::new([TranscriptItem::user("Grüß Gott")])
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_retries = 1;
    limits.retry_base_delay = Duration::from_millis(1);
    limits
}

fn responses(base_url: String) -> OpenAiProvider {
    OpenAiProvider::builder().base_url(base_url).api_key(CANARY).limits(limits()).build().unwrap()
}

fn chat(base_url: String) -> OpenAiChatProvider {
    OpenAiChatProvider::builder().base_url(base_url).api_key(CANARY).limits(limits()).build().unwrap()
}

async fn ask(provider: &impl LlmProvider) -> Vec<Result<LlmEvent>> {
    provider.stream(hello()).collect().await
}

async fn events(provider: &impl LlmProvider) -> Vec<LlmEvent> {
    ask(provider).await.into_iter().collect::<Result<_>>().unwrap()
}

/// Returns the joined chunk lines of a cassette, as text where they are text.
fn lines<'a>(text: &'a str, kind: &'a str) -> impl Iterator<Item = Value> + 'a {
    text.lines().filter_map(move |line| serde_json::from_str::<Value>(line).unwrap().get(kind).cloned())
}

fn answer() -> Bytes {
    responses_sse::text("Grüß dich. 👋")
        .reasoning("Hm.")
        .call("c1", "look", json!({"at": "ä"}))
        .usage(7, 9)
        .into()
}

#[tokio::test]
async fn a_recording_is_replayed_in_every_chunking() {
    let upstream = FakeProvider::start().await.unwrap();
    // Pieces of 5 bytes split characters.
    upstream.reply(Reply::sse(answer()).chunked_by(5).pace(Duration::from_micros(200)));
    let recorder = Recorder::start(&upstream.base_url()).await.unwrap();
    let live = events(&responses(recorder.base_url())).await;
    assert!(live.len() > 10);
    let cassette = recorder.finish().await.unwrap();
    assert_eq!(upstream.request(1).await.header("authorization"), Some(&*format!("Bearer {CANARY}")));

    let text = cassette.to_text().unwrap();
    let read = Cassette::parse(&text).unwrap();
    assert_eq!(read.to_text().unwrap(), text);
    let chunks: Vec<Value> = lines(&text, "chunk").collect();
    assert!(chunks.len() > 3 && chunks.iter().any(|chunk| chunk.get("base64").is_some()));

    let replays: [fn(Replay) -> Replay; 2] = [|replay| replay, Replay::byte_by_byte];
    for change in replays {
        let player = change(read.clone().player()).start().await.unwrap();
        assert!(player.base_url().ends_with("/v1"));
        assert_eq!(events(&responses(player.base_url())).await, live);
    }
    for seed in 0..20 {
        let player = read.clone().player().rechunked(seed).start().await.unwrap();
        assert_eq!(events(&responses(player.base_url())).await, live, "seed {seed}");
    }
}

#[tokio::test]
async fn the_seed_determines_the_cuts() {
    let cassette = one(&[("text", &"x".repeat(200))]);
    let pieces = async |replay: Replay| {
        let player = replay.start().await.unwrap();
        let text = raw(&player.base_url(), "/v1/x", "", b"{}").await;
        let body = text.split_once("\r\n\r\n").unwrap().1;
        body.split("\r\n").filter(|line| line.starts_with('x')).map(str::len).collect::<Vec<_>>()
    };
    assert_eq!(pieces(cassette.clone().player()).await, [200]);
    assert_eq!(pieces(cassette.clone().player().byte_by_byte()).await, [1; 200]);
    let first = pieces(cassette.clone().player().rechunked(1)).await;
    assert_eq!(first.iter().sum::<usize>(), 200);
    assert!(first.len() > 3 && first.iter().all(|length| (1..=48).contains(length)), "{first:?}");
    assert_eq!(pieces(cassette.clone().player().rechunked(1)).await, first);
    assert_ne!(pieces(cassette.player().rechunked(2)).await, first);
}

#[tokio::test]
async fn several_requests_are_replayed_in_order_with_errors_and_retries() {
    let upstream = FakeProvider::start().await.unwrap();
    let slow_down = json!({"error": {"message": "slow down", "type": "rate_limit_error"}});
    let long = Bytes::from(chat_sse::text("Two, and more than that."));
    let cut = long.len() * 3 / 4;
    upstream
        .reply(Reply::json(429, &slow_down).header("retry-after-ms", "1").header("x-secret", "not-kept"))
        .reply(Reply::sse(chat_sse::text("One.")))
        .reply(Reply::sse(long).cut_after(cut));
    let recorder = Recorder::start(&upstream.base_url()).await.unwrap();
    let provider = chat(recorder.base_url());
    let (one, two) = (events(&provider).await, ask(&provider).await);
    let cassette = recorder.finish().await.unwrap();
    assert_eq!(cassette.len(), 3);
    let text = cassette.to_text().unwrap();
    assert!(text.contains("retry-after-ms") && !text.contains("not-kept"));
    let ends: Vec<Value> = lines(&text, "end").map(|end| end["how"].clone()).collect();
    assert_eq!(ends, ["complete", "complete", "cut"]);

    let player = cassette.player().start().await.unwrap();
    let provider = chat(player.base_url());
    assert_eq!(events(&provider).await, one);
    assert_eq!(player.unused(), 1);
    let again = ask(&provider).await;
    assert_eq!(again.len(), two.len());
    for (again, two) in again.iter().zip(&two) {
        match (again, two) {
            (Ok(again), Ok(two)) => assert_eq!(again, two),
            (Err(again), Err(two)) => {
                assert_eq!(again.provider_kind(), Some(ProviderErrorKind::Interrupted));
                assert_eq!(again.provider_kind(), two.provider_kind());
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_client_that_leaves_closes_the_connection_upstream() {
    let upstream = FakeProvider::start().await.unwrap();
    let body = Bytes::from(chat_sse::text("Hello there."));
    upstream.reply(Reply::sse(body.clone()).stall_after(body.len() * 3 / 4));
    let recorder = Recorder::start(&upstream.base_url()).await.unwrap();
    let mut stream = chat(recorder.base_url()).stream(hello());
    assert!(matches!(stream.next().await, Some(Ok(LlmEvent::Start { .. }))));
    drop(stream);
    tokio::time::timeout(Duration::from_secs(5), upstream.closed()).await.unwrap();
    let text = recorder.finish().await.unwrap().to_text().unwrap();
    assert_eq!(lines(&text, "end").next().unwrap()["how"], "left");
}

/// Answers one request with a body whose second half waits for a signal.
async fn halting(body: Bytes, go_on: oneshot::Receiver<()>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut asked = Vec::new();
        // The request body is an object. Unread bytes would reset the connection when it closes.
        while !(asked.windows(4).any(|end| end == b"\r\n\r\n") && asked.ends_with(b"}")) {
            stream.read_buf(&mut asked).await.unwrap();
        }
        let half = body.len() * 3 / 4;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&body[..half]).await.unwrap();
        go_on.await.unwrap();
        stream.write_all(&body[half..]).await.unwrap();
    });
    base_url
}

#[tokio::test]
async fn timing_is_recorded_and_replayed_on_demand() {
    let pause = Duration::from_millis(60);
    let (go_on, halted) = oneshot::channel();
    let upstream = halting(chat_sse::text("Hello.").into(), halted).await;
    let recorder = Recorder::start(&upstream).await.unwrap();
    let mut stream = chat(recorder.base_url()).stream(hello());
    let mut live = vec![stream.next().await.unwrap().unwrap()];
    tokio::time::sleep(pause).await;
    go_on.send(()).unwrap();
    live.extend(stream.collect::<Vec<_>>().await.into_iter().map(Result::unwrap));
    let cassette = recorder.finish().await.unwrap();
    let text = cassette.to_text().unwrap();
    let at = |line: Value| line["ms"].as_u64().unwrap();
    let (first, last) =
        (at(lines(&text, "response").next().unwrap()), at(lines(&text, "end").next().unwrap()));
    assert!(last - first + 1 >= 60, "{first} {last}");

    let took = async |replay: Replay| {
        let player = replay.start().await.unwrap();
        let began = Instant::now();
        assert_eq!(events(&chat(player.base_url())).await, live);
        began.elapsed()
    };
    let recorded = Duration::from_millis(last);
    assert!(took(cassette.clone().player().with_timing()).await >= recorded);
    assert!(took(cassette.clone().player().with_timing().rechunked(3)).await >= recorded);
    // Two seconds after the model's finish, the answer would count as complete.
    let slower = text.replace(&format!("\"ms\":{last}"), "\"ms\":1500");
    let slower = Cassette::parse(&slower).unwrap().player().with_timing();
    assert!(took(slower).await >= Duration::from_millis(1500));
    // A replay without timing does not take the recorded minute.
    let long = text.replace(&format!("\"ms\":{last}"), "\"ms\":60000");
    assert!(took(Cassette::parse(&long).unwrap().player()).await < Duration::from_secs(50));
}

/// Sends a request unchanged and reads the answer to the end of its body.
async fn raw(base_url: &str, path: &str, headers: &str, body: &[u8]) -> String {
    let address = base_url.trim_start_matches("http://").split('/').next().unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\n{headers}content-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body).await.unwrap();
    let mut received = Vec::new();
    while !received.ends_with(b"0\r\n\r\n") && stream.read_buf(&mut received).await.unwrap() > 0 {}
    String::from_utf8_lossy(&received).into_owned()
}

#[tokio::test]
async fn the_file_contains_no_secret() {
    let upstream = FakeProvider::start().await.unwrap();
    let echoes = json!({"error": {"message": format!(
        "key {CANARY} and sk-proj-0123456789abcdefghij of cookie-canary-1, extra-canary-2, url-canary-3, field-canary-4"
    )}});
    // The echo arrives in pieces, so that secrets span chunks.
    upstream.otherwise(
        Reply::json(401, &echoes).chunked_by(7).header("set-cookie", "set-canary-5").header("x-echo", CANARY),
    );
    let recorder = Recorder::start(&upstream.base_url()).await.unwrap();
    recorder.redact("extra-canary-2");
    let encoded = "canary-7Zq9%2Fw%2BXk";
    let body = json!({
        "prompt": format!("My key is {CANARY}, and a token is eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl."),
        "server": {"headers": {"Authorization": "Bearer field-canary-4"}, "api_key": "field-canary-4"},
        "arguments": format!("{{\"password\":\"field-canary-4\",\"note\":\"{CANARY}\"}}"),
        CANARY: "a key of an object",
    });
    let headers = format!(
        "authorization: Bearer {CANARY}\r\nx-api-key: {CANARY}\r\ncookie: session=cookie-canary-1; a=b\r\n"
    );
    let path = format!("/v1/{encoded}/x?alt=sse&key={encoded}&sig=url-canary-3&api-version=1");
    let answer = raw(&recorder.base_url(), &path, &headers, body.to_string().as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    raw(&recorder.base_url(), "/v1/text", &headers, format!("no JSON, {CANARY}").as_bytes()).await;
    assert!(!format!("{recorder:?}").contains("canary"));

    let sent = upstream.request(1).await;
    assert_eq!((sent.path, sent.body), (path, Bytes::from(body.to_string())));
    assert_eq!(sent.headers["x-api-key"], CANARY);
    let cassette = recorder.finish().await.unwrap();
    let text = cassette.to_text().unwrap();
    for secret in ["canary", "7Zq9", "sk-proj", "c2lnbmF0", "cookie", "x-api-key"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    assert_eq!(
        lines(&text, "request").next().unwrap()["path"],
        "/v1/[redacted]/x?alt=sse&key=[redacted]&sig=[redacted]&api-version=1"
    );
    let whole: usize = lines(&text, "chunk").map(|chunk| chunk["text"].as_str().unwrap().len()).sum();
    assert_eq!(whole, 2 * echoes.to_string().len(), "chunks must keep their lengths");
}

#[tokio::test]
async fn a_recording_is_replayed_to_a_client_with_another_key() {
    let upstream = FakeProvider::start().await.unwrap();
    upstream.reply(Reply::sse(chat_sse::text("Hello.")));
    let recorder = Recorder::start(&upstream.base_url()).await.unwrap();
    let prompt = |key: &str| LlmPayload::new([TranscriptItem::user(format!("Is {key} my key?"))]);
    let _: Vec<_> = chat(recorder.base_url()).stream(prompt(CANARY)).collect().await;
    let cassette = recorder.finish().await.unwrap();
    assert!(!cassette.to_text().unwrap().contains(CANARY));
    let player = cassette.player().start().await.unwrap();
    let keyless = OpenAiChatProvider::builder().base_url(player.base_url()).build().unwrap();
    let events: Vec<_> = keyless.stream(prompt("none")).collect().await;
    assert!(events.iter().all(Result::is_ok));
}

fn one(chunks: &[(&str, &str)]) -> Cassette {
    let mut text = "{\"omniassist_cassette\":1,\"base_path\":\"/v1\"}\n\
        {\"request\":{\"method\":\"POST\",\"path\":\"/v1/x\",\"json\":{}}}\n{\"response\":{\"status\":200}}\n"
        .to_owned();
    for (kind, data) in chunks {
        text += &format!("{}\n", json!({"chunk": {*kind: data}}));
    }
    Cassette::parse(&(text + "{\"end\":{\"how\":\"complete\"}}\n")).unwrap()
}

#[test]
fn files_that_are_not_cassettes_are_refused() {
    let good = one(&[("text", "abc"), ("base64", "/w==")]).to_text().unwrap();
    assert_eq!(Cassette::parse(&good).unwrap().len(), 1);
    assert_eq!(Cassette::parse(&good.replace('\n', "\r\n\r\n")).unwrap().len(), 1);

    let newer =
        good.replacen("\"omniassist_cassette\":1", "\"omniassist_cassette\":2", 1) + "something new\n";
    let error = Cassette::parse(&newer).unwrap_err();
    assert!(error.is_version_mismatch());
    assert_eq!(
        error.to_string(),
        "cassette, line 1: written in version 2 of the format, and this build reads version 1; record it again"
    );

    // A cut after the first line is reported as a truncated file.
    let first = good.find('\n').unwrap() + 1;
    for end in first + 1..good.len() - 1 {
        let cut = good.get(..end).unwrap();
        let error = Cassette::parse(cut).unwrap_err();
        assert!(error.is_truncated(), "cut at {end}: {error}");
        assert_eq!(error.line(), Some(cut.lines().count()));
    }
    for (text, line) in [
        ("", 1),
        ("{\"cassette\":1}\n", 1),
        ("hello\n", 1),
        (&*good.replace("{\"response\"", "{\"head\""), 3),
        (&*good.replace("/w==", "/w="), 5),
        (&*good.replace("\"complete\"", "\"well\""), 6),
        (&*good.replace("\"text\":\"abc\"", "\"json\":{}"), 4),
        (&*good.replace("\"text\":\"abc\"", "\"text\":\"abc\",\"base64\":\"YWJj\""), 4),
        (&*good.replace(",\"text\":\"abc\"", ""), 4),
        (&*good.replace("\"json\":{}", "\"jsn\":{}"), 2),
        (&*(good.clone() + "{\"end\":{\"how\":\"cut\"}}\n"), 7),
    ] {
        let error = Cassette::parse(text).unwrap_err();
        assert!(!error.is_truncated() && !error.is_version_mismatch());
        assert_eq!(error.line(), Some(line), "{error}");
    }
    assert!(
        Cassette::replay("no/such/file.jsonl")
            .unwrap_err()
            .to_string()
            .starts_with("cassette no/such/file.jsonl: ")
    );
}

#[test]
fn a_cassette_is_saved_and_loaded() {
    let folder = std::env::temp_dir().join(format!("omniassist-cassette-{}", std::process::id()));
    let path = folder.join("deep/one.jsonl");
    let cassette = one(&[("text", "abc")]);
    cassette.save(&path).unwrap();
    assert_eq!(Cassette::load(&path).unwrap(), cassette);
    std::fs::write(&path, b"{\"omniassist_cassette\":9}").unwrap();
    let error = Cassette::load(&path).unwrap_err();
    assert!(error.is_version_mismatch() && error.to_string().contains("one.jsonl, line 1"), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}

fn said(player: Player) -> String {
    let panic = catch_unwind(AssertUnwindSafe(|| drop(player))).unwrap_err();
    panic.downcast_ref::<String>().unwrap().clone()
}

#[tokio::test]
async fn a_request_that_differs_from_the_recorded_one_is_a_fault() {
    let upstream = FakeProvider::start().await.unwrap();
    upstream.reply(Reply::sse(chat_sse::text("Hello.")));
    let recorder = Recorder::start(&upstream.base_url()).await.unwrap();
    events(&chat(recorder.base_url())).await;
    let cassette = recorder.finish().await.unwrap();

    let other = LlmPayload::new([TranscriptItem::user("Moin")]);
    let player = cassette.clone().player().start().await.unwrap();
    let asked: Vec<_> = chat(player.base_url()).stream(other.clone()).collect().await;
    assert_eq!(asked.last().unwrap().as_ref().unwrap_err().status(), Some(501));
    assert_eq!(
        said(player),
        "request 1 is not the recorded one:\n  body /messages/0/content: recorded \"Grüß Gott\", asked \"Moin\"\n\
         1 of 1 interactions of the cassette were not asked for"
    );

    let player = cassette.clone().player().ignore("/messages/0/content").start().await.unwrap();
    let asked: Vec<_> = chat(player.base_url()).stream(other).collect().await;
    assert!(asked.iter().all(Result::is_ok));
    let more = ask(&chat(player.base_url())).await;
    assert!(more[0].is_err());
    assert_eq!(
        player.take_faults(),
        ["request 2, POST /v1/chat/completions: the cassette has 1 interactions"]
    );
    drop(player);

    let player = cassette.clone().player().start().await.unwrap();
    let asked = ask(&responses(player.base_url())).await;
    assert!(asked[0].is_err());
    let told = player.take_faults().join("\n");
    assert!(told.contains("path: recorded `/v1/chat/completions`, asked `/v1/responses`"), "{told}");
    drop(player);

    drop(cassette.clone().player().allow_unused().start().await.unwrap());
    let player = cassette.player().start().await.unwrap();
    assert_eq!(player.unused(), 1);
    assert_eq!(said(player), "1 of 1 interactions of the cassette were not asked for");
}

#[tokio::test]
async fn a_failed_recording_is_reported() {
    for wrong in ["", "api.openai.com/v1", "ftp://x/", "https://user:pw@x/v1", "https://x/v1?key=1"] {
        let error = Recorder::start(wrong).await.unwrap_err();
        assert!(!error.to_string().contains("pw"), "{error}");
    }
    let gone = FakeProvider::start().await.unwrap().base_url();
    let recorder = Recorder::start(&gone).await.unwrap();
    let error = ask(&chat(recorder.base_url())).await.pop().unwrap().unwrap_err();
    assert_eq!(error.status(), Some(502));
    let error = recorder.finish().await.unwrap_err();
    assert_eq!(error.to_string(), "cassette: the provider could not be reached");
    assert!(std::error::Error::source(&error).is_some());
}

#[tokio::test]
async fn an_upstream_can_have_no_path() {
    let upstream = FakeProvider::start().await.unwrap();
    upstream.reply(Reply::sse(chat_sse::text("Hello.")));
    let recorder = Recorder::start(&format!("http://{}/", upstream.address())).await.unwrap();
    assert!(!recorder.base_url().ends_with('/'));
    events(&chat(format!("{}/v1", recorder.base_url()))).await;
    let player = recorder.finish().await.unwrap().player().start().await.unwrap();
    events(&chat(format!("{}/v1", player.base_url()))).await;
}

/// Returns a cassette with one request with this body.
fn asked(body: &Value) -> Cassette {
    let text = one(&[("text", "abc")]).to_text().unwrap();
    Cassette::parse(&text.replace("\"json\":{}", &format!("\"json\":{body}"))).unwrap()
}

/// Returns the lines of the fault of a request that differs from the recorded one.
async fn fault(replay: Replay, body: &Value) -> Vec<String> {
    let player = replay.start().await.unwrap();
    raw(&player.base_url(), "/v1/x", "", body.to_string().as_bytes()).await;
    let faults = player.take_faults().join("\n");
    drop(player);
    faults.lines().skip(1).map(|line| line.trim().to_owned()).collect()
}

#[tokio::test]
async fn a_difference_names_its_place() {
    let recorded = json!({"a": [1, {"b/c": "x"}], "gone": true, "same": null});
    let sent = json!({"same": null, "a": [1, {"b/c": "y"}, 3], "new": 0});
    let replay = || asked(&recorded).player().allow_unused();
    let mut found = fault(replay(), &sent).await;
    found.sort_unstable();
    let expected = [
        "body /a/1/b~1c: recorded \"x\", asked \"y\"",
        "body /a/2: not recorded, asked 3",
        "body /gone: recorded true, not asked",
        "body /new: not recorded, asked 0",
    ];
    assert_eq!(found, expected);
    let ignoring = replay().ignore("/a").ignore("/gone").ignore("/new");
    assert_eq!(fault(ignoring, &sent).await, [""; 0]);
    let many = json!((0..20).collect::<Vec<_>>());
    let found = fault(asked(&json!([])).player().allow_unused(), &many).await;
    assert_eq!((found.len(), found[8].as_str()), (9, "and 12 more"));
}

#[tokio::test]
async fn a_redacted_value_matches_any_value() {
    for (recorded, sent, is_same) in [
        ("k=[redacted]", "k=abc", true),
        ("k=[redacted]&n=1", "k=abc&n=1", true),
        ("[redacted] and [redacted].", "one and two.", true),
        ("k=[redacted]&n=1", "k=abc&n=2", false),
        ("k=[redacted]", "l=abc", false),
        ("abc", "abcd", false),
    ] {
        let replay = asked(&json!(recorded)).player().allow_unused();
        let found = fault(replay, &json!(sent)).await;
        assert_eq!(found.is_empty(), is_same, "{recorded} {sent}");
    }
}

#[tokio::test]
async fn known_secrets_are_found_in_every_form() {
    let upstream = FakeProvider::start().await.unwrap();
    upstream.otherwise(Reply::sse("x can\"ary/1can\"ary/1 y"));
    let recorder = Recorder::start(&upstream.base_url()).await.unwrap();
    recorder.redact("can\"ary/1");
    recorder.redact("can\"ary/1-longer");
    for sent in ["x can\"ary/1 y can\"ary/1-longer z", "x can\\\"ary/1 y can%22ary%2F1 z"] {
        raw(&recorder.base_url(), "/v1/x", "", sent.as_bytes()).await;
    }
    let body = json!({
        "input": [{"arguments": "{\"n\":1,\"password\":\"p\"}", "text": "{not json"}],
        "schema": {"properties": {"password": {"type": "string"}}, "prompt_cache_key": "kept", "max_tokens": 5},
    });
    raw(&recorder.base_url(), "/v1/x", "", body.to_string().as_bytes()).await;
    let text = recorder.finish().await.unwrap().to_text().unwrap();
    let requests: Vec<Value> = lines(&text, "request").collect();
    for request in &requests[..2] {
        assert_eq!(request["text"], "x [redacted] y [redacted] z");
    }
    let mut expected = body;
    expected["input"][0]["arguments"] = "{\"n\":1,\"password\":\"[redacted]\"}".into();
    assert_eq!(requests[2]["json"], expected);
    let chunk = lines(&text, "chunk").next().unwrap();
    assert_eq!(chunk["text"], "x ****************** y");
}
