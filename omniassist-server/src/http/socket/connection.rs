use std::collections::VecDeque;
use std::future::poll_fn;
use std::mem;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use futures_util::{Sink, SinkExt};
use omniassist_core::Limits;
use omniassist_core::agent_tree::ServerFrame;
use tokio::io::{AsyncReadExt, AsyncWriteExt, sink};
use tokio::time::{Instant, Sleep, sleep, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::age::Age;
use super::fragments::Paced;
use super::inbox::{Excess, Inbox};
use super::pace::Pace;
use super::reply::{PendingFrames, Reply, carry_out};
use super::upgrade::BoxSocket;
use crate::agents::{AgentSession, AgentStream};
use crate::{CancellationToken, panics};

/// The most bytes of a message. Browsers send each message as one frame.
const MESSAGE: usize = 1024 * 1024;

/// The bytes that are written before the client has to read.
const WRITTEN: usize = 64 * 1024;

const PING: Duration = Duration::from_secs(20);
const PONG: Duration = Duration::from_secs(10);

/// The time for the end of a connection.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The reason for which the server closes a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closed {
    /// The client has closed it, or is gone.
    ByClient,
    Draining,
    /// The connection has been idle, or open, for too long.
    TooOld,
    TooManyFaults,
    TooManyFrames,
    /// The client sends frames faster than the limit.
    TooFast,
    TooBig,
    NotUtf8,
    Protocol,
    /// The server failed.
    Internal,
}

/// Serves a connection until it ends.
pub(super) async fn serve(
    socket: BoxSocket,
    session: AgentSession,
    is_extended: bool,
    closing: CancellationToken,
    limits: &Limits,
) {
    let config = WebSocketConfig::default()
        .max_message_size(Some(MESSAGE))
        .max_frame_size(Some(MESSAGE))
        .read_buffer_size(8 * 1024)
        .write_buffer_size(WRITTEN)
        // A frame of the server is at most a state: 64 KiB of messages, the task and the answer.
        .max_write_buffer_size(16 * MESSAGE);
    let socket = Paced::new(socket, Pace::new(limits.max_socket_frames_per_second));
    let socket = WebSocketStream::from_raw_socket(socket, Role::Server, Some(config)).await;
    let mut connection = Connection {
        socket,
        session,
        is_extended,
        inbox: Inbox::default(),
        replies: VecDeque::new(),
        pending: None,
        agents: None,
        seq: 0,
        unflushed: false,
        stall: None,
        write_timeout: limits.write_timeout,
        age: Age::new(limits),
        is_over: false,
        ping: Box::pin(sleep(PING)),
        pong: None,
    };
    let mut closing = pin!(closing.cancelled());
    let mut drains = false;
    let served = poll_fn(|cx| {
        drains = drains || closing.as_mut().poll(cx).is_ready();
        connection.poll(cx, drains)
    });
    let closed = panics::catch_async("a WebSocket", served).await.unwrap_or(Closed::Internal);
    // The agents end before the connection is closed.
    connection.agents = None;
    connection.close(closed).await;
}

struct Connection {
    socket: WebSocketStream<Paced<BoxSocket>>,
    session: AgentSession,
    is_extended: bool,
    inbox: Inbox,
    /// The frames that answer the last one of the client.
    replies: VecDeque<ServerFrame>,
    /// The answer for which the store is asked.
    pending: Option<PendingFrames>,
    agents: Option<AgentStream>,
    seq: u64,
    /// `true` if something waits to be written.
    unflushed: bool,
    /// The end of the time in which the client has to read.
    stall: Option<Pin<Box<Sleep>>>,
    write_timeout: Duration,
    age: Age,
    /// `true` after the longest life, at which no tree may begin.
    is_over: bool,
    ping: Pin<Box<Sleep>>,
    /// The end of the time in which the client has to answer.
    pong: Option<Pin<Box<Sleep>>>,
}

impl Connection {
    fn poll(&mut self, cx: &mut Context<'_>, drains: bool) -> Poll<Closed> {
        match self.poll_both(cx, drains) {
            Ok(()) => Poll::Pending,
            Err(closed) => Poll::Ready(closed),
        }
    }

