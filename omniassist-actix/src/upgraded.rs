use std::pin::Pin;
use std::task::{Context, Poll, ready};

use actix_web::dev::Payload;
use bytes::{Buf, Bytes, BytesMut};
use futures_core::Stream;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};

/// An upgraded connection: what the client sends goes to the assistant, and what the assistant writes is the body.
pub(crate) struct Upgraded {
    /// `None` when the client has ended its side.
    payload: Option<Payload>,
    socket: DuplexStream,
    /// The bytes that the client has sent and the assistant has not read.
    unread: Bytes,
}

impl Upgraded {
    pub(crate) fn new(payload: Payload, socket: DuplexStream) -> Self {
        Self { payload: Some(payload), socket, unread: Bytes::new() }
    }

    pub(crate) fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        while self.poll_client(cx).is_ready() {}
        let mut buffer = BytesMut::zeroed(8 * 1024);
        let mut written = ReadBuf::new(&mut buffer);
        let read = ready!(Pin::new(&mut self.socket).poll_read(cx, &mut written));
        let length = written.filled().len();
        Poll::Ready(match (read, length) {
            (Ok(()), 1..) => {
                buffer.truncate(length);
                Some(buffer.freeze())
            }
            _ => None,
        })
    }

    /// Passes on a piece of what the client sends.
    fn poll_client(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.unread.is_empty() {
            match ready!(Pin::new(&mut self.socket).poll_write(cx, &self.unread)) {
                Ok(length) => self.unread.advance(length),
                // The assistant has closed the connection.
                Err(_) => self.unread.clear(),
            }
            return Poll::Ready(());
        }
        let Some(payload) = &mut self.payload else { return Poll::Pending };
        match ready!(Pin::new(payload).poll_next(cx)) {
            Some(Ok(bytes)) => self.unread = bytes,
            None | Some(Err(_)) => {
                let _ = Pin::new(&mut self.socket).poll_shutdown(cx);
                self.payload = None;
            }
        }
        Poll::Ready(())
    }
}
