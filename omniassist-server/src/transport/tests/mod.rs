//! Each rule of the transport against a real socket, with short limits.

mod answers;
mod deadlines;
mod drops;
#[cfg(feature = "gzip")]
mod gzip;
mod http2;
mod network;
mod repeats;
mod runtimes;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt;
use http::{HeaderMap, HeaderValue};
use omniassist_core::{EventBuf, FinishReason, Limits, LlmEvent, Text};

use super::{ProviderRequest, Transport};
use crate::decoder::{LlmStream, WireDecoder};
use crate::testing::{FakeProvider, Reply};
use crate::{Error, ProviderErrorKind, Result};

const KEY: &str = "sk-canary-0123456789";

/// One event a line: `START`, `BUSY` (a retryable error), `QUOTA`, `END`, a comment (`:`), or a text delta.
#[derive(Default)]
struct Lines {
    rest: Vec<u8>,
    ended: bool,
}

impl WireDecoder for Lines {
    fn feed(&mut self, chunk: Bytes, events: &mut EventBuf<LlmEvent>) -> Result<()> {
        self.rest.extend_from_slice(&chunk);
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            let line = String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
            match line.as_str() {
                "START" => events.push(LlmEvent::Start { id: None, model: None }),
                "BUSY" => return Err(Error::provider(ProviderErrorKind::Unavailable).with_code("busy")),
                "QUOTA" => {
                    let error = Error::provider(ProviderErrorKind::RateLimited);
                    return Err(error.with_code("insufficient_quota"));
                }
                "END" => {
                    self.ended = true;
                    events.push(LlmEvent::Finish { reason: FinishReason::Stop, raw: None, truncated: false });
                }
                comment if comment.starts_with(':') => {}
                text => events.push(LlmEvent::TextDelta { block: 0, delta: Text::from(text) }),
            }
        }
        Ok(())
    }

    fn finish(&mut self, _events: &mut EventBuf<LlmEvent>) -> Result<()> {
        if self.ended { Ok(()) } else { Err(Error::provider(ProviderErrorKind::Interrupted)) }
    }
}

fn read_error(status: u16, body: &[u8]) -> Error {
    let kind = match status {
        401 | 403 => ProviderErrorKind::Auth,
        429 => ProviderErrorKind::RateLimited,
        503 | 529 => ProviderErrorKind::Unavailable,
        _ => ProviderErrorKind::Response,
    };
    let error = Error::provider(kind);
    let quota = b"insufficient_quota";
    if body.windows(quota.len()).any(|part| part == quota) {
        error.with_code("insufficient_quota")
    } else {
        error
    }
}

/// Limits that end a test soon.
fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.retry_base_delay = Duration::from_millis(1);
    limits.retry_max_delay = Duration::from_millis(4);
    limits.first_byte_timeout = Some(Duration::from_secs(5));
    limits.idle_timeout = Duration::from_secs(5);
    limits
}

fn request(base_url: &str) -> ProviderRequest {
    let mut key = HeaderValue::from_str(&format!("Bearer {KEY}")).unwrap();
    key.set_sensitive(true);
    let mut headers = HeaderMap::new();
    headers.insert("authorization", key);
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    ProviderRequest {
        url: format!("{base_url}/lines?v=1"),
        headers: Arc::new(headers),
        body: Bytes::from_static(b"{}"),
    }
}

fn ask(base_url: &str, limits: Limits) -> LlmStream {
    let transport = Transport::new(limits, base_url, &[]).unwrap();
    transport.stream(request(base_url), || Box::new(Lines::default()), read_error)
}

/// A server with these replies.
async fn serve(replies: impl IntoIterator<Item = Reply>) -> FakeProvider {
    let server = FakeProvider::start().await.unwrap();
    for reply in replies {
        server.reply(reply);
    }
    server
}

/// Everything that a stream says: text deltas, `<start>`, `<end>`; and its error.
#[derive(Debug)]
struct Heard {
    said: Vec<String>,
    error: Option<Error>,
    took: Duration,
}

impl Heard {
    fn kind(&self) -> Option<ProviderErrorKind> {
        self.error.as_ref().and_then(Error::provider_kind)
    }

    fn error(&self) -> &Error {
        self.error.as_ref().expect("the stream has failed")
    }

    fn is_whole(&self) -> bool {
        self.error.is_none() && self.said.last().is_some_and(|last| last == "<end>")
    }
}

async fn hear(mut stream: LlmStream) -> Heard {
    let start = Instant::now();
    let (mut said, mut error) = (Vec::new(), None);
    while let Some(item) = stream.next().await {
        assert!(error.is_none(), "something came after an error: {item:?}");
        match item {
            Ok(event) => said.push(name(&event)),
            Err(failure) => error = Some(failure),
        }
    }
    assert!(stream.next().await.is_none(), "an ended stream stays ended");
    Heard { said, error, took: start.elapsed() }
}

fn name(event: &LlmEvent) -> String {
    match event {
        LlmEvent::TextDelta { delta, .. } => delta.to_string(),
        LlmEvent::Start { .. } => "<start>".to_owned(),
        LlmEvent::Finish { .. } => "<end>".to_owned(),
        other => format!("{other:?}"),
    }
}

async fn hear_with(server: &FakeProvider, limits: Limits) -> Heard {
    hear(ask(&server.base_url(), limits)).await
}

#[test]
fn loopback_hosts_are_known() {
    for url in ["http://localhost:1/v1", "http://127.8.9.1/v1", "http://[::1]:8/v1", "http://a.localhost/v1"]
    {
        let transport = Transport::new(Limits::default(), url, &[]).unwrap();
        assert_eq!(transport.shared.first_byte, Duration::from_secs(300), "{url}");
    }
    for url in
        ["https://example.com/v1", "http://localhost.example.com/", "http://192.168.0.1/", "http://[::2]/"]
    {
        let transport = Transport::new(Limits::default(), url, &[]).unwrap();
        assert_eq!(transport.shared.first_byte, Duration::from_secs(60), "{url}");
    }
    let mut own = Limits::default();
    own.first_byte_timeout = Some(Duration::from_secs(7));
    let transport = Transport::new(own, "http://localhost/v1", &[]).unwrap();
    assert_eq!(transport.shared.first_byte, Duration::from_secs(7));
}

#[test]
fn a_base_url_must_be_one() {
    for url in ["", "localhost/v1", "/v1", "ftp://localhost/v1", "http://"] {
        assert!(Transport::new(Limits::default(), url, &[]).unwrap_err().is_configuration(), "{url}");
    }
}

#[test]
fn polled_outside_a_runtime_the_stream_fails_and_does_not_panic() {
    let mut stream = ask("http://127.0.0.1:1/v1", limits());
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(Some(Err(error))) = stream.poll_next_unpin(&mut cx) else {
        panic!("nothing to wait for");
    };
    assert!(error.is_configuration());
}
