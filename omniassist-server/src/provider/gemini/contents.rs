//! A transcript as the `contents` of a request.

use std::borrow::Cow;
use std::collections::HashMap;

use omniassist_core::event::CallKind;
use omniassist_core::message::ProviderMetadata;
use omniassist_core::transcript::{ToolCall, ToolResult, UserContent};
use omniassist_core::{JsonText, Text, TranscriptItem};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::metadata;
use crate::provider::body::OPENING;
use crate::provider::{call_name, data_url};

/// The signature that Google documents for the calls of other models, which have none. Models with signed calls refuse
/// a request without it. <https://ai.google.dev/gemini-api/docs/thought-signatures#faqs>
const UNSIGNED: &str = "skip_thought_signature_validator";

#[derive(Serialize)]
pub(super) struct Content<'a> {
    role: &'static str,
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(flatten)]
    piece: Piece<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Piece<'a> {
    Text(Cow<'a, str>),
    InlineData(Blob<'a>),
    FileData(FileUri<'a>),
    FunctionCall(FunctionCall<'a>),
    FunctionResponse(FunctionResponse<'a>),
    ExecutableCode(&'a RawValue),
    CodeExecutionResult(&'a RawValue),
}

impl<'a> From<Piece<'a>> for Part<'a> {
    fn from(piece: Piece<'a>) -> Self {
        Self { piece, thought: None, thought_signature: None }
    }
}

/// Code that the API ran and its result, one part each.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
struct Ran<'a> {
    executable_code: Option<&'a RawValue>,
    code_execution_result: Option<&'a RawValue>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Blob<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileUri<'a> {
    mime_type: &'a str,
    file_uri: &'a Text,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Text>,
    name: Text,
    args: Arguments<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Arguments<'a> {
    Object(&'a JsonText),
    /// Free text, for which this API has no calls.
    Text {
        input: &'a JsonText,
    },
}

#[derive(Serialize)]
struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Text>,
    name: Text,
    response: Response<'a>,
}

/// The API accepts an object only and gives these two keys a meaning, so every output is placed under one of them.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Response<'a> {
    Output(&'a JsonText),
    Error(&'a JsonText),
}

/// The conversation in alternating turns of `user` and `model`. Results are part of the user's turn directly after the
/// calls, as the API requires.
///
/// `signs_calls` is `true` if the model refuses a step whose first call has no signature.
pub(super) fn contents(transcript: &[TranscriptItem], signs_calls: bool) -> Vec<Content<'_>> {
    let mut turns = Turns { contents: Vec::new(), names: HashMap::new(), signs_calls };
    for item in transcript {
        turns.push(item);
    }
    turns.contents
}

struct Turns<'a> {
    contents: Vec<Content<'a>>,
    /// The API requires the function's name with its result. A result contains its call's id only.
    names: HashMap<&'a Text, Text>,
    signs_calls: bool,
}

impl<'a> Turns<'a> {
    fn push(&mut self, item: &'a TranscriptItem) {
        match item {
            TranscriptItem::User { content } => {
                for part in content.iter().filter_map(user_part) {
                    self.part("user", part);
                }
            }
            TranscriptItem::Text { text, metadata } => {
                let thought_signature = metadata::signature(metadata.as_ref());
                // The API refuses an empty text without a signature.
                if !text.is_empty() || thought_signature.is_some() {
                    let piece = Piece::Text(text.as_str().into());
                    self.part("model", Part { thought_signature, ..piece.into() });
                }
            }
            TranscriptItem::Reasoning { text, metadata } => self.reasoning(text, metadata.as_ref()),
            TranscriptItem::Call(call) => self.call(call),
            TranscriptItem::Result(result) => self.result(result),
            TranscriptItem::ProviderItem { provider, item } if *provider == metadata::STATE.0 => {
                self.ran(item);
            }
            _ => {}
        }
    }

    /// Code without a result is sent back too: the API sends no result for code that could not start.
    fn ran(&mut self, item: &'a JsonText) {
        let Ok(Ran { executable_code: Some(code), code_execution_result }) =
            serde_json::from_str(item.as_str())
        else {
            return;
        };
        self.part("model", Piece::ExecutableCode(code));
        if let Some(result) = code_execution_result {
            self.part("model", Piece::CodeExecutionResult(result));
        }
    }

    /// Thoughts are sent back only with their signature. The API accepts neither displayed text nor the thoughts of
    /// another provider. A block without text was an empty part with a signature.
    fn reasoning(&mut self, text: &'a Text, state: Option<&'a ProviderMetadata>) {
        let thought_signature = metadata::signature(state);
        if thought_signature.is_some() {
            let thought = (!text.is_empty()).then_some(true);
            self.part("model", Part { piece: Piece::Text(text.as_str().into()), thought, thought_signature });
        }
    }

    fn call(&mut self, call: &'a ToolCall) {
        let name = call_name::accepted(&call.name);
        self.names.insert(&call.id, name.clone());
        let is_first = self.contents.last().is_none_or(|last| {
            last.role != "model"
                || !last.parts.iter().any(|part| matches!(part.piece, Piece::FunctionCall(_)))
        });
        let unsigned = (self.signs_calls && is_first).then_some(UNSIGNED);
        let args = match call.kind {
            CallKind::Function => Arguments::Object(&call.arguments),
            CallKind::Custom => Arguments::Text { input: &call.arguments },
        };
        let function_call = FunctionCall { id: metadata::own_id(&call.id), name, args };
        let thought_signature = metadata::signature(call.metadata.as_ref()).or(unsigned);
        self.part("model", Part { thought_signature, ..Piece::FunctionCall(function_call).into() });
    }

    fn result(&mut self, result: &'a ToolResult) {
        let name = self.names.get(&result.call_id).cloned().unwrap_or(Text::from_static("unknown"));
        let output = &result.output;
        let response = if result.is_error { Response::Error(output) } else { Response::Output(output) };
        let id = metadata::own_id(&result.call_id);
        self.part("user", Piece::FunctionResponse(FunctionResponse { id, name, response }));
    }

    fn part(&mut self, role: &'static str, part: impl Into<Part<'a>>) {
        let part = part.into();
        if self.contents.is_empty() && role == "model" {
            let parts = vec![Piece::Text(OPENING.into()).into()];
            self.contents.push(Content { role: "user", parts });
        }
        match self.contents.last_mut() {
            Some(last) if last.role == role => last.parts.push(part),
            _ => self.contents.push(Content { role, parts: vec![part] }),
        }
    }
}

/// Returns `true` if the API accepts files of this type. <https://ai.google.dev/gemini-api/docs/file-input-methods>
fn is_accepted(media_type: &str) -> bool {
    const IMAGES_AND_PDF: &[&str] =
        &["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf"];
    let (kind, _) = media_type.split_once('/').unwrap_or_default();
    IMAGES_AND_PDF.contains(&media_type) || matches!(kind, "audio" | "video" | "text")
}

/// Returns a file, or the text of one. A file of another type is replaced by a note for the model: the API would refuse this
/// request and each later one.
fn user_part(content: &UserContent) -> Option<Piece<'_>> {
    let (media_type, url, filename) = match content {
        UserContent::Text { text } if text.is_empty() => return None,
        UserContent::Text { text } => return Some(Piece::Text(text.as_str().into())),
        UserContent::File { media_type, url, filename } => (media_type, url, filename.as_deref()),
        _ => return None,
    };
    let inline = data_url::split(url);
    let stated = inline.map(|(stated, _)| stated).filter(|stated| !stated.is_empty());
    let mime_type = match stated.unwrap_or(media_type) {
        "image/jpg" => "image/jpeg",
        stated => stated,
    };
    Some(match inline {
        Some((_, data)) if is_accepted(mime_type) => Piece::InlineData(Blob { mime_type, data }),
        None if is_accepted(mime_type) && !url.starts_with("data:") => {
            Piece::FileData(FileUri { mime_type, file_uri: url })
        }
        _ => match data_url::quoted(media_type, url, filename) {
            Some(text) => Piece::Text(text.into()),
            None => Piece::Text(data_url::note(mime_type, filename).into()),
        },
    })
}
