//! Tests of served host runtimes: items 1, 21, 25 and 30 of the AI SDK adapter's contract. The table of all items
//! is in `omniassist-core/tests/bridge/mod.rs`.

pub(crate) mod bus;

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::poll_immediate;
use futures_util::{FutureExt, StreamExt};
use http::{Extensions, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use omniassist_server::Principal;
use omniassist_server::bridge::{Bridge, BridgeStream};
use omniassist_server::core::bridge::BridgeOptions;
use omniassist_server::core::dialect::ag_ui;
use omniassist_server::core::message::{Message, Role};
use omniassist_server::core::{Limits, RunRequest};
use omniassist_server::http::AssistantBody;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use bus::{Bus, agent, complete, text};

fn transport(bus: &Bus) -> Bridge {
    Bridge::new(bus.clone(), BridgeOptions::new())
}

fn send(transport: &Bridge, prompt: &str) -> BridgeStream {
    transport.send_messages(RunRequest::prompt(prompt), Extensions::new()).unwrap()
}

/// Waits at most five seconds.
async fn ended<T>(ends: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(5), ends).await.expect("must end within five seconds")
}

/// Returns all chunks until the stream ends.
async fn chunks(stream: BridgeStream) -> Vec<Value> {
    ended(stream.into_chunks().map(|chunk| chunk.to_value()).collect()).await
}

fn said(chunks: &[Value]) -> String {
    chunks.iter().filter_map(|chunk| chunk["delta"].as_str()).collect()
}

fn post(messages: &Value) -> Request<Full<bytes::Bytes>> {
    let body = json!({"id": "chat-1", "messages": messages, "trigger": "submit-message"}).to_string();
    Request::post("/").header("content-type", "application/json").body(Full::new(body.into())).unwrap()
}

fn asking(text: &str) -> Value {
    json!([{"id": "u1", "role": "user", "parts": [{"type": "text", "text": text}]}])
}

async fn respond(transport: &Bridge, request: Request<Full<bytes::Bytes>>) -> Response<AssistantBody> {
    let posted = transport.read(request).await.unwrap();
    transport.respond(posted)
}

async fn read(response: Response<AssistantBody>) -> String {
    String::from_utf8(ended(response.into_body().collect()).await.unwrap().to_bytes().into()).unwrap()
}

#[tokio::test]
async fn item_01_each_stream_has_its_own_accumulator() {
    let bus = Bus::default();
    let transport = transport(&bus);
    let (one, two) = (send(&transport, "one"), send(&transport, "two"));
    let ids = [one.message_id().clone(), two.message_id().clone()];
    for (id, piece) in [(&ids[0], "A"), (&ids[1], "x"), (&ids[0], "B"), (&ids[1], "y")] {
        bus.emit(id, text(piece));
    }
    bus.emit(&ids[0], complete());
    bus.emit(&ids[1], complete());
    let (one, two) = (chunks(one).await, chunks(two).await);
    assert_eq!((said(&one), said(&two)), ("AB".to_owned(), "xy".to_owned()));
    assert_eq!(one[0], json!({"type": "start", "messageId": ids[0]}));
    assert_eq!(two[0], json!({"type": "start", "messageId": ids[1]}));
    let kinds = ["start", "text-start", "text-delta", "text-delta", "text-end", "finish"];
    assert_eq!(one.iter().map(|chunk| chunk["type"].as_str().unwrap()).collect::<Vec<_>>(), kinds);
    assert_eq!(bus.subscribers(), 0);
}

#[tokio::test]
async fn item_01_a_chat_reconnects_to_its_stream() {
    let bus = Bus::default();
    let transport = transport(&bus);
    let extensions = Extensions::new();
    assert!(transport.reconnect_to_stream("chat-1", &extensions).is_none());
    let response = transport.respond_reconnect("chat-1", &extensions);
    assert_eq!(response.status(), StatusCode::NO_CONTENT);
    assert_eq!(read(response).await, "");

    bus.keeps("chat-1", "m9", [text("Hel"), text("lo"), complete()]);
    let stream = transport.reconnect_to_stream("chat-1", &extensions).unwrap();
    let chunks = chunks(stream).await;
    assert_eq!((chunks[0]["messageId"].as_str(), said(&chunks).as_str()), (Some("m9"), "Hello"));
    let response = transport.respond_reconnect("chat-1", &extensions);
    assert_eq!(response.headers()["x-vercel-ai-ui-message-stream"], "v1");
    assert!(read(response).await.ends_with("data: [DONE]\n\n"));
    assert!(transport.reconnect_to_stream("chat-2", &extensions).is_none());
    assert_eq!(bus.subscribers(), 0);
}

