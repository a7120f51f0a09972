//! The file: one JSON object per line. The module's documentation describes the lines.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::{Bytes, BytesMut};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::{CassetteError, VERSION};

/// A request and its answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Interaction {
    pub(super) request: RequestLine,
    pub(super) response: ResponseLine,
    pub(super) chunks: Vec<(Duration, Bytes)>,
    pub(super) end: EndLine,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FirstLine {
    omniassist_cassette: u64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    base_path: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Request(RequestLine),
    Response(ResponseLine),
    Chunk(ChunkLine),
    End(EndLine),
}

/// A request. Its body is in one of three forms; none of them matches any body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestLine {
    pub(super) method: String,
    pub(super) path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) json: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) base64: Option<String>,
}

/// The head of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResponseLine {
    /// The time since the end of the request.
    #[serde(default)]
    pub(super) ms: u64,
    pub(super) status: u16,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChunkLine {
    #[serde(default)]
    ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EndLine {
    #[serde(default)]
    pub(super) ms: u64,
    pub(super) how: End,
}

/// The end of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum End {
    /// A regular end.
    Complete,
    /// The provider's connection broke.
    Cut,
    /// The client disconnected before the end.
    Left,
}

pub(super) fn ms(at: Duration) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or(u64::MAX)
}

/// Returns bytes as text if they are UTF-8, otherwise as base64.
pub(super) fn encode(bytes: &[u8]) -> (Option<String>, Option<String>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (Some(text.to_owned()), None),
        Err(_) => (None, Some(STANDARD.encode(bytes))),
    }
}

fn decode(base64: &str) -> Result<Vec<u8>, &'static str> {
    STANDARD.decode(base64).map_err(|_| "the body is not base64")
}

impl RequestLine {
    /// Checks the form of the body.
    fn check(&self) -> Result<(), &'static str> {
        match self {
            Self { json: None, text: None, base64: Some(base64), .. } => decode(base64).map(drop),
            Self { text: None, base64: None, .. } | Self { json: None, base64: None, .. } => Ok(()),
            _ => Err("a body in more than one form"),
        }
    }
}

impl ChunkLine {
    fn new(at: Duration, bytes: &[u8]) -> Self {
        let (text, base64) = encode(bytes);
        Self { ms: ms(at), text, base64 }
    }

    fn bytes(self) -> Result<Bytes, &'static str> {
        match (self.text, self.base64) {
            (Some(text), None) => Ok(text.into()),
            (None, Some(base64)) => decode(&base64).map(Bytes::from),
            _ => Err("a chunk is neither text nor base64"),
        }
    }
}

pub(super) fn write(base_path: &str, interactions: &[Interaction]) -> Result<String, serde_json::Error> {
    let first = FirstLine { omniassist_cassette: VERSION, base_path: base_path.to_owned() };
    let mut text = serde_json::to_string(&first)? + "\n";
    for Interaction { request, response, chunks, end } in interactions.iter().cloned() {
        let chunks = chunks.iter().map(|(at, bytes)| Line::Chunk(ChunkLine::new(*at, bytes)));
        let head = [Line::Request(request), Line::Response(response)];
        for line in head.into_iter().chain(chunks).chain([Line::End(end)]) {
            text.push_str(&serde_json::to_string(&line)?);
            text.push('\n');
        }
    }
    Ok(text)
}

/// Reads the base path and the interactions from a cassette's text.
pub(super) fn read(text: &str) -> Result<(String, Vec<Interaction>), CassetteError> {
    let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    let first = lines.next().map_or("", |(_, line)| line);
    let not_a_cassette = || CassetteError::malformed(1, "no cassette begins like this");
    // The version alone decides if the rest can be read.
    let version: Value = serde_json::from_str(first).map_err(|error| not_a_cassette().with_source(error))?;
    match version.get("omniassist_cassette").and_then(Value::as_u64) {
        Some(VERSION) => {}
        Some(other) => return Err(CassetteError::version(other)),
        None => return Err(not_a_cassette()),
    }
    let FirstLine { base_path, .. } =
        serde_json::from_value(version).map_err(|error| not_a_cassette().with_source(error))?;
    let mut reader = Reader::default();
    let mut last = 1;
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty()).peekable();
    while let Some((at, line)) = lines.next() {
        last = at;
        match serde_json::from_str(line) {
            Ok(line) => reader.line(at, line)?,
            // An interrupted write leaves half a line at the end.
            Err(error) if error.is_eof() && lines.peek().is_none() => {
                return Err(CassetteError::truncated(at).with_source(error));
            }
            Err(error) => {
                return Err(CassetteError::malformed(at, "not a line of a cassette").with_source(error));
            }
        }
    }
    match reader.open {
        Open::Nothing => Ok((base_path, reader.done)),
        Open::Request(_) | Open::Answer(_) => Err(CassetteError::truncated(last)),
    }
}

#[derive(Default)]
struct Reader {
    done: Vec<Interaction>,
    open: Open,
}

#[derive(Default)]
enum Open {
    #[default]
    Nothing,
    Request(RequestLine),
    Answer(Interaction),
}

impl Reader {
    fn line(&mut self, at: usize, line: Line) -> Result<(), CassetteError> {
        let malformed = |what| CassetteError::malformed(at, what);
        self.open = match (std::mem::take(&mut self.open), line) {
            (Open::Nothing, Line::Request(request)) => {
                request.check().map_err(malformed)?;
                Open::Request(request)
            }
            (Open::Request(request), Line::Response(response)) => {
                let end = EndLine { ms: response.ms, how: End::Complete };
                Open::Answer(Interaction { request, response, chunks: Vec::new(), end })
            }
            (Open::Answer(mut answer), Line::Chunk(chunk)) => {
                let at = Duration::from_millis(chunk.ms);
                answer.chunks.push((at, chunk.bytes().map_err(malformed)?));
                Open::Answer(answer)
            }
            (Open::Answer(answer), Line::End(end)) => {
                self.done.push(Interaction { end, ..answer });
                Open::Nothing
            }
            _ => return Err(malformed("this line may not follow the one before it")),
        };
        Ok(())
    }
}

/// Returns the whole body of an answer.
pub(super) fn joined(chunks: &[(Duration, Bytes)]) -> BytesMut {
    let mut body = BytesMut::new();
    for (_, bytes) in chunks {
        body.extend_from_slice(bytes);
    }
    body
}
