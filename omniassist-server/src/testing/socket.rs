//! A small HTTP/1.1 server on loopback, for the fake provider, the player and the recorder.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::{BufMut, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

use super::log::FakeEventKind;
use super::request::FakeRequest;

/// A handler of requests.
pub(super) trait Answer: Send + Sync + 'static {
    /// Answers one request. The future is dropped when the client disconnects.
    fn answer(&self, request: FakeRequest, to: &mut Client) -> impl Future<Output = io::Result<Next>> + Send;

    /// Handles bytes that are not a request.
    fn nonsense(&self, what: &'static str);

    /// Handles an event on a connection.
    fn event(&self, _connection: usize, _event: FakeEventKind) {}
}

/// The connection's state after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Keep,
    Close,
    /// The connection is reset. Dropping the writer would send a FIN before the RST.
    Forget,
}

/// A server. Dropping it ends its connections.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) address: SocketAddr,
    accepting: AbortHandle,
}

impl Server {
    /// Serves on a free port of 127.0.0.1. It must be called inside a tokio runtime.
    pub(super) async fn start<A: Answer>(answers: Arc<A>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        Ok(Self { address, accepting: tokio::spawn(accept(listener, answers)).abort_handle() })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept<A: Answer>(listener: TcpListener, answers: Arc<A>) {
    // Dropped with this future, which ends every connection.
    let mut connections = JoinSet::new();
    for number in 0.. {
        let Ok((stream, _)) = listener.accept().await else { return };
        while connections.try_join_next().is_some() {}
        // Each piece must be sent in a separate packet.
        let _ = stream.set_nodelay(true);
        connections.spawn(serve(number, stream, Arc::clone(&answers)));
    }
}

async fn serve<A: Answer>(number: usize, stream: TcpStream, answers: Arc<A>) {
    answers.event(number, FakeEventKind::Connected);
    let (mut reader, writer) = stream.into_split();
    let mut client = Client { number, writer };
    let mut received = BytesMut::new();
    loop {
        let request = match FakeRequest::take(&mut received) {
            Ok(Some(request)) => request,
            Ok(None) if read(&mut reader, &mut received).await.is_ok() => continue,
            Ok(None) => return answers.event(number, FakeEventKind::Closed),
            Err(what) => {
                answers.nonsense(what);
                return answers.event(number, FakeEventKind::Closed);
            }
        };
        // The connection is read during the answer, so that a disconnect is noticed at any point.
        let next = tokio::select! {
            biased;
            next = answers.answer(request, &mut client) => next,
            gone = until_gone(&mut reader, &mut received) => Err(gone),
        };
        let Ok(next) = next else { return answers.event(number, FakeEventKind::Aborted) };
        answers.event(number, FakeEventKind::Replied);
        match next {
            Next::Keep => {}
            Next::Close => return,
            Next::Forget => return client.writer.forget(),
        }
    }
}

/// Reads the available bytes. Returns an error when the client will send no more.
async fn read(reader: &mut OwnedReadHalf, received: &mut BytesMut) -> io::Result<()> {
    match reader.read_buf(received).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}

async fn until_gone(reader: &mut OwnedReadHalf, received: &mut BytesMut) -> io::Error {
    loop {
        if let Err(gone) = read(reader, received).await {
            return gone;
        }
    }
}

/// The writing half of a connection.
#[derive(Debug)]
pub(super) struct Client {
    /// The connection, numbered from 0 in the order of arrival.
    pub(super) number: usize,
    writer: OwnedWriteHalf,
}

impl Client {
    /// Writes the head of an answer with a chunked body.
    pub(super) async fn head<'a>(
        &mut self,
        status: u16,
        headers: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    ) -> io::Result<()> {
        let mut head = BytesMut::new();
        head.put_slice(format!("HTTP/1.1 {status} Status\r\n").as_bytes());
        for (name, value) in headers {
            head.put_slice(name.as_bytes());
            head.put_slice(b": ");
            head.put_slice(value);
            head.put_slice(b"\r\n");
        }
        head.put_slice(b"transfer-encoding: chunked\r\n\r\n");
        self.bytes(&head).await
    }

    pub(super) async fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.write_all(bytes).await
    }

    /// Makes the end of the connection a reset (RST).
    pub(super) fn reset(&self) -> io::Result<()> {
        self.writer.as_ref().set_zero_linger()
    }

    /// Writes a piece of the body as one chunk in one write. An empty chunk would end the body.
    pub(super) async fn chunk(&mut self, piece: &[u8]) -> io::Result<()> {
        if piece.is_empty() {
            return Ok(());
        }
        let mut chunk = BytesMut::with_capacity(piece.len() + 16);
        chunk.put_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        chunk.put_slice(piece);
        chunk.put_slice(b"\r\n");
        self.bytes(&chunk).await
    }

    pub(super) async fn end(&mut self) -> io::Result<()> {
        self.bytes(b"0\r\n\r\n").await
    }

    /// Answers with an error in the format of the providers.
    pub(super) async fn error(&mut self, status: u16, message: &str) -> io::Result<Next> {
        self.head(status, [("content-type", &b"application/json"[..])]).await?;
        let body = serde_json::json!({ "error": { "message": message } });
        self.chunk(body.to_string().as_bytes()).await?;
        self.end().await?;
        Ok(Next::Keep)
    }
}
