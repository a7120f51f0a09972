use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use futures_util::stream;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::client::conn::http2::{self, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::sleep;

use super::Ask;
use super::answer::Head;

type Sent = BoxBody<Bytes, Infallible>;

/// The window of one stream. The connection's window is far larger, so that an unread stream does not delay the others.
const STREAM_WINDOW: u32 = 64 << 10;
const CONNECTION_WINDOW: u32 = 16 << 20;

pub(super) struct Connected {
    sender: SendRequest<Sent>,
    pub(super) driving: AbortHandle,
}

type Coming = Pin<Box<dyn Future<Output = hyper::Result<Response<Incoming>>> + Send>>;

/// One answer. Dropping it before its end resets the stream.
pub(super) struct Answering {
    response: Option<Coming>,
    body: Option<Incoming>,
}

impl Connected {
    pub(super) async fn new(stream: TcpStream) -> Self {
        let mut client = http2::Builder::new(TokioExecutor::new());
        client.initial_stream_window_size(STREAM_WINDOW).initial_connection_window_size(CONNECTION_WINDOW);
        let (sender, connection) = client.handshake(TokioIo::new(stream)).await.unwrap();
        let driving = tokio::spawn(async move {
            let _ = connection.await;
        });
        Self { sender, driving: driving.abort_handle() }
    }

    pub(super) async fn send(&mut self, ask: &Ask, authority: &str) -> Answering {
        let mut request =
            Request::builder().method(ask.method.as_str()).uri(format!("http://{authority}{}", ask.path));
        for (name, value) in &ask.headers {
            request = request.header(name, value);
        }
        if let Some(length) = ask.announced.filter(|_| ask.has_body()) {
            request = request.header("content-length", length);
        }
        self.sender.ready().await.unwrap();
        let response = self.sender.send_request(request.body(body(ask)).unwrap());
        Answering { response: Some(Box::pin(response)), body: None }
    }
}

fn body(ask: &Ask) -> Sent {
    match ask.pieces.as_slice() {
        [] => Empty::new().boxed(),
        [whole] if ask.ends && ask.announced.is_some() => Full::new(whole.clone()).boxed(),
        pieces => {
            let (pause, ends) = (ask.pause, ask.ends);
            let mut pieces = Vec::from(pieces).into_iter();
            StreamBody::new(stream::unfold((), move |()| {
                let piece = pieces.next();
                async move {
                    match piece {
                        Some(piece) => {
                            sleep(pause).await;
                            Some((Ok(Frame::data(piece)), ()))
                        }
                        None if ends => None,
                        None => std::future::pending().await,
                    }
                }
            }))
            .boxed()
        }
    }
}

impl Answering {
    pub(super) async fn head(&mut self) -> hyper::Result<Head> {
        let (parts, body) = self.response.take().expect("the head is read once").await?.into_parts();
        let headers = parts.headers.iter();
        let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
        let head = Head { status: parts.status.as_u16(), headers: headers.collect() };
        self.body = Some(body);
        Ok(head)
    }

    /// Returns the next bytes of the body, `None` at its end, or an error if its stream is reset.
    pub(super) async fn data(&mut self) -> hyper::Result<Option<Bytes>> {
        let body = self.body.as_mut().expect("the head is read first");
        while let Some(frame) = body.frame().await.transpose()? {
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }
}
