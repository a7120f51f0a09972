//! A provider that stays in one phase until its client disconnects, and reports the disconnect.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use omniassist_server::testing::responses_sse;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::sleep;

use super::phase::Phase;
use crate::relay::provider::read_request;

/// The observations of the provider.
#[derive(Debug, Clone, Copy)]
pub(super) enum Seen {
    /// A request with its body. `again` is `true` if it contains a tool's output.
    Asked { again: bool },
    /// The end of a connection on which an answer was under way or held back.
    Gone { at: Instant },
}

/// The time between two deltas.
const PACE: Duration = Duration::from_millis(20);

/// Serves on this runtime until the runtime ends.
pub(super) async fn start(seen: UnboundedSender<Seen>) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let seen = seen.clone();
            tokio::spawn(async move {
                if stream.set_nodelay(true).is_ok() {
                    serve(stream, &seen).await;
                }
            });
        }
    });
    Ok(address)
}

async fn serve(mut stream: TcpStream, seen: &UnboundedSender<Seen>) {
    let mut received = Vec::new();
    while let Ok(Some(request)) = read_request(&mut stream, &mut received).await {
        let Some(phase) = Phase::of_request(&request) else { return };
        let again = memchr::memmem::find(&request, b"function_call_output").is_some();
        let _ = seen.send(Seen::Asked { again });
        let (mut reader, mut writer) = stream.split();
        let answered = tokio::select! {
            answered = answer(&mut writer, phase, again) => answered,
                        // The client sends nothing before the answer is complete, so a read ends only with the
                        // connection.
            gone = reader.read_buf(&mut received) => gone.map_or_else(Err, |_| Err(io::ErrorKind::UnexpectedEof.into())),
        };
        if answered.is_err() {
            let _ = seen.send(Seen::Gone { at: Instant::now() });
            return;
        }
    }
}

async fn answer(writer: &mut (impl AsyncWriteExt + Unpin), phase: Phase, again: bool) -> io::Result<()> {
    match phase {
        Phase::FirstByte => std::future::pending().await,
        _ if again => std::future::pending().await,
        Phase::Text => {
            let words: String = (0..1000).map(|number| format!("word {number} ")).collect();
            let body = responses_sse::text(words).into_bytes();
            writer.write_all(head("200 OK", "text/event-stream", body.len()).as_bytes()).await?;
            for piece in body.chunks(256) {
                writer.write_all(piece).await?;
                sleep(PACE).await;
            }
            Ok(())
        }
        Phase::Tool => {
            whole(writer, "200 OK", &responses_sse::call("call_1", "wait", json!({})).into_bytes()).await
        }
        Phase::Steps => {
            whole(writer, "200 OK", &responses_sse::call("call_1", "look", json!({})).into_bytes()).await
        }
        Phase::Retry => {
            let body = Bytes::from(json!({ "error": { "message": "slow down" } }).to_string());
            whole(writer, "429 Too Many Requests\r\nretry-after: 1", &body).await
        }
    }
}

async fn whole(writer: &mut (impl AsyncWriteExt + Unpin), status: &str, body: &[u8]) -> io::Result<()> {
    let kind = if status.starts_with("200") { "text/event-stream" } else { "application/json" };
    writer.write_all(head(status, kind, body.len()).as_bytes()).await?;
    writer.write_all(body).await
}

fn head(status: &str, kind: &str, length: usize) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n")
}
