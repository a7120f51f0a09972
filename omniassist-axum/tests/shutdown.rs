//! Tests of the documented graceful shutdown, with streams that do not end by themselves.

use std::time::Duration;

use axum::Router;
use omniassist_axum::testing::{ScriptedProvider, Turn};
use omniassist_axum::{Assistant, CancellationToken};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::serving::{ask, texts};

/// Serves with the documented pattern and another deadline.
async fn serve(
    listener: TcpListener,
    app: Router,
    assistant: Assistant,
    stopped: impl Future<Output = ()>,
    deadline: Duration,
) -> std::io::Result<()> {
    let stop = CancellationToken::new();
    let server = axum::serve(listener, app).with_graceful_shutdown(stop.cancelled());
    let drained = async {
        stopped.await;
        stop.cancel();
        assistant.drain(deadline).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    tokio::select! {
        ended = async { server.await } => ended?,
        () = drained => {}
    }
    assistant.shutdown().await;
    Ok(())
}

struct Served {
    url: String,
    stop: CancellationToken,
    serving: JoinHandle<std::io::Result<()>>,
}

async fn start(assistant: Assistant, deadline: Duration) -> Served {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let app = Router::new().nest_service("/assistant", omniassist_axum::router(assistant.clone()));
    let stop = CancellationToken::new();
    let serving = tokio::spawn(serve(listener, app, assistant, stop.cancelled(), deadline));
    Served { url, stop, serving }
}

fn chunks(body: &str) -> Vec<Value> {
    let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}

async fn ended(serving: JoinHandle<std::io::Result<()>>) {
    tokio::time::timeout(Duration::from_secs(60), serving).await.expect("it ends").unwrap().unwrap();
}

#[tokio::test]
async fn endless_streams_get_an_error_and_the_server_ends() {
    let model = ScriptedProvider::new().otherwise(|_| Turn::text("So far").then(Turn::pending()));
    let assistant = Assistant::builder(model.clone()).allow_anonymous().build().unwrap();
    let Served { url, stop, serving } = start(assistant.clone(), Duration::from_millis(200)).await;
    let mut responses = Vec::new();
    for _ in 0..20 {
        responses.push(ask(&format!("{url}/assistant"), "hi").await);
    }
    while model.payloads().len() < 20 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    stop.cancel();
    for response in responses {
        let body = response.text().await.expect("the response is complete");
        let chunks = chunks(&body);
        assert_eq!(texts(&chunks), "So far");
        let codes: Vec<_> =
            chunks.iter().filter_map(|chunk| chunk.pointer("/messageMetadata/error/code")).collect();
        assert_eq!(codes, ["server_shutdown"]);
        assert_eq!(chunks.last().unwrap()["type"], "error");
        assert!(body.ends_with("data: [DONE]\n\n"), "{body}");
    }
    ended(serving).await;
    assert_eq!(model.drops(), 20);
    assert!(TcpStream::connect(url.trim_start_matches("http://")).await.is_err(), "the port is closed");
}

#[tokio::test]
async fn an_answer_that_ends_in_time_is_complete_and_the_server_then_ends() {
    let slow =
        Turn::text("So far").then(Turn::delay(Duration::from_millis(150))).then(Turn::text(", and the rest"));
    let assistant = Assistant::builder(ScriptedProvider::new().turn(slow)).allow_anonymous().build().unwrap();
    let Served { url, stop, serving } = start(assistant, Duration::from_secs(3600)).await;
    let response = ask(&format!("{url}/assistant"), "hi").await;
    stop.cancel();
    let chunks = chunks(&response.text().await.unwrap());
    assert_eq!(texts(&chunks), "So far, and the rest");
    assert_eq!(chunks.last().unwrap()["type"], "finish");
    ended(serving).await;
}

#[tokio::test]
async fn a_client_that_never_reads_does_not_delay_the_shutdown() {
    // The answer is larger than the buffers of both sockets.
    let piece = "x".repeat(64 * 1024);
    let model = ScriptedProvider::new()
        .otherwise(move |_| Turn::text_chunks(vec![piece.clone(); 512]).then(Turn::pending()));
    let assistant = Assistant::builder(model.clone()).allow_anonymous().build().unwrap();
    let Served { url, stop, serving } = start(assistant.clone(), Duration::from_millis(200)).await;
    let mut client = TcpStream::connect(url.trim_start_matches("http://")).await.unwrap();
    let body = json!({"messages": [{"id": "m1", "role": "user", "content": "hi"}]}).to_string();
    let head = format!(
        "POST /assistant HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    client.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    let mut first = [0; 12];
    client.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    stop.cancel();
    ended(serving).await;
    assert_eq!(assistant.live_runs(), 1, "the run is dropped with its connection");
    assert_eq!(model.drops(), 1, "the provider's connection is closed already");
}
