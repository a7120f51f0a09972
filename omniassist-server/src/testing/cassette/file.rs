//! The file: one JSON object per line. The module's documentation describes the lines.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::{Bytes, BytesMut};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::CassetteError;
use super::version::VERSION;

/// A request and its answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Interaction {
    pub(super) request: RequestLine,
    pub(super) status: u16,
    pub(super) headers: BTreeMap<String, String>,
    /// The time of the head, counted from the end of the request.
    pub(super) head_at: Duration,
    pub(super) chunks: Vec<(Duration, Bytes)>,
    pub(super) end: End,
    pub(super) end_at: Duration,
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

#[derive(Debug, Clone, PartialEq)]
pub(super) struct RequestLine {
    pub(super) method: String,
    pub(super) path: String,
    /// `None` matches any body.
    pub(super) body: Option<Body>,
}

/// A body, or a piece of one, in the most readable of three forms.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Body {
    Json(Value),
    Text(String),
    Binary(Bytes),
}

impl Body {
    fn of_bytes(bytes: &Bytes) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Binary(bytes.clone()),
        }
    }

    /// Returns the body as JSON if it is JSON.
    pub(super) fn of_request(bytes: &Bytes) -> Self {
        match serde_json::from_slice(bytes) {
            Ok(json) => Self::Json(json),
            Err(_) => Self::of_bytes(bytes),
        }
    }
}

/// The fields of a body in a line.
#[derive(Default)]
struct BodyFields {
    json: Option<Value>,
    text: Option<String>,
    base64: Option<String>,
}

impl BodyFields {
    fn of(body: Option<Body>) -> Self {
        let none = Self::default();
        match body {
            None => none,
            Some(Body::Json(json)) => Self { json: Some(json), ..none },
            Some(Body::Text(text)) => Self { text: Some(text), ..none },
            Some(Body::Binary(bytes)) => Self { base64: Some(STANDARD.encode(&bytes)), ..none },
        }
    }

    fn read(self) -> Result<Option<Body>, &'static str> {
        match self {
            Self { json: None, text: None, base64: None } => Ok(None),
            Self { json: Some(json), text: None, base64: None } => Ok(Some(Body::Json(json))),
            Self { json: None, text: Some(text), base64: None } => Ok(Some(Body::Text(text))),
            Self { json: None, text: None, base64: Some(text) } => {
                let bytes = STANDARD.decode(&text).map_err(|_| "the body is not base64")?;
                Ok(Some(Body::Binary(bytes.into())))
            }
            _ => Err("a body in more than one form"),
        }
    }
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
    Request(RequestFields),
    Response(ResponseLine),
    Chunk(ChunkLine),
    End(EndLine),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResponseLine {
    #[serde(default)]
    ms: u64,
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestFields {
    method: String,
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    json: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
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

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndLine {
    #[serde(default)]
    ms: u64,
    how: End,
}

fn ms(at: Duration) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the text of a cassette.
pub(super) fn write(base_path: &str, interactions: &[Interaction]) -> Result<String, serde_json::Error> {
    let mut lines = vec![serde_json::to_string(&FirstLine {
        omniassist_cassette: VERSION,
        base_path: base_path.to_owned(),
    })?];
    for interaction in interactions {
        let Interaction { request, status, headers, head_at, chunks, end, end_at } = interaction;
        let RequestLine { method, path, body } = request.clone();
        let BodyFields { json, text, base64 } = BodyFields::of(body);
        lines.push(serde_json::to_string(&Line::Request(RequestFields {
            method,
            path,
            json,
            text,
            base64,
        }))?);
        let head = ResponseLine { ms: ms(*head_at), status: *status, headers: headers.clone() };
        lines.push(serde_json::to_string(&Line::Response(head))?);
        for (at, bytes) in chunks {
            let BodyFields { text, base64, .. } = BodyFields::of(Some(Body::of_bytes(bytes)));
            let chunk = ChunkLine { ms: ms(*at), text, base64 };
            lines.push(serde_json::to_string(&Line::Chunk(chunk))?);
        }
        lines.push(serde_json::to_string(&Line::End(EndLine { ms: ms(*end_at), how: *end }))?);
    }
    lines.push(String::new());
    Ok(lines.join("\n"))
}

/// Reads the base path and the interactions from a cassette's text.
pub(super) fn read(text: &str) -> Result<(String, Vec<Interaction>), CassetteError> {
    let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    let first = lines.next().map_or("", |(_, line)| line);
    // The version alone decides if the rest can be read.
    let version: Value =
        serde_json::from_str(first).map_err(|error| CassetteError::no_cassette().with_source(error))?;
    match version.get("omniassist_cassette").and_then(Value::as_u64) {
        Some(VERSION) => {}
        Some(other) => return Err(CassetteError::version(other)),
        None => return Err(CassetteError::no_cassette()),
    }
    let FirstLine { base_path, .. } =
        serde_json::from_value(version).map_err(|error| CassetteError::no_cassette().with_source(error))?;
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
            (Open::Nothing, Line::Request(RequestFields { method, path, json, text, base64 })) => {
                let body = BodyFields { json, text, base64 }.read().map_err(malformed)?;
                Open::Request(RequestLine { method, path, body })
            }
            (Open::Request(request), Line::Response(head)) => {
                let head_at = Duration::from_millis(head.ms);
                Open::Answer(Interaction {
                    request,
                    status: head.status,
                    headers: head.headers,
                    head_at,
                    chunks: Vec::new(),
                    end: End::Complete,
                    end_at: head_at,
                })
            }
            (Open::Answer(mut answer), Line::Chunk(chunk)) => {
                let ChunkLine { ms, text, base64 } = chunk;
                let bytes = match (BodyFields { json: None, text, base64 }).read().map_err(malformed)? {
                    Some(Body::Text(text)) => text.into(),
                    Some(Body::Binary(bytes)) => bytes,
                    _ => return Err(malformed("a chunk is neither text nor base64")),
                };
                answer.chunks.push((Duration::from_millis(ms), bytes));
                Open::Answer(answer)
            }
            (Open::Answer(mut answer), Line::End(end)) => {
                (answer.end, answer.end_at) = (end.how, Duration::from_millis(end.ms));
                self.done.push(answer);
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
