//! The JSON of the Responses API's stream, reduced to the fields in use. Strings that deltas lack are boxed, because an
//! event is moved several times while it is decoded.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::usage::WireUsage;
use crate::provider::lenient_fields::{Few, Num, Str};

/// Any event. One struct reads all of them, so that a delta is parsed once and its type is not searched for first.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Event<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Str<'a>,
    pub(super) delta: Str<'a>,
    pub(super) item_id: Str<'a>,
    pub(super) output_index: Num,
    pub(super) content_index: Num,
    pub(super) summary_index: Num,
    pub(super) text: Option<Box<Str<'a>>>,
    pub(super) refusal: Option<Box<Str<'a>>>,
    pub(super) input: Option<Box<Str<'a>>>,
    pub(super) arguments: Option<&'a RawValue>,
    pub(super) annotation: Option<&'a RawValue>,
    pub(super) item: Option<&'a RawValue>,
    pub(super) response: Option<&'a RawValue>,
    pub(super) error: Option<&'a RawValue>,
}

/// The `response` of the events that begin and end an answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Response<'a> {
    pub(super) id: Str<'a>,
    pub(super) model: Str<'a>,
    pub(super) status: Str<'a>,
    pub(super) incomplete_details: Option<IncompleteDetails<'a>>,
    pub(super) error: Option<&'a RawValue>,
    pub(super) usage: Option<WireUsage>,
    pub(super) output: Few<&'a RawValue>,
    pub(super) background: Option<bool>,
}

/// The fields of an event that give its place in a background response.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Numbered<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Str<'a>,
    pub(super) sequence_number: Num,
    pub(super) response: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct IncompleteDetails<'a> {
    pub(super) reason: Str<'a>,
}

/// An output item of any type.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Item<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Str<'a>,
    pub(super) id: Str<'a>,
    pub(super) status: Str<'a>,
    pub(super) call_id: Str<'a>,
    pub(super) name: Str<'a>,
    pub(super) arguments: Option<&'a RawValue>,
    pub(super) input: Str<'a>,
    pub(super) content: Few<Content<'a>>,
    pub(super) summary: Few<Content<'a>>,
    pub(super) encrypted_content: Str<'a>,
    pub(super) phase: Str<'a>,
    pub(super) result: Str<'a>,
    pub(super) output_format: Str<'a>,
}

/// A part of a message or of a reasoning item.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Content<'a> {
    pub(super) text: Str<'a>,
    pub(super) refusal: Str<'a>,
    pub(super) annotations: Few<&'a RawValue>,
}

/// The source of a piece of text.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Annotation<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Str<'a>,
    pub(super) url: Str<'a>,
    pub(super) title: Str<'a>,
    pub(super) file_id: Str<'a>,
    pub(super) filename: Str<'a>,
}
