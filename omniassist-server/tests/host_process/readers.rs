//! Tests of stalled and slow readers together with other readers over real sockets.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use omniassist_server::Assistant;
use omniassist_server::core::Limits;
use omniassist_server::http::AssistantService;
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const STALLED: usize = 20;
const SLOW: usize = 5;
const HEALTHY: usize = 20;

async fn serve(assistant: Assistant) -> SocketAddr {
    let service = AssistantService::new(assistant);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            let service = service.clone();
            let service = hyper::service::service_fn(move |request| {
                let service = service.clone();
                async move { Ok::<_, Infallible>(service.handle(request).await) }
            });
            let connection =
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(socket), service);
            tokio::spawn(connection);
        }
    });
    address
}

/// Posts a question on a connection that closes after the answer.
async fn ask(address: SocketAddr, words: &str) -> TcpStream {
    let mut client = TcpStream::connect(address).await.unwrap();
    let body = json!({"messages": [{"id": "m1", "role": "user", "content": words}]}).to_string();
    let head = format!(
        "POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    client.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    client
}

#[tokio::test]
async fn stalled_and_slow_readers_do_not_affect_the_others() {
    let flood = "x".repeat(64 * 1024);
    let model = ScriptedProvider::new().otherwise(move |payload| {
        let asked = format!("{:?}", payload.transcript);
        if asked.contains("flood") {
            return Turn::text_chunks(vec![flood.clone(); 2_000]).then(Turn::pending());
        }
        // The words take longer than the time limit of a stalled reader.
        let words = (0..40).map(|n| text(format!("word-{n} ")).then(Turn::delay(Duration::from_millis(50))));
        words.collect()
    });
    let mut limits = Limits::default();
    limits.write_timeout = Duration::from_millis(500);
    let assistant = Assistant::builder(model.clone()).allow_anonymous().limits(limits).build().unwrap();
    let address = serve(assistant.clone()).await;

    let mut stalled = Vec::new();
    for _ in 0..STALLED {
        let mut client = ask(address, "flood").await;
        let mut first = [0; 12];
        client.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        stalled.push(client);
    }
    let mut readers = Vec::new();
    for n in 0..SLOW + HEALTHY {
        let mut client = ask(address, "words").await;
        readers.push(tokio::spawn(async move {
            let mut seen = Vec::new();
            if n < SLOW {
                // This reader reads some bytes at a time, with pauses.
                let mut few = [0; 128];
                loop {
                    let read = client.read(&mut few).await.unwrap();
                    if read == 0 {
                        break;
                    }
                    seen.extend_from_slice(&few[..read]);
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            } else {
                client.read_to_end(&mut seen).await.unwrap();
            }
            String::from_utf8(seen).unwrap()
        }));
    }
    for reader in readers {
        let body = tokio::time::timeout(Duration::from_secs(60), reader)
            .await
            .expect("the answer must end")
            .unwrap();
        for n in 0..40 {
            assert_eq!(body.matches(&format!("word-{n} ")).count(), 1, "{body}");
        }
        assert!(body.contains("\"type\":\"finish\"") && body.contains("data: [DONE]"));
    }
    // The stalled runs were cut meanwhile, although their connections are open.
    let cut = async {
        while model.drops() < STALLED {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), cut).await.expect("their runs must be dropped");
    assert_eq!(model.drops(), STALLED);
    drop(stalled);
    let gone = async {
        while assistant.live_runs() > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), gone).await.expect("no run must be left");
}
