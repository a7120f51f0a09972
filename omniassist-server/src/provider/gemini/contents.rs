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

/// The signature that Google documents for the calls of other models, which have none. Models with signed calls refuse
/// a request without it. <https://ai.google.dev/gemini-api/docs/thought-signatures#faqs>
const UNSIGNED: &str = "skip_thought_signature_validator";

/// The user's turn before a conversation that begins with the model. The API requires a user's turn before a call.
const OPENING: &str = "(The conversation begins.)";

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
    mime_type: &'a Text,
    data: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileUri<'a> {
    mime_type: &'a Text,
    file_uri: &'a Text,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Text>,
    name: &'a Text,
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
    name: &'a str,
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
    names: HashMap<&'a Text, &'a Text>,
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
        self.names.insert(&call.id, &call.name);
        let is_first = self.contents.last().is_none_or(|last| {
            last.role != "model"
                || !last.parts.iter().any(|part| matches!(part.piece, Piece::FunctionCall(_)))
        });
        let unsigned = (self.signs_calls && is_first).then_some(UNSIGNED);
        let args = match call.kind {
            CallKind::Function => Arguments::Object(&call.arguments),
            CallKind::Custom => Arguments::Text { input: &call.arguments },
        };
        let function_call = FunctionCall { id: metadata::own_id(&call.id), name: &call.name, args };
        let thought_signature = metadata::signature(call.metadata.as_ref()).or(unsigned);
        self.part("model", Part { thought_signature, ..Piece::FunctionCall(function_call).into() });
    }

    fn result(&mut self, result: &'a ToolResult) {
        let name = self.names.get(&result.call_id).map_or("unknown", |name| name.as_str());
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

fn user_part(content: &UserContent) -> Option<Piece<'_>> {
    match content {
        UserContent::Text { text } if text.is_empty() => None,
        UserContent::Text { text } => Some(Piece::Text(text.as_str().into())),
        UserContent::File { media_type, url, filename } => Some(match url.strip_prefix("data:") {
            None => Piece::FileData(FileUri { mime_type: media_type, file_uri: url }),
            Some(rest) => match rest.split_once(";base64,") {
                Some((_, data)) => Piece::InlineData(Blob { mime_type: media_type, data }),
                // The API accepts base64 only. The model receives the name of the file.
                None => {
                    let name = filename.as_deref().unwrap_or("file");
                    Piece::Text(format!("[attached {name} ({media_type})]").into())
                }
            },
        }),
        _ => None,
    }
}
