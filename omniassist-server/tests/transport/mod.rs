//! Tests of the transport through a provider over a real socket with short limits.

mod answers;
mod deadlines;
mod drops;
mod endings;
mod framing;
mod gzip;
mod http2;
mod network;
mod repeats;
mod runtimes;

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use omniassist_server::core::{Limits, LlmEvent, LlmPayload, TranscriptItem};
use omniassist_server::testing::{FakeProvider, Reply};
use omniassist_server::{Error, LlmProvider, LlmStream, OpenAiProvider, ProviderErrorKind};
use serde_json::{Value, json};

const KEY: &str = "sk-canary-0123456789";

/// The size of each event of a [`body`] in bytes, so that a test can cut a body at a known place.
const EVENT: usize = 128;

/// Returns a body with one event for each word: `START`, `BUSY` (a temporary error), `QUOTA`, `NOTE` (an event of an
/// unknown kind), `END`, a comment (`:`), or a piece of text.
fn body(words: &str) -> String {
    let event = |word| {
        let data = match word {
            "START" => json!({"type": "response.created", "response": {}}),
            "BUSY" => json!({"type": "error", "code": "server_error"}),
            "QUOTA" => json!({"type": "error", "code": "insufficient_quota"}),
            "NOTE" => json!({"type": "note"}),
            "END" => json!({"type": "response.completed", "response": {}}),
            text => json!({"type": "response.output_text.delta", "delta": text}),
        };
        let line = if word == ":" { ": a comment".to_owned() } else { format!("data: {data}") };
        let width = EVENT - 2 - (line.len() - line.chars().count());
        format!("{line:width$}\n\n")
    };
    words.split_whitespace().map(event).collect()
}

/// Returns short limits.
fn limits() -> Limits {
    super::faults::limits()
}

/// Returns the same limits without retries.
fn once() -> Limits {
    let mut limits = limits();
    limits.max_retries = 0;
    limits
}

fn provider(base_url: &str, limits: Limits) -> OpenAiProvider {
    OpenAiProvider::builder().api_key(KEY).base_url(base_url).limits(limits).build().unwrap()
}

fn ask(base_url: &str, limits: Limits) -> LlmStream {
    provider(base_url, limits).stream(hello())
}

fn hello() -> LlmPayload {
    LlmPayload::new([TranscriptItem::user("Hello")])
}

/// Starts a server with these replies.
async fn serve(replies: impl IntoIterator<Item = Reply>) -> FakeProvider {
    let server = FakeProvider::start().await.unwrap();
    for reply in replies {
        server.reply(reply);
    }
    server
}

/// The pieces of text of a stream, `<end>`, and its error.
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
        self.error.as_ref().expect("the stream must fail")
    }

    fn is_whole(&self) -> bool {
        self.error.is_none() && self.said.last().is_some_and(|last| last == "<end>")
    }
}

async fn hear(mut stream: LlmStream) -> Heard {
    let start = Instant::now();
    let (mut said, mut error) = (Vec::new(), None);
    while let Some(item) = stream.next().await {
        assert!(error.is_none(), "an item after an error: {item:?}");
        match item {
            Ok(event) => said.extend(name(&event)),
            Err(failure) => error = Some(failure),
        }
    }
    assert!(stream.next().await.is_none(), "an ended stream must stay ended");
    Heard { said, error, took: start.elapsed() }
}

fn name(event: &LlmEvent) -> Option<String> {
    match event {
        LlmEvent::TextDelta { delta, .. } => Some(delta.to_string()),
        LlmEvent::Finish { .. } => Some("<end>".to_owned()),
        LlmEvent::Start { .. } | LlmEvent::TextEnd { .. } => None,
        other => Some(format!("{other:?}")),
    }
}

/// Returns the next piece of text of a stream.
async fn next(stream: &mut LlmStream) -> Option<String> {
    loop {
        if let Some(name) = name(&stream.next().await?.unwrap()) {
            return Some(name);
        }
    }
}

async fn hear_with(server: &FakeProvider, limits: Limits) -> Heard {
    hear(ask(&server.base_url(), limits)).await
}
