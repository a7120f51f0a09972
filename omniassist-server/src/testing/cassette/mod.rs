//! Recorded provider streams: tests of a whole backend against real model output, without a network.
//!
//! A [`Recorder`] is a proxy on loopback between a provider and its API; it produces a [`Cassette`]. A
//! [`Player`] is a server on loopback that answers as the API did. The provider's real encoder, transport and
//! decoder take part in such a test. Both work with every provider that has a settable base URL. If the
//! model's words do not matter, a [`ScriptedProvider`](super::ScriptedProvider) is simpler. To break the
//! connection, use a [`FakeProvider`](super::FakeProvider).
//!
//! ```
//! use futures_util::StreamExt;
//! use omniassist_server::core::{LlmEvent, LlmPayload, TranscriptItem};
//! use omniassist_server::testing::Cassette;
//! use omniassist_server::{LlmProvider, OpenAiChatProvider};
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! // In your own test: `Cassette::replay("tests/cassettes/hello.jsonl")?`.
//! let cassette = Cassette::parse(r#"{"omniassist_cassette":1,"base_path":"/v1"}
//! {"request":{"method":"POST","path":"/v1/chat/completions","json":{"model":"m","messages":[{"role":"user","content":"Hi"}],"stream":true}}}
//! {"response":{"status":200,"headers":{"content-type":"text/event-stream"}}}
//! {"chunk":{"text":"data: {\"choices\":[{\"delta\":{\"content\":\"Hello.\"}}]}\n\n"}}
//! {"chunk":{"text":"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"}}
//! {"chunk":{"text":"data: [DONE]\n\n"}}
//! {"end":{"how":"complete"}}
//! "#)?;
//! let player = cassette.player().rechunked(7).ignore("/stream_options").start().await?;
//! let provider = OpenAiChatProvider::builder().base_url(player.base_url()).model("m").build()?;
//!
//! let events: Vec<_> = provider.stream(LlmPayload::new([TranscriptItem::user("Hi")])).collect().await;
//! assert!(events.iter().any(|event| matches!(event, Ok(LlmEvent::TextDelta { delta, .. }) if delta == "Hello.")));
//! assert_eq!(player.unused(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The file
//!
//! JSON Lines: UTF-8, one JSON object per line, so that a diff shows what changed. Blank lines are skipped.
//! The first line is `{"omniassist_cassette": 1, "base_path": "/v1"}`: the version of the format, and the
//! path of the recorded base URL (empty or absent if it had none). A build reads exactly one version and
//! refuses unknown fields. Then follow, for each interaction, in the order of the requests:
//!
//! | line | fields |
//! |---|---|
//! | `{"request": …}` | `method`; `path` with its query; the body as one of `json`, `text`, `base64`, or none of them for any body |
//! | `{"response": …}` | `status`; `headers` (`content-type`, `content-encoding`, `retry-after`, `retry-after-ms`, where they were sent) |
//! | `{"chunk": …}` | bytes of the body as they came: `text` if they are UTF-8, otherwise `base64`; any number of such lines |
//! | `{"end": …}` | `how`: `complete`, `cut` (the provider's connection broke) or `left` (the client went before the end) |
//!
//! The last three lines may have `ms`, the milliseconds since the request was read; the default is 0. A cassette can be
//! written by hand. The chunks are the body after transfer decoding and before content decoding.
//!
//! # Secrets
//!
//! - Headers of requests are not stored. Headers of answers are stored only if the table names them.
//! - Values of credential headers and of a query are removed everywhere: in paths, requests and answers, in plain form,
//!   inside a JSON string, or URL-encoded. The same applies to values passed to [`Recorder::redact`].
//! - Strings that look like an API key or a signed token (`sk-…`, `AIza…`, JWT, …) are removed.
//! - In JSON bodies of requests, strings under names such as `password`, `authorization` or `api_key` are removed, also
//!   inside the arguments of tool calls. The values of all but a few harmless query parameters are removed too.
//!
//! In requests, `[redacted]` replaces a secret and matches anything when the cassette is played. In answers,
//! each byte of a secret becomes `*`, so that every chunk keeps its length.
//!
//! The words of users and models are stored, since a recording exists for them. Record with made-up data, and read the
//! file before you commit it. A secret that a model spells out over several events is not recognised.

mod compare;
mod error;
mod file;
mod player;
#[cfg(feature = "__transport")]
mod recorder;
mod recording;
mod scrub;

pub use error::CassetteError;
pub use player::{Player, Replay};
#[cfg(feature = "__transport")]
pub use recorder::Recorder;
pub use recording::Cassette;
