//! The way from a provider's bytes to a client's bytes, without sockets.

use omniassist_core::dialect::DialectEncoder;
use std::hint::black_box;

use bytes::{Bytes, BytesMut};
use futures_util::stream;
use http_body_util::BodyExt as _;
use omniassist_core::dialect::ai_sdk::{Encoder, Framing};
use omniassist_core::run::{Input, NoTools};
use omniassist_core::{EventBuf, LlmEvent, RunEvent};
use omniassist_server::http::PostedRun;
use omniassist_server::provider::WireDecoder;
use omniassist_server::store::MemoryStore;
use omniassist_server::{Assistant, AssistantBuilder, LlmProvider, Principal, provider};

use super::decode::Api;
use super::{Outcome, machine};

/// Measures the decoder, the machine and the encoder in a row, with one delta in each chunk.
pub(super) fn parts(events: usize, api: Api) -> Outcome<usize> {
    let chunk = Bytes::from_owner(api.delta());
    let mut decoder = api.decoder();
    let (mut said, mut done) = (EventBuf::new(), EventBuf::new());
    let mut machine = machine::started(&mut done);
    let mut encoder = Encoder::new(Framing::Sse);
    let mut out = BytesMut::new();
    decoder.feed(Bytes::from_static(api.opening().as_bytes()), &mut said)?;
    let mut count = 0;
    for _ in 0..events {
        out.clear();
        decoder.feed(black_box(&chunk).clone(), &mut said)?;
        while let Some(event) = said.pop() {
            machine.step(Input::Model(event), &NoTools, &mut done);
        }
        while let Some(event) = done.pop() {
            encoder.encode(&event, &mut out);
            count += usize::from(matches!(event, RunEvent::TextDelta { .. }));
        }
        black_box(&out);
    }
    Ok(count)
}

/// The proof of posted messages: seals, none, or a store that has the earlier ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum History {
    Sealed,
    Trusted,
    Stored,
}

/// Measures the engine as it serves a request: the run, its limits and seals, and the response body. A stream with a
/// chunk ready at every poll replaces the provider's connection, so the body sends large frames.
pub(super) fn assistant(events: usize, history: History) -> Outcome<usize> {
    let builder = Assistant::builder(model(events));
    let builder = match history {
        History::Sealed => builder,
        History::Trusted => builder.trust_client_history(),
        History::Stored => builder.store(MemoryStore::new()),
    };
    serve(builder, history == History::Stored, b"\"text-delta\"")
}

/// Returns a model that writes this many deltas.
pub(super) fn model(deltas: usize) -> impl LlmProvider {
    provider::from_fn("bench", move |_| stream::unfold(Answer::new(deltas), next))
}

/// Serves one request, and returns how often the response has this text.
pub(super) fn serve(builder: AssistantBuilder, is_known: bool, counted: &[u8]) -> Outcome<usize> {
    let assistant = builder.allow_anonymous().build()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut request = http::Request::post("/")
            .header("content-type", "application/json")
            .body(http_body_util::Full::new(Bytes::from_static(
                br#"{"id":"chat-1","messages":[{"id":"m1","role":"user","parts":[{"type":"text","text":"Hi"}]}]}"#,
            )))?;
        if is_known {
            // Runs of anonymous clients are not stored.
            request.extensions_mut().insert(Principal::new("user-7"));
        }
        let posted = PostedRun::read_for(request, &assistant).await.map_err(|_| "the request is refused")?;
        let mut body = posted.respond(&assistant).await.into_body();
        let (mut deltas, mut ended) = (0, false);
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame?.into_data() else { continue };
            deltas += memchr::memmem::find_iter(&data, counted).count();
            ended |= data.ends_with(b"data: [DONE]\n\n");
        }
        if ended { Ok(deltas) } else { Err("the response is cut off".into()) }
    })
}

/// The replacement of a provider's connection: bytes in memory, decoded on demand.
struct Answer {
    decoder: Box<dyn WireDecoder>,
    events: EventBuf<LlmEvent>,
    delta: Bytes,
    left: usize,
    stage: Sent,
}

enum Sent {
    Nothing,
    Opening,
    Everything,
}

impl Answer {
    fn new(deltas: usize) -> Self {
        Self {
            decoder: Api::Responses.decoder(),
            events: EventBuf::new(),
            delta: Bytes::from_owner(Api::Responses.delta()),
            left: deltas,
            stage: Sent::Nothing,
        }
    }

    /// Returns the next chunk, or `None` at the end.
    fn chunk(&mut self) -> Option<Bytes> {
        match self.stage {
            Sent::Nothing => {
                self.stage = Sent::Opening;
                Some(Bytes::from_static(Api::Responses.opening().as_bytes()))
            }
            Sent::Opening if self.left > 0 => {
                self.left -= 1;
                Some(self.delta.clone())
            }
            Sent::Opening => {
                self.stage = Sent::Everything;
                Some(Bytes::from_static(Api::Responses.closing().as_bytes()))
            }
            Sent::Everything => None,
        }
    }
}

async fn next(mut answer: Answer) -> Option<(omniassist_server::Result<LlmEvent>, Answer)> {
    loop {
        if let Some(event) = answer.events.pop() {
            return Some((Ok(event), answer));
        }
        let chunk = answer.chunk()?;
        if let Err(error) = answer.decoder.feed(chunk, &mut answer.events) {
            return Some((Err(error), answer));
        }
    }
}
