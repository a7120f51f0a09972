//! A small HTTP/1.1 server on loopback, for the player and the recorder.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::{BufMut, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

use crate::testing::FakeRequest;

/// A handler of requests.
pub(super) trait Answer: Send + Sync + 'static {
    /// Answers one request. The future is dropped when the client disconnects.
    fn answer(&self, request: FakeRequest, to: &mut Client) -> impl Future<Output = io::Result<Next>> + Send;

    /// Handles bytes that are not a request.
    fn nonsense(&self, what: &'static str);
}

/// The connection's state after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Keep,
    Close,
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
    while let Ok((stream, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        // Each piece must leave in a packet of its own.
        let _ = stream.set_nodelay(true);
        connections.spawn(serve(stream, Arc::clone(&answers)));
    }
}

async fn serve<A: Answer>(stream: TcpStream, answers: Arc<A>) -> io::Result<()> {
    let (mut reader, writer) = stream.into_split();
    let mut client = Client(writer);
    let mut received = BytesMut::new();
    loop {
        let request = match FakeRequest::take(&mut received) {
            Ok(Some(request)) => request,
            Ok(None) => {
                read(&mut reader, &mut received).await?;
                continue;
            }
            Err(what) => {
                answers.nonsense(what);
                return Ok(());
            }
        };
        // Reading goes on beside the answer, so that a disconnect is noticed at any point of it.
        let next = tokio::select! {
            biased;
            next = answers.answer(request, &mut client) => next?,
            gone = until_gone(&mut reader, &mut received) => return Err(gone),
        };
        if next == Next::Close {
            return Ok(());
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
pub(super) struct Client(OwnedWriteHalf);

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
        self.0.write_all(&head).await
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
        self.0.write_all(&chunk).await
    }

    /// Ends the body.
    pub(super) async fn end(&mut self) -> io::Result<()> {
        self.0.write_all(b"0\r\n\r\n").await
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
