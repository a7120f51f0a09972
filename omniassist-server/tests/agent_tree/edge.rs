//! The limits of a WebSocket, and of the request for one. Contract A.5, 27.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::SinkExt;
use http::StatusCode;
use omniassist_server::access::{AuthError, AuthRequest};
use omniassist_server::agents::Explore;
use omniassist_server::core::Limits;
use omniassist_server::testing::{Turn, text};
#[cfg(feature = "rate-limit")]
use omniassist_server::throttle::InMemoryRateLimit;
use omniassist_server::{Assistant, Principal, RunContext};
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

use super::{Call, Client, builder, model, request};

fn quiet() -> Assistant {
    builder(&model(|_, _, _| None)).explore(Explore::new().asks(false)).build().unwrap()
}

async fn refused(assistant: &Assistant, request: http::request::Builder) -> StatusCode {
    Client::with(assistant, request).await.err().expect("no upgrade")
}

#[tokio::test]
async fn a5_27_a_page_of_another_origin_is_refused_before_the_upgrade() {
    let assistant = quiet();
    assert_eq!(refused(&assistant, request("/ws").header("origin", "https://evil.example")).await, 403);
    Client::with(&assistant, request("/ws").header("origin", "http://localhost")).await.unwrap();
    let model = model(|_, _, _| None);
    let listed = builder(&model).allow_origin("https://shop.example").build().unwrap();
    Client::with(&listed, request("/ws").header("origin", "https://shop.example")).await.unwrap();
    assert_eq!(refused(&listed, request("/ws").header("origin", "https://evil.example")).await, 403);
}