    fn poll_both(&mut self, cx: &mut Context<'_>, drains: bool) -> Result<(), Closed> {
        self.is_over = self.age.is_over(cx);
        loop {
            self.flush(cx)?;
            let was_read = self.read(cx)?;
            if !self.unflushed {
                self.answer(cx)?;
            }
            if !self.unflushed {
                self.relay(cx)?;
            }
            self.keep_alive(cx)?;
            if self.agents.is_none() && !self.unflushed {
                if drains {
                    return Err(Closed::Draining);
                }
                if self.is_over || self.age.is_idle(cx) {
                    return Err(Closed::TooOld);
                }
            }
            // What was written is flushed in the next round. A message may be followed by another one.
            let has_written = self.unflushed && self.stall.is_none();
            if !was_read && !has_written {
                return Ok(());
            }
        }
    }

    /// Writes what waits. A client that does not read for too long is gone.
    fn flush(&mut self, cx: &mut Context<'_>) -> Result<(), Closed> {
        if !self.unflushed {
            return Ok(());
        }
        match Pin::new(&mut self.socket).poll_flush(cx) {
            Poll::Ready(Ok(())) => (self.unflushed, self.stall) = (false, None),
            Poll::Ready(Err(_)) => return Err(Closed::ByClient),
            Poll::Pending => {
                let until = self.write_timeout;
                let stall = self.stall.get_or_insert_with(|| Box::pin(sleep(until)));
                if stall.as_mut().poll(cx).is_ready() {
                    tracing::debug!("a WebSocket is not read; it is closed");
                    return Err(Closed::ByClient);
                }
            }
        }
        Ok(())
    }

    /// Reads one message. Returns `true` if there was one.
    fn read(&mut self, cx: &mut Context<'_>) -> Result<bool, Closed> {
        let read = Pin::new(&mut self.socket).poll_next(cx);
        if mem::take(&mut self.socket.get_mut().has_read) {
            self.pong = None;
        }
        if self.socket.get_ref().is_too_fast {
            return Err(Closed::TooFast);
        }
        let message = match read {
            Poll::Pending => return Ok(false),
            Poll::Ready(None) => return Err(Closed::ByClient),
            Poll::Ready(Some(message)) => message.map_err(|error| match error {
                Error::Capacity(_) => Closed::TooBig,
                Error::Protocol(_) => Closed::Protocol,
                Error::Utf8(_) => Closed::NotUtf8,
                _ => Closed::ByClient,
            })?,
        };
        if !message.is_close() && !self.socket.get_mut().pace.take() {
            return Err(Closed::TooFast);
        }
        if message.is_text() {
            self.age.touch();
        }
        match message {
            Message::Text(text) => self.inbox.text(&text)?,
            Message::Binary(_) => self.inbox.binary()?,
            Message::Ping(_) => self.unflushed = true,
            Message::Close(_) => return Err(Closed::ByClient),
            Message::Pong(_) | Message::Frame(_) => {}
        }
        Ok(true)
    }

    /// Carries out the frames of the client, as long as it reads the answers.
    fn answer(&mut self, cx: &mut Context<'_>) -> Result<(), Closed> {
        let mut room = WRITTEN;
        while room > 0 {
            if let Some(frame) = self.replies.pop_front() {
                room = room.saturating_sub(self.send(frame)?);
                continue;
            }
            if let Some(pending) = &mut self.pending {
                let Poll::Ready(frames) = pending.as_mut().poll(cx) else { return Ok(()) };
                self.pending = None;
                self.replies.extend(frames);
                continue;
            }
            self.inbox.check()?;
            let Some(frame) = self.inbox.next() else { return Ok(()) };
            match carry_out(&self.session, frame) {
                Reply::Begun(_) if self.is_over => return Err(Closed::TooOld),
                Reply::Begun(agents) => self.agents = Some(agents),
                Reply::Frames(frames) => self.replies.extend(frames),
                Reply::Pending(frames) => self.pending = Some(frames),
            }
        }
        Ok(())
    }