#[tokio::test]
async fn item_21_a_stream_subscribes_then_dispatches_and_unsubscribes_at_its_end() {
    let bus = Bus::default();
    let mut stream = send(&transport(&bus), "Hello");
    let id = stream.message_id().clone();
    let begun =
        [format!("subscribe {id}"), format!("dispatch {id} {}", json!({"type": "send", "message": "Hello"}))];
    assert_eq!(bus.log(), begun);
    assert!(poll_immediate(stream.next()).await.is_none(), "the runtime has sent no event");

    bus.emit(&id, text("Hi"));
    bus.emit(&id, complete());
    bus.emit(&id, text("never taken"));
    let mut seen = 0;
    while bus.subscribers() == 1 {
        assert!(stream.next().now_or_never().flatten().is_some());
        seen += 1;
    }
    assert_eq!(seen, 4, "the stream must unsubscribe at the last event, before its chunks are read");
    assert_eq!(bus.log()[2..], [format!("unsubscribe {id}")]);
    assert_eq!(ended(stream.by_ref().count()).await, 1);
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn item_21_dropping_a_stream_unsubscribes() {
    let bus = Bus::default();
    let transport = transport(&bus);
    let streams: Vec<_> = (0..100).map(|_| send(&transport, "Hello")).collect();
    assert_eq!(bus.subscribers(), 100);
    for (number, mut stream) in streams.into_iter().enumerate() {
        match number % 4 {
            0 => drop(stream),
            1 => {
                bus.emit(stream.message_id(), text("Hi"));
                assert!(stream.next().await.is_some());
                drop(stream);
            }
            2 => drop(stream.into_chunks()),
            _ => {
                bus.emit(stream.message_id(), complete());
                assert_eq!(ended(stream.count()).await, 2);
            }
        }
        assert_eq!(bus.subscribers(), 99 - number);
    }
}

/// Serves one connection and returns the client's end of it.
async fn connect(transport: Bridge, body: &str) -> TcpStream {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (socket, _) = listener.accept().await.unwrap();
        let service = hyper::service::service_fn(move |request| {
            let transport = transport.clone();
            async move {
                let posted = transport.read(request).await.unwrap();
                Ok::<_, std::convert::Infallible>(transport.respond(posted))
            }
        });
        let _ =
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(socket), service).await;
    });
    let mut client = TcpStream::connect(address).await.unwrap();
    let head = "POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ";
    client.write_all(format!("{head}{}\r\n\r\n{body}", body.len()).as_bytes()).await.unwrap();
    client
}

#[tokio::test]
async fn item_21_a_client_that_disconnects_unsubscribes() {
    let bus = Bus::default();
    let options = BridgeOptions::new().generate_message_id(|| "m1".into());
    let transport = Bridge::new(bus.clone(), options);
    let mut client = connect(transport, &json!({"messages": asking("Hello")}).to_string()).await;
    bus.subscribed().await;
    bus.emit("m1", text("Hi"));
    let mut seen = String::new();
    while !seen.contains("text-delta") {
        let mut buffer = [0; 4096];
        let read = client.read(&mut buffer).await.unwrap();
        seen.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
    assert_eq!(bus.subscribers(), 1);
    drop(client);
    tokio::time::timeout(Duration::from_millis(250), bus.unsubscribed()).await.expect("within 250 ms");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_stops_reading_is_unsubscribed() {
    let bus = Bus::default();
    let transport = transport(&bus);
    let read = respond(&transport, post(&asking("one"))).await;
    let unread = respond(&transport, post(&asking("two"))).await;
    let mut read = read.into_body();
    let reader = tokio::spawn(async move { while read.frame().await.is_some() {} });
    tokio::time::sleep(Duration::from_secs(29)).await;
    assert_eq!(bus.subscribers(), 2);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(bus.subscribers(), 1, "the body that is not polled must unsubscribe");
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(bus.subscribers(), 1, "the body that waits for the runtime must stay subscribed");
    assert!(unread.into_body().collect().await.is_err(), "the connection of the unread body must close");
    reader.abort();
    assert!(reader.await.unwrap_err().is_cancelled());
    assert_eq!(bus.subscribers(), 0);
}

/// Collects the log at level `warn` and above.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn install() -> (Self, tracing::subscriber::DefaultGuard) {
        // Otherwise, the subscribers of other tests decide which call sites are enabled.
        drop(crate::spans::Recorder::install());
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::WARN)
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        (log, tracing::subscriber::set_default(subscriber))
    }

    fn lines(&self) -> Vec<String> {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap().lines().map(str::to_owned).collect()
    }
}

