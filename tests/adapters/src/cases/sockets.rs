//! A tree of agents over a WebSocket, on a real socket. HTTP/2 has no upgrade, so its requests are refused.

use futures_util::{SinkExt, StreamExt};
use http::Request;
use omniassist_server::AssistantBuilder;
use omniassist_server::agents::Explore;
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::host::{Host, USER};
use crate::stage::{assistant, closed, run, says};
use crate::transport::Transport;
use crate::wire::{Ask, soon};

type Client = WebSocketStream<TcpStream>;

fn quiet(builder: AssistantBuilder) -> AssistantBuilder {
    builder.explore(Explore::new().asks(false).sub_questions(0))
}

/// Opens a WebSocket. Returns the status if it is refused.
async fn open(host: &Host, path: &str, headers: &[(&str, &str)]) -> Result<Client, u16> {
    let address = host.address;
    let mut request = Request::get(format!("ws://{address}{path}"))
        .header("host", address.to_string())
        .header("connection", "Upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", generate_key());
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let socket = TcpStream::connect(address).await.unwrap();
    match soon("a handshake", client_async(request.body(()).unwrap(), socket)).await {
        Ok((client, _)) => Ok(client),
        Err(Error::Http(response)) => Err(response.status().as_u16()),
        Err(other) => panic!("{other}"),
    }
}

async fn start(client: &mut Client, prompt: &str) {
    let frame = json!({ "type": "start-agent", "prompt": prompt });
    client.send(Message::text(frame.to_string())).await.unwrap();
}