    /// Sends the frames of the agents, as long as the client reads.
    fn relay(&mut self, cx: &mut Context<'_>) -> Result<(), Closed> {
        let mut room = WRITTEN;
        while let Some(agents) = &mut self.agents {
            match Pin::new(agents).poll_next(cx) {
                Poll::Pending => return Ok(()),
                Poll::Ready(None) => {
                    self.agents = None;
                    self.age.touch();
                }
                Poll::Ready(Some(frame)) => {
                    let written = self.send(frame)?;
                    room = room.saturating_sub(written);
                    if room == 0 {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Sends a frame. Returns its bytes.
    fn send(&mut self, frame: ServerFrame) -> Result<usize, Closed> {
        self.seq += 1;
        let text = match self.is_extended {
            true => frame.to_numbered_json(self.seq),
            false => frame.bare().to_json(),
        };
        let bytes = text.len();
        self.write(Message::text(text))?;
        Ok(bytes)
    }

    fn write(&mut self, message: Message) -> Result<(), Closed> {
        self.unflushed = true;
        Pin::new(&mut self.socket).start_send(message).map_err(|error| match error {
            Error::WriteBufferFull(_) => Closed::TooManyFrames,
            _ => Closed::ByClient,
        })
    }

    /// Asks the client for a sign of life. One that gives none is gone.
    fn keep_alive(&mut self, cx: &mut Context<'_>) -> Result<(), Closed> {
        if let Some(pong) = &mut self.pong
            && pong.as_mut().poll(cx).is_ready()
        {
            return Err(Closed::ByClient);
        }
        while self.ping.as_mut().poll(cx).is_ready() {
            self.ping.as_mut().reset(Instant::now() + PING);
            if self.stall.is_none() {
                self.write(Message::Ping(Vec::new().into()))?;
                let pong = self.pong.get_or_insert_with(|| Box::pin(sleep(PONG)));
                // It wakes this task.
                let _ = pong.as_mut().poll(cx);
            }
        }
        Ok(())
    }

    /// Closes the connection with a code and a reason.
    async fn close(&mut self, closed: Closed) {
        let too_fast = format!(
            "At most {} frames a second, and twice as many at once (max_socket_frames_per_second).",
            self.socket.get_ref().pace.per_second
        );
        let (code, reason) = match closed {
            Closed::ByClient => (CloseCode::Normal, ""),
            Closed::Draining => (CloseCode::Away, "The server is shutting down."),
            Closed::TooOld => (CloseCode::Away, "The connection was idle, or open, for too long."),
            Closed::TooManyFaults => (CloseCode::Policy, "32 frames in a row cannot be used."),
            Closed::TooManyFrames => (CloseCode::Policy, "At most 64 frames, and 1 MiB of them, can wait."),
            Closed::TooFast => (CloseCode::Policy, &*too_fast),
            Closed::TooBig => (CloseCode::Size, "A message has at most 1 MiB."),
            Closed::NotUtf8 => (CloseCode::Invalid, "A text is UTF-8."),
            Closed::Protocol => (CloseCode::Protocol, ""),
            Closed::Internal => (CloseCode::Error, ""),
        };
        let frame = CloseFrame { code, reason: reason.into() };
        let closing = async {
            if self.socket.close(Some(frame)).await.is_err() {
                // The client has begun to close the connection, and waits for the answer, which is queued.
                let _ = self.socket.flush().await;
            }
            // A client that has the reason waits until the server ends the connection.
            let socket = &mut self.socket.get_mut().socket;
            let _ = socket.shutdown().await;
            // A connection that is closed with unread input is reset, and the client would not learn the reason.
            let unread = &mut socket.take(4 * MESSAGE as u64);
            let _ = tokio::io::copy(unread, &mut sink()).await;
        };
        let _ = timeout(CLOSE_TIMEOUT, closing).await;
    }
}

impl From<Excess> for Closed {
    fn from(excess: Excess) -> Self {
        match excess {
            Excess::Queued => Self::TooManyFrames,
            Excess::Faults => Self::TooManyFaults,
        }
    }
}
