//! The rules of the transport that cannot be seen through a provider. Its other tests are in `tests/transport`.

mod network;
mod runtimes;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt;
use http::{HeaderMap, Uri};
use omniassist_core::{EventBuf, FinishReason, Limits, LlmEvent};

use super::{ProviderRequest, Transport};
use crate::decoder::{LlmStream, WireDecoder};
use crate::provider::error_from_response;
use crate::testing::{FakeProvider, Reply};
use crate::{Error, ProviderErrorKind, Result};

/// Reads each chunk as a piece of text, and the end of the body as that of the answer.
struct Chunks;

impl WireDecoder for Chunks {
    fn feed(&mut self, chunk: Bytes, events: &mut EventBuf<LlmEvent>) -> Result<()> {
        let delta = String::from_utf8_lossy(&chunk).into_owned().into();
        events.push(LlmEvent::TextDelta { block: 0, delta });
        Ok(())
    }

    fn finish(&mut self, events: &mut EventBuf<LlmEvent>) -> Result<()> {
        events.push(LlmEvent::Finish { reason: FinishReason::Stop, raw: None, truncated: false });
        Ok(())
    }
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_retries = 0;
    limits.first_byte_timeout = Some(Duration::from_secs(5));
    limits.idle_timeout = Duration::from_secs(5);
    limits
}

fn ask_on(transport: &Transport, base_url: &str) -> LlmStream {
    let url = format!("{base_url}/chunks");
    let request =
        ProviderRequest { url, headers: Arc::new(HeaderMap::new()), body: Bytes::from_static(b"{}") };
    transport.stream(request, || Box::new(Chunks), error_from_response)
}

/// A server with these replies.
async fn serve(replies: impl IntoIterator<Item = Reply>) -> FakeProvider {
    let server = FakeProvider::start().await.unwrap();
    for reply in replies {
        server.reply(reply);
    }
    server
}

/// The end of a stream.
#[derive(Debug)]
struct Heard {
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
}

async fn hear(mut stream: LlmStream) -> Heard {
    let start = Instant::now();
    let mut error = None;
    while let Some(item) = stream.next().await {
        error = item.err();
    }
    Heard { error, took: start.elapsed() }
}

#[test]
fn loopback_hosts_are_known() {
    for url in ["http://LOCALHOST:1/v1", "http://127.8.9.1/v1", "http://[::1]:8/v1", "http://a.localhost/v1"]
    {
        let transport = Transport::new(Limits::default(), &url.parse().unwrap(), &[]).unwrap();
        assert_eq!(transport.shared.first_byte, Duration::from_secs(300), "{url}");
    }
    for url in
        ["https://example.com/v1", "http://localhost.example.com/", "http://192.168.0.1/", "http://[::2]/"]
    {
        let transport = Transport::new(Limits::default(), &url.parse().unwrap(), &[]).unwrap();
        assert_eq!(transport.shared.first_byte, Duration::from_secs(60), "{url}");
    }
    let mut own = Limits::default();
    own.first_byte_timeout = Some(Duration::from_secs(7));
    let transport = Transport::new(own, &Uri::from_static("http://localhost/v1"), &[]).unwrap();
    assert_eq!(transport.shared.first_byte, Duration::from_secs(7));
}