async fn next(client: &mut Client) -> Value {
    loop {
        match soon("a frame", client.next()).await.expect("an open connection").unwrap() {
            Message::Text(text) => return serde_json::from_str(&text).unwrap(),
            Message::Ping(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

async fn until(client: &mut Client, kind: &str) -> Vec<Value> {
    let mut frames = Vec::new();
    loop {
        frames.push(next(client).await);
        if frames.last().unwrap()["type"] == kind {
            return frames;
        }
    }
}

async fn closed_with(client: &mut Client) -> u16 {
    loop {
        match soon("a close", client.next()).await {
            Some(Ok(Message::Close(Some(frame)))) => return frame.code.into(),
            Some(Ok(_)) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// Answers `true` after a check for HTTP/2, which has no upgrade.
async fn is_without_upgrade(on: Transport, host: &Host) -> bool {
    if on.is_http2() {
        let refused = host.ask(&Ask::get("/assistant/ws")).await.whole().await;
        assert_eq!((refused.status(), &refused.json()["error"]["code"]), (426, &json!("upgrade_required")));
    }
    on.is_http2()
}

pub(crate) async fn a_tree_from_its_start_to_its_end(on: Transport) {
    let host = Host::start(on, &quiet(assistant(says("Hello there"))).build().unwrap()).await;
    if is_without_upgrade(on, &host).await {
        return;
    }
    let mut client = open(&host, "/assistant/ws", &[]).await.unwrap();
    for prompt in ["Compare lamps", "Compare chairs"] {
        start(&mut client, prompt).await;
        let frames = until(&mut client, "agent-completed").await;
        assert_eq!(frames[0]["state"]["userContent"], prompt);
        assert_eq!(frames[0]["state"]["status"], "running");
        let text: String = frames.iter().filter_map(|frame| frame["delta"].as_str()).collect();
        assert_eq!(text, "Hello there");
    }
    client.send(Message::text(r#"{"type":"get-agent-tree"}"#)).await.unwrap();
    assert_eq!(until(&mut client, "agent-tree").await.len(), 2);
    // The server answers the close of the client, which otherwise counts as a failure.
    client.close(None).await.unwrap();
    let mut is_answered = false;
    while let Some(message) = soon("the end", client.next()).await {
        is_answered |= matches!(message.unwrap(), Message::Close(_));
    }
    assert!(is_answered);
}

pub(crate) async fn the_upgrade_passes_the_checks_of_every_route(on: Transport) {
    let model = says("Hello there");
    let host = Host::start(on, &quiet(closed(model.clone())).build().unwrap()).await;
    if on.is_http2() {
        return;
    }
    assert_eq!(open(&host, "/assistant/ws", &[]).await.unwrap_err(), 401);
    let foreign = [(USER, "ada"), ("origin", "https://evil.example")];
    assert_eq!(open(&host, "/assistant/ws", &foreign).await.unwrap_err(), 403);
    assert_eq!(open(&host, "/assistant/ws?agent=nobody", &[(USER, "ada")]).await.unwrap_err(), 404);
    let own = format!("http://{}", host.address);
    let mut client = open(&host, "/assistant/ws", &[(USER, "ada"), ("origin", &own)]).await.unwrap();
    assert!(model.payloads().is_empty());
    start(&mut client, "Compare lamps").await;
    until(&mut client, "agent-completed").await;
    let plain = host.ask(&Ask::get("/assistant/ws").header(USER, "ada")).await.whole().await;
    assert_eq!(plain.status(), 426);
}

pub(crate) async fn a_message_that_is_too_large_closes_with_1009(on: Transport) {
    let host = Host::start(on, &quiet(assistant(says("Hello"))).build().unwrap()).await;
    if on.is_http2() {
        return;
    }
    let mut client = open(&host, "/assistant/ws", &[]).await.unwrap();
    client.send(Message::text(" ".repeat(1024 * 1024))).await.unwrap();
    assert_eq!(next(&mut client).await["type"], "error");
    let _ = client.send(Message::text(" ".repeat(1024 * 1024 + 1))).await;
    assert_eq!(closed_with(&mut client).await, 1009);
}

/// The body of a request that offers an upgrade, and is no `GET` or does not ask for it, is its body.
pub(crate) async fn a_post_that_offers_an_upgrade_keeps_its_body(on: Transport) {
    let host = Host::start(on, &quiet(assistant(says("Hello"))).build().unwrap()).await;
    if on.is_http2() {
        return;
    }
    for connection in ["upgrade", "keep-alive"] {
        let ask = run("/assistant").header("upgrade", "websocket").header("connection", connection);
        let answer = host.ask(&ask).await.whole().await;
        assert_eq!((answer.status(), answer.words().as_str()), (200, "Hello"), "{connection}");
    }
}

pub(crate) async fn a_client_that_is_gone_ends_its_agents(on: Transport) {
    let model = ScriptedProvider::new().otherwise(|_| text("begun").then(Turn::pending()));
    let host = Host::start(on, &quiet(assistant(model.clone())).build().unwrap()).await;
    if on.is_http2() {
        return;
    }
    let mut client = open(&host, "/assistant/ws", &[]).await.unwrap();
    start(&mut client, "Compare lamps").await;
    until(&mut client, "text-delta").await;
    let since = std::time::Instant::now();
    drop(client);
    soon("the model is left", model.dropped()).await;
    assert!(since.elapsed() < std::time::Duration::from_millis(250), "{:?}", since.elapsed());
}

pub(crate) async fn a_slow_reader_slows_the_agents_down(on: Transport) {
    const PIECES: usize = 400_000;
    let pieces = || Turn::text_chunks((0..PIECES).map(|_| "0123456789".repeat(10)));
    let model = ScriptedProvider::new().otherwise(move |_| pieces());
    let host = Host::start(on, &quiet(assistant(model.clone())).build().unwrap()).await;
    if on.is_http2() {
        return;
    }
    let mut client = open(&host, "/assistant/ws", &[]).await.unwrap();
    start(&mut client, "Compare lamps").await;
    until(&mut client, "text-delta").await;
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    // 40 MB would be more than the buffers of sockets hold.
    drop(client);
    soon("the model is left", model.dropped()).await;
}

pub(crate) async fn draining_closes_with_1001(on: Transport) {
    let assistant = quiet(assistant(says("Hello"))).build().unwrap();
    let host = Host::start(on, &assistant).await;
    if on.is_http2() {
        return;
    }
    let mut client = open(&host, "/assistant/ws", &[]).await.unwrap();
    assistant.drain(std::time::Duration::from_millis(10)).await;
    assert_eq!(closed_with(&mut client).await, 1001);
    assert_eq!(open(&host, "/assistant/ws", &[]).await.unwrap_err(), 503);
}
