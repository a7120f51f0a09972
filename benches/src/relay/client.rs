//! The load: posts on bare sockets, and counts the deltas that come back.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::wire::{DIGITS, MARK, now};

/// Numbers the chats: two posts to one chat would end each other.
static CHAT: AtomicU64 = AtomicU64::new(0);

/// One connection to the server under load.
pub(super) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// What came of one post.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    pub(super) deltas: usize,
    /// Microseconds from each delta's time to its arrival.
    pub(super) latencies: Vec<u64>,
    /// Microseconds from the post to the first delta.
    pub(super) first: Option<u64>,
}

fn request() -> String {
    let chat = CHAT.fetch_add(1, Ordering::Relaxed);
    let body = format!(
        r#"{{"id":"chat-{chat}","messages":[{{"id":"u1","role":"user","parts":[{{"type":"text","text":"Hello"}}]}}]}}"#
    );
    format!(
        "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

impl Connection {
    pub(super) async fn open(address: SocketAddr) -> Result<Self, Box<dyn Error>> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(32 * 1024) })
    }

    /// Posts and reads the answer to its end.
    ///
    /// # Errors
    ///
    /// When the answer is no 200, or the connection breaks.
    pub(super) async fn ask(&mut self, note_latencies: bool) -> Result<Answer, Box<dyn Error>> {
        let posted = now();
        self.post().await?;
        let mut answer = Answer::default();
        let mut is_first_read = true;
        loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Err("the connection ended before the answer".into());
            }
            if is_first_read && !self.buffer.starts_with(b"HTTP/1.1 200") {
                return Err(String::from_utf8_lossy(&self.buffer).into());
            }
            is_first_read = false;
            let arrived = now();
            let mut rest = 0;
            for at in memchr::memchr_iter(MARK, &self.buffer) {
                let Some(digits) = self.buffer.get(at + 1..at + 1 + DIGITS) else { break };
                rest = at + 1 + DIGITS;
                answer.deltas += 1;
                answer.first.get_or_insert_with(|| arrived.saturating_sub(posted));
                if note_latencies && let Ok(sent) = str::from_utf8(digits)?.parse::<u64>() {
                    answer.latencies.push(arrived.saturating_sub(sent));
                }
            }
            if self.buffer.ends_with(b"\r\n0\r\n\r\n") {
                return Ok(answer);
            }
            // A delta or an end that is cut between two reads stays.
            self.buffer.drain(..rest.max(self.buffer.len().saturating_sub(DIGITS + 1)));
        }
    }

    /// Posts, and waits for the first delta only. The stream stays open.
    pub(super) async fn begin(&mut self) -> Result<(), Box<dyn Error>> {
        self.post().await?;
        while memchr::memchr(MARK, &self.buffer).is_none() {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Err("the connection ended before the answer".into());
            }
        }
        self.buffer = Vec::new();
        Ok(())
    }

    async fn post(&mut self) -> Result<(), Box<dyn Error>> {
        self.buffer.clear();
        Ok(self.stream.write_all(request().as_bytes()).await?)
    }
}
