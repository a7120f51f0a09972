//! The JSON of the Responses API's stream, as far as it is read.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::usage::WireUsage;
use crate::provider::lenient_fields::{Few, Num, Str};

/// Any event. All are read as one struct, so that a delta is parsed once and nothing looks for its type first.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Str<'a>,
    #[serde(borrow, default)]
    pub(super) delta: Str<'a>,
    #[serde(borrow, default)]
    pub(super) item_id: Str<'a>,
    #[serde(default)]
    pub(super) output_index: Num,
    #[serde(default)]
    pub(super) content_index: Num,
    #[serde(default)]
    pub(super) summary_index: Num,
    #[serde(borrow, default)]
    pub(super) text: Str<'a>,
    #[serde(borrow, default)]
    pub(super) refusal: Str<'a>,
    #[serde(borrow, default)]
    pub(super) input: Str<'a>,
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) annotation: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) item: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) response: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

/// The `response` of the events that begin and end an answer.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Response<'a> {
    #[serde(borrow, default)]
    pub(super) id: Str<'a>,
    #[serde(borrow, default)]
    pub(super) model: Str<'a>,
    #[serde(borrow, default)]
    pub(super) status: Str<'a>,
    #[serde(borrow, default)]
    pub(super) incomplete_details: Option<IncompleteDetails<'a>>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) usage: Option<WireUsage>,
    #[serde(borrow, default)]
    pub(super) output: Few<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct IncompleteDetails<'a> {
    #[serde(borrow, default)]
    pub(super) reason: Str<'a>,
}

/// An output item of any type.
#[derive(Debug, Deserialize)]
pub(super) struct Item<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Str<'a>,
    #[serde(borrow, default)]
    pub(super) id: Str<'a>,
    #[serde(borrow, default)]
    pub(super) status: Str<'a>,
    #[serde(borrow, default)]
    pub(super) call_id: Str<'a>,
    #[serde(borrow, default)]
    pub(super) name: Str<'a>,
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) input: Str<'a>,
    #[serde(borrow, default)]
    pub(super) content: Few<Content<'a>>,
    #[serde(borrow, default)]
    pub(super) summary: Few<Content<'a>>,
    #[serde(borrow, default)]
    pub(super) encrypted_content: Str<'a>,
    #[serde(borrow, default)]
    pub(super) phase: Str<'a>,
    #[serde(borrow, default)]
    pub(super) result: Str<'a>,
    #[serde(borrow, default)]
    pub(super) output_format: Str<'a>,
}

/// A part of a message or of a reasoning item.
#[derive(Debug, Deserialize)]
pub(super) struct Content<'a> {
    #[serde(borrow, default)]
    pub(super) text: Str<'a>,
    #[serde(borrow, default)]
    pub(super) refusal: Str<'a>,
    #[serde(borrow, default)]
    pub(super) annotations: Few<&'a RawValue>,
}

/// The source of a piece of text.
#[derive(Debug, Deserialize)]
pub(super) struct Annotation<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Str<'a>,
    #[serde(borrow, default)]
    pub(super) url: Str<'a>,
    #[serde(borrow, default)]
    pub(super) title: Str<'a>,
    #[serde(borrow, default)]
    pub(super) file_id: Str<'a>,
    #[serde(borrow, default)]
    pub(super) filename: Str<'a>,
}