#[tokio::test]
async fn item_25_skipped_events_are_logged() {
    let (log, _guard) = Log::install();
    let bus = Bus::default();
    let stream = send(&transport(&bus), "Hello");
    let id = stream.message_id().clone();
    bus.emit(&id, text("Hel"));
    bus.emit(&id, json!({"type": "agent:tool", "runId": "r1", "nodeId": "n1", "toolInput": "secret"}));
    bus.emit(&id, json!({"type": "state:patch"}));
    bus.emit(&id, text("lo"));
    bus.emit(&id, complete());
    assert_eq!(said(&chunks(stream).await), "Hello", "the stream must continue");
    let lines = log.lines();
    assert_eq!(lines.len(), 1, "events that a chat does not show are not faults: {lines:?}");
    for part in ["WARN", "agent:tool", "toolName", id.as_str()] {
        assert!(lines[0].contains(part), "{part}: {lines:?}");
    }
    assert!(!lines[0].contains("secret"));
}

#[tokio::test]
async fn item_30_message_ids_are_unique() {
    let bus = Bus::default();
    let transport = transport(&bus);
    let mut ids: Vec<_> = (0..1_000).map(|_| send(&transport, "Hello").message_id().clone()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 1_000);
}

#[tokio::test]
async fn the_response_is_that_of_the_dialect() {
    let bus = Bus::default();
    let transport = transport(&bus);
    let response = respond(&transport, post(&asking("Hello"))).await;
    assert_eq!(response.status(), StatusCode::OK);
    let headers = [
        ("content-type", "text/event-stream"),
        ("cache-control", "no-cache, no-store, no-transform"),
        ("x-vercel-ai-ui-message-stream", "v1"),
        ("x-accel-buffering", "no"),
    ];
    for (name, value) in headers {
        assert_eq!(response.headers()[name], value);
    }
    let id = bus.last_message_id();
    bus.emit(&id, text("Hello"));
    bus.emit(&id, complete());
    let body = read(response).await;
    let start = format!("id: 0\ndata: {{\"type\":\"start\",\"messageId\":\"{id}\"}}\n\n");
    assert!(body.starts_with(&start), "{body}");
    assert!(
        body.ends_with("data: {\"type\":\"finish\",\"finishReason\":\"stop\"}\n\ndata: [DONE]\n\n"),
        "{body}"
    );

    let mut request = post(&asking("Hello"));
    request.headers_mut().insert("accept", "application/x-ndjson".parse().unwrap());
    let response = respond(&transport, request).await;
    assert_eq!(response.headers()["content-type"], "application/x-ndjson");
    bus.emit(&bus.last_message_id(), complete());
    assert_eq!(read(response).await.lines().count(), 2);
    assert_eq!(bus.subscribers(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_silent_runtime_does_not_silence_the_connection() {
    let bus = Bus::default();
    let transport = transport(&bus);
    let mut body = respond(&transport, post(&asking("Hello"))).await.into_body();
    let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(frame, ": keep-alive\n\n");
}

#[tokio::test]
async fn times_beyond_the_range_of_the_clock_are_accepted() {
    let bus = Bus::default();
    let mut limits = Limits::default();
    let set: [fn(&mut Limits); 3] = [
        |limits| limits.body_timeout = Duration::MAX,
        |limits| limits.keep_alive = Duration::MAX,
        |limits| limits.write_timeout = Duration::MAX,
    ];
    for set in set {
        set(&mut limits);
        let transport = transport(&bus).with_limits(limits.clone());
        let response = respond(&transport, post(&asking("Hello"))).await;
        let answer = tokio::spawn(read(response));
        tokio::task::yield_now().await;
        bus.emit(&bus.last_message_id(), complete());
        assert!(answer.await.unwrap().ends_with("data: [DONE]\n\n"));
    }
}

#[tokio::test]
async fn options_reach_the_wire() {
    let bus = Bus::default();
    let options = BridgeOptions::new().literal_step_start(true).send_reasoning(false);
    let transport = Bridge::new(bus.clone(), options);
    let response = respond(&transport, post(&asking("Hello"))).await;
    let id = bus.last_message_id();
    bus.emit(&id, json!({"type": "node:start", "nodeId": "n1", "runId": "r1"}));
    bus.emit(&id, agent("agent:thinking:delta", json!({"content": "Hm"})));
    bus.emit(&id, complete());
    let body = read(response).await;
    assert!(body.contains("data: {\"type\":\"step-start\"}\n"), "{body}");
    assert!(!body.contains("start-step") && !body.contains("reasoning"), "{body}");
}

/// Returns the types of the AG-UI events of a runtime's answer.
async fn ag_ui(bus: &Bus, transport: &Bridge, events: [Value; 4]) -> Vec<String> {
    let body = json!({
        "threadId": "chat-1", "runId": "run-1", "state": null, "tools": [], "context": [], "forwardedProps": {},
        "messages": [{"id": "u1", "role": "user", "content": "Hello"}],
    });
    let mut posted = ag_ui::read_request(body.to_string().into(), transport.limits()).unwrap();
    let encoder = posted.encoder();
    let request = std::mem::take(&mut posted.request);
    let response = transport.respond_in(request, Extensions::new(), ag_ui::HEADERS, encoder);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    for event in events {
        bus.emit(&bus.last_message_id(), event);
    }
    let body = read(response).await;
    let events =
        body.split("\n\n").filter_map(|frame| frame.lines().find_map(|line| line.strip_prefix("data: ")));
    let kind = |event| serde_json::from_str::<Value>(event).unwrap()["type"].as_str().unwrap().to_owned();
    events.map(kind).collect()
}

#[tokio::test]
async fn every_dialect_can_serve_a_runtime() {
    let bus = Bus::default();
    let transport = Bridge::new(bus.clone(), BridgeOptions::new().end_at_error(true));
    let tool = agent("agent:tool", json!({"toolName": "find", "toolInput": {"q": 1}, "toolOutput": 2}));
    let whole = ag_ui(&bus, &transport, [text("Let me see."), tool, text("Two."), complete()]).await;
    let message = ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"];
    let call = ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT"];
    let expected = [&["RUN_STARTED"], &message[..], &call[..], &message[..], &["RUN_FINISHED"]].concat();
    assert_eq!(whole, expected);

    let error = agent("agent:error", json!({"message": "The quota is used up."}));
    let failed = ag_ui(&bus, &transport, [text("Let "), error, text("me see."), complete()]).await;
    assert_eq!(failed, [&["RUN_STARTED"], &message[..], &["RUN_ERROR"]].concat());
    assert_eq!(bus.subscribers(), 0);
}

#[tokio::test]
async fn the_runtime_receives_the_request() {
    let bus = Bus::default();
    let transport = transport(&bus);
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new("user-7"));
    let mut request = RunRequest::new(vec![
        Message::user("u1", "First"),
        Message::assistant("a1", "Answer"),
        Message::user("u2", "Second"),
    ]);
    request.chat_id = Some("chat-1".into());
    let stream = transport.send_messages(request.clone(), extensions).unwrap();
    let run = bus.last_run();
    assert_eq!((run.principal().id(), run.message_id.as_str()), ("user-7", stream.message_id().as_str()));
    assert_eq!(run.request, request);
    assert!(bus.log()[1].ends_with(r#"{"message":"Second","type":"send"}"#), "{:?}", bus.log());

    // The run continues the message that was posted last.
    request.messages.pop();
    let continued = transport.send_messages(request, Extensions::new()).unwrap();
    assert_eq!(continued.message_id(), "a1");
    assert_eq!(bus.last_run().request.messages.last().unwrap().role, Role::Assistant);
}

#[tokio::test]
async fn a_request_without_a_user_is_refused() {
    let bus = Bus::default();
    let transport = transport(&bus);
    assert!(transport.send_messages(RunRequest::default(), Extensions::new()).is_err());
    let messages = json!([{"id": "a1", "role": "assistant", "parts": [{"type": "text", "text": "Hi"}]}]);
    let response = respond(&transport, post(&messages)).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let body: Value = serde_json::from_str(&read(response).await).unwrap();
    assert_eq!(
        (body["error"]["code"].as_str(), body["error"]["path"].as_str()),
        (Some("invalid_request"), Some("messages"))
    );
    assert_eq!(bus.log(), [] as [String; 0], "the runtime must not receive the request");
}

#[tokio::test]
async fn a_runtime_that_refuses_or_stops_fails_the_message() {
    let (log, _guard) = Log::install();
    let bus = Bus::default();
    let transport = transport(&bus);
    bus.refuses("canary of the host");
    let refused = send(&transport, "Hello");
    assert_eq!(bus.subscribers(), 0);
    let refused = chunks(refused).await;
    assert_eq!(refused[0]["type"], "start");
    assert_eq!(refused[1]["messageMetadata"], json!({"error": {"code": "internal"}}));
    assert_eq!(refused[2], json!({"type": "error", "errorText": "An internal error occurred."}));
    assert!(log.lines()[0].contains("canary of the host"), "{:?}", log.lines());

    let stream = send(&transport, "Hello");
    bus.emit(stream.message_id(), text("Hel"));
    bus.hang_up(stream.message_id());
    let interrupted = chunks(stream).await;
    let [.., end, code, error] = &interrupted[..] else { panic!("{interrupted:?}") };
    assert_eq!(end["type"], "text-end");
    assert_eq!(code["messageMetadata"], json!({"error": {"code": "stream_interrupted"}}));
    assert_eq!(error["errorText"], "The answer was interrupted before it was complete.");
}

#[test]
fn a_transport_can_be_shared_and_printed() {
    fn is_shared<T: Clone + Send + Sync + 'static>(_: &T) {}
    let transport = transport(&Bus::default()).with_limits(Limits::default());
    is_shared(&transport);
    assert!(format!("{transport:?}").contains("send_reasoning: true"));
}
