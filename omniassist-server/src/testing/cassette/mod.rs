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
//! // In a test of your own: `Cassette::replay("tests/cassettes/hello.jsonl")?`.
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
//! The last three lines may have `ms`, the milliseconds since the request was read; the default is 0. A
//! cassette can be written by hand. The chunks are the body after transfer decoding and before content
//! decoding.
//!
//! # Secrets
//!
//! - Headers of requests are not stored. Headers of answers are stored only if the table names them.
//! - Values of credential headers and of a query are removed everywhere: in paths, requests and answers, in
//!   plain form, inside a JSON string, or URL-encoded. The same applies to values passed to
//!   [`Recorder::redact`].
//! - Strings that look like an API key or a signed token (`sk-…`, `AIza…`, JWT, …) are removed.
//! - In JSON bodies of requests, strings under names such as `password`, `authorization` or `api_key` are
//!   removed, also inside the arguments of tool calls. The values of all but a few harmless query parameters
//!   are removed too.
//!   also inside the arguments of tool calls; so are the values of all but a few harmless query parameters.
//! In requests, `[redacted]` replaces a secret and matches anything when the cassette is played. In answers,
//! each byte of a secret becomes `*`, so that every chunk keeps its length.
//!
//! The words of users and models are stored, since a recording exists for them. Record with made-up data, and
//! read the file before you commit it. A secret that a model spells out over several events is not
//! recognised.

mod compare;
mod error;
mod file;
mod player;
#[cfg(feature = "__transport")]
mod recorder;
mod scrub;
mod socket;

use std::fs;
use std::path::Path;

pub use error::CassetteError;
use file::Interaction;
pub use player::{Player, Replay};
#[cfg(feature = "__transport")]
pub use recorder::Recorder;

use super::FakeRequest;

/// The version of the file format that this build reads and writes.
const VERSION: u64 = 1;

/// Requests to a provider and its answers, byte for byte. See the [module's documentation](self) for the file
/// format and an example.
#[derive(Debug, Clone, PartialEq)]
pub struct Cassette {
    base_path: String,
    interactions: Vec<Interaction>,
}

impl Cassette {
    /// Loads a cassette to play it. A relative path is relative to the working directory, which under `cargo
    /// test` is the package's folder.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`load`](Self::load).
    pub fn replay(path: impl AsRef<Path>) -> Result<Replay, CassetteError> {
        Ok(Self::load(path)?.player())
    }

    /// Reads a cassette from a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, and the errors of [`parse`](Self::parse).
    pub fn load(path: impl AsRef<Path>) -> Result<Self, CassetteError> {
        let path = path.as_ref();
        let text = fs::read_to_string(path)
            .map_err(|error| CassetteError::io("the file cannot be read", error).in_file(path))?;
        Self::parse(&text).map_err(|error| error.in_file(path))
    }

    /// Reads a cassette from its text, for example from `include_str!("hello.jsonl")`.
    ///
    /// # Errors
    ///
    /// [`CassetteError::is_version_mismatch`] if it is in another version of the format,
    /// [`CassetteError::is_truncated`] if it is cut, and others with the [line](CassetteError::line) that is
    /// wrong.
    pub fn parse(text: &str) -> Result<Self, CassetteError> {
        let (base_path, interactions) = file::read(text)?;
        Ok(Self { base_path, interactions })
    }

    /// Returns the text of the cassette. The same cassette has the same text.
    ///
    /// # Errors
    ///
    /// Returns an error if a part of it has no JSON form. No recorded or parsed cassette has such a part.
    pub fn to_text(&self) -> Result<String, CassetteError> {
        file::write(&self.base_path, &self.interactions)
            .map_err(|error| CassetteError::recording("a part has no JSON form").with_source(error))
    }

    /// Writes the cassette to a file and replaces an existing one. Missing folders are created.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), CassetteError> {
        let path = path.as_ref();
        let text = self.to_text()?;
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        folder
            .and_then(|()| fs::write(path, text))
            .map_err(|error| CassetteError::io("the file cannot be written", error).in_file(path))
    }

    /// Returns the number of interactions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.interactions.len()
    }

    /// Returns `true` if it has no interactions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.interactions.is_empty()
    }

    /// Returns the settings for playing the cassette.
    pub fn player(self) -> Replay {
        Replay::new(self)
    }
}
