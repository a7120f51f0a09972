use std::collections::VecDeque;
use std::future::pending;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::sleep;

use super::log::{FakeEventKind, Log};
use super::reply::{Ending, Framing, Reply};
use super::request::FakeRequest;

/// An RST discards what the client has not read yet. This delay lets the client read it first.
const BEFORE_RESET: Duration = Duration::from_millis(20);

/// The replies that a server has not used yet.
#[derive(Debug, Default)]
pub(super) struct Replies(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    next: VecDeque<Reply>,
    otherwise: Option<Reply>,
}

impl Replies {
    pub(super) fn push(&self, reply: Reply) {
        self.lock().next.push_back(reply);
    }

    pub(super) fn otherwise(&self, reply: Reply) {
        self.lock().otherwise = Some(reply);
    }

    pub(super) fn left(&self) -> usize {
        self.lock().next.len()
    }

    fn take(&self) -> Option<Reply> {
        let mut queue = self.lock();
        queue.next.pop_front().or_else(|| queue.otherwise.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        crate::sync::lock(&self.0)
    }
}

/// A connection of one client.
pub(super) struct Connection {
    pub(super) number: usize,
    pub(super) log: Arc<Log>,
    pub(super) replies: Arc<Replies>,
}

impl Connection {
    pub(super) async fn serve(self, stream: TcpStream) {
        self.log.event(self.number, FakeEventKind::Connected);
        let (mut reader, mut writer) = stream.into_split();
        let mut received = BytesMut::new();
        loop {
            let Ok(request) = self.read_request(&mut reader, &mut received).await else {
                return self.log.event(self.number, FakeEventKind::Closed);
            };
            let reply = self.replies.take().unwrap_or_else(|| self.unscripted(&request));
            self.log.request(self.number, request);
            // Reading goes on beside the reply, so that a disconnect is noticed at any point of it.
            let played = tokio::select! {
                biased;
                played = play(&mut writer, &reply, &self.log) => played,
                gone = read_until_gone(&mut reader, &mut received) => Err(gone),
            };
            match played {
                Ok(()) => self.log.event(self.number, FakeEventKind::Replied),
                Err(_) => return self.log.event(self.number, FakeEventKind::Aborted),
            }
            match reply.ending {
                Ending::Whole => {}
                // Dropping the writer would send a FIN before the RST.
                Ending::Reset => return writer.forget(),
                Ending::Close | Ending::Stall | Ending::Endless => return,
            }
        }
    }

    async fn read_request(
        &self,
        reader: &mut OwnedReadHalf,
        received: &mut BytesMut,
    ) -> io::Result<FakeRequest> {
        loop {
            match FakeRequest::take(received) {
                Ok(Some(request)) => return Ok(request),
                Ok(None) => {}
                Err(what) => {
                    self.log.fault(what.to_owned());
                    return Err(io::ErrorKind::InvalidData.into());
                }
            }
            read(reader, received).await?;
        }
    }

    fn unscripted(&self, request: &FakeRequest) -> Reply {
        let what = format!("the fake provider has no reply for {} {}", request.method, request.path);
        let reply = Reply::json(501, &json!({ "error": { "message": what } }));
        self.log.fault(what);
        reply
    }
}

/// Reads the available bytes. Returns an error when the client will send no more.
async fn read(reader: &mut OwnedReadHalf, received: &mut BytesMut) -> io::Result<()> {
    match reader.read_buf(received).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}

async fn read_until_gone(reader: &mut OwnedReadHalf, received: &mut BytesMut) -> io::Error {
    loop {
        if let Err(gone) = read(reader, received).await {
            return gone;
        }
    }
}

/// Sends a reply up to its scripted end. Returns an error when the client has disconnected before.
async fn play(writer: &mut OwnedWriteHalf, reply: &Reply, log: &Log) -> io::Result<()> {
    pause(reply.before_head).await;
    if !reply.raw {
        writer.write_all(&reply.head()).await?;
    }
    pause(reply.before_body).await;
    let body = reply.sent();
    write_body(writer, reply, log, body.clone()).await?;
    match reply.ending {
        Ending::Whole if reply.framing == Framing::Chunked => writer.write_all(b"0\r\n\r\n").await,
        Ending::Close if reply.framing == Framing::Chunked && !reply.raw && reply.after.is_none() => {
            writer.write_all(b"0\r\n\r\n").await
        }
        Ending::Whole | Ending::Close => Ok(()),
        Ending::Reset => {
            if !body.is_empty() {
                sleep(BEFORE_RESET).await;
            }
            writer.as_ref().set_zero_linger()
        }
        Ending::Stall => pending().await,
        Ending::Endless => loop {
            write_body(writer, reply, log, body.clone()).await?;
            // An empty body would never wait for the socket.
            tokio::task::yield_now().await;
        },
    }
}

async fn write_body(
    writer: &mut OwnedWriteHalf,
    reply: &Reply,
    log: &Log,
    mut body: Bytes,
) -> io::Result<()> {
    let mut first = true;
    while !body.is_empty() {
        if !std::mem::take(&mut first) {
            pause(reply.between).await;
        }
        let piece = body.split_to(reply.piece.min(body.len()));
        if reply.raw || reply.framing != Framing::Chunked {
            writer.write_all(&piece).await?;
        } else {
            let mut chunk = BytesMut::with_capacity(piece.len() + 16);
            chunk.put_slice(format!("{:x}\r\n", piece.len()).as_bytes());
            chunk.put_slice(&piece);
            chunk.put_slice(b"\r\n");
            writer.write_all(&chunk).await?;
        }
        log.add_sent(piece.len());
    }
    Ok(())
}

/// Waits for the duration; returns at once if it is zero.
async fn pause(delay: Duration) {
    if !delay.is_zero() {
        sleep(delay).await;
    }
}
