//! Tests of HTTP/2 against a server that writes single frames
//! ([RFC 9113](https://www.rfc-editor.org/rfc/rfc9113.html)).

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use super::*;
use crate::faults::{Authority, acceptor, authority};

const DATA: u8 = 0x0;
const HEADERS: u8 = 0x1;
const RST_STREAM: u8 = 0x3;
const SETTINGS: u8 = 0x4;
const PING: u8 = 0x6;
const GOAWAY: u8 = 0x7;
/// END_STREAM on DATA and HEADERS, ACK on SETTINGS and PING.
const LAST: u8 = 0x1;
const END_HEADERS: u8 = 0x4;

const NO_ERROR: u32 = 0x0;
const INTERNAL_ERROR: u32 = 0x2;
const REFUSED_STREAM: u32 = 0x7;
const CANCEL: u32 = 0x8;
const ENHANCE_YOUR_CALM: u32 = 0xb;

/// `:status: 200` and `content-type: text/event-stream`, in HPACK.
const HEAD: &[u8] = b"\x88\x0f\x10\x11text/event-stream";

/// The server's reaction to a complete request.
#[derive(Clone, Copy)]
enum Step {
    Head,
    Data(&'static str),
    End,
    Reset(u32),
    /// GOAWAY with this code whose last stream id is zero.
    GoAwayBefore(u32),
    /// GOAWAY with this code whose last stream id includes the request's stream.
    GoAwayAfter(u32),
    Pause,
    Close,
}

use Step::{Close, Data, End, GoAwayAfter, GoAwayBefore, Head, Pause, Reset};

struct Server {
    port: u16,
    authority: Authority,
    connections: Arc<AtomicUsize>,
    requests: Arc<AtomicUsize>,
    accepting: JoinHandle<()>,
}

impl Server {
    async fn start(script: &[&[Step]]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let authority = authority("a private CA");
        let mut tls = acceptor(&authority, "localhost", 4000).config().as_ref().clone();
        tls.alpn_protocols = vec![b"h2".to_vec()];
        let tls = TlsAcceptor::from(Arc::new(tls));
        let script: VecDeque<Vec<Step>> = script.iter().map(|steps| steps.to_vec()).collect();
        let script = Arc::new(Mutex::new(script));
        let (connections, requests) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let counted = (Arc::clone(&connections), Arc::clone(&requests));
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.0.fetch_add(1, Ordering::SeqCst);
                stream.set_nodelay(true).unwrap();
                let (tls, script, requests) = (tls.clone(), Arc::clone(&script), Arc::clone(&counted.1));
                tokio::spawn(async move {
                    let _ = talk(tls.accept(stream).await?, &script, &requests).await;
                    io::Result::Ok(())
                });
            }
        });
        Self { port, authority, connections, requests, accepting }
    }

    /// Returns the number of connections and requests so far.
    fn seen(&self) -> (usize, usize) {
        (self.connections.load(Ordering::SeqCst), self.requests.load(Ordering::SeqCst))
    }

    async fn ask(&self, limits: Limits) -> Heard {
        let base_url = format!("https://localhost:{}/v1", self.port);
        let provider = OpenAiProvider::builder().api_key(KEY).base_url(base_url).limits(limits);
        hear(provider.root_certificate(self.authority.pem()).build().unwrap().stream(hello())).await
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn talk(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    script: &Mutex<VecDeque<Vec<Step>>>,
    requests: &AtomicUsize,
) -> io::Result<()> {
    let mut preface = [0; 24];
    stream.read_exact(&mut preface).await?;
    assert_eq!(&preface, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    send(&mut stream, SETTINGS, 0, 0, &[]).await?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await?;
        let [a, b, c, kind, flags, id @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        stream.read_exact(&mut payload).await?;
        match (kind, flags & LAST != 0) {
            (SETTINGS, false) => send(&mut stream, SETTINGS, LAST, 0, &[]).await?,
            (PING, false) => send(&mut stream, PING, LAST, 0, &payload).await?,
            (DATA | HEADERS, true) => {
                requests.fetch_add(1, Ordering::SeqCst);
                let steps = script.lock().unwrap().pop_front().expect("the script must have another answer");
                let id = u32::from_be_bytes(id);
                for step in steps {
                    match step {
                        Head => send(&mut stream, HEADERS, END_HEADERS, id, HEAD).await?,
                        Data(words) => send(&mut stream, DATA, 0, id, body(words).as_bytes()).await?,
                        End => send(&mut stream, DATA, LAST, id, &[]).await?,
                        Reset(code) => send(&mut stream, RST_STREAM, 0, id, &code.to_be_bytes()).await?,
                        GoAwayBefore(code) => go_away(&mut stream, 0, code).await?,
                        GoAwayAfter(code) => go_away(&mut stream, id, code).await?,
                        Pause => tokio::time::sleep(Duration::from_millis(50)).await,
                        Close => return stream.shutdown().await,
                    }
                }
            }
            _ => {}
        }
    }
}

async fn go_away(stream: &mut (impl AsyncWrite + Unpin), last_stream: u32, code: u32) -> io::Result<()> {
    let payload = [last_stream.to_be_bytes(), code.to_be_bytes()].concat();
    send(stream, GOAWAY, 0, 0, &payload).await
}

async fn send(
    stream: &mut (impl AsyncWrite + Unpin),
    kind: u8,
    flags: u8,
    id: u32,
    payload: &[u8],
) -> io::Result<()> {
    let [_, a, b, c] = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = vec![a, b, c, kind, flags];
    frame.extend_from_slice(&id.to_be_bytes());
    frame.extend_from_slice(payload);
    stream.write_all(&frame).await
}

const GOOD: &[Step] = &[Head, Data("START hello"), Data("END"), End];

#[tokio::test]
async fn an_answer_is_read_over_http2() {
    let server = Server::start(&[GOOD]).await;
    let heard = server.ask(once()).await;
    assert_eq!(heard.said, ["hello", "<end>"]);
    assert!(heard.is_whole());
}

#[tokio::test]
async fn a_request_that_was_certainly_not_processed_is_sent_again() {
    for refusal in [&[Reset(REFUSED_STREAM)][..], &[GoAwayBefore(NO_ERROR), Close]] {
        let server = Server::start(&[refusal, GOOD]).await;
        let heard = server.ask(once()).await;
        assert!(heard.is_whole(), "{heard:?}");
        assert_eq!(server.seen().1, 2);
    }
}

#[tokio::test]
async fn a_request_that_fails_before_its_first_byte_is_retried() {
    for refusal in [
        &[Reset(INTERNAL_ERROR)][..],
        &[Reset(CANCEL)],
        &[GoAwayBefore(ENHANCE_YOUR_CALM), Close],
        &[GoAwayAfter(INTERNAL_ERROR), Close],
        &[GoAwayAfter(NO_ERROR), Pause, Close],
        &[Head, Reset(INTERNAL_ERROR)],
        &[Close],
    ] {
        let server = Server::start(&[refusal, refusal, GOOD]).await;
        let heard = server.ask(limits()).await;
        assert!(heard.is_whole(), "{heard:?}");
        assert_eq!(server.seen().1, 3);
        let server = Server::start(&[refusal]).await;
        assert!(server.ask(once()).await.error.is_some());
        assert_eq!(server.seen().1, 1);
    }
}

#[tokio::test]
async fn an_accepted_stream_is_read_to_its_end_after_a_goaway() {
    let server =
        Server::start(&[&[Head, Data("hello"), GoAwayAfter(NO_ERROR), Pause, Data("END"), End, Close]]);
    let heard = server.await.ask(once()).await;
    assert_eq!(heard.said, ["hello", "<end>"], "{heard:?}");
    assert!(heard.is_whole());
}

#[tokio::test]
async fn a_failure_within_an_answer_is_an_interruption_and_is_not_retried() {
    for broken in [
        &[Head, Data("hello"), Pause, Reset(INTERNAL_ERROR)][..],
        &[Head, Data("hello"), Pause, Reset(CANCEL)],
        &[Head, Data("hello"), Pause, GoAwayBefore(INTERNAL_ERROR), Close],
        &[Head, Data("hello"), Pause, GoAwayAfter(NO_ERROR), Close],
        &[Head, Data("hello"), Pause, Close],
        &[Head, Data("hello"), End],
    ] {
        let server = Server::start(&[broken]).await;
        let heard = server.ask(limits()).await;
        assert_eq!(heard.kind(), Some(ProviderErrorKind::Interrupted), "{heard:?}");
        assert_eq!(heard.said, ["hello"]);
        assert_eq!(server.seen(), (1, 1));
    }
}