#[tokio::test]
async fn a5_27_a_connection_is_that_of_its_principal() {
    let model = model(|_, _, _| None);
    let by_token = |request: AuthRequest| async move {
        let offered = request.headers().get_all("sec-websocket-protocol");
        assert!(offered.iter().all(|value| value.is_sensitive()), "{offered:?}");
        assert!(request.headers().get_all("authorization").iter().all(|value| value.is_sensitive()));
        match request.bearer() {
            Some("secret-of-ada~") => Ok(Some(Principal::new("ada"))),
            Some(_) => Err(AuthError::unauthenticated()),
            None => Ok(None),
        }
    };
    let assistant = Assistant::builder(model.clone())
        .authenticate(by_token)
        .system_prompt(|run: &RunContext| format!("For {}.", run.principal().id()))
        .explore(Explore::new().asks(false))
        .build()
        .unwrap();
    assert_eq!(refused(&assistant, request("/ws")).await, 401);
    let bearer = |token: &str| format!("omniassist.bearer.{}", URL_SAFE_NO_PAD.encode(token));
    let with = |value: String| request("/ws").header("sec-websocket-protocol", value);
    assert_eq!(refused(&assistant, with(bearer("wrong"))).await, 401);
    assert_eq!(refused(&assistant, with("omniassist.bearer.!!".to_owned())).await, 401);
    // The token is in no answer. A browser closes a connection whose answer names no subprotocol that it offered.
    let alone = Client::with(&assistant, with(bearer("secret-of-ada~"))).await.unwrap();
    assert_eq!(alone.headers.get("sec-websocket-protocol"), None);
    let plain = with(format!("{}, omniassist.agents", bearer("secret-of-ada~")));
    let mut plain = Client::with(&assistant, plain).await.unwrap();
    assert_eq!(plain.headers["sec-websocket-protocol"], "omniassist.agents");
    plain.send(&json!({ "type": "get-agent-tree" })).await;
    assert_eq!(plain.raw().await, r#"{"type":"agent-tree","agentIds":[]}"#);
    let both = with(format!("omniassist.agents.v1, {}", bearer("secret-of-ada~")));
    let mut client = Client::with(&assistant, both).await.unwrap();
    assert_eq!(client.headers["sec-websocket-protocol"], "omniassist.agents.v1");
    let mut header = http::HeaderValue::from_static("Bearer secret-of-ada~");
    header.set_sensitive(true);
    Client::with(&assistant, request("/ws").header("authorization", header)).await.unwrap();
    client.start("Compare lamps").await;
    client.until("agent-completed").await;
    assert!(model.payloads().iter().all(|payload| payload.system.as_deref() == Some("For ada.")));
}

#[tokio::test]
async fn a5_27_only_a_websocket_of_version_13_is_upgraded() {
    let assistant = quiet();
    let plain = http::Request::get("/ws").header("host", "localhost");
    assert_eq!(refused(&assistant, plain).await, 426);
    let old = http::Request::get("/ws")
        .header("host", "localhost")
        .header("connection", "keep-alive, Upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "8")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
    assert_eq!(refused(&assistant, old).await, 426);
    assert_eq!(refused(&assistant, request("/ws").version(http::Version::HTTP_2)).await, 426);
    assert_eq!(refused(&assistant, request("/ws").method("POST")).await, 405);
    let answer = Client::open(&assistant).await.headers;
    // The example of RFC 6455, 1.3.
    assert_eq!(answer["sec-websocket-accept"], "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

fn frame(bytes: usize, code: Data, is_final: bool) -> Message {
    Message::Frame(Frame::message(vec![b' '; bytes], OpCode::Data(code), is_final))
}

#[tokio::test]
async fn a5_27_a_message_has_1_mib_in_one_frame_or_in_several() {
    const MIB: usize = 1024 * 1024;
    let assistant = quiet();
    let mut client = Client::open(&assistant).await;
    // Blanks are no JSON, so a message that fits is answered.
    client.socket.send(frame(MIB, Data::Text, true)).await.unwrap();
    assert_eq!(client.next().await["type"], "error");
    for part in 0..4 {
        let code = if part == 0 { Data::Text } else { Data::Continue };
        client.socket.send(frame(MIB / 4, code, part == 3)).await.unwrap();
    }
    assert_eq!(client.next().await["type"], "error");
    // The connection may be closed before all of it was sent.
    let _ = client.socket.send(frame(MIB + 1, Data::Text, true)).await;
    assert_eq!(client.closed().await, 1009);

    let mut client = Client::open(&assistant).await;
    for part in 0..5 {
        let code = if part == 0 { Data::Text } else { Data::Continue };
        let bytes = if part == 4 { 1 } else { MIB / 4 };
        let _ = client.socket.send(frame(bytes, code, part == 4)).await;
    }
    assert_eq!(client.closed().await, 1009);
}

#[tokio::test]
async fn a5_27_empty_parts_of_a_message_count_as_frames() {
    let mut client = Client::open(&quiet()).await;
    client.socket.send(frame(1, Data::Text, false)).await.unwrap();
    // The connection is closed before all of them were sent.
    for _ in 0..100_000 {
        if client.socket.send(frame(0, Data::Continue, false)).await.is_err() {
            break;
        }
    }
    assert_eq!(client.closed().await, 1008);
}

/// A browser sends each message as one frame.
#[tokio::test]
async fn a5_27_a_prompt_has_256_kib() {
    let mut client = Client::open(&quiet()).await;
    client.start(&"x".repeat(256 * 1024)).await;
    client.until("agent-completed").await;
    client.start(&"x".repeat(256 * 1024 + 1)).await;
    assert_eq!(
        client.next().await,
        json!({ "type": "error", "error": "`prompt` has at most 262144 bytes." })
    );
    client.start("Compare lamps").await;
    client.until("agent-completed").await;
}

#[tokio::test]
async fn a5_27_a_blank_question_leaves_the_tree() {
    let mut client = Client::open(&quiet()).await;
    client.start("Compare lamps").await;
    client.until("agent-completed").await;
    client.start(" \n").await;
    let error = "`prompt`: expected a task, found a blank text.";
    assert_eq!(client.next().await, json!({ "type": "error", "error": error }));
    client.send(&json!({ "type": "get-agent-tree" })).await;
    assert_eq!(client.next().await["state"]["userContent"], "Compare lamps");
}

#[tokio::test]
async fn a5_27_32_faults_in_a_row_end_the_connection() {
    let mut limits = Limits::default();
    limits.max_socket_frames_per_second = 64;
    let model = model(|_, _, _| None);
    let assistant = builder(&model).limits(limits).build().unwrap();
    let mut client = Client::open(&assistant).await;
    for _ in 0..31 {
        client.socket.send(Message::text("no")).await.unwrap();
        assert_eq!(client.next().await["type"], "error");
    }
    client.send(&json!({ "type": "get-agent-tree" })).await;
    assert_eq!(client.next().await["type"], "agent-tree");
    for _ in 0..32 {
        client.socket.send(Message::text("no")).await.unwrap();
    }
    for _ in 0..32 {
        assert_eq!(client.next().await["type"], "error");
    }
    assert_eq!(client.closed().await, 1008);
}

#[tokio::test]
async fn a5_27_trees_count_as_runs_of_their_principal() {
    let model = model(|call, _, _| (call == Call::Work).then(|| text("begun").then(Turn::pending())));
    let mut limits = Limits::default();
    limits.max_runs_per_principal = 1;
    let assistant = builder(&model).limits(limits).explore(Explore::new().asks(false)).build().unwrap();
    let open = async |user: &str| {
        Client::with(&assistant, request("/ws").extension(Principal::new(user))).await.unwrap()
    };
    let (mut one, mut two, mut other) = (open("ada").await, open("ada").await, open("vera").await);
    one.start("red lamps").await;
    one.until("text-delta").await;
    two.start("blue lamps").await;
    let refused = two.next().await;
    assert!(refused["type"] == "error" && refused["error"].as_str().unwrap().contains('1'), "{refused}");
    other.start("blue lamps").await;
    other.until("text-delta").await;
    // The slot is free again when the tree ends.
    drop(one);
    model.dropped().await;
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    two.start("blue lamps").await;
    two.until("text-delta").await;
}

#[cfg(feature = "rate-limit")]
#[tokio::test]
async fn a5_27_rate_limits_apply_to_trees() {
    let model = model(|_, _, _| None);
    let rate = InMemoryRateLimit::per_minute(1);
    let assistant = builder(&model).rate_limit(rate).explore(Explore::new().asks(false)).build().unwrap();
    let mut client = Client::with(&assistant, request("/ws").extension(Principal::new("ada"))).await.unwrap();
    client.start("Compare lamps").await;
    client.until("agent-completed").await;
    let calls = model.payloads().len();
    client.start("Compare lamps").await;
    assert_eq!(client.next().await["type"], "error");
    assert_eq!(model.payloads().len(), calls);
}

#[tokio::test]
async fn a5_27_text_is_sent_as_it_is_and_within_json() {
    let model =
        model(|call, _, _| (call == Call::Work).then(|| text("<script>alert(\"x\")</script>\u{2028}")));
    let assistant = builder(&model).explore(Explore::new().asks(false)).build().unwrap();
    let mut client = Client::open(&assistant).await;
    client.start("<img src=x onerror=alert(1)>").await;
    let frames = client.until("agent-completed").await;
    assert_eq!(frames[0]["state"]["userContent"], "<img src=x onerror=alert(1)>");
    let delta = frames.iter().find(|frame| frame["type"] == "text-delta").unwrap();
    assert_eq!(delta["delta"], "<script>alert(\"x\")</script>\u{2028}");
}
