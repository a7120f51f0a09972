//! The client of a measurement. It posts on plain sockets and reads the deltas of the answers.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::chunked::Chunked;
use super::wire::{DIGITS, MARK, Stamp, now};
use super::wish::Wish;

/// The number of the next chat. Each post has its own chat, since a post ends an earlier run of its chat.
static CHAT: AtomicU64 = AtomicU64::new(0);

/// One connection to the server under load.
pub(super) struct Connection {
    stream: TcpStream,
    /// Bytes that are read and not yet decoded.
    raw: Vec<u8>,
}

/// The answer to one post.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    pub(super) deltas: usize,
    /// Microseconds from each delta's time to its arrival.
    pub(super) latencies: Vec<u64>,
    /// Microseconds from the post to the first delta.
    pub(super) first: Option<u64>,
    /// The longest time between two deltas, in microseconds.
    pub(super) gap: u64,
    /// The whole body.
    pub(super) body: Vec<u8>,
}

/// The parts of an answer that are kept.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Keep {
    pub(super) latencies: bool,
    pub(super) body: bool,
}

fn head(length: usize) -> String {
    format!(
        "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    )
}

/// Returns the body of a post to a chat.
pub(super) fn body(chat: &str, text: &str) -> String {
    format!(
        r#"{{"id":"{chat}","messages":[{{"id":"u1","role":"user","parts":[{{"type":"text","text":"{text}"}}]}}]}}"#
    )
}

impl Connection {
    pub(super) async fn open(address: SocketAddr) -> Result<Self, Box<dyn Error>> {
        Self::over(TcpStream::connect(address).await?)
    }

    /// Opens a connection with a small receive buffer, so that the system holds few unread bytes.
    pub(super) async fn open_narrow(address: SocketAddr) -> Result<Self, Box<dyn Error>> {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(4096)?;
        Self::over(socket.connect(address).await?)
    }

    fn over(stream: TcpStream) -> Result<Self, Box<dyn Error>> {
        stream.set_nodelay(true)?;
        Ok(Self { stream, raw: Vec::with_capacity(32 * 1024) })
    }

    /// Posts and reads the answer to its end.
    ///
    /// # Errors
    ///
    /// Fails if the status is not 200, if the connection breaks, or if a delta is missing or out of order.
    pub(super) async fn ask(&mut self, wish: Wish, keep: Keep) -> Result<Answer, Box<dyn Error>> {
        let posted = now();
        let (mut answer, mut last) = (Answer::default(), None);
        let mut body = keep.body.then(Vec::new);
        self.listen(&wish.text(), body.as_mut(), |stamp, arrived| {
            answer.deltas += 1;
            answer.first.get_or_insert_with(|| arrived.saturating_sub(posted));
            if let Some(last) = last.replace(arrived) {
                answer.gap = answer.gap.max(arrived.saturating_sub(last));
            }
            if keep.latencies {
                answer.latencies.push(stamp.age(arrived));
            }
        })
        .await?;
        answer.body = body.unwrap_or_default();
        Ok(answer)
    }

    /// Posts, reads the answer to its end, and reports each delta with the time of its arrival.
    ///
    /// # Errors
    ///
    /// Fails in the same cases as [`ask`](Self::ask).
    pub(super) async fn listen(
        &mut self,
        text: &str,
        whole: Option<&mut Vec<u8>>,
        heard: impl FnMut(Stamp, u64),
    ) -> Result<(), Box<dyn Error>> {
        self.post(text).await?;
        self.read_answer(whole, heard).await
    }

    /// Posts `body` and reads the answer to its end.
    pub(super) async fn ask_body(&mut self, body: &[u8]) -> Result<(), Box<dyn Error>> {
        self.post_body(body).await?;
        self.read_answer(None, |_, _| ()).await
    }

    pub(super) async fn read_answer(
        &mut self,
        mut whole: Option<&mut Vec<u8>>,
        mut heard: impl FnMut(Stamp, u64),
    ) -> Result<(), Box<dyn Error>> {
        let (mut chunked, mut body) = (Chunked::default(), Vec::new());
        self.head().await?;
        let mut due = 0;
        loop {
            let arrived = now();
            let before = body.len();
            chunked.feed(&self.raw, &mut body);
            self.raw.clear();
            if let Some(whole) = whole.as_deref_mut() {
                whole.extend_from_slice(body.get(before..).unwrap_or_default());
            }
            let mut rest = 0;
            for at in memchr::memchr_iter(MARK, &body) {
                let Some(digits) = body.get(at + 1..at + 1 + DIGITS) else { break };
                rest = at + 1 + DIGITS;
                let stamp = Stamp::read(digits).ok_or("a delta's time is not a number")?;
                if !stamp.is_number(due) {
                    return Err(format!("delta number {due} is missing or out of order").into());
                }
                due += 1;
                heard(stamp, arrived);
            }
            if chunked.is_done() {
                return Ok(());
            }
            if chunked.is_broken() {
                return Err("the body is not made of chunks".into());
            }
            // The beginning of a delta that is cut between two reads is kept.
            body.drain(..rest.max(body.len().saturating_sub(DIGITS)));
            if self.stream.read_buf(&mut self.raw).await? == 0 {
                return Err("the connection ended before the answer".into());
            }
        }
    }

    /// Posts and reads until the first delta. The stream stays open, and the rest of it is not read.
    pub(super) async fn begin(&mut self, wish: Wish) -> Result<(), Box<dyn Error>> {
        self.until(&wish.text(), char::from(MARK).encode_utf8(&mut [0; 4])).await
    }

    /// Posts `text` and reads the answer until `wanted` arrives.
    pub(super) async fn until(&mut self, text: &str, wanted: &str) -> Result<(), Box<dyn Error>> {
        self.post(text).await?;
        while memchr::memmem::find(&self.raw, wanted.as_bytes()).is_none() {
            if self.stream.read_buf(&mut self.raw).await? == 0 {
                return Err(format!("the answer ended: {}", String::from_utf8_lossy(&self.raw)).into());
            }
        }
        self.raw = Vec::new();
        Ok(())
    }

    async fn post(&mut self, text: &str) -> Result<(), Box<dyn Error>> {
        let chat = CHAT.fetch_add(1, Ordering::Relaxed);
        self.post_body(body(&format!("chat-{chat}"), text).as_bytes()).await
    }

    pub(super) async fn post_body(&mut self, body: &[u8]) -> Result<(), Box<dyn Error>> {
        self.raw.clear();
        Ok(self.stream.write_all(&[head(body.len()).as_bytes(), body].concat()).await?)
    }

    /// Reads and discards the head of an answer.
    async fn head(&mut self) -> Result<(), Box<dyn Error>> {
        loop {
            if let Some(end) = memchr::memmem::find(&self.raw, b"\r\n\r\n") {
                if !self.raw.starts_with(b"HTTP/1.1 200") {
                    return Err(String::from_utf8_lossy(&self.raw).into());
                }
                self.raw.drain(..end + 4);
                return Ok(());
            }
            if self.stream.read_buf(&mut self.raw).await? == 0 {
                return Err("the connection ended before the answer".into());
            }
        }
    }
}

/// The streams of stored runs.
#[cfg(feature = "store")]
impl Connection {
    /// Asks for the stream of a chat, and returns the microseconds to the first bytes of the body.
    pub(super) async fn resume(&mut self, chat: &str) -> Result<u64, Box<dyn Error>> {
        let asked = now();
        self.get_stream(chat).await?;
        self.head().await?;
        if self.raw.is_empty() && self.stream.read_buf(&mut self.raw).await? == 0 {
            return Err("the connection ended before the stream".into());
        }
        Ok(now().saturating_sub(asked))
    }

    /// Asks for the stream of a chat, reads it to its end, and reports each delta with the time of its arrival.
    #[cfg(feature = "postgres")]
    pub(super) async fn follow(
        &mut self,
        chat: &str,
        heard: impl FnMut(Stamp, u64),
    ) -> Result<(), Box<dyn Error>> {
        self.get_stream(chat).await?;
        self.read_answer(None, heard).await
    }

    async fn get_stream(&mut self, chat: &str) -> Result<(), Box<dyn Error>> {
        self.raw.clear();
        let request = format!("GET /{chat}/stream HTTP/1.1\r\nhost: localhost\r\n\r\n");
        Ok(self.stream.write_all(request.as_bytes()).await?)
    }

    /// Reads the rest of a resumed stream, and returns its whole body.
    pub(super) async fn rest(&mut self) -> Result<Vec<u8>, Box<dyn Error>> {
        let (mut chunked, mut body) = (Chunked::default(), Vec::new());
        loop {
            chunked.feed(&self.raw, &mut body);
            self.raw.clear();
            if chunked.is_done() {
                return Ok(body);
            }
            if self.stream.read_buf(&mut self.raw).await? == 0 {
                return Err("the connection ended before the stream".into());
            }
        }
    }
}
