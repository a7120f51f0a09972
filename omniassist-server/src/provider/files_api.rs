//! The files APIs of providers: uploads of files, and references to them in requests.

use std::fmt::Write as _;
use std::time::Duration;

use base64::Engine;
use bytes::{Bytes, BytesMut};
use omniassist_core::{EventBuf, LlmEvent, Text};
use serde_json::{Value, json};

use super::WireDecoder;
use crate::lenient_base64::LENIENT_BASE64;
use crate::{Error, ProviderErrorKind, Result};

/// The image types that every API with images accepts.
#[cfg(any(feature = "anthropic", feature = "openai"))]
pub(super) const IMAGES_AND_PDF: &[&str] =
    &["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"];

/// The maximum number of bytes of the answer to an upload.
const MAX_ANSWER: usize = 64 << 10;

/// The maximum number of characters of a file's name.
const MAX_NAME: usize = 200;

/// The scheme of the URLs that encoders read as uploaded files. Clients cannot send such URLs: they are not allowed in
/// a conversation.
const UPLOADED: &str = "omniassist-upload:";

/// The files API of a provider.
#[derive(Debug)]
pub struct FilesApi {
    /// The path below the base URL.
    pub(super) path: &'static str,
    pub(super) form: Form,
    /// The time for which a file can be named, if it is limited.
    pub(super) lifetime: Option<Duration>,
    /// The place of a file's id in the answer, as a JSON pointer.
    pub(super) id: &'static str,
    /// The media types that a request can name by id.
    pub(super) media_types: &'static [&'static str],
}

/// The form of an upload.
#[derive(Debug)]
pub(super) enum Form {
    /// `multipart/form-data`: these fields and the file.
    Data(&'static [(&'static str, &'static str)]),
    /// Google's `multipart/related`: JSON and the file.
    Related,
}

impl FilesApi {
    /// Returns the content type and the other headers of an upload.
    pub(super) fn headers(&self, boundary: &str) -> Vec<(&'static str, String)> {
        match self.form {
            Form::Data(_) => vec![("content-type", format!("multipart/form-data; boundary={boundary}"))],
            Form::Related => vec![
                ("content-type", format!("multipart/related; boundary={boundary}")),
                ("x-goog-upload-protocol", "multipart".to_owned()),
            ],
        }
    }

    /// Writes the body of an upload, decoding the content into it. `media_type` is one of
    /// [`media_types`](Self::media_types). Returns `None` if the content is not valid base64.
    pub(super) fn body(&self, boundary: &str, name: &str, media_type: &str, base64: &str) -> Option<Bytes> {
        let mut head = String::new();
        match self.form {
            Form::Data(fields) => {
                for (name, value) in fields {
                    let _ = write!(
                        head,
                        "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
                    );
                }
                let name = plain(name);
                let _ = write!(
                    head,
                    "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n"
                );
            }
            Form::Related => {
                let about = json!({ "file": { "mimeType": media_type, "displayName": name } });
                let _ = write!(
                    head,
                    "--{boundary}\r\nContent-Type: application/json; charset=utf-8\r\n\r\n{about}\r\n--{boundary}\r\n"
                );
            }
        }
        let _ = write!(head, "Content-Type: {media_type}\r\n\r\n");
        let tail = format!("\r\n--{boundary}--\r\n");
        let mut body = Vec::with_capacity(head.len() + base64.len() / 4 * 3 + 3 + tail.len());
        body.extend_from_slice(head.as_bytes());
        LENIENT_BASE64.decode_vec(base64, &mut body).ok()?;
        body.extend_from_slice(tail.as_bytes());
        Some(body.into())
    }

    /// Returns the reader of the answer to an upload. Its only event is a start with the id.
    pub(super) fn reader(&self) -> Box<dyn WireDecoder> {
        Box::new(IdReader { pointer: self.id, body: BytesMut::new() })
    }
}

/// Returns a file name that every provider accepts. Anthropic refuses these characters and longer names, and a control
/// character could end the header.
fn plain(name: &str) -> String {
    let is_refused = |letter: char| letter.is_control() || r#"<>:"|?*\/"#.contains(letter);
    name.chars().take(MAX_NAME).map(|letter| if is_refused(letter) { '_' } else { letter }).collect()
}

/// Returns the URL that an encoder reads as an uploaded file. Gemini has its own URLs for files.
pub(super) fn url_of(id: &str) -> Text {
    if id.contains("://") { id.into() } else { format!("{UPLOADED}{id}").into() }
}

/// Returns the id of an uploaded file.
#[cfg(any(feature = "anthropic", feature = "openai"))]
pub(super) fn uploaded_id(url: &str) -> Option<&str> {
    url.strip_prefix(UPLOADED)
}

/// Reads the answer to an upload.
struct IdReader {
    pointer: &'static str,
    body: BytesMut,
}

impl WireDecoder for IdReader {
    fn feed(&mut self, chunk: Bytes, _: &mut EventBuf<LlmEvent>) -> Result<()> {
        if self.body.len() + chunk.len() > MAX_ANSWER {
            return Err(Error::provider(ProviderErrorKind::TooLarge));
        }
        self.body.extend_from_slice(&chunk);
        Ok(())
    }

    fn finish(&mut self, events: &mut EventBuf<LlmEvent>) -> Result<()> {
        let answer: Value = serde_json::from_slice(&self.body)
            .map_err(|error| Error::provider(ProviderErrorKind::Protocol).with_source(error))?;
        // Google may take time to process a file, and refuses requests that name it until then.
        let state = answer.pointer("/file/state").and_then(Value::as_str);
        if state.is_some_and(|state| state != "ACTIVE") {
            return Err(Error::provider(ProviderErrorKind::Protocol).with_detail("the file is not ready"));
        }
        let id = answer.pointer(self.pointer).and_then(Value::as_str).filter(|id| !id.is_empty());
        let id = id.ok_or_else(|| {
            Error::provider(ProviderErrorKind::Protocol).with_detail("the answer to an upload has no id")
        })?;
        events.push(LlmEvent::Start { id: Some(id.into()), model: None });
        Ok(())
    }
}
